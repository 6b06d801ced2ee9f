/* Grouped products: the products of a group have the same sizes and become one rocBLAS call. Sizes, alphas and betas
 * are host arrays with one element per group; the matrices are one list in device memory. */
#include "cublas_handle.h"

/* Whether all the arrays of a call are there. */
static bool given(const void *const *arrays, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!arrays[i]) return false;
  return true;
}
#define GIVEN(...) given((const void *[]){__VA_ARGS__}, sizeof(const void *[]){__VA_ARGS__} / sizeof(void *))
#define ARRAYS                                                                                                          \
  transa_array, transb_array, m_array, n_array, k_array, alpha_array, Aarray, lda_array, Barray, ldb_array, beta_array, \
      Carray, ldc_array, group_size

/* The operations of a group; false: one of them is invalid. */
static bool operations(cublasOperation_t a, cublasOperation_t b, rocblas_operation *out) {
  return beneath_cublasOperation_t(a, out) && beneath_cublasOperation_t(b, out + 1);
}

#define GROUPED(letter, call, number, integer, suffix)                                                                  \
  cublasStatus_t cublas##letter##gemmGroupedBatched##suffix(                                                            \
      cublasHandle_t handle, const cublasOperation_t *transa_array, const cublasOperation_t *transb_array,              \
      const integer *m_array, const integer *n_array, const integer *k_array, const number *alpha_array,                \
      const number *const *Aarray, const integer *lda_array, const number *const *Barray, const integer *ldb_array,     \
      const number *beta_array, number *const *Carray, const integer *ldc_array, integer group_count,                   \
      const integer *group_size) {                                                                                      \
    rocblas_handle found;                                                                                               \
    rocblas_operation op[2];                                                                                            \
    if (!cublas_found(handle, &found)) return CUBLAS_STATUS_NOT_INITIALIZED;                                            \
    if (group_count < 0 || (group_count && !GIVEN(ARRAYS))) return CUBLAS_STATUS_INVALID_VALUE;                         \
    for (integer g = 0, at = 0; g < group_count; at += group_size[g++]) {                                               \
      if (!operations(transa_array[g], transb_array[g], op)) return CUBLAS_STATUS_INVALID_VALUE;                        \
      rocblas_status status = rocblas.call(found, op[0], op[1], m_array[g], n_array[g], k_array[g], alpha_array + g,    \
                                           Aarray + at, lda_array[g], Barray + at, ldb_array[g], beta_array + g,        \
                                           Carray + at, ldc_array[g], group_size[g]);                                   \
      if (status) return cublas_status(status);                                                                         \
    }                                                                                                                   \
    return CUBLAS_STATUS_SUCCESS;                                                                                       \
  }

GROUPED(S, sgemm_batched, float, int, )
GROUPED(D, dgemm_batched, double, int, )
GROUPED(S, sgemm_batched_64, float, int64_t, _64)
GROUPED(D, dgemm_batched_64, double, int64_t, _64)

/* The size of alpha in bytes; 0: not a compute type. */
static size_t scalar_size(rocblas_datatype type) {
  switch (type) {
    case rocblas_datatype_f16_r: return 2;
    case rocblas_datatype_f32_r: case rocblas_datatype_i32_r: return 4;
    case rocblas_datatype_f64_r: case rocblas_datatype_f32_c: return 8;
    case rocblas_datatype_f64_c: return 16;
    default: return 0;
  }
}

#define GROUPED_EX(call, integer, suffix)                                                                               \
  cublasStatus_t cublasGemmGroupedBatchedEx##suffix(                                                                    \
      cublasHandle_t handle, const cublasOperation_t *transa_array, const cublasOperation_t *transb_array,              \
      const integer *m_array, const integer *n_array, const integer *k_array, const void *alpha_array,                  \
      const void *const *Aarray, cudaDataType_t Atype, const integer *lda_array, const void *const *Barray,             \
      cudaDataType_t Btype, const integer *ldb_array, const void *beta_array, void *const *Carray,                      \
      cudaDataType_t Ctype, const integer *ldc_array, integer group_count, const integer *group_size,                   \
      cublasComputeType_t computeType) {                                                                                \
    rocblas_handle found;                                                                                               \
    rocblas_operation op[2];                                                                                            \
    rocblas_datatype a, b, c;                                                                                           \
    if (!cublas_found(handle, &found)) return CUBLAS_STATUS_NOT_INITIALIZED;                                            \
    if (!beneath_cudaDataType(Atype, &a) || !beneath_cudaDataType(Btype, &b) || !beneath_cudaDataType(Ctype, &c))       \
      return CUBLAS_STATUS_NOT_SUPPORTED;                                                                               \
    rocblas_datatype sums = compute_type(computeType, c);                                                               \
    size_t size = scalar_size(sums);                                                                                    \
    if (group_count < 0 || !size || (group_count && !GIVEN(ARRAYS))) return CUBLAS_STATUS_INVALID_VALUE;                \
    for (integer g = 0, at = 0; g < group_count; at += group_size[g++]) {                                               \
      if (!operations(transa_array[g], transb_array[g], op)) return CUBLAS_STATUS_INVALID_VALUE;                        \
      rocblas_status status = rocblas.call(                                                                             \
          found, op[0], op[1], m_array[g], n_array[g], k_array[g], (const char *)alpha_array + (size_t)g * size,        \
          (const void *)(Aarray + at), a, lda_array[g], (const void *)(Barray + at), b, ldb_array[g],                   \
          (const char *)beta_array + (size_t)g * size, (const void *)(Carray + at), c, ldc_array[g],                    \
          (void *)(Carray + at), c, ldc_array[g], group_size[g], sums, rocblas_gemm_algo_standard, 0, 0);               \
      if (status) return cublas_status(status);                                                                         \
    }                                                                                                                   \
    return CUBLAS_STATUS_SUCCESS;                                                                                       \
  }

GROUPED_EX(gemm_batched_ex, int, )
GROUPED_EX(gemm_batched_ex_64, int64_t, _64)
