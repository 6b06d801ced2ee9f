/* Matrices without elements, whose arrays may be missing: some of rocSPARSE's conversions fail on them. */
#include "cusparse_handle.h"

bool cusparse_empty(cusparseConstSpMatDescr_t matrix) {
  int64_t rows, columns, count;
  return matrix && !hipsparse.SpMatGetSize(matrix, &rows, &columns, &count) && !count;
}

/* An empty matrix as COO: for CSC, rocSPARSE launches a kernel with no threads. */
hipsparseStatus_t cusparse_to_dense(hipsparseHandle_t handle, cusparseConstSpMatDescr_t matrix,
                                    cusparseDnMatDescr_t dense, hipsparseSparseToDenseAlg_t alg, void *buffer) {
  int64_t rows, columns, leading;
  const void *values;
  hipDataType type;
  hipsparseOrder_t order;
  hipsparseSpMatDescr_t other;
  if (!cusparse_empty(matrix)) return hipsparse.SparseToDense(handle, matrix, dense, alg, buffer);
  hipsparseStatus_t status = hipsparse.ConstDnMatGet(dense, &rows, &columns, &leading, &values, &type, &order);
  if (!status)
    status = hipsparse.CreateCoo(&other, rows, columns, 0, NULL, NULL, NULL, HIPSPARSE_INDEX_32I,
                                 HIPSPARSE_INDEX_BASE_ZERO, type);
  if (status) return status;
  status = hipsparse.SparseToDense(handle, other, dense, alg, buffer);
  hipsparse.DestroySpMat(other);
  return status;
}
