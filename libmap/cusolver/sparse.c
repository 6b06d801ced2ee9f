/* Sparse linear systems: cuSOLVER's functions for them, which solve on the host here (sparse_solve.c). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "sparse_system.h"

enum { SPARSE_HANDLE = 0x63737370 };
const size_t sparse_sizes[] = {4, 8, 8, 16};

/* ---- objects ---- */

bool sparse_is_handle(cusolverSpHandle_t handle) { return handle && handle->mark == SPARSE_HANDLE; }

cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t *handle) {
  if (!handle) return CUSOLVER_STATUS_INVALID_VALUE;
  if (!libmap_ready()) return CUSOLVER_STATUS_NOT_INITIALIZED;
  struct cusolverSpHandle_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUSOLVER_STATUS_ALLOC_FAILED;
  made->mark = SPARSE_HANDLE;
  *handle = made;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle) {
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->mark = 0;
  free(handle);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t streamId) {
  hipStream_t stream;
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (libmap_driver.stream(streamId, &stream)) return CUSOLVER_STATUS_INVALID_VALUE;
  handle->stream = streamId;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t *streamId) {
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!streamId) return CUSOLVER_STATUS_INVALID_VALUE;
  *streamId = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverSpCreateCsrqrInfo(csrqrInfo_t *info) {
  if (!info) return CUSOLVER_STATUS_INVALID_VALUE;
  struct csrqrInfo_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUSOLVER_STATUS_ALLOC_FAILED;
  made->steps.mark = SPARSE_STEPS;
  *info = made;
  return CUSOLVER_STATUS_SUCCESS;
}

static bool is_info(csrqrInfo_t info) { return info && info->steps.mark == SPARSE_STEPS; }

cusolverStatus_t cusolverSpDestroyCsrqrInfo(csrqrInfo_t info) {
  if (!info) return CUSOLVER_STATUS_SUCCESS;
  if (!is_info(info)) return CUSOLVER_STATUS_INVALID_VALUE;
  sparse_forget(&info->steps);
  info->steps.mark = 0;
  free(info);
  return CUSOLVER_STATUS_SUCCESS;
}

/* ---- matrices ---- */

void sparse_forget(struct steps *steps) {
  free(steps->row), free(steps->column), free(steps->value);
  steps->row = steps->column = NULL, steps->value = NULL;
}

/* What cuSPARSE, which made the descriptor, answers about it; -1: nothing. */
static int asked(const char *what, cusparseMatDescr_t descriptor) {
  static const char *const names[] = {"libcusparse.so.12", "libcusparse.so.11"};
  int (*function)(cusparseMatDescr_t) = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !function; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    void *found = library ? dlsym(library, what) : NULL;
    memcpy(&function, &found, sizeof function);
    if (library) dlclose(library);
  }
  return descriptor && function ? function(descriptor) : -1;
}

int sparse_base(cusparseMatDescr_t descriptor) { return asked("cusparseGetMatIndexBase", descriptor); }

bool sparse_general(cusparseMatDescr_t descriptor) { return asked("cusparseGetMatType", descriptor) == 0; }

double complex sparse_number(enum kind kind, const void *at, int64_t i) {
  switch (kind) {
    case SINGLE: return ((const float *)at)[i];
    case TWICE: return ((const double *)at)[i];
    case COMPLEX: return ((const float *)at)[2 * i] + I * ((const float *)at)[2 * i + 1];
    default: return ((const double *)at)[2 * i] + I * ((const double *)at)[2 * i + 1];
  }
}

void sparse_store(enum kind kind, void *at, int64_t i, double complex value) {
  switch (kind) {
    case SINGLE: ((float *)at)[i] = (float)creal(value); break;
    case TWICE: ((double *)at)[i] = creal(value); break;
    case COMPLEX: ((float *)at)[2 * i] = (float)creal(value), ((float *)at)[2 * i + 1] = (float)cimag(value); break;
    default: ((double *)at)[2 * i] = creal(value), ((double *)at)[2 * i + 1] = cimag(value);
  }
}

