/* Handles of cublasXt. One device computes, the first that was selected. Settings that only affect speed are stored. */
#include "xt.h"

#include <stdlib.h>

enum { XT_MARK = 0x78746278, DEFAULT_BLOCK = 1024, ROUTINES = 12, TYPES = 4 };

bool xt_found(cublasXtHandle_t handle) { return handle && handle->mark == XT_MARK; }

cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  if (!libmap_ready()) return CUBLAS_STATUS_NOT_INITIALIZED;
  struct cublasXtHandle_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUBLAS_STATUS_ALLOC_FAILED;
  made->mark = XT_MARK, made->device = -1, made->block = DEFAULT_BLOCK;
  *handle = made;
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t release_device(cublasXtHandle_t handle) {
  if (handle->device < 0) return CUBLAS_STATUS_SUCCESS;
  rocblas_status status = rocblas_status_success;
  if (!libmap_driver.enter(handle->context)) {
    status = rocblas.destroy_handle(handle->rocblas);
    libmap_driver.leave(&(void *){NULL});
  }
  libmap_driver.drop(handle->device);
  handle->device = -1;
  return cublas_status(status);
}

cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  if (!xt_found(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  cublasStatus_t status = release_device(handle);
  handle->mark = 0;
  free(handle);
  return status;
}

cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int nbDevices, int *deviceId) {
  int count = 0;
  if (!xt_found(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (nbDevices < 1 || !deviceId || libmap_driver.devices(&count)) return CUBLAS_STATUS_INVALID_VALUE;
  for (int i = 0; i < nbDevices; i++) {
    if (deviceId[i] < 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (deviceId[i] >= count) return CUBLAS_STATUS_INTERNAL_ERROR;
    for (int k = 0; k < i; k++)
      if (deviceId[k] == deviceId[i]) return CUBLAS_STATUS_INVALID_VALUE;
  }
  cublasStatus_t status = release_device(handle);
  if (status) return status;
  if (libmap_driver.keep(&handle->context, deviceId[0])) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (libmap_driver.enter(handle->context)) {
    libmap_driver.drop(deviceId[0]);
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  status = cublas_status(rocblas.create_handle(&handle->rocblas));
  if (!status) cublas_repeatable(handle->rocblas);
  libmap_driver.leave(&(void *){NULL});
  if (status) libmap_driver.drop(deviceId[0]);
  else handle->device = deviceId[0];
  return status;
}

/* ---- boards, which have one device each ---- */

cublasStatus_t cublasXtGetNumBoards(int nbDevices, int *deviceId, int *nbBoards) {
  if (nbDevices < 1 || !deviceId || !nbBoards) return CUBLAS_STATUS_INVALID_VALUE;
  *nbBoards = nbDevices;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtMaxBoards(int *nbGpuBoards) {
  enum { MOST = 1024 }; /* NVIDIA's answer */
  if (!nbGpuBoards) return CUBLAS_STATUS_INVALID_VALUE;
  *nbGpuBoards = MOST;
  return CUBLAS_STATUS_SUCCESS;
}

/* ---- settings ---- */

cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int blockDim) {
  if (!xt_found(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (blockDim < 1) return CUBLAS_STATUS_INVALID_VALUE;
  handle->block = blockDim;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *blockDim) {
  if (!xt_found(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!blockDim) return CUBLAS_STATUS_INVALID_VALUE;
  *blockDim = handle->block;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t mode) {
  if (!xt_found(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode < 0 || mode > 1) return CUBLAS_STATUS_INVALID_VALUE;
  handle->pinning = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t *mode) {
  if (!xt_found(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!mode) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->pinning;
  return CUBLAS_STATUS_SUCCESS;
}

/* The part of a product that the CPU takes, and the function for it: the device computes all. */
static cublasStatus_t of_cpu(cublasXtHandle_t handle, cublasXtBlasOp_t routine, cublasXtOpType_t type) {
  if (!xt_found(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  bool good = routine >= 0 && routine < ROUTINES && type >= 0 && type < TYPES;
  return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasXtSetCpuRoutine(cublasXtHandle_t handle, cublasXtBlasOp_t blasOp, cublasXtOpType_t type,
                                     void *blasFunctor) {
  (void)blasFunctor;
  return of_cpu(handle, blasOp, type);
}

cublasStatus_t cublasXtSetCpuRatio(cublasXtHandle_t handle, cublasXtBlasOp_t blasOp, cublasXtOpType_t type, float ratio) {
  (void)ratio;
  return of_cpu(handle, blasOp, type);
}
