/* Recurrent networks in the interface of cuDNN 7: the size of the input and the type of numbers are those of the tensors
 * of a call, one for each step in time, or of its sequences (...Ex). Each call is one of the present interface (rnn.c). */
#include "rnn.h"

#include <stdlib.h>

enum { PADDED_IO = 1, AT_LEAST = 3 /* dimensions of a step's tensor */ };

/* ---- settings ---- */

cudnnStatus_t cudnnSetRNNDescriptor_v6(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int hiddenSize,
                                       int numLayers, cudnnDropoutDescriptor_t dropoutDesc,
                                       cudnnRNNInputMode_t inputMode, cudnnDirectionMode_t direction,
                                       cudnnRNNMode_t cellMode, cudnnRNNAlgo_t algo, cudnnDataType_t mathPrec) {
  if (!cudnn_handle(handle, &handle) || !cudnn_is(rnnDesc, CUDNN_AN_RNN)) return CUDNN_STATUS_BAD_PARAM;
  cudnnRNNBiasMode_t bias = rnnDesc->first.layers ? rnnDesc->first.bias : CUDNN_RNN_DOUBLE_BIAS;
  /* with any input, to check the rest */
  cudnnStatus_t status = cudnnSetRNNDescriptor_v8(rnnDesc, algo, cellMode, bias, direction, inputMode, CUDNN_DATA_FLOAT,
                                                  mathPrec, rnnDesc->first.math, 1, hiddenSize, hiddenSize, numLayers,
                                                  dropoutDesc, rnnDesc->first.flags);
  if (!status) rnnDesc->first = rnnDesc->set;
  return status;
}

/* Whether something was set. */
static bool is_set(cudnnRNNDescriptor_t desc) { return cudnn_is(desc, CUDNN_AN_RNN) && desc->first.layers; }

cudnnStatus_t cudnnGetRNNDescriptor_v6(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int *hiddenSize,
                                       int *numLayers, cudnnDropoutDescriptor_t *dropoutDesc,
                                       cudnnRNNInputMode_t *inputMode, cudnnDirectionMode_t *direction,
                                       cudnnRNNMode_t *cellMode, cudnnRNNAlgo_t *algo, cudnnDataType_t *mathPrec) {
  if (!cudnn_handle(handle, &handle) || !cudnn_is(rnnDesc, CUDNN_AN_RNN)) return CUDNN_STATUS_BAD_PARAM;
  if (!is_set(rnnDesc)) return CUDNN_STATUS_NOT_INITIALIZED;
  const struct cudnn_network *set = &rnnDesc->first;
  CUDNN_GIVE(hiddenSize, set->hidden);
  CUDNN_GIVE(numLayers, set->layers);
  CUDNN_GIVE(dropoutDesc, set->dropout);
  CUDNN_GIVE(inputMode, set->input);
  CUDNN_GIVE(direction, set->direction);
  CUDNN_GIVE(cellMode, set->cell);
  CUDNN_GIVE(algo, set->algo);
  CUDNN_GIVE(mathPrec, set->compute);
  return CUDNN_STATUS_SUCCESS;
}

#define SETTING(name, T, field, largest)                                                                  \
  cudnnStatus_t cudnnSetRNN##name(cudnnRNNDescriptor_t rnnDesc, T value) {                                \
    if (!cudnn_is(rnnDesc, CUDNN_AN_RNN) || value + 0ll < 0 || value + 0ll > largest) {                   \
      return CUDNN_STATUS_BAD_PARAM;                                                                      \
    }                                                                                                     \
    rnnDesc->first.field = value;                                                                         \
    return CUDNN_STATUS_SUCCESS;                                                                          \
  }                                                                                                       \
  cudnnStatus_t cudnnGetRNN##name(cudnnRNNDescriptor_t rnnDesc, T *value) {                               \
    if (!cudnn_is(rnnDesc, CUDNN_AN_RNN) || !value) return CUDNN_STATUS_BAD_PARAM;                        \
    *value = (T)rnnDesc->first.field;                                                                     \
    return CUDNN_STATUS_SUCCESS;                                                                          \
  }

