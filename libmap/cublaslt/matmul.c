/* cublasLtMatmul and cublasLtMatrixTransform. */
#include <string.h>

#include "matmul.h"

static float from_half(const void *from) {
  _Float16 half;
  memcpy(&half, from, sizeof half);
  return (float)half;
}

/* The value as an integer; false: it is not one. */
static bool from_float(const void *from, int32_t *out) {
  float value;
  memcpy(&value, from, sizeof value);
  if (!(value > -1e9f && value < 1e9f)) return false;
  *out = (int32_t)value;
  return (float)*out == value;
}

/* alpha and beta as hipBLASLt expects them: in host memory, in its scalar type. */
struct scalars { const void *alpha, *beta; uint64_t kept[2]; };

/* hipBLASLt accepts a device vector of alphas, but not a single alpha in device memory. */
static cublasStatus_t from_device(const struct lt_desc *desc, struct scalars *one, cudaStream_t stream) {
  size_t size = desc->scale == HIP_R_16F ? 2 : desc->scale == HIP_R_64F ? 8 : 4;
  REFUSE_IF(libmap_driver.synchronize(stream), "cublasLtMatmul with alpha on the device while its stream is captured");
  if (libmap_driver.copy_out(&one->kept[0], (uint64_t)(uintptr_t)one->alpha, size) ||
      libmap_driver.copy_out(&one->kept[1], (uint64_t)(uintptr_t)one->beta, size))
    return CUBLAS_STATUS_MAPPING_ERROR;
  one->alpha = &one->kept[0], one->beta = &one->kept[1];
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t converted(const struct lt_problem *problem, struct scalars *one) {
  static const uint64_t zero;
  if (problem->zero_beta) one->beta = &zero;
  if (problem->whole) {
    int32_t numbers[2];
    bool good = from_float(one->alpha, numbers) && from_float(one->beta, numbers + 1);
    REFUSE_IF(!good, "cublasLtMatmul of 8-bit integers with an alpha or beta that is none");
    memcpy(one->kept, (uint64_t[2]){(uint32_t)numbers[0], (uint32_t)numbers[1]}, sizeof one->kept);
  } else if (problem->half) {
    float numbers[2] = {from_half(one->alpha), from_half(one->beta)};
    for (int i = 0; i < 2; i++) memcpy(&one->kept[i], &numbers[i], sizeof *numbers);
  } else {
    return CUBLAS_STATUS_SUCCESS;
  }
  one->alpha = &one->kept[0], one->beta = &one->kept[1];
  return CUBLAS_STATUS_SUCCESS;
}

/* The algorithm: the program's if it was chosen for this problem, otherwise a new choice within the workspace. */
static cublasStatus_t find(struct blas_handle *handle, const struct lt_desc *desc, const struct lt_operands *layouts,
                           const struct lt_algo *given, uint64_t workspace, struct lt_algo *out,
                           struct lt_problem *problem) {
  if (given && given->chosen) {
    cublasStatus_t status = lt_problem_make(desc, layouts, (hipblasComputeType_t)given->compute, problem);
    if (status) return status;
    if (problem->hash == given->problem) {
      *out = *given;
      if (given->workspace <= workspace) return CUBLAS_STATUS_SUCCESS;
      lt_problem_end(problem);
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    lt_problem_end(problem);
  }
  cublasLtMatmulHeuristicResult_t best;
  int count;
  cublasStatus_t status = lt_choose(handle, desc, layouts, workspace, 1, &best, &count, problem);
  if (!status) *out = *lt_algo(&best.algo);
  return status;
}

static cublasStatus_t multiply(hipblasLtHandle_t handle, const struct lt_problem *problem,
                               const hipblasLtMatmulAlgo_t *algo, const struct lt_call *call) {
  const void *first = problem->swapped ? call->b : call->a, *second = problem->swapped ? call->a : call->b;
  return cublaslt_status(hipblasLt.Matmul(handle, problem->desc, call->alpha, first, problem->a, second, problem->b,
                                          call->beta, call->c, problem->c, call->d, problem->d, algo, call->workspace,
                                          call->size, call->beneath));
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc, const void *alpha, const void *A,
                              cublasLtMatrixLayout_t Adesc, const void *B, cublasLtMatrixLayout_t Bdesc, const void *beta,
                              const void *C, cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
                              const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspaceSizeInBytes,
                              cudaStream_t stream) {
  const char *name = "cublasLtMatmul";
  const struct lt_desc *desc = lt_desc(computeDesc);
  struct blas_handle *handle;
  struct lt_operands layouts;
  struct lt_problem problem;
  struct lt_algo chosen;
  hipStream_t beneath;
  if (!lt_found(lightHandle, &handle)) return lt_logged(name, CUBLAS_STATUS_NOT_INITIALIZED);
  if (!lt_operands(computeDesc, Adesc, Bdesc, Cdesc, Ddesc, &layouts) || !alpha || (algo && !lt_algo(algo)) ||
      (!beta && desc->pointer_mode != MODE_ALPHA_VECTOR_BETA_ZERO) || libmap_driver.stream(stream, &beneath))
    return lt_logged(name, CUBLAS_STATUS_INVALID_VALUE);
  if (!layouts.d->rows || !layouts.d->cols) return CUBLAS_STATUS_SUCCESS;
  if (!A || !B || !D) return lt_logged(name, CUBLAS_STATUS_INVALID_VALUE);
  cublasStatus_t status = find(handle, desc, &layouts, lt_algo(algo), workspace ? workspaceSizeInBytes : 0, &chosen, &problem);
  if (status) return lt_logged(name, status);
  struct scalars scalars = {alpha, beta, {0, 0}};
  if (desc->pointer_mode == MODE_DEVICE) status = from_device(desc, &scalars, stream);
  if (!status) status = converted(&problem, &scalars);
  if (status) {
    lt_problem_end(&problem);
    return lt_logged(name, status);
  }
  struct lt_call call = {scalars.alpha, A, B, scalars.beta, C ? C : D, D, workspace,
                         workspace ? workspaceSizeInBytes : 0, stream, beneath};
  lt_log(5, name, "", 0);
  status = chosen.chosen == CHOSEN_ROCBLAS ? lt_rocblas_multiply(handle, desc, &layouts, &call)
                                           : multiply(handle->lt, &problem, &chosen.hip, &call);
  lt_problem_end(&problem);
  return lt_logged(name, status);
}

/* ---- matrix transformations ---- */

static hipblasStatus_t transform_layout(const struct lt_layout *from, hipblasLtMatrixLayout_t *out) {
  *out = NULL;
  if (!from) return HIPBLAS_STATUS_SUCCESS;
  hipblasStatus_t status = hipblasLt.MatrixLayoutCreate(out, (hipDataType)from->type, from->rows, from->cols, from->ld);
  const struct { hipblasLtMatrixLayoutAttribute_t to; const void *value; size_t size; } rest[] = {
      {HIPBLASLT_MATRIX_LAYOUT_ORDER, &from->order, sizeof from->order},
      {HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &from->batch, sizeof from->batch},
      {HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &from->stride, sizeof from->stride},
  };
  for (size_t i = 0; i < sizeof rest / sizeof *rest && !status; i++)
    status = hipblasLt.MatrixLayoutSetAttribute(*out, rest[i].to, rest[i].value, rest[i].size);
  return status;
}

static hipblasStatus_t transform_desc(const struct lt_transform *from, hipblasLtMatrixTransformDesc_t *out) {
  *out = NULL;
  hipblasStatus_t status = hipblasLt.MatrixTransformDescCreate(out, (hipDataType)from->scale);
  const struct { hipblasLtMatrixTransformDescAttributes_t to; int32_t value; } rest[] = {
      {HIPBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, from->pointer_mode},
      {HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, HIPBLAS_OP_N + from->trans_a},
      {HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, HIPBLAS_OP_N + from->trans_b},
  };
  for (size_t i = 0; i < sizeof rest / sizeof *rest && !status; i++)
    status = hipblasLt.MatrixTransformDescSetAttribute(*out, rest[i].to, &rest[i].value, sizeof rest[i].value);
  return status;
}

cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t lightHandle, cublasLtMatrixTransformDesc_t transformDesc,
                                       const void *alpha, const void *A, cublasLtMatrixLayout_t Adesc, const void *beta,
                                       const void *B, cublasLtMatrixLayout_t Bdesc, void *C, cublasLtMatrixLayout_t Cdesc,
                                       cudaStream_t stream) {
  const char *name = "cublasLtMatrixTransform";
  const struct lt_transform *desc = lt_transform(transformDesc);
  const struct lt_layout *given[] = {lt_layout(Adesc), lt_layout(Bdesc), lt_layout(Cdesc)};
  struct blas_handle *handle;
  hipStream_t beneath;
  if (!lt_found(lightHandle, &handle)) return lt_logged(name, CUBLAS_STATUS_NOT_INITIALIZED);
  if (!desc || !given[0] || !given[2] || (Bdesc && !given[1]) || !alpha || !A || !C || libmap_driver.stream(stream, &beneath) ||
      desc->trans_a < 0 || desc->trans_a > OP_C || desc->trans_b < 0 || desc->trans_b > OP_C)
    return lt_logged(name, CUBLAS_STATUS_INVALID_VALUE);
  for (int i = 0; i < 3; i++) {
    REFUSE_IF(given[i] && given[i]->order > ORDER_ROW, "cublasLtMatrixTransform with matrices in tiles");
    REFUSE_IF(given[i] && (given[i]->plane || given[i]->batch_mode), "cublasLtMatrixTransform with planes or pointers");
  }
  REFUSE_IF(desc->pointer_mode > MODE_DEVICE, "cublasLtMatrixTransform with vectors for alpha and beta");
  hipblasLtMatrixTransformDesc_t how;
  hipblasLtMatrixLayout_t layouts[3] = {NULL, NULL, NULL};
  hipblasStatus_t status = transform_desc(desc, &how);
  for (int i = 0; i < 3 && !status; i++) status = transform_layout(given[i], &layouts[i]);
  if (!status)
    status = hipblasLt.MatrixTransform(handle->lt, how, alpha, A, layouts[0], beta, B, layouts[1], C, layouts[2], beneath);
  for (int i = 0; i < 3; i++)
    if (layouts[i]) hipblasLt.MatrixLayoutDestroy(layouts[i]);
  if (how) hipblasLt.MatrixTransformDescDestroy(how);
  return lt_logged(name, cublaslt_status(status));
}
