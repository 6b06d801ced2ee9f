/* Loads AMDGPU code objects: ELF shared objects of code object versions 3 to 6, from any producer, bare or in a clang
 * offload bundle. */
#ifndef PTX2AMD_VGPU_LOADER_H
#define PTX2AMD_VGPU_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;

enum arg_kind {
  ARG_VALUE,            /* explicit: bytes from the caller */
  ARG_HIDDEN_NONE,      /* hidden and left zero */
  ARG_BLOCK_COUNT_X, ARG_BLOCK_COUNT_Y, ARG_BLOCK_COUNT_Z,
  ARG_GROUP_SIZE_X, ARG_GROUP_SIZE_Y, ARG_GROUP_SIZE_Z,
  ARG_REMAINDER_X, ARG_REMAINDER_Y, ARG_REMAINDER_Z,
  ARG_GRID_DIMS,
  ARG_DYNAMIC_LDS_SIZE,
  ARG_PRIVATE_BASE,       /* the high half of the aperture's addresses */
  ARG_SHARED_BASE,
  ARG_HOSTCALL_BUFFER,  /* for printf, assert, and malloc of whole slabs (program/hostcall.c) */
  ARG_HEAP,             /* of malloc in kernels (program/device_heap.c) */
  ARG_GRID_SYNC,        /* for cooperative launches: memory in which blocks count each other */
};

struct kernel_arg {
  uint32_t offset, size;
  enum arg_kind kind;
};

struct kernel_info {
  char *name;
  uint64_t descriptor;         /* address of the kernel descriptor */
  struct code *code;
  uint32_t kernarg_size;       /* bytes, hidden arguments included */
  uint32_t explicit_size;      /* bytes up to the end of the last explicit argument */
  uint32_t group_size;         /* static LDS, bytes */
  uint32_t private_size;       /* scratch per work-item, bytes */
  uint32_t wavefront;          /* lanes */
  uint32_t max_flat;           /* work-items per workgroup */
  uint32_t required_block[3];  /* 0: free */
  uint32_t sgprs, vgprs, agprs;
  bool dynamic_stack;
  bool padded;                 /* warp mapping, from the translator's note */
  bool has_args;               /* the metadata lists the arguments */
  struct kernel_arg *args;
  uint32_t arg_count, explicit_count;   /* explicit ones first */
};

struct image;

/* Loads a code object that fits the device; size 0: unknown (it is read from the headers). data is not used afterwards.
 * Returns 0, or a hipError_t with the reason in `why`. */
int image_load(struct device *d, const void *data, size_t size, struct image **image, char *why, size_t why_size);
void image_unload(struct image *image);
/* NULL: no such kernel. */
const struct kernel_info *image_kernel(const struct image *image, const char *name);
const struct kernel_info *image_kernel_at(const struct image *image, size_t index);
size_t image_kernel_count(const struct image *image);
/* A device variable; false: not found. */
bool image_global(const struct image *image, const char *name, uint64_t *address, uint64_t *size);
/* elf.c: copies an image of unknown size safely, and finds the code object for the device in a bundle. */
int image_fetch(struct device *d, const void *data, size_t size, uint8_t **copy, size_t *copy_size, char *why,
                size_t why_size);
/* metadata.c: adds the kernels of a metadata note to those read before; false: malformed. */
bool metadata_read(const uint8_t *note, size_t size, struct kernel_info **kernels, size_t *count);
void metadata_free(struct kernel_info *kernels, size_t count);
#endif
