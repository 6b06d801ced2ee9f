/* Recurrent networks: descriptors of networks and of sequences, weights, both passes. */
#include "rnn.h"

#include <stdlib.h>
#include <string.h>

#define MIXED_UP "recurrent networks of unpacked sequences that are not sorted by length"
enum { ALIGNED = 256 }; /* memory that lies behind other */

/* Of the types that are accepted. */
static miopenDataType_t beneath_type(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF ? miopenHalf : miopenFloat;
}

/* ---- sequences ---- */

cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t *rnnDataDesc) {
  if (!rnnDataDesc) return CUDNN_STATUS_BAD_PARAM;
  if (!libmap_ready()) return CUDNN_STATUS_NOT_INITIALIZED;
  cudnnRNNDataDescriptor_t made = cudnn_new(CUDNN_A_SEQUENCE, sizeof *made);
  if (!made) return CUDNN_STATUS_ALLOC_FAILED;
  miopenStatus_t done = miopen.CreateSeqTensorDescriptor(&made->miopen);
  if (!done) done = miopen.CreateTensorDescriptor(&made->all);
  if (done) cudnnDestroyRNNDataDescriptor(made);
  else *rnnDataDesc = made;
  return cudnn_status(done);
}

cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc) {
  if (!rnnDataDesc) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(rnnDataDesc, CUDNN_A_SEQUENCE)) return CUDNN_STATUS_BAD_PARAM;
  if (rnnDataDesc->all) miopen.DestroyTensorDescriptor(rnnDataDesc->all);
  if (rnnDataDesc->miopen) miopen.DestroySeqTensorDescriptor(rnnDataDesc->miopen);
  free(rnnDataDesc->lengths);
  cudnn_free(rnnDataDesc);
  return CUDNN_STATUS_SUCCESS;
}

static bool is_sequence(cudnnRNNDataDescriptor_t given) {
  return cudnn_is(given, CUDNN_A_SEQUENCE) && given->lengths;
}

/* Whether the bytes of a number of the type are all 0, as padding is filled here. */
static bool is_zero(const void *number, cudnnDataType_t type) {
  const uint64_t zero = 0;
  return !number || !memcmp(number, &zero, cudnn_type_size(type));
}

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc, cudnnDataType_t dataType,
                                        cudnnRNNDataLayout_t layout, int maxSeqLength, int batchSize, int vectorSize,
                                        const int *seqLengthArray, void *paddingFill) {
  if (!cudnn_is(rnnDataDesc, CUDNN_A_SEQUENCE) || layout < 0 || layout > 2 || maxSeqLength < 1 || batchSize < 1 ||
      vectorSize < 1 || !seqLengthArray) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  for (int i = 0; i < batchSize; i++) {
    int length = seqLengthArray[i];
    if (length < 0 || length > maxSeqLength) return CUDNN_STATUS_BAD_PARAM;
    if (layout == CUDNN_SEQ_MAJOR_PACKED && i && length > seqLengthArray[i - 1]) return CUDNN_STATUS_BAD_PARAM;
    if (!length) return cudnn_reject(false, "recurrent networks with empty sequences");
  }
  if (dataType != CUDNN_DATA_FLOAT && dataType != CUDNN_DATA_HALF) {
    return cudnn_reject(false, "recurrent networks of types other than f32 and f16");
  }
  if (!is_zero(paddingFill, dataType)) return cudnn_reject(false, "padding of sequences other than 0");
  const miopenRNNBaseLayout_t layouts[] = {miopenRNNDataSeqMajorPadded, miopenRNNDataSeqMajorNotPadded,
                                           miopenRNNDataBatchMajorPadded};
  int *lengths = malloc((size_t)batchSize * sizeof *lengths);
  if (!lengths) return CUDNN_STATUS_ALLOC_FAILED;
  cudnn_give(batchSize, seqLengthArray, lengths);
  const int sizes[] = {maxSeqLength, batchSize, vectorSize}, strides[] = {batchSize * vectorSize, vectorSize, 1};
  miopenStatus_t done = miopen.SetRNNDataSeqTensorDescriptor(
      rnnDataDesc->miopen, beneath_type(dataType), layouts[layout], maxSeqLength, batchSize, vectorSize, lengths, NULL);
  if (!done) done = miopen.SetTensorDescriptor(rnnDataDesc->all, beneath_type(dataType), 3, sizes, strides);
  if (done) {
    free(lengths);
    return cudnn_status(done);
  }
  free(rnnDataDesc->lengths);
  rnnDataDesc->type = dataType, rnnDataDesc->layout = layout, rnnDataDesc->lengths = lengths;
  rnnDataDesc->longest = maxSeqLength, rnnDataDesc->batch = batchSize, rnnDataDesc->vector = vectorSize;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc, cudnnDataType_t *dataType,
                                        cudnnRNNDataLayout_t *layout, int *maxSeqLength, int *batchSize,
                                        int *vectorSize, int arrayLengthRequested, int *seqLengthArray,
                                        void *paddingFill) {
  if (!is_sequence(rnnDataDesc) || arrayLengthRequested < 0) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(dataType, rnnDataDesc->type);
  CUDNN_GIVE(layout, rnnDataDesc->layout);
  CUDNN_GIVE(maxSeqLength, rnnDataDesc->longest);
  CUDNN_GIVE(batchSize, rnnDataDesc->batch);
  CUDNN_GIVE(vectorSize, rnnDataDesc->vector);
  cudnn_give(cudnn_least(arrayLengthRequested, rnnDataDesc->batch), rnnDataDesc->lengths, seqLengthArray);
  if (paddingFill) memset(paddingFill, 0, cudnn_type_size(rnnDataDesc->type));
  return CUDNN_STATUS_SUCCESS;
}

