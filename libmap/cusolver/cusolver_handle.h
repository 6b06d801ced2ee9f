/* What the functions of libcusolver share (cusolver.c). */
#ifndef CUSOLVER_HANDLE_H
#define CUSOLVER_HANDLE_H
#include "cusolver_api.h"
#include "hipsolver_table.h"

struct cusolverDnHandle_t_st {
  uint64_t mark; /* of a handle that is there */
  hipsolverHandle_t hipsolver;
  cudaStream_t stream; /* as the program knows it */
  uint64_t pivots;     /* on the device, or 0 */
  size_t pivots_size, pivots_count;
  hipsolverSyevjInfo_t syevj; /* or NULL */
  hipsolverGesvdjInfo_t gesvdj;
};

/* hipSOLVER's handle; false: it is none of ours. */
bool cusolver_found(cusolverDnHandle_t handle, hipsolverHandle_t *found);
/* The row numbers of no exchange, of so many bytes each, on the device; NULL: no memory. They are the handle's. */
const void *cusolver_pivots(cusolverDnHandle_t handle, int64_t count, size_t size);
#endif
