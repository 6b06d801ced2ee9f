/* Types and numbers of hipSPARSE, as far as libcusparse uses them; those of rocSPARSE too. */
#ifndef HIPSPARSE_TYPES_H
#define HIPSPARSE_TYPES_H
#include <stddef.h>
#include <stdint.h>

#include "rocsparse_types.h"

typedef void *hipsparseHandle_t, *hipsparseMatDescr_t, *hipsparseColorInfo_t;
typedef void *hipsparseSpVecDescr_t, *hipsparseDnVecDescr_t, *hipsparseDnMatDescr_t;
typedef const void *hipsparseConstSpVecDescr_t, *hipsparseConstDnVecDescr_t, *hipsparseConstDnMatDescr_t;
typedef struct hipsparseSpMatDescr_st *hipsparseSpMatDescr_t;
typedef const struct hipsparseSpMatDescr_st *hipsparseConstSpMatDescr_t;
typedef struct hipsparseSpGEMMDescr *hipsparseSpGEMMDescr_t;
typedef struct hipsparseSpSVDescr *hipsparseSpSVDescr_t;
typedef struct hipsparseSpSMDescr *hipsparseSpSMDescr_t;
typedef struct bsrsv2Info *bsrsv2Info_t;
typedef struct bsrsm2Info *bsrsm2Info_t;
typedef struct bsrilu02Info *bsrilu02Info_t;
typedef struct bsric02Info *bsric02Info_t;
typedef struct csrsv2Info *csrsv2Info_t;
typedef struct csrsm2Info *csrsm2Info_t;
typedef struct csrilu02Info *csrilu02Info_t;
typedef struct csric02Info *csric02Info_t;
typedef struct csrgemm2Info *csrgemm2Info_t;
typedef struct pruneInfo *pruneInfo_t;
typedef struct csru2csrInfo *csru2csrInfo_t;
typedef struct hipComplex { float x, y; } hipComplex;
typedef struct hipDoubleComplex { double x, y; } hipDoubleComplex;

