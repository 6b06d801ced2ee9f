/* A handle of rocBLAS for libraries over another library of ROCm's (ptx2amd/api/rocblas.py). */
#ifndef ROCBLAS_HANDLE_H
#define ROCBLAS_HANDLE_H
#include "rocblas_table.h"

/* Makes the handle at its first use. Its results repeat at each run, as NVIDIA's libraries promise; before ROCm 7.0 that
 * is not rocBLAS's default. False: rocBLAS refused. */
static inline bool rocblas_handle_ready(rocblas_handle *handle) {
  enum { NO_ATOMICS = 0 };
  if (*handle) return true;
  if (rocblas.create_handle(handle)) return false;
  rocblas.set_atomics_mode(*handle, NO_ATOMICS);
  return true;
}
#endif
