/* References of a library to functions that it defines are bound to its own, as -Bsymbolic-functions would at link time.
 * RTLD_DEEPBIND would do that as well, but also hide preloaded libraries from it: allocators, and the software KFD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmap.h"

typedef struct {
  ElfW(Addr) base, start, end; /* pages that the loader has made read-only */
} relro;

static int find_relro(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  relro *found = data;
  if (info->dlpi_addr != found->base) return 0;
  ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_GNU_RELRO) continue;
    found->start = (found->base + part->p_vaddr) & -page;
    found->end = (found->base + part->p_vaddr + part->p_memsz) & -page;
  }
  return 1;
}

/* Not all loaders relocate the pointers of the dynamic section. */
static const void *at(const struct link_map *map, ElfW(Addr) address) {
  return (const void *)(address < map->l_addr ? map->l_addr + address : address);
}

static void bind_all(const struct link_map *map, const ElfW(Sym) *symbols, const ElfW(Rela) *entries, size_t size) {
  for (const ElfW(Rela) *entry = entries; entry < entries + size / sizeof *entries; entry++) {
    unsigned kind = ELF64_R_TYPE(entry->r_info);
    const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(entry->r_info)];
    bool address = kind == R_X86_64_JUMP_SLOT || kind == R_X86_64_GLOB_DAT || kind == R_X86_64_64;
    if (address && symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
      *(ElfW(Addr) *)(map->l_addr + entry->r_offset) = map->l_addr + symbol->st_value + (ElfW(Addr))entry->r_addend;
  }
}

bool libmap_bind_own_functions(void *library) {
  struct link_map *map;
  const ElfW(Sym) *symbols = NULL;
  const ElfW(Rela) *data = NULL, *calls = NULL;
  size_t data_size = 0, calls_size = 0;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map)) return false;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_SYMTAB) symbols = at(map, entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELA) data = at(map, entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELASZ) data_size = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) calls = at(map, entry->d_un.d_ptr);
    if (entry->d_tag == DT_PLTRELSZ) calls_size = entry->d_un.d_val;
  }
  relro pages = {.base = map->l_addr};
  dl_iterate_phdr(find_relro, &pages);
  size_t size = pages.end - pages.start;
  if (size && mprotect((void *)pages.start, size, PROT_READ | PROT_WRITE)) return false;
  bind_all(map, symbols, data, data_size);
  bind_all(map, symbols, calls, calls_size);
  return !size || !mprotect((void *)pages.start, size, PROT_READ);
}
