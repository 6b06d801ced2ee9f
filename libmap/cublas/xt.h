/* cublasXt: products whose matrices are in host memory (or in device memory), computed tile by tile on one device. */
#ifndef CUBLAS_XT_H
#define CUBLAS_XT_H
#include "cublas_handle.h"

struct cublasXtHandle_t_st {
  unsigned mark;
  int device; /* -1: none was selected */
  int block; /* rows and columns of a tile */
  int pinning;
  void *context; /* the device's primary context */
  rocblas_handle rocblas;
};

/* The functions of rocBLAS for one precision; numbers are passed by address. `rank` functions update a triangle:
 * syrk, herk (without B), syrkx, herkx, syr2k, her2k. */
typedef rocblas_status xt_rank(rocblas_handle, rocblas_fill, rocblas_operation, int n, int k, const void *alpha,
                               const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
typedef rocblas_status xt_mirrored(rocblas_handle, rocblas_side, rocblas_fill, int m, int n, const void *alpha,
                                   const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
struct xt_kind {
  size_t size;
  const void *one, *minus_one;
  rocblas_status (*gemm)(rocblas_handle, rocblas_operation, rocblas_operation, int m, int n, int k, const void *alpha,
                         const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
  xt_mirrored *symm, *hemm;
  rocblas_status (*trmm)(rocblas_handle, rocblas_side, rocblas_fill, rocblas_operation, rocblas_diagonal, int m, int n,
                         const void *alpha, const void *a, int lda, const void *b, int ldb, void *c, int ldc);
  rocblas_status (*trsm)(rocblas_handle, rocblas_side, rocblas_fill, rocblas_operation, rocblas_diagonal, int m, int n,
                         const void *alpha, const void *a, int lda, void *b, int ldb);
};

/* A matrix of a product: op(A), whose tiles are read from one triangle if it is not XT_FULL. */
enum xt_shape { XT_FULL, XT_SYMMETRIC, XT_HERMITIAN, XT_TRIANGLE };
struct xt_matrix {
  const void *at;
  size_t ld;
  enum xt_shape shape;
  rocblas_operation op;
  rocblas_fill fill;
  rocblas_diagonal diagonal;
};

/* C = alpha left right + beta C; C has m rows and n columns, and k is the size that both matrices share. */
struct xt_product {
  const struct xt_kind *kind;
  size_t m, n, k;
  struct xt_matrix left, right;
  const void *alpha, *beta;
  void *c;
  size_t ldc;
};
/* One of the matrices may have a shape; a triangle's product has no beta. */
cublasStatus_t xt_multiply(cublasXtHandle_t handle, const struct xt_product *product);
/* Only a triangle of C is computed; `a`, `b`: the matrices that `rank` takes for a tile on the diagonal. With `swapped`
 * the product right^T left^T with another alpha is added (syr2k, her2k). */
cublasStatus_t xt_update(cublasXtHandle_t handle, const struct xt_product *product, rocblas_fill fill,
                         rocblas_operation op, xt_rank *rank, const void *rank_alpha, const void *rank_beta,
                         const struct xt_product *swapped);
/* Solves left X = alpha C or X right = alpha C in place; the other matrix is absent (its `at` is NULL). */
cublasStatus_t xt_solve(cublasXtHandle_t handle, const struct xt_product *product);
bool xt_found(cublasXtHandle_t handle);
#endif