SETTING(BiasMode, cudnnRNNBiasMode_t, bias, CUDNN_RNN_SINGLE_REC_BIAS)
SETTING(MatrixMathType, cudnnMathType_t, math, 3)
SETTING(PaddingMode, unsigned, flags, PADDED_IO)

cudnnStatus_t cudnnSetRNNProjectionLayers(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int recProjSize,
                                          int outProjSize) {
  if (!cudnn_handle(handle, &handle) || !is_set(rnnDesc) || recProjSize < 0 || outProjSize) return CUDNN_STATUS_BAD_PARAM;
  bool none = !recProjSize || recProjSize == rnnDesc->first.hidden;
  return none ? CUDNN_STATUS_SUCCESS : cudnn_reject(false, "recurrent networks with projections");
}

cudnnStatus_t cudnnGetRNNProjectionLayers(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int *recProjSize,
                                          int *outProjSize) {
  if (!cudnn_handle(handle, &handle) || !is_set(rnnDesc) || !recProjSize || !outProjSize) return CUDNN_STATUS_BAD_PARAM;
  *recProjSize = rnnDesc->first.hidden, *outProjSize = 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNSetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t clipMode,
                              cudnnNanPropagation_t clipNanOpt, double lclip, double rclip) {
  if (!cudnn_handle(handle, &handle)) return CUDNN_STATUS_BAD_PARAM;
  return cudnnRNNSetClip_v8(rnnDesc, clipMode, clipNanOpt, lclip, rclip);
}

cudnnStatus_t cudnnRNNGetClip(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t *clipMode,
                              cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip) {
  if (!cudnn_handle(handle, &handle)) return CUDNN_STATUS_BAD_PARAM;
  return cudnnRNNGetClip_v8(rnnDesc, clipMode, clipNanOpt, lclip, rclip);
}

/* ---- the present descriptors ---- */

/* The network with an input. */
static cudnnStatus_t adopt(cudnnRNNDescriptor_t desc, cudnnDataType_t type, int in) {
  if (!is_set(desc)) return CUDNN_STATUS_BAD_PARAM;
  const struct cudnn_network *set = &desc->first, *now = &desc->set;
  if (now->type == type && now->in == in && now->bias == set->bias) return CUDNN_STATUS_SUCCESS;
  return cudnnSetRNNDescriptor_v8(desc, set->algo, set->cell, set->bias, set->direction, set->input, type, set->compute,
                                  set->math, in, set->hidden, set->hidden, set->layers, set->dropout, set->flags);
}

static cudnnStatus_t adopt_tensor(cudnnRNNDescriptor_t desc, cudnnTensorDescriptor_t x) {
  const struct cudnn_tensor *tensor;
  if (!cudnn_tensor(x, &tensor) || tensor->count < AT_LEAST) return CUDNN_STATUS_BAD_PARAM;
  return adopt(desc, tensor->type, tensor->size[1]);
}

/* Sequences of which each step's tensor says how many are left; to be destroyed. */
static cudnnStatus_t sequences(int steps, const cudnnTensorDescriptor_t *each, cudnnRNNDataLayout_t layout,
                               cudnnRNNDataDescriptor_t *out) {
  const struct cudnn_tensor *first, *tensor;
  *out = NULL;
  if (steps < 1 || !each || !cudnn_tensor(each[0], &first) || first->count < AT_LEAST) return CUDNN_STATUS_BAD_PARAM;
  int batch = first->size[0], left = batch, *lengths = calloc((size_t)batch, sizeof *lengths);
  cudnnStatus_t status = lengths ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
  for (int t = 0; t < steps && !status; t++) {
    bool good = cudnn_tensor(each[t], &tensor) && tensor->count >= AT_LEAST && tensor->type == first->type &&
                tensor->size[0] <= left && tensor->size[1] == first->size[1];
    if (!good) status = CUDNN_STATUS_BAD_PARAM;
    else left = tensor->size[0];
    for (int i = 0; i < left && !status; i++) lengths[i] = t + 1;
  }
  if (!status) status = cudnnCreateRNNDataDescriptor(out);
  if (!status) {
    status = cudnnSetRNNDataDescriptor(*out, first->type, layout, steps, batch, first->size[1], lengths, NULL);
    if (status) cudnnDestroyRNNDataDescriptor(*out), *out = NULL;
  }
  free(lengths);
  return status;
}

