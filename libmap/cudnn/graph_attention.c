/* Attention: softmax, the mask of a band, and both between two products of matrices. */
#include <math.h>

#include "compose.h"

/* ---- softmax over the last dimension ---- */

/* y = softmax(x); `op` has the other results, and a further number for each row. */
static bool softmax(struct cudnn_program *program, const struct cudnn_backend *op, struct place *x, struct place *y,
                    struct place *stats) {
  struct place *sink = cudnn_input(program, op, OPERATION_SOFTMAX_SINK);
  struct place *largest = cudnn_output(program, op, OPERATION_SOFTMAX_MAX);
  struct place *total = cudnn_output(program, op, OPERATION_SOFTMAX_SUM);
  if (!x || !y) return false;
  if (cudnn_whole(op, OPERATION_SOFTMAX_STATS_LOG2, 0)) {
    return cudnn_cannot(program, "CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2");
  }
  struct place row = *x; /* its sizes */
  row.size[row.count - 1] = 1;
  struct place *most = cudnn_summed(program, SUM_MAX, x, &row);
  if (sink) most = cudnn_of(program, PW_MAX, most, sink, NULL, &row);
  struct place *less = most ? cudnn_of(program, PW_SUB_FINITE, x, most, NULL, x) : NULL;
  struct place *powers = cudnn_of(program, PW_EXP, less, NULL, NULL, x);
  struct place *all = cudnn_summed(program, SUM_ADD, powers, &row);
  if (all && sink) {
    struct place *rest = cudnn_of(program, PW_SUB_FINITE, sink, most, NULL, &row);
    rest = cudnn_of(program, PW_EXP, rest, NULL, NULL, &row);
    all = rest ? cudnn_of(program, PW_ADD, all, rest, NULL, &row) : NULL;
  }
  if (!all || !cudnn_hand(program, most, largest) || !cudnn_hand(program, all, total)) return false;
  if (stats) {
    struct place *log = cudnn_of(program, PW_LOG, all, NULL, NULL, &row);
    if (!log || !cudnn_apply(program, PW_ADD, PRECISION, most, log, NULL, stats, NULL)) return false;
  }
  return cudnn_apply(program, PW_SHARE, PRECISION, powers, all, NULL, y, NULL);
}

bool cudnn_add_softmax(struct cudnn_program *program, const struct cudnn_backend *op) {
  struct place *x = cudnn_input(program, op, OPERATION_SOFTMAX_X), *y = cudnn_output(program, op, OPERATION_SOFTMAX_Y);
  return softmax(program, op, x, y, cudnn_output(program, op, OPERATION_SOFTMAX_STATS));
}

/* ---- the mask: numbers left of one diagonal, or right of another, are replaced ---- */

/* index + plus - minus + shift, of which all but the first may be missing. */
static struct place *diagonal(struct cudnn_program *program, struct place *index, struct place *plus, struct place *minus,
                              struct place *shift) {
  struct { int mode; struct place *by; } terms[] = {{PW_ADD, plus}, {PW_SUB, minus}, {PW_ADD, shift}};
  for (int i = 0; i < 3 && index; i++) {
    if (!terms[i].by) continue;
    struct place size = *index;
    for (int d = 0; d < size.count && !terms[i].by->value; d++) {
      if (size.size[d] == 1) size.size[d] = terms[i].by->size[d];
    }
    struct place *next = cudnn_between(program, CUDNN_DATA_INT32, size.count, size.size);
    index = next && cudnn_apply(program, terms[i].mode, CUDNN_DATA_INT32, index, terms[i].by, NULL, next, NULL) ? next
                                                                                                             : NULL;
  }
  return index;
}

bool cudnn_add_mask(struct cudnn_program *program, const struct cudnn_backend *op) {
  struct place *x = cudnn_input(program, op, OPERATION_MASK_X), *instead = cudnn_input(program, op, OPERATION_MASK_B);
  struct place *keys = cudnn_input(program, op, OPERATION_MASK_SEQ_LEN_KV);
  struct place *queries = cudnn_input(program, op, OPERATION_MASK_SEQ_LEN_Q);
  struct place *left = cudnn_input(program, op, OPERATION_MASK_LEFT_BOUND);
  struct place *right = cudnn_input(program, op, OPERATION_MASK_SHIFT_RIGHT_BOUND);
  struct place *y = cudnn_output(program, op, OPERATION_MASK_Y);
  int64_t comparison = cudnn_whole(op, OPERATION_MASK_COMPARISON_MODE, -1);
  if (!x || !instead || !y || x->count < 2) return false;
  if (cudnn_attribute(op, OPERATION_MASK_CU_SEQ_LEN_KV) || cudnn_attribute(op, OPERATION_MASK_CU_SEQ_LEN_Q)) {
    return cudnn_cannot(program, "CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_QDESC and _KVDESC");
  }
  int last = x->count - 1;
  struct place *row = cudnn_index(program, x->count, last - 1, x->size[last - 1]);
  struct place *column = cudnn_index(program, x->count, last, x->size[last]);
  if (left) column = diagonal(program, column, queries, keys, left);
  else row = diagonal(program, row, keys, queries, right);
  struct place *inside = cudnn_between(program, CUDNN_DATA_BOOLEAN, x->count, x->size);
  if (!row || !column || !inside) return false;
  return cudnn_apply(program, comparison, CUDNN_DATA_INT32, left ? column : row, left ? row : column, NULL, inside, NULL) &&
         cudnn_apply(program, PW_BINARY_SELECT, PRECISION, x, instead, inside, y, NULL);
}

