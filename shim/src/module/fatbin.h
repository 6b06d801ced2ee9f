/* The fatbin container's layout. */
#ifndef SHIM_FATBIN_H
#define SHIM_FATBIN_H
#include <stdint.h>

enum { WRAPPER_MAGIC = 0x466243b1, FATBIN_HEADER = 16, ENTRY_HEADER = 64 };
#define FATBIN_MAGIC 0xba55ed50u
enum { KIND_PTX = 1, KIND_ELF = 2, KIND_LTO = 8 /* nvcc -gencode code=lto_80 */, KIND_LINKED = 0x7032 /* ours: linked.h */ };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_ARCH_SPECIFIC = 0x100000, FLAG_FAMILY_SPECIFIC = 0x200000 };

struct fatbin_header {
  uint32_t magic;
  uint16_t version, header_size;
  uint64_t payload;
};
_Static_assert(sizeof(struct fatbin_header) == FATBIN_HEADER, "layout of a fatbin");

struct entry {
  uint16_t kind, one;
  uint32_t header_size;
  uint64_t payload;
  uint32_t compressed, options;
  uint16_t minor, major;
  uint32_t sm, name, name_length;
  uint64_t flags, zero, full_size;
};
_Static_assert(sizeof(struct entry) == ENTRY_HEADER, "layout of a fatbin entry");

struct wrapper { uint32_t magic, version; const void *fatbin; const void *const *prelinked; };
#endif