/* Both sides of a call, and the network for them. */
struct both { cudnnRNNDataDescriptor_t x, y; };
static void drop(struct both *both) {
  if (both->x) cudnnDestroyRNNDataDescriptor(both->x);
  if (both->y) cudnnDestroyRNNDataDescriptor(both->y);
}
static cudnnStatus_t prepare(cudnnRNNDescriptor_t desc, int steps, const cudnnTensorDescriptor_t *x,
                             const cudnnTensorDescriptor_t *y, struct both *out) {
  *out = (struct both){NULL, NULL};
  cudnnStatus_t status = sequences(steps, x, CUDNN_SEQ_MAJOR_PACKED, &out->x);
  if (!status) status = adopt_tensor(desc, x[0]);
  if (!status) status = sequences(steps, y, CUDNN_SEQ_MAJOR_PACKED, &out->y);
  if (status) drop(out);
  return status;
}

static cudnnStatus_t prepare_data(cudnnRNNDescriptor_t desc, cudnnRNNDataDescriptor_t x) {
  return cudnn_is_sequence(x) ? adopt(desc, x->type, x->vector) : CUDNN_STATUS_BAD_PARAM;
}

/* ---- memory and weights ---- */

/* Where padding may come, a call's sequences can have any layout. */
static cudnnStatus_t space(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, int steps, const cudnnTensorDescriptor_t *x,
                           cudnnForwardMode_t mode, size_t *largest) {
  if (!cudnn_handle(handle, &handle) || !is_set(desc) || !largest) return CUDNN_STATUS_BAD_PARAM;
  *largest = 0;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  for (int layout = CUDNN_SEQ_MAJOR_UNPACKED; layout <= CUDNN_BATCH_MAJOR_UNPACKED && !status; layout++) {
    cudnnRNNDataDescriptor_t data;
    size_t work = 0, reserve = 0;
    if (layout != CUDNN_SEQ_MAJOR_PACKED && !(desc->first.flags & PADDED_IO)) continue;
    status = sequences(steps, x, layout, &data);
    if (!status) status = adopt_tensor(desc, x[0]);
    if (!status) status = cudnnGetRNNTempSpaceSizes(handle, desc, mode, data, &work, &reserve);
    if (data) cudnnDestroyRNNDataDescriptor(data);
    size_t size = mode ? reserve : work;
    if (size > *largest) *largest = size;
  }
  return status;
}

/* What inference needs, which is more than what training does. */
cudnnStatus_t cudnnGetRNNWorkspaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int seqLength,
                                       const cudnnTensorDescriptor_t *xDesc, size_t *sizeInBytes) {
  return space(handle, rnnDesc, seqLength, xDesc, 0, sizeInBytes);
}

cudnnStatus_t cudnnGetRNNTrainingReserveSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int seqLength,
                                             const cudnnTensorDescriptor_t *xDesc, size_t *sizeInBytes) {
  return space(handle, rnnDesc, seqLength, xDesc, 1, sizeInBytes);
}

cudnnStatus_t cudnnGetRNNParamsSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnTensorDescriptor_t xDesc,
                                    size_t *sizeInBytes, cudnnDataType_t dataType) {
  const struct cudnn_tensor *x;
  if (!cudnn_handle(handle, &handle) || !cudnn_tensor(xDesc, &x) || dataType != x->type) return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t status = adopt_tensor(rnnDesc, xDesc);
  return status ? status : cudnnGetRNNWeightSpaceSize(handle, rnnDesc, sizeInBytes);
}

/* The size of the weights; their filter has to have as many. */
static cudnnStatus_t weights(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, cudnnFilterDescriptor_t filter,
                             size_t *size) {
  size_t given;
  cudnnStatus_t status = cudnnGetRNNWeightSpaceSize(handle, desc, size);
  if (!status) status = cudnnGetFilterSizeInBytes(filter, &given);
  return status || given >= *size ? status : CUDNN_STATUS_BAD_PARAM;
}

