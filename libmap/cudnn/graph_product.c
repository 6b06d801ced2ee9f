/* Products of matrices of a graph, on rocBLAS, which is loaded at the first. */
#include <pthread.h>
#include <string.h>

#include "program.h"
#include "rocblas_handle.h"

extern const struct libmap libmap_rocblas;
static bool there;

static void open_blas(void) { there = libmap_open(&libmap_rocblas); }

bool cudnn_blas(cudnnHandle_t handle) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_blas);
  return there && rocblas_handle_ready(&handle->rocblas);
}

void cudnn_blas_free(cudnnHandle_t handle) {
  if (handle->rocblas) rocblas.destroy_handle(handle->rocblas);
}

/* Types of rocBLAS, and those that sums of them have. */
enum { F16 = 150, F32, F64, I8 = 160, I32 = 162, BF16 = 168 };
static const struct { int type, beneath, result, sum; } types[] = {
  {CUDNN_DATA_FLOAT, F32, CUDNN_DATA_FLOAT, F32}, {CUDNN_DATA_DOUBLE, F64, CUDNN_DATA_DOUBLE, F64},
  {CUDNN_DATA_HALF, F16, CUDNN_DATA_FLOAT, F32},  {CUDNN_DATA_BFLOAT16, BF16, CUDNN_DATA_FLOAT, F32},
  {CUDNN_DATA_INT8, I8, CUDNN_DATA_INT32, I32},   {CUDNN_DATA_INT32, I32, CUDNN_DATA_INT32, I32},
};

static int row(int type) {
  for (int i = 0; i < (int)(sizeof types / sizeof *types); i++) {
    if (types[i].type == type) return i;
  }
  return -1;
}

enum { OPERATION_NONE = 111, OPERATION_TRANSPOSE };

/* The product of the matrices at these offsets; as rocBLAS' matrices are columns, of the transposed ones. */
static miopenStatus_t multiply(const struct step *step, const struct cudnn_run *run, const int64_t *at, int count,
                               const int64_t *stride) {
  static const float one_f = 1, zero_f = 0;
  static const double one_d = 1, zero_d = 0;
  static const int32_t one_i = 1, zero_i = 0;
  const struct place *a = step->operand[CUDNN_FIRST], *b = step->operand[CUDNN_SECOND], *c = step->operand[CUDNN_RESULT];
  int sum = types[row(a->type)].sum, type = types[row(a->type)].beneath, result = types[row(c->type)].beneath;
  const void *one = sum == F64 ? &one_d : sum == I32 ? (const void *)&one_i : &one_f;
  const void *zero = sum == F64 ? &zero_d : sum == I32 ? (const void *)&zero_i : &zero_f;
  char *base[] = {cudnn_data(a, run), cudnn_data(b, run), cudnn_data(c, run)};
  if (!base[0] || !base[1] || !base[2]) return miopenStatusBadParm;
  base[0] += at[0] * (int64_t)cudnn_type_size(a->type);
  base[1] += at[1] * (int64_t)cudnn_type_size(b->type);
  base[2] += at[2] * (int64_t)cudnn_type_size(c->type);
  const int *ld = step->product.ld;
  int failed = rocblas.gemm_strided_batched_ex(
      run->handle->rocblas, step->product.turned[1] ? OPERATION_TRANSPOSE : OPERATION_NONE,
      step->product.turned[0] ? OPERATION_TRANSPOSE : OPERATION_NONE, step->product.n, step->product.m, step->product.k,
      one, base[1], type, ld[1], stride[1], base[0], type, ld[0], stride[0], zero, base[2], result, ld[2], stride[2],
      base[2], result, ld[2], stride[2], count, sum, 0, 0, 0);
  return failed ? miopenStatusUnknownError : miopenStatusSuccess;
}

