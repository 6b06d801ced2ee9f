/* Descriptors of textures and surfaces, as kernels read them (docs/architecture.md, Textures). */
#ifndef SHIM_TEXTURE_H
#define SHIM_TEXTURE_H
#include "array.h"

enum resource_type { RESOURCE_ARRAY, RESOURCE_MIPMAP, RESOURCE_LINEAR, RESOURCE_PITCH_2D };

struct descriptor {
  uint64_t base, slice;
  uint32_t pitch, width, height, depth, layers, format, channels, texel, modes[3], filter, flags;
  float border[4];
  uint32_t kind, size;
  uint32_t levels;     /* of a mipmap; 0: none */
  uint64_t table;      /* of the levels */
  float bias, least, most;
  uint32_t blend, reserved[2];
};
_Static_assert(sizeof(struct descriptor) == 128, "as documented");

void array_describe(const struct array *a, struct descriptor *d); /* what it is, without how it is read */
/* view may be NULL. */
CUresult texture_describe(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
                          const CUDA_RESOURCE_VIEW_DESC *view, struct descriptor *d);
CUresult surface_describe(const CUDA_RESOURCE_DESC *resource, struct descriptor *d);
#endif