/* A gate's matrix or bias, described by a filter. */
static cudnnStatus_t part(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, int layer, cudnnTensorDescriptor_t x,
                          cudnnFilterDescriptor_t w, const void *at, int id, bool bias, cudnnFilterDescriptor_t to,
                          void **place) {
  size_t size;
  const struct cudnn_tensor *found;
  cudnnTensorDescriptor_t shape;
  if (!to || !place) return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t status = adopt_tensor(desc, x);
  if (!status) status = weights(handle, desc, w, &size);
  if (!status) status = cudnnCreateTensorDescriptor(&shape);
  if (status) return status;
  status = cudnnGetRNNWeightParams(handle, desc, layer, size, at, id, bias ? NULL : shape, bias ? NULL : place,
                                   bias ? shape : NULL, bias ? place : NULL);
  if (!status && !cudnn_tensor(shape, &found)) status = CUDNN_STATUS_BAD_PARAM; /* the network has no biases */
  if (!status) status = cudnnSetFilterNdDescriptor(to, found->type, 0, found->count, found->size);
  cudnnDestroyTensorDescriptor(shape);
  return status;
}

cudnnStatus_t cudnnGetRNNLinLayerMatrixParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int pseudoLayer,
                                              cudnnTensorDescriptor_t xDesc, cudnnFilterDescriptor_t wDesc,
                                              const void *w, int linLayerID, cudnnFilterDescriptor_t linLayerMatDesc,
                                              void **linLayerMat) {
  return part(handle, rnnDesc, pseudoLayer, xDesc, wDesc, w, linLayerID, false, linLayerMatDesc, linLayerMat);
}

cudnnStatus_t cudnnGetRNNLinLayerBiasParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int pseudoLayer,
                                            cudnnTensorDescriptor_t xDesc, cudnnFilterDescriptor_t wDesc,
                                            const void *w, int linLayerID, cudnnFilterDescriptor_t linLayerBiasDesc,
                                            void **linLayerBias) {
  return part(handle, rnnDesc, pseudoLayer, xDesc, wDesc, w, linLayerID, true, linLayerBiasDesc, linLayerBias);
}

/* ---- forward ---- */

/* What the functions for a pass forward have, in their order. */
struct forward {
  const void *x;
  cudnnTensorDescriptor_t hx_desc;
  const void *hx;
  cudnnTensorDescriptor_t cx_desc;
  const void *cx;
  cudnnFilterDescriptor_t w_desc;
  const void *w;
  void *y;
  cudnnTensorDescriptor_t hy_desc;
  void *hy;
  cudnnTensorDescriptor_t cy_desc;
  void *cy, *work;
  size_t work_size;
  void *reserve;
  size_t reserve_size;
};

static cudnnTensorDescriptor_t either(cudnnTensorDescriptor_t one, cudnnTensorDescriptor_t other) { return one ? one : other; }

static cudnnStatus_t forward(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, cudnnForwardMode_t mode,
                             const struct both *data, const struct forward *f) {
  size_t size;
  cudnnStatus_t status = weights(handle, desc, f->w_desc, &size);
  if (status) return status;
  return cudnnRNNForward(handle, desc, mode, NULL, data->x, f->x, data->y, f->y, either(f->hx_desc, f->hy_desc), f->hx,
                         f->hy, either(f->cx_desc, f->cy_desc), f->cx, f->cy, size, f->w, f->work_size, f->work,
                         f->reserve_size, f->reserve);
}

static cudnnStatus_t forward_steps(cudnnHandle_t handle, cudnnRNNDescriptor_t desc, cudnnForwardMode_t mode, int steps,
                                   const cudnnTensorDescriptor_t *x, const cudnnTensorDescriptor_t *y,
                                   const struct forward *f) {
  struct both data;
  cudnnStatus_t status = prepare(desc, steps, x, y, &data);
  if (status) return status;
  status = forward(handle, desc, mode, &data, f);
  drop(&data);
  return status;
}