/* The last axis in one call, the others one by one. */
static miopenStatus_t run(const struct step *step, const struct cudnn_run *run) {
  hipStream_t stream;
  if (!cudnn_blas(run->handle) || libmap_driver.stream(run->handle->stream, &stream) ||
      rocblas.set_stream(run->handle->rocblas, stream)) {
    return miopenStatusUnknownError;
  }
  static const struct cudnn_axis none = {.size = 1};
  int outer = step->product.axes - 1;
  const struct cudnn_axis *axis = step->product.axis, *last = outer < 0 ? &none : &axis[outer];
  int64_t index[CUDNN_AXES] = {0}, at[3] = {0};
  for (;;) {
    miopenStatus_t done = multiply(step, run, at, (int)last->size, last->stride);
    if (done) return done;
    int d = outer - 1;
    for (; d >= 0; d--) {
      bool more = ++index[d] < axis[d].size;
      for (int k = 0; k < 3; k++) at[k] += more ? axis[d].stride[k] : -axis[d].stride[k] * (axis[d].size - 1);
      if (more) break;
      index[d] = 0;
    }
    if (d < 0) return miopenStatusSuccess;
  }
}

/* ---- building ---- */

/* Whether rocBLAS can take a matrix: one of its strides is 1, and the other at least the size. */
static bool lies(const struct place *place, bool *turned, int *ld) {
  int r = place->count - 2, c = place->count - 1;
  int64_t rows = place->size[r], columns = place->size[c], down = place->stride[r], across = place->stride[c];
  for (int turn = 0; turn < 2; turn++) {
    bool good = (columns == 1 || across == 1) && (rows == 1 || down >= columns);
    if (good && (rows == 1 || down <= INT32_MAX)) {
      *turned = turn, *ld = (int)(rows == 1 ? columns : down);
      return true;
    }
    int64_t size = rows, stride = down;
    rows = columns, down = across, columns = size, across = stride;
  }
  return false;
}

/* The same numbers row after row, of this type. */
static struct place *packed(struct cudnn_program *program, struct place *place, int type) {
  bool turned;
  int ld;
  if (place->type == type && !place->value && !place->index && lies(place, &turned, &ld)) return place;
  struct place *made = cudnn_between(program, type, place->count, place->size);
  return made && cudnn_copy(program, place, made) ? made : NULL;
}

/* A dimension of the batch: where a tensor has fewer matrices, several of the result's share one. */
static bool batch(struct step *step, int64_t size, const int64_t *sizes, const int64_t *strides) {
  int64_t shared = 1;
  for (int k = 0; k < 2; k++) {
    if (sizes[k] < 1 || size % sizes[k]) return false;
    int64_t each = size / sizes[k];
    if (sizes[k] != size && sizes[k] != 1) {
      if (shared != 1 && shared != each) return false;
      shared = each;
    }
  }
  for (int part = 0; part < 2; part++) {
    struct cudnn_axis axis = {.size = part ? shared : size / shared};
    for (int k = 0; k < 3; k++) {
      bool all = k == 2 || sizes[k] == size;
      axis.stride[k] = all ? strides[k] * (part ? 1 : shared) : part || sizes[k] == 1 ? 0 : strides[k];
    }
    if (axis.size == 1) continue;
    struct cudnn_axis *last = step->product.axes ? &step->product.axis[step->product.axes - 1] : NULL;
    bool joins = last;
    for (int k = 0; k < 3 && joins; k++) joins = last->stride[k] == axis.stride[k] * axis.size;
    if (joins) axis.size *= last->size;
    else step->product.axes++;
    step->product.axis[step->product.axes - 1] = axis;
  }
  return true;
}

