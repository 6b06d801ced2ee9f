/* Sparse systems in steps. The matrix is kept on the host; each solution factors it again. */
#include <stdlib.h>

#include "sparse_system.h"

/* ---- objects ---- */

#define OBJECT(type, create, destroy)                                                                                  \
  cusolverStatus_t create(type *info) {                                                                                \
    if (!info) return CUSOLVER_STATUS_INVALID_VALUE;                                                                   \
    if (!(*info = calloc(1, sizeof **info))) return CUSOLVER_STATUS_ALLOC_FAILED;                                      \
    (*info)->steps.mark = SPARSE_STEPS;                                                                                \
    return CUSOLVER_STATUS_SUCCESS;                                                                                    \
  }                                                                                                                    \
  cusolverStatus_t destroy(type info) {                                                                                \
    if (!info) return CUSOLVER_STATUS_SUCCESS;                                                                         \
    if (info->steps.mark != SPARSE_STEPS) return CUSOLVER_STATUS_INVALID_VALUE;                                        \
    sparse_forget(&info->steps);                                                                                       \
    info->steps.mark = 0;                                                                                              \
    free(info);                                                                                                        \
    return CUSOLVER_STATUS_SUCCESS;                                                                                    \
  }

OBJECT(csrqrInfoHost_t, cusolverSpCreateCsrqrInfoHost, cusolverSpDestroyCsrqrInfoHost)
OBJECT(csrcholInfo_t, cusolverSpCreateCsrcholInfo, cusolverSpDestroyCsrcholInfo)
OBJECT(csrcholInfoHost_t, cusolverSpCreateCsrcholInfoHost, cusolverSpDestroyCsrcholInfoHost)

/* What all functions check. */
static cusolverStatus_t ready(cusolverSpHandle_t handle, const struct steps *steps, int m, int n) {
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!steps || steps->mark != SPARSE_STEPS || m < 1 || n < 1) return CUSOLVER_STATUS_INVALID_VALUE;
  return m >= n ? CUSOLVER_STATUS_SUCCESS : sparse_wide();
}

