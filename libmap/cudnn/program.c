/* From a graph of operations to a list of steps, and its run. Tensors between steps lie in the workspace. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

void cudnn_program_free(struct cudnn_program *program) {
  for (int i = 0; program && i < program->steps; i++) {
    if (program->step[i].drop) program->step[i].drop(&program->step[i]);
  }
  for (int i = 0; program && i < program->places; i++) {
    if (program->place[i].tensor.miopen) miopen.DestroyTensorDescriptor(program->place[i].tensor.miopen);
  }
  free(program);
}

size_t cudnn_program_space(const struct cudnn_program *program) { return program->between + program->space; }

bool cudnn_cannot(struct cudnn_program *program, const char *why) {
  if (!program->why) program->why = why;
  return false;
}

/* ---- tensors ---- */

int cudnn_integers(const struct cudnn_backend *of, int name, int64_t *to) {
  const struct cudnn_attribute *from = of ? cudnn_attribute(of, name) : NULL;
  if (!from || from->type != TYPE_INT64 || from->count > CUDNN_DIMENSIONS) return -1;
  memcpy(to, from->values, (size_t)from->count * sizeof *to);
  return (int)from->count;
}

int64_t cudnn_elements(const struct place *place) {
  int64_t count = 1;
  for (int i = 0; i < place->count; i++) count *= place->size[i];
  return count;
}

static struct place *another(struct cudnn_program *program) {
  if (program->places == CUDNN_PLACES) {
    cudnn_cannot(program, "graphs of so many tensors");
    return NULL;
  }
  struct place *made = &program->place[program->places];
  made->id = -1 - program->places++;
  return made;
}

struct place *cudnn_found(struct cudnn_program *program, int64_t id) {
  for (int i = 0; i < program->places; i++) {
    if (program->place[i].id == id) return &program->place[i];
  }
  return NULL;
}

/* Rows after rows. */
static void pack(struct place *place) {
  int64_t stride = 1;
  for (int i = place->count - 1; i >= 0; stride *= place->size[i--]) place->stride[i] = stride;
}

/* Programs may say anything about tensors that they do not see: whether two numbers would be at one place. */
static bool overlaps(const struct place *place) {
  bool done[CUDNN_DIMENSIONS] = {false};
  int64_t beyond = 0;
  for (int i = 0; i < place->count; i++) {
    int next = -1;
    for (int d = 0; d < place->count; d++) {
      if (!done[d] && (next < 0 || place->stride[d] < place->stride[next])) next = d;
    }
    done[next] = true;
    if (place->size[next] == 1) continue;
    if (place->stride[next] <= beyond) return true;
    beyond += place->stride[next] * (place->size[next] - 1);
  }
  return false;
}

static bool is_sensible(const struct place *place) {
  bool good = true;
  for (int i = 0; i < place->count; i++) {
    good &= place->size[i] > 0 && place->size[i] <= INT32_MAX && place->stride[i] >= 0;
  }
  return good;
}

static struct place *named(struct cudnn_program *program, const struct cudnn_backend *desc);

/* Offsets for each sample and the end of the last, one after the other. */
static bool fit(const struct place *offsets, const struct place *ragged) {
  bool good = offsets->count >= 1 && offsets->size[0] == ragged->size[0] + 1 && offsets->stride[0] == 1 &&
              (offsets->type == CUDNN_DATA_INT32 || offsets->type == CUDNN_DATA_INT64) && !offsets->value;
  for (int i = 1; i < offsets->count; i++) good &= offsets->size[i] == 1;
  return good;
}

/* What stands in the workspace for a ragged tensor. */
static struct place *packed(struct cudnn_program *program, struct place *ragged, const struct cudnn_backend *desc) {
  ragged->offsets = named(program, cudnn_part(desc, TENSOR_RAGGED_OFFSET_DESC));
  ragged->unit = cudnn_whole(desc, TENSOR_RAGGED_OFFSET_MULTIPLIER, 1);
  if (!ragged->offsets) return NULL;
  if (!fit(ragged->offsets, ragged)) {
    cudnn_cannot(program, "ragged offsets of another shape than (samples + 1, 1, ...), or not of integers");
    return NULL;
  }
  struct place *made = cudnn_between(program, ragged->type, ragged->count, ragged->size);
  if (made) made->made = false, made->ragged = ragged, ragged->packed = made;
  return made;
}

