/* Refactorisation: hipSOLVER's, which takes matrices in rows and factors L with ones on the diagonal only. Settings that
 * choose an algorithm have no effect. */
#include <stdlib.h>

#include "refactor.h"

bool cusolver_refactor(cusolverRfHandle_t handle, hipsolverRfHandle_t *found) {
  if (!handle || handle->mark != REFACTOR_HANDLE) return false;
  *found = handle->hipsolver;
  return true;
}

bool refactor_is_handle(cusolverRfHandle_t handle) { return cusolver_refactor(handle, &(hipsolverRfHandle_t){NULL}); }

cusolverStatus_t cusolverRfCreate(cusolverRfHandle_t *handle) {
  if (!handle) return CUSOLVER_STATUS_INVALID_VALUE;
  if (!libmap_ready()) return CUSOLVER_STATUS_NOT_INITIALIZED;
  struct cusolverRfHandle_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUSOLVER_STATUS_ALLOC_FAILED;
  cusolverStatus_t status = cusolver_status(hipsolver.RfCreate(&made->hipsolver));
  if (status) {
    free(made);
    return status;
  }
  made->mark = REFACTOR_HANDLE, made->solve = 1;
  *handle = made;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverRfDestroy(cusolverRfHandle_t handle) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  hipsolverRfHandle_t found = handle->hipsolver;
  refactor_free_batch(handle);
  handle->mark = 0;
  free(handle);
  return cusolver_status(hipsolver.RfDestroy(found));
}

/* ---- settings ---- */

cusolverStatus_t cusolverRfSetMatrixFormat(cusolverRfHandle_t handle, cusolverRfMatrixFormat_t format,
                                           cusolverRfUnitDiagonal_t diag) {
  static int said;
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (format < CSR || format > CSR + 1 || diag < 0 || diag > LAST_DIAGONAL) return CUSOLVER_STATUS_INVALID_VALUE;
  if (format != CSR || (diag != STORED_L && diag != ASSUMED_L)) {
    return libmap_refuse(&said, "cusolverRf with columns or a unit diagonal of U", CUSOLVER_STATUS_NOT_SUPPORTED);
  }
  handle->diagonal = diag;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverRfSetAlgs(cusolverRfHandle_t handle, cusolverRfFactorization_t factAlg,
                                   cusolverRfTriangularSolve_t solveAlg) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (factAlg < 0 || factAlg > 2 || solveAlg < 1 || solveAlg > 3) return CUSOLVER_STATUS_INVALID_VALUE;
  handle->factor = factAlg, handle->solve = solveAlg;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverRfSetResetValuesFastMode(cusolverRfHandle_t handle, cusolverRfResetValuesFastMode_t fastMode) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (fastMode < 0 || fastMode > 1) return CUSOLVER_STATUS_INVALID_VALUE;
  handle->fast = fastMode;
  return CUSOLVER_STATUS_SUCCESS;
}

/* Pivots below `zero` would be replaced by `boost`. */
cusolverStatus_t cusolverRfSetNumericProperties(cusolverRfHandle_t handle, double zero, double boost) {
  static int said;
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (zero == 0 && boost == 0) return CUSOLVER_STATUS_SUCCESS;
  return libmap_refuse(&said, "cusolverRf with boosted pivots", CUSOLVER_STATUS_NOT_SUPPORTED);
}

cusolverStatus_t cusolverRfGetMatrixFormat(cusolverRfHandle_t handle, cusolverRfMatrixFormat_t *format,
                                           cusolverRfUnitDiagonal_t *diag) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!format || !diag) return CUSOLVER_STATUS_INVALID_VALUE;
  *format = CSR, *diag = handle->diagonal;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverRfGetAlgs(cusolverRfHandle_t handle, cusolverRfFactorization_t *factAlg,
                                   cusolverRfTriangularSolve_t *solveAlg) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!factAlg || !solveAlg) return CUSOLVER_STATUS_INVALID_VALUE;
  *factAlg = handle->factor, *solveAlg = handle->solve;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverRfGetResetValuesFastMode(cusolverRfHandle_t handle,
                                                  cusolverRfResetValuesFastMode_t *fastMode) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!fastMode) return CUSOLVER_STATUS_INVALID_VALUE;
  *fastMode = handle->fast;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverRfGetNumericProperties(cusolverRfHandle_t handle, double *zero, double *boost) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!zero || !boost) return CUSOLVER_STATUS_INVALID_VALUE;
  *zero = *boost = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverRfGetNumericBoostReport(cusolverRfHandle_t handle, cusolverRfNumericBoostReport_t *report) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!report) return CUSOLVER_STATUS_INVALID_VALUE;
  *report = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

/* ---- factors ---- */

struct factor {
  int count, *row, *column;
  double *value;
  bool own; /* it is freed */
};

static void free_factor(struct factor *factor) {
  if (factor->own) free(factor->row), free(factor->column), free(factor->value);
}

/* L with ones as the last numbers of its rows. */
static bool with_diagonal(int n, int count, const int *row, const int *column, const double *value, struct factor *out) {
  size_t room = (size_t)count + (size_t)n + 1;
  *out = (struct factor){count + n, malloc(((size_t)n + 1) * sizeof *out->row), malloc(room * sizeof *out->column),
                         malloc(room * sizeof *out->value), true};
  if (!out->row || !out->column || !out->value) return false;
  out->row[0] = row[0];
  for (int i = 0, to = 0; i < n; i++) {
    for (int k = row[i] - row[0]; k < row[i + 1] - row[0]; k++) out->column[to] = column[k], out->value[to++] = value[k];
    out->column[to] = i + row[0], out->value[to++] = 1;
    out->row[i + 1] = to + row[0];
  }
  return true;
}

