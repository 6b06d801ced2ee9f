/* Shared by the functions of libcusolver (cusolver.c). */
#ifndef CUSOLVER_HANDLE_H
#define CUSOLVER_HANDLE_H
#include "cusolver_api.h"
#include "hipsolver_table.h"

struct cusolverDnHandle_t_st {
  uint64_t mark; /* the magic number while the handle is valid */
  hipsolverHandle_t hipsolver;
  cudaStream_t stream; /* the program's CUDA stream */
  uint64_t pivots;     /* device memory, or 0 */
  size_t pivots_size, pivots_count;
  hipsolverSyevjInfo_t syevj; /* or NULL */
  hipsolverGesvdjInfo_t gesvdj;
};

/* hipSOLVER's handle; false: not a valid handle. */
bool cusolver_found(cusolverDnHandle_t handle, hipsolverHandle_t *found);
/* Pivot indices of the identity permutation in device memory, of the given width in bytes; NULL: out of memory. The
 * handle owns them. */
const void *cusolver_pivots(cusolverDnHandle_t handle, int64_t count, size_t size);
/* Options that are the default, for a program that passes none; NULL: out of memory. */
cusolverDnParams_t cusolver_params(void);
/* A length of columns for at least so many rows; a negative count of rows leaves it as it is. */
static inline int64_t cusolver_leading(int64_t given, int64_t rows) { return given < rows ? rows : given; }
/* hipSOLVER's handle of a refactorisation; false: not a valid handle (refactor.c). */
bool cusolver_refactor(cusolverRfHandle_t handle, hipsolverRfHandle_t *found);
#endif
