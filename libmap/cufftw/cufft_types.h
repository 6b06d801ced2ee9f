/* Types and numbers of libcufft, as far as libcufftw uses them. */
#ifndef CUFFT_TYPES_H
#define CUFFT_TYPES_H
#include <stddef.h>

typedef int cufftHandle;
typedef enum cufftResult { CUFFT_SUCCESS, CUFFT_SETUP_FAILED = 7 } cufftResult;
typedef enum cufftType {
  CUFFT_C2C = 0x29, CUFFT_R2C, CUFFT_C2R = 0x2c, CUFFT_Z2Z = 0x69, CUFFT_D2Z, CUFFT_Z2D = 0x6c,
} cufftType;
#endif