static cusolverStatus_t analyse(cusolverSpHandle_t handle, const struct steps *steps, int m, int n, int entries,
                                cusparseMatDescr_t descriptor, const int *row, const int *column) {
  cusolverStatus_t status = ready(handle, steps, m, n);
  if (status) return status;
  bool good = entries >= 0 && sparse_base(descriptor) >= 0 && row && column;
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

/* ---- the matrix ---- */

/* mu: a complex number. */
static void subtract(enum kind kind, void *at, const double *mu) {
  for (int part = 0; part < (kind == COMPLEX || kind == BOTH ? 2 : 1); part++) {
    if (kind == SINGLE || kind == COMPLEX) ((float *)at)[part] -= (float)mu[part];
    else ((double *)at)[part] -= mu[part];
  }
}

/* A - mu I; false: a number on the diagonal is not stored. */
static bool shift(struct steps *steps, const double *mu) {
  int on_diagonal = 0;
  for (int i = 0; i < steps->n; i++) {
    for (int k = steps->row[i] - steps->base; k < steps->row[i + 1] - steps->base; k++) {
      if (steps->column[k] - steps->base != i) continue;
      subtract(steps->kind, (char *)steps->value + (size_t)k * sparse_sizes[steps->kind], mu);
      on_diagonal++;
    }
  }
  return on_diagonal == steps->n;
}

static cusolverStatus_t keep(cusolverSpHandle_t handle, struct steps *steps, enum kind kind, bool on_device, int m, int n,
                             int entries, cusparseMatDescr_t descriptor, const void *value, const int *row,
                             const int *column, const double *mu) {
  static int said;
  cusolverStatus_t status = analyse(handle, steps, m, n, entries, descriptor, row, column);
  if (status) return status;
  if (!value) return CUSOLVER_STATUS_INVALID_VALUE;
  if (on_device && libmap_driver.synchronize(handle->stream)) return CUSOLVER_STATUS_EXECUTION_FAILED;
  sparse_forget(steps);
  steps->kind = kind, steps->m = m, steps->n = n, steps->entries = entries, steps->base = sparse_base(descriptor);
  const struct pattern given = {m, n, entries, steps->base, row, column};
  steps->row = sparse_rows(on_device, &given, &status);
  if (status) return status;
  steps->column = sparse_fetched(on_device, column, (size_t)entries * sizeof *column);
  steps->value = sparse_fetched(on_device, value, (size_t)entries * sparse_sizes[kind]);
  const struct pattern pattern = {m, n, entries, steps->base, steps->row, steps->column};
  if (!steps->column || !steps->value) status = CUSOLVER_STATUS_ALLOC_FAILED;
  else if (!sparse_is_matrix(&pattern)) status = CUSOLVER_STATUS_INVALID_VALUE;
  else if ((mu[0] != 0 || mu[1] != 0) && !shift(steps, mu))
    status = libmap_refuse(&said, "cusolverSp csrqrSetup with mu and an empty diagonal", CUSOLVER_STATUS_NOT_SUPPORTED);
  if (status) sparse_forget(steps);
  return status;
}

/* ---- solutions ---- */

/* `reorder`: an order with fewer numbers in the factor, in which pivots have other places. */
static int solve(const struct steps *steps, enum method method, int reorder, double tolerance, const void *b, void *x,
                 double *diagonal) {
  struct system of = {.kind = steps->kind, .method = method, .m = steps->m, .n = steps->n,
                      .entries = steps->entries, .base = steps->base, .reorder = reorder, .tolerance = tolerance};
  return sparse_solve_one(&of, steps->row, steps->column, steps->value, b, 0, x, diagonal);
}

/* A singular matrix has no solution; x stays as it is. */
static cusolverStatus_t solved(cusolverSpHandle_t handle, const struct steps *steps, enum kind kind, bool on_device,
                               enum method method, int m, int n, const void *b, void *x) {
  cusolverStatus_t status = ready(handle, steps, m, n);
  if (status) return status;
  if (!steps->value || steps->kind != kind || steps->m != m || steps->n != n || !b || !x) return CUSOLVER_STATUS_INVALID_VALUE;
  size_t size = (size_t)n * sparse_sizes[kind];
  if (on_device && libmap_driver.synchronize(handle->stream)) return CUSOLVER_STATUS_EXECUTION_FAILED;
  void *right = sparse_fetched(on_device, b, (size_t)m * sparse_sizes[kind]), *out = on_device ? malloc(size) : x;
  double *diagonal = malloc((size_t)n * sizeof *diagonal);
  bool good = right && out && diagonal;
  int outcome = good ? solve(steps, method, CUTHILL_MCKEE, 0, right, out, diagonal) : SPARSE_NO_MEMORY;
  if (outcome == SPARSE_NO_MEMORY) status = CUSOLVER_STATUS_ALLOC_FAILED;
  if (outcome == SPARSE_SOLVED && on_device && libmap_driver.copy_in((uint64_t)(uintptr_t)x, out, size)) {
    status = CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  if (on_device) free(out);
  free(right), free(diagonal);
  return status;
}

/* Returns as sparse_by_rotations. */
static int factor(const struct steps *steps, enum method method, double tolerance, double *diagonal) {
  void *b = calloc((size_t)steps->m, sparse_sizes[steps->kind]), *x = calloc((size_t)steps->n, sparse_sizes[steps->kind]);
  bool good = b && x && diagonal;
  int outcome = good ? solve(steps, method, KEEP_ORDER, tolerance, b, x, diagonal) : SPARSE_NO_MEMORY;
  free(b), free(x);
  return outcome;
}

/* The first number on the factor's diagonal that is not above the tolerance; -1: none. */
static cusolverStatus_t pivot(cusolverSpHandle_t handle, const struct steps *steps, enum kind kind, enum method method,
                              double tolerance, int *position) {
  cusolverStatus_t status = ready(handle, steps, 1, 1);
  if (status) return status;
  if (!steps->value || steps->kind != kind || !(tolerance >= 0) || !position) return CUSOLVER_STATUS_INVALID_VALUE;
  double *diagonal = malloc((size_t)steps->n * sizeof *diagonal);
  int outcome = factor(steps, method, tolerance, diagonal);
  free(diagonal);
  if (outcome == SPARSE_NO_MEMORY) return CUSOLVER_STATUS_ALLOC_FAILED;
  *position = outcome;
  return CUSOLVER_STATUS_SUCCESS;
}

/* The diagonal of Cholesky's factor, to the device; there is none of a matrix that is not positive definite. */
static cusolverStatus_t diagonal_of(cusolverSpHandle_t handle, const struct steps *steps, enum kind kind, void *diag) {
  cusolverStatus_t status = ready(handle, steps, 1, 1);
  if (status) return status;
  if (!steps->value || steps->kind != kind || !diag) return CUSOLVER_STATUS_INVALID_VALUE;
  if (libmap_driver.synchronize(handle->stream)) return CUSOLVER_STATUS_EXECUTION_FAILED;
  bool single = kind == SINGLE || kind == COMPLEX;
  size_t size = (size_t)steps->n * (single ? sizeof(float) : sizeof(double));
  double *diagonal = malloc((size_t)steps->n * sizeof *diagonal);
  float *narrow = malloc((size_t)steps->n * sizeof *narrow);
  int outcome = narrow ? factor(steps, CHOLESKY, 0, diagonal) : SPARSE_NO_MEMORY;
  for (int i = 0; i < steps->n && outcome == SPARSE_SOLVED; i++) narrow[i] = (float)diagonal[i];
  const void *from = single ? (const void *)narrow : diagonal;
  if (outcome == SPARSE_NO_MEMORY) status = CUSOLVER_STATUS_ALLOC_FAILED;
  else if (outcome >= 0) status = CUSOLVER_STATUS_ZERO_PIVOT;
  else if (libmap_driver.copy_in((uint64_t)(uintptr_t)diag, from, size)) status = CUSOLVER_STATUS_EXECUTION_FAILED;
  free(diagonal), free(narrow);
  return status;
}

/* ---- the functions ---- */

#define STEPS(info) (info ? &info->steps : NULL)
#define ANALYSIS(side, device)                                                                                         \
  cusolverStatus_t cusolverSpXcsrqrAnalysis##side(cusolverSpHandle_t handle, int m, int n, int nnzA,                   \
                                                  cusparseMatDescr_t descrA, const int *csrRowPtrA,                    \
                                                  const int *csrColIndA, csrqrInfo##side##_t info) {                   \
    return analyse(handle, STEPS(info), m, n, nnzA, descrA, csrRowPtrA, csrColIndA);                                   \
  }                                                                                                                    \
  cusolverStatus_t cusolverSpXcsrcholAnalysis##side(cusolverSpHandle_t handle, int n, int nnzA,                        \
                                                    cusparseMatDescr_t descrA, const int *csrRowPtrA,                  \
                                                    const int *csrColIndA, csrcholInfo##side##_t info) {               \
    return analyse(handle, STEPS(info), n, n, nnzA, descrA, csrRowPtrA, csrColIndA);                                   \
  }                                                                                                                    \
  FUNCTIONS(S, float, float, SINGLE, side, device, mu, 0)                                                              \
  FUNCTIONS(D, double, double, TWICE, side, device, mu, 0)                                                             \
  FUNCTIONS(C, cuComplex, float, COMPLEX, side, device, mu.x, mu.y)                                                    \
  FUNCTIONS(Z, cuDoubleComplex, double, BOTH, side, device, mu.x, mu.y)
