/* Descriptors of textures and surfaces, as kernels read them. */
#ifndef SHIM_TEXTURE_H
#define SHIM_TEXTURE_H
#include "array.h"
#include "interface_texture.h"

enum resource_type { RESOURCE_ARRAY, RESOURCE_MIPMAP, RESOURCE_LINEAR, RESOURCE_PITCH_2D };

void array_describe(const struct array *a, struct texture_descriptor *d); /* what it is, without how it is read */
/* view may be NULL. */
CUresult texture_describe(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
                          const CUDA_RESOURCE_VIEW_DESC *view, struct texture_descriptor *d);
CUresult surface_describe(const CUDA_RESOURCE_DESC *resource, struct texture_descriptor *d);
#endif
