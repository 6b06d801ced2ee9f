/* Products of a sparse matrix with a vector, by rocSPARSE on copies of the descriptors (copies.c, kept.c). */
#include "cusparse_handle.h"

/* CSR uses the row-based algorithm: rocSPARSE's others require an analysis, which CUDA programs need not request. */
static bool algorithm(cusparseSpMVAlg_t alg, rocsparse_spmv_alg *out) {
  switch (alg) {
    case 0: *out = rocsparse_spmv_alg_default; return true;
    case 1: case 4: *out = rocsparse_spmv_alg_coo; return true;
    case 2: case 3: *out = rocsparse_spmv_alg_csr_rowsplit; return true;
    default: return false;
  }
}

static cusparseStatus_t multiply(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
                                 cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX, const void *beta,
                                 cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpMVAlg_t alg,
                                 rocsparse_spmv_stage stage, size_t *size, void *buffer) {
  hipsparseHandle_t found;
  rocsparse_operation operation;
  rocsparse_datatype type;
  rocsparse_spmv_alg way;
  rocsparse_spmat_descr a;
  rocsparse_dnvec_descr x, y;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!alpha || !beta || !size || !cusparse_operation(opA, &operation)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!cusparse_data_type(computeType, &type) || !algorithm(alg, &way)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (!cusparse_vector_product_fits(opA, matA, vecX, vecY)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (cusparse_batch(matA, NULL, NULL)) return cusparse_no(true, "cusparseSpMV of a batch");
  cusparseStatus_t status = cusparse_borrow(handle, matA, operation, way, &a);
  if (status) return status;
  status = cusparse_copy_vector(vecX, &x);
  if (!status) {
    status = cusparse_copy_vector(vecY, &y);
    if (!status) {
      rocsparse_status done =
          rocsparse.spmv(handle->rocsparse, operation, alpha, a, x, beta, y, type, way, stage, size, buffer);
      /* All other errors have been checked before. */
      status = done == rocsparse_status_invalid_value ? cusparse_no(true, "cusparseSpMV of these types")
                                                      : cusparse_of_rocsparse(done);
      rocsparse.destroy_dnvec_descr(y);
    }
    rocsparse.destroy_dnvec_descr(x);
  }
  cusparse_give_back(handle, a);
  return status;
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
                                         cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                                         const void *beta, cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                         cusparseSpMVAlg_t alg, size_t *bufferSize) {
  return multiply(handle, opA, alpha, matA, vecX, beta, vecY, computeType, alg, rocsparse_spmv_stage_buffer_size,
                  bufferSize, NULL);
}

/* Nothing is stored, so this only checks the arguments. */
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
                                         cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                                         const void *beta, cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                         cusparseSpMVAlg_t alg, void *externalBuffer) {
  size_t size;
  (void)externalBuffer;
  return cusparseSpMV_bufferSize(handle, opA, alpha, matA, vecX, beta, vecY, computeType, alg, &size);
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
                              cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX, const void *beta,
                              cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpMVAlg_t alg,
                              void *externalBuffer) {
  size_t size = 0;
  return multiply(handle, opA, alpha, matA, vecX, beta, vecY, computeType, alg, rocsparse_spmv_stage_compute, &size,
                  externalBuffer);
}