/* ---- networks ---- */

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t *rnnDesc) {
  if (!rnnDesc) return CUDNN_STATUS_BAD_PARAM;
  if (!libmap_ready()) return CUDNN_STATUS_NOT_INITIALIZED;
  cudnnRNNDescriptor_t made = cudnn_new(CUDNN_AN_RNN, sizeof *made);
  if (!made) return CUDNN_STATUS_ALLOC_FAILED;
  miopenStatus_t done = miopen.CreateRNNDescriptor(&made->miopen);
  if (!done) done = miopen.CreateTensorDescriptor(&made->input);
  if (!done) done = miopen.CreateTensorDescriptor(&made->weights.miopen);
  if (done) cudnnDestroyRNNDescriptor(made);
  else *rnnDesc = made;
  return cudnn_status(done);
}

cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnnDesc) {
  if (!rnnDesc) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(rnnDesc, CUDNN_AN_RNN)) return CUDNN_STATUS_BAD_PARAM;
  if (rnnDesc->input) miopen.DestroyTensorDescriptor(rnnDesc->input);
  if (rnnDesc->weights.miopen) miopen.DestroyTensorDescriptor(rnnDesc->weights.miopen);
  cudnnStatus_t status = rnnDesc->miopen ? cudnn_status(miopen.DestroyRNNDescriptor(rnnDesc->miopen)) : 0;
  cudnn_free(rnnDesc);
  return status;
}

static bool is_network(cudnnRNNDescriptor_t given) { return cudnn_is(given, CUDNN_AN_RNN) && given->set.layers; }

cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t algo, cudnnRNNMode_t cellMode,
                                       cudnnRNNBiasMode_t biasMode, cudnnDirectionMode_t dirMode,
                                       cudnnRNNInputMode_t inputMode, cudnnDataType_t dataType,
                                       cudnnDataType_t mathPrec, cudnnMathType_t mathType, int32_t inputSize,
                                       int32_t hiddenSize, int32_t projSize, int32_t numLayers,
                                       cudnnDropoutDescriptor_t dropoutDesc, uint32_t auxFlags) {
  if (!cudnn_is(rnnDesc, CUDNN_AN_RNN) || (dropoutDesc && !cudnn_dropout(dropoutDesc, &dropoutDesc)) || algo < 0 ||
      algo > 3 || cellMode < 0 || cellMode > CUDNN_GRU || biasMode < 0 || biasMode > 3 || dirMode < 0 || dirMode > 1 ||
      inputMode < 0 || inputMode > 1 || inputSize < 1 || hiddenSize < 1 || numLayers < 1 || projSize < 0 ||
      projSize > hiddenSize) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (dataType != CUDNN_DATA_FLOAT && dataType != CUDNN_DATA_HALF) {
    return cudnn_reject(false, "recurrent networks of types other than f32 and f16");
  }
  if (projSize && projSize != hiddenSize) return cudnn_reject(false, "recurrent networks with projections");
  if (inputMode) return cudnn_reject(false, "recurrent networks without a product at the input");
  if (biasMode == CUDNN_RNN_SINGLE_INP_BIAS || biasMode == CUDNN_RNN_SINGLE_REC_BIAS) {
    return cudnn_reject(false, "recurrent networks with a single bias");
  }
  miopenDataType_t type = beneath_type(dataType);
  const int sizes[] = {1, inputSize}, strides[] = {inputSize, 1};
  miopenStatus_t done = miopen.SetRNNDescriptor(
      rnnDesc->miopen, hiddenSize, numLayers, miopenRNNlinear, (miopenRNNDirectionMode_t)dirMode,
      (miopenRNNMode_t)cellMode, biasMode ? miopenRNNwithBias : miopenRNNNoBias, miopenRNNdefault, type);
  if (!done) done = miopen.SetTensorDescriptor(rnnDesc->input, type, 2, sizes, strides);
  if (done) return cudnn_status(done);
  rnnDesc->set = (struct cudnn_network){algo,     cellMode,  biasMode,   dirMode,  inputMode, dataType,    mathPrec,
                                        mathType, inputSize, hiddenSize, projSize, numLayers, dropoutDesc, auxFlags};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t *algo, cudnnRNNMode_t *cellMode,
                                       cudnnRNNBiasMode_t *biasMode, cudnnDirectionMode_t *dirMode,
                                       cudnnRNNInputMode_t *inputMode, cudnnDataType_t *dataType,
                                       cudnnDataType_t *mathPrec, cudnnMathType_t *mathType, int32_t *inputSize,
                                       int32_t *hiddenSize, int32_t *projSize, int32_t *numLayers,
                                       cudnnDropoutDescriptor_t *dropoutDesc, uint32_t *auxFlags) {
  if (!is_network(rnnDesc)) return CUDNN_STATUS_BAD_PARAM;
  const struct cudnn_network *set = &rnnDesc->set;
  CUDNN_GIVE(algo, set->algo);
  CUDNN_GIVE(cellMode, set->cell);
  CUDNN_GIVE(biasMode, set->bias);
  CUDNN_GIVE(dirMode, set->direction);
  CUDNN_GIVE(inputMode, set->input);
  CUDNN_GIVE(dataType, set->type);
  CUDNN_GIVE(mathPrec, set->compute);
  CUDNN_GIVE(mathType, set->math);
  CUDNN_GIVE(inputSize, set->in);
  CUDNN_GIVE(hiddenSize, set->hidden);
  CUDNN_GIVE(projSize, set->projected);
  CUDNN_GIVE(numLayers, set->layers);
  CUDNN_GIVE(dropoutDesc, set->dropout);
  CUDNN_GIVE(auxFlags, set->flags);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNSetClip_v9(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t clipMode, double lclip,
                                 double rclip) {
  if (!cudnn_is(rnnDesc, CUDNN_AN_RNN) || clipMode < 0 || clipMode > 1 || !(lclip <= rclip)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  return clipMode ? cudnn_reject(false, "recurrent networks with clipped cells") : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNSetClip_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t clipMode,
                                 cudnnNanPropagation_t clipNanOpt, double lclip, double rclip) {
  if (clipNanOpt < 0 || clipNanOpt > 1) return CUDNN_STATUS_BAD_PARAM;
  return cudnnRNNSetClip_v9(rnnDesc, clipMode, lclip, rclip);
}

cudnnStatus_t cudnnRNNGetClip_v9(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t *clipMode, double *lclip,
                                 double *rclip) {
  if (!cudnn_is(rnnDesc, CUDNN_AN_RNN)) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(clipMode, 0);
  CUDNN_GIVE(lclip, 0);
  CUDNN_GIVE(rclip, 0);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNGetClip_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t *clipMode,
                                 cudnnNanPropagation_t *clipNanOpt, double *lclip, double *rclip) {
  cudnnStatus_t status = cudnnRNNGetClip_v9(rnnDesc, clipMode, lclip, rclip);
  if (!status) CUDNN_GIVE(clipNanOpt, 0);
  return status;
}

cudnnStatus_t cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int miniBatch) {
  if (!cudnn_handle(handle, &handle) || !is_network(rnnDesc) || miniBatch < 1) return CUDNN_STATUS_BAD_PARAM;
  return CUDNN_STATUS_SUCCESS; /* MIOpen's kernels do not depend on the batch */
}

/* ---- memory and weights ---- */

/* The network takes these sequences, with padding if they have it. */
static miopenStatus_t lay_out(cudnnRNNDescriptor_t network, cudnnRNNDataDescriptor_t sequences) {
  bool packed = sequences->layout == CUDNN_SEQ_MAJOR_PACKED;
  return miopen.SetRNNPaddingMode(network->miopen, packed ? miopenRNNIONotPadded : miopenRNNIOWithPadding);
}

/* MIOpen leaves the padding of a result as it is. */
static miopenStatus_t pad(cudnnHandle_t handle, cudnnRNNDataDescriptor_t sequences, void *at) {
  if (sequences->layout == CUDNN_SEQ_MAJOR_PACKED) return miopenStatusSuccess;
  return miopen.SetTensor(handle->miopen, sequences->all, at, &CUDNN_ZERO);
}

static bool are_of(cudnnRNNDescriptor_t network, cudnnRNNDataDescriptor_t x, cudnnRNNDataDescriptor_t y) {
  if (!is_network(network) || !is_sequence(x) || !is_sequence(y) || x->layout != y->layout || x->batch != y->batch ||
      x->longest != y->longest || memcmp(x->lengths, y->lengths, (size_t)x->batch * sizeof *x->lengths)) {
    return false;
  }
  const struct cudnn_network *set = &network->set;
  return x->type == set->type && y->type == set->type && x->vector == set->in &&
         y->vector == set->hidden * (set->direction + 1);
}

/* Unpacked sequences that are not in the order of their lengths, of which MIOpen mixes up results. */
static bool mixed_up(cudnnRNNDataDescriptor_t sequences) {
  bool sorted = true;
  for (int i = 1; i < sequences->batch; i++) sorted &= sequences->lengths[i] <= sequences->lengths[i - 1];
  return sequences->layout == CUDNN_SEQ_MAJOR_UNPACKED && !sorted;
}

/* Whether h is given as states of the network are stored; c: only LSTM has them. */
static bool are_states(cudnnRNNDescriptor_t network, cudnnRNNDataDescriptor_t x, cudnnTensorDescriptor_t desc,
                       bool used, miopenTensorDescriptor_t *found) {
  const struct cudnn_network *set = &network->set;
  const struct cudnn_tensor *tensor;
  *found = NULL;
  if (!used && !desc) return true;
  if (!cudnn_tensor(desc, &tensor) || tensor->count < 3 || tensor->type != set->type ||
      tensor->size[0] != set->layers * (set->direction + 1) || tensor->size[1] != x->batch ||
      tensor->size[2] != set->hidden) {
    return false;
  }
  *found = tensor->miopen;
  return true;
}

/* The memory of both kinds. Inference is training here, with the second behind the first, as MIOpen's inference is wrong
 * for LSTM without initial states. */
static miopenStatus_t spaces(cudnnHandle_t handle, cudnnRNNDescriptor_t network, cudnnRNNDataDescriptor_t x,
                             size_t *work, size_t *reserve) {
  miopenStatus_t done = lay_out(network, x);
  if (!done) {
    done = miopen.GetRNNTempSpaceSizes(handle->miopen, network->miopen, x->miopen, miopenRNNTraining, work, reserve);
  }
  *work = (*work + ALIGNED - 1) / ALIGNED * ALIGNED;
  return done;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode,
                                        cudnnRNNDataDescriptor_t xDesc, size_t *workSpaceSize,
                                        size_t *reserveSpaceSize) {
  size_t work = 0, reserve = 0;
  if (!cudnn_handle(handle, &handle) || !is_network(rnnDesc) || !is_sequence(xDesc) || fwdMode < 0 || fwdMode > 1 ||
      xDesc->vector != rnnDesc->set.in) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  miopenStatus_t done = spaces(handle, rnnDesc, xDesc, &work, &reserve);
  if (done) return cudnn_status(done);
  CUDNN_GIVE(workSpaceSize, fwdMode ? work : work + reserve);
  CUDNN_GIVE(reserveSpaceSize, fwdMode ? reserve : 0);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, size_t *weightSpaceSize) {
  if (!cudnn_handle(handle, &handle) || !is_network(rnnDesc) || !weightSpaceSize) return CUDNN_STATUS_BAD_PARAM;
  return cudnn_status(miopen.GetRNNParamsSize(handle->miopen, rnnDesc->miopen, rnnDesc->input, weightSpaceSize,
                                              beneath_type(rnnDesc->set.type)));
}

/* MIOpen's number of a gate: LSTM has the last two the other way round, GRU the first two. */
static int gate(int cell, int id) {
  static const int lstm[] = {0, 1, 3, 2}, gru[] = {1, 0, 2};
  return cell == CUDNN_LSTM ? id / 4 * 4 + lstm[id % 4] : cell == CUDNN_GRU ? id / 3 * 3 + gru[id % 3] : id;
}

typedef miopenStatus_t part_of_layer(miopenRNNDescriptor_t, int, miopenTensorDescriptor_t, int,
                                     miopenTensorDescriptor_t, size_t *);

/* A gate's matrix or bias: its shape, and its place in the weights. */
static cudnnStatus_t part(part_of_layer *find, cudnnRNNDescriptor_t network, int layer, int id, int rows, int columns,
                          const void *weights, cudnnTensorDescriptor_t desc, void **at) {
  size_t offset = 0;
  if (!desc || !at) return CUDNN_STATUS_SUCCESS; /* which is not asked for */
  cudnnStatus_t status = cudnnSetTensorNdDescriptor(desc, network->set.type, 3, (const int[]){1, rows, columns},
                                                    (const int[]){rows * columns, columns, 1});
  if (!status) {
    miopenTensorDescriptor_t shape;
    status = cudnn_status(miopen.CreateTensorDescriptor(&shape));
    if (status) return status;
    int gate_id = gate(network->set.cell, id);
    status = cudnn_status(find(network->miopen, layer, network->input, gate_id, shape, &offset));
    miopen.DestroyTensorDescriptor(shape);
  }
  if (!status) *at = (char *)(uintptr_t)weights + offset * cudnn_type_size(network->set.type);
  return status;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int32_t pseudoLayer,
                                      size_t weightSpaceSize, const void *weightSpace, int32_t linLayerID,
                                      cudnnTensorDescriptor_t mDesc, void **mAddr, cudnnTensorDescriptor_t bDesc,
                                      void **bAddr) {
  static const int gates[] = {1, 1, 4, 3};
  if (!cudnn_handle(handle, &handle) || !is_network(rnnDesc)) return CUDNN_STATUS_BAD_PARAM;
  const struct cudnn_network *set = &rnnDesc->set;
  int directions = set->direction + 1, count = gates[set->cell];
  if (pseudoLayer < 0 || pseudoLayer >= set->layers * directions || linLayerID < 0) return CUDNN_STATUS_BAD_PARAM;
  if (linLayerID >= 2 * count) return linLayerID == 2 * count ? cudnn_reject(false, "projections") : CUDNN_STATUS_BAD_PARAM;
  bool first = pseudoLayer < directions, recurrent = linLayerID >= count;
  int columns = recurrent ? set->hidden : first ? set->in : set->hidden * directions;
  cudnnStatus_t status = part(miopen.GetRNNLayerParamOffset, rnnDesc, pseudoLayer, linLayerID, set->hidden, columns,
                              weightSpace, mDesc, mAddr);
  if (!status && set->bias) {
    status = part(miopen.GetRNNLayerBiasOffset, rnnDesc, pseudoLayer, linLayerID, set->hidden, 1, weightSpace, bDesc,
                  bAddr);
  } else if (!status) {
    CUDNN_GIVE(bAddr, NULL);
  }
  (void)weightSpaceSize;
  return status;
}

/* ---- both passes ---- */

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode,
                              const int32_t *devSeqLengths, cudnnRNNDataDescriptor_t xDesc, const void *x,
                              cudnnRNNDataDescriptor_t yDesc, void *y, cudnnTensorDescriptor_t hDesc, const void *hx,
                              void *hy, cudnnTensorDescriptor_t cDesc, const void *cx, void *cy,
                              size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize, void *workSpace,
                              size_t reserveSpaceSize, void *reserveSpace) {
  miopenTensorDescriptor_t h, c;
  (void)devSeqLengths; /* the same as those on the host */
  if (!cudnn_handle(handle, &handle) || fwdMode < 0 || fwdMode > 1 || !are_of(rnnDesc, xDesc, yDesc) || !x || !y ||
      !weightSpace || !are_states(rnnDesc, xDesc, hDesc, hx || hy, &h) ||
      !are_states(rnnDesc, xDesc, cDesc, cx || cy, &c)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (mixed_up(xDesc)) return cudnn_reject(false, MIXED_UP);
  const struct cudnn_network *set = &rnnDesc->set;
  if (fwdMode && set->layers > 1 && set->dropout && set->dropout->dropout > 0) {
    return cudnn_reject(false, "dropout between layers of recurrent networks");
  }
  size_t work = 0, reserve = 0;
  miopenStatus_t done = spaces(handle, rnnDesc, xDesc, &work, &reserve);
  if (!done) done = pad(handle, yDesc, y);
  if (done) return cudnn_status(done);
  if (workSpaceSize < (fwdMode ? work : work + reserve) || (fwdMode && reserveSpaceSize < reserve)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!fwdMode) reserveSpace = (char *)workSpace + work, reserveSpaceSize = reserve;
  return cudnn_status(miopen.RNNForward(handle->miopen, rnnDesc->miopen, miopenRNNTraining, xDesc->miopen, x, h, hx,
                                        hy, c ? c : h, cx, cy, yDesc->miopen, y, weightSpace, weightSpaceSize, workSpace,
                                        work, reserveSpace, reserveSpaceSize));
}

cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, const int32_t *devSeqLengths,
                                      cudnnRNNDataDescriptor_t yDesc, const void *y, const void *dy,
                                      cudnnRNNDataDescriptor_t xDesc, void *dx, cudnnTensorDescriptor_t hDesc,
                                      const void *hx, const void *dhy, void *dhx, cudnnTensorDescriptor_t cDesc,
                                      const void *cx, const void *dcy, void *dcx, size_t weightSpaceSize,
                                      const void *weightSpace, size_t workSpaceSize, void *workSpace,
                                      size_t reserveSpaceSize, void *reserveSpace) {
  miopenTensorDescriptor_t h, c;
  (void)devSeqLengths;
  if (!cudnn_handle(handle, &handle) || !are_of(rnnDesc, xDesc, yDesc) || !y || !dy || !dx || !weightSpace ||
      !reserveSpace || !are_states(rnnDesc, xDesc, hDesc, hx || dhy || dhx, &h) ||
      !are_states(rnnDesc, xDesc, cDesc, cx || dcy || dcx, &c)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (mixed_up(xDesc)) return cudnn_reject(false, MIXED_UP);
  if (xDesc->layout == CUDNN_BATCH_MAJOR_UNPACKED) {
    return cudnn_reject(false, "gradients of recurrent networks with batches first");
  }
  miopenStatus_t done = lay_out(rnnDesc, xDesc);
  if (!done) done = pad(handle, xDesc, dx);
  if (done) return cudnn_status(done);
  return cudnn_status(miopen.RNNBackwardSeqData(handle->miopen, rnnDesc->miopen, yDesc->miopen, y, dy, h, hx, dhy, dhx,
                                                c ? c : h, cx, dcy, dcx, xDesc->miopen, dx, weightSpace,
                                                weightSpaceSize, workSpace, workSpaceSize, reserveSpace,
                                                reserveSpaceSize));
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                         cudnnWgradMode_t addGrad, const int32_t *devSeqLengths,
                                         cudnnRNNDataDescriptor_t xDesc, const void *x, cudnnTensorDescriptor_t hDesc,
                                         const void *hx, cudnnRNNDataDescriptor_t yDesc, const void *y,
                                         size_t weightSpaceSize, void *dweightSpace, size_t workSpaceSize,
                                         void *workSpace, size_t reserveSpaceSize, void *reserveSpace) {
  miopenTensorDescriptor_t h;
  (void)devSeqLengths;
  if (!cudnn_handle(handle, &handle) || !are_of(rnnDesc, xDesc, yDesc) || !x || !y || !dweightSpace || !reserveSpace ||
      addGrad < 0 || addGrad > 1 || !are_states(rnnDesc, xDesc, hDesc, hx, &h)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (mixed_up(xDesc)) return cudnn_reject(false, MIXED_UP);
  size_t size;
  cudnnStatus_t status = cudnnGetRNNWeightSpaceSize(handle, rnnDesc, &size);
  if (status || weightSpaceSize < size) return status ? status : CUDNN_STATUS_BAD_PARAM;
  const int count = (int)(size / cudnn_type_size(rnnDesc->set.type)), sizes[] = {1, 1, 1, count};
  status = cudnn_set_tensor(&rnnDesc->weights, rnnDesc->set.type, 4, sizes, NULL);
  if (!status) status = cudnn_status(lay_out(rnnDesc, xDesc));
  if (status) return status;
  const float *earlier = addGrad == CUDNN_WGRAD_ADD ? &CUDNN_ONE : &CUDNN_ZERO;
  return cudnn_status(CUDNN_BLEND(
      0, handle, &CUDNN_ONE, earlier, &rnnDesc->weights, dweightSpace,
      miopen.RNNBackwardWeightsSeqTensor(handle->miopen, rnnDesc->miopen, xDesc->miopen, x, h, hx, yDesc->miopen, y,
                                         dweightSpace, size, workSpace, workSpaceSize, reserveSpace,
                                         reserveSpaceSize)));
}
