/* The products of cublasXt. */
#include <stdlib.h>

#include "xt.h"

/* ---- rocBLAS's functions with numbers by address ---- */

#define RANK(name, lower, ...)                                                                                         \
  static rocblas_status lower##_##name(rocblas_handle h, rocblas_fill fill, rocblas_operation op, int n, int k,        \
                                       const void *alpha, const void *a, int lda, const void *b, int ldb,              \
                                       const void *beta, void *c, int ldc) {                                           \
    (void)b, (void)ldb;                                                                                                \
    return rocblas.lower##name(h, fill, op, n, k, alpha, a, lda, __VA_ARGS__ beta, c, ldc);                            \
  }
#define MIRRORED(name, lower)                                                                                          \
  static rocblas_status lower##_##name(rocblas_handle h, rocblas_side side, rocblas_fill fill, int m, int n,           \
                                       const void *alpha, const void *a, int lda, const void *b, int ldb,              \
                                       const void *beta, void *c, int ldc) {                                           \
    return rocblas.lower##name(h, side, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                              \
  }
#define KIND(lower, T, hermitian, one_, minus_one_)                                                                    \
  static const T lower##_one[] = one_, lower##_minus_one[] = minus_one_;                                               \
  static rocblas_status lower##_gemm(rocblas_handle h, rocblas_operation ta, rocblas_operation tb, int m, int n,       \
                                     int k, const void *alpha, const void *a, int lda, const void *b, int ldb,         \
                                     const void *beta, void *c, int ldc) {                                             \
    return rocblas.lower##gemm(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                               \
  }                                                                                                                    \
  static rocblas_status lower##_trmm(rocblas_handle h, rocblas_side side, rocblas_fill fill, rocblas_operation op,     \
                                     rocblas_diagonal diagonal, int m, int n, const void *alpha, const void *a,        \
                                     int lda, const void *b, int ldb, void *c, int ldc) {                              \
    return rocblas.lower##trmm(h, side, fill, op, diagonal, m, n, alpha, a, lda, b, ldb, c, ldc);                      \
  }                                                                                                                    \
  static rocblas_status lower##_trsm(rocblas_handle h, rocblas_side side, rocblas_fill fill, rocblas_operation op,     \
                                     rocblas_diagonal diagonal, int m, int n, const void *alpha, const void *a,        \
                                     int lda, void *b, int ldb) {                                                      \
    return rocblas.lower##trsm(h, side, fill, op, diagonal, m, n, alpha, a, lda, b, ldb);                              \
  }                                                                                                                    \
  RANK(syrk, lower, )                                                                                                  \
  RANK(syrkx, lower, b, ldb, )                                                                                         \
  RANK(syr2k, lower, b, ldb, )                                                                                         \
  static const struct xt_kind lower##_kind = {sizeof(T), lower##_one, lower##_minus_one, lower##_gemm, lower##_symm,   \
                                              lower##_##hermitian, lower##_trmm, lower##_trsm};
#define NUMBERS(...) {__VA_ARGS__}
MIRRORED(symm, s)
MIRRORED(symm, d)
MIRRORED(symm, c)
MIRRORED(symm, z)
MIRRORED(hemm, c)
MIRRORED(hemm, z)
KIND(s, float, symm, NUMBERS(1), NUMBERS(-1))
KIND(d, double, symm, NUMBERS(1), NUMBERS(-1))
KIND(c, cuComplex, hemm, NUMBERS({1, 0}), NUMBERS({-1, 0}))
KIND(z, cuDoubleComplex, hemm, NUMBERS({1, 0}), NUMBERS({-1, 0}))
RANK(herk, c, )
RANK(herk, z, )
RANK(herkx, c, b, ldb, )
RANK(herkx, z, b, ldb, )
RANK(her2k, c, b, ldb, )
RANK(her2k, z, b, ldb, )

/* ---- arguments ---- */

