/* Convolutions of a graph. */
#include "program.h"

/* Names of a convolution's attributes follow that of alpha: beta, the convolution, and tensors. */
static const struct { enum cudnn_direction direction; int alpha, first, second, result; } convolutions[] = {
  {CUDNN_FORWARD, OPERATION_FORWARD_ALPHA, 3, 4, 5},
  {CUDNN_BACKWARD_FILTER, OPERATION_FILTER_ALPHA, 5, 4, 3},
  {CUDNN_BACKWARD_DATA, OPERATION_DATA_ALPHA, 5, 3, 4},
};

static void drop(struct step *step) { cudnnDestroyConvolutionDescriptor(step->convolution.problem.convolution); }

static miopenStatus_t run(const struct step *step, const struct cudnn_run *run) {
  void *first = cudnn_data(step->operand[CUDNN_FIRST], run), *second = cudnn_data(step->operand[CUDNN_SECOND], run);
  void *result = cudnn_data(step->operand[CUDNN_RESULT], run);
  if (!first || !second || !result) return miopenStatusBadParm;
  const float factors[] = {(float)step->convolution.alpha, (float)step->convolution.beta};
  bool wide = step->operand[CUDNN_RESULT]->type == CUDNN_DATA_DOUBLE;
  const void *alpha = wide ? (const void *)&step->convolution.alpha : &factors[0];
  const void *beta = wide ? (const void *)&step->convolution.beta : &factors[1];
  return cudnn_convolve(run->handle, &step->convolution.problem, CUDNN_BEST, alpha, first, second,
                        run->size ? run->space + run->between : NULL, run->size, beta, result);
}

static bool ints(const struct cudnn_backend *desc, int name, int *to, int *count) {
  int64_t numbers[CUDNN_DIMENSIONS];
  *count = cudnn_integers(desc, name, numbers);
  for (int i = 0; i < *count; i++) {
    if (numbers[i] < 0 || numbers[i] > INT32_MAX) return false;
    to[i] = (int)numbers[i];
  }
  return *count > 0;
}

static bool describe(struct step *step, const struct cudnn_backend *desc, const struct place *filter,
                     const struct place *x) {
  int pad[CUDNN_DIMENSIONS], after[CUDNN_DIMENSIONS], stride[CUDNN_DIMENSIONS], dilation[CUDNN_DIMENSIONS];
  int count, others[3];
  if (!desc || desc->kind != BACKEND_CONVOLUTION || !ints(desc, CONVOLUTION_PRE_PADDINGS, pad, &count) ||
      !ints(desc, CONVOLUTION_POST_PADDINGS, after, &others[0]) ||
      !ints(desc, CONVOLUTION_FILTER_STRIDES, stride, &others[1]) ||
      !ints(desc, CONVOLUTION_DILATIONS, dilation, &others[2])) {
    return false;
  }
  for (int i = 0; i < 3; i++) {
    if (others[i] != count) return false;
  }
  for (int i = 0; i < count; i++) {
    if (pad[i] != after[i]) return false;
  }
  cudnnConvolutionDescriptor_t *made = &step->convolution.problem.convolution;
  int mode = (int)cudnn_whole(desc, CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  if (cudnnCreateConvolutionDescriptor(made)) return false;
  step->drop = drop;
  return !cudnnSetConvolutionNdDescriptor(*made, count, pad, stride, dilation, mode, CUDNN_DATA_FLOAT) &&
         x->size[1] % filter->size[1] == 0 &&
         !cudnnSetConvolutionGroupCount(*made, (int)(x->size[1] / filter->size[1]));
}

/* MIOpen's descriptor of a tensor. */
static const struct cudnn_tensor *described(struct place *place) {
  int sizes[CUDNN_DIMENSIONS], strides[CUDNN_DIMENSIONS];
  if (place->tensor.miopen) return &place->tensor;
  if (place->count < 4 || place->value) return NULL;
  for (int i = 0; i < place->count; i++) {
    if (place->size[i] > INT32_MAX || place->stride[i] < 0 || place->stride[i] > INT32_MAX) return NULL;
    sizes[i] = (int)place->size[i], strides[i] = (int)place->stride[i];
  }
  if (miopen.CreateTensorDescriptor(&place->tensor.miopen)) return NULL;
  return cudnn_set_tensor(&place->tensor, place->type, place->count, sizes, strides) ? NULL : &place->tensor;
}

/* A tensor between steps in another type. */
static struct place *as(struct cudnn_program *program, struct place *place, int type) {
  if (!place || place->type == type || !place->between || place->tensor.miopen) return place;
  struct place *made = cudnn_between(program, type, place->count, place->size);
  if (!made) return NULL;
  for (int i = 0; i < place->count; i++) made->stride[i] = place->stride[i];
  return cudnn_copy(program, place, made) ? made : NULL;
}

bool cudnn_add_convolution(struct cudnn_program *program, const struct cudnn_backend *op, int which) {
  int base = convolutions[which].alpha;
  size_t space;
  struct place *first = cudnn_input(program, op, base + convolutions[which].first);
  struct place *second = cudnn_input(program, op, base + convolutions[which].second);
  struct place *result = cudnn_output(program, op, base + convolutions[which].result);
  if (!first || !second || !result) return false;
  int type = first->between ? second->type : first->type;
  first = as(program, first, type), second = as(program, second, type);
  if (result->between) result->type = type; /* MIOpen's results are of the type of what it reads */
  if (!first || !second) return false;
  if (first->type != type || second->type != type || result->type != type) {
    return cudnn_cannot(program, "convolutions with tensors of several types");
  }
  double alpha = cudnn_number(op, base, 1), beta = cudnn_number(op, base + 1, 0);
  struct step *step = cudnn_step(program);
  if (!step || (result->between && beta != 0)) return false;
  step->operand[CUDNN_FIRST] = first, step->operand[CUDNN_SECOND] = second, step->operand[CUDNN_RESULT] = result;
  step->convolution.alpha = alpha, step->convolution.beta = beta, step->run = run;
  struct cudnn_problem *problem = &step->convolution.problem;
  problem->direction = convolutions[which].direction;
  problem->first = described(first), problem->second = described(second), problem->result = described(result);
  if (!problem->first || !problem->second || !problem->result) {
    return cudnn_cannot(program, "convolutions of such tensors");
  }
  if ((alpha != 1 || beta != 0) && cudnn_sums(problem->result)) return false;
  const struct place *filter = which == 0 ? first : which == 1 ? result : second;
  const struct place *x = which == 2 ? result : second;
  if (!describe(step, cudnn_part(op, base + 2), filter, x)) {
    return cudnn_cannot(program, "convolutions with unequal paddings, or of sizes that do not fit");
  }
  if (cudnn_convolution_space(program->handle, problem, CUDNN_BEST, &space)) {
    return cudnn_cannot(program, "a convolution for which MIOpen has no kernel");
  }
  if (space > program->space) program->space = space;
  return true;
}
