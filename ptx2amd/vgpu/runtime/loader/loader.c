/* Loads a code object: segments into memory, relocations, symbols, kernels. */
#define _GNU_SOURCE
#include "chip_tables.h"
#include "image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bundle.h"
#include "engine.h"
#include "hip_state.h"

#define EM_AMDGPU_ 224
#define ELFOSABI_AMDHSA_ 64
#define NT_AMDGPU_METADATA_ 32
int image_refuse(struct file *f, int error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(f->why, f->why_size, format, args);
  va_end(args);
  return error;
}

static const struct { unsigned mach; const char *name; } machs[] = {MACH_ROWS};

const char *mach_name(unsigned mach) {
  for (size_t k = 0; k < sizeof machs / sizeof *machs; k++)
    if (machs[k].mach == mach) return machs[k].name;
  return "another architecture";
}

static int check_header(struct file *f, const struct device *d) {
  Elf64_Ehdr *h = &f->header;
  if (f->size < sizeof *h) return image_refuse(f, hipErrorInvalidImage, "the code object is truncated (%zu bytes)", f->size);
  memcpy(h, f->data, sizeof *h);
  if (memcmp(h->e_ident, ELFMAG, SELFMAG)) return image_refuse(f, hipErrorInvalidImage, "not an ELF file");
  if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
    return image_refuse(f, hipErrorInvalidImage, "not a 64-bit little-endian ELF file");
  if (h->e_machine != EM_AMDGPU_)
    return image_refuse(f, hipErrorInvalidImage, "an ELF file for machine %u, not AMDGPU code", h->e_machine);
  if (h->e_ident[EI_OSABI] != ELFOSABI_AMDHSA_)
    return image_refuse(f, hipErrorInvalidImage, "AMDGPU code for another OS ABI (%u), not HSA", h->e_ident[EI_OSABI]);
  if (h->e_ident[EI_ABIVERSION] < 1 || h->e_ident[EI_ABIVERSION] > 4)
    return image_refuse(f, hipErrorInvalidImage, "code object version %u: 3 to 6 are supported", h->e_ident[EI_ABIVERSION] + 2u);
  if (h->e_type != ET_DYN)
    return image_refuse(f, hipErrorInvalidImage, "%s", h->e_type == ET_REL ? "a relocatable object: link it to a shared object first"
                                                                     : "not a shared object");
  unsigned mach = h->e_flags & 0xff;
  for (const unsigned *m = d->chip->elf_mach; *m; m++)
    if (*m == mach) goto fits;
  return image_refuse(f, hipErrorNoBinaryForGpu, "the code object is for %s (0x%x), the device is %s", mach_name(mach), mach,
                d->chip->arch);
fits:
  if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phoff > f->size ||
      (f->size - h->e_phoff) / sizeof(Elf64_Phdr) < h->e_phnum)
    return image_refuse(f, hipErrorInvalidImage, "the program headers lie outside the file: truncated or corrupt");
  return hipSuccess;
}

void *image_loaded(const struct image *image, uint64_t vaddr, uint64_t size) {
  uint64_t address = image->bias + vaddr;
  for (unsigned k = 0; k < image->segment_count; k++) {
    const struct segment *s = &image->segments[k];
    if (address >= s->address && address - s->address <= s->size && size <= s->size - (address - s->address))
      return (void *)address;
  }
  return NULL;
}

