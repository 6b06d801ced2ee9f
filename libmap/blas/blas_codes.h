/* Status codes of cuBLAS, which cuBLASLt also returns, and their names (blas_status.c). */
#ifndef BLAS_CODES_H
#define BLAS_CODES_H

enum {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
};

const char *blas_status_name(int status);
const char *blas_status_text(int status);
/* One of the three parts of the library's version (libraryPropertyType); returns a status. */
int blas_property(int which, int *value);
/* The CUDA release that the library belongs to, in the format of cudaRuntimeGetVersion: 12090. */
int blas_cudart_version(void);
#endif
