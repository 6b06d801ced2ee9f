/* The common head of libcublas and libcublasLt handles: programs may pass a cuBLAS handle to cuBLASLt. */
#ifndef BLAS_HANDLE_H
#define BLAS_HANDLE_H
#include <stdint.h>

#define BLAS_MARK 0x7074783263626c73u
#define BLAS_LT_MARK 0x707478326c747331u

struct blas_handle {
  uint64_t mark;          /* BLAS_MARK or BLAS_LT_MARK while the handle is valid */
  void *lt;      /* hipBLASLt's handle; in a cuBLAS handle NULL until its first use with cuBLASLt */
  void *rocblas; /* rocBLAS's for cuBLASLt's products; NULL until the first that hipBLASLt lacks */
  int (*end_lt)(struct blas_handle *); /* destroys both; returns a cuBLAS status */
};
#endif
