/* Descriptors of what is done with tensors. */
#include "cudnn_objects.h"

#include <string.h>

/* Functions that create and destroy a descriptor that has one of MIOpen's, and find it for a call. */
#define DESCRIPTOR(Name, Beneath, what, found_by, is_set)                                                           \
  cudnnStatus_t cudnnCreate##Name##Descriptor(cudnn##Name##Descriptor_t *out) {                                     \
    if (!out) return CUDNN_STATUS_BAD_PARAM;                                                                        \
    if (!libmap_ready()) return CUDNN_STATUS_NOT_INITIALIZED;                                                       \
    cudnn##Name##Descriptor_t made = cudnn_new(what, sizeof *made);                                                 \
    if (!made) return CUDNN_STATUS_ALLOC_FAILED;                                                                    \
    cudnnStatus_t status = cudnn_status(miopen.Create##Beneath##Descriptor(&made->miopen));                         \
    if (status) cudnn_free(made);                                                                                   \
    else *out = made;                                                                                               \
    return status;                                                                                                  \
  }                                                                                                                 \
  cudnnStatus_t cudnnDestroy##Name##Descriptor(cudnn##Name##Descriptor_t given) {                                   \
    if (!given) return CUDNN_STATUS_SUCCESS;                                                                        \
    if (!cudnn_is(given, what)) return CUDNN_STATUS_BAD_PARAM;                                                      \
    cudnnStatus_t status = cudnn_status(miopen.Destroy##Beneath##Descriptor(given->miopen));                        \
    cudnn_free(given);                                                                                              \
    return status;                                                                                                  \
  }                                                                                                                 \
  bool found_by(cudnn##Name##Descriptor_t given, cudnn##Name##Descriptor_t *found) {                                \
    *found = given;                                                                                                 \
    return cudnn_is(given, what) && (is_set);                                                                       \
  }

DESCRIPTOR(Activation, Activation, CUDNN_AN_ACTIVATION, cudnn_activation, true)
DESCRIPTOR(Pooling, Pooling, CUDNN_A_POOLING, cudnn_pooling, given->count)
DESCRIPTOR(LRN, LRN, CUDNN_AN_LRN, cudnn_lrn, given->n)
DESCRIPTOR(CTCLoss, CTCLoss, CUDNN_A_CTC, cudnn_ctc, true)
DESCRIPTOR(ReduceTensor, ReduceTensor, CUDNN_A_REDUCTION, cudnn_reduction, true)

static bool is_nan_mode(int mode) { return mode == 0 || mode == 1; }

/* ---- activations ---- */

cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activationDesc, cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t reluNanOpt, double coef) {
  cudnnActivationDescriptor_t desc;
  miopenActivationMode_t beneath = miopenActivationPASTHRU;
  if (!cudnn_activation(activationDesc, &desc) || !is_nan_mode(reluNanOpt)) return CUDNN_STATUS_BAD_PARAM;
  if (mode != CUDNN_ACTIVATION_SWISH && !beneath_cudnnActivationMode_t(mode, &beneath)) return CUDNN_STATUS_BAD_PARAM;
  bool takes = mode == CUDNN_ACTIVATION_CLIPPED_RELU || mode == CUDNN_ACTIVATION_ELU;
  cudnnStatus_t status =
      cudnn_status(miopen.SetActivationDescriptor(desc->miopen, beneath, takes ? coef : 1.0, 1.0, 1.0));
  if (!status) desc->mode = mode, desc->nan = reluNanOpt, desc->coefficient = coef, desc->swish_beta = 1;
  return status;
}

cudnnStatus_t cudnnGetActivationDescriptor(cudnnActivationDescriptor_t activationDesc, cudnnActivationMode_t *mode,
                                           cudnnNanPropagation_t *reluNanOpt, double *coef) {
  cudnnActivationDescriptor_t desc;
  if (!cudnn_activation(activationDesc, &desc)) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(mode, desc->mode);
  CUDNN_GIVE(reluNanOpt, desc->nan);
  CUDNN_GIVE(coef, desc->coefficient);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t activationDesc, double swish_beta) {
  cudnnActivationDescriptor_t desc;
  if (!cudnn_activation(activationDesc, &desc)) return CUDNN_STATUS_BAD_PARAM;
  desc->swish_beta = swish_beta;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t activationDesc, double *swish_beta) {
  cudnnActivationDescriptor_t desc;
  if (!cudnn_activation(activationDesc, &desc) || !swish_beta) return CUDNN_STATUS_BAD_PARAM;
  *swish_beta = desc->swish_beta;
  return CUDNN_STATUS_SUCCESS;
}

