/* libcusparse over AMD's hipSPARSE: handles, streams, versions. Most functions are in the table
 * (ptx2amd/api/cusparse); descriptors are hipSPARSE's own. */
#include <stdlib.h>

#include "cusparse_handle.h"

#define MARK 0x7074783273707273u

/* ---- handles ---- */

bool cusparse_found(cusparseHandle_t handle, hipsparseHandle_t *found) {
  if (!handle || handle->mark != MARK) return false;
  *found = handle->hipsparse;
  return true;
}

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle) {
  if (!handle) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!libmap_ready()) return CUSPARSE_STATUS_NOT_INITIALIZED;
  struct cusparseHandle_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUSPARSE_STATUS_ALLOC_FAILED;
  cusparseStatus_t status = cusparse_status(hipsparse.Create(&made->hipsparse));
  if (status) {
    free(made);
    return status;
  }
  made->mark = MARK;
  *handle = made;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  hipsparseHandle_t found;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  handle->mark = 0;
  free(handle);
  return cusparse_status(hipsparse.Destroy(found));
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId) {
  hipsparseHandle_t found;
  hipStream_t stream;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (libmap_driver.stream(streamId, &stream)) return CUSPARSE_STATUS_INVALID_VALUE;
  cusparseStatus_t status = cusparse_status(hipsparse.SetStream(found, stream));
  if (!status) handle->stream = streamId;
  return status;
}

/* ---- solutions with many right-hand sides ---- */

bool cusparse_spsm_found(cusparseSpSMDescr_t descr, struct cusparseSpSMDescr_t_st **found) {
  *found = descr;
  return descr != NULL;
}

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t *descr) {
  if (!descr) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!libmap_ready()) return CUSPARSE_STATUS_NOT_INITIALIZED;
  struct cusparseSpSMDescr_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUSPARSE_STATUS_ALLOC_FAILED;
  cusparseStatus_t status = cusparse_status(hipsparse.SpSM_createDescr(&made->hipsparse));
  if (status) free(made);
  else *descr = made;
  return status;
}

cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descr) {
  if (!descr) return CUSPARSE_STATUS_INVALID_VALUE;
  hipsparseSpSMDescr_t found = descr->hipsparse;
  free(descr);
  return cusparse_status(hipsparse.SpSM_destroyDescr(found));
}

/* ---- questions without a handle ---- */

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
