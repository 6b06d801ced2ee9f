/* Descriptors of convolutions. */
#include "cudnn_objects.h"

#include <string.h>

enum { DETERMINISTIC = 1 };

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *convDesc) {
  if (!convDesc) return CUDNN_STATUS_BAD_PARAM;
  if (!libmap_ready()) return CUDNN_STATUS_NOT_INITIALIZED;
  cudnnConvolutionDescriptor_t made = cudnn_new(CUDNN_A_CONVOLUTION, sizeof *made);
  if (!made) return CUDNN_STATUS_ALLOC_FAILED;
  miopenStatus_t done = miopen.CreateConvolutionDescriptor(&made->miopen[0]);
  if (!done) done = miopen.CreateConvolutionDescriptor(&made->miopen[DETERMINISTIC]);
  made->groups = 1;
  *convDesc = made;
  if (done) cudnnDestroyConvolutionDescriptor(made);
  return cudnn_status(done);
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convDesc) {
  if (!convDesc) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(convDesc, CUDNN_A_CONVOLUTION)) return CUDNN_STATUS_BAD_PARAM;
  for (int i = 0; i < 2; i++) {
    if (convDesc->miopen[i]) miopen.DestroyConvolutionDescriptor(convDesc->miopen[i]);
  }
  cudnn_free(convDesc);
  return CUDNN_STATUS_SUCCESS;
}

bool cudnn_convolution(cudnnConvolutionDescriptor_t given, cudnnConvolutionDescriptor_t *found) {
  *found = given;
  return cudnn_is(given, CUDNN_A_CONVOLUTION) && given->count;
}

/* What MIOpen has to know of a descriptor. */
static miopenStatus_t tell(cudnnConvolutionDescriptor_t desc) {
  miopenStatus_t done = miopenStatusSuccess;
  for (int i = 0; i < 2 && !done; i++) {
    miopenConvolutionDescriptor_t one = desc->miopen[i];
    done = miopen.InitConvolutionNdDescriptor(one, desc->count, desc->pad, desc->stride, desc->dilation,
                                              miopenConvolution);
    if (!done) done = miopen.SetConvolutionGroupCount(one, desc->groups);
    if (!done) done = miopen.SetConvolutionAttribute(one, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, i == DETERMINISTIC);
  }
  return done;
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convDesc, int arrayLength, const int *padA,
                                              const int *filterStrideA, const int *dilationA,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t computeType) {
  if (!cudnn_is(convDesc, CUDNN_A_CONVOLUTION) || !cudnn_sensible(arrayLength, padA, 0) ||
      !cudnn_sensible(arrayLength, filterStrideA, 1) || !cudnn_sensible(arrayLength, dilationA, 1) ||
      (mode != CUDNN_CONVOLUTION && mode != CUDNN_CROSS_CORRELATION) || !cudnn_type_size(computeType)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  struct cudnnConvolutionDescriptor_t_st made = *convDesc;
  made.count = arrayLength, made.mode = mode, made.compute = computeType;
  for (int i = 0; i < arrayLength; i++) {
    made.pad[i] = padA[i], made.stride[i] = filterStrideA[i], made.dilation[i] = dilationA[i];
  }
  cudnnStatus_t status = cudnn_status(tell(&made));
  if (!status) *convDesc = made;
  return status;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convDesc, int pad_h, int pad_w, int u, int v,
                                              int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t computeType) {
  const int pad[] = {pad_h, pad_w}, stride[] = {u, v}, dilation[] = {dilation_h, dilation_w};
  return cudnnSetConvolutionNdDescriptor(convDesc, 2, pad, stride, dilation, mode, computeType);
}

cudnnStatus_t cudnnGetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convDesc, int arrayLengthRequested,
                                              int *arrayLength, int *padA, int *strideA, int *dilationA,
                                              cudnnConvolutionMode_t *mode, cudnnDataType_t *computeType) {
  cudnnConvolutionDescriptor_t desc;
  if (!cudnn_convolution(convDesc, &desc) || arrayLengthRequested < 0) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(arrayLength, desc->count);
  CUDNN_GIVE(mode, desc->mode);
  CUDNN_GIVE(computeType, desc->compute);
  for (int i = 0; i < desc->count && i < arrayLengthRequested; i++) {
    if (padA) padA[i] = desc->pad[i];
    if (strideA) strideA[i] = desc->stride[i];
    if (dilationA) dilationA[i] = desc->dilation[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convDesc, int *pad_h, int *pad_w, int *u,
                                              int *v, int *dilation_h, int *dilation_w, cudnnConvolutionMode_t *mode,
                                              cudnnDataType_t *computeType) {
  int count, pad[2], stride[2], dilation[2];
  cudnnStatus_t status =
      cudnnGetConvolutionNdDescriptor(convDesc, 2, &count, pad, stride, dilation, mode, computeType);
  if (status || count != 2) return status ? status : CUDNN_STATUS_BAD_PARAM;
  int *const places[] = {pad_h, pad_w, u, v, dilation_h, dilation_w};
  const int values[] = {pad[0], pad[1], stride[0], stride[1], dilation[0], dilation[1]};
  for (int i = 0; i < 6; i++) CUDNN_GIVE(places[i], values[i]);
  return CUDNN_STATUS_SUCCESS;
}

/* Settings that may also come before the convolution is described. */
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc, int groupCount) {
  if (!cudnn_is(convDesc, CUDNN_A_CONVOLUTION) || groupCount < 1) return CUDNN_STATUS_BAD_PARAM;
  convDesc->groups = groupCount;
  return convDesc->count ? cudnn_status(tell(convDesc)) : CUDNN_STATUS_SUCCESS;
}

#define SETTING(Name, type, member, most)                                                         \
  cudnnStatus_t cudnnSetConvolution##Name(cudnnConvolutionDescriptor_t convDesc, type value) {    \
    if (!cudnn_is(convDesc, CUDNN_A_CONVOLUTION) || value < 0 || value > (most)) {                \
      return CUDNN_STATUS_BAD_PARAM;                                                              \
    }                                                                                             \
    convDesc->member = value;                                                                     \
    return CUDNN_STATUS_SUCCESS;                                                                  \
  }
