/* CUDA arrays: plain device memory, rows without gaps, and a description. Layers are slices. */
#ifndef SHIM_ARRAY_H
#define SHIM_ARRAY_H
#include "shim.h"

enum array_flags { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBEMAP = 4, ARRAY_GATHER = 8 };

struct array {
  struct handle h;
  CUDA_ARRAY3D_DESCRIPTOR d;
  CUdeviceptr base;
  size_t pitch, slice; /* bytes of a row, of a slice */
  bool owned;          /* a mipmap's level */
  bool borrowed;       /* in memory that is not the array's */
};
FITS(struct array, SLOT_ARRAY);

struct array *array_checked(CUarray handle);                   /* NULL when stale or foreign */
CUresult array_new(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *d, CUdeviceptr at); /* at 0: in memory of its own */
CUresult array_size(const CUDA_ARRAY3D_DESCRIPTOR *d, size_t *size);                  /* bytes; or what is wrong with d */
unsigned texel_bytes(CUarray_format format, unsigned channels); /* 0: no such format */
/* Arrays in a copy become device memory. Arrays, pitches and heights have to hold what is copied. */
CUresult copy_resolve(CUDA_MEMCPY3D *copy);
#endif
