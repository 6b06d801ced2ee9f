/* Types and numbers of hipBLASLt, as far as libcublasLt uses them. */
#ifndef HIPBLASLT_TYPES_H
#define HIPBLASLT_TYPES_H
#include <stddef.h>
#include <stdint.h>

#include "hip_types.h"
#include "rocblas_numbers.h"

typedef void *hipblasLtHandle_t;
typedef struct hipblasLtMatrixLayout *hipblasLtMatrixLayout_t;
typedef struct hipblasLtMatmulDesc *hipblasLtMatmulDesc_t;
typedef struct hipblasLtMatmulPreference *hipblasLtMatmulPreference_t;
typedef struct hipblasLtMatrixTransformDesc *hipblasLtMatrixTransformDesc_t;

typedef enum hipblasStatus_t {
  HIPBLAS_STATUS_SUCCESS, HIPBLAS_STATUS_NOT_INITIALIZED, HIPBLAS_STATUS_ALLOC_FAILED, HIPBLAS_STATUS_INVALID_VALUE,
  HIPBLAS_STATUS_MAPPING_ERROR, HIPBLAS_STATUS_EXECUTION_FAILED, HIPBLAS_STATUS_INTERNAL_ERROR,
  HIPBLAS_STATUS_NOT_SUPPORTED, HIPBLAS_STATUS_ARCH_MISMATCH, HIPBLAS_STATUS_HANDLE_IS_NULLPTR,
  HIPBLAS_STATUS_INVALID_ENUM,
} hipblasStatus_t;
typedef enum hipblasOperation_t { HIPBLAS_OP_N = 111, HIPBLAS_OP_T, HIPBLAS_OP_C } hipblasOperation_t;
typedef enum hipblasComputeType_t {
  HIPBLAS_COMPUTE_32F = 2, HIPBLAS_COMPUTE_32F_FAST_16F = 4, HIPBLAS_COMPUTE_32F_FAST_16BF,
  HIPBLAS_COMPUTE_32F_FAST_TF32, HIPBLAS_COMPUTE_64F, HIPBLAS_COMPUTE_32I = 9,
} hipblasComputeType_t;
typedef enum hipDataType { /* has the same values as CUDA's type */
  HIP_R_32F, HIP_R_64F, HIP_R_16F, HIP_R_8I, HIP_C_32F, HIP_C_64F, HIP_R_32I = 10, HIP_R_16BF = 14,
  HIP_R_8F_E4M3 = 28, HIP_R_8F_E5M2, HIP_R_4F_E2M1 = 33,
} hipDataType;
typedef enum hipblasLtMatrixLayoutAttribute_t {
  HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, HIPBLASLT_MATRIX_LAYOUT_ORDER = 3,
} hipblasLtMatrixLayoutAttribute_t;
typedef enum hipblasLtMatmulDescAttributes_t {
  HIPBLASLT_MATMUL_DESC_TRANSA, HIPBLASLT_MATMUL_DESC_TRANSB, HIPBLASLT_MATMUL_DESC_EPILOGUE,
  HIPBLASLT_MATMUL_DESC_BIAS_POINTER, HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER,
  HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER, HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER, HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER,
  HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
  HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
  HIPBLASLT_MATMUL_DESC_POINTER_MODE, HIPBLASLT_MATMUL_DESC_AMAX_D_POINTER,
  HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE = 22, HIPBLASLT_MATMUL_DESC_A_SCALE_MODE = 31,
  HIPBLASLT_MATMUL_DESC_B_SCALE_MODE,
} hipblasLtMatmulDescAttributes_t;
typedef enum hipblasLtMatmulPreferenceAttributes_t {
  HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
} hipblasLtMatmulPreferenceAttributes_t;
typedef enum hipblasLtMatrixTransformDescAttributes_t {
  HIPBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, HIPBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE,
  HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSB,
} hipblasLtMatrixTransformDescAttributes_t;

typedef struct hipblasLtMatmulAlgo_t {
  uint8_t data[16];
  size_t max_workspace_bytes;
} hipblasLtMatmulAlgo_t;
typedef struct hipblasLtMatmulHeuristicResult_t {
  hipblasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  hipblasStatus_t state;
  float wavesCount;
  int reserved[4];
} hipblasLtMatmulHeuristicResult_t;
#endif
