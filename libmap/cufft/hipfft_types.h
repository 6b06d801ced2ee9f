/* Types and numbers of hipFFT, as far as libcufft uses them. */
#ifndef HIPFFT_TYPES_H
#define HIPFFT_TYPES_H
#include <stddef.h>

#include "hip_types.h"

typedef struct hipfftHandle_t *hipfftHandle;
typedef float hipfftReal;
typedef double hipfftDoubleReal;
typedef struct hipfftComplex { float x, y; } hipfftComplex;
typedef struct hipfftDoubleComplex { double x, y; } hipfftDoubleComplex;

typedef enum hipfftResult {
  HIPFFT_SUCCESS, HIPFFT_INVALID_PLAN, HIPFFT_ALLOC_FAILED, HIPFFT_INVALID_TYPE, HIPFFT_INVALID_VALUE,
  HIPFFT_INTERNAL_ERROR, HIPFFT_EXEC_FAILED, HIPFFT_SETUP_FAILED, HIPFFT_INVALID_SIZE, HIPFFT_UNALIGNED_DATA,
  HIPFFT_INVALID_DEVICE = 11, HIPFFT_NO_WORKSPACE = 13, HIPFFT_NOT_IMPLEMENTED, HIPFFT_NOT_SUPPORTED = 16,
} hipfftResult;
typedef enum hipfftType {
  HIPFFT_C2C = 0x29, HIPFFT_R2C, HIPFFT_C2R = 0x2c, HIPFFT_Z2Z = 0x69, HIPFFT_D2Z, HIPFFT_Z2D = 0x6c,
} hipfftType;
typedef enum hipDataType {
  HIP_R_32F, HIP_R_64F, HIP_R_16F, HIP_C_32F = 4, HIP_C_64F, HIP_C_16F,
} hipDataType;
#endif
