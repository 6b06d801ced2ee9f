/* Solves with a sparse triangular matrix, using rocSPARSE. The analysis is stored in the copy of the matrix descriptor
 * (copies.c), which the program's solve descriptor owns. */
#include <stdlib.h>

#include "solve.h"

#define DESCRIPTORS(name)                                                                                \
  cusparseStatus_t cusparse##name##_createDescr(cusparse##name##Descr_t *descr) {                        \
    if (!descr) return CUSPARSE_STATUS_INVALID_VALUE;                                                    \
    *descr = calloc(1, sizeof **descr);                                                                  \
    return *descr ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;                              \
  }                                                                                                      \
  cusparseStatus_t cusparse##name##_destroyDescr(cusparse##name##Descr_t descr) {                        \
    if (!descr) return CUSPARSE_STATUS_SUCCESS;                                                          \
    if (descr->analysis.matrix) rocsparse.destroy_spmat_descr(descr->analysis.matrix);                   \
    cusparse_forget(&descr->analysis);                                                                   \
    free(descr);                                                                                         \
    return CUSPARSE_STATUS_SUCCESS;                                                                      \
  }

DESCRIPTORS(SpSV)
DESCRIPTORS(SpSM)

/* The arguments of a call except its matrices. */
struct how {
  cusparseHandle_t handle;
  rocsparse_operation op_a, op_b;
  const void *alpha;
  rocsparse_datatype type;
};

static cusparseStatus_t understood(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                   const void *alpha, cudaDataType type, int alg, int algorithms, struct how *out) {
  hipsparseHandle_t found;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!alpha || !cusparse_operation(opA, &out->op_a) || !cusparse_operation(opB, &out->op_b))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (alg < 0 || alg >= algorithms || !cusparse_data_type(type, &out->type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  out->handle = handle, out->alpha = alpha;
  return CUSPARSE_STATUS_SUCCESS;
}

/* The stages of rocSPARSE's two functions have the same values. */
enum stage { SIZE = 1, ANALYSIS, SOLUTION };
typedef cusparseStatus_t solver(const struct how *how, rocsparse_spmat_descr a, const void *b, void *c, enum stage stage,
                                size_t *size, void *buffer);

static cusparseStatus_t one(const struct how *how, rocsparse_spmat_descr a, const void *b, void *c, enum stage stage,
                            size_t *size, void *buffer) {
  rocsparse_dnvec_descr x, y;
  cusparseStatus_t status = cusparse_copy_vector(b, &x);
  if (status) return status;
  status = cusparse_copy_vector(c, &y);
  if (!status) {
    status = cusparse_of_rocsparse(rocsparse.spsv(how->handle->rocsparse, how->op_a, how->alpha, a, x, y, how->type,
                                                  rocsparse_spsv_alg_default, (rocsparse_spsv_stage)stage, size, buffer));
    rocsparse.destroy_dnvec_descr(y);
  }
  rocsparse.destroy_dnvec_descr(x);
  return status;
}

static cusparseStatus_t many(const struct how *how, rocsparse_spmat_descr a, const void *b, void *c, enum stage stage,
                             size_t *size, void *buffer) {
  rocsparse_dnmat_descr x, y;
  cusparseStatus_t status = cusparse_copy_dense(b, &x);
  if (status) return status;
  status = cusparse_copy_dense(c, &y);
  if (!status) {
    status = cusparse_of_rocsparse(rocsparse.spsm(how->handle->rocsparse, how->op_a, how->op_b, how->alpha, a, x, y,
                                                  how->type, rocsparse_spsm_alg_default, (rocsparse_spsm_stage)stage,
                                                  size, buffer));
    rocsparse.destroy_dnmat_descr(y);
  }
  rocsparse.destroy_dnmat_descr(x);
  return status;
}

static cusparseStatus_t sized(const struct how *how, solver *solve, cusparseConstSpMatDescr_t matrix, const void *b,
                              void *c, const struct analysis *kept, size_t *size) {
  rocsparse_spmat_descr a;
  if (!kept || !size) return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseStatus_t status = cusparse_copy_matrix(matrix, &a);
  if (status) return status;
  status = solve(how, a, b, c, SIZE, size, NULL);
  rocsparse.destroy_spmat_descr(a);
  return status;
}

static cusparseStatus_t analysed(const struct how *how, solver *solve, cusparseConstSpMatDescr_t matrix, const void *b,
                                 void *c, struct analysis *kept, void *buffer) {
  rocsparse_spmat_descr a;
  size_t size = 0;
  struct cusparse_parts parts;
  if (!kept || !buffer) return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseStatus_t status = cusparse_parts_of(matrix, &parts);
  if (!status) status = cusparse_matrix_of(&parts, &a);
  if (status) return status;
  status = solve(how, a, b, c, ANALYSIS, &size, buffer);
  if (status) {
    rocsparse.destroy_spmat_descr(a);
    return status;
  }
  if (kept->matrix) rocsparse.destroy_spmat_descr(kept->matrix);
  cusparse_forget(kept);
  kept->matrix = a, kept->buffer = buffer, kept->parts = parts;
  return CUSPARSE_STATUS_SUCCESS;
}

/* With the values that the program's matrix has now, or those of the last update. */
static cusparseStatus_t solved(const struct how *how, solver *solve, cusparseConstSpMatDescr_t matrix, const void *b,
                               void *c, struct analysis *kept) {
  const void *values;
  size_t size = 0;
  if (!kept || !kept->matrix || !matrix) return CUSPARSE_STATUS_INVALID_VALUE;
  hipsparseStatus_t found = hipsparse.ConstSpMatGetValues(matrix, &values);
  if (found) return cusparse_status(found);
  if (kept->values) values = (const void *)(uintptr_t)kept->values;
  cusparseStatus_t status = cusparse_of_rocsparse(rocsparse.spmat_set_values(kept->matrix, (void *)values));
  return status ? status : solve(how, kept->matrix, b, c, SOLUTION, &size, kept->buffer);
}

#define BEGIN(op_b, algorithms, descr, fits, several)                                                          \
  struct how how;                                                                                              \
  struct analysis *kept = descr ? &descr->analysis : NULL;                                                     \
  cusparseStatus_t status = understood(handle, opA, op_b, alpha, computeType, alg, algorithms, &how);          \
  if (status) return status;                                                                                   \
  if (!(fits)) return CUSPARSE_STATUS_INVALID_VALUE;                                                           \
  if (several) return cusparse_no(true, "cusparseSpSV or SpSM of a batch")
#define BEGIN_ONE BEGIN(PLAIN, SPSV_ALGORITHMS, spsvDescr, cusparse_vector_product_fits(PLAIN, matA, vecX, vecY) && \
                        cusparse_vector_product_fits(TRANSPOSED, matA, vecX, vecY), \
                        cusparse_batch(matA, NULL, NULL))
