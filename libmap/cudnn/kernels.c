/* Steps that are kernels: how they walk through tensors, and their launch. */
#include "kernels.h"
#include "ptx.h"

#include <stdlib.h>
#include <string.h>

/* Two dimensions that every tensor crosses in one stride are one. Dimensions of size 1 are none. */
static int merge(struct cudnn_walk *walk, int from, int count, int to) {
  int first = to;
  for (int d = from; d < from + count; d++) {
    if (walk->size[d] == 1) continue;
    bool joins = to > first;
    for (int k = 0; k < CUDNN_OPERANDS && joins; k++) {
      joins = walk->stride[k][to - 1] == walk->stride[k][d] * walk->size[d];
    }
    if (joins) to--;
    walk->size[to] = joins ? walk->size[to] * walk->size[d] : walk->size[d];
    for (int k = 0; k < CUDNN_OPERANDS; k++) walk->stride[k][to] = walk->stride[k][d];
    to++;
  }
  return to - first;
}

static int64_t product(const struct cudnn_walk *walk, int from, int count) {
  int64_t all = 1;
  for (int d = from; d < from + count; d++) all *= walk->size[d];
  return all;
}

static miopenStatus_t launch(const struct step *step, const struct cudnn_run *run) {
  const struct cudnn_walk *walk = &step->kernel.walk;
  struct cudnn_arguments a = {.results = (uint32_t)product(walk, 0, walk->results),
                              .sums = (uint32_t)product(walk, walk->results, walk->sums)};
  a.count = a.sums;
  memcpy(a.factor, step->kernel.numbers.factor, sizeof a.factor);
  memcpy(a.setting, step->kernel.numbers.setting, sizeof a.setting);
  memcpy(a.stride, walk->stride, sizeof a.stride);
  for (int d = 0; d < walk->results + walk->sums; d++) a.size[d] = (uint32_t)walk->size[d];
  for (int k = 0; k < CUDNN_OPERANDS; k++) {
    const struct place *place = step->operand[k];
    if (!place || place->index) continue;
    const char *at = place->constant ? place->constant : cudnn_data(place, run);
    if (!at) return miopenStatusBadParm;
    if (place->value) a.value[k] = cudnn_number_at(place->type, at);
    else a.pointer[k] = (uintptr_t)at + (uintptr_t)walk->skip[k] * cudnn_type_size(place->type);
  }
  unsigned threads = step->kernel.threads;
  unsigned blocks = walk->sums ? a.results : (a.results + threads - 1) / threads;
  void *parameters[] = {&a};
  int failed = libmap_driver.launch(step->kernel.function, blocks, 1, 1, threads, 1, 1, 0, run->handle->stream, parameters,
                                    NULL);
  return failed ? miopenStatusUnknownError : miopenStatusSuccess;
}

/* A kernel with this text as the next step. */
static bool add(struct cudnn_program *program, struct cudnn_text *text, struct place *const *operand,
                const struct cudnn_walk *walk, const struct cudnn_numbers *numbers) {
  struct step *step = cudnn_step(program);
  if (!step) return false;
  step->kernel.walk = *walk, step->kernel.numbers = *numbers;
  struct cudnn_walk *own = &step->kernel.walk;
  if (product(own, 0, own->results) > INT32_MAX || product(own, own->results, own->sums) > INT32_MAX) {
    return cudnn_cannot(program, "tensors of more than 2^31 numbers");
  }
  text->results = merge(own, 0, own->results, 0);
  text->sums = merge(own, walk->results, own->sums, text->results);
  own->results = text->results, own->sums = text->sums;
  if (text->sum && !text->sums) own->sums = text->sums = 1, own->size[text->results] = 1; /* of one number */
  text->threads = text->sum && product(own, own->results, own->sums) <= 64 ? 64 : CUDNN_THREADS;
  step->kernel.threads = text->threads;
  for (int k = 0; k < CUDNN_OPERANDS; k++) text->operand[k] = step->operand[k] = operand[k];
  char *ptx = cudnn_ptx(text);
  step->kernel.function = ptx ? ptx_kernel(ptx, "graph") : NULL;
  step->run = launch;
  return step->kernel.function || cudnn_cannot(program, "a kernel that the driver rejects");
}

static bool is_whole(const struct place *place) {
  return place->index || place->type == CUDNN_DATA_INT8 || place->type == CUDNN_DATA_UINT8 ||
         place->type == CUDNN_DATA_INT32 || place->type == CUDNN_DATA_INT64 || place->type == CUDNN_DATA_BOOLEAN ||
         place->type == CUDNN_DATA_BYTE_BOOLEAN;
}

/* Numbers of a bit each are not in memory that programs see. */
static bool has_types(struct cudnn_program *program, struct place *const *operand) {
  for (int k = 0; k < CUDNN_OPERANDS; k++) {
    const struct place *place = operand[k];
    if (place && !place->between && place->type == CUDNN_DATA_BOOLEAN) {
      return cudnn_cannot(program, "tensors of CUDNN_DATA_BOOLEAN outside of the workspace");
    }
    if (place && !cudnn_known_type(place->type)) return cudnn_cannot(program, "tensors of this type in a graph");
  }
  return true;
}

/* Integers are computed with as such where that is asked for; with f64 in a graph, in f64. */
static enum cudnn_computed computed(int precision, struct place *const *operand) {
  bool whole = precision == CUDNN_DATA_INT32 || precision == CUDNN_DATA_INT64 || precision == CUDNN_DATA_BOOLEAN ||
               precision == CUDNN_DATA_INT8, wide = precision == CUDNN_DATA_DOUBLE;
  for (int k = 0; k < CUDNN_OPERANDS; k++) {
    const struct place *place = operand[k];
    if (!place) continue;
    whole &= k == CUDNN_RESULT || is_whole(place);
    wide |= place->type == CUDNN_DATA_DOUBLE && !place->value;
  }
  return wide ? CUDNN_F64 : whole ? CUDNN_S64 : CUDNN_F32;
}

