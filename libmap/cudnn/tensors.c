/* Descriptors of tensors and of filters. */
#include "cudnn_objects.h"

#include <string.h>

static const unsigned char type_sizes[] = {[0] = 4, [1] = 8, [2] = 2,  [3] = 1,  [4] = 4, [6] = 1,
                                           [9] = 2, [10] = 8, [11] = 1, [22] = 1};

size_t cudnn_type_size(cudnnDataType_t type) {
  return type >= 0 && (size_t)type < sizeof type_sizes ? type_sizes[type] : 0;
}

size_t cudnn_bytes(const struct cudnn_tensor *tensor) {
  size_t last = 0;
  for (int i = 0; i < tensor->count; i++) last += (size_t)(tensor->size[i] - 1) * (size_t)tensor->stride[i];
  return (last + 1) * cudnn_type_size(tensor->type);
}

bool cudnn_same_sizes(const struct cudnn_tensor *one, const struct cudnn_tensor *other) {
  return one->count == other->count && !memcmp(one->size, other->size, (size_t)one->count * sizeof *one->size);
}

/* Strides of dimensions N, C, D, H, W that lie one after the other, or with C innermost. False: too many numbers. */
static bool packed(cudnnTensorFormat_t format, int count, const int *sizes, int *strides) {
  int64_t stride = 1;
  bool last = format == CUDNN_TENSOR_NHWC && count > 2;
  if (last) strides[1] = 1, stride = sizes[1];
  for (int i = count - 1; i >= 0; i--) {
    if (last && i == 1) continue;
    if (stride > INT32_MAX) return false;
    strides[i] = (int)stride, stride *= sizes[i];
  }
  return stride <= INT32_MAX;
}

cudnnStatus_t cudnn_other_type(cudnnDataType_t type) {
  enum { MOST = 32 }; /* more than there are */
  return type < 0 || type > MOST ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t cudnn_set_tensor(struct cudnn_tensor *tensor, cudnnDataType_t type, int count, const int *sizes,
                               const int *strides) {
  miopenDataType_t beneath;
  if (count > CUDNN_DIMENSIONS) return CUDNN_STATUS_NOT_SUPPORTED;
  if (count < 1 || !sizes) return CUDNN_STATUS_BAD_PARAM;
  if (!beneath_cudnnDataType_t(type, &beneath)) return cudnn_other_type(type);
  struct cudnn_tensor made = *tensor;
  made.type = type, made.count = count;
  for (int i = 0; i < count; i++) {
    if (sizes[i] < 1 || (strides && strides[i] < 0)) return CUDNN_STATUS_BAD_PARAM;
    made.size[i] = sizes[i];
    if (strides) made.stride[i] = strides[i];
  }
  if (!strides && !packed(made.format, count, sizes, made.stride)) return CUDNN_STATUS_NOT_SUPPORTED;
  cudnnStatus_t status =
      cudnn_status(miopen.SetTensorDescriptor(made.miopen, beneath, count, made.size, made.stride));
  if (!status) *tensor = made;
  return status;
}

static cudnnStatus_t create(void **out, enum cudnn_mark mark) {
  if (!out) return CUDNN_STATUS_BAD_PARAM;
  if (!libmap_ready()) return CUDNN_STATUS_NOT_INITIALIZED;
  struct cudnn_tensor *made = cudnn_new(mark, sizeof *made);
  if (!made) return CUDNN_STATUS_ALLOC_FAILED;
  cudnnStatus_t status = cudnn_status(miopen.CreateTensorDescriptor(&made->miopen));
  if (status) cudnn_free(made);
  else *out = made;
  return status;
}

static cudnnStatus_t destroy(void *given, enum cudnn_mark mark) {
  if (!given) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(given, mark)) return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t status = cudnn_status(miopen.DestroyTensorDescriptor(((struct cudnn_tensor *)given)->miopen));
  cudnn_free(given);
  return status;
}

/* ---- tensors ---- */

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensorDesc) {
  return create((void **)tensorDesc, CUDNN_A_TENSOR);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensorDesc) {
  return destroy(tensorDesc, CUDNN_A_TENSOR);
}

bool cudnn_tensor(cudnnTensorDescriptor_t given, const struct cudnn_tensor **found) {
  *found = &given->tensor;
  return cudnn_is(given, CUDNN_A_TENSOR) && given->tensor.count;
}

bool cudnn_computes(cudnnTensorDescriptor_t given) {
  return given->tensor.type == CUDNN_DATA_FLOAT || given->tensor.type == CUDNN_DATA_HALF;
}

static cudnnStatus_t set(cudnnTensorDescriptor_t desc, cudnnDataType_t type, int count, const int *sizes,
                         const int *strides, cudnnTensorFormat_t format) {
  if (!cudnn_is(desc, CUDNN_A_TENSOR) || format < 0 || format > 2) return CUDNN_STATUS_BAD_PARAM;
  if (format > CUDNN_TENSOR_NHWC) return CUDNN_STATUS_NOT_SUPPORTED; /* vectors of channels */
  desc->tensor.format = format;
  return cudnn_set_tensor(&desc->tensor, type, count, sizes, strides);
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensorDesc, cudnnTensorFormat_t format,
                                         cudnnDataType_t dataType, int n, int c, int h, int w) {
  return set(tensorDesc, dataType, 4, (const int[]){n, c, h, w}, NULL, format);
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensorDesc, cudnnDataType_t dataType, int n, int c,
                                           int h, int w, int nStride, int cStride, int hStride, int wStride) {
  const int sizes[] = {n, c, h, w}, strides[] = {nStride, cStride, hStride, wStride};
  return set(tensorDesc, dataType, 4, sizes, strides, CUDNN_TENSOR_NCHW);
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc, cudnnDataType_t dataType, int nbDims,
                                         const int *dimA, const int *strideA) {
  if (!strideA) return CUDNN_STATUS_BAD_PARAM;
  return set(tensorDesc, dataType, nbDims, dimA, strideA, CUDNN_TENSOR_NCHW);
}

cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensorDesc, cudnnTensorFormat_t format,
                                           cudnnDataType_t dataType, int nbDims, const int *dimA) {
  return set(tensorDesc, dataType, nbDims, dimA, NULL, format);
}

cudnnStatus_t cudnnGetTensor4dDescriptor(cudnnTensorDescriptor_t tensorDesc, cudnnDataType_t *dataType, int *n, int *c,
                                         int *h, int *w, int *nStride, int *cStride, int *hStride, int *wStride) {
  const struct cudnn_tensor *found;
  if (!cudnn_tensor(tensorDesc, &found) || found->count != 4) return CUDNN_STATUS_BAD_PARAM;
  int *const sizes[] = {n, c, h, w}, *const strides[] = {nStride, cStride, hStride, wStride};
  CUDNN_GIVE(dataType, found->type);
  for (int i = 0; i < 4; i++) {
    CUDNN_GIVE(sizes[i], found->size[i]);
    CUDNN_GIVE(strides[i], found->stride[i]);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc, int nbDimsRequested,
                                         cudnnDataType_t *dataType, int *nbDims, int *dimA, int *strideA) {
  const struct cudnn_tensor *found;
  if (!cudnn_tensor(tensorDesc, &found) || nbDimsRequested < 1) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(dataType, found->type);
  CUDNN_GIVE(nbDims, found->count);
  cudnn_give(cudnn_least(nbDimsRequested, found->count), found->size, dimA);
  cudnn_give(cudnn_least(nbDimsRequested, found->count), found->stride, strideA);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorSizeInBytes(cudnnTensorDescriptor_t tensorDesc, size_t *size) {
  const struct cudnn_tensor *found;
  if (!cudnn_tensor(tensorDesc, &found) || !size) return CUDNN_STATUS_BAD_PARAM;
  *size = cudnn_bytes(found);
  return CUDNN_STATUS_SUCCESS;
}

/* ---- filters ---- */

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filterDesc) {
  return create((void **)filterDesc, CUDNN_A_FILTER);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filterDesc) {
  return destroy(filterDesc, CUDNN_A_FILTER);
}

bool cudnn_filter(cudnnFilterDescriptor_t given, const struct cudnn_tensor **found) {
  *found = &given->tensor;
  return cudnn_is(given, CUDNN_A_FILTER) && given->tensor.count;
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType,
                                         cudnnTensorFormat_t format, int nbDims, const int *filterDimA) {
  if (!cudnn_is(filterDesc, CUDNN_A_FILTER) || format < 0 || format > 2) return CUDNN_STATUS_BAD_PARAM;
  if (format > CUDNN_TENSOR_NHWC) return CUDNN_STATUS_NOT_SUPPORTED;
  filterDesc->tensor.format = format;
  return cudnn_set_tensor(&filterDesc->tensor, dataType, nbDims, filterDimA, NULL);
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t dataType,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  return cudnnSetFilterNdDescriptor(filterDesc, dataType, format, 4, (const int[]){k, c, h, w});
}

cudnnStatus_t cudnnGetFilterNdDescriptor(cudnnFilterDescriptor_t filterDesc, int nbDimsRequested,
                                         cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *nbDims,
                                         int *filterDimA) {
  const struct cudnn_tensor *found;
  if (!cudnn_filter(filterDesc, &found) || nbDimsRequested < 1) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(dataType, found->type);
  CUDNN_GIVE(format, found->format);
  CUDNN_GIVE(nbDims, found->count);
  cudnn_give(cudnn_least(nbDimsRequested, found->count), found->size, filterDimA);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilter4dDescriptor(cudnnFilterDescriptor_t filterDesc, cudnnDataType_t *dataType,
                                         cudnnTensorFormat_t *format, int *k, int *c, int *h, int *w) {
  int count = 0, sizes[CUDNN_DIMENSIONS];
  cudnnStatus_t status =
      cudnnGetFilterNdDescriptor(filterDesc, CUDNN_DIMENSIONS, dataType, format, &count, sizes);
  if (status || count != 4) return status ? status : CUDNN_STATUS_BAD_PARAM;
  int *const places[] = {k, c, h, w};
  for (int i = 0; i < 4; i++) CUDNN_GIVE(places[i], sizes[i]);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterSizeInBytes(cudnnFilterDescriptor_t filterDesc, size_t *size) {
  const struct cudnn_tensor *found;
  if (!cudnn_filter(filterDesc, &found) || !size) return CUDNN_STATUS_BAD_PARAM;
  *size = cudnn_bytes(found);
  return CUDNN_STATUS_SUCCESS;
}