bool cudnn_multiply(struct cudnn_program *program, struct place *a, struct place *b, struct place *c) {
  int rows = c->count - 2, columns = c->count - 1;
  if (c->count < 2 || a->count != c->count || b->count != c->count || a->size[columns] != b->size[rows] ||
      a->size[rows] != c->size[rows] || b->size[columns] != c->size[columns]) {
    return cudnn_cannot(program, "products of matrices whose sizes do not fit");
  }
  int type = a->type == b->type ? a->type : CUDNN_DATA_FLOAT;
  if (a->type == CUDNN_DATA_DOUBLE || b->type == CUDNN_DATA_DOUBLE) type = CUDNN_DATA_DOUBLE;
  if (row(type) < 0 || type == CUDNN_DATA_INT32) return cudnn_cannot(program, "products of matrices of this type");
  if (!cudnn_blas(program->handle)) return cudnn_cannot(program, "products of matrices without rocBLAS");
  a = packed(program, a, type), b = packed(program, b, type);
  bool turned;
  int ld;
  bool direct = (c->type == type && type != CUDNN_DATA_INT8) || c->type == types[row(type)].result;
  struct place *into = c;
  if (!direct || !lies(c, &turned, &ld) || turned) {
    into = cudnn_between(program, types[row(type)].result, c->count, c->size);
  }
  struct step *step = a && b && into ? cudnn_step(program) : NULL;
  if (!step) return false;
  step->run = run;
  step->operand[CUDNN_FIRST] = a, step->operand[CUDNN_SECOND] = b, step->operand[CUDNN_RESULT] = into;
  step->product.m = (int)c->size[rows], step->product.n = (int)c->size[columns], step->product.k = (int)b->size[rows];
  bool plain;
  lies(a, &step->product.turned[0], &step->product.ld[0]);
  lies(b, &step->product.turned[1], &step->product.ld[1]);
  lies(into, &plain, &step->product.ld[2]);
  for (int d = 0; d < rows; d++) {
    if (!batch(step, c->size[d], (const int64_t[]){a->size[d], b->size[d]},
               (const int64_t[]){a->stride[d], b->stride[d], into->stride[d]})) {
      return cudnn_cannot(program, "products of matrices whose batches do not fit");
    }
  }
  return into == c || cudnn_copy(program, into, c);
}

/* ---- operations ---- */

enum { LENGTH_M, LENGTH_N, LENGTH_K, LENGTHS };

struct place *cudnn_cut(struct cudnn_program *program, struct place *place, int axis, struct place *length,
                        struct place *into) {
  struct place *index = cudnn_index(program, place->count, axis, place->size[axis]);
  if (!into) into = cudnn_between(program, place->type, place->count, place->size);
  return index && into && cudnn_apply(program, PW_BELOW, -1, place, index, length, into, NULL) ? into : NULL;
}

bool cudnn_add_matmul(struct cudnn_program *program, const struct cudnn_backend *op) {
  struct place *a = cudnn_input(program, op, OPERATION_MATMUL_A), *b = cudnn_input(program, op, OPERATION_MATMUL_B);
  struct place *length[LENGTHS];
  for (int i = 0; i < LENGTHS; i++) length[i] = cudnn_input(program, op, OPERATION_MATMUL_M_OVERRIDE + i);
  struct place *c = cudnn_output(program, op, OPERATION_MATMUL_C), *into = c;
  if (!a || !b || !c) return false;
  if (cudnn_number(cudnn_part(op, OPERATION_MATMUL_DESC), MATMUL_PADDING_VALUE, 0) != 0) {
    return cudnn_cannot(program, "products of matrices with a padding other than 0");
  }
  int rows = c->count - 2, columns = c->count - 1;
  if (length[LENGTH_K]) {
    a = cudnn_cut(program, a, columns, length[LENGTH_K], NULL), b = cudnn_cut(program, b, rows, length[LENGTH_K], NULL);
    if (!a || !b) return false;
  }
  bool cuts = length[LENGTH_M] || length[LENGTH_N];
  if (cuts) into = cudnn_between(program, CUDNN_DATA_FLOAT, c->count, c->size);
  if (!into || !cudnn_multiply(program, a, b, into)) return false;
  if (length[LENGTH_M] && length[LENGTH_N]) into = cudnn_cut(program, into, rows, length[LENGTH_M], NULL);
  if (!into) return false;
  bool across = length[LENGTH_N];
  return !cuts || cudnn_cut(program, into, across ? columns : rows, length[across ? LENGTH_N : LENGTH_M], c);
}