typedef enum hipsparseStatus_t {
  HIPSPARSE_STATUS_SUCCESS, HIPSPARSE_STATUS_NOT_INITIALIZED, HIPSPARSE_STATUS_ALLOC_FAILED,
  HIPSPARSE_STATUS_INVALID_VALUE, HIPSPARSE_STATUS_ARCH_MISMATCH, HIPSPARSE_STATUS_MAPPING_ERROR,
  HIPSPARSE_STATUS_EXECUTION_FAILED, HIPSPARSE_STATUS_INTERNAL_ERROR, HIPSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
  HIPSPARSE_STATUS_ZERO_PIVOT, HIPSPARSE_STATUS_NOT_SUPPORTED, HIPSPARSE_STATUS_INSUFFICIENT_RESOURCES,
} hipsparseStatus_t;
typedef enum hipsparsePointerMode_t { HIPSPARSE_POINTER_MODE_HOST, HIPSPARSE_POINTER_MODE_DEVICE } hipsparsePointerMode_t;
typedef enum hipsparseAction_t { HIPSPARSE_ACTION_SYMBOLIC, HIPSPARSE_ACTION_NUMERIC } hipsparseAction_t;
typedef enum hipsparseMatrixType_t {
  HIPSPARSE_MATRIX_TYPE_GENERAL, HIPSPARSE_MATRIX_TYPE_SYMMETRIC, HIPSPARSE_MATRIX_TYPE_HERMITIAN,
  HIPSPARSE_MATRIX_TYPE_TRIANGULAR,
} hipsparseMatrixType_t;
typedef enum hipsparseFillMode_t { HIPSPARSE_FILL_MODE_LOWER, HIPSPARSE_FILL_MODE_UPPER } hipsparseFillMode_t;
typedef enum hipsparseDiagType_t { HIPSPARSE_DIAG_TYPE_NON_UNIT, HIPSPARSE_DIAG_TYPE_UNIT } hipsparseDiagType_t;
typedef enum hipsparseIndexBase_t { HIPSPARSE_INDEX_BASE_ZERO, HIPSPARSE_INDEX_BASE_ONE } hipsparseIndexBase_t;
typedef enum hipsparseOperation_t {
  HIPSPARSE_OPERATION_NON_TRANSPOSE, HIPSPARSE_OPERATION_TRANSPOSE, HIPSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
} hipsparseOperation_t;
typedef enum hipsparseDirection_t { HIPSPARSE_DIRECTION_ROW, HIPSPARSE_DIRECTION_COLUMN } hipsparseDirection_t;
typedef enum hipsparseSolvePolicy_t {
  HIPSPARSE_SOLVE_POLICY_NO_LEVEL, HIPSPARSE_SOLVE_POLICY_USE_LEVEL,
} hipsparseSolvePolicy_t;
typedef enum hipsparseCsr2CscAlg_t { HIPSPARSE_CSR2CSC_ALG1 = 1, HIPSPARSE_CSR2CSC_ALG2 } hipsparseCsr2CscAlg_t;
typedef enum hipsparseFormat_t {
  HIPSPARSE_FORMAT_CSR = 1, HIPSPARSE_FORMAT_CSC, HIPSPARSE_FORMAT_COO, HIPSPARSE_FORMAT_COO_AOS,
  HIPSPARSE_FORMAT_BLOCKED_ELL,
} hipsparseFormat_t;
typedef enum hipsparseOrder_t { HIPSPARSE_ORDER_COL = 1, HIPSPARSE_ORDER_ROW } hipsparseOrder_t;
typedef enum hipsparseIndexType_t {
  HIPSPARSE_INDEX_16U = 1, HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_64I,
} hipsparseIndexType_t;
typedef enum hipsparseSpMatAttribute_t { HIPSPARSE_SPMAT_FILL_MODE, HIPSPARSE_SPMAT_DIAG_TYPE } hipsparseSpMatAttribute_t;
typedef enum hipsparseSparseToDenseAlg_t { HIPSPARSE_SPARSETODENSE_ALG_DEFAULT } hipsparseSparseToDenseAlg_t;
typedef enum hipsparseDenseToSparseAlg_t { HIPSPARSE_DENSETOSPARSE_ALG_DEFAULT } hipsparseDenseToSparseAlg_t;
typedef enum hipsparseSpMVAlg_t {
  HIPSPARSE_SPMV_ALG_DEFAULT, HIPSPARSE_SPMV_COO_ALG1, HIPSPARSE_SPMV_CSR_ALG1, HIPSPARSE_SPMV_CSR_ALG2,
  HIPSPARSE_SPMV_COO_ALG2,
} hipsparseSpMVAlg_t;
typedef enum hipsparseSpMMAlg_t {
  HIPSPARSE_SPMM_ALG_DEFAULT, HIPSPARSE_SPMM_COO_ALG1, HIPSPARSE_SPMM_COO_ALG2, HIPSPARSE_SPMM_COO_ALG3,
  HIPSPARSE_SPMM_CSR_ALG1, HIPSPARSE_SPMM_COO_ALG4, HIPSPARSE_SPMM_CSR_ALG2, HIPSPARSE_SPMM_CSR_ALG3 = 12,
  HIPSPARSE_SPMM_BLOCKED_ELL_ALG1,
} hipsparseSpMMAlg_t;
typedef enum hipsparseSpGEMMAlg_t {
  HIPSPARSE_SPGEMM_DEFAULT, HIPSPARSE_SPGEMM_CSR_ALG_DETERMINISTIC, HIPSPARSE_SPGEMM_CSR_ALG_NONDETERMINISTIC,
  HIPSPARSE_SPGEMM_ALG1, HIPSPARSE_SPGEMM_ALG2, HIPSPARSE_SPGEMM_ALG3,
} hipsparseSpGEMMAlg_t;
typedef enum hipsparseSDDMMAlg_t { HIPSPARSE_SDDMM_ALG_DEFAULT } hipsparseSDDMMAlg_t;
typedef enum hipsparseSpSVAlg_t { HIPSPARSE_SPSV_ALG_DEFAULT } hipsparseSpSVAlg_t;
typedef enum hipsparseSpSMAlg_t { HIPSPARSE_SPSM_ALG_DEFAULT } hipsparseSpSMAlg_t;
typedef enum hipDataType { /* has the same values as CUDA's type */
  HIP_R_32F, HIP_R_64F, HIP_R_16F, HIP_R_8I, HIP_C_32F, HIP_C_64F, HIP_C_16F, HIP_C_8I, HIP_R_8U, HIP_C_8U, HIP_R_32I,
  HIP_C_32I, HIP_R_32U, HIP_C_32U, HIP_R_16BF, HIP_C_16BF,
} hipDataType;
#endif
