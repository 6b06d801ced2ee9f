/* The CTC loss (connectionist temporal classification) of labels whose place in time is not known. */
#include "compute.h"

#include <stdlib.h>

enum { SPACE_BUFFER = 3, GRADIENT_BUFFER = 2 };

/* ---- descriptors ---- */

static cudnnStatus_t set(cudnnCTCLossDescriptor_t given, cudnnDataType_t type, cudnnLossNormalizationMode_t normal,
                         cudnnCTCGradMode_t gradient, int longest) {
  cudnnCTCLossDescriptor_t desc;
  if (!cudnn_ctc(given, &desc) || normal < 0 || normal > 1 || gradient < 0 || gradient > 1 || longest < 0) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (type != CUDNN_DATA_FLOAT) return cudnn_reject(false, "the CTC loss of types other than f32");
  cudnnStatus_t status = cudnn_status(miopen.SetCTCLossDescriptor(desc->miopen, miopenFloat, 0, normal));
  if (!status) desc->type = type, desc->normal = normal, desc->gradient = gradient, desc->longest = longest;
  return status;
}

cudnnStatus_t cudnnSetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t compType) {
  return set(ctcLossDesc, compType, 0, 0, 0);
}

cudnnStatus_t cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t compType,
                                          cudnnLossNormalizationMode_t normMode, cudnnNanPropagation_t gradMode) {
  return set(ctcLossDesc, compType, normMode, gradMode, 0);
}

cudnnStatus_t cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t compType,
                                           cudnnLossNormalizationMode_t normMode, cudnnNanPropagation_t gradMode,
                                           int maxLabelLength) {
  return set(ctcLossDesc, compType, normMode, gradMode, maxLabelLength);
}

cudnnStatus_t cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t compType,
                                           cudnnLossNormalizationMode_t normMode, cudnnCTCGradMode_t ctcGradMode,
                                           int maxLabelLength) {
  return set(ctcLossDesc, compType, normMode, ctcGradMode, maxLabelLength);
}

cudnnStatus_t cudnnGetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t *compType,
                                           cudnnLossNormalizationMode_t *normMode, cudnnCTCGradMode_t *ctcGradMode,
                                           int *maxLabelLength) {
  cudnnCTCLossDescriptor_t desc;
  if (!cudnn_ctc(ctcLossDesc, &desc)) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(compType, desc->type);
  CUDNN_GIVE(normMode, desc->normal);
  CUDNN_GIVE(ctcGradMode, desc->gradient);
  CUDNN_GIVE(maxLabelLength, desc->longest);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t *compType,
                                           cudnnLossNormalizationMode_t *normMode, cudnnNanPropagation_t *gradMode,
                                           int *maxLabelLength) {
  cudnnCTCGradMode_t gradient;
  cudnnStatus_t status = cudnnGetCTCLossDescriptor_v9(ctcLossDesc, compType, normMode, &gradient, maxLabelLength);
  if (!status) CUDNN_GIVE(gradMode, gradient);
  return status;
}

cudnnStatus_t cudnnGetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t *compType,
                                          cudnnLossNormalizationMode_t *normMode, cudnnNanPropagation_t *gradMode) {
  return cudnnGetCTCLossDescriptor_v8(ctcLossDesc, compType, normMode, gradMode, NULL);
}

cudnnStatus_t cudnnGetCTCLossDescriptor(cudnnCTCLossDescriptor_t ctcLossDesc, cudnnDataType_t *compType) {
  return cudnnGetCTCLossDescriptorEx(ctcLossDesc, compType, NULL, NULL);
}

/* ---- the loss ---- */

/* Labels and lengths, in the host's memory. */
struct labels { const int *labels, *lengths, *inputs; };

static int batch(const struct cudnn_tensor *probs) { return probs->size[1]; }

