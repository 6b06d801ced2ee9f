/* cuBLAS's batched factorisations on rocSOLVER, which is loaded at the first such call. Most of them are in the table
 * (ptx2amd/api/cublas/more.py). */
#include <pthread.h>

#include "cublas_handle.h"

extern const struct libmap libmap_rocsolver;
static bool there;

static void open_solver(void) { there = libmap_open(&libmap_rocsolver); }

bool cublas_solver(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_solver);
  return there;
}

/* Scratch memory on the device, valid until the handle's next call of this kind; NULL: out of memory. */
static void *scratch(cublasHandle_t handle, size_t size) {
  if (size > handle->scratch_size) {
    uint64_t more;
    if (libmap_driver.allocate(&more, size)) return NULL;
    if (handle->scratch) {
      libmap_driver.synchronize(handle->stream);
      libmap_driver.release(handle->scratch);
    }
    handle->scratch = more, handle->scratch_size = size;
  }
  return (void *)(uintptr_t)handle->scratch;
}

/* Least squares need memory for each matrix' status, if the program passes none. */
static cublasStatus_t begin_gels(cublasHandle_t handle, cublasOperation_t trans, int *info, int **states, int count,
                                 rocblas_handle *found, rocblas_operation *operation) {
  if (!cublas_found(handle, found)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!info || !beneath_cublasOperation_t(trans, operation) || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (!cublas_solver()) return CUBLAS_STATUS_NOT_SUPPORTED;
  *info = 0;
  if (!*states) *states = scratch(handle, (size_t)(count + 1) * sizeof **states);
  return *states ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

#define GELS(letter, lower, number)                                                                                    \
  cublasStatus_t cublas##letter##gelsBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int nrhs,   \
                                             number *const *Aarray, int lda, number *const *Carray, int ldc,           \
                                             int *info, int *devInfoArray, int batchSize) {                            \
    rocblas_handle found;                                                                                              \
    rocblas_operation operation;                                                                                       \
    cublasStatus_t status = begin_gels(handle, trans, info, &devInfoArray, batchSize, &found, &operation);             \
    if (status) return status;                                                                                         \
    return cublas_status(rocsolver.lower##gels_batched(found, operation, m, n, nrhs, Aarray, lda, Carray, ldc,         \
                                                       devInfoArray, batchSize));                                      \
  }

GELS(S, s, float)
GELS(D, d, double)
GELS(C, c, cuComplex)
GELS(Z, z, cuDoubleComplex)

/* Inverses need pivots in scratch memory, and factors in host memory. */
static cublasStatus_t begin_matinv(cublasHandle_t handle, int n, int lda, int lda_inv, int count, rocblas_handle *found,
                                   int **pivots, rocblas_pointer_mode *mode) {
  enum { LARGEST = 32 };
  if (!cublas_found(handle, found)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0 || n > LARGEST || lda < n || lda_inv < n || count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (!cublas_solver()) return CUBLAS_STATUS_NOT_SUPPORTED;
  *pivots = scratch(handle, (size_t)(n + 1) * (size_t)(count + 1) * sizeof **pivots);
  if (!*pivots) return CUBLAS_STATUS_ALLOC_FAILED;
  rocblas_status status = rocblas.get_pointer_mode(*found, mode);
  return cublas_status(status ? status : rocblas.set_pointer_mode(*found, rocblas_pointer_mode_host));
}

/* Copy, factorise, invert in place. */
#define MATINV(letter, lower, number, ...)                                                                             \
  cublasStatus_t cublas##letter##matinvBatched(cublasHandle_t handle, int n, const number *const *A, int lda,          \
                                               number *const *Ainv, int lda_inv, int *info, int batchSize) {           \
    static const number factors[2] = {__VA_ARGS__};                                                                    \
    rocblas_handle found;                                                                                              \
    rocblas_pointer_mode mode;                                                                                         \
    int *pivots;                                                                                                       \
    cublasStatus_t begun = begin_matinv(handle, n, lda, lda_inv, batchSize, &found, &pivots, &mode);                   \
    if (begun) return begun;                                                                                           \
    rocblas_status status = rocblas.lower##geam_batched(found, rocblas_operation_none, rocblas_operation_none, n, n,   \
                                                        factors, A, lda, factors + 1, A, lda, Ainv, lda_inv, batchSize); \
    rocblas.set_pointer_mode(found, mode);                                                                             \
    if (!status) status = rocsolver.lower##getrf_batched(found, n, n, Ainv, lda_inv, pivots, n, info, batchSize);      \
    if (!status) status = rocsolver.lower##getri_batched(found, n, Ainv, lda_inv, pivots, n, info, batchSize);         \
    return cublas_status(status);                                                                                      \
  }

MATINV(S, s, float, 1)
MATINV(D, d, double, 1)
MATINV(C, c, cuComplex, {1, 0})
MATINV(Z, z, cuDoubleComplex, {1, 0})