static cublasStatus_t ready(cublasXtHandle_t handle, bool good) {
  if (!xt_found(handle) || handle->device < 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

static bool fits(size_t ld, size_t rows) { return ld >= (rows ? rows : 1); }

static struct xt_matrix whole(const void *at, size_t ld, rocblas_operation op) {
  return (struct xt_matrix){.at = at, .ld = ld, .op = op};
}

/* ---- gemm ---- */

static cublasStatus_t gemm(cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                           struct xt_product product, const void *a, size_t lda, const void *b, size_t ldb) {
  rocblas_operation left = rocblas_operation_none, right = rocblas_operation_none;
  bool good = beneath_cublasOperation_t(transa, &left) && beneath_cublasOperation_t(transb, &right) && product.alpha &&
              product.beta && fits(lda, transa ? product.k : product.m) && fits(ldb, transb ? product.n : product.k) &&
              fits(product.ldc, product.m);
  cublasStatus_t status = ready(handle, good);
  if (status || !product.m || !product.n) return status;
  if (!product.c || (product.k && (!a || !b))) return CUBLAS_STATUS_INVALID_VALUE;
  product.left = whole(a, lda, left), product.right = whole(b, ldb, right);
  return xt_multiply(handle, &product);
}

/* ---- symm, hemm, spmm ---- */

static cublasStatus_t mirrored(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                               struct xt_product product, enum xt_shape shape, const void *a, size_t lda, const void *b,
                               size_t ldb) {
  bool good = side >= 0 && side <= 1 && uplo >= 0 && uplo <= 1 && product.alpha && product.beta &&
              fits(lda, side ? product.n : product.m) && fits(ldb, product.m) && fits(product.ldc, product.m);
  cublasStatus_t status = ready(handle, good);
  if (status || !product.m || !product.n) return status;
  if (!a || !b || !product.c) return CUBLAS_STATUS_INVALID_VALUE;
  struct xt_matrix own = whole(a, lda, rocblas_operation_none), other = whole(b, ldb, rocblas_operation_none);
  own.shape = shape, own.fill = uplo ? rocblas_fill_upper : rocblas_fill_lower;
  product.left = side ? other : own, product.right = side ? own : other;
  product.k = side ? product.n : product.m;
  return xt_multiply(handle, &product);
}

/* A packed triangle as a matrix in host memory. */
static char *unpacked(const void *packed, size_t n, bool upper, size_t size) {
  char *matrix = malloc(n * n * size);
  uint64_t from = (uint64_t)(uintptr_t)packed;
  for (size_t j = 0; j < n && matrix; j++) {
    size_t first = upper ? 0 : j, width = (upper ? j + 1 : n - j) * size;
    struct libmap_copy to = {(uint64_t)(uintptr_t)(matrix + (first + j * n) * size), width}, source = {from, width};
    if (libmap_copy_2d(to, source, width, 1)) {
      free(matrix);
      return NULL;
    }
    from += width;
  }
  return matrix;
}

static cublasStatus_t packed(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                             struct xt_product product, const void *a, const void *b, size_t ldb) {
  size_t n = side ? product.n : product.m;
  bool good = side >= 0 && side <= 1 && uplo >= 0 && uplo <= 1 && a && fits(ldb, product.m) && fits(product.ldc, product.m);
  cublasStatus_t status = ready(handle, good);
  if (status || !product.m || !product.n) return status;
  if (libmap_driver.enter(handle->context)) return CUBLAS_STATUS_EXECUTION_FAILED;
  char *matrix = unpacked(a, n, uplo == 1, product.kind->size);
  libmap_driver.leave(&(void *){NULL});
  if (!matrix) return CUBLAS_STATUS_ALLOC_FAILED;
  status = mirrored(handle, side, uplo, product, XT_SYMMETRIC, matrix, n, b, ldb);
  free(matrix);
  return status;
}

/* ---- trmm, trsm ---- */

/* `solve`: C is the right side of a system of equations, and there is no B. */
static cublasStatus_t triangle(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,
                               cublasOperation_t trans, cublasDiagType_t diag, struct xt_product product, const void *a,
                               size_t lda, bool solve, const void *b, size_t ldb) {
  rocblas_operation op = rocblas_operation_none;
  bool good = side >= 0 && side <= 1 && uplo >= 0 && uplo <= 1 && beneath_cublasOperation_t(trans, &op) && diag >= 0 &&
              diag <= 1 && product.alpha && fits(lda, side ? product.n : product.m) && fits(ldb, product.m) &&
              fits(product.ldc, product.m);
  cublasStatus_t status = ready(handle, good);
  if (status || !product.m || !product.n) return status;
  if (!a || (!solve && !b) || !product.c) return CUBLAS_STATUS_INVALID_VALUE;
  struct xt_matrix own = {a, lda, XT_TRIANGLE, op, uplo ? rocblas_fill_upper : rocblas_fill_lower,
                          diag ? rocblas_diagonal_unit : rocblas_diagonal_non_unit};
  struct xt_matrix other = solve ? (struct xt_matrix){0} : whole(b, ldb, rocblas_operation_none);
  product.left = side ? other : own, product.right = side ? own : other;
  if (solve) return xt_solve(handle, &product);
  product.k = side ? product.n : product.m;
  return xt_multiply(handle, &product);
}

/* ---- syrk, herk, syrkx, herkx, syr2k, her2k ---- */

/* alpha and beta as `rank` takes them: real numbers for some. alpha2: of the product with both matrices exchanged. */
struct rank {
  xt_rank *call;
  const void *alpha, *beta, *alpha2;
  bool hermitian;
};

static cublasStatus_t rank(cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                           struct xt_product product, struct rank how, const void *a, size_t lda, const void *b,
                           size_t ldb) {
  rocblas_operation op = rocblas_operation_none;
  rocblas_operation back = how.hermitian ? rocblas_operation_conjugate_transpose : rocblas_operation_transpose;
  bool good = uplo >= 0 && uplo <= 1 && beneath_cublasOperation_t(trans, &op) && how.alpha && how.beta &&
              fits(lda, trans ? product.k : product.n) && fits(ldb, trans ? product.k : product.n) &&
              fits(product.ldc, product.n);
  bool real = product.kind->symm == product.kind->hemm;
  if (good && trans && !real) good = (trans == 2) == how.hermitian;
  cublasStatus_t status = ready(handle, good);
  if (status || !product.n) return status;
  if (!product.c || (product.k && (!a || !b))) return CUBLAS_STATUS_INVALID_VALUE;
  op = trans ? back : rocblas_operation_none;
  product.m = product.n;
  product.left = whole(a, lda, op), product.right = whole(b, ldb, trans ? rocblas_operation_none : back);
  struct xt_product swapped = product;
  swapped.left.at = b, swapped.left.ld = ldb, swapped.right.at = a, swapped.right.ld = lda, swapped.alpha = how.alpha2;
  return xt_update(handle, &product, uplo ? rocblas_fill_upper : rocblas_fill_lower, op, how.call, how.alpha, how.beta,
                   how.alpha2 ? &swapped : NULL);
}

/* ---- the functions ---- */

#define PRODUCT(lower, ...) (struct xt_product){.kind = &lower##_kind, __VA_ARGS__}
#define MIRRORED_FUNCTION(letter, lower, T, name, shape)                                                               \
  cublasStatus_t cublasXt##letter##name(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,         \
                                        size_t m, size_t n, const T *alpha, const T *A, size_t lda, const T *B,        \
                                        size_t ldb, const T *beta, T *C, size_t ldc) {                                 \
    return mirrored(handle, side, uplo, PRODUCT(lower, .m = m, .n = n, .alpha = alpha, .beta = beta, .c = C, .ldc = ldc), \
                    shape, A, lda, B, ldb);                                                                            \
  }
#define SYRK(letter, lower, T)                                                                                         \
  cublasStatus_t cublasXt##letter##syrk(cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,       \
                                        size_t n, size_t k, const T *alpha, const T *A, size_t lda, const T *beta,     \
                                        T *C, size_t ldc) {                                                            \
    return rank(handle, uplo, trans, PRODUCT(lower, .n = n, .k = k, .alpha = alpha, .beta = beta, .c = C, .ldc = ldc), \
                (struct rank){lower##_syrk, alpha, beta, NULL, false}, A, lda, A, lda);                                \
  }
#define SYR2K(letter, lower, T, name, second)                                                                          \
  cublasStatus_t cublasXt##letter##name(cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,       \
                                        size_t n, size_t k, const T *alpha, const T *A, size_t lda, const T *B,        \
                                        size_t ldb, const T *beta, T *C, size_t ldc) {                                 \
    return rank(handle, uplo, trans, PRODUCT(lower, .n = n, .k = k, .alpha = alpha, .beta = beta, .c = C, .ldc = ldc), \
                (struct rank){lower##_##name, alpha, beta, second, false}, A, lda, B, ldb);                            \
  }
#define FUNCTIONS(letter, lower, T)                                                                                    \
  cublasStatus_t cublasXt##letter##gemm(cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,   \
                                        size_t m, size_t n, size_t k, const T *alpha, const T *A, size_t lda,          \
                                        const T *B, size_t ldb, const T *beta, T *C, size_t ldc) {                     \
    return gemm(handle, transa, transb,                                                                                \
                PRODUCT(lower, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .c = C, .ldc = ldc), A, lda, B,   \
                ldb);                                                                                                  \
  }                                                                                                                    \
  cublasStatus_t cublasXt##letter##spmm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,         \
                                        size_t m, size_t n, const T *alpha, const T *AP, const T *B, size_t ldb,       \
                                        const T *beta, T *C, size_t ldc) {                                             \
    return packed(handle, side, uplo, PRODUCT(lower, .m = m, .n = n, .alpha = alpha, .beta = beta, .c = C, .ldc = ldc), \
                  AP, B, ldb);                                                                                         \
  }                                                                                                                    \
  cublasStatus_t cublasXt##letter##trmm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,         \
                                        cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n,            \
                                        const T *alpha, const T *A, size_t lda, const T *B, size_t ldb, T *C,          \
                                        size_t ldc) {                                                                  \
    return triangle(handle, side, uplo, trans, diag,                                                                   \
                    PRODUCT(lower, .m = m, .n = n, .alpha = alpha, .c = C, .ldc = ldc), A, lda, false, B, ldb);       \
  }                                                                                                                    \
  cublasStatus_t cublasXt##letter##trsm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,         \
                                        cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n,            \
                                        const T *alpha, const T *A, size_t lda, T *B, size_t ldb) {                    \
    return triangle(handle, side, uplo, trans, diag,                                                                   \
                    PRODUCT(lower, .m = m, .n = n, .alpha = alpha, .c = B, .ldc = ldb), A, lda, true, NULL, ldb);               \
  }                                                                                                                    \
  MIRRORED_FUNCTION(letter, lower, T, symm, XT_SYMMETRIC)                                                              \
  SYRK(letter, lower, T)                                                                                               \
  SYR2K(letter, lower, T, syrkx, NULL)                                                                                 \
  SYR2K(letter, lower, T, syr2k, alpha)
