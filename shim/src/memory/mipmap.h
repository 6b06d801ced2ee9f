/* Mipmapped arrays. */
#ifndef SHIM_MIPMAP_H
#define SHIM_MIPMAP_H
#include "array.h"

enum { MIPMAP_LEVELS = 29 };

struct mipmap {
  struct handle h;
  CUDA_ARRAY3D_DESCRIPTOR d;
  unsigned levels;
  CUdeviceptr table;  /* a struct level for each */
  CUdeviceptr mapped; /* external memory that holds the levels; 0: they have their own */
  struct array *level[MIPMAP_LEVELS];
};
FITS(struct mipmap, SLOT_MIPMAP);

/* What a level has of its own: as a descriptor begins (texture.h). */
struct level {
  uint64_t base, slice;
  uint32_t pitch, width, height, depth;
};

struct mipmap *mipmap_checked(CUmipmappedArray handle); /* NULL when stale or foreign */
#endif
