/* libcublas on AMD's rocBLAS: handles, streams, modes. Products are in the table (ptx2amd/api/cublas). Matrices are
 * column-major in both libraries. */
#include <stdlib.h>

#include "cublas_handle.h"

/* ---- handles ---- */

bool cublas_found(cublasHandle_t handle, rocblas_handle *found) {
  if (!handle || handle->shared.mark != BLAS_MARK) return false;
  *found = handle->rocblas;
  return true;
}

void cublas_repeatable(rocblas_handle made) { rocblas.set_atomics_mode(made, rocblas_atomics_not_allowed); }

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  if (!libmap_ready()) return CUBLAS_STATUS_NOT_INITIALIZED;
  struct cublasHandle_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUBLAS_STATUS_ALLOC_FAILED;
  cublasStatus_t status = cublas_status(rocblas.create_handle(&made->rocblas));
  if (status) {
    free(made);
    return status == CUBLAS_STATUS_INVALID_VALUE ? CUBLAS_STATUS_NOT_INITIALIZED : status;
  }
  cublas_repeatable(made->rocblas);
  made->shared.mark = BLAS_MARK;
  *handle = made;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  rocblas_handle found;
  if (!cublas_found(handle, &found)) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->shared.mark = 0;
  if (handle->scratch) libmap_driver.release(handle->scratch);
  if (handle->shared.lt) handle->shared.end_lt(&handle->shared);
  free(handle);
  return cublas_status(rocblas.destroy_handle(found));
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t streamId) {
  rocblas_handle found;
  hipStream_t stream;
  if (!cublas_found(handle, &found)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (libmap_driver.stream(streamId, &stream)) return CUBLAS_STATUS_INVALID_VALUE;
  cublasStatus_t status = cublas_status(rocblas.set_stream(found, stream));
  if (!status) handle->stream = streamId;
  return status;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *streamId) {
  if (!cublas_found(handle, &(rocblas_handle){0})) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!streamId) return CUBLAS_STATUS_INVALID_VALUE;
  *streamId = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

/* Math modes permit less precise products; rocBLAS has no equivalent that is worth using and computes in full
 * precision. */
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  enum { MODES = 0x1f };
  if (!cublas_found(handle, &(rocblas_handle){0})) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode & ~MODES) return CUBLAS_STATUS_INVALID_VALUE;
  handle->math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

/* The number of multiprocessors that a product should target: a hint without effect. */
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int smCountTarget) {
  if (!cublas_found(handle, &(rocblas_handle){0})) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (smCountTarget < 0) return CUBLAS_STATUS_INVALID_VALUE;
  handle->multiprocessors = smCountTarget;
  return CUBLAS_STATUS_SUCCESS;
}

/* ---- queries without a handle ---- */

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value) { return blas_property(type, value); }
size_t cublasGetCudartVersion(void) { return (size_t)blas_cudart_version(); }
const char *cublasGetStatusName(cublasStatus_t status) { return blas_status_name(status); }
const char *cublasGetStatusString(cublasStatus_t status) { return blas_status_text(status); }

/* ---- products of mixed types ---- */

rocblas_datatype compute_type(cublasComputeType_t type, rocblas_datatype result) {
  bool complex = result == rocblas_datatype_f32_c || result == rocblas_datatype_f64_c;
  switch (type) {
    case 64: case 65: return rocblas_datatype_f16_r;
    case 68: case 69: case 74: case 75: case 77: case 78: return complex ? rocblas_datatype_f32_c : rocblas_datatype_f32_r;
    case 70: case 71: return complex ? rocblas_datatype_f64_c : rocblas_datatype_f64_r;
    case 72: case 73: return rocblas_datatype_i32_r;
    default: return rocblas_datatype_invalid;
  }
}
