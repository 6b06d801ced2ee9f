/* A product in hipBLASLt's terms (problem.c), the choice of its algorithm (heuristic.c), and products that hipBLASLt
 * lacks (rocblas.c). */
#ifndef MATMUL_H
#define MATMUL_H
#include "cublaslt_objects.h"

struct lt_operands { const struct lt_layout *a, *b, *c, *d; };

struct lt_problem {
  hipblasLtMatmulDesc_t desc;
  hipblasLtMatrixLayout_t a, b, c, d;
  hipblasComputeType_t compute;
  uint64_t hash;  /* hash of everything that the choice of an algorithm depends on */
  bool swapped;   /* compute the transposed product: A and B are swapped */
  bool half;      /* alpha and beta are f16, but hipBLASLt expects f32 */
  bool whole;     /* alpha and beta are f32, but hipBLASLt expects integers */
  bool zero_beta; /* treat beta as zero, whatever the program passes */
};

/* The descriptors of a call; NULL: one of them is invalid, or sizes do not match. */
bool lt_operands(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                 cublasLtMatrixLayout_t d, struct lt_operands *out);
/* hipBLASLt's descriptors of a product in a compute type; on success, release with lt_problem_end. */
cublasStatus_t lt_problem_make(const struct lt_desc *desc, const struct lt_operands *layouts, hipblasComputeType_t compute,
                               struct lt_problem *out);
void lt_problem_end(struct lt_problem *problem);
/* The operation that hipBLASLt and rocBLAS (same numbers) do with a matrix; `flipped`: it is in memory transposed. */
hipblasOperation_t lt_operation(int op, bool flipped);
/* The type of the bias. */
int lt_bias_type(const struct lt_desc *desc, const struct lt_operands *layouts);
/* hipBLASLt's compute types for one of cuBLAS's, the second slower and more precise; 0: none. */
void lt_compute(int compute, hipblasComputeType_t out[2]);

/* Finds at most `wanted` algorithms with this workspace limit; CUBLAS_STATUS_NOT_SUPPORTED: none. On success, `problem`
 * has their compute type; release with lt_problem_end. */
cublasStatus_t lt_choose(struct blas_handle *handle, const struct lt_desc *desc, const struct lt_operands *layouts,
                         uint64_t workspace, int wanted, cublasLtMatmulHeuristicResult_t *results, int *count,
                         struct lt_problem *problem);

/* What a call passes, alpha and beta as for hipBLASLt. */
struct lt_call {
  const void *alpha, *a, *b, *beta, *c;
  void *d, *workspace;
  size_t size; /* of the workspace */
  cudaStream_t stream;
  hipStream_t beneath;
};
/* Whether rocBLAS and a kernel for the epilogue can do a product; makes the rocBLAS handle. */
bool lt_rocblas_serves(struct blas_handle *handle, const struct lt_desc *desc, const struct lt_operands *layouts);
cublasStatus_t lt_rocblas_multiply(struct blas_handle *handle, const struct lt_desc *desc,
                                   const struct lt_operands *layouts, const struct lt_call *call);
void lt_rocblas_end(struct blas_handle *handle);
#endif