#define ANSWER(Name, type, member)                                                                \
  cudnnStatus_t cudnnGetConvolution##Name(cudnnConvolutionDescriptor_t convDesc, type *value) {   \
    if (!cudnn_is(convDesc, CUDNN_A_CONVOLUTION) || !value) return CUDNN_STATUS_BAD_PARAM;        \
    *value = convDesc->member;                                                                    \
    return CUDNN_STATUS_SUCCESS;                                                                  \
  }
SETTING(MathType, cudnnMathType_t, math, 3)
SETTING(ReorderType, cudnnReorderType_t, reorder, 1)
ANSWER(MathType, cudnnMathType_t, math)
ANSWER(ReorderType, cudnnReorderType_t, reorder)
ANSWER(GroupCount, int, groups)

cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(cudnnConvolutionDescriptor_t convDesc,
                                                    cudnnTensorDescriptor_t inputTensorDesc,
                                                    cudnnFilterDescriptor_t filterDesc, int nbDims,
                                                    int *tensorOuputDimA) {
  cudnnConvolutionDescriptor_t desc;
  const struct cudnn_tensor *in, *filter;
  if (!cudnn_convolution(convDesc, &desc) || !cudnn_tensor(inputTensorDesc, &in) || !cudnn_filter(filterDesc, &filter) ||
      in->count != desc->count + 2 || filter->count != in->count || nbDims != in->count || !tensorOuputDimA ||
      in->size[1] != filter->size[1] * desc->groups) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  tensorOuputDimA[0] = in->size[0], tensorOuputDimA[1] = filter->size[0];
  for (int i = 0; i < desc->count; i++) {
    int window = (filter->size[i + 2] - 1) * desc->dilation[i] + 1;
    int room = in->size[i + 2] + 2 * desc->pad[i] - window;
    if (room < 0) return CUDNN_STATUS_BAD_PARAM;
    tensorOuputDimA[i + 2] = 1 + room / desc->stride[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(cudnnConvolutionDescriptor_t convDesc,
                                                    cudnnTensorDescriptor_t inputTensorDesc,
                                                    cudnnFilterDescriptor_t filterDesc, int *n, int *c, int *h,
                                                    int *w) {
  int sizes[4], *const places[] = {n, c, h, w};
  cudnnStatus_t status = cudnnGetConvolutionNdForwardOutputDim(convDesc, inputTensorDesc, filterDesc, 4, sizes);
  for (int i = 0; i < 4 && !status; i++) CUDNN_GIVE(places[i], sizes[i]);
  return status;
}
