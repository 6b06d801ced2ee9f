/* A code object while it is loaded: loader.c maps it and finds its kernels, dynamic.c links it. */
#ifndef PTX2AMD_VGPU_IMAGE_H
#define PTX2AMD_VGPU_IMAGE_H

#include "loader.h"

#include <elf.h>
#include <string.h>

#include "hash_index.h"
#include "lines.h"

#define MAX_SEGMENTS 16
#define MAX_SPAN ((uint64_t)1 << 31)

struct segment {
  struct mem_block *block;
  struct code *code;            /* executable segments */
  uint64_t address, size;
};

struct image {
  const struct device *device;
  char *memory;                 /* the mapping; virtual address 0 of the code object corresponds to bias */
  uint64_t span, bias, low;
  struct segment segments[MAX_SEGMENTS];
  unsigned segment_count;
  Elf64_Sym *symbols;           /* copies */
  size_t symbol_count;
  char *names;
  size_t names_size;
  struct kernel_info *kernels;
  size_t kernel_count;
  struct hash_index symbols_by_name, kernels_by_name;
  struct lines lines;
};

struct file {
  const uint8_t *data;
  size_t size;
  Elf64_Ehdr header;
  char *why;
  size_t why_size;
};

/* An error with its reason. */
int image_refuse(struct file *f, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

static inline Elf64_Phdr program_header(const struct file *f, unsigned k) {
  Elf64_Phdr p;
  memcpy(&p, f->data + f->header.e_phoff + k * sizeof p, sizeof p);
  return p;
}

/* Where size bytes at virtual address vaddr of the code object are; NULL: not within one loaded segment. */
void *image_loaded(const struct image *image, uint64_t vaddr, uint64_t size);
/* The same of a table of 8-byte aligned entries. */
static inline void *image_table(const struct image *image, uint64_t vaddr, uint64_t size) {
  return vaddr % 8 ? NULL : image_loaded(image, vaddr, size);
}
/* dynamic.c: reads the dynamic section and the symbols, and applies the relocations. */
int image_link(struct file *f, struct image *image);
/* NULL: not found. */
const Elf64_Sym *image_symbol(const struct image *image, const char *name);
#endif
