/* The legacy cuBLAS API: its handle, error and letters. The functions are in the table (ptx2amd/api/cublas/first.py).
 * */
#include "cublas_handle.h"

static cublasHandle_t all;
static cublasStatus_t error;

cublasHandle_t cublas_default(void) { return __atomic_load_n(&all, __ATOMIC_ACQUIRE); }

void cublas_note(cublasStatus_t status) {
  if (status) __atomic_store_n(&error, status, __ATOMIC_RELAXED);
}

static int lower(char letter) { return letter | 0x20; }

cublasOperation_t cublas_operation(char letter) {
  switch (lower(letter)) {
    case 'n': return 0;
    case 't': return 1;
    case 'c': return 2;
    default: return -1;
  }
}

static int one_of(char letter, char first, char second) {
  return lower(letter) == first ? 0 : lower(letter) == second ? 1 : -1;
}

cublasFillMode_t cublas_fill(char letter) { return one_of(letter, 'l', 'u'); }
cublasDiagType_t cublas_diagonal(char letter) { return one_of(letter, 'n', 'u'); }
cublasSideMode_t cublas_side(char letter) { return one_of(letter, 'l', 'r'); }

cublasStatus_t cublasInit(void) {
  cublasHandle_t made = NULL, before = NULL;
  if (cublas_default()) return CUBLAS_STATUS_SUCCESS;
  cublasStatus_t status = cublasCreate_v2(&made);
  if (!status && !__atomic_compare_exchange_n(&all, &before, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    cublasDestroy_v2(made); /* another thread was faster */
  return status;
}

cublasStatus_t cublasShutdown(void) {
  cublasHandle_t found = __atomic_exchange_n(&all, NULL, __ATOMIC_ACQ_REL);
  return found ? cublasDestroy_v2(found) : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetError(void) { return __atomic_exchange_n(&error, CUBLAS_STATUS_SUCCESS, __ATOMIC_RELAXED); }
cublasStatus_t cublasGetVersion(int *version) { return cublasGetVersion_v2(cublas_default(), version); }
cublasStatus_t cublasSetKernelStream(cudaStream_t stream) { return cublasSetStream_v2(cublas_default(), stream); }

cublasStatus_t cublasAlloc(int n, int elemSize, void **devicePtr) {
  uint64_t found;
  if (!cublas_default()) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n <= 0 || elemSize <= 0 || !devicePtr) return CUBLAS_STATUS_INVALID_VALUE;
  if (libmap_driver.allocate(&found, (size_t)n * (size_t)elemSize)) return CUBLAS_STATUS_ALLOC_FAILED;
  *devicePtr = (void *)(uintptr_t)found;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasFree(void *devicePtr) {
  if (!devicePtr) return CUBLAS_STATUS_SUCCESS;
  if (!cublas_default()) return CUBLAS_STATUS_NOT_INITIALIZED;
  return libmap_driver.release((uint64_t)(uintptr_t)devicePtr) ? CUBLAS_STATUS_INTERNAL_ERROR : CUBLAS_STATUS_SUCCESS;
}
