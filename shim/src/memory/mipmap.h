/* Mipmapped arrays. */
#ifndef SHIM_MIPMAP_H
#define SHIM_MIPMAP_H
#include "array.h"
#include "interface_texture.h"

enum { MIPMAP_LEVELS = 29 };

struct mipmap {
  struct handle h;
  CUDA_ARRAY3D_DESCRIPTOR d;
  unsigned levels;
  CUdeviceptr table;  /* a struct texture_level each */
  CUdeviceptr mapped; /* external memory that holds the levels; 0: they have their own */
  struct array *level[MIPMAP_LEVELS];
};
FITS(struct mipmap, SLOT_MIPMAP);

struct mipmap *mipmap_checked(CUmipmappedArray handle); /* NULL when stale or foreign */
#endif
