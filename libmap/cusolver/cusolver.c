/* libcusolver on AMD's hipSOLVER: handles, streams, versions. Most functions are in the table (ptx2amd/api/cusolver).
 * */
#include <pthread.h>
#include <stdlib.h>

#include "cusolver_handle.h"

#define MARK 0x7074783273766572u

bool cusolver_found(cusolverDnHandle_t handle, hipsolverHandle_t *found) {
  if (!handle || handle->mark != MARK) return false;
  *found = handle->hipsolver;
  return true;
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle) {
  if (!handle) return CUSOLVER_STATUS_INVALID_VALUE;
  if (!libmap_ready()) return CUSOLVER_STATUS_NOT_INITIALIZED;
  struct cusolverDnHandle_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUSOLVER_STATUS_ALLOC_FAILED;
  cusolverStatus_t status = cusolver_status(hipsolver.DnCreate(&made->hipsolver));
  if (status) {
    free(made);
    return status;
  }
  made->mark = MARK;
  *handle = made;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  hipsolverHandle_t found;
  if (!cusolver_found(handle, &found)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->mark = 0;
  if (handle->pivots) libmap_driver.release(handle->pivots);
  if (handle->syevj) hipsolver.DnDestroySyevjInfo(handle->syevj);
  if (handle->gesvdj) hipsolver.DnDestroyGesvdjInfo(handle->gesvdj);
  free(handle);
  return cusolver_status(hipsolver.DnDestroy(found));
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId) {
  hipsolverHandle_t found;
  hipStream_t stream;
  if (!cusolver_found(handle, &found)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (libmap_driver.stream(streamId, &stream)) return CUSOLVER_STATUS_INVALID_VALUE;
  cusolverStatus_t status = cusolver_status(hipsolver.DnSetStream(found, stream));
  if (!status) handle->stream = streamId;
  return status;
}

cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value) {
  int version = libmap_version, found = libmap_property(type, version / 1000, version / 100 % 10, version % 100);
  if (!value || found < 0) return CUSOLVER_STATUS_INVALID_VALUE;
  *value = found;
  return CUSOLVER_STATUS_SUCCESS;
}

static cusolverDnParams_t defaults;

static void make_defaults(void) {
  if (!libmap_ready() || hipsolver.DnCreateParams(&defaults)) defaults = NULL;
}

cusolverDnParams_t cusolver_params(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_defaults);
  return defaults;
}

const void *cusolver_pivots(cusolverDnHandle_t handle, int64_t count, size_t size) {
  size_t needed = count > 0 ? (size_t)count : 1;
  if (handle->pivots && handle->pivots_size == size && handle->pivots_count >= needed) {
    return (const void *)(uintptr_t)handle->pivots;
  }
  if (handle->pivots) libmap_driver.release(handle->pivots);
  handle->pivots = 0;
  char *rows = needed <= SIZE_MAX / size ? malloc(needed * size) : NULL;
  if (!rows) return NULL;
  for (size_t i = 0; i < needed; i++) {
    if (size == sizeof(int64_t)) ((int64_t *)(void *)rows)[i] = (int64_t)i + 1;
    else ((int32_t *)(void *)rows)[i] = (int32_t)i + 1;
  }
  uint64_t there = 0;
  bool good = !libmap_driver.allocate(&there, needed * size);
  if (good && libmap_driver.copy_in(there, rows, needed * size)) good = false, libmap_driver.release(there);
  free(rows);
  if (!good) return NULL;
  handle->pivots = there, handle->pivots_size = size, handle->pivots_count = needed;
  return (const void *)(uintptr_t)there;
}
