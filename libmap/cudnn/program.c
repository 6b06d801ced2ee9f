/* A graph of operations as a list of calls of MIOpen: convolutions, and what is done number by number. Tensors between
 * them lie in the workspace. */
#include "backend.h"

#include <float.h>
#include <stdlib.h>

enum { TENSORS = 32, STEPS = 16, ALIGNMENT = 256 };
enum { PW_ADD, PW_MUL, PW_MIN, PW_MAX, PW_IDENTITY = 21, PW_RELU = 100, PW_TANH, PW_SIGMOID, PW_ELU };
enum { CUDNN_ACTIVATION_SIGMOID = 0, CUDNN_ACTIVATION_TANH = 2 };

struct place {
  int64_t id;
  bool between, made; /* whether it is in the workspace; and whether an earlier step makes it */
  struct cudnn_tensor tensor;
  size_t at;
};
struct step {
  bool convolves;
  struct place *first, *second, *result; /* second: may be NULL */
  struct cudnn_problem problem;
  cudnnActivationDescriptor_t activation; /* of one tensor; else `op` of two */
  miopenTensorOp_t op;
  double alpha, beta; /* of a convolution's result and of what is there; or of the two tensors */
};
struct cudnn_program {
  int places, steps;
  struct place place[TENSORS];
  struct step step[STEPS];
  size_t between, space; /* bytes of the workspace: tensors, and what a convolution needs */
};

void cudnn_program_free(struct cudnn_program *program) {
  for (int i = 0; program && i < program->steps; i++) {
    cudnnDestroyConvolutionDescriptor(program->step[i].problem.convolution);
    cudnnDestroyActivationDescriptor(program->step[i].activation);
  }
  for (int i = 0; program && i < program->places; i++) {
    miopen.DestroyTensorDescriptor(program->place[i].tensor.miopen);
  }
  free(program);
}

size_t cudnn_program_space(const struct cudnn_program *program) { return program->between + program->space; }

/* ---- tensors ---- */

static bool ints(const struct cudnn_attribute *from, int *to) {
  if (!from || from->type != TYPE_INT64 || from->count > CUDNN_DIMENSIONS) return false;
  for (int64_t i = 0; i < from->count; i++) {
    int64_t value = ((const int64_t *)from->values)[i];
    if (value < 0 || value > INT32_MAX) return false;
    to[i] = (int)value;
  }
  return true;
}

