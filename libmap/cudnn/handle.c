/* libcudnn over AMD's MIOpen: handles, streams, versions, errors, and what objects have in common. Functions that compute
 * are in the table (ptx2amd/api/cudnn). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "compute.h"

void *cudnn_new(enum cudnn_mark mark, size_t size) {
  enum cudnn_mark *made = calloc(1, size);
  if (made) *made = mark;
  return made;
}

bool cudnn_is(const void *object, enum cudnn_mark mark) { return object && *(const enum cudnn_mark *)object == mark; }

void cudnn_free(void *object) {
  *(enum cudnn_mark *)object = CUDNN_NO_OBJECT;
  free(object);
}

bool cudnn_handle(cudnnHandle_t handle, cudnnHandle_t *found) {
  *found = handle;
  return cudnn_is(handle, CUDNN_A_HANDLE);
}

void cudnn_give(int wanted, const int *from, int *to) {
  for (int i = 0; i < wanted && to; i++) to[i] = from[i];
}

int cudnn_least(int one, int other) { return one < other ? one : other; }

bool cudnn_sensible(int count, const int *numbers, int smallest) {
  bool good = count >= 2 && count <= CUDNN_DIMENSIONS && numbers;
  for (int i = 0; i < count && good; i++) good = numbers[i] >= smallest;
  return good;
}

static bool has_header(const char *folder) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/include/rocrand/rocrand_xorwow.h", folder);
  return !access(path, R_OK);
}

/* What MIOpen is to leave alone here, where the user has not decided: kernels in assembler, whose sources Debian's comes
 * without; and the softmax that includes headers of rocRAND where there are none. */
static void prepare(void) {
  const char *root = getenv("ROCM_PATH");
  setenv("MIOPEN_DEBUG_GCN_ASM_KERNELS", "0", 0);
  if (!has_header("/opt/rocm") && !has_header("/usr") && !(root && has_header(root))) {
    setenv("MIOPEN_DEBUG_ATTN_SOFTMAX", "0", 0);
  }
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  if (!handle) return CUDNN_STATUS_BAD_PARAM;
  prepare();
  if (!libmap_ready()) return CUDNN_STATUS_NOT_INITIALIZED;
  hipStream_t stream;
  if (libmap_driver.stream(NULL, &stream)) return CUDNN_STATUS_NOT_INITIALIZED;
  cudnnHandle_t made = cudnn_new(CUDNN_A_HANDLE, sizeof *made);
  if (!made) return CUDNN_STATUS_ALLOC_FAILED;
  cudnnStatus_t status = cudnn_status(miopen.CreateWithStream(&made->miopen, stream));
  if (status) cudnn_free(made);
  else *handle = made;
  return status;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  if (!handle) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_handle(handle, &handle)) return CUDNN_STATUS_BAD_PARAM;
  for (int i = 0; i < CUDNN_SCRATCH; i++) {
    if (handle->scratch[i].at) libmap_driver.release(handle->scratch[i].at);
  }
  free(handle->chosen);
  cudnn_blas_free(handle);
  cudnnStatus_t status = cudnn_status(miopen.Destroy(handle->miopen));
  cudnn_free(handle);
  return status;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId) {
  hipStream_t stream;
  if (!cudnn_handle(handle, &handle) || libmap_driver.stream(streamId, &stream)) return CUDNN_STATUS_BAD_PARAM;
  if (streamId == handle->stream) return CUDNN_STATUS_SUCCESS;
  bool used = false; /* what the earlier stream still does with scratch memory comes first */
  for (int i = 0; i < CUDNN_SCRATCH; i++) used |= handle->scratch[i].at != 0;
  if (used) libmap_driver.synchronize(handle->stream);
  cudnnStatus_t status = cudnn_status(miopen.SetStream(handle->miopen, stream));
  if (!status) handle->stream = streamId;
  return status;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *streamId) {
  if (!cudnn_handle(handle, &handle) || !streamId) return CUDNN_STATUS_BAD_PARAM;
  *streamId = handle->stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int *value) {
  int version = libmap_version, major = version < 90000 ? 1000 : 10000;
  int found = libmap_property(type, version / major, version % major / 100, version % 100);
  if (!value || found < 0) return CUDNN_STATUS_BAD_PARAM;
  *value = found;
  return CUDNN_STATUS_SUCCESS;
}

const char *cudnnGetErrorString(cudnnStatus_t status) {
  const struct { int status; const char *name; } known[] = {
    {CUDNN_STATUS_SUCCESS, "CUDNN_STATUS_SUCCESS"},
    {CUDNN_STATUS_NOT_INITIALIZED, "CUDNN_STATUS_NOT_INITIALIZED"},
    {CUDNN_STATUS_ALLOC_FAILED, "CUDNN_STATUS_ALLOC_FAILED"},
    {CUDNN_STATUS_BAD_PARAM, "CUDNN_STATUS_BAD_PARAM"},
    {CUDNN_STATUS_INTERNAL_ERROR, "CUDNN_STATUS_INTERNAL_ERROR"},
    {CUDNN_STATUS_EXECUTION_FAILED, "CUDNN_STATUS_EXECUTION_FAILED"},
    {CUDNN_STATUS_NOT_SUPPORTED, "CUDNN_STATUS_NOT_SUPPORTED"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].status == status) return known[i].name;
  }
  return "CUDNN_UNKNOWN_STATUS";
}

void cudnnGetLastErrorString(char *message, size_t max_size) {
  if (message && max_size) snprintf(message, max_size, "%s", cudnn_last_refusal());
}

cudnnStatus_t cudnnQueryRuntimeError(cudnnHandle_t handle, cudnnStatus_t *rstatus, cudnnErrQueryMode_t mode,
                                     cudnnRuntimeTag_t *tag) {
  (void)tag; /* kernels of MIOpen report nothing of their own */
  if (!cudnn_handle(handle, &handle) || !rstatus || mode < 0 || mode > 2) return CUDNN_STATUS_BAD_PARAM;
  *rstatus = CUDNN_STATUS_SUCCESS;
  return CUDNN_STATUS_SUCCESS;
}