bool cudnn_walk(struct cudnn_program *program, int64_t mode, int precision, struct place *const *operand,
                const struct cudnn_walk *walk, const struct cudnn_numbers *numbers) {
  if (!has_types(program, operand)) return false;
  static const struct cudnn_numbers plain = {.factor = {1, 1}};
  if (!numbers) numbers = &plain;
  struct cudnn_text text = {.computed = computed(precision, operand)};
  text.function = cudnn_function(mode, text.computed);
  if (!text.function) return cudnn_cannot(program, cudnn_missing(mode));
  for (int k = 0; k < text.function->inputs; k++) {
    if (!operand[k]) return false;
  }
  for (int k = 0; k < 2; k++) text.scaled[k] = operand[k] && numbers->factor[k] != 1;
  return add(program, &text, operand, walk, numbers);
}

/* Copies between a ragged tensor and its stand-in. */
static bool move(struct cudnn_program *program, struct place *from, struct place *to, const struct place *ragged) {
  struct place *const operand[CUDNN_OPERANDS] = {from, ragged->offsets, NULL, to};
  struct cudnn_walk walk = {.results = to->count};
  struct cudnn_numbers numbers = {.factor = {1, 1}, .setting = {(double)ragged->unit}};
  if (!has_types(program, operand)) return false;
  memcpy(walk.size, to->size, sizeof to->size);
  memcpy(walk.stride[CUDNN_FIRST], from->stride, sizeof from->stride);
  memcpy(walk.stride[CUDNN_RESULT], to->stride, sizeof to->stride);
  walk.stride[ragged == to ? CUDNN_RESULT : CUDNN_FIRST][0] = 0; /* which the offsets say */
  walk.stride[CUDNN_SECOND][0] = ragged->offsets->stride[0];
  bool wide = from->type == CUDNN_DATA_DOUBLE || is_whole(from);
  struct cudnn_text text = {.computed = wide ? CUDNN_F64 : CUDNN_F32, .ragged = true};
  text.function = cudnn_function(PW_IDENTITY, text.computed);
  return add(program, &text, operand, &walk, &numbers);
}

bool cudnn_gather(struct cudnn_program *program, struct place *ragged, struct place *packed) {
  return move(program, ragged, packed, ragged);
}

bool cudnn_scatter(struct cudnn_program *program, struct place *packed, struct place *ragged) {
  return move(program, packed, ragged, ragged);
}

/* A tensor's strides, 0 where it has one number and the other more. False: sizes do not fit. */
static bool spread(const struct place *place, const struct place *over, int64_t *stride) {
  if (place->value) return cudnn_elements(place) == 1;
  if (place->count != over->count) return false;
  for (int d = 0; d < over->count; d++) {
    if (place->size[d] != 1 && place->size[d] != over->size[d]) return false;
    stride[d] = place->size[d] == 1 ? 0 : place->stride[d];
  }
  return true;
}

bool cudnn_apply(struct cudnn_program *program, int64_t mode, int precision, struct place *x, struct place *b,
                 struct place *t, struct place *y, const struct cudnn_numbers *numbers) {
  if (!x || !y) return false;
  struct place *const operand[CUDNN_OPERANDS] = {x, b, t, y};
  struct cudnn_walk walk = {.results = y->count};
  memcpy(walk.size, y->size, sizeof y->size);
  for (int k = 0; k < CUDNN_OPERANDS; k++) {
    if (operand[k] && !spread(operand[k], y, walk.stride[k])) return cudnn_cannot(program, "sizes that do not fit");
  }
  return cudnn_walk(program, mode, precision, operand, &walk, numbers);
}

bool cudnn_copy(struct cudnn_program *program, struct place *x, struct place *y) {
  return cudnn_apply(program, PW_IDENTITY, -1, x, NULL, NULL, y, NULL);
}

bool cudnn_reduce(struct cudnn_program *program, int operation, struct place *x, struct place *y) {
  struct cudnn_walk walk = {0};
  struct place *const operand[CUDNN_OPERANDS] = {[CUDNN_FIRST] = x, [CUDNN_RESULT] = y};
  if (!x || !y || x->value || x->count != y->count || !has_types(program, operand)) return false;
  for (int sums = 0; sums < 2; sums++) {
    for (int d = 0; d < x->count; d++) {
      if (y->size[d] != 1 && y->size[d] != x->size[d]) return cudnn_cannot(program, "sizes that do not fit");
      if ((y->size[d] != x->size[d]) != sums) continue;
      int at = walk.results + walk.sums;
      walk.size[at] = x->size[d], walk.stride[CUDNN_FIRST][at] = x->stride[d];
      walk.stride[CUDNN_RESULT][at] = sums ? 0 : y->stride[d];
      sums ? walk.sums++ : walk.results++;
    }
  }
  bool wide = x->type == CUDNN_DATA_DOUBLE || is_whole(x);
  struct cudnn_text text = {.sum = cudnn_sum(operation), .computed = wide ? CUDNN_F64 : CUDNN_F32};
  if (!text.sum) return cudnn_cannot(program, "this operator of CUDNN_ATTR_REDUCTION_OPERATOR");
  return add(program, &text, operand, &walk, &(const struct cudnn_numbers){.factor = {1, 1}});
}
