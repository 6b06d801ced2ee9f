/* A convolution with a bias and an activation; batch normalisation with a sum and an activation. */
#include "compute.h"

enum { PRODUCT_BUFFER = 1, DIFFERENCE_BUFFER = 3 };
enum { OPS_BN, OPS_BN_ACTIVATION, OPS_BN_ADD_ACTIVATION };

static miopenStatus_t activate(cudnnHandle_t handle, cudnnActivationDescriptor_t how, const struct cudnn_tensor *y,
                               void *y_at) {
  if (how->mode == CUDNN_ACTIVATION_IDENTITY) return miopenStatusSuccess;
  if (how->mode == CUDNN_ACTIVATION_SWISH) return cudnn_no("CUDNN_ACTIVATION_SWISH");
  return miopen.ActivationForward(handle->miopen, how->miopen, &CUDNN_ONE, y->miopen, y_at, &CUDNN_ZERO, y->miopen,
                                  y_at);
}

/* y = activation(alpha1 * convolution(x) + alpha2 * z + bias) */
miopenStatus_t cudnn_convolve_biased(cudnnHandle_t handle, const void *alpha1, const struct cudnn_problem *problem,
                                     const void *x, const void *filter, int algo, void *space, size_t space_size,
                                     const void *alpha2, const struct cudnn_tensor *z, const void *z_at,
                                     const struct cudnn_tensor *bias, const void *bias_at,
                                     cudnnActivationDescriptor_t activation, void *y_at) {
  const struct cudnn_tensor *y = problem->result;
  if (!alpha1 || !alpha2 || !z_at || !bias_at || !y_at || !cudnn_same_sizes(y, z)) return miopenStatusBadParm;
  if (cudnn_sums(y)) return miopenStatusUnsupportedOp;
  float two = cudnn_factor(y, alpha2);
  void *product = two != 0 ? cudnn_scratch(handle, PRODUCT_BUFFER, cudnn_bytes(y)) : y_at;
  if (!product) return miopenStatusAllocFailed;
  const double nothing = 0; /* of any type */
  miopenStatus_t done = cudnn_convolve(handle, problem, algo, alpha1, filter, x, space, space_size, &nothing, product);
  if (!done && two != 0) {
    done = miopen.OpTensor(handle->miopen, miopenTensorOpAdd, &CUDNN_ONE, y->miopen, product, &two, z->miopen, z_at,
                           &CUDNN_ZERO, y->miopen, y_at);
  }
  if (!done) done = cudnn_add(handle, 1, bias, bias_at, 1, y, y_at);
  return done ? done : activate(handle, activation, y, y_at);
}

/* ---- batch normalisation ---- */

static miopenStatus_t after_norm(cudnnHandle_t handle, cudnnBatchNormOps_t ops, const struct cudnn_tensor *y, void *y_at,
                                 cudnnTensorDescriptor_t z, const void *z_at, cudnnActivationDescriptor_t activation) {
  const struct cudnn_tensor *other;
  miopenStatus_t done = miopenStatusSuccess;
  if (ops == OPS_BN_ADD_ACTIVATION) {
    if (!cudnn_tensor(z, &other)) return miopenStatusBadParm;
    done = cudnn_add(handle, 1, other, z_at, 1, y, y_at);
  }
  if (ops == OPS_BN || done) return done;
  return cudnn_activation(activation, &activation) ? activate(handle, activation, y, y_at) : miopenStatusBadParm;
}

/* The differences of what was normalised, from those of the activation's results. */
static miopenStatus_t before_norm(cudnnHandle_t handle, cudnnBatchNormOps_t ops, cudnnTensorDescriptor_t y,
                                 const void *y_at, const struct cudnn_tensor *dy, const void *dy_at,
                                 cudnnTensorDescriptor_t dz, void *dz_at, cudnnActivationDescriptor_t activation,
                                 const void **out) {
  const struct cudnn_tensor *result, *other;
  *out = dy_at;
  if (ops == OPS_BN) return miopenStatusSuccess;
  if (!cudnn_tensor(y, &result) || !y_at || !cudnn_activation(activation, &activation)) return miopenStatusBadParm;
  if (activation->mode != CUDNN_ACTIVATION_RELU) return cudnn_no("batch normalisation with other activations than ReLU");
  void *into = cudnn_scratch(handle, DIFFERENCE_BUFFER, cudnn_bytes(dy));
  if (!into) return miopenStatusAllocFailed;
  /* of ReLU, the results tell as much as what it was given */
  miopenStatus_t done = miopen.ActivationBackward(handle->miopen, activation->miopen, &CUDNN_ONE, result->miopen, y_at,
                                                  dy->miopen, dy_at, result->miopen, y_at, &CUDNN_ZERO, dy->miopen,
                                                  into);
  *out = into;
  if (done || ops == OPS_BN_ACTIVATION) return done;
  if (!cudnn_tensor(dz, &other) || !dz_at || !cudnn_same_sizes(dy, other)) return miopenStatusBadParm;
  return miopen.TransformTensor(handle->miopen, &CUDNN_ONE, dy->miopen, into, &CUDNN_ZERO, other->miopen, dz_at);
}

cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const void *alpha, const void *beta,
    cudnnTensorDescriptor_t xDesc, const void *xData, cudnnTensorDescriptor_t zDesc, const void *zData,
    cudnnTensorDescriptor_t yDesc, void *yData, cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void *bnScale,
    const void *bnBias, double exponentialAverageFactor, void *resultRunningMean, void *resultRunningVariance,
    double epsilon, void *resultSaveMean, void *resultSaveInvVariance, cudnnActivationDescriptor_t activationDesc,
    void *workspace, size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes) {
  (void)workspace, (void)workSpaceSizeInBytes, (void)reserveSpace, (void)reserveSpaceSizeInBytes;
  const struct cudnn_tensor *y;
  if (bnOps < 0 || bnOps > OPS_BN_ADD_ACTIVATION || !cudnn_tensor(yDesc, &y)) return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t status = cudnnBatchNormalizationForwardTraining(
      handle, mode, alpha, beta, xDesc, xData, yDesc, yData, bnScaleBiasMeanVarDesc, bnScale, bnBias,
      exponentialAverageFactor, resultRunningMean, resultRunningVariance, epsilon, resultSaveMean,
      resultSaveInvVariance);
  return status ? status : cudnn_status(after_norm(handle, bnOps, y, yData, zDesc, zData, activationDesc));
}

cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, const void *alphaDataDiff,
    const void *betaDataDiff, const void *alphaParamDiff, const void *betaParamDiff, cudnnTensorDescriptor_t xDesc,
    const void *xData, cudnnTensorDescriptor_t yDesc, const void *yData, cudnnTensorDescriptor_t dyDesc,
    const void *dyData, cudnnTensorDescriptor_t dzDesc, void *dzData, cudnnTensorDescriptor_t dxDesc, void *dxData,
    cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScaleData, const void *bnBiasData, void *dBnScaleData,
    void *dBnBiasData, double epsilon, const void *savedMean, const void *savedInvVariance,
    cudnnActivationDescriptor_t activationDesc, void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
    size_t reserveSpaceSizeInBytes) {
  (void)bnBiasData, (void)workSpace, (void)workSpaceSizeInBytes, (void)reserveSpace, (void)reserveSpaceSizeInBytes;
  const struct cudnn_tensor *dy;
  if (bnOps < 0 || bnOps > OPS_BN_ADD_ACTIVATION || !cudnn_handle(handle, &handle) || !cudnn_tensor(dyDesc, &dy)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const void *difference;
  miopenStatus_t done =
      before_norm(handle, bnOps, yDesc, yData, dy, dyData, dzDesc, dzData, activationDesc, &difference);
  if (done) return cudnn_status(done);
  return cudnnBatchNormalizationBackward(handle, mode, alphaDataDiff, betaDataDiff, alphaParamDiff, betaParamDiff, xDesc,
                                         xData, dyDesc, difference, dxDesc, dxData, dBnScaleBiasDesc, bnScaleData,
                                         dBnScaleData, dBnBiasData, epsilon, savedMean, savedInvVariance);
}

/* These need no memory of the program. */
static cudnnStatus_t nothing(cudnnHandle_t handle, cudnnTensorDescriptor_t x, size_t *size) {
  const struct cudnn_tensor *found;
  if (!cudnn_handle(handle, &handle) || !cudnn_tensor(x, &found) || !size) return CUDNN_STATUS_BAD_PARAM;
  *size = 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, cudnnTensorDescriptor_t xDesc,
    cudnnTensorDescriptor_t zDesc, cudnnTensorDescriptor_t yDesc, cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
    cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes) {
  (void)mode, (void)bnOps, (void)zDesc, (void)yDesc, (void)bnScaleBiasMeanVarDesc, (void)activationDesc;
  return nothing(handle, xDesc, sizeInBytes);
}

cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t bnOps, cudnnTensorDescriptor_t xDesc,
    cudnnTensorDescriptor_t yDesc, cudnnTensorDescriptor_t dyDesc, cudnnTensorDescriptor_t dzDesc,
    cudnnTensorDescriptor_t dxDesc, cudnnTensorDescriptor_t dBnScaleBiasDesc,
    cudnnActivationDescriptor_t activationDesc, size_t *sizeInBytes) {
  (void)mode, (void)bnOps, (void)yDesc, (void)dyDesc, (void)dzDesc, (void)dxDesc, (void)dBnScaleBiasDesc;
  (void)activationDesc;
  return nothing(handle, xDesc, sizeInBytes);
}

cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
                                                                   cudnnBatchNormOps_t bnOps,
                                                                   cudnnActivationDescriptor_t activationDesc,
                                                                   cudnnTensorDescriptor_t xDesc,
                                                                   size_t *sizeInBytes) {
  (void)mode, (void)bnOps, (void)activationDesc;
  return nothing(handle, xDesc, sizeInBytes);
}
