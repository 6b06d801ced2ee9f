/* Symbols and relocations of a code object, from its dynamic section. */
#include "image.h"

#include <stdlib.h>

#include "hip_state.h"

enum { R_ABS32_LO = 1, R_ABS32_HI = 2, R_ABS64 = 3, R_REL32 = 4, R_REL64 = 5, R_ABS32 = 6, R_RELATIVE64 = 13 };

struct dynamic {
  uint64_t symbols, strings, strings_size, relocations, relocations_size, hash, gnu_hash;
};

static struct dynamic read_dynamic(const struct file *f, const struct image *image) {
  struct dynamic dyn = {0};
  for (unsigned k = 0; k < f->header.e_phnum; k++) {
    Elf64_Phdr p = program_header(f, k);
    if (p.p_type != PT_DYNAMIC) continue;
    const Elf64_Dyn *d = image_table(image, p.p_vaddr, p.p_memsz);
    for (uint64_t n = p.p_memsz / sizeof *d; d && n > 0 && d->d_tag != DT_NULL; n--, d++) {
      switch (d->d_tag) {
        case DT_SYMTAB: dyn.symbols = d->d_un.d_ptr; break;
        case DT_STRTAB: dyn.strings = d->d_un.d_ptr; break;
        case DT_STRSZ: dyn.strings_size = d->d_un.d_val; break;
        case DT_RELA: dyn.relocations = d->d_un.d_ptr; break;
        case DT_RELASZ: dyn.relocations_size = d->d_un.d_val; break;
        case DT_HASH: dyn.hash = d->d_un.d_ptr; break;
        case DT_GNU_HASH: dyn.gnu_hash = d->d_un.d_ptr; break;
      }
    }
  }
  return dyn;
}

/* The GNU hash table contains the number of symbols only in its last chain. */
static uint64_t gnu_hash_count(const struct image *image, uint64_t vaddr) {
  const uint32_t *head = image_table(image, vaddr, 16);
  if (!head) return 0;
  uint64_t bloom = (uint64_t)head[2] * 8, buckets_at = vaddr + 16 + bloom;
  const uint32_t *buckets = image_loaded(image, buckets_at, (uint64_t)head[0] * 4);
  if (!buckets) return 0;
  uint64_t last = 0;
  for (uint32_t k = 0; k < head[0]; k++)
    if (buckets[k] > last) last = buckets[k];
  if (last < head[1]) return head[1];
  uint64_t chain = buckets_at + (uint64_t)head[0] * 4;
  for (;; last++) {
    const uint32_t *value = image_loaded(image, chain + (last - head[1]) * 4, 4);
    if (!value) return 0;
    if (*value & 1) return last + 1;
  }
}

static const char *symbol_name(const struct image *image, const Elf64_Sym *s) {
  return s->st_name < image->names_size ? image->names + s->st_name : "";
}

static int read_symbols(struct file *f, struct image *image, const struct dynamic *dyn) {
  uint64_t count = 0;
  const uint32_t *hash = dyn->hash ? image_table(image, dyn->hash, 8) : NULL;
  if (hash) count = hash[1];
  else if (dyn->gnu_hash) count = gnu_hash_count(image, dyn->gnu_hash);
  if (!count) return hipSuccess;
  if (count > MAX_SPAN / sizeof(Elf64_Sym)) return image_refuse(f, hipErrorInvalidImage, "the symbol table is corrupt");
  const void *symbols = image_table(image, dyn->symbols, count * sizeof(Elf64_Sym));
  const char *names = image_loaded(image, dyn->strings, dyn->strings_size);
  if (!symbols || !names) return image_refuse(f, hipErrorInvalidImage, "the symbol table is corrupt");
  image->symbols = malloc(count * sizeof(Elf64_Sym));
  image->names = malloc(dyn->strings_size + 1);
  if (!image->symbols || !image->names) return hipErrorOutOfMemory;
  memcpy(image->symbols, symbols, count * sizeof(Elf64_Sym));
  memcpy(image->names, names, dyn->strings_size);
  image->names[dyn->strings_size] = 0;
  image->names_size = dyn->strings_size;
  image->symbol_count = count;
  for (size_t k = 1; k < count; k++)
    if (image->symbols[k].st_shndx != SHN_UNDEF &&
        !hash_index_add(&image->symbols_by_name, hash_string(symbol_name(image, &image->symbols[k])), k))
      return hipErrorOutOfMemory;
  return hipSuccess;
}

const Elf64_Sym *image_symbol(const struct image *image, const char *name) {
  uint32_t hash = hash_string(name);
  for (size_t cursor = 0, k; hash_index_next(&image->symbols_by_name, hash, &cursor, &k);)
    if (!strcmp(symbol_name(image, &image->symbols[k]), name)) return &image->symbols[k];
  return NULL;
}

static int relocate(struct file *f, struct image *image, const struct dynamic *dyn) {
  if (!dyn->relocations_size) return hipSuccess;
  const Elf64_Rela *r = image_table(image, dyn->relocations, dyn->relocations_size);
  if (!r) return image_refuse(f, hipErrorInvalidImage, "the relocations lie outside the code object");
  for (uint64_t n = dyn->relocations_size / sizeof *r; n > 0; n--, r++) {
    uint64_t symbol = ELF64_R_SYM(r->r_info), value = 0;
    if (symbol) {
      if (symbol >= image->symbol_count) return image_refuse(f, hipErrorInvalidImage, "a relocation is corrupt");
      const Elf64_Sym *s = &image->symbols[symbol];
      if (s->st_shndx != SHN_UNDEF) value = image->bias + s->st_value;
      else if (ELF64_ST_BIND(s->st_info) != STB_WEAK)
        return image_refuse(f, hipErrorSharedObjectSymbolNotFound, "undefined symbol '%s'", symbol_name(image, s));
    }
    value += (uint64_t)r->r_addend;
    unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
    bool wide = type == R_ABS64 || type == R_REL64 || type == R_RELATIVE64;
    char *at = image_loaded(image, r->r_offset, wide ? 8 : 4);
    if (!at) return image_refuse(f, hipErrorInvalidImage, "a relocation points outside the code object");
    switch (type) {
      case R_ABS32_LO:
      case R_ABS32:
      case R_ABS64: break;
      case R_ABS32_HI: value >>= 32; break;
      case R_REL32:
      case R_REL64: value -= (uint64_t)at; break;
      case R_RELATIVE64: value += image->bias; break;
      default: return image_refuse(f, hipErrorInvalidImage, "relocation type %u is not supported", type);
    }
    memcpy(at, &value, wide ? 8 : 4);
  }
  return hipSuccess;
}

int image_link(struct file *f, struct image *image) {
  struct dynamic dyn = read_dynamic(f, image);
  int error = read_symbols(f, image, &dyn);
  return error == hipSuccess ? relocate(f, image, &dyn) : error;
}
