/* Types and numbers of hipSOLVER, as far as libcusolver uses them. */
#ifndef HIPSOLVER_TYPES_H
#define HIPSOLVER_TYPES_H
#include <stddef.h>
#include <stdint.h>

#include "hip_types.h"
#include "rocblas_numbers.h"

typedef void *hipsolverHandle_t, *hipsolverSyevjInfo_t, *hipsolverGesvdjInfo_t, *hipsolverDnParams_t, *hipsolverRfHandle_t;
typedef struct hipFloatComplex { float x, y; } hipFloatComplex;
typedef struct hipDoubleComplex { double x, y; } hipDoubleComplex;

typedef enum hipsolverStatus_t {
  HIPSOLVER_STATUS_SUCCESS, HIPSOLVER_STATUS_NOT_INITIALIZED, HIPSOLVER_STATUS_ALLOC_FAILED,
  HIPSOLVER_STATUS_INVALID_VALUE, HIPSOLVER_STATUS_MAPPING_ERROR, HIPSOLVER_STATUS_EXECUTION_FAILED,
  HIPSOLVER_STATUS_INTERNAL_ERROR, HIPSOLVER_STATUS_NOT_SUPPORTED, HIPSOLVER_STATUS_ARCH_MISMATCH,
  HIPSOLVER_STATUS_HANDLE_IS_NULLPTR, HIPSOLVER_STATUS_INVALID_ENUM, HIPSOLVER_STATUS_UNKNOWN,
  HIPSOLVER_STATUS_ZERO_PIVOT, HIPSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
} hipsolverStatus_t;
typedef enum hipsolverOperation_t { HIPSOLVER_OP_N = 111, HIPSOLVER_OP_T, HIPSOLVER_OP_C } hipsolverOperation_t;
typedef enum hipsolverFillMode_t { HIPSOLVER_FILL_MODE_UPPER = 121, HIPSOLVER_FILL_MODE_LOWER } hipsolverFillMode_t;
typedef enum hipsolverSideMode_t { HIPSOLVER_SIDE_LEFT = 141, HIPSOLVER_SIDE_RIGHT } hipsolverSideMode_t;
typedef enum hipsolverEigMode_t { HIPSOLVER_EIG_MODE_NOVECTOR = 201, HIPSOLVER_EIG_MODE_VECTOR } hipsolverEigMode_t;
typedef enum hipsolverEigType_t {
  HIPSOLVER_EIG_TYPE_1 = 211, HIPSOLVER_EIG_TYPE_2, HIPSOLVER_EIG_TYPE_3,
} hipsolverEigType_t;
typedef enum hipsolverEigRange_t {
  HIPSOLVER_EIG_RANGE_ALL = 221, HIPSOLVER_EIG_RANGE_V, HIPSOLVER_EIG_RANGE_I,
} hipsolverEigRange_t;
typedef enum hipsolverDeterministicMode_t {
  HIPSOLVER_DETERMINISTIC_RESULTS = 241, HIPSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS,
} hipsolverDeterministicMode_t;
typedef enum hipDataType { /* has the same values as CUDA's type */
  HIP_R_32F, HIP_R_64F, HIP_C_32F = 4, HIP_C_64F,
} hipDataType;
#endif
