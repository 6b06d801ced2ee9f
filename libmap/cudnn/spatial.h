/* Spatial transformers: their descriptor, and the arguments of our kernels (spatial_ptx.c). */
#ifndef CUDNN_SPATIAL_H
#define CUDNN_SPATIAL_H
#include "cudnn_objects.h"

enum { SPATIAL_SIZES = 4, SPATIAL_THREADS = 256 };

struct cudnnSpatialTransformerDescriptor_t_st {
  enum cudnn_mark mark;
  cudnnDataType_t type;
  int count; /* of dimensions; 0: nothing was set */
  int size[SPATIAL_SIZES]; /* of what the sampler writes: images, channels, rows, columns */
};

enum spatial_kernel { SPATIAL_GRID, SPATIAL_THETA, SPATIAL_SAMPLE, SPATIAL_SAMPLE_BACK, SPATIAL_SCALE, SPATIAL_KERNELS };

/* The parameter of a kernel. For the generator `y` is theta, for the sampler's gradients dy; strides are in numbers. */
struct spatial_arguments {
  uint64_t x, y, dx, grid, dgrid;
  double alpha, beta, alpha_grid, beta_grid;
  int64_t x_stride[SPATIAL_SIZES], y_stride[SPATIAL_SIZES], dx_stride[SPATIAL_SIZES];
  uint32_t size[SPATIAL_SIZES], rows, columns; /* of the result; of x */
};

/* The text of a kernel, to be freed; NULL: no memory. */
char *spatial_ptx(enum spatial_kernel kernel, cudnnDataType_t type);
extern const char *const spatial_names[SPATIAL_KERNELS];
#endif
