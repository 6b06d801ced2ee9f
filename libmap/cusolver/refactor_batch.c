/* Refactorisations of several matrices with the same pattern: each has a handle of its own. */
#include <stdlib.h>

#include "refactor.h"

void refactor_free_batch(cusolverRfHandle_t handle) {
  for (int i = 0; i < handle->count; i++) cusolverRfDestroy(handle->batch[i]);
  free(handle->batch);
  handle->batch = NULL, handle->count = 0;
}

/* One more handle, with the settings of the whole. */
static cusolverStatus_t add(cusolverRfHandle_t handle) {
  cusolverRfHandle_t *made = &handle->batch[handle->count];
  cusolverStatus_t status = cusolverRfCreate(made);
  if (!status) handle->count++, (*made)->diagonal = handle->diagonal;
  return status;
}

cusolverStatus_t cusolverRfBatchSetupHost(int batchSize, int n, int nnzA, int *h_csrRowPtrA, int *h_csrColIndA,
                                          double **h_csrValA_array, int nnzL, int *h_csrRowPtrL, int *h_csrColIndL,
                                          double *h_csrValL, int nnzU, int *h_csrRowPtrU, int *h_csrColIndU,
                                          double *h_csrValU, int *h_P, int *h_Q, cusolverRfHandle_t handle) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (batchSize < 1 || n < 1 || !h_csrValA_array) return CUSOLVER_STATUS_INVALID_VALUE;
  refactor_free_batch(handle);
  handle->n = n;
  handle->batch = calloc((size_t)batchSize, sizeof(cusolverRfHandle_t));
  cusolverStatus_t status = handle->batch ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
  for (int i = 0; i < batchSize && !status; i++) {
    status = add(handle);
    if (!status) {
      status = cusolverRfSetupHost(n, nnzA, h_csrRowPtrA, h_csrColIndA, h_csrValA_array[i], nnzL, h_csrRowPtrL,
                                   h_csrColIndL, h_csrValL, nnzU, h_csrRowPtrU, h_csrColIndU, h_csrValU, h_P, h_Q,
                                   handle->batch[i]);
    }
  }
  if (status) refactor_free_batch(handle);
  return status;
}

static cusolverStatus_t ready(cusolverRfHandle_t handle) {
  if (!refactor_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  return handle->count ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

#define EACH(name)                                                                                        \
  cusolverStatus_t cusolverRfBatch##name(cusolverRfHandle_t handle) {                                     \
    cusolverStatus_t status = ready(handle);                                                              \
    for (int i = 0; !status && i < handle->count; i++) status = cusolverRf##name(handle->batch[i]);       \
    return status;                                                                                        \
  }

EACH(Analyze)
EACH(Refactor)

/* The program's list of pointers, which is on the device; to be freed. NULL: it cannot be read, or there is no memory. */
static double **pointers(cusolverRfHandle_t handle, double **list) {
  size_t size = (size_t)handle->count * sizeof *list;
  return list ? sparse_fetched(true, list, size) : NULL;
}

cusolverStatus_t cusolverRfBatchResetValues(int batchSize, int n, int nnzA, int *csrRowPtrA, int *csrColIndA,
                                            double **csrValA_array, int *P, int *Q, cusolverRfHandle_t handle) {
  cusolverStatus_t status = ready(handle);
  if (status) return status;
  double **values = batchSize == handle->count ? pointers(handle, csrValA_array) : NULL;
  if (!values) return CUSOLVER_STATUS_INVALID_VALUE;
  for (int i = 0; i < handle->count && !status; i++) {
    status = cusolverRfResetValues(n, nnzA, csrRowPtrA, csrColIndA, values[i], P, Q, handle->batch[i]);
  }
  free(values);
  return status;
}

cusolverStatus_t cusolverRfBatchSolve(cusolverRfHandle_t handle, int *P, int *Q, int nrhs, double *Temp, int ldt,
                                      double **XF_array, int ldxf) {
  cusolverStatus_t status = ready(handle);
  if (status) return status;
  double **solutions = pointers(handle, XF_array);
  if (!solutions) return CUSOLVER_STATUS_INVALID_VALUE;
  for (int i = 0; i < handle->count && !status; i++) {
    status = cusolverRfSolve(handle->batch[i], P, Q, nrhs, Temp, ldt, solutions[i], ldxf);
  }
  free(solutions);
  return status;
}

/* The first row of a factored matrix whose pivot is 0; -1: none. False: it cannot be read. */
static bool zero_pivot(cusolverRfHandle_t one, int n, int *position) {
  int entries, *row, *column;
  double *value;
  if (cusolverRfAccessBundledFactorsDevice(one, &entries, &row, &column, &value)) return false;
  int *rows = sparse_fetched(true, row, ((size_t)n + 1) * sizeof *rows);
  int *columns = sparse_fetched(true, column, (size_t)entries * sizeof *columns);
  double *values = sparse_fetched(true, value, (size_t)entries * sizeof *values);
  bool good = rows && columns && values;
  *position = -1;
  for (int i = 0; i < n && good && *position < 0; i++) {
    bool found = false;
    for (int k = rows[i]; k < rows[i + 1]; k++) found |= columns[k] == i && values[k] != 0 && values[k] == values[k];
    if (!found) *position = i;
  }
  free(rows), free(columns), free(values);
  return good;
}

cusolverStatus_t cusolverRfBatchZeroPivot(cusolverRfHandle_t handle, int *position) {
  cusolverStatus_t status = ready(handle);
  if (status) return status;
  if (!position) return CUSOLVER_STATUS_INVALID_VALUE;
  for (int i = 0; i < handle->count; i++) {
    if (!zero_pivot(handle->batch[i], handle->n, &position[i])) return CUSOLVER_STATUS_EXECUTION_FAILED;
    if (position[i] >= 0) status = CUSOLVER_STATUS_ZERO_PIVOT;
  }
  return status;
}