/* ---- the whole: softmax(subgraph(scale Q K^T)) V ---- */

static bool is_plain(struct cudnn_program *program, const struct cudnn_backend *op) {
  for (int name = ATTENTION_Q; name < ATTENTION_END; name++) {
    bool known = name <= ATTENTION_SCALE || name == ATTENTION_UNFUSE_FMA ||
                 (name >= ATTENTION_SEQ_LEN_Q && name <= ATTENTION_SOFTMAX);
    if (!known && cudnn_attribute(op, name)) {
      return cudnn_cannot(program, "attention with blocks, pages, dropout, cumulated lengths or 8-bit numbers "
                                   "(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR)");
    }
  }
  return true;
}

/* What the program wants to be done with the products. */
static struct place *modified(struct cudnn_program *program, const struct cudnn_backend *op, struct place *scores) {
  const struct cudnn_backend *graph = cudnn_part(op, ATTENTION_SUBGRAPH);
  const struct cudnn_attribute *ops = graph ? cudnn_attribute(graph, OPERATIONGRAPH_OPS) : NULL;
  if (!graph) return scores;
  scores->id = cudnn_whole(op, ATTENTION_SUBGRAPH_INPUT, scores->id);
  if (!ops || ops->type != TYPE_BACKEND_DESCRIPTOR || !cudnn_add_all(program, ops)) return NULL;
  struct place *found = cudnn_found(program, cudnn_whole(op, ATTENTION_SUBGRAPH_OUTPUT, 0));
  return found && found->made ? found : NULL;
}

/* Columns from a length on count for nothing. */
static struct place *ended(struct cudnn_program *program, struct place *scores, struct place *length) {
  static const double none = -INFINITY;
  int last = scores->count - 1;
  struct place *index = cudnn_index(program, scores->count, last, scores->size[last]);
  struct place *inside = cudnn_between(program, CUDNN_DATA_BOOLEAN, scores->count, scores->size);
  struct place *instead = cudnn_constant(program, scores->count, &none);
  if (!instead || !inside || !cudnn_apply(program, PW_LESS, CUDNN_DATA_INT32, index, length, NULL, inside, NULL)) return NULL;
  return cudnn_of(program, PW_BINARY_SELECT, scores, instead, inside, scores);
}

bool cudnn_add_attention(struct cudnn_program *program, const struct cudnn_backend *op) {
  struct place *q = cudnn_input(program, op, ATTENTION_Q), *k = cudnn_input(program, op, ATTENTION_K);
  struct place *v = cudnn_input(program, op, ATTENTION_V), *scale = cudnn_input(program, op, ATTENTION_SCALE);
  struct place *queries = cudnn_input(program, op, ATTENTION_SEQ_LEN_Q);
  struct place *keys = cudnn_input(program, op, ATTENTION_SEQ_LEN_KV);
  struct place *o = cudnn_output(program, op, ATTENTION_O), *stats = cudnn_output(program, op, ATTENTION_STATS);
  const struct cudnn_backend *how = cudnn_part(op, ATTENTION_SOFTMAX);
  if (how) stats = cudnn_output(program, how, OPERATION_SOFTMAX_STATS);
  if (!is_plain(program, op) || !q || !k || !v || !o || q->count != 4 || k->count != 4) return false;
  struct place *turned = cudnn_turned(program, k);
  if (!turned) return cudnn_cannot(program, "attention whose keys are made by the graph");
  const int64_t size[] = {q->size[0], q->size[1], q->size[2], k->size[2]};
  struct place *scores = cudnn_between(program, CUDNN_DATA_FLOAT, 4, size);
  if (!scores || !cudnn_multiply(program, q, turned, scores)) return false;
  if (scale) scores = cudnn_of(program, PW_MUL, scores, scale, NULL, scores);
  if (scores) scores = modified(program, op, scores);
  if (scores && keys) scores = ended(program, scores, keys), v = cudnn_cut(program, v, 2, keys, NULL);
  struct place *shares = cudnn_between(program, q->type, 4, size), *into = queries ? cudnn_like(program, o) : o;
  if (!scores || !v || !shares || !into || !softmax(program, how ? how : op, scores, shares, stats)) return false;
  return cudnn_multiply(program, shares, v, into) && (into == o || cudnn_cut(program, into, 2, queries, o));
}
