/* Inverses of triangular matrices, which hipSOLVER lacks and rocSOLVER has: hipSOLVER's handle is one of rocBLAS. */
#include <pthread.h>

#include "generic.h"
#include "rocsolver_table.h"

extern const struct libmap libmap_rocsolver;
static bool there;

static void load(void) { there = libmap_open(&libmap_rocsolver); }

static cusolverStatus_t check(cusolverDnHandle_t handle, int uplo, int diag, int64_t n, cudaDataType type, int64_t lda) {
  if (!cusolver_found(handle, &(hipsolverHandle_t){0})) return CUSOLVER_STATUS_NOT_INITIALIZED;
  bool known = type == HIP_R_32F || type == HIP_R_64F || type == HIP_C_32F || type == HIP_C_64F;
  if (cusolver_wide(n | lda) || lda < n || lda < 1 || uplo < 0 || uplo > 1 || diag < 0 || diag > 1 || !known) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  return CUSOLVER_STATUS_SUCCESS;
}

/* rocBLAS allocates what the function needs. */
cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag,
                                             int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                             size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
  (void)A;
  cusolverStatus_t status = check(handle, uplo, diag, n, dataTypeA, lda);
  if (!status && (!workspaceInBytesOnDevice || !workspaceInBytesOnHost)) status = CUSOLVER_STATUS_INVALID_VALUE;
  if (!status) *workspaceInBytesOnDevice = *workspaceInBytesOnHost = 0;
  return status;
}

cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag, int64_t n,
                                  cudaDataType dataTypeA, void *A, int64_t lda, void *bufferOnDevice,
                                  size_t workspaceInBytesOnDevice, void *bufferOnHost, size_t workspaceInBytesOnHost,
                                  int *devInfo) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)bufferOnDevice, (void)workspaceInBytesOnDevice, (void)bufferOnHost, (void)workspaceInBytesOnHost;
  cusolverStatus_t status = check(handle, uplo, diag, n, dataTypeA, lda);
  if (status) return status;
  if (!devInfo || (n && !A)) return CUSOLVER_STATUS_INVALID_VALUE;
  pthread_once(&once, load);
  if (!there) return CUSOLVER_STATUS_NOT_SUPPORTED;
  enum { UPPER = 121, LOWER, NON_UNIT = 131 };
  int half = uplo ? UPPER : LOWER, unit = NON_UNIT + diag, size = (int)n, lead = (int)lda;
  rocblas_handle by = (rocblas_handle)handle->hipsolver;
  rocblas_status done = dataTypeA == HIP_R_32F   ? rocsolver.strtri(by, half, unit, size, A, lead, devInfo)
                        : dataTypeA == HIP_R_64F ? rocsolver.dtrtri(by, half, unit, size, A, lead, devInfo)
                        : dataTypeA == HIP_C_32F ? rocsolver.ctrtri(by, half, unit, size, A, lead, devInfo)
                                                 : rocsolver.ztrtri(by, half, unit, size, A, lead, devInfo);
  enum { NO_MEMORY = 5 };
  return !done ? CUSOLVER_STATUS_SUCCESS : done == NO_MEMORY ? CUSOLVER_STATUS_ALLOC_FAILED : CUSOLVER_STATUS_EXECUTION_FAILED;
}
