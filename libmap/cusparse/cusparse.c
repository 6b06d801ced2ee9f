/* libcusparse on AMD's hipSPARSE and rocSPARSE: handles, streams, versions. Most functions are in the table
 * (ptx2amd/api/cusparse); descriptors are hipSPARSE's own. */
#include <pthread.h>
#include <stdlib.h>

#include "cusparse_handle.h"

#define MARK 0x7074783273707273u

extern const struct libmap libmap_rocsparse;
static bool there;

static void open_both(void) { there = libmap_ready() && libmap_open(&libmap_rocsparse); }

bool cusparse_ready(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_both);
  return there;
}

/* ---- handles ---- */

bool cusparse_found(cusparseHandle_t handle, hipsparseHandle_t *found) {
  if (!handle || handle->mark != MARK) return false;
  *found = handle->hipsparse;
  return true;
}

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) {
  if (!handle) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!cusparse_ready()) return CUSPARSE_STATUS_NOT_INITIALIZED;
  struct cusparseHandle_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUSPARSE_STATUS_ALLOC_FAILED;
  cusparseStatus_t status = cusparse_status(hipsparse.Create(&made->hipsparse));
  if (!status) {
    status = cusparse_of_rocsparse(rocsparse.create_handle(&made->rocsparse));
    if (status) hipsparse.Destroy(made->hipsparse);
  }
  if (status) {
    free(made);
    return status;
  }
  pthread_mutex_init(&made->lock, NULL);
  made->mark = MARK;
  *handle = made;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  hipsparseHandle_t found;
  if (!handle) return CUSPARSE_STATUS_SUCCESS;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  cusparse_drop_kept(handle);
  cusparseStatus_t status = cusparse_of_rocsparse(rocsparse.destroy_handle(handle->rocsparse));
  handle->mark = 0;
  free(handle);
  cusparseStatus_t other = cusparse_status(hipsparse.Destroy(found));
  return status ? status : other;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId) {
  hipsparseHandle_t found;
  hipStream_t stream;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (libmap_driver.stream(streamId, &stream)) return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseStatus_t status = cusparse_status(hipsparse.SetStream(found, stream));
  if (!status) status = cusparse_of_rocsparse(rocsparse.set_stream(handle->rocsparse, stream));
  if (!status) handle->stream = streamId;
  return status;
}

cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  hipsparseHandle_t found;
  hipsparsePointerMode_t beneath;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!beneath_cusparsePointerMode_t(mode, &beneath)) return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseStatus_t status = cusparse_status(hipsparse.SetPointerMode(found, beneath));
  if (status) return status;
  handle->on_device = mode;
  return cusparse_of_rocsparse(rocsparse.set_pointer_mode(
      handle->rocsparse, mode ? rocsparse_pointer_mode_device : rocsparse_pointer_mode_host));
}

/* ---- queries without a handle ---- */

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value) {
  int version = libmap_version, found = libmap_property(type, version / 1000, version / 100 % 10, version % 100);
  if (!value || found < 0) return CUSPARSE_STATUS_INVALID_VALUE;
  *value = found;
  return CUSPARSE_STATUS_SUCCESS;
}

static const struct { const char *name, *text; } texts[] = {
    [CUSPARSE_STATUS_SUCCESS] = {"CUSPARSE_STATUS_SUCCESS", "success"},
    [CUSPARSE_STATUS_NOT_INITIALIZED] = {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    [CUSPARSE_STATUS_ALLOC_FAILED] = {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    [CUSPARSE_STATUS_INVALID_VALUE] = {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    [CUSPARSE_STATUS_ARCH_MISMATCH] = {"CUSPARSE_STATUS_ARCH_MISMATCH", "the GPU lacks what the function needs"},
    [CUSPARSE_STATUS_MAPPING_ERROR] = {"CUSPARSE_STATUS_MAPPING_ERROR", "GPU memory could not be accessed"},
    [CUSPARSE_STATUS_EXECUTION_FAILED] = {"CUSPARSE_STATUS_EXECUTION_FAILED", "the function failed on the GPU"},
    [CUSPARSE_STATUS_INTERNAL_ERROR] = {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    [CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED] = {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                                   "matrix type not supported"},
    [CUSPARSE_STATUS_ZERO_PIVOT] = {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    [CUSPARSE_STATUS_NOT_SUPPORTED] = {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    [CUSPARSE_STATUS_INSUFFICIENT_RESOURCES] = {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};
static bool known(cusparseStatus_t status) { return status >= 0 && (size_t)status < sizeof texts / sizeof *texts; }

const char *cusparseGetErrorName(cusparseStatus_t status) {
  return known(status) ? texts[status].name : "unrecognized error code";
}

const char *cusparseGetErrorString(cusparseStatus_t status) {
  return known(status) ? texts[status].text : "unrecognized error code";
}