/* ---- pooling ---- */

cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t poolingDesc, cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t maxpoolingNanOpt, int nbDims, const int *windowDimA,
                                          const int *paddingA, const int *strideA) {
  miopenPoolingMode_t beneath;
  if (!cudnn_is(poolingDesc, CUDNN_A_POOLING) || !is_nan_mode(maxpoolingNanOpt) ||
      !beneath_cudnnPoolingMode_t(mode, &beneath) || !cudnn_sensible(nbDims, windowDimA, 1) ||
      !cudnn_sensible(nbDims, paddingA, 0) || !cudnn_sensible(nbDims, strideA, 1)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  miopenStatus_t done =
      miopen.SetNdPoolingDescriptor(poolingDesc->miopen, beneath, nbDims, windowDimA, paddingA, strideA);
  if (!done) done = miopen.SetPoolingIndexType(poolingDesc->miopen, miopenIndexUint32);
  if (!done) done = miopen.SetPoolingWorkSpaceIndexMode(poolingDesc->miopen, miopenPoolingWorkspaceIndexImage);
  if (done) return cudnn_status(done);
  poolingDesc->mode = mode, poolingDesc->nan = maxpoolingNanOpt, poolingDesc->count = nbDims;
  cudnn_give(nbDims, windowDimA, poolingDesc->window);
  cudnn_give(nbDims, paddingA, poolingDesc->pad);
  cudnn_give(nbDims, strideA, poolingDesc->stride);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t poolingDesc, cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t maxpoolingNanOpt, int windowHeight, int windowWidth,
                                          int verticalPadding, int horizontalPadding, int verticalStride,
                                          int horizontalStride) {
  const int window[] = {windowHeight, windowWidth}, pad[] = {verticalPadding, horizontalPadding};
  const int stride[] = {verticalStride, horizontalStride};
  return cudnnSetPoolingNdDescriptor(poolingDesc, mode, maxpoolingNanOpt, 2, window, pad, stride);
}

cudnnStatus_t cudnnGetPoolingNdDescriptor(cudnnPoolingDescriptor_t poolingDesc, int nbDimsRequested,
                                          cudnnPoolingMode_t *mode, cudnnNanPropagation_t *maxpoolingNanOpt,
                                          int *nbDims, int *windowDimA, int *paddingA, int *strideA) {
  cudnnPoolingDescriptor_t desc;
  if (!cudnn_pooling(poolingDesc, &desc) || nbDimsRequested < 0) return CUDNN_STATUS_BAD_PARAM;
  int wanted = cudnn_least(nbDimsRequested, desc->count);
  CUDNN_GIVE(mode, desc->mode);
  CUDNN_GIVE(maxpoolingNanOpt, desc->nan);
  CUDNN_GIVE(nbDims, desc->count);
  cudnn_give(wanted, desc->window, windowDimA);
  cudnn_give(wanted, desc->pad, paddingA);
  cudnn_give(wanted, desc->stride, strideA);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPooling2dDescriptor(cudnnPoolingDescriptor_t poolingDesc, cudnnPoolingMode_t *mode,
                                          cudnnNanPropagation_t *maxpoolingNanOpt, int *windowHeight, int *windowWidth,
                                          int *verticalPadding, int *horizontalPadding, int *verticalStride,
                                          int *horizontalStride) {
  int count, window[2], pad[2], stride[2];
  cudnnStatus_t status =
      cudnnGetPoolingNdDescriptor(poolingDesc, 2, mode, maxpoolingNanOpt, &count, window, pad, stride);
  if (status || count != 2) return status ? status : CUDNN_STATUS_BAD_PARAM;
  int *const places[] = {windowHeight, windowWidth, verticalPadding, horizontalPadding, verticalStride, horizontalStride};
  const int values[] = {window[0], window[1], pad[0], pad[1], stride[0], stride[1]};
  for (int i = 0; i < 6; i++) CUDNN_GIVE(places[i], values[i]);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(cudnnPoolingDescriptor_t poolingDesc,
                                                cudnnTensorDescriptor_t inputTensorDesc, int nbDims,
                                                int *outputTensorDimA) {
  cudnnPoolingDescriptor_t desc;
  const struct cudnn_tensor *in;
  if (!cudnn_pooling(poolingDesc, &desc) || !cudnn_tensor(inputTensorDesc, &in) || in->count != desc->count + 2 ||
      nbDims != in->count || !outputTensorDimA) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  cudnn_give(2, in->size, outputTensorDimA);
  for (int i = 0; i < desc->count; i++) {
    int room = in->size[i + 2] + 2 * desc->pad[i] - desc->window[i];
    if (room < 0) return CUDNN_STATUS_BAD_PARAM;
    outputTensorDimA[i + 2] = 1 + room / desc->stride[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPooling2dForwardOutputDim(cudnnPoolingDescriptor_t poolingDesc,
                                                cudnnTensorDescriptor_t inputTensorDesc, int *n, int *c, int *h,
                                                int *w) {
  int sizes[4], *const places[] = {n, c, h, w};
  cudnnStatus_t status = cudnnGetPoolingNdForwardOutputDim(poolingDesc, inputTensorDesc, 4, sizes);
  for (int i = 0; i < 4 && !status; i++) CUDNN_GIVE(places[i], sizes[i]);
  return status;
}

/* ---- local response normalisation, operations, reductions ---- */

cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned lrnN, double lrnAlpha, double lrnBeta,
                                    double lrnK) {
  if (!cudnn_is(normDesc, CUDNN_AN_LRN) || lrnN < 1 || lrnN > 16 || lrnK < 1e-5 || lrnBeta < 0.01) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  cudnnStatus_t status =
      cudnn_status(miopen.SetLRNDescriptor(normDesc->miopen, miopenLRNCrossChannel, lrnN, lrnAlpha, lrnBeta, lrnK));
  if (!status) normDesc->n = lrnN, normDesc->alpha = lrnAlpha, normDesc->beta = lrnBeta, normDesc->k = lrnK;
  return status;
}

cudnnStatus_t cudnnGetLRNDescriptor(cudnnLRNDescriptor_t normDesc, unsigned *lrnN, double *lrnAlpha, double *lrnBeta,
                                    double *lrnK) {
  cudnnLRNDescriptor_t desc;
  if (!cudnn_lrn(normDesc, &desc)) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(lrnN, desc->n);
  CUDNN_GIVE(lrnAlpha, desc->alpha);
  CUDNN_GIVE(lrnBeta, desc->beta);
  CUDNN_GIVE(lrnK, desc->k);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateOpTensorDescriptor(cudnnOpTensorDescriptor_t *opTensorDesc) {
  if (!opTensorDesc) return CUDNN_STATUS_BAD_PARAM;
  *opTensorDesc = cudnn_new(CUDNN_AN_OP, sizeof **opTensorDesc);
  return *opTensorDesc ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

cudnnStatus_t cudnnDestroyOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc) {
  if (!opTensorDesc) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(opTensorDesc, CUDNN_AN_OP)) return CUDNN_STATUS_BAD_PARAM;
  cudnn_free(opTensorDesc);
  return CUDNN_STATUS_SUCCESS;
}

bool cudnn_op(cudnnOpTensorDescriptor_t given, cudnnOpTensorDescriptor_t *found) {
  *found = given;
  return cudnn_is(given, CUDNN_AN_OP);
}

cudnnStatus_t cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc, cudnnOpTensorOp_t opTensorOp,
                                         cudnnDataType_t opTensorCompType, cudnnNanPropagation_t opTensorNanOpt) {
  cudnnOpTensorDescriptor_t desc;
  if (!cudnn_op(opTensorDesc, &desc) || opTensorOp < 0 || opTensorOp > CUDNN_OP_TENSOR_NOT ||
      !cudnn_type_size(opTensorCompType) || !is_nan_mode(opTensorNanOpt)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  desc->op = opTensorOp, desc->compute = opTensorCompType, desc->nan = opTensorNanOpt;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc, cudnnOpTensorOp_t *opTensorOp,
                                         cudnnDataType_t *opTensorCompType, cudnnNanPropagation_t *opTensorNanOpt) {
  cudnnOpTensorDescriptor_t desc;
  if (!cudnn_op(opTensorDesc, &desc)) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(opTensorOp, desc->op);
  CUDNN_GIVE(opTensorCompType, desc->compute);
  CUDNN_GIVE(opTensorNanOpt, desc->nan);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                             cudnnReduceTensorOp_t reduceTensorOp,
                                             cudnnDataType_t reduceTensorCompType,
                                             cudnnNanPropagation_t reduceTensorNanOpt,
                                             cudnnReduceTensorIndices_t reduceTensorIndices,
                                             cudnnIndicesType_t reduceTensorIndicesType) {
  cudnnReduceTensorDescriptor_t desc;
  miopenDataType_t type;
  miopenReduceTensorOp_t op;
  if (!cudnn_reduction(reduceTensorDesc, &desc) || !is_nan_mode(reduceTensorNanOpt) || reduceTensorIndices < 0 ||
      reduceTensorIndices > 1 || reduceTensorIndicesType < 0 || reduceTensorIndicesType > 3 || reduceTensorOp < 0 ||
      reduceTensorOp > CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!beneath_cudnnReduceTensorOp_t(reduceTensorOp, &op)) return CUDNN_STATUS_NOT_SUPPORTED;
  if (!beneath_cudnnDataType_t(reduceTensorCompType, &type)) return cudnn_other_type(reduceTensorCompType);
  cudnnStatus_t status = cudnn_status(miopen.SetReduceTensorDescriptor(
      desc->miopen, op, type, (miopenNanPropagation_t)reduceTensorNanOpt,
      (miopenReduceTensorIndices_t)reduceTensorIndices, (miopenIndicesType_t)reduceTensorIndicesType));
  if (status) return status;
  desc->op = reduceTensorOp, desc->compute = reduceTensorCompType, desc->nan = reduceTensorNanOpt;
  desc->indices = reduceTensorIndices, desc->indices_type = reduceTensorIndicesType;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t reduceTensorDesc,
                                             cudnnReduceTensorOp_t *reduceTensorOp,
                                             cudnnDataType_t *reduceTensorCompType,
                                             cudnnNanPropagation_t *reduceTensorNanOpt,
                                             cudnnReduceTensorIndices_t *reduceTensorIndices,
                                             cudnnIndicesType_t *reduceTensorIndicesType) {
  cudnnReduceTensorDescriptor_t desc;
  if (!cudnn_reduction(reduceTensorDesc, &desc)) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(reduceTensorOp, desc->op);
  CUDNN_GIVE(reduceTensorCompType, desc->compute);
  CUDNN_GIVE(reduceTensorNanOpt, desc->nan);
  CUDNN_GIVE(reduceTensorIndices, desc->indices);
  CUDNN_GIVE(reduceTensorIndicesType, desc->indices_type);
  return CUDNN_STATUS_SUCCESS;
}

/* ---- what normalisation has for each channel, or for each number of an example ---- */

cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derivedBnDesc, cudnnTensorDescriptor_t xDesc,
                                            cudnnBatchNormMode_t mode) {
  const struct cudnn_tensor *x;
  if (!cudnn_is(derivedBnDesc, CUDNN_A_TENSOR) || !cudnn_tensor(xDesc, &x) || x->count < 3 || mode < 0 || mode > 2) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  int sizes[CUDNN_DIMENSIONS];
  for (int i = 0; i < x->count; i++) sizes[i] = i == 1 || (i && mode == CUDNN_BATCHNORM_PER_ACTIVATION) ? x->size[i] : 1;
  cudnnDataType_t type = x->type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  derivedBnDesc->tensor.format = CUDNN_TENSOR_NCHW;
  return cudnn_set_tensor(&derivedBnDesc->tensor, type, x->count, sizes, NULL);
}