static struct place *named(struct cudnn_program *program, const struct cudnn_backend *desc) {
  if (desc->kind != BACKEND_TENSOR) return NULL;
  int64_t id = cudnn_whole(desc, TENSOR_UNIQUE_ID, 0);
  struct place *known = cudnn_found(program, id);
  if (known) return known->packed ? known->packed : known;
  if (cudnn_whole(desc, TENSOR_VECTOR_COUNT, 1) != 1) {
    cudnn_cannot(program, "tensors with vectors of channels");
    return NULL;
  }
  struct place *made = another(program);
  if (!made) return NULL;
  const struct cudnn_attribute *constant = cudnn_attribute(desc, TENSOR_CONSTANT_VALUE);
  made->id = id, made->type = (int)cudnn_whole(desc, TENSOR_DATA_TYPE, -1);
  made->count = cudnn_integers(desc, TENSOR_DIMENSIONS, made->size);
  cudnn_integers(desc, TENSOR_STRIDES, made->stride);
  made->value = cudnn_whole(desc, TENSOR_IS_BY_VALUE, 0) || constant;
  made->constant = constant ? constant->values : NULL;
  made->between = !made->value && cudnn_whole(desc, TENSOR_IS_VIRTUAL, 0);
  if (!is_sensible(made)) {
    cudnn_cannot(program, "tensors without numbers, or with negative strides");
    return NULL;
  }
  bool ragged = cudnn_part(desc, TENSOR_RAGGED_OFFSET_DESC);
  if (made->between && (ragged || overlaps(made))) pack(made);
  return ragged && !made->between ? packed(program, made, desc) : made;
}

struct place *cudnn_input_of(struct cudnn_program *program, const struct cudnn_backend *desc) {
  struct place *found = desc ? named(program, desc) : NULL;
  if (found && found->ragged && !found->made) found->made = cudnn_gather(program, found->ragged, found);
  if (found && found->between && !found->made) {
    cudnn_cannot(program, "graphs whose operations are not in the order of their tensors");
    return NULL;
  }
  return found;
}

struct place *cudnn_input(struct cudnn_program *program, const struct cudnn_backend *op, int name) {
  return cudnn_input_of(program, cudnn_part(op, name));
}

struct place *cudnn_output(struct cudnn_program *program, const struct cudnn_backend *op, int name) {
  const struct cudnn_backend *desc = cudnn_part(op, name);
  struct place *found = desc ? named(program, desc) : NULL;
  if (found && (found->made || found->value)) {
    cudnn_cannot(program, "graphs that write a tensor twice");
    return NULL;
  }
  if (found) found->made = true, found->waiting = found->ragged;
  return found;
}

struct place *cudnn_between(struct cudnn_program *program, int type, int count, const int64_t *size) {
  struct place *made = another(program);
  if (!made) return NULL;
  made->type = type, made->count = count, made->between = made->made = true;
  for (int i = 0; i < count; i++) made->size[i] = size[i];
  pack(made);
  return made;
}

struct place *cudnn_constant(struct cudnn_program *program, int count, const double *number) {
  struct place *made = another(program);
  if (!made) return NULL;
  made->type = CUDNN_DATA_DOUBLE, made->count = count, made->value = true, made->constant = number;
  for (int i = 0; i < count; i++) made->size[i] = made->stride[i] = 1;
  return made;
}

struct place *cudnn_turned(struct cudnn_program *program, const struct place *place) {
  struct place *made = another(program);
  if (!made || (place->between && !place->ragged) || place->count < 2) return NULL;
  int r = place->count - 2, c = place->count - 1;
  if (place->ragged) place = place->ragged;
  *made = *place, made->tensor = (struct cudnn_tensor){0}, made->packed = NULL;
  made->size[r] = place->size[c], made->size[c] = place->size[r];
  made->stride[r] = place->stride[c], made->stride[c] = place->stride[r];
  if (!made->offsets) return made;
  struct place *copy = cudnn_between(program, made->type, made->count, made->size);
  return copy && cudnn_gather(program, made, copy) ? copy : NULL;
}

