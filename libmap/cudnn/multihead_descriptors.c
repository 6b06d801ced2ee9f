/* Sequences and attention as programs describe them, and the sizes of what attention needs. */
#include <stdlib.h>
#include <string.h>

#include "compute.h"
#include "multihead.h"
#include "template.h"

cudnnStatus_t cudnnCreateSeqDataDescriptor(cudnnSeqDataDescriptor_t *seqDataDesc) {
  if (!seqDataDesc) return CUDNN_STATUS_BAD_PARAM;
  *seqDataDesc = cudnn_new(CUDNN_A_SERIES, sizeof **seqDataDesc);
  return *seqDataDesc ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

cudnnStatus_t cudnnDestroySeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc) {
  if (!seqDataDesc) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(seqDataDesc, CUDNN_A_SERIES)) return CUDNN_STATUS_BAD_PARAM;
  free(seqDataDesc->length);
  cudnn_free(seqDataDesc);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetSeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc, cudnnDataType_t dataType, int nbDims,
                                        const int *dimA, const cudnnSeqDataAxis_t *axes, size_t seqLengthArraySize,
                                        const int *seqLengthArray, void *paddingFill) {
  if (!cudnn_is(seqDataDesc, CUDNN_A_SERIES) || nbDims != SEQUENCE_AXES || !dimA || !axes || !seqLengthArray) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  unsigned seen = 0;
  size_t all = 1;
  for (int d = 0; d < SEQUENCE_AXES; d++) {
    if (dimA[d] < 1 || axes[d] < 0 || axes[d] >= SEQUENCE_AXES) return CUDNN_STATUS_BAD_PARAM;
    seen |= 1u << axes[d], all *= (size_t)dimA[d];
    if (all > INT32_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
  }
  if (seen != (1u << SEQUENCE_AXES) - 1 || seqLengthArraySize != (size_t)dimA[BATCH] * (size_t)dimA[BEAM]) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (axes[SEQUENCE_AXES - 1] != VECTOR) return cudnn_reject(false, "sequences whose vectors are not whole in memory");
  if (paddingFill) return cudnn_reject(false, "sequences with a number for what is behind their end");
  if (!cudnn_template_type(dataType)) return cudnn_other_type(dataType);
  for (size_t i = 0; i < seqLengthArraySize; i++) {
    if (seqLengthArray[i] < 0 || seqLengthArray[i] > dimA[TIME]) return CUDNN_STATUS_BAD_PARAM;
  }
  int *copy = malloc(seqLengthArraySize * sizeof *copy);
  if (!copy) return CUDNN_STATUS_ALLOC_FAILED;
  memcpy(copy, seqLengthArray, seqLengthArraySize * sizeof *copy);
  free(seqDataDesc->length);
  seqDataDesc->length = copy, seqDataDesc->lengths = seqLengthArraySize;
  seqDataDesc->type = dataType, seqDataDesc->count = nbDims;
  for (int d = 0; d < SEQUENCE_AXES; d++) seqDataDesc->size[d] = dimA[d], seqDataDesc->axis[d] = axes[d];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetSeqDataDescriptor(const cudnnSeqDataDescriptor_t seqDataDesc, cudnnDataType_t *dataType,
                                        int *nbDims, int nbDimsRequested, int *dimA, cudnnSeqDataAxis_t *axes,
                                        size_t *seqLengthArraySize, size_t seqLengthSizeRequested, int *seqLengthArray,
                                        void *paddingFill) {
  (void)paddingFill; /* there is none */
  if (!cudnn_is(seqDataDesc, CUDNN_A_SERIES) || nbDimsRequested < 0) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(dataType, seqDataDesc->type);
  CUDNN_GIVE(nbDims, seqDataDesc->count);
  int wanted = cudnn_least(nbDimsRequested, seqDataDesc->count);
  cudnn_give(wanted, seqDataDesc->size, dimA);
  cudnn_give(wanted, seqDataDesc->axis, axes);
  CUDNN_GIVE(seqLengthArraySize, seqDataDesc->lengths);
  size_t lengths = seqLengthSizeRequested < seqDataDesc->lengths ? seqLengthSizeRequested : seqDataDesc->lengths;
  cudnn_give((int)lengths, seqDataDesc->length, seqLengthArray);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateAttnDescriptor(cudnnAttnDescriptor_t *attnDesc) {
  if (!attnDesc) return CUDNN_STATUS_BAD_PARAM;
  *attnDesc = cudnn_new(CUDNN_AN_ATTENTION, sizeof **attnDesc);
  return *attnDesc ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

cudnnStatus_t cudnnDestroyAttnDescriptor(cudnnAttnDescriptor_t attnDesc) {
  if (!attnDesc) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(attnDesc, CUDNN_AN_ATTENTION)) return CUDNN_STATUS_BAD_PARAM;
  cudnn_free(attnDesc);
  return CUDNN_STATUS_SUCCESS;
}

static bool is_dropout(cudnnDropoutDescriptor_t given) { return !given || cudnn_is(given, CUDNN_A_DROPOUT); }

/* Queries and keys of a head have to be of the same length. */
static bool is_sensible(const struct cudnn_attention *set) {
  bool good = set->mode <= (MODE_ONE_TO_ONE | MODE_BIASES) && set->heads > 0 && set->scale >= 0 && set->queries > 0 &&
              set->keys > 0 && set->batch > 0 && set->beams > 0 && set->math >= 0 && set->math <= 3 &&
              is_dropout(set->dropout) && is_dropout(set->later);
  for (int i = 0; i < OPERANDS && good; i++) good = set->projected[i] >= 0 && (i == RESULT || set->size[i] > 0);
  return good && multihead_length(set, QUERY) == multihead_length(set, KEY);
}

cudnnStatus_t cudnnSetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned attnMode, int nHeads, double smScaler,
                                     cudnnDataType_t dataType, cudnnDataType_t computePrec, cudnnMathType_t mathType,
                                     cudnnDropoutDescriptor_t attnDropoutDesc, cudnnDropoutDescriptor_t postDropoutDesc,
                                     int qSize, int kSize, int vSize, int qProjSize, int kProjSize, int vProjSize,
                                     int oProjSize, int qoMaxSeqLength, int kvMaxSeqLength, int maxBatchSize,
                                     int maxBeamSize) {
  const struct cudnn_attention set = {
    attnMode, nHeads, smScaler, dataType, computePrec, mathType, attnDropoutDesc, postDropoutDesc, {qSize, kSize, vSize},
    {qProjSize, kProjSize, vProjSize, oProjSize}, qoMaxSeqLength, kvMaxSeqLength, maxBatchSize, maxBeamSize,
  };
  if (!cudnn_is(attnDesc, CUDNN_AN_ATTENTION) || !is_sensible(&set)) return CUDNN_STATUS_BAD_PARAM;
  if (!cudnn_template_type(dataType)) return cudnn_other_type(dataType);
  bool fits = computePrec == dataType || (dataType == CUDNN_DATA_HALF && computePrec == CUDNN_DATA_FLOAT);
  if (!fits) return CUDNN_STATUS_NOT_SUPPORTED;
  double most = (double)maxBatchSize * maxBeamSize * qoMaxSeqLength * nHeads * kvMaxSeqLength;
  for (int i = 0; i < OPERANDS; i++) {
    most += (double)maxBatchSize * maxBeamSize * (qoMaxSeqLength > kvMaxSeqLength ? qoMaxSeqLength : kvMaxSeqLength) *
            nHeads * multihead_length(&set, i);
  }
  if (most > INT32_MAX) return cudnn_reject(false, "attention of more than 2^31 numbers");
  attnDesc->set = set;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned *attnMode, int *nHeads, double *smScaler,
                                     cudnnDataType_t *dataType, cudnnDataType_t *computePrec, cudnnMathType_t *mathType,
                                     cudnnDropoutDescriptor_t *attnDropoutDesc,
                                     cudnnDropoutDescriptor_t *postDropoutDesc, int *qSize, int *kSize, int *vSize,
                                     int *qProjSize, int *kProjSize, int *vProjSize, int *oProjSize, int *qoMaxSeqLength,
                                     int *kvMaxSeqLength, int *maxBatchSize, int *maxBeamSize) {
  if (!cudnn_is(attnDesc, CUDNN_AN_ATTENTION)) return CUDNN_STATUS_BAD_PARAM;
  const struct cudnn_attention *set = &attnDesc->set;
  CUDNN_GIVE(attnMode, set->mode);
  CUDNN_GIVE(nHeads, set->heads);
  CUDNN_GIVE(smScaler, set->scale);
  CUDNN_GIVE(dataType, set->type);
  CUDNN_GIVE(computePrec, set->compute);
  CUDNN_GIVE(mathType, set->math);
  CUDNN_GIVE(attnDropoutDesc, set->dropout);
  CUDNN_GIVE(postDropoutDesc, set->later);
  int *const sizes[] = {qSize, kSize, vSize}, *const projected[] = {qProjSize, kProjSize, vProjSize, oProjSize};
  for (int i = 0; i < OPERANDS - 1; i++) CUDNN_GIVE(sizes[i], set->size[i]);
  for (int i = 0; i < OPERANDS; i++) CUDNN_GIVE(projected[i], set->projected[i]);
  CUDNN_GIVE(qoMaxSeqLength, set->queries);
  CUDNN_GIVE(kvMaxSeqLength, set->keys);
  CUDNN_GIVE(maxBatchSize, set->batch);
  CUDNN_GIVE(maxBeamSize, set->beams);
  return CUDNN_STATUS_SUCCESS;
}

/* ---- weights ---- */

int multihead_length(const struct cudnn_attention *of, int operand) {
  if (of->projected[operand]) return of->projected[operand];
  return operand == RESULT ? of->heads * multihead_length(of, VALUE) : of->size[operand];
}

int multihead_width(const struct cudnn_attention *of, int operand) {
  return multihead_length(of, operand) * (operand != RESULT && of->projected[operand] ? of->heads : 1);
}

static size_t numbers(const struct cudnn_attention *of, int operand, int *rows, int *columns) {
  *rows = of->projected[operand] ? multihead_width(of, operand) : 0;
  *columns = operand == RESULT ? of->heads * multihead_length(of, VALUE) : of->size[operand];
  return (size_t)*rows * (size_t)*columns;
}

struct multihead_matrix multihead_matrix(const struct cudnn_attention *of, int operand) {
  struct multihead_matrix out = {0};
  int rows, columns;
  numbers(of, operand, &out.rows, &out.columns);
  for (int i = 0; i < OPERANDS; i++) {
    size_t count = numbers(of, i, &rows, &columns);
    if (i < operand) out.at += count, out.bias += (size_t)rows;
    out.bias += count; /* biases come after all matrices */
  }
  return out;
}

size_t multihead_weights(const struct cudnn_attention *of) {
  struct multihead_matrix last = multihead_matrix(of, RESULT);
  if (of->mode & MODE_BIASES) return last.bias + (size_t)last.rows;
  return last.at + (size_t)last.rows * (size_t)last.columns;
}

static const struct cudnn_attention *known(cudnnHandle_t handle, cudnnAttnDescriptor_t attnDesc) {
  bool good = cudnn_handle(handle, &handle) && cudnn_is(attnDesc, CUDNN_AN_ATTENTION) && attnDesc->set.heads;
  return good ? &attnDesc->set : NULL;
}

cudnnStatus_t cudnnGetMultiHeadAttnBuffers(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc,
                                           size_t *weightSizeInBytes, size_t *workSpaceSizeInBytes,
                                           size_t *reserveSpaceSizeInBytes) {
  const struct cudnn_attention *of = known(handle, attnDesc);
  if (!of || !weightSizeInBytes || !workSpaceSizeInBytes) return CUDNN_STATUS_BAD_PARAM;
  const struct multihead_layout layout = multihead_layout(of);
  *weightSizeInBytes = multihead_weights(of) * cudnn_type_size(of->type);
  *workSpaceSizeInBytes = layout.all;
  CUDNN_GIVE(reserveSpaceSizeInBytes, layout.kept);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetMultiHeadAttnWeights(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc,
                                           cudnnMultiHeadAttnWeightKind_t wKind, size_t weightSizeInBytes,
                                           const void *weights, cudnnTensorDescriptor_t wDesc, void **wAddr) {
  const struct cudnn_attention *of = known(handle, attnDesc);
  if (!of || wKind < 0 || wKind >= 2 * OPERANDS || !wAddr || !cudnn_is(wDesc, CUDNN_A_TENSOR)) return CUDNN_STATUS_BAD_PARAM;
  size_t size = cudnn_type_size(of->type);
  if (weightSizeInBytes < multihead_weights(of) * size) return CUDNN_STATUS_BAD_PARAM;
  int operand = wKind % OPERANDS, bias = wKind >= OPERANDS, all = operand == RESULT;
  struct multihead_matrix matrix = multihead_matrix(of, operand);
  *wAddr = NULL;
  if (!matrix.rows || (bias && !(of->mode & MODE_BIASES))) return CUDNN_STATUS_SUCCESS; /* there is none */
  *wAddr = (char *)weights + (bias ? matrix.bias : matrix.at) * size;
  int length = of->projected[operand], inner = all ? matrix.columns / of->heads : matrix.columns;
  const int sizes[] = {all && bias ? 1 : of->heads, length, bias ? 1 : inner};
  const int strides[] = {all && !bias ? length * inner : length, 1, bias ? 1 : matrix.rows};
  return cudnn_set_tensor(&wDesc->tensor, of->type, 3, sizes, strides);
}

/* ---- memory ---- */

struct multihead_layout multihead_layout(const struct cudnn_attention *of) {
  enum { ALIGNMENT = 256 };
  size_t size = of->type == CUDNN_DATA_DOUBLE ? sizeof(double) : sizeof(float);
  size_t queries = (size_t)of->batch * (size_t)of->beams * (size_t)of->queries;
  size_t keys = (size_t)of->batch * (size_t)(of->mode & MODE_ONE_TO_ONE ? of->beams : 1) * (size_t)of->keys;
  size_t shares = queries * (size_t)of->heads * (size_t)of->keys, largest = 0;
  size_t heads = queries * (size_t)of->heads * (size_t)multihead_length(of, VALUE);
  size_t result = queries * (size_t)multihead_length(of, RESULT), count[PARTS];
  for (int i = 0; i < OPERANDS - 1; i++) {
    size_t vectors = i == QUERY ? queries : keys;
    count[PART_IN + i] = vectors * (size_t)of->size[i];
    count[PART_OWN + i] = count[PART_TURNED + i] = vectors * (size_t)multihead_width(of, i);
    if (count[PART_IN + i] > largest) largest = count[PART_IN + i];
  }
  size_t weights = multihead_weights(of);
  count[PART_SHARES] = count[PART_SHARES_SLOPE] = shares;
  count[PART_HEADS] = count[PART_HEADS_SLOPE] = heads;
  count[PART_SLOPE] = count[PART_RESULT] = result;
  count[PART_WEIGHTS] = weights;
  count[PART_ROOM] = largest > weights ? largest : weights;
  count[PART_WINDOWS] = 2 * (size_t)of->queries;
  struct multihead_layout out = {.all = 0};
  for (int i = 0; i < PARTS; i++) {
    if (i == KEPT_PARTS) out.kept = out.all;
    out.at[i] = out.all;
    out.all += (count[i] * size + ALIGNMENT - 1) & -(size_t)ALIGNMENT;
  }
  return out;
}