/* A sample whose labels need more time than it has would have no way: two of the same need a blank between them. */
static cudnnStatus_t check(const struct cudnn_tensor *probs, const struct labels *of) {
  if (probs->count != 3 || probs->type != CUDNN_DATA_FLOAT || !of->labels || !of->lengths || !of->inputs) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const int *label = of->labels;
  for (int i = 0; i < batch(probs); i++) {
    int needed = of->lengths[i];
    if (needed < 0 || of->inputs[i] < 0 || of->inputs[i] > probs->size[0]) return CUDNN_STATUS_BAD_PARAM;
    for (int k = 0; k < of->lengths[i]; k++) {
      if (label[k] < 1 || label[k] >= probs->size[2]) return CUDNN_STATUS_BAD_PARAM;
      needed += k && label[k] == label[k - 1];
    }
    if (!of->lengths[i] || needed > of->inputs[i]) {
      return cudnn_reject(false, "the CTC loss of no label, or of more than there is time for");
    }
    label += of->lengths[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t space(cudnnHandle_t handle, const struct cudnn_tensor *probs, const struct labels *of,
                           cudnnCTCLossDescriptor_t desc, size_t *size) {
  cudnnStatus_t status = check(probs, of);
  if (status) return status;
  if (!desc->normal) return cudnn_reject(false, "the CTC loss of probabilities (CUDNN_LOSS_NORMALIZATION_NONE)");
  return cudnn_status(miopen.GetCTCLossWorkspaceSize(handle->miopen, probs->miopen, probs->miopen, of->labels,
                                                     of->lengths, of->inputs, MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC,
                                                     desc->miopen, size));
}

/* Gradients that the program does not want, or that are elsewhere than the numbers would be, go to memory of the
 * handle. */
static cudnnStatus_t loss(cudnnHandle_t handle, const struct cudnn_tensor *probs, const void *from,
                          const struct labels *of, void *costs, cudnnTensorDescriptor_t desc, void *gradients,
                          cudnnCTCLossDescriptor_t how, void *at, size_t size) {
  const struct cudnn_tensor *result = probs;
  if (gradients && (!cudnn_tensor(desc, &result) || !cudnn_same_sizes(result, probs) || result->type != probs->type)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!gradients) gradients = cudnn_scratch(handle, GRADIENT_BUFFER, cudnn_bytes(probs));
  if (!gradients) return CUDNN_STATUS_ALLOC_FAILED;
  const float zero = 0; /* MIOpen leaves gradients beyond the end of a sample as they are */
  miopenStatus_t done = miopen.SetTensor(handle->miopen, result->miopen, gradients, &zero);
  if (done) return cudnn_status(done);
  return cudnn_status(miopen.CTCLoss(handle->miopen, probs->miopen, from, of->labels, of->lengths, of->inputs, costs,
                                     result->miopen, gradients, MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC, how->miopen, at,
                                     size));
}

cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t probsDesc,
                                           cudnnTensorDescriptor_t gradientsDesc, const int *labels,
                                           const int *labelLengths, const int *inputLengths, cudnnCTCLossAlgo_t algo,
                                           cudnnCTCLossDescriptor_t ctcLossDesc, size_t *sizeInBytes) {
  const struct cudnn_tensor *probs;
  (void)gradientsDesc;
  if (!cudnn_handle(handle, &handle) || !cudnn_tensor(probsDesc, &probs) || !cudnn_ctc(ctcLossDesc, &ctcLossDesc) ||
      !sizeInBytes || algo < 0 || algo > 1) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  return space(handle, probs, &(struct labels){labels, labelLengths, inputLengths}, ctcLossDesc, sizeInBytes);
}

cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle, cudnnTensorDescriptor_t probsDesc, const void *probs,
                           const int *hostLabels, const int *hostLabelLengths, const int *hostInputLengths, void *costs,
                           cudnnTensorDescriptor_t gradientsDesc, void *gradients, cudnnCTCLossAlgo_t algo,
                           cudnnCTCLossDescriptor_t ctcLossDesc, void *workspace, size_t workSpaceSizeInBytes) {
  size_t size;
  cudnnStatus_t status = cudnnGetCTCLossWorkspaceSize(handle, probsDesc, gradientsDesc, hostLabels, hostLabelLengths,
                                                      hostInputLengths, algo, ctcLossDesc, &size);
  if (status) return status;
  if (!probs || !costs || !workspace || workSpaceSizeInBytes < size) return CUDNN_STATUS_BAD_PARAM;
  const struct labels of = {hostLabels, hostLabelLengths, hostInputLengths};
  return loss(handle, &probsDesc->tensor, probs, &of, costs, gradientsDesc, gradients, ctcLossDesc, workspace, size);
}

/* ---- with labels and lengths in the device's memory: they are read, which waits for the stream ---- */

cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algo,
                                              cudnnCTCLossDescriptor_t ctcLossDesc, cudnnTensorDescriptor_t probsDesc,
                                              cudnnTensorDescriptor_t gradientsDesc, size_t *sizeInBytes) {
  const struct cudnn_tensor *probs;
  (void)gradientsDesc;
  if (!cudnn_handle(handle, &handle) || !cudnn_tensor(probsDesc, &probs) || !cudnn_ctc(ctcLossDesc, &ctcLossDesc) ||
      !sizeInBytes || algo < 0 || algo > 1) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *sizeInBytes = 0; /* it depends on lengths: memory of the handle */
  return CUDNN_STATUS_SUCCESS;
}

static int *fetched(const int *from, int count) {
  int *made = malloc((size_t)(count + 1) * sizeof *made);
  if (made && count && libmap_driver.copy_out(made, (uintptr_t)from, (size_t)count * sizeof *made)) {
    free(made);
    return NULL;
  }
  return made;
}

cudnnStatus_t cudnnCTCLoss_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t ctcLossDesc,
                              cudnnTensorDescriptor_t probsDesc, const void *probs, const int *labels,
                              const int *labelLengths, const int *inputLengths, void *costs,
                              cudnnTensorDescriptor_t gradientsDesc, void *gradients, size_t workSpaceSizeInBytes,
                              void *workspace) {
  size_t size;
  (void)workSpaceSizeInBytes, (void)workspace;
  cudnnStatus_t status =
      cudnnGetCTCLossWorkspaceSize_v8(handle, algo, ctcLossDesc, probsDesc, gradientsDesc, &size);
  if (status) return status;
  const struct cudnn_tensor *from = &probsDesc->tensor;
  if (from->count != 3 || !probs || !labels || !labelLengths || !inputLengths || !costs) return CUDNN_STATUS_BAD_PARAM;
  if (libmap_driver.synchronize(handle->stream)) return cudnn_reject(false, "cudnnCTCLoss_v8 in a capture");
  int *lengths = fetched(labelLengths, batch(from)), *inputs = fetched(inputLengths, batch(from)), count = 0;
  for (int i = 0; lengths && i < batch(from); i++) count += lengths[i] > 0 ? lengths[i] : 0;
  int *host = lengths ? fetched(labels, count) : NULL;
  const struct labels of = {host, lengths, inputs};
  status = host && inputs ? space(handle, from, &of, ctcLossDesc, &size) : CUDNN_STATUS_EXECUTION_FAILED;
  void *at = status ? NULL : cudnn_scratch(handle, SPACE_BUFFER, size);
  if (!status) {
    status = at ? loss(handle, from, probs, &of, costs, gradientsDesc, gradients, ctcLossDesc, at, size)
                : CUDNN_STATUS_ALLOC_FAILED;
  }
  if (!status) libmap_driver.synchronize(handle->stream); /* MIOpen copies the labels when the stream comes to it */
  free(lengths), free(inputs), free(host);
  return status;
}