#define FUNCTIONS(letter, T, R, type, side, device, real, imaginary)                                                   \
  cusolverStatus_t cusolverSp##letter##csrqrBufferInfo##side(                                                          \
      cusolverSpHandle_t handle, int m, int n, int nnzA, cusparseMatDescr_t descrA, const T *csrValA,                  \
      const int *csrRowPtrA, const int *csrColIndA, csrqrInfo##side##_t info, size_t *internalDataInBytes,             \
      size_t *workspaceInBytes) {                                                                                      \
    (void)csrValA;                                                                                                     \
    cusolverStatus_t status = analyse(handle, STEPS(info), m, n, nnzA, descrA, csrRowPtrA, csrColIndA);                \
    if (!status && (!internalDataInBytes || !workspaceInBytes)) status = CUSOLVER_STATUS_INVALID_VALUE;                \
    return status ? status : sparse_buffers(internalDataInBytes, workspaceInBytes);                                    \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrqrSetup##side(cusolverSpHandle_t handle, int m, int n, int nnzA,             \
                                                        cusparseMatDescr_t descrA, const T *csrValA,                   \
                                                        const int *csrRowPtrA, const int *csrColIndA, T mu,            \
                                                        csrqrInfo##side##_t info) {                                    \
    return keep(handle, STEPS(info), type, device, m, n, nnzA, descrA, csrValA, csrRowPtrA, csrColIndA,                \
                (double[]){real, imaginary});                                                                          \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrqrFactor##side(cusolverSpHandle_t handle, int m, int n, int nnzA, T *b,      \
                                                         T *x, csrqrInfo##side##_t info, void *pBuffer) {              \
    (void)pBuffer;                                                                                                     \
    cusolverStatus_t status = ready(handle, STEPS(info), m, n);                                                        \
    if (!status && (!info->steps.value || info->steps.kind != type || info->steps.entries != nnzA))                    \
      status = CUSOLVER_STATUS_INVALID_VALUE;                                                                          \
    return status || !b || !x ? status : solved(handle, STEPS(info), type, device, ROTATIONS, m, n, b, x);             \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrqrZeroPivot##side(cusolverSpHandle_t handle, csrqrInfo##side##_t info,       \
                                                            R tol, int *position) {                                    \
    return pivot(handle, STEPS(info), type, ROTATIONS, tol, position);                                                 \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrqrSolve##side(cusolverSpHandle_t handle, int m, int n, T *b, T *x,           \
                                                        csrqrInfo##side##_t info, void *pBuffer) {                     \
    (void)pBuffer;                                                                                                     \
    return solved(handle, STEPS(info), type, device, ROTATIONS, m, n, b, x);                                           \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrcholBufferInfo##side(                                                        \
      cusolverSpHandle_t handle, int n, int nnzA, cusparseMatDescr_t descrA, const T *csrValA, const int *csrRowPtrA,  \
      const int *csrColIndA, csrcholInfo##side##_t info, size_t *internalDataInBytes, size_t *workspaceInBytes) {      \
    (void)csrValA;                                                                                                     \
    cusolverStatus_t status = analyse(handle, STEPS(info), n, n, nnzA, descrA, csrRowPtrA, csrColIndA);                \
    if (!status && (!internalDataInBytes || !workspaceInBytes)) status = CUSOLVER_STATUS_INVALID_VALUE;                \
    return status ? status : sparse_buffers(internalDataInBytes, workspaceInBytes);                                    \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrcholFactor##side(cusolverSpHandle_t handle, int n, int nnzA,                 \
                                                           cusparseMatDescr_t descrA, const T *csrValA,                \
                                                           const int *csrRowPtrA, const int *csrColIndA,               \
                                                           csrcholInfo##side##_t info, void *pBuffer) {                \
    (void)pBuffer;                                                                                                     \
    return keep(handle, STEPS(info), type, device, n, n, nnzA, descrA, csrValA, csrRowPtrA, csrColIndA,                \
                (double[]){0, 0});                                                                                     \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrcholZeroPivot##side(cusolverSpHandle_t handle, csrcholInfo##side##_t info,   \
                                                              R tol, int *position) {                                  \
    return pivot(handle, STEPS(info), type, CHOLESKY, tol, position);                                                  \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrcholSolve##side(cusolverSpHandle_t handle, int n, const T *b, T *x,          \
                                                          csrcholInfo##side##_t info, void *pBuffer) {                 \
    (void)pBuffer;                                                                                                     \
    return solved(handle, STEPS(info), type, device, CHOLESKY, n, n, b, x);                                            \
  }
#define DIAGONAL(letter, R, type)                                                                                      \
  cusolverStatus_t cusolverSp##letter##csrcholDiag(cusolverSpHandle_t handle, csrcholInfo_t info, R *diag) {           \
    return diagonal_of(handle, STEPS(info), type, diag);                                                               \
  }

DIAGONAL(S, float, SINGLE)
DIAGONAL(D, double, TWICE)
DIAGONAL(C, float, COMPLEX)
DIAGONAL(Z, double, BOTH)
ANALYSIS(, true)
ANALYSIS(Host, false)