#define BEGIN_MANY BEGIN(opB, SPSM_ALGORITHMS, spsmDescr, cusparse_solution_fits(opB, matA, matB, matC), \
                         cusparse_batch(matA, matB, matC))

/* CUDA 13 has three algorithms for a single right-hand side, which differ in the method only. */
enum { SPSV_ALGORITHMS = 3, SPSM_ALGORITHMS = 1, PLAIN = 0, TRANSPOSED = 1 };

cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
                                         cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                                         cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpSVAlg_t alg,
                                         cusparseSpSVDescr_t spsvDescr, size_t *bufferSize) {
  BEGIN_ONE;
  return sized(&how, one, matA, vecX, vecY, kept, bufferSize);
}

cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
                                       cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                                       cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpSVAlg_t alg,
                                       cusparseSpSVDescr_t spsvDescr, void *externalBuffer) {
  BEGIN_ONE;
  return analysed(&how, one, matA, vecX, vecY, kept, externalBuffer);
}

cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
                                    cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                                    cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpSVAlg_t alg,
                                    cusparseSpSVDescr_t spsvDescr) {
  BEGIN_ONE;
  return solved(&how, one, matA, vecX, vecY, kept);
}

cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                         const void *alpha, cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnMatDescr_t matB, cusparseDnMatDescr_t matC,
                                         cudaDataType computeType, cusparseSpSMAlg_t alg, cusparseSpSMDescr_t spsmDescr,
                                         size_t *bufferSize) {
  BEGIN_MANY;
  return sized(&how, many, matA, matB, matC, kept, bufferSize);
}

cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                       const void *alpha, cusparseConstSpMatDescr_t matA,
                                       cusparseConstDnMatDescr_t matB, cusparseDnMatDescr_t matC,
                                       cudaDataType computeType, cusparseSpSMAlg_t alg, cusparseSpSMDescr_t spsmDescr,
                                       void *externalBuffer) {
  BEGIN_MANY;
  return analysed(&how, many, matA, matB, matC, kept, externalBuffer);
}

cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                                    const void *alpha, cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                                    cusparseDnMatDescr_t matC, cudaDataType computeType, cusparseSpSMAlg_t alg,
                                    cusparseSpSMDescr_t spsmDescr) {
  BEGIN_MANY;
  return solved(&how, many, matA, matB, matC, kept);
}
