/* Packs and unpacks triangular matrices column by column: rocBLAS has no such function, so each column is a copy. */
#include "cublas_handle.h"

/* The first row of a column of the triangle, and its number of rows. */
static int first_row(cublasFillMode_t uplo, int column) { return uplo == 0 ? column : 0; }
static int row_count(cublasFillMode_t uplo, int column, int n) { return uplo == 0 ? n - column : column + 1; }

static cublasStatus_t fits(cublasHandle_t handle, cublasFillMode_t uplo, int n, int lda, rocblas_handle *found) {
  if (!cublas_found(handle, found)) return CUBLAS_STATUS_NOT_INITIALIZED;
  return uplo < 0 || uplo > 1 || n < 0 || lda < (n > 1 ? n : 1) ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

#define PACKED(letter, lower, number)                                                                                   \
  cublasStatus_t cublas##letter##tpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const number *AP,           \
                                       number *A, int lda) {                                                            \
    rocblas_handle found;                                                                                               \
    cublasStatus_t status = fits(handle, uplo, n, lda, &found);                                                         \
    for (int j = 0; j < n && !status; AP += row_count(uplo, j++, n))                                                    \
      status = cublas_status(rocblas.lower##copy(found, row_count(uplo, j, n), AP, 1,                                   \
                                                 A + (size_t)j * (size_t)lda + first_row(uplo, j), 1));                 \
    return status;                                                                                                      \
  }                                                                                                                     \
  cublasStatus_t cublas##letter##trttp(cublasHandle_t handle, cublasFillMode_t uplo, int n, const number *A, int lda,   \
                                       number *AP) {                                                                    \
    rocblas_handle found;                                                                                               \
    cublasStatus_t status = fits(handle, uplo, n, lda, &found);                                                         \
    for (int j = 0; j < n && !status; AP += row_count(uplo, j++, n))                                                    \
      status = cublas_status(rocblas.lower##copy(found, row_count(uplo, j, n),                                          \
                                                 A + (size_t)j * (size_t)lda + first_row(uplo, j), 1, AP, 1));          \
    return status;                                                                                                      \
  }

PACKED(S, s, float)
PACKED(D, d, double)
PACKED(C, c, cuComplex)
PACKED(Z, z, cuDoubleComplex)
