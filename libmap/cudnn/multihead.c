/* The passes of multi-head attention: projections and products of matrices are rocBLAS's, for all vectors or for the
 * heads of a sequence; the rest is kernels (multihead_ptx.c). All is computed in f32, or in f64. */
#include <string.h>

#include "compute.h"
#include "multihead_pass.h"
#include "rocblas_handle.h"

/* ---- projections ---- */

static struct factor plain(const void *at, int lead) { return (struct factor){at, PLAIN, lead, 0}; }

/* Weights as they are computed with. */
static struct factor weights(const struct pass *pass, int which, int turned) {
  struct multihead_matrix matrix = multihead_matrix(pass->of, which);
  const char *at = multihead_place(pass, PART_WEIGHTS) + matrix.at * multihead_number(pass);
  return (struct factor){at, turned, matrix.rows, 0};
}

static uint64_t bias(const struct pass *pass, int which) {
  struct multihead_matrix matrix = multihead_matrix(pass->of, which);
  bool there = matrix.rows && (pass->of->mode & MODE_BIASES);
  return there ? (uintptr_t)pass->weights + matrix.bias * cudnn_type_size(pass->of->type) : 0;
}

static void take_weights(struct pass *pass) {
  struct multihead_arguments a = multihead_list(multihead_weights(pass->of));
  a.from = (uintptr_t)pass->weights, a.to = (uintptr_t)multihead_place(pass, PART_WEIGHTS);
  multihead_launch(pass, KERNEL_TAKE, &a, a.count);
}

static void take(struct pass *pass, int which, const void *from, const int *lengths, char *to) {
  const struct cudnnSeqDataDescriptor_t_st *of = pass->sequence[which];
  struct multihead_arguments a = multihead_walk(of, of->size[VECTOR], lengths);
  a.from = (uintptr_t)from, a.to = (uintptr_t)to;
  multihead_launch(pass, KERNEL_TAKE, &a, a.count);
}

/* Queries, keys or values as heads see them, with zeros after the ends. */
static void project(struct pass *pass, int which, const void *from, const int *lengths) {
  const struct cudnnSeqDataDescriptor_t_st *of = pass->sequence[which];
  int width = multihead_width(pass->of, which), size = of->size[VECTOR];
  take(pass, which, from, lengths, multihead_place(pass, PART_IN + which));
  if (!pass->of->projected[which]) return;
  char *to = multihead_place(pass, PART_OWN + which);
  multihead_multiply(pass, width, multihead_vectors(of), size, weights(pass, which, PLAIN),
                     plain(multihead_place(pass, PART_IN + which), size), 0, to, width, 0, 1);
  struct multihead_arguments a = multihead_walk(of, width, lengths);
  a.from = a.to = (uintptr_t)to, a.bias = bias(pass, which);
  if (a.bias) multihead_launch(pass, KERNEL_AGAIN, &a, a.count);
}

/* ---- arguments ---- */

static bool is_series(cudnnSeqDataDescriptor_t given, const struct cudnn_attention *of, int operand, int most) {
  if (!cudnn_is(given, CUDNN_A_SERIES) || !given->count || given->type != of->type) return false;
  int length = operand == RESULT ? multihead_length(of, RESULT) : of->size[operand];
  return given->size[VECTOR] == length && given->size[TIME] <= most && given->size[BATCH] <= of->batch &&
         given->size[BEAM] <= of->beams;
}

/* Whether the sequences are of one call. */
static bool fit(const struct pass *pass) {
  const struct cudnnSeqDataDescriptor_t_st *const *s = pass->sequence;
  bool one = pass->of->mode & MODE_ONE_TO_ONE;
  int beams = one ? s[QUERY]->size[BEAM] : 1;
  bool good = s[KEY]->size[TIME] == s[VALUE]->size[TIME];
  good &= s[KEY]->size[BEAM] == beams && s[VALUE]->size[BEAM] == beams;
  for (int i = KEY; i < OPERANDS; i++) good &= s[i]->size[BATCH] == s[QUERY]->size[BATCH];
  return good && s[RESULT]->size[TIME] == s[QUERY]->size[TIME] && s[RESULT]->size[BEAM] == s[QUERY]->size[BEAM];
}