void *sparse_fetched(bool on_device, const void *from, size_t size) {
  void *copy = malloc(size ? size : 1);
  if (!copy) return NULL;
  if (!on_device) return memcpy(copy, from, size);
  if (!libmap_driver.copy_out(copy, (uint64_t)(uintptr_t)from, size)) return copy;
  free(copy);
  return NULL;
}

int *sparse_rows(bool on_device, const struct pattern *of, cusolverStatus_t *status) {
  int *row = sparse_fetched(on_device, of->row, ((size_t)of->m + 1) * sizeof *row);
  bool good = row && row[0] == of->base && row[of->m] - of->base == of->entries;
  *status = !row ? CUSOLVER_STATUS_ALLOC_FAILED : good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
  if (good) return row;
  free(row);
  return NULL;
}

bool sparse_is_matrix(const struct pattern *of) {
  bool good = of->row[0] == of->base && of->row[of->m] - of->base == of->entries;
  for (int i = 0; i < of->m && good; i++) good = of->row[i] <= of->row[i + 1];
  for (int k = 0; k < of->entries && good; k++) {
    good = of->column[k] >= of->base && of->column[k] - of->base < of->n;
  }
  return good;
}

void sparse_arrange(const struct pattern *of, const int *order, const int *place, int *rows, int *columns, int *from) {
  rows[0] = 0;
  for (int i = 0; i < of->m; i++) {
    int begin = rows[i], end = begin;
    for (int k = of->row[order[i]] - of->base; k < of->row[order[i] + 1] - of->base; k++, end++) {
      int at = end, to = place[of->column[k] - of->base];
      for (; at > begin && columns[at - 1] > to; at--) columns[at] = columns[at - 1], from[at] = from[at - 1];
      columns[at] = to, from[at] = k;
    }
    rows[i + 1] = end;
  }
}

bool sparse_on_host(enum kind kind, const struct pattern *of, const void *value, struct host_matrix *out) {
  size_t m = (size_t)of->m, most = (size_t)(of->m > of->n ? of->m : of->n), entries = (size_t)of->entries + 1;
  int *order = malloc(most * sizeof *order), *from = malloc(entries * sizeof *from);
  *out = (struct host_matrix){.row = malloc((m + 1) * sizeof(int)), .column = malloc(entries * sizeof(int)),
                              .value = malloc(entries * sizeof *out->value)};
  bool good = order && from && out->row && out->column && out->value;
  for (size_t i = 0; i < most && good; i++) order[i] = (int)i;
  if (good) sparse_arrange(of, order, order, out->row, out->column, from);
  for (int k = 0; k < of->entries && good; k++) out->value[k] = sparse_number(kind, value, from[k]);
  out->a = (struct sparse){of->m, of->n, out->row, out->column, out->value};
  free(order), free(from);
  if (!good) sparse_free_matrix(out);
  return good;
}

void sparse_free_matrix(struct host_matrix *matrix) {
  free(matrix->row), free(matrix->column), free(matrix->value);
  *matrix = (struct host_matrix){0};
}

/* An order that `reorder` selects, of a square matrix. */
static bool find_order(const struct sparse *a, int reorder, int *order) {
  return reorder == CUTHILL_MCKEE ? sparse_order(a, order) : sparse_degree_order(a, order);
}

