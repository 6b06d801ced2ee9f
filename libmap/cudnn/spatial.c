/* Spatial transformers: grids of affine transformations, and bilinear samples of images at a grid's points, which MIOpen
 * does not have. Places reach from -1 (the first number's middle) to 1; outside of an image are zeros. */
#include "spatial.h"

#include "compute.h"
#include "ptx.h"
#include "template.h"

cudnnStatus_t cudnnCreateSpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t *stDesc) {
  if (!stDesc) return CUDNN_STATUS_BAD_PARAM;
  cudnnSpatialTransformerDescriptor_t made = cudnn_new(CUDNN_A_TRANSFORMER, sizeof *made);
  if (!made) return CUDNN_STATUS_ALLOC_FAILED;
  *stDesc = made;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroySpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t stDesc) {
  if (!stDesc) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(stDesc, CUDNN_A_TRANSFORMER)) return CUDNN_STATUS_BAD_PARAM;
  cudnn_free(stDesc);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetSpatialTransformerNdDescriptor(cudnnSpatialTransformerDescriptor_t stDesc,
                                                     cudnnSamplerType_t samplerType, cudnnDataType_t dataType,
                                                     int nbDims, const int *dimA) {
  if (!cudnn_is(stDesc, CUDNN_A_TRANSFORMER) || samplerType || nbDims < 1 || !dimA) return CUDNN_STATUS_BAD_PARAM;
  if (nbDims != SPATIAL_SIZES) return cudnn_status(cudnn_no("spatial transformers of other than two dimensions"));
  if (!cudnn_template_type(dataType)) return cudnn_other_type(dataType);
  int64_t all = 1;
  for (int d = 0; d < nbDims; d++) {
    if (dimA[d] < 1 || (all *= dimA[d]) > INT32_MAX) return CUDNN_STATUS_BAD_PARAM;
  }
  stDesc->type = dataType, stDesc->count = nbDims;
  for (int d = 0; d < nbDims; d++) stDesc->size[d] = dimA[d];
  return CUDNN_STATUS_SUCCESS;
}

static bool is_set(cudnnSpatialTransformerDescriptor_t st) { return cudnn_is(st, CUDNN_A_TRANSFORMER) && st->count; }