struct place *cudnn_index(struct cudnn_program *program, int count, int axis, int64_t size) {
  struct place *made = another(program);
  if (!made) return NULL;
  made->type = CUDNN_DATA_INT64, made->count = count, made->index = true;
  for (int i = 0; i < count; i++) made->size[i] = i == axis ? size : 1, made->stride[i] = i == axis;
  return made;
}

/* ---- steps ---- */

struct step *cudnn_step(struct cudnn_program *program) {
  if (program->steps < CUDNN_STEPS) return &program->step[program->steps++];
  cudnn_cannot(program, "graphs of so many operations");
  return NULL;
}

/* Operations, and their name where they are refused. */
static const struct operation {
  int kind;
  bool (*add)(struct cudnn_program *, const struct cudnn_backend *);
  const char *name;
} operations[] = {
  {BACKEND_OPERATION_POINTWISE, cudnn_add_pointwise, ""},
  {BACKEND_OPERATION_MATMUL, cudnn_add_matmul, ""},
  {BACKEND_OPERATION_REDUCTION, cudnn_add_reduction, ""},
  {BACKEND_OPERATION_NORM_FORWARD, cudnn_add_norm, ""},
  {BACKEND_OPERATION_NORM_BACKWARD, cudnn_add_norm_back, ""},
  {BACKEND_OPERATION_SOFTMAX, cudnn_add_softmax, ""},
  {BACKEND_OPERATION_BAND_MASK, cudnn_add_mask, ""},
  {BACKEND_OPERATION_ATTENTION, cudnn_add_attention, ""},
  {BACKEND_OPERATION_CONCAT, cudnn_add_movement, ""},
  {BACKEND_OPERATION_RESHAPE, cudnn_add_movement, ""},
  {BACKEND_OPERATION_TRANSPOSE, cudnn_add_movement, ""},
  {BACKEND_OPERATION_SLICE, cudnn_add_movement, ""},
  {14, NULL, "CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR"},
  {20, NULL, "CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR"},
  {23, NULL, "CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR"},
  {25, NULL, "CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR"},
  {26, NULL, "CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR"},
  {28, NULL, "CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR"},
  {33, NULL, "CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR"},
  {35, NULL, "CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR"},
  {36, NULL, "CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR"},
  {37, NULL, "CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR"},
  {39, NULL, "CUDNN_BACKEND_OPERATION_EXPAND_BAND_MATRIX_DESCRIPTOR"},
  {40, NULL, "CUDNN_BACKEND_OPERATION_CONTRACT_BAND_MATRIX_DESCRIPTOR"},
  {42, NULL, "CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR"},
  {43, NULL, "CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR"},
  {48, NULL, "CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR"},
  {49, NULL, "CUDNN_BACKEND_OPERATION_ROPE_FWD_DESCRIPTOR"},
  {50, NULL, "CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR"},
};

static bool add_one(struct cudnn_program *program, const struct cudnn_backend *op) {
  if (op->kind >= BACKEND_OPERATION_FORWARD && op->kind <= BACKEND_OPERATION_DATA) {
    return cudnn_add_convolution(program, op, op->kind - BACKEND_OPERATION_FORWARD);
  }
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    if (operations[i].kind != (int)op->kind) continue;
    return operations[i].add ? operations[i].add(program, op) : cudnn_cannot(program, operations[i].name);
  }
  return cudnn_cannot(program, "graphs with other descriptors than operations");
}

static bool is_written(const struct cudnn_program *program, const struct place *place) {
  for (int i = 0; i < program->steps; i++) {
    if (program->step[i].operand[CUDNN_RESULT] == place) return true;
  }
  return false;
}

/* An operation, and copies of its results to ragged tensors. */
static bool add(struct cudnn_program *program, const struct cudnn_backend *op) {
  bool good = add_one(program, op);
  for (int i = 0; i < program->places && good; i++) {
    struct place *place = &program->place[i];
    if (!place->waiting || !is_written(program, place)) continue;
    place->waiting = false;
    good = cudnn_scatter(program, place, place->ragged);
  }
  return good;
}

