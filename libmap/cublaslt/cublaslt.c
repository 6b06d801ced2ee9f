/* libcublasLt on AMD's hipBLASLt: handles, versions, names. Descriptors hold CUDA's attributes (descriptors.c); each
 * call builds hipBLASLt's problem from them (problem.c, heuristic.c, matmul.c). */
#include <pthread.h>
#include <stdlib.h>

#include "matmul.h"

struct cublasLtContext { struct blas_handle shared; };

static int end(struct blas_handle *handle) {
  lt_rocblas_end(handle);
  return (int)cublaslt_status(hipblasLt.Destroy(handle->lt));
}

static cublasStatus_t begin(struct blas_handle *handle) {
  void *made = NULL;
  cublasStatus_t status = libmap_ready() ? cublaslt_status(hipblasLt.Create(&made)) : CUBLAS_STATUS_NOT_INITIALIZED;
  if (status) return status == CUBLAS_STATUS_INVALID_VALUE ? CUBLAS_STATUS_NOT_INITIALIZED : status;
  handle->end_lt = end;
  __atomic_store_n(&handle->lt, made, __ATOMIC_RELEASE);
  return CUBLAS_STATUS_SUCCESS;
}

bool lt_found(cublasLtHandle_t lightHandle, struct blas_handle **found) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  struct blas_handle *handle = (struct blas_handle *)lightHandle;
  if (!handle || (handle->mark != BLAS_LT_MARK && handle->mark != BLAS_MARK)) return false;
  *found = handle;
  if (__atomic_load_n(&handle->lt, __ATOMIC_ACQUIRE)) return true;
  pthread_mutex_lock(&lock); /* the first use of a cuBLAS handle */
  if (!handle->lt) begin(handle);
  bool there = handle->lt;
  pthread_mutex_unlock(&lock);
  return there;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *lightHandle) {
  if (!lightHandle) return CUBLAS_STATUS_INVALID_VALUE;
  struct cublasLtContext *made = calloc(1, sizeof *made);
  if (!made) return CUBLAS_STATUS_ALLOC_FAILED;
  cublasStatus_t status = begin(&made->shared);
  if (status) {
    free(made);
    return lt_logged("cublasLtCreate", status);
  }
  made->shared.mark = BLAS_LT_MARK;
  *lightHandle = made;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle) {
  if (!lightHandle) return CUBLAS_STATUS_INVALID_VALUE;
  if (lightHandle->shared.mark != BLAS_LT_MARK) return CUBLAS_STATUS_NOT_INITIALIZED;
  lightHandle->shared.mark = 0;
  cublasStatus_t status = (cublasStatus_t)end(&lightHandle->shared);
  free(lightHandle);
  return status;
}

size_t cublasLtGetVersion(void) { return (size_t)libmap_version; }
size_t cublasLtGetCudartVersion(void) { return (size_t)blas_cudart_version(); }
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int *value) { return blas_property(type, value); }
const char *cublasLtGetStatusName(cublasStatus_t status) { return blas_status_name(status); }
const char *cublasLtGetStatusString(cublasStatus_t status) { return blas_status_text(status); }

/* hipBLASLt has its own cache of algorithms: the number is stored but has no effect. */
static size_t capacity = 8192;

cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t *out) {
  if (!out) return CUBLAS_STATUS_INVALID_VALUE;
  *out = __atomic_load_n(&capacity, __ATOMIC_RELAXED);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t wanted) {
  __atomic_store_n(&capacity, wanted, __ATOMIC_RELAXED);
  return CUBLAS_STATUS_SUCCESS;
}

/* The mask of x86 instruction sets that the library must not use; returns the previous mask. */
unsigned cublasLtDisableCpuInstructionsSetMask(unsigned mask) {
  static unsigned current;
  return __atomic_exchange_n(&current, mask, __ATOMIC_RELAXED);
}
