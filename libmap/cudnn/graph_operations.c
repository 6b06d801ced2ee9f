/* Operations of a graph on single numbers, sums of them, and what only moves them. */
#include <string.h>

#include "program.h"

/* Functions of which cuDNN names what is derived: from 200 on. */
enum { DERIVATIVES = 200, COMPARISONS = 300 };

bool cudnn_add_pointwise(struct cudnn_program *program, const struct cudnn_backend *op) {
  const struct cudnn_backend *desc = cudnn_part(op, OPERATION_PW_DESCRIPTOR);
  int64_t mode = cudnn_whole(desc, POINTWISE_MODE, -1);
  bool back = mode >= DERIVATIVES && mode < COMPARISONS;
  struct place *x = cudnn_input(program, op, back ? OPERATION_PW_DY : OPERATION_PW_X);
  struct place *b = cudnn_input(program, op, back ? OPERATION_PW_X : OPERATION_PW_B);
  struct place *t = cudnn_input(program, op, OPERATION_PW_T);
  struct place *y = cudnn_output(program, op, back ? OPERATION_PW_DX : OPERATION_PW_Y);
  struct cudnn_numbers numbers = {
    .factor = {cudnn_number(op, OPERATION_PW_ALPHA1, 1), cudnn_number(op, OPERATION_PW_ALPHA2, 1)},
  };
  if (!desc || !x || !y) return false;
  if (mode == PW_GEN_INDEX) {
    int axis = (int)cudnn_whole(desc, POINTWISE_AXIS, -1);
    if (axis < 0 || axis >= y->count) return false;
    x = cudnn_index(program, y->count, axis, y->size[axis]), b = t = NULL;
    numbers.factor[0] = 1;
  }
  const struct cudnn_function *function = cudnn_function(mode, CUDNN_F32);
  for (int i = 0; function && i < 3 && function->setting[i].name; i++) {
    numbers.setting[i] = cudnn_number(desc, function->setting[i].name, function->setting[i].otherwise);
  }
  if (function && function->inputs < 3) t = NULL;
  if (function && function->inputs < 2) b = NULL;
  return cudnn_apply(program, mode, (int)cudnn_whole(desc, POINTWISE_PRECISION, -1), x, b, t, y, &numbers);
}

bool cudnn_add_reduction(struct cudnn_program *program, const struct cudnn_backend *op) {
  const struct cudnn_backend *desc = cudnn_part(op, OPERATION_REDUCTION_DESC);
  struct place *x = cudnn_input(program, op, OPERATION_REDUCTION_X);
  struct place *y = cudnn_output(program, op, OPERATION_REDUCTION_Y);
  if (!desc || !x || !y) return false;
  if (cudnn_attribute(op, OPERATION_REDUCTION_DIMS)) return cudnn_cannot(program, "CUDNN_ATTR_OPERATION_REDUCTION_DIMS");
  return cudnn_reduce(program, (int)cudnn_whole(desc, REDUCTION_OPERATOR, -1), x, y);
}

/* ---- what only moves numbers ---- */

static bool move(struct cudnn_program *program, struct place *x, struct place *y, const struct cudnn_walk *walk) {
  struct place *const operand[CUDNN_OPERANDS] = {[CUDNN_FIRST] = x, [CUDNN_RESULT] = y};
  return cudnn_walk(program, PW_IDENTITY, -1, operand, walk, NULL);
}

/* y has the memory of x in another shape; or, by their order row after row, the numbers. */
static bool reshape(struct cudnn_program *program, const struct cudnn_backend *op, struct place *x, struct place *y) {
  enum { VIEW, LOGICAL };
  struct cudnn_walk walk = {.results = y->count};
  memcpy(walk.size, y->size, sizeof y->size);
  memcpy(walk.stride[CUDNN_RESULT], y->stride, sizeof y->stride);
  if (cudnn_elements(x) != cudnn_elements(y) || x->value) return false;
  if (cudnn_whole(op, OPERATION_RESHAPE_MODE, VIEW) == VIEW) {
    memcpy(walk.stride[CUDNN_FIRST], y->stride, sizeof y->stride);
    return move(program, x, y, &walk);
  }
  struct place *rows = cudnn_between(program, x->type, x->count, x->size);
  if (!rows || !cudnn_copy(program, x, rows)) return false;
  int64_t stride = 1;
  for (int d = y->count - 1; d >= 0; stride *= y->size[d--]) walk.stride[CUDNN_FIRST][d] = stride;
  return move(program, rows, y, &walk);
}