#define STATES                                                                                                         \
  const void *x, cudnnTensorDescriptor_t hxDesc, const void *hx, cudnnTensorDescriptor_t cxDesc, const void *cx,       \
      cudnnFilterDescriptor_t wDesc, const void *w
#define RESULTS void *y, cudnnTensorDescriptor_t hyDesc, void *hy, cudnnTensorDescriptor_t cyDesc, void *cy
#define ATTENTION                                                                                                      \
  cudnnRNNDataDescriptor_t kDesc, const void *keys, cudnnRNNDataDescriptor_t cDesc, void *cAttn,                       \
      cudnnRNNDataDescriptor_t iDesc, void *iAttn, cudnnRNNDataDescriptor_t qDesc, void *queries
#define UNUSED (void)kDesc, (void)keys, (void)cDesc, (void)cAttn, (void)iDesc, (void)iAttn, (void)qDesc, (void)queries
#define GIVEN x, hxDesc, hx, cxDesc, cx, wDesc, w, y, hyDesc, hy, cyDesc, cy, workSpace, workSpaceSizeInBytes

cudnnStatus_t cudnnRNNForwardInference(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int seqLength,
                                       const cudnnTensorDescriptor_t *xDesc, STATES,
                                       const cudnnTensorDescriptor_t *yDesc, RESULTS, void *workSpace,
                                       size_t workSpaceSizeInBytes) {
  return forward_steps(handle, rnnDesc, 0, seqLength, xDesc, yDesc, &(struct forward){GIVEN, NULL, 0});
}

cudnnStatus_t cudnnRNNForwardTraining(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int seqLength,
                                      const cudnnTensorDescriptor_t *xDesc, STATES,
                                      const cudnnTensorDescriptor_t *yDesc, RESULTS, void *workSpace,
                                      size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes) {
  return forward_steps(handle, rnnDesc, 1, seqLength, xDesc, yDesc,
                       &(struct forward){GIVEN, reserveSpace, reserveSpaceSizeInBytes});
}

cudnnStatus_t cudnnRNNForwardInferenceEx(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                         cudnnRNNDataDescriptor_t xDesc, STATES, cudnnRNNDataDescriptor_t yDesc, RESULTS,
                                         ATTENTION, void *workSpace, size_t workSpaceSizeInBytes) {
  UNUSED;
  cudnnStatus_t status = prepare_data(rnnDesc, xDesc);
  if (status) return status;
  return forward(handle, rnnDesc, 0, &(struct both){xDesc, yDesc}, &(struct forward){GIVEN, NULL, 0});
}

cudnnStatus_t cudnnRNNForwardTrainingEx(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                        cudnnRNNDataDescriptor_t xDesc, STATES, cudnnRNNDataDescriptor_t yDesc, RESULTS,
                                        ATTENTION, void *workSpace, size_t workSpaceSizeInBytes, void *reserveSpace,
                                        size_t reserveSpaceSizeInBytes) {
  UNUSED;
  cudnnStatus_t status = prepare_data(rnnDesc, xDesc);
  if (status) return status;
  return forward(handle, rnnDesc, 1, &(struct both){xDesc, yDesc},
                 &(struct forward){GIVEN, reserveSpace, reserveSpaceSizeInBytes});
}

/* ---- backward ---- */

#define GRADIENTS                                                                                                      \
  cudnnTensorDescriptor_t dhyDesc, const void *dhy, cudnnTensorDescriptor_t dcyDesc, const void *dcy,                  \
      cudnnFilterDescriptor_t wDesc, const void *w, cudnnTensorDescriptor_t hxDesc, const void *hx,                    \
      cudnnTensorDescriptor_t cxDesc, const void *cx
#define STATE_GRADIENTS cudnnTensorDescriptor_t dhxDesc, void *dhx, cudnnTensorDescriptor_t dcxDesc, void *dcx
#define BACKWARD(x, y)                                                                                                 \
  cudnnRNNBackwardData_v8(handle, rnnDesc, NULL, y, y_at, dy, x, dx, either(hxDesc, either(dhyDesc, dhxDesc)), hx,     \
                          dhy, dhx, either(cxDesc, either(dcyDesc, dcxDesc)), cx, dcy, dcx, size, w,                   \
                          workSpaceSizeInBytes, workSpace, reserveSpaceSizeInBytes, reserveSpace)