static cudnnStatus_t launch(cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t st, enum spatial_kernel which,
                            struct spatial_arguments *a) {
  for (int d = 0; d < SPATIAL_SIZES; d++) a->size[d] = (uint32_t)st->size[d];
  bool of_x = which == SPATIAL_SCALE;
  unsigned threads = a->size[0] * (of_x ? a->size[1] * a->rows * a->columns : a->size[2] * a->size[3]);
  unsigned blocks = which == SPATIAL_THETA ? 2 * a->size[0] : (threads + SPATIAL_THREADS - 1) / SPATIAL_THREADS;
  char *ptx = spatial_ptx(which, st->type);
  if (!ptx) return CUDNN_STATUS_ALLOC_FAILED;
  void *kernel = ptx_kernel(ptx, spatial_names[which]), *parameters[] = {a};
  if (!kernel || libmap_driver.launch(kernel, blocks, 1, 1, SPATIAL_THREADS, 1, 1, 0, handle->stream, parameters, NULL)) {
    return CUDNN_STATUS_EXECUTION_FAILED;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSpatialTfGridGeneratorForward(cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t stDesc,
                                                 const void *theta, void *grid) {
  if (!cudnn_handle(handle, &handle) || !is_set(stDesc) || !theta || !grid) return CUDNN_STATUS_BAD_PARAM;
  struct spatial_arguments a = {.y = (uintptr_t)theta, .grid = (uintptr_t)grid};
  return launch(handle, stDesc, SPATIAL_GRID, &a);
}

cudnnStatus_t cudnnSpatialTfGridGeneratorBackward(cudnnHandle_t handle, const cudnnSpatialTransformerDescriptor_t stDesc,
                                                  const void *dgrid, void *dtheta) {
  if (!cudnn_handle(handle, &handle) || !is_set(stDesc) || !dgrid || !dtheta) return CUDNN_STATUS_BAD_PARAM;
  struct spatial_arguments a = {.y = (uintptr_t)dtheta, .dgrid = (uintptr_t)dgrid};
  return launch(handle, stDesc, SPATIAL_THETA, &a);
}

static int64_t numbers(const struct cudnn_tensor *tensor) {
  int64_t all = 1;
  for (int d = 0; d < tensor->count && all <= INT32_MAX; d++) all *= tensor->size[d];
  return all;
}

/* Whether the images are those of the result, with the transformer's type. */
static bool fits(cudnnSpatialTransformerDescriptor_t st, const struct cudnn_tensor *x, const struct cudnn_tensor *y) {
  bool good = x->count == SPATIAL_SIZES && y->count == SPATIAL_SIZES && x->type == st->type && y->type == st->type;
  for (int d = 0; d < SPATIAL_SIZES && good; d++) good = y->size[d] == st->size[d] && (d > 1 || x->size[d] == st->size[d]);
  return good && numbers(x) <= INT32_MAX;
}

static double factor(cudnnSpatialTransformerDescriptor_t st, const void *at) {
  return st->type == CUDNN_DATA_DOUBLE ? *(const double *)at : *(const float *)at;
}

static void strides(const struct cudnn_tensor *tensor, int64_t *out) {
  for (int d = 0; d < SPATIAL_SIZES; d++) out[d] = tensor->stride[d];
}

cudnnStatus_t cudnnSpatialTfSamplerForward(cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t stDesc,
                                           const void *alpha, const cudnnTensorDescriptor_t xDesc, const void *x,
                                           const void *grid, const void *beta, cudnnTensorDescriptor_t yDesc, void *y) {
  const struct cudnn_tensor *from, *to;
  if (!cudnn_handle(handle, &handle) || !is_set(stDesc) || !cudnn_tensor(xDesc, &from) || !cudnn_tensor(yDesc, &to) ||
      !alpha || !beta || !x || !grid || !y) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!fits(stDesc, from, to)) return CUDNN_STATUS_BAD_PARAM;
  struct spatial_arguments a = {.x = (uintptr_t)x, .y = (uintptr_t)y, .grid = (uintptr_t)grid,
                                .alpha = factor(stDesc, alpha), .beta = factor(stDesc, beta),
                                .rows = (uint32_t)from->size[2], .columns = (uint32_t)from->size[3]};
  strides(from, a.x_stride), strides(to, a.y_stride);
  return launch(handle, stDesc, SPATIAL_SAMPLE, &a);
}

cudnnStatus_t cudnnSpatialTfSamplerBackward(cudnnHandle_t handle, cudnnSpatialTransformerDescriptor_t stDesc,
                                            const void *alpha, const cudnnTensorDescriptor_t xDesc, const void *x,
                                            const void *beta, const cudnnTensorDescriptor_t dxDesc, void *dx,
                                            const void *alphaDgrid, const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                            const void *grid, const void *betaDgrid, void *dgrid) {
  const struct cudnn_tensor *from, *gradient, *to;
  if (!cudnn_handle(handle, &handle) || !is_set(stDesc) || !cudnn_tensor(xDesc, &from) ||
      !cudnn_tensor(dxDesc, &gradient) || !cudnn_tensor(dyDesc, &to) || !alpha || !beta || !alphaDgrid || !betaDgrid ||
      !x || !dx || !dy || !grid || !dgrid) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!fits(stDesc, from, to) || !cudnn_same_sizes(from, gradient) || gradient->type != from->type) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  struct spatial_arguments a = {.x = (uintptr_t)x, .y = (uintptr_t)dy, .dx = (uintptr_t)dx, .grid = (uintptr_t)grid,
                                .dgrid = (uintptr_t)dgrid, .alpha = factor(stDesc, alpha),
                                .beta = factor(stDesc, beta), .alpha_grid = factor(stDesc, alphaDgrid),
                                .beta_grid = factor(stDesc, betaDgrid), .rows = (uint32_t)from->size[2], .columns = (uint32_t)from->size[3]};
  strides(from, a.x_stride), strides(to, a.y_stride), strides(gradient, a.dx_stride);
  cudnnStatus_t status = a.beta == 1 ? CUDNN_STATUS_SUCCESS : launch(handle, stDesc, SPATIAL_SCALE, &a);
  return status ? status : launch(handle, stDesc, SPATIAL_SAMPLE_BACK, &a);
}
