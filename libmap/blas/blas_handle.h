/* What the handles of libcublas and libcublasLt begin with: programs may pass one of cuBLAS to cuBLASLt. */
#ifndef BLAS_HANDLE_H
#define BLAS_HANDLE_H
#include <stdint.h>

#define BLAS_MARK 0x7074783263626c73u
#define BLAS_LT_MARK 0x707478326c747331u

struct blas_handle {
  uint64_t mark;          /* of a handle that is there: BLAS_MARK or BLAS_LT_MARK */
  void *lt;               /* hipBLASLt's handle; in one of cuBLAS NULL until cuBLASLt gets it */
  void (*end_lt)(void *); /* what destroys that */
};
#endif