int sparse_solve_one(const struct system *of, const int *row, const int *column, const void *value, const void *b,
                     int64_t batch, void *x, double *diagonal) {
  size_t m = (size_t)of->m, entries = (size_t)of->entries + 1; /* m is at least n */
  int *order = malloc(m * sizeof *order), *place = malloc(m * sizeof *place);
  int *rows = malloc((m + 1) * sizeof *rows), *columns = malloc(entries * sizeof *columns);
  int *from = malloc(entries * sizeof *from);
  double complex *values = malloc(entries * sizeof *values), *right = malloc(m * sizeof *right);
  bool good = order && place && rows && columns && from && values && right;
  const struct pattern given = {of->m, of->n, of->entries, of->base, row, column};
  const struct sparse a = {of->m, of->n, rows, columns, values};
  int outcome = SPARSE_NO_MEMORY;
  for (int i = 0; i < of->m && good; i++) order[i] = place[i] = i;
  if (good) sparse_arrange(&given, order, place, rows, columns, from);
  if (good && of->reorder != KEEP_ORDER && of->m == of->n && of->method != CHOLESKY) { /* of that, a triangle may be missing */
    good = find_order(&a, of->reorder, order);
    for (int i = 0; i < of->n && good; i++) place[order[i]] = i;
    if (good) sparse_arrange(&given, order, place, rows, columns, from);
  }
  if (good) {
    for (int k = 0; k < of->entries; k++) values[k] = sparse_number(of->kind, value, batch * of->entries + from[k]);
    for (int i = 0; i < of->m; i++) right[i] = sparse_number(of->kind, b, batch * of->m + order[i]);
    outcome = of->method == CHOLESKY ? sparse_by_cholesky(&a, of->tolerance, right, diagonal)
              : of->method == LU     ? sparse_by_lu(&a, of->tolerance, right)
                                     : sparse_by_rotations(&a, of->tolerance, right);
  }
  for (int i = 0; i < of->n && outcome == SPARSE_SOLVED; i++) sparse_store(of->kind, x, order[i], right[i]);
  free(order), free(place), free(rows), free(columns), free(from), free(values), free(right);
  return outcome;
}

static cusolverStatus_t solve(cusolverSpHandle_t handle, struct system *of, cusparseMatDescr_t descriptor, int batch,
                              void *x, int *singularity) {
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  of->base = sparse_base(descriptor);
  if (of->m < of->n || of->n < 1 || of->entries < 0 || batch < 1 || of->base < 0 || !of->row || !of->column || !of->value || !of->b ||
      !x || !(of->tolerance >= 0)) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  if (!sparse_general(descriptor)) return CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  size_t size = sparse_sizes[of->kind], many = (size_t)batch;
  if (of->on_device && libmap_driver.synchronize(handle->stream)) return CUSOLVER_STATUS_EXECUTION_FAILED;
  const struct pattern given = {of->m, of->n, of->entries, of->base, of->row, of->column};
  cusolverStatus_t status;
  int *row = sparse_rows(of->on_device, &given, &status);
  if (status) return status;
  int *column = sparse_fetched(of->on_device, of->column, (size_t)of->entries * sizeof *column);
  void *value = sparse_fetched(of->on_device, of->value, many * (size_t)of->entries * size);
  void *b = sparse_fetched(of->on_device, of->b, many * (size_t)of->m * size), *out = malloc((size_t)of->n * size);
  double *diagonal = malloc((size_t)of->n * sizeof *diagonal);
  bool good = column && value && b && out && diagonal;
  if (!good) status = CUSOLVER_STATUS_ALLOC_FAILED;
  const struct pattern pattern = {of->m, of->n, of->entries, of->base, row, column};
  if (good && !sparse_is_matrix(&pattern)) status = CUSOLVER_STATUS_INVALID_VALUE;
  if (!status && singularity) *singularity = SPARSE_SOLVED;
  for (int i = 0; i < batch && !status; i++) {
    char *to = (char *)x + (size_t)i * (size_t)of->n * size;
    int outcome = sparse_solve_one(of, row, column, value, b, i, out, diagonal);
    if (outcome == SPARSE_NO_MEMORY) status = CUSOLVER_STATUS_ALLOC_FAILED;
    else if (outcome >= 0 && singularity) *singularity = outcome;
    else if (outcome < 0 && !of->on_device) memcpy(to, out, (size_t)of->n * size);
    else if (outcome < 0 && libmap_driver.copy_in((uint64_t)(uintptr_t)to, out, (size_t)of->n * size)) {
      status = CUSOLVER_STATUS_EXECUTION_FAILED;
    }
  }
  free(row), free(column), free(value), free(b), free(out), free(diagonal);
  return status;
}

/* ---- systems, at once ---- */