static bool one_order(cudnnSeqDataDescriptor_t one, cudnnSeqDataDescriptor_t other) {
  return !memcmp(one->axis, other->axis, sizeof one->axis);
}

/* The program may have destroyed it. */
static bool is_used(cudnnDropoutDescriptor_t dropout) { return cudnn_is(dropout, CUDNN_A_DROPOUT) && dropout->dropout > 0; }

struct spaces { size_t weights, work, reserve; const void *weights_at; void *work_at, *reserve_at; };

static cudnnStatus_t begin(struct pass *pass, cudnnHandle_t handle, cudnnAttnDescriptor_t desc,
                           cudnnSeqDataDescriptor_t q, cudnnSeqDataDescriptor_t k, cudnnSeqDataDescriptor_t v,
                           cudnnSeqDataDescriptor_t o, const struct spaces *spaces) {
  if (!cudnn_handle(handle, &handle) || !cudnn_is(desc, CUDNN_AN_ATTENTION) || !desc->set.heads) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const struct cudnn_attention *of = &desc->set;
  if (!is_series(q, of, QUERY, of->queries) || !is_series(k, of, KEY, of->keys) || !is_series(v, of, VALUE, of->keys) ||
      !is_series(o, of, RESULT, of->queries)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *pass = (struct pass){handle, of, multihead_layout(of), spaces->reserve_at, spaces->work_at, {q, k, v, o},
                        spaces->weights_at, CUDNN_STATUS_SUCCESS};
  size_t weights = multihead_weights(of);
  if (!fit(pass) || !spaces->work_at || spaces->work < pass->layout.all || (weights && !spaces->weights_at) ||
      spaces->weights < weights * cudnn_type_size(of->type) ||
      (spaces->reserve_at && spaces->reserve < pass->layout.kept)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  bool drops = is_used(of->dropout) || is_used(of->later);
  if (drops && spaces->reserve_at) return cudnn_reject(false, "dropout in multi-head attention");
  /* Heads lie in the order of queries, which has to be that of results. */
  if (!one_order(q, o)) return cudnn_reject(false, "attention with results in another order of axes than queries");
  hipStream_t stream;
  if (!cudnn_blas(handle)) return CUDNN_STATUS_NOT_SUPPORTED;
  bool ready = !libmap_driver.stream(handle->stream, &stream) && !rocblas.set_stream(handle->rocblas, stream);
  return ready ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

/* ---- the passes ---- */

cudnnStatus_t cudnnMultiHeadAttnForward(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc, int currIdx,
                                        const int *loWinIdx, const int *hiWinIdx, const int *devSeqLengthsQO,
                                        const int *devSeqLengthsKV, const cudnnSeqDataDescriptor_t qDesc,
                                        const void *queries, const void *residuals, const cudnnSeqDataDescriptor_t kDesc,
                                        const void *keys, const cudnnSeqDataDescriptor_t vDesc, const void *values,
                                        const cudnnSeqDataDescriptor_t oDesc, void *out, size_t weightSizeInBytes,
                                        const void *weights_at, size_t workSpaceSizeInBytes, void *workSpace,
                                        size_t reserveSpaceSizeInBytes, void *reserveSpace) {
  struct pass pass;
  const struct spaces spaces = {weightSizeInBytes, workSpaceSizeInBytes, reserveSpaceSizeInBytes, weights_at, workSpace,
                                reserveSpace};
  cudnnStatus_t status = begin(&pass, handle, attnDesc, qDesc, kDesc, vDesc, oDesc, &spaces);
  if (status) return status;
  if (!loWinIdx || !hiWinIdx || !devSeqLengthsQO || !devSeqLengthsKV || !queries || !keys || !values || !out ||
      currIdx >= qDesc->size[TIME] || (currIdx >= 0 && reserveSpace)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!reserveSpace) pass.kept = workSpace;
  const struct windows windows = {loWinIdx, hiWinIdx, devSeqLengthsQO, devSeqLengthsKV};
  take_weights(&pass);
  project(&pass, QUERY, queries, devSeqLengthsQO);
  project(&pass, KEY, keys, devSeqLengthsKV);
  project(&pass, VALUE, values, devSeqLengthsKV);
  multihead_each(&pass, multihead_products);
  char *shares = multihead_place(&pass, PART_SHARES);
  multihead_rows(&pass, KERNEL_SHARE, &windows, shares, shares);
  multihead_each(&pass, multihead_mixtures);
  char *result = multihead_place(&pass, PART_HEADS);
  int length = multihead_length(pass.of, RESULT), wide = pass.of->heads * multihead_length(pass.of, VALUE);
  if (pass.of->projected[RESULT]) {
    multihead_multiply(&pass, length, multihead_vectors(oDesc), wide, weights(&pass, RESULT, PLAIN), plain(result, wide),
                       0, multihead_place(&pass, PART_RESULT), length, 0, 1);
    result = multihead_place(&pass, PART_RESULT);
  }
  struct multihead_arguments a = multihead_walk(oDesc, length, devSeqLengthsQO);
  a.from = (uintptr_t)result, a.to = (uintptr_t)out, a.bias = bias(&pass, RESULT), a.more = (uintptr_t)residuals;
  a.only = (uint32_t)(currIdx < 0 ? ALL_TIMES : currIdx);
  multihead_launch(&pass, KERNEL_GIVE, &a, a.count);
  return pass.status;
}

/* The gradient of an input, from that of its projection. */
static void give_back(struct pass *pass, int which, const int *lengths, void *to) {
  const struct cudnnSeqDataDescriptor_t_st *of = pass->sequence[which];
  char *from = multihead_place(pass, PART_TURNED + which);
  int size = of->size[VECTOR], width = multihead_width(pass->of, which);
  if (pass->of->projected[which]) {
    multihead_multiply(pass, size, multihead_vectors(of), width, weights(pass, which, TURNED), plain(from, width), 0,
                       multihead_place(pass, PART_ROOM), size, 0, 1);
    from = multihead_place(pass, PART_ROOM);
  }
  struct multihead_arguments a = multihead_walk(of, size, lengths);
  a.from = (uintptr_t)from, a.to = (uintptr_t)to;
  multihead_launch(pass, KERNEL_GIVE, &a, a.count);
}

cudnnStatus_t cudnnMultiHeadAttnBackwardData(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc,
                                             const int *loWinIdx, const int *hiWinIdx, const int *devSeqLengthsDQDO,
                                             const int *devSeqLengthsDKDV, const cudnnSeqDataDescriptor_t doDesc,
                                             const void *dout, const cudnnSeqDataDescriptor_t dqDesc, void *dqueries,
                                             const void *queries, const cudnnSeqDataDescriptor_t dkDesc, void *dkeys,
                                             const void *keys, const cudnnSeqDataDescriptor_t dvDesc, void *dvalues,
                                             const void *values, size_t weightSizeInBytes, const void *weights_at,
                                             size_t workSpaceSizeInBytes, void *workSpace,
                                             size_t reserveSpaceSizeInBytes, void *reserveSpace) {
  struct pass pass;
  const struct spaces spaces = {weightSizeInBytes, workSpaceSizeInBytes, reserveSpaceSizeInBytes, weights_at, workSpace,
                                reserveSpace};
  cudnnStatus_t status = begin(&pass, handle, attnDesc, dqDesc, dkDesc, dvDesc, doDesc, &spaces);
  if (status) return status;
  if (!loWinIdx || !hiWinIdx || !devSeqLengthsDQDO || !devSeqLengthsDKDV || !dout || !dqueries || !queries || !dkeys ||
      !keys || !dvalues || !values || !reserveSpace) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const struct windows windows = {loWinIdx, hiWinIdx, devSeqLengthsDQDO, devSeqLengthsDKDV};
  int length = multihead_length(pass.of, RESULT), wide = pass.of->heads * multihead_length(pass.of, VALUE);
  take_weights(&pass);
  take(&pass, RESULT, dout, devSeqLengthsDQDO, multihead_place(&pass, PART_SLOPE));
  if (pass.of->projected[RESULT]) {
    multihead_multiply(&pass, wide, multihead_vectors(doDesc), length, weights(&pass, RESULT, TURNED),
                       plain(multihead_place(&pass, PART_SLOPE), length), 0,
                       multihead_place(&pass, PART_HEADS_SLOPE), wide, 0, 1);
  }
  multihead_each(&pass, multihead_mixtures_back);
  multihead_rows(&pass, KERNEL_SHARE_BACK, &windows, multihead_place(&pass, PART_SHARES),
                 multihead_place(&pass, PART_SHARES_SLOPE));
  multihead_each(&pass, multihead_products_back);
  give_back(&pass, QUERY, devSeqLengthsDQDO, dqueries);
  give_back(&pass, KEY, devSeqLengthsDKDV, dkeys);
  give_back(&pass, VALUE, devSeqLengthsDKDV, dvalues);
  return pass.status;
}

/* Gradients of a matrix and its bias: of what it makes, times what it is given; both have zeros after the ends. */
static void weigh(struct pass *pass, int which, const char *made, const char *given, char *to) {
  struct multihead_matrix matrix = multihead_matrix(pass->of, which);
  int count = multihead_vectors(pass->sequence[which]);
  if (!matrix.rows) return;
  multihead_multiply(pass, matrix.rows, matrix.columns, count, plain(made, matrix.rows),
                     (struct factor){given, TURNED, matrix.columns, 0}, 0, to + matrix.at * multihead_number(pass),
                     matrix.rows, 0, 1);
  if (!(pass->of->mode & MODE_BIASES)) return;
  struct multihead_arguments a = multihead_list((size_t)count);
  a.width = (uint32_t)matrix.rows;
  a.from = (uintptr_t)made, a.to = (uintptr_t)(to + matrix.bias * multihead_number(pass));
  multihead_launch(pass, KERNEL_SUM, &a, a.width);
}

cudnnStatus_t cudnnMultiHeadAttnBackwardWeights(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc,
                                                cudnnWgradMode_t addGrad, const cudnnSeqDataDescriptor_t qDesc,
                                                const void *queries, const cudnnSeqDataDescriptor_t kDesc,
                                                const void *keys, const cudnnSeqDataDescriptor_t vDesc,
                                                const void *values, const cudnnSeqDataDescriptor_t doDesc,
                                                const void *dout, size_t weightSizeInBytes, const void *weights_at,
                                                void *dweights, size_t workSpaceSizeInBytes, void *workSpace,
                                                size_t reserveSpaceSizeInBytes, void *reserveSpace) {
  struct pass pass;
  const struct spaces spaces = {weightSizeInBytes, workSpaceSizeInBytes, reserveSpaceSizeInBytes, weights_at, workSpace,
                                reserveSpace};
  enum { ADD, SET };
  cudnnStatus_t status = begin(&pass, handle, attnDesc, qDesc, kDesc, vDesc, doDesc, &spaces);
  if (status) return status;
  if ((addGrad != ADD && addGrad != SET) || !queries || !keys || !values || !dout || !dweights || !reserveSpace) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  char *to = multihead_place(&pass, PART_ROOM);
  for (int i = 0; i < OPERANDS - 1; i++) {
    weigh(&pass, i, multihead_place(&pass, PART_TURNED + i), multihead_place(&pass, PART_IN + i), to);
  }
  weigh(&pass, RESULT, multihead_place(&pass, PART_SLOPE), multihead_place(&pass, PART_HEADS), to);
  struct multihead_arguments a = multihead_list(multihead_weights(pass.of));
  a.from = (uintptr_t)to, a.to = (uintptr_t)dweights, a.keep = addGrad == ADD;
  multihead_launch(&pass, KERNEL_GIVE, &a, a.count);
  return pass.status;
}