static int map_segments(struct file *f, struct image *image) {
  uint64_t low = UINT64_MAX, high = 0;
  unsigned loads = 0;
  for (unsigned k = 0; k < f->header.e_phnum; k++) {
    Elf64_Phdr p = program_header(f, k);
    if (p.p_type != PT_LOAD || !p.p_memsz) continue;
    if (p.p_offset > f->size || p.p_filesz > f->size - p.p_offset || p.p_filesz > p.p_memsz ||
        p.p_vaddr > MAX_SPAN || p.p_memsz > MAX_SPAN)
      return image_refuse(f, hipErrorInvalidImage, "segment %u lies outside the file: truncated or corrupt", k);
    if (p.p_vaddr < low) low = p.p_vaddr;
    if (p.p_vaddr + p.p_memsz > high) high = p.p_vaddr + p.p_memsz;
    loads++;
  }
  if (!loads || loads > MAX_SEGMENTS) return image_refuse(f, hipErrorInvalidImage, "%u loadable segments", loads);
  low &= ~(uint64_t)4095;
  image->low = low;
  image->span = (high - low + 4095) & ~(uint64_t)4095;
  image->memory = mmap(NULL, image->span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (image->memory == MAP_FAILED) {
    image->memory = NULL;
    return image_refuse(f, hipErrorOutOfMemory, "no memory for a code object of %llu bytes", (unsigned long long)image->span);
  }
  image->bias = (uint64_t)image->memory - low;
  for (unsigned k = 0; k < f->header.e_phnum; k++) {
    Elf64_Phdr p = program_header(f, k);
    if (p.p_type != PT_LOAD || !p.p_memsz) continue;
    struct segment *s = &image->segments[image->segment_count++];
    s->address = image->bias + p.p_vaddr;
    s->size = p.p_memsz;
    memcpy((void *)s->address, f->data + p.p_offset, p.p_filesz);
    s->block = mem_adopt((void *)s->address, s->size, p.p_flags & PF_W ? MEM_GLOBAL : MEM_CODE | MEM_READONLY,
                         image->device->ordinal);
    if (!s->block) return image_refuse(f, hipErrorInvalidImage, "segment %u overlaps another one", k);
    s->block->owner = image;
  }
  return hipSuccess;
}

/* Objects linked from assembler sources have one note each. */
static int read_metadata(struct file *f, struct image *image) {
  bool found = false;
  for (unsigned k = 0; k < f->header.e_phnum; k++) {
    Elf64_Phdr p = program_header(f, k);
    if (p.p_type != PT_NOTE || p.p_offset > f->size || p.p_filesz > f->size - p.p_offset) continue;
    const uint8_t *at = f->data + p.p_offset, *end = at + p.p_filesz;
    while ((size_t)(end - at) >= sizeof(Elf64_Nhdr)) {
      Elf64_Nhdr note;
      memcpy(&note, at, sizeof note);
      uint64_t name = sizeof note, text = name + (((uint64_t)note.n_namesz + 3) & ~(uint64_t)3);
      uint64_t next = text + (((uint64_t)note.n_descsz + 3) & ~(uint64_t)3);
      if (text + note.n_descsz > (uint64_t)(end - at)) break;
      if (note.n_type == NT_AMDGPU_METADATA_ && note.n_namesz == 7 && !memcmp(at + name, "AMDGPU", 7)) {
        if (!metadata_read(at + text, note.n_descsz, &image->kernels, &image->kernel_count))
          return image_refuse(f, hipErrorInvalidImage, "the metadata of the code object is corrupt");
        found = true;
      }
      if (next >= (uint64_t)(end - at)) break;
      at += next;
    }
  }
  return found ? hipSuccess : image_refuse(f, hipErrorInvalidImage, "the code object has no AMDGPU metadata note");
}

static int make_code(struct file *f, struct image *image) {
  unsigned at = 0;
  for (unsigned k = 0; k < f->header.e_phnum; k++) {
    Elf64_Phdr p = program_header(f, k);
    if (p.p_type != PT_LOAD || !p.p_memsz) continue;
    struct segment *s = &image->segments[at++];
    if (!(p.p_flags & PF_X)) continue;
    s->code = code_create(image->device->arch, s->address, s->size);
    if (!s->code) return hipErrorOutOfMemory;
  }
  return hipSuccess;
}

/* The descriptor of every kernel, and its entry point. */
static int resolve_kernels(struct file *f, struct image *image) {
  for (size_t k = 0; k < image->kernel_count; k++) {
    struct kernel_info *kernel = &image->kernels[k];
    char name[4096];
    if ((size_t)snprintf(name, sizeof name, "%s.kd", kernel->name) >= sizeof name)
      return image_refuse(f, hipErrorInvalidImage, "a kernel's name is longer than %zu characters", sizeof name);
    const Elf64_Sym *s = image_symbol(image, name);
    const struct kernel_descriptor *d = s ? image_table(image, s->st_value, sizeof *d) : NULL;
    if (!d) return image_refuse(f, hipErrorInvalidImage, "kernel '%s' has no descriptor", kernel->name);
    kernel->descriptor = (uint64_t)d;
    uint64_t entry = (uint64_t)d + (uint64_t)d->kernel_code_entry_byte_offset;
    for (unsigned n = 0; n < image->segment_count; n++) {
      const struct segment *g = &image->segments[n];
      if (g->code && entry >= g->address && entry - g->address < g->size) kernel->code = g->code;
    }
    if (!kernel->code || entry % 4) return image_refuse(f, hipErrorInvalidImage, "kernel '%s' has no code", kernel->name);
    if (kernel->kernarg_size < d->kernarg_size) kernel->kernarg_size = d->kernarg_size;
    kernel->group_size = d->group_segment_fixed_size;
    kernel->private_size = d->private_segment_fixed_size;
    if (!hash_index_add(&image->kernels_by_name, hash_string(kernel->name), k)) return hipErrorOutOfMemory;
  }
  return hipSuccess;
}

/* Contents of a section, {NULL, 0} if there is none. Section names are not loaded, so this data is optional. */
static const uint8_t *section(const struct file *f, const char *wanted, size_t *size) {
  const Elf64_Ehdr *h = &f->header;
  Elf64_Shdr s, names;
  *size = 0;
  if (h->e_shentsize != sizeof s || h->e_shoff > f->size || (f->size - h->e_shoff) / sizeof s < h->e_shnum ||
      h->e_shstrndx >= h->e_shnum)
    return NULL;
  memcpy(&names, f->data + h->e_shoff + h->e_shstrndx * sizeof s, sizeof s);
  if (names.sh_offset > f->size || names.sh_size > f->size - names.sh_offset) return NULL;
  size_t length = strlen(wanted) + 1;
  for (unsigned k = 0; k < h->e_shnum; k++) {
    memcpy(&s, f->data + h->e_shoff + k * sizeof s, sizeof s);
    if (s.sh_name >= names.sh_size || names.sh_size - s.sh_name < length || s.sh_type == SHT_NOBITS) continue;
    if (memcmp(f->data + names.sh_offset + s.sh_name, wanted, length)) continue;
    if (s.sh_offset > f->size || s.sh_size > f->size - s.sh_offset) return NULL;
    *size = s.sh_size;
    return f->data + s.sh_offset;
  }
  return NULL;
}

static uint8_t *section_copy(const struct file *f, const char *name, size_t skip, size_t *size) {
  const uint8_t *data = section(f, name, size);
  if (!data || *size <= skip) return *size = 0, NULL;
  *size -= skip;
  uint8_t *copy = malloc(*size);
  if (copy) memcpy(copy, data + skip, *size);
  else *size = 0;
  return copy;
}

/* Data that reports need beyond the code: line tables, and the warp mapping from the translator's sidecar. */
static void read_debug(const struct file *f, struct image *image) {
  enum { NOTE_HEAD = 20 };   /* sizes, type, "ptx2amd" */
  struct lines *l = &image->lines;
  l->table = section_copy(f, ".debug_line", 0, &l->table_size);
  if (l->table) l->origins = section_copy(f, ".note.ptx2amd.origins", NOTE_HEAD, &l->origins_size);
  l->bias = image->bias;
  size_t size;
  const uint8_t *note = section(f, ".note.ptx2amd", &size);
  for (unsigned k = 0; k < image->segment_count; k++)
    if (image->segments[k].code) {
      code_set_lines(image->segments[k].code, l);
      if (!note) code_may_stray(image->segments[k].code);   /* not from our translator */
    }
  for (size_t k = 0; note && k < image->kernel_count; k++) {
    char key[4200];
    int n = snprintf(key, sizeof key, "\"%s\":{\"mapping\":\"padded\"", image->kernels[k].name);
    image->kernels[k].padded = n > 0 && memmem(note, size, key, (size_t)n) != NULL;
  }
}

int image_load(struct device *d, const void *data, size_t size, struct image **out, char *why, size_t why_size) {
  uint8_t *copy = NULL;
  size_t copy_size = 0;
  snprintf(why, why_size, "out of memory");
  int error = image_fetch(d, data, size, &copy, &copy_size, why, why_size);
  if (error != hipSuccess) return error;
  struct file f = {.data = copy, .size = copy_size, .why = why, .why_size = why_size};
  struct image *image = calloc(1, sizeof *image);
  error = image ? check_header(&f, d) : hipErrorOutOfMemory;
  if (error == hipSuccess) {
    image->device = d;
    error = map_segments(&f, image);
  }
  if (error == hipSuccess) error = image_link(&f, image);
  if (error == hipSuccess) error = read_metadata(&f, image);
  if (error == hipSuccess) error = make_code(&f, image);
  if (error == hipSuccess) error = resolve_kernels(&f, image);
  if (error == hipSuccess) read_debug(&f, image);
  free(copy);
  if (error != hipSuccess) {
    image_unload(image);
    return error;
  }
  *out = image;
  return hipSuccess;
}

void image_unload(struct image *image) {
  if (!image) return;
  for (unsigned k = 0; k < image->segment_count; k++) {
    if (image->segments[k].code) code_destroy(image->segments[k].code);
    if (image->segments[k].block) mem_release(image->segments[k].block);
  }
  if (image->memory) munmap(image->memory, image->span);
  metadata_free(image->kernels, image->kernel_count);
  free(image->lines.table);
  free(image->lines.origins);
  free(image->symbols);
  free(image->names);
  free(image->symbols_by_name.slots);
  free(image->kernels_by_name.slots);
  free(image);
}

const struct kernel_info *image_kernel(const struct image *image, const char *name) {
  uint32_t hash = hash_string(name);
  for (size_t cursor = 0, k; hash_index_next(&image->kernels_by_name, hash, &cursor, &k);)
    if (!strcmp(image->kernels[k].name, name)) return &image->kernels[k];
  return NULL;
}

const struct kernel_info *image_kernel_at(const struct image *image, size_t index) {
  return index < image->kernel_count ? &image->kernels[index] : NULL;
}

size_t image_kernel_count(const struct image *image) { return image->kernel_count; }

bool image_global(const struct image *image, const char *name, uint64_t *address, uint64_t *size) {
  const Elf64_Sym *s = image_symbol(image, name);
  if (!s || ELF64_ST_TYPE(s->st_info) != STT_OBJECT || !image_loaded(image, s->st_value, s->st_size)) return false;
  *address = image->bias + s->st_value;
  *size = s->st_size;
  return true;
}