/* The tensor of a descriptor; with `type` not negative, of that type where it lies between steps. */
static struct place *place(struct cudnn_program *program, const struct cudnn_backend *desc, int type) {
  int sizes[CUDNN_DIMENSIONS], strides[CUDNN_DIMENSIONS];
  if (!desc || desc->kind != BACKEND_TENSOR || cudnn_whole(desc, TENSOR_IS_BY_VALUE, 0)) return NULL;
  int64_t id = cudnn_whole(desc, TENSOR_UNIQUE_ID, 0);
  for (int i = 0; i < program->places; i++) {
    if (program->place[i].id == id) return &program->place[i];
  }
  const struct cudnn_attribute *dimensions = cudnn_attribute(desc, TENSOR_DIMENSIONS);
  if (program->places == TENSORS || dimensions->count < 4 || !ints(dimensions, sizes) ||
      !ints(cudnn_attribute(desc, TENSOR_STRIDES), strides)) {
    return NULL;
  }
  struct place *made = &program->place[program->places];
  made->id = id, made->between = cudnn_whole(desc, TENSOR_IS_VIRTUAL, 0);
  if (miopen.CreateTensorDescriptor(&made->tensor.miopen)) return NULL;
  program->places++;
  if (!made->between || type < 0) type = (int)cudnn_whole(desc, TENSOR_DATA_TYPE, -1);
  if (cudnn_set_tensor(&made->tensor, type, (int)dimensions->count, sizes, strides)) return NULL;
  if (made->between) {
    made->at = program->between;
    program->between += (cudnn_bytes(&made->tensor) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  return made;
}

/* What a step reads: from outside, or made by an earlier one. */
static struct place *input(struct cudnn_program *program, const struct cudnn_backend *op, int name) {
  struct place *found = place(program, cudnn_part(op, name), -1);
  return found && (!found->between || found->made) ? found : NULL;
}

/* What it writes, which has the type of what it reads. */
static struct place *output(struct cudnn_program *program, const struct cudnn_backend *op, int name,
                            const struct place *from) {
  struct place *found = place(program, cudnn_part(op, name), from->tensor.type);
  if (!found || found->made || found->tensor.type != from->tensor.type) return NULL;
  found->made = true;
  return found;
}

/* ---- steps ---- */

/* Names of a convolution's attributes follow that of alpha: beta, the convolution, and tensors. */
static const struct { int kind, direction, alpha, first, second, result; } convolutions[] = {
  {BACKEND_OPERATION_FORWARD, CUDNN_FORWARD, OPERATION_FORWARD_ALPHA, 3, 4, 5},
  {BACKEND_OPERATION_DATA, CUDNN_BACKWARD_DATA, OPERATION_DATA_ALPHA, 5, 3, 4},
  {BACKEND_OPERATION_FILTER, CUDNN_BACKWARD_FILTER, OPERATION_FILTER_ALPHA, 5, 4, 3},
};

static bool describe(struct step *step, const struct cudnn_backend *desc) {
  int pad[CUDNN_DIMENSIONS], after[CUDNN_DIMENSIONS], stride[CUDNN_DIMENSIONS], dilation[CUDNN_DIMENSIONS];
  const struct cudnn_attribute *pads = desc ? cudnn_attribute(desc, CONVOLUTION_PRE_PADDINGS) : NULL;
  if (!pads || desc->kind != BACKEND_CONVOLUTION || !ints(pads, pad) ||
      !ints(cudnn_attribute(desc, CONVOLUTION_POST_PADDINGS), after) ||
      !ints(cudnn_attribute(desc, CONVOLUTION_FILTER_STRIDES), stride) ||
      !ints(cudnn_attribute(desc, CONVOLUTION_DILATIONS), dilation)) {
    return false;
  }
  for (int64_t i = 0; i < pads->count; i++) {
    if (pad[i] != after[i]) return false;
  }
  enum cudnn_direction direction = step->problem.direction;
  const struct cudnn_tensor *filter = direction == CUDNN_FORWARD         ? &step->first->tensor
                                      : direction == CUDNN_BACKWARD_DATA ? &step->second->tensor
                                                                         : &step->result->tensor;
  const struct cudnn_tensor *x = direction == CUDNN_BACKWARD_DATA ? &step->result->tensor : &step->second->tensor;
  int mode = (int)cudnn_whole(desc, CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  return !cudnnCreateConvolutionDescriptor(&step->problem.convolution) &&
         !cudnnSetConvolutionNdDescriptor(step->problem.convolution, (int)pads->count, pad, stride, dilation, mode,
                                          CUDNN_DATA_FLOAT) &&
         x->size[1] % filter->size[1] == 0 &&
         !cudnnSetConvolutionGroupCount(step->problem.convolution, x->size[1] / filter->size[1]);
}

static bool convolution(struct cudnn_program *program, cudnnHandle_t handle, const struct cudnn_backend *op, int which,
                        struct step *step) {
  int base = convolutions[which].alpha;
  size_t space;
  step->convolves = true;
  step->alpha = cudnn_number(op, base, 1), step->beta = cudnn_number(op, base + 1, 0);
  step->first = input(program, op, base + convolutions[which].first);
  step->second = input(program, op, base + convolutions[which].second);
  if (!step->first || !step->second || step->first->tensor.type != step->second->tensor.type) return false;
  step->result = output(program, op, base + convolutions[which].result, step->first);
  if (!step->result || (step->result->between && step->beta != 0)) return false;
  if ((step->alpha != 1 || step->beta != 0) && cudnn_sums(&step->result->tensor)) return false;
  step->problem.direction = (enum cudnn_direction)convolutions[which].direction;
  step->problem.first = &step->first->tensor, step->problem.second = &step->second->tensor;
  step->problem.result = &step->result->tensor;
  if (!describe(step, cudnn_part(op, base + 2))) return false;
  if (cudnn_convolution_space(handle, &step->problem, CUDNN_BEST, &space)) return false;
  if (space > program->space) program->space = space;
  return true;
}

static bool activation(struct step *step, const struct cudnn_backend *desc, int64_t mode) {
  double upper = cudnn_number(desc, POINTWISE_RELU_UPPER_CLIP, DBL_MAX), coefficient = 0;
  int function = CUDNN_ACTIVATION_IDENTITY;
  if (mode == PW_RELU) {
    if (cudnn_number(desc, POINTWISE_RELU_LOWER_CLIP, 0) != 0 ||
        cudnn_number(desc, POINTWISE_RELU_LOWER_CLIP_SLOPE, 0) != 0) {
      return false;
    }
    function = upper < (double)FLT_MAX ? CUDNN_ACTIVATION_CLIPPED_RELU : CUDNN_ACTIVATION_RELU, coefficient = upper;
  } else if (mode == PW_ELU) {
    function = CUDNN_ACTIVATION_ELU, coefficient = cudnn_number(desc, POINTWISE_ELU_ALPHA, 1);
  } else if (mode == PW_TANH) {
    function = CUDNN_ACTIVATION_TANH;
  } else if (mode == PW_SIGMOID) {
    function = CUDNN_ACTIVATION_SIGMOID;
  } else if (mode != PW_IDENTITY) {
    return false;
  }
  return !cudnnCreateActivationDescriptor(&step->activation) &&
         !cudnnSetActivationDescriptor(step->activation, function, 0, coefficient);
}

static bool pointwise(struct cudnn_program *program, const struct cudnn_backend *op, struct step *step) {
  const struct cudnn_backend *desc = cudnn_part(op, OPERATION_PW_DESCRIPTOR);
  int64_t mode = cudnn_whole(desc, POINTWISE_MODE, -1);
  step->first = input(program, op, OPERATION_PW_X);
  step->alpha = cudnn_number(op, OPERATION_PW_ALPHA1, 1), step->beta = cudnn_number(op, OPERATION_PW_ALPHA2, 1);
  if (!desc || !step->first) return false;
  if (mode < PW_ADD || mode > PW_MAX) {
    step->result = output(program, op, OPERATION_PW_Y, step->first);
    int type = step->first->tensor.type;
    return step->result && step->alpha == 1 && (type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF) &&
           cudnn_same_sizes(&step->first->tensor, &step->result->tensor) &&
           activation(step, desc, mode);
  }
  step->op = (miopenTensorOp_t)mode;
  step->second = input(program, op, OPERATION_PW_B);
  if (!step->second || step->first->tensor.type != step->second->tensor.type) return false;
  step->result = output(program, op, OPERATION_PW_Y, step->first);
  if (!step->result || cudnn_sums(&step->result->tensor)) return false;
  if (!cudnn_same_sizes(&step->first->tensor, &step->result->tensor)) { /* the smaller one is the second */
    struct place *one = step->first;
    double alpha = step->alpha;
    step->first = step->second, step->second = one;
    step->alpha = step->beta, step->beta = alpha;
  }
  return cudnn_same_sizes(&step->first->tensor, &step->result->tensor) &&
         cudnn_spreads(&step->second->tensor, &step->result->tensor);
}

static bool add_step(struct cudnn_program *program, cudnnHandle_t handle, const struct cudnn_backend *op) {
  if (program->steps == STEPS) return false;
  struct step *step = &program->step[program->steps++];
  if (op->kind == BACKEND_OPERATION_POINTWISE) return pointwise(program, op, step);
  for (int i = 0; i < 3; i++) {
    if (convolutions[i].kind == op->kind) return convolution(program, handle, op, i, step);
  }
  return false;
}

static struct cudnn_program *build(const struct cudnn_backend *graph) {
  const struct cudnn_attribute *ops = cudnn_attribute(graph, OPERATIONGRAPH_OPS);
  const struct cudnn_attribute *handles = cudnn_attribute(graph, OPERATIONGRAPH_HANDLE);
  cudnnHandle_t handle;
  if (!handles || !handles->count || !cudnn_handle(*(cudnnHandle_t *)handles->values, &handle)) return NULL;
  struct cudnn_program *program = calloc(1, sizeof *program);
  bool good = program && ops->type == TYPE_BACKEND_DESCRIPTOR;
  for (int64_t i = 0; i < ops->count && good; i++) {
    good = add_step(program, handle, ((struct cudnn_backend **)ops->values)[i]);
  }
  if (good) return program;
  cudnn_program_free(program);
  cudnn_no("a graph with other operations than convolutions, sums, products and activations of one type");
  return NULL;
}

struct cudnn_program *cudnn_program(struct cudnn_backend *graph) {
  if (!graph->tried) graph->program = build(graph), graph->tried = true;
  return graph->program;
}

/* ---- running ---- */

static void *data(const struct place *place, const struct cudnn_backend *pack, char *space) {
  const struct cudnn_attribute *ids = cudnn_attribute(pack, VARIANT_PACK_UNIQUE_IDS);
  const struct cudnn_attribute *pointers = cudnn_attribute(pack, VARIANT_PACK_DATA_POINTERS);
  if (place->between) return space + place->at;
  for (int64_t i = 0; ids && pointers && i < ids->count && i < pointers->count; i++) {
    if (((const int64_t *)ids->values)[i] == place->id) return ((void *const *)pointers->values)[i];
  }
  return NULL;
}

static miopenStatus_t run(const struct step *step, cudnnHandle_t handle, const struct cudnn_backend *pack, char *space,
                          size_t between, size_t size) {
  void *first = data(step->first, pack, space), *result = data(step->result, pack, space);
  void *second = step->second ? data(step->second, pack, space) : NULL;
  if (!first || !result || (step->second && !second)) return miopenStatusBadParm;
  const float alpha = (float)step->alpha, beta = (float)step->beta;
  bool wide = step->result->tensor.type == CUDNN_DATA_DOUBLE;
  if (step->convolves) {
    const void *factors[] = {wide ? (const void *)&step->alpha : &alpha, wide ? (const void *)&step->beta : &beta};
    return cudnn_convolve(handle, &step->problem, CUDNN_BEST, factors[0], first, second, size ? space + between : NULL,
                          size, factors[1], result);
  }
  miopenTensorDescriptor_t a = step->first->tensor.miopen, c = step->result->tensor.miopen;
  if (step->activation) {
    return miopen.ActivationForward(handle->miopen, step->activation->miopen, &CUDNN_ONE, a, first, &CUDNN_ZERO, c,
                                    result);
  }
  return miopen.OpTensor(handle->miopen, step->op, &alpha, a, first, &beta, step->second->tensor.miopen, second,
                         &CUDNN_ZERO, c, result);
}

miopenStatus_t cudnn_program_run(const struct cudnn_program *program, cudnnHandle_t handle,
                                 const struct cudnn_backend *pack) {
  const struct cudnn_attribute *space = cudnn_attribute(pack, VARIANT_PACK_WORKSPACE);
  char *at = space && space->count ? *(char **)space->values : NULL;
  if (!program || (cudnn_program_space(program) && !at)) return miopenStatusBadParm;
  miopenStatus_t done = miopenStatusSuccess;
  for (int i = 0; i < program->steps && !done; i++) {
    done = run(&program->step[i], handle, pack, at, program->between, program->space);
  }
  return done;
}
