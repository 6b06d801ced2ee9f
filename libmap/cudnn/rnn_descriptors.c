/* Recurrent networks: descriptors of networks and of sequences. */
#include "rnn.h"

#include <stdlib.h>
#include <string.h>

/* A new object, of whose parts `fill` makes those of MIOpen; `destroy` copes with parts that are missing. */
static cudnnStatus_t create(void **out, enum cudnn_mark mark, size_t size, miopenStatus_t (*fill)(void *),
                            cudnnStatus_t (*destroy)(void *)) {
  if (!out) return CUDNN_STATUS_BAD_PARAM;
  if (!libmap_ready()) return CUDNN_STATUS_NOT_INITIALIZED;
  void *made = cudnn_new(mark, size);
  if (!made) return CUDNN_STATUS_ALLOC_FAILED;
  miopenStatus_t done = fill(made);
  if (done) destroy(made);
  else *out = made;
  return cudnn_status(done);
}

miopenDataType_t cudnn_rnn_type(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF ? miopenHalf : miopenFloat;
}

/* ---- sequences ---- */

static miopenStatus_t fill_sequence(void *made) {
  cudnnRNNDataDescriptor_t sequence = made;
  miopenStatus_t done = miopen.CreateSeqTensorDescriptor(&sequence->miopen);
  return done ? done : miopen.CreateTensorDescriptor(&sequence->all);
}

static cudnnStatus_t destroy_sequence(void *given) {
  if (!given) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(given, CUDNN_A_SEQUENCE)) return CUDNN_STATUS_BAD_PARAM;
  cudnnRNNDataDescriptor_t sequence = given;
  if (sequence->all) miopen.DestroyTensorDescriptor(sequence->all);
  if (sequence->miopen) miopen.DestroySeqTensorDescriptor(sequence->miopen);
  free(sequence->lengths);
  cudnn_free(sequence);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t *rnnDataDesc) {
  return create((void **)rnnDataDesc, CUDNN_A_SEQUENCE, sizeof **rnnDataDesc, fill_sequence, destroy_sequence);
}

cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc) {
  return destroy_sequence(rnnDataDesc);
}

bool cudnn_is_sequence(cudnnRNNDataDescriptor_t given) {
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
      rnnDataDesc->miopen, cudnn_rnn_type(dataType), layouts[layout], maxSeqLength, batchSize, vectorSize, lengths, NULL);
  if (!done) done = miopen.SetTensorDescriptor(rnnDataDesc->all, cudnn_rnn_type(dataType), 3, sizes, strides);
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
  if (!cudnn_is_sequence(rnnDataDesc) || arrayLengthRequested < 0) return CUDNN_STATUS_BAD_PARAM;
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

static miopenStatus_t fill_network(void *made) {
  cudnnRNNDescriptor_t network = made;
  miopenStatus_t done = miopen.CreateRNNDescriptor(&network->miopen);
  if (!done) done = miopen.CreateTensorDescriptor(&network->input);
  return done ? done : miopen.CreateTensorDescriptor(&network->weights.miopen);
}

static cudnnStatus_t destroy_network(void *given) {
  if (!given) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(given, CUDNN_AN_RNN)) return CUDNN_STATUS_BAD_PARAM;
  cudnnRNNDescriptor_t network = given;
  if (network->input) miopen.DestroyTensorDescriptor(network->input);
  if (network->weights.miopen) miopen.DestroyTensorDescriptor(network->weights.miopen);
  cudnnStatus_t status = network->miopen ? cudnn_status(miopen.DestroyRNNDescriptor(network->miopen)) : 0;
  cudnn_free(network);
  return status;
}

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t *rnnDesc) {
  return create((void **)rnnDesc, CUDNN_AN_RNN, sizeof **rnnDesc, fill_network, destroy_network);
}

cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnnDesc) { return destroy_network(rnnDesc); }

bool cudnn_is_network(cudnnRNNDescriptor_t given) { return cudnn_is(given, CUDNN_AN_RNN) && given->set.layers; }

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
  miopenDataType_t type = cudnn_rnn_type(dataType);
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
  if (!cudnn_is(rnnDesc, CUDNN_AN_RNN)) return CUDNN_STATUS_BAD_PARAM;
  if (!rnnDesc->set.layers) return CUDNN_STATUS_NOT_INITIALIZED;
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
  if (!cudnn_handle(handle, &handle) || !cudnn_is_network(rnnDesc) || miniBatch < 1) return CUDNN_STATUS_BAD_PARAM;
  return CUDNN_STATUS_SUCCESS; /* MIOpen's kernels do not depend on the batch */
}

/* Plans are of kernels that are compiled for a batch, which MIOpen has not: there is nothing in them. */
struct cudnnPersistentRNNPlan_t_st { enum cudnn_mark mark; };

cudnnStatus_t cudnnCreatePersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc, int minibatch, cudnnDataType_t dataType,
                                           cudnnPersistentRNNPlan_t *plan) {
  if (!cudnn_is_network(rnnDesc) || minibatch < 1 || !plan) return CUDNN_STATUS_BAD_PARAM;
  if (dataType != rnnDesc->set.type) return CUDNN_STATUS_NOT_SUPPORTED;
  *plan = cudnn_new(CUDNN_A_PLAN, sizeof **plan);
  return *plan ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

cudnnStatus_t cudnnSetPersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc, cudnnPersistentRNNPlan_t plan) {
  bool good = cudnn_is(rnnDesc, CUDNN_AN_RNN) && cudnn_is(plan, CUDNN_A_PLAN);
  return good ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnDestroyPersistentRNNPlan(cudnnPersistentRNNPlan_t plan) {
  if (!plan) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(plan, CUDNN_A_PLAN)) return CUDNN_STATUS_BAD_PARAM;
  cudnn_free(plan);
  return CUDNN_STATUS_SUCCESS;
}