static bool is_list(int n, int count, const int *row) {
  bool good = n > 0 && count >= 0 && row && row[n] - row[0] == count;
  for (int i = 0; i < n && good; i++) good = row[i] <= row[i + 1];
  return good;
}

/* The factor L of the program, as hipSOLVER takes it. */
static cusolverStatus_t lower(cusolverRfHandle_t handle, int n, int count, int *row, int *column, double *value,
                              struct factor *out) {
  *out = (struct factor){count, row, column, value, false};
  if (handle->diagonal != ASSUMED_L) return CUSOLVER_STATUS_SUCCESS;
  if (!is_list(n, count, row) || !column || !value) return CUSOLVER_STATUS_INVALID_VALUE;
  if (with_diagonal(n, count, row, column, value, out)) return CUSOLVER_STATUS_SUCCESS;
  free_factor(out);
  return CUSOLVER_STATUS_ALLOC_FAILED;
}

cusolverStatus_t cusolverRfSetupHost(int n, int nnzA, int *h_csrRowPtrA, int *h_csrColIndA, double *h_csrValA, int nnzL,
                                     int *h_csrRowPtrL, int *h_csrColIndL, double *h_csrValL, int nnzU,
                                     int *h_csrRowPtrU, int *h_csrColIndU, double *h_csrValU, int *h_P, int *h_Q,
                                     cusolverRfHandle_t handle) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  struct factor l;
  cusolverStatus_t status = lower(handle, n, nnzL, h_csrRowPtrL, h_csrColIndL, h_csrValL, &l);
  if (status) return status;
  status = cusolver_status(hipsolver.RfSetupHost(n, nnzA, h_csrRowPtrA, h_csrColIndA, h_csrValA, l.count, l.row, l.column,
                                                 l.value, nnzU, h_csrRowPtrU, h_csrColIndU, h_csrValU, h_P, h_Q,
                                                 handle->hipsolver));
  free_factor(&l);
  return status;
}

/* A device's array on the host; NULL: it cannot be read, or there is no memory. */
static void *fetched(const void *from, size_t size) { return from ? sparse_fetched(true, from, size) : NULL; }

static bool fetch(int n, int count, const int *row, const int *column, const double *value, struct factor *out) {
  *out = (struct factor){count, fetched(row, ((size_t)n + 1) * sizeof *row), fetched(column, (size_t)count * sizeof *column),
                         fetched(value, (size_t)count * sizeof *value), true};
  return out->row && out->column && out->value;
}

cusolverStatus_t cusolverRfSetupDevice(int n, int nnzA, int *csrRowPtrA, int *csrColIndA, double *csrValA, int nnzL,
                                       int *csrRowPtrL, int *csrColIndL, double *csrValL, int nnzU, int *csrRowPtrU,
                                       int *csrColIndU, double *csrValU, int *P, int *Q, cusolverRfHandle_t handle) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (handle->diagonal != ASSUMED_L) {
    return cusolver_status(hipsolver.RfSetupDevice(n, nnzA, csrRowPtrA, csrColIndA, csrValA, nnzL, csrRowPtrL,
                                                   csrColIndL, csrValL, nnzU, csrRowPtrU, csrColIndU, csrValU, P, Q,
                                                   handle->hipsolver));
  }
  if (n < 1 || nnzA < 0 || nnzL < 0 || nnzU < 0) return CUSOLVER_STATUS_INVALID_VALUE;
  struct factor a = {0}, l = {0}, u = {0};
  bool good = fetch(n, nnzA, csrRowPtrA, csrColIndA, csrValA, &a) && fetch(n, nnzL, csrRowPtrL, csrColIndL, csrValL, &l) &&
              fetch(n, nnzU, csrRowPtrU, csrColIndU, csrValU, &u);
  int *p = fetched(P, (size_t)n * sizeof *p), *q = fetched(Q, (size_t)n * sizeof *q);
  cusolverStatus_t status = !good || !p || !q ? CUSOLVER_STATUS_INVALID_VALUE
                            : cusolverRfSetupHost(n, nnzA, a.row, a.column, a.value, nnzL, l.row, l.column, l.value, nnzU,
                                                  u.row, u.column, u.value, p, q, handle);
  free_factor(&a), free_factor(&l), free_factor(&u), free(p), free(q);
  return status;
}

cusolverStatus_t cusolverRfExtractSplitFactorsHost(cusolverRfHandle_t handle, int *h_nnzL, int **h_csrRowPtrL,
                                                   int **h_csrColIndL, double **h_csrValL, int *h_nnzU,
                                                   int **h_csrRowPtrU, int **h_csrColIndU, double **h_csrValU) {
  static int said;
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (handle->diagonal == ASSUMED_L) {
    return libmap_refuse(&said, "cusolverRfExtractSplitFactorsHost without a diagonal", CUSOLVER_STATUS_NOT_SUPPORTED);
  }
  return cusolver_status(hipsolver.RfExtractSplitFactorsHost(handle->hipsolver, h_nnzL, h_csrRowPtrL, h_csrColIndL,
                                                             h_csrValL, h_nnzU, h_csrRowPtrU, h_csrColIndU, h_csrValU));
}
