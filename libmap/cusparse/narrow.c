/* Buffer sizes that cuSPARSE returns as int and hipSPARSE as size_t, or the other way round. */
#include <limits.h>

#include "cusparse_handle.h"

_Thread_local int cusparse_size;

hipsparseStatus_t cusparse_widened(hipsparseStatus_t status, size_t *out) {
  if (!status) *out = (size_t)cusparse_size;
  return status;
}

cusparseStatus_t cusparse_narrowed(cusparseStatus_t status, size_t size, int *out) {
  if (status) return status;
  if (size > INT_MAX) return CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
  *out = (int)size;
  return CUSPARSE_STATUS_SUCCESS;
}

#define SIZES(letter, number)                                                                                          \
  cusparseStatus_t cusparse##letter##csr2gebsr_bufferSize(                                                             \
      cusparseHandle_t handle, cusparseDirection_t dirA, int m, int n, const cusparseMatDescr_t descrA,                \
      const number *csrSortedValA, const int *csrSortedRowPtrA, const int *csrSortedColIndA, int rowBlockDim,          \
      int colBlockDim, int *pBufferSizeInBytes) {                                                                      \
    hipsparseHandle_t found;                                                                                           \
    hipsparseDirection_t direction;                                                                                    \
    size_t size = 0;                                                                                                   \
    if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;                                       \
    if (!pBufferSizeInBytes || !beneath_cusparseDirection_t(dirA, &direction)) return CUSPARSE_STATUS_INVALID_VALUE;   \
    hipsparseStatus_t status = hipsparse.letter##csr2gebsr_bufferSize(                                                 \
        found, direction, m, n, descrA, csrSortedValA, csrSortedRowPtrA, csrSortedColIndA, rowBlockDim, colBlockDim,   \
        &size);                                                                                                        \
    return cusparse_narrowed(cusparse_status(status), size, pBufferSizeInBytes);                                                                   \
  }                                                                                                                    \
  cusparseStatus_t cusparse##letter##gebsr2gebsc_bufferSize(                                                           \
      cusparseHandle_t handle, int mb, int nb, int nnzb, const number *bsrSortedVal, const int *bsrSortedRowPtr,       \
      const int *bsrSortedColInd, int rowBlockDim, int colBlockDim, int *pBufferSizeInBytes) {                         \
    hipsparseHandle_t found;                                                                                           \
    size_t size = 0;                                                                                                   \
    if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;                                       \
    if (!pBufferSizeInBytes) return CUSPARSE_STATUS_INVALID_VALUE;                                                     \
    hipsparseStatus_t status = hipsparse.letter##gebsr2gebsc_bufferSize(                                               \
        found, mb, nb, nnzb, bsrSortedVal, bsrSortedRowPtr, bsrSortedColInd, rowBlockDim, colBlockDim, &size);         \
    return cusparse_narrowed(cusparse_status(status), size, pBufferSizeInBytes);                                                                   \
  }

SIZES(S, float)
SIZES(D, double)
SIZES(C, cuComplex)
SIZES(Z, cuDoubleComplex)
