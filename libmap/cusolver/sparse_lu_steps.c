/* LU factors of a sparse matrix on the host, in steps: analysis, memory, factors, pivots, solutions, both factors. */
#include <stdlib.h>

#include "sparse_system.h"

struct csrluInfoHost_t_st {
  int mark;
  int n, entries; /* of the matrix that was analysed; n 0: none */
  bool sized;     /* whether its memory was asked for */
  enum kind kind; /* of the factors; their n is 0: there are none */
  struct factors factors;
};
enum { LU_STEPS = 0x63736c75 };

static bool is_info(csrluInfoHost_t info) { return info && info->mark == LU_STEPS; }

cusolverStatus_t cusolverSpCreateCsrluInfoHost(csrluInfoHost_t *info) {
  if (!info) return CUSOLVER_STATUS_INVALID_VALUE;
  if (!(*info = calloc(1, sizeof **info))) return CUSOLVER_STATUS_ALLOC_FAILED;
  (*info)->mark = LU_STEPS;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverSpDestroyCsrluInfoHost(csrluInfoHost_t info) {
  if (!info) return CUSOLVER_STATUS_SUCCESS;
  if (!is_info(info)) return CUSOLVER_STATUS_INVALID_VALUE;
  sparse_free_factors(&info->factors);
  info->mark = 0;
  free(info);
  return CUSOLVER_STATUS_SUCCESS;
}

/* ---- the matrix ---- */

static cusolverStatus_t check(cusolverSpHandle_t handle, csrluInfoHost_t info, const struct pattern *of,
                              cusparseMatDescr_t descriptor) {
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  bool good = is_info(info) && of->n >= 1 && of->entries >= 0 && of->base >= 0 && sparse_general(descriptor) && of->row &&
              of->column;
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

cusolverStatus_t cusolverSpXcsrluAnalysisHost(cusolverSpHandle_t handle, int n, int nnzA, cusparseMatDescr_t descrA,
                                              const int *csrRowPtrA, const int *csrColIndA, csrluInfoHost_t info) {
  const struct pattern of = {n, n, nnzA, sparse_base(descrA), csrRowPtrA, csrColIndA};
  cusolverStatus_t status = check(handle, info, &of, descrA);
  if (status) return status;
  if (!sparse_is_matrix(&of)) return CUSOLVER_STATUS_INVALID_VALUE;
  sparse_free_factors(&info->factors);
  info->n = n, info->entries = nnzA, info->sized = false;
  return CUSOLVER_STATUS_SUCCESS;
}

/* Whether it is the matrix that was analysed. */
static cusolverStatus_t analysed(cusolverSpHandle_t handle, csrluInfoHost_t info, const struct pattern *of,
                                 cusparseMatDescr_t descriptor, const void *value) {
  cusolverStatus_t status = check(handle, info, of, descriptor);
  if (status) return status;
  bool same = value && info->n == of->n && info->entries == of->entries && sparse_is_matrix(of);
  return same ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

static cusolverStatus_t factor(csrluInfoHost_t info, enum kind kind, const struct pattern *of, const void *value,
                               double threshold) {
  struct host_matrix matrix;
  if (!info->sized || !(threshold >= 0 && threshold <= 1)) return CUSOLVER_STATUS_INVALID_VALUE;
  if (!sparse_on_host(kind, of, value, &matrix)) return CUSOLVER_STATUS_ALLOC_FAILED;
  sparse_free_factors(&info->factors);
  info->kind = kind;
  bool good = sparse_factor(&matrix.a, threshold, &info->factors);
  sparse_free_matrix(&matrix);
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

/* ---- the factors ---- */

/* Whether there are factors; of a type, unless that is negative. */
static cusolverStatus_t factored(cusolverSpHandle_t handle, csrluInfoHost_t info, int kind) {
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  bool good = is_info(info) && info->factors.n && (kind < 0 || info->kind == (enum kind)kind);
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

static cusolverStatus_t solve(csrluInfoHost_t info, int n, const void *b, void *x) {
  if (n != info->factors.n || !b || !x) return CUSOLVER_STATUS_INVALID_VALUE;
  double complex *right = malloc((size_t)n * sizeof *right), *out = malloc((size_t)n * sizeof *out);
  bool good = right && out;
  for (int i = 0; i < n && good; i++) right[i] = sparse_number(info->kind, b, i);
  if (good) sparse_substitute(&info->factors, right, out);
  for (int i = 0; i < n && good; i++) sparse_store(info->kind, x, i, out[i]);
  free(right), free(out);
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

static int numbers(int n, const struct line *columns) {
  int count = 0;
  for (int k = 0; k < n; k++) count += columns[k].count;
  return count;
}

cusolverStatus_t cusolverSpXcsrluNnzHost(cusolverSpHandle_t handle, int *nnzLRef, int *nnzURef, csrluInfoHost_t info) {
  cusolverStatus_t status = factored(handle, info, -1);
  if (status) return status;
  if (!nnzLRef || !nnzURef) return CUSOLVER_STATUS_INVALID_VALUE;
  *nnzLRef = numbers(info->n, info->factors.lower), *nnzURef = numbers(info->n, info->factors.upper);
  return CUSOLVER_STATUS_SUCCESS;
}

/* Columns of a factor as rows. place: where its rows are; NULL: at their numbers. */
struct rows {
  cusparseMatDescr_t descriptor;
  void *value;
  int *row, *column;
};
static void extract(enum kind kind, int n, const struct line *columns, const int *place, const struct rows *out) {
  int base = sparse_base(out->descriptor), total = 0;
  for (int i = 0; i <= n; i++) out->row[i] = 0;
  for (int k = 0; k < n; k++) {
    for (int e = 0; e < columns[k].count; e++) out->row[place ? place[columns[k].at[e]] : columns[k].at[e]]++;
  }
  for (int i = 0; i <= n; i++) {
    int count = out->row[i];
    out->row[i] = total, total += count;
  }
  for (int k = 0; k < n; k++) {
    for (int e = 0; e < columns[k].count; e++) {
      int at = out->row[place ? place[columns[k].at[e]] : columns[k].at[e]]++;
      out->column[at] = k + base;
      sparse_store(kind, out->value, at, columns[k].value[e]);
    }
  }
  for (int i = n; i > 0; i--) out->row[i] = out->row[i - 1] + base; /* each is where the next begins */
  out->row[0] = base;
}

static cusolverStatus_t extract_both(csrluInfoHost_t info, int *p, int *q, const struct rows *lower,
                                     const struct rows *upper) {
  const struct rows *both[] = {lower, upper};
  int n = info->factors.n;
  for (int i = 0; i < 2; i++) {
    if (!both[i]->value || !both[i]->row || !both[i]->column || sparse_base(both[i]->descriptor) < 0 || !p || !q) {
      return CUSOLVER_STATUS_INVALID_VALUE;
    }
  }
  int *place = malloc((size_t)n * sizeof *place);
  if (!place) return CUSOLVER_STATUS_ALLOC_FAILED;
  for (int k = 0; k < n; k++) place[info->factors.p[k]] = k, p[k] = info->factors.p[k], q[k] = k;
  extract(info->kind, n, info->factors.lower, place, lower);
  extract(info->kind, n, info->factors.upper, NULL, upper);
  free(place);
  return CUSOLVER_STATUS_SUCCESS;
}

/* ---- the functions ---- */

#define ALL(letter, T, R, type)                                                                                        \
  cusolverStatus_t cusolverSp##letter##csrluBufferInfoHost(                                                            \
      cusolverSpHandle_t handle, int n, int nnzA, cusparseMatDescr_t descrA, const T *csrValA, const int *csrRowPtrA,  \
      const int *csrColIndA, csrluInfoHost_t info, size_t *internalDataInBytes, size_t *workspaceInBytes) {            \
    const struct pattern of = {n, n, nnzA, sparse_base(descrA), csrRowPtrA, csrColIndA};                               \
    cusolverStatus_t status = analysed(handle, info, &of, descrA, csrValA);                                            \
    if (!status && (!internalDataInBytes || !workspaceInBytes)) status = CUSOLVER_STATUS_INVALID_VALUE;                \
    if (status) return status;                                                                                         \
    info->sized = true;                                                                                                \
    return sparse_buffers(internalDataInBytes, workspaceInBytes);                                                      \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrluFactorHost(                                                                \
      cusolverSpHandle_t handle, int n, int nnzA, cusparseMatDescr_t descrA, const T *csrValA, const int *csrRowPtrA,  \
      const int *csrColIndA, csrluInfoHost_t info, R pivot_threshold, void *pBuffer) {                                 \
    const struct pattern of = {n, n, nnzA, sparse_base(descrA), csrRowPtrA, csrColIndA};                               \
    (void)pBuffer;                                                                                                     \
    cusolverStatus_t status = analysed(handle, info, &of, descrA, csrValA);                                            \
    return status ? status : factor(info, type, &of, csrValA, pivot_threshold);                                        \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrluZeroPivotHost(cusolverSpHandle_t handle, csrluInfoHost_t info, R tol,      \
                                                          int *position) {                                             \
    cusolverStatus_t status = factored(handle, info, type);                                                            \
    if (!status && (!(tol >= 0) || !position)) status = CUSOLVER_STATUS_INVALID_VALUE;                                 \
    if (!status) *position = sparse_pivot(&info->factors, tol);                                                        \
    return status;                                                                                                     \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrluSolveHost(cusolverSpHandle_t handle, int n, const T *b, T *x,              \
                                                      csrluInfoHost_t info, void *pBuffer) {                           \
    (void)pBuffer;                                                                                                     \
    cusolverStatus_t status = factored(handle, info, type);                                                            \
    return status ? status : solve(info, n, b, x);                                                                     \
  }                                                                                                                    \
  cusolverStatus_t cusolverSp##letter##csrluExtractHost(                                                               \
      cusolverSpHandle_t handle, int *P, int *Q, cusparseMatDescr_t descrL, T *csrValL, int *csrRowPtrL,               \
      int *csrColIndL, cusparseMatDescr_t descrU, T *csrValU, int *csrRowPtrU, int *csrColIndU, csrluInfoHost_t info,  \
      void *pBuffer) {                                                                                                 \
    const struct rows lower = {descrL, csrValL, csrRowPtrL, csrColIndL};                                               \
    const struct rows upper = {descrU, csrValU, csrRowPtrU, csrColIndU};                                               \
    (void)pBuffer;                                                                                                     \
    cusolverStatus_t status = factored(handle, info, type);                                                            \
    return status ? status : extract_both(info, P, Q, &lower, &upper);                                                 \
  }

ALL(S, float, float, SINGLE)
ALL(D, double, double, TWICE)
ALL(C, cuComplex, float, COMPLEX)
ALL(Z, cuDoubleComplex, double, BOTH)