cudnnStatus_t cudnnRNNBackwardData(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int seqLength,
                                   const cudnnTensorDescriptor_t *yDesc, const void *y_at,
                                   const cudnnTensorDescriptor_t *dyDesc, const void *dy, GRADIENTS,
                                   const cudnnTensorDescriptor_t *dxDesc, void *dx, STATE_GRADIENTS, void *workSpace,
                                   size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes) {
  struct both data;
  size_t size;
  if (!dyDesc) return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t status = prepare(rnnDesc, seqLength, dxDesc, yDesc, &data);
  if (status) return status;
  status = weights(handle, rnnDesc, wDesc, &size);
  if (!status) status = BACKWARD(data.x, data.y);
  drop(&data);
  return status;
}

cudnnStatus_t cudnnRNNBackwardDataEx(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnRNNDataDescriptor_t yDesc,
                                     const void *y_at, cudnnRNNDataDescriptor_t dyDesc, const void *dy,
                                     cudnnRNNDataDescriptor_t dcDesc, const void *dcAttn, GRADIENTS,
                                     cudnnRNNDataDescriptor_t dxDesc, void *dx, STATE_GRADIENTS,
                                     cudnnRNNDataDescriptor_t dkDesc, void *dkeys, void *workSpace,
                                     size_t workSpaceSizeInBytes, void *reserveSpace, size_t reserveSpaceSizeInBytes) {
  size_t size;
  (void)dcDesc, (void)dcAttn, (void)dkDesc, (void)dkeys;
  if (!cudnn_is_sequence(dyDesc)) return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t status = prepare_data(rnnDesc, dxDesc);
  if (!status) status = weights(handle, rnnDesc, wDesc, &size);
  return status ? status : BACKWARD(dxDesc, yDesc);
}

/* Gradients of weights are added to what is there. */
#define WEIGHTS(x, y)                                                                                                  \
  cudnnRNNBackwardWeights_v8(handle, rnnDesc, CUDNN_WGRAD_ADD, NULL, x, x_at, hxDesc, hx, y, y_at, size, dw,           \
                             workSpaceSizeInBytes, workSpace, reserveSpaceSizeInBytes, reserveSpace)

cudnnStatus_t cudnnRNNBackwardWeights(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int seqLength,
                                      const cudnnTensorDescriptor_t *xDesc, const void *x_at,
                                      cudnnTensorDescriptor_t hxDesc, const void *hx,
                                      const cudnnTensorDescriptor_t *yDesc, const void *y_at, void *workSpace,
                                      size_t workSpaceSizeInBytes, cudnnFilterDescriptor_t dwDesc, void *dw,
                                      void *reserveSpace, size_t reserveSpaceSizeInBytes) {
  struct both data;
  size_t size;
  cudnnStatus_t status = prepare(rnnDesc, seqLength, xDesc, yDesc, &data);
  if (status) return status;
  status = weights(handle, rnnDesc, dwDesc, &size);
  if (!status) status = WEIGHTS(data.x, data.y);
  drop(&data);
  return status;
}

cudnnStatus_t cudnnRNNBackwardWeightsEx(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                        cudnnRNNDataDescriptor_t xDesc, const void *x_at, cudnnTensorDescriptor_t hxDesc,
                                        const void *hx, cudnnRNNDataDescriptor_t yDesc, const void *y_at,
                                        void *workSpace, size_t workSpaceSizeInBytes, cudnnFilterDescriptor_t dwDesc,
                                        void *dw, void *reserveSpace, size_t reserveSpaceSizeInBytes) {
  size_t size;
  cudnnStatus_t status = prepare_data(rnnDesc, xDesc);
  if (!status) status = weights(handle, rnnDesc, dwDesc, &size);
  return status ? status : WEIGHTS(xDesc, yDesc);
}