static bool transpose(struct cudnn_program *program, const struct cudnn_backend *op, struct place *x, struct place *y) {
  int64_t from[CUDNN_DIMENSIONS];
  struct cudnn_walk walk = {.results = y->count};
  if (cudnn_integers(op, OPERATION_TRANSPOSE_PERMUTATION, from) != y->count || x->count != y->count) return false;
  for (int d = 0; d < y->count; d++) {
    if (from[d] < 0 || from[d] >= x->count || x->size[from[d]] != y->size[d]) return false;
    walk.size[d] = y->size[d], walk.stride[CUDNN_RESULT][d] = y->stride[d];
    walk.stride[CUDNN_FIRST][d] = x->stride[from[d]];
  }
  return move(program, x, y, &walk);
}

static bool slice(struct cudnn_program *program, const struct cudnn_backend *op, struct place *x, struct place *y) {
  int64_t start[CUDNN_DIMENSIONS], limit[CUDNN_DIMENSIONS], step[CUDNN_DIMENSIONS];
  struct cudnn_walk walk = {.results = y->count};
  if (cudnn_integers(op, OPERATION_SLICE_START, start) != y->count || x->count != y->count ||
      cudnn_integers(op, OPERATION_SLICE_LIMIT, limit) != y->count) {
    return false;
  }
  if (cudnn_integers(op, OPERATION_SLICE_STRIDES, step) != y->count) {
    for (int d = 0; d < y->count; d++) step[d] = 1;
  }
  for (int d = 0; d < y->count; d++) {
    if (start[d] < 0 || limit[d] > x->size[d] || step[d] < 1 || limit[d] <= start[d] ||
        (limit[d] - start[d] + step[d] - 1) / step[d] != y->size[d]) {
      return false;
    }
    walk.size[d] = y->size[d], walk.stride[CUDNN_RESULT][d] = y->stride[d];
    walk.stride[CUDNN_FIRST][d] = x->stride[d] * step[d];
    walk.skip[CUDNN_FIRST] += x->stride[d] * start[d];
  }
  return move(program, x, y, &walk);
}

static bool concatenate(struct cudnn_program *program, const struct cudnn_backend *op) {
  const struct cudnn_attribute *inputs = cudnn_attribute(op, OPERATION_CONCAT_INPUTS);
  int64_t axis = cudnn_whole(op, OPERATION_CONCAT_AXIS, -1), at = 0;
  if (cudnn_whole(op, OPERATION_CONCAT_INPLACE_INDEX, -1) >= 0) {
    return cudnn_cannot(program, "CUDNN_ATTR_OPERATION_CONCAT_INPLACE_INDEX");
  }
  struct place *y = cudnn_output(program, op, OPERATION_CONCAT_OUTPUT);
  if (!inputs || inputs->type != TYPE_BACKEND_DESCRIPTOR || !y || axis < 0 || axis >= y->count) return false;
  for (int64_t i = 0; i < inputs->count; i++) {
    struct place *x = cudnn_input_of(program, ((struct cudnn_backend *const *)inputs->values)[i]);
    if (!x || x->count != y->count || at + x->size[axis] > y->size[axis]) return false;
    struct cudnn_walk walk = {.results = y->count};
    for (int d = 0; d < y->count; d++) {
      if (d != axis && x->size[d] != y->size[d]) return false;
      walk.size[d] = x->size[d];
      walk.stride[CUDNN_FIRST][d] = x->stride[d], walk.stride[CUDNN_RESULT][d] = y->stride[d];
    }
    walk.skip[CUDNN_RESULT] = at * y->stride[axis];
    if (!move(program, x, y, &walk)) return false;
    at += x->size[axis];
  }
  return at == y->size[axis];
}

bool cudnn_add_movement(struct cudnn_program *program, const struct cudnn_backend *op) {
  static const struct { int kind, x, y; bool (*add)(struct cudnn_program *, const struct cudnn_backend *, struct place *,
                                                     struct place *); } rows[] = {
    {BACKEND_OPERATION_RESHAPE, OPERATION_RESHAPE_X, OPERATION_RESHAPE_Y, reshape},
    {BACKEND_OPERATION_TRANSPOSE, OPERATION_TRANSPOSE_X, OPERATION_TRANSPOSE_Y, transpose},
    {BACKEND_OPERATION_SLICE, OPERATION_SLICE_X, OPERATION_SLICE_Y, slice},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].kind != (int)op->kind) continue;
    struct place *x = cudnn_input(program, op, rows[i].x), *y = cudnn_output(program, op, rows[i].y);
    return x && y && (rows[i].add(program, op, x, y) || cudnn_cannot(program, "a reshape, transposition or slice whose "
                                                                              "sizes do not fit"));
  }
  return concatenate(program, op);
}