#define ONE(letter, T, R, kind, name, device, method)                                                                  \
  cusolverStatus_t cusolverSp##letter##name(cusolverSpHandle_t handle, int m, int nnz, cusparseMatDescr_t descrA,      \
                                            const T *csrValA, const int *csrRowPtrA, const int *csrColIndA,            \
                                            const T *b, R tol, int reorder, T *x, int *singularity) {                  \
    struct system of = {kind, method, m, m, nnz, 0, device, reorder, tol, csrValA, b, csrRowPtrA, csrColIndA};         \
    if (sparse_is_handle(handle) && (reorder < KEEP_ORDER || reorder > LAST_ORDER || !singularity)) {                  \
      return CUSOLVER_STATUS_INVALID_VALUE;                                                                            \
    }                                                                                                                  \
    return solve(handle, &of, descrA, 1, x, singularity);                                                              \
  }
#define BATCH(letter, T, kind)                                                                                         \
  cusolverStatus_t cusolverSp##letter##csrqrBufferInfoBatched(                                                         \
      cusolverSpHandle_t handle, int m, int n, int nnz, cusparseMatDescr_t descrA, const T *csrVal,                    \
      const int *csrRowPtr, const int *csrColInd, int batchSize, csrqrInfo_t info, size_t *internalDataInBytes,        \
      size_t *workspaceInBytes) {                                                                                      \
    (void)csrVal, (void)csrRowPtr, (void)csrColInd, (void)descrA;                                                      \
    return buffers(handle, m, n, nnz, batchSize, info, internalDataInBytes, workspaceInBytes);                         \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrqrsvBatched(                                                                 \
      cusolverSpHandle_t handle, int m, int n, int nnz, cusparseMatDescr_t descrA, const T *csrValA,                   \
      const int *csrRowPtrA, const int *csrColIndA, const T *b, T *x, int batchSize, csrqrInfo_t info,                 \
      void *pBuffer) {                                                                                                 \
    struct system of = {kind, ROTATIONS, m, n, nnz, 0, true, CUTHILL_MCKEE, 0, csrValA, b, csrRowPtrA, csrColIndA};    \
    (void)pBuffer;                                                                                                     \
    if (sparse_is_handle(handle) && m < n) return sparse_wide();                                                       \
    if (sparse_is_handle(handle) && !is_info(info)) return CUSOLVER_STATUS_INVALID_VALUE;                              \
    return solve(handle, &of, descrA, batchSize, x, NULL);                                                             \
  }
#define ALL(letter, T, R, kind)                              \
  ONE(letter, T, R, kind, csrlsvqr, true, ROTATIONS)         \
  ONE(letter, T, R, kind, csrlsvqrHost, false, ROTATIONS)    \
  ONE(letter, T, R, kind, csrlsvluHost, false, LU)           \
  ONE(letter, T, R, kind, csrlsvchol, true, CHOLESKY)        \
  ONE(letter, T, R, kind, csrlsvcholHost, false, CHOLESKY)   \
  BATCH(letter, T, kind)

cusolverStatus_t sparse_wide(void) {
  static int said;
  return libmap_refuse(&said, "sparse systems with fewer equations than unknowns", CUSOLVER_STATUS_NOT_SUPPORTED);
}

cusolverStatus_t sparse_buffers(size_t *internal, size_t *work) {
  enum { SOME = 256 };
  *internal = 0, *work = SOME;
  return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t buffers(cusolverSpHandle_t handle, int m, int n, int nnz, int batch, csrqrInfo_t info,
                                size_t *internal, size_t *work) {
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (m < 1 || n < 1 || nnz < 0 || batch < 1 || !is_info(info) || !internal || !work) return CUSOLVER_STATUS_INVALID_VALUE;
  return m >= n ? sparse_buffers(internal, work) : sparse_wide();
}

cusolverStatus_t cusolverSpXcsrqrAnalysisBatched(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                 cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                                 const int *csrColIndA, csrqrInfo_t info) {
  size_t internal, work;
  if (sparse_is_handle(handle) && (sparse_base(descrA) < 0 || !csrRowPtrA || !csrColIndA)) return CUSOLVER_STATUS_INVALID_VALUE;
  return buffers(handle, m, n, nnzA, 1, info, &internal, &work);
}

ALL(S, float, float, SINGLE)
ALL(D, double, double, TWICE)
ALL(C, cuComplex, float, COMPLEX)
ALL(Z, cuDoubleComplex, double, BOTH)