bool cudnn_add_all(struct cudnn_program *program, const struct cudnn_attribute *ops) {
  for (int64_t i = 0; i < ops->count; i++) {
    if (!add(program, ((struct cudnn_backend *const *)ops->values)[i])) return false;
  }
  return true;
}

/* ---- the workspace ---- */

/* The steps from the first to the last that use a tensor. */
static void life(const struct cudnn_program *program, const struct place *place, int *from, int *to) {
  *from = program->steps, *to = -1;
  for (int i = 0; i < program->steps; i++) {
    for (int k = 0; k < CUDNN_OPERANDS; k++) {
      if (program->step[i].operand[k] != place) continue;
      if (*to < 0) *from = i;
      *to = i;
    }
  }
}

static size_t bytes(const struct place *place) {
  int64_t last = 0;
  for (int i = 0; i < place->count; i++) last += (place->size[i] - 1) * place->stride[i];
  return ((size_t)(last + 1) * cudnn_type_size(place->type) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Tensors that are not used at the same time may lie at the same place: each at the lowest that is free. */
static void lay_out(struct cudnn_program *program) {
  int from[CUDNN_PLACES], to[CUDNN_PLACES];
  for (int i = 0; i < program->places; i++) {
    struct place *place = &program->place[i];
    life(program, place, &from[i], &to[i]);
    if (!place->between || to[i] < 0) continue;
    size_t size = bytes(place);
    for (int k = 0; k < i; k++) {
      const struct place *other = &program->place[k];
      bool apart = !other->between || to[k] < from[i] || to[i] < from[k] || other->at >= place->at + size ||
                   place->at >= other->at + bytes(other);
      if (apart) continue;
      place->at = other->at + bytes(other);
      k = -1;
    }
    if (place->at + size > program->between) program->between = place->at + size;
  }
}

static struct cudnn_program *build(const struct cudnn_backend *graph) {
  const struct cudnn_attribute *ops = cudnn_attribute(graph, OPERATIONGRAPH_OPS);
  const struct cudnn_attribute *handles = cudnn_attribute(graph, OPERATIONGRAPH_HANDLE);
  cudnnHandle_t handle;
  if (!handles || !handles->count || !cudnn_handle(*(cudnnHandle_t *)handles->values, &handle)) return NULL;
  struct cudnn_program *program = calloc(1, sizeof *program);
  if (!program) return NULL;
  program->handle = handle;
  if (ops->type == TYPE_BACKEND_DESCRIPTOR && cudnn_add_all(program, ops)) {
    lay_out(program);
    return program;
  }
  cudnn_no(program->why ? program->why : "graphs with missing tensors, or with sizes that do not fit");
  cudnn_program_free(program);
  return NULL;
}

struct cudnn_program *cudnn_program(struct cudnn_backend *graph) {
  if (!graph->tried) graph->program = build(graph), graph->tried = true;
  return graph->program;
}

/* ---- running ---- */

void *cudnn_data(const struct place *place, const struct cudnn_run *run) {
  const struct cudnn_attribute *ids = cudnn_attribute(run->pack, VARIANT_PACK_UNIQUE_IDS);
  const struct cudnn_attribute *pointers = cudnn_attribute(run->pack, VARIANT_PACK_DATA_POINTERS);
  if (place->between) return run->space + place->at;
  for (int64_t i = 0; ids && pointers && i < ids->count && i < pointers->count; i++) {
    if (((const int64_t *)ids->values)[i] == place->id) return ((void *const *)pointers->values)[i];
  }
  return NULL;
}

miopenStatus_t cudnn_program_run(const struct cudnn_program *program, cudnnHandle_t handle,
                                 const struct cudnn_backend *pack) {
  const struct cudnn_attribute *space = cudnn_attribute(pack, VARIANT_PACK_WORKSPACE);
  char *at = space && space->count ? *(char **)space->values : NULL;
  if (!program || (cudnn_program_space(program) && !at)) return miopenStatusBadParm;
  const struct cudnn_run run = {handle, pack, at, program->between, program->space};
  miopenStatus_t done = miopenStatusSuccess;
  for (int i = 0; i < program->steps && !done; i++) done = program->step[i].run(&program->step[i], &run);
  return done;
}
