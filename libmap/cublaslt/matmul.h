/* A product as hipBLASLt describes it (problem.c), and what chooses its algorithm (heuristic.c). */
#ifndef MATMUL_H
#define MATMUL_H
#include "cublaslt_objects.h"

struct lt_operands { const struct lt_layout *a, *b, *c, *d; };

struct lt_problem {
  hipblasLtMatmulDesc_t desc;
  hipblasLtMatrixLayout_t a, b, c, d;
  hipblasComputeType_t compute;
  uint64_t hash;  /* of all that the choice of an algorithm depends on */
  bool swapped;   /* the transposed product is computed: A and B change places */
  bool half;      /* alpha and beta are f16 where hipBLASLt wants f32 */
  bool whole;     /* alpha and beta are f32 where hipBLASLt wants integers */
  bool zero_beta; /* beta is zero whatever the program passes */
};

/* The descriptions of a call; NULL: one of them is none, or of sizes that do not fit. */
bool lt_operands(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                 cublasLtMatrixLayout_t d, struct lt_operands *out);
/* hipBLASLt's descriptors of a product in a compute type; after success, lt_problem_end. */
cublasStatus_t lt_problem_make(const struct lt_desc *desc, const struct lt_operands *layouts, hipblasComputeType_t compute,
                               struct lt_problem *out);
void lt_problem_end(struct lt_problem *problem);
/* hipBLASLt's compute types for one of cuBLAS, the second less fast and more precise; 0: none. */
void lt_compute(int compute, hipblasComputeType_t out[2]);

/* At most `wanted` algorithms within so much workspace; CUBLAS_STATUS_NOT_SUPPORTED: there are none. With success, the
 * problem in the compute type that they have (lt_problem_end). */
cublasStatus_t lt_choose(hipblasLtHandle_t handle, const struct lt_desc *desc, const struct lt_operands *layouts,
                         uint64_t workspace, int wanted, cublasLtMatmulHeuristicResult_t *results, int *count,
                         struct lt_problem *problem);
#endif