/* With Hermitian matrices; beta is real, and so is alpha for herk. */
#define HERMITIAN(letter, lower, T, R)                                                                                 \
  MIRRORED_FUNCTION(letter, lower, T, hemm, XT_HERMITIAN)                                                              \
  cublasStatus_t cublasXt##letter##herk(cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,       \
                                        size_t n, size_t k, const R *alpha, const T *A, size_t lda, const R *beta,     \
                                        T *C, size_t ldc) {                                                            \
    T first = {alpha ? *alpha : 0, 0}, last = {beta ? *beta : 0, 0};                                                   \
    return rank(handle, uplo, trans, PRODUCT(lower, .n = n, .k = k, .alpha = &first, .beta = &last, .c = C, .ldc = ldc), \
                (struct rank){lower##_herk, alpha, beta, NULL, true}, A, lda, A, lda);                                 \
  }                                                                                                                    \
  HERMITIAN_PAIR(letter, lower, T, R, herkx, NULL)                                                                     \
  HERMITIAN_PAIR(letter, lower, T, R, her2k, &conjugate)
#define HERMITIAN_PAIR(letter, lower, T, R, name, second)                                                              \
  cublasStatus_t cublasXt##letter##name(cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,       \
                                        size_t n, size_t k, const T *alpha, const T *A, size_t lda, const T *B,        \
                                        size_t ldb, const R *beta, T *C, size_t ldc) {                                 \
    T last = {beta ? *beta : 0, 0}, conjugate = alpha ? (T){alpha->x, -alpha->y} : (T){0, 0};                          \
    (void)conjugate;                                                                                                   \
    return rank(handle, uplo, trans, PRODUCT(lower, .n = n, .k = k, .alpha = alpha, .beta = &last, .c = C, .ldc = ldc), \
                (struct rank){lower##_##name, alpha, beta, second, true}, A, lda, B, ldb);                             \
  }

FUNCTIONS(S, s, float)
FUNCTIONS(D, d, double)
FUNCTIONS(C, c, cuComplex)
FUNCTIONS(Z, z, cuDoubleComplex)
HERMITIAN(C, c, cuComplex, float)
HERMITIAN(Z, z, cuDoubleComplex, double)
