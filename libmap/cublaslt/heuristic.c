/* Algorithms: hipBLASLt's choices for a product. hipBLASLt has no list of algorithms by number as cuBLAS has: ours
 * contains number 0, and an algorithm of any number is whatever hipBLASLt chooses. */
#include <string.h>

#include "matmul.h"

static cublasLtMatmulAlgo_t algo_of(struct lt_algo from) {
  cublasLtMatmulAlgo_t out = {{0}};
  memcpy(&out, &from, sizeof from);
  return out;
}

/* ---- hipBLASLt's choices ---- */

static int ask(hipblasLtHandle_t handle, const struct lt_problem *problem, uint64_t workspace, int wanted,
               hipblasLtMatmulHeuristicResult_t *found) {
  hipblasLtMatmulPreference_t preference;
  int count = 0;
  if (hipblasLt.MatmulPreferenceCreate(&preference)) return 0;
  hipblasStatus_t status = hipblasLt.MatmulPreferenceSetAttribute(preference, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                                  &workspace, sizeof workspace);
  if (!status)
    status = hipblasLt.MatmulAlgoGetHeuristic(handle, problem->desc, problem->a, problem->b, problem->c, problem->d,
                                              preference, wanted, found, &count);
  hipblasLt.MatmulPreferenceDestroy(preference);
  return status ? 0 : count;
}

enum { MOST = 64 };

cublasStatus_t lt_choose(struct blas_handle *handle, const struct lt_desc *desc, const struct lt_operands *layouts,
                         uint64_t workspace, int wanted, cublasLtMatmulHeuristicResult_t *results, int *count,
                         struct lt_problem *problem) {
  hipblasComputeType_t types[2];
  hipblasLtMatmulHeuristicResult_t found[MOST];
  lt_compute(desc->compute, types);
  *count = 0;
  for (int t = 0; t < 2 && types[t]; t++) {
    cublasStatus_t status = lt_problem_make(desc, layouts, types[t], problem);
    if (status) return status;
    int here = ask(handle->lt, problem, workspace, wanted < MOST ? wanted : MOST, found);
    for (int i = 0; i < here; i++) {
      if (found[i].state || found[i].workspaceSize > workspace) continue;
      struct lt_algo algo = {.mark = ALGO_MARK, .chosen = CHOSEN_HIPBLASLT, .compute = (int8_t)types[t], .splits = 1,
                             .hip = found[i].algo, .workspace = found[i].workspaceSize, .problem = problem->hash};
      results[(*count)++] = (cublasLtMatmulHeuristicResult_t){algo_of(algo), found[i].workspaceSize, CUBLAS_STATUS_SUCCESS,
                                                              found[i].wavesCount, {0}};
    }
    if (*count) return CUBLAS_STATUS_SUCCESS;
    lt_problem_end(problem);
  }
  if (lt_rocblas_serves(handle, desc, layouts)) {
    cublasStatus_t status = lt_problem_make(desc, layouts, types[0], problem);
    if (status) return status;
    struct lt_algo algo = {.mark = ALGO_MARK, .chosen = CHOSEN_ROCBLAS, .compute = (int8_t)types[0], .splits = 1,
                           .problem = problem->hash};
    results[(*count)++] = (cublasLtMatmulHeuristicResult_t){algo_of(algo), 0, CUBLAS_STATUS_SUCCESS, 1, {0}};
    return CUBLAS_STATUS_SUCCESS;
  }
  REFUSE_IF(true, "cublasLtMatmul with types or options for which hipBLASLt has no algorithm on this chip");
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
                                              cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
                                              cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
                                              cublasLtMatmulPreference_t preference, int requestedAlgoCount,
                                              cublasLtMatmulHeuristicResult_t *heuristicResultsArray, int *returnAlgoCount) {
  const char *name = "cublasLtMatmulAlgoGetHeuristic";
  const struct lt_preference *wish = lt_preference(preference);
  struct blas_handle *handle;
  struct lt_operands layouts;
  struct lt_problem problem;
  if (!lt_found(lightHandle, &handle)) return lt_logged(name, CUBLAS_STATUS_NOT_INITIALIZED);
  if (returnAlgoCount) *returnAlgoCount = 0;
  if (!wish || requestedAlgoCount < 1 || !heuristicResultsArray || !returnAlgoCount ||
      !lt_operands(operationDesc, Adesc, Bdesc, Cdesc, Ddesc, &layouts))
    return lt_logged(name, CUBLAS_STATUS_INVALID_VALUE);
  cublasStatus_t status = lt_choose(handle, lt_desc(operationDesc), &layouts, wish->workspace, requestedAlgoCount,
                                    heuristicResultsArray, returnAlgoCount, &problem);
  if (!status) lt_problem_end(&problem);
  return lt_logged(name, status);
}

/* In CUDA 13 the stream determines the device; here the handle does. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristicForStream(
    cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc, cublasLtMatrixLayout_t Adesc,
    cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
    cublasLtMatmulPreference_t preference, int requestedAlgoCount, cublasLtMatmulHeuristicResult_t *heuristicResultsArray,
    int *returnAlgoCount, cudaStream_t stream) {
  (void)stream;
  return cublasLtMatmulAlgoGetHeuristic(lightHandle, operationDesc, Adesc, Bdesc, Cdesc, Ddesc, preference,
                                        requestedAlgoCount, heuristicResultsArray, returnAlgoCount);
}

/* ---- algorithms by number ---- */

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t lightHandle, cublasComputeType_t computeType,
                                        cudaDataType_t scaleType, cudaDataType_t Atype, cudaDataType_t Btype,
                                        cudaDataType_t Ctype, cudaDataType_t Dtype, int requestedAlgoCount,
                                        int *algoIdsArray, int *returnAlgoCount) {
  hipblasComputeType_t types[2];
  (void)scaleType, (void)Atype, (void)Btype, (void)Ctype, (void)Dtype;
  if (!lt_found(lightHandle, &(struct blas_handle *){0})) return CUBLAS_STATUS_NOT_INITIALIZED;
  lt_compute(computeType, types);
  if (requestedAlgoCount < 1 || !algoIdsArray || !returnAlgoCount || !types[0]) return CUBLAS_STATUS_INVALID_VALUE;
  algoIdsArray[0] = 0;
  *returnAlgoCount = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t lightHandle, cublasComputeType_t computeType, cudaDataType_t scaleType,
                                      cudaDataType_t Atype, cudaDataType_t Btype, cudaDataType_t Ctype, cudaDataType_t Dtype,
                                      int algoId, cublasLtMatmulAlgo_t *algo) {
  hipblasComputeType_t types[2];
  (void)scaleType, (void)Atype, (void)Btype, (void)Ctype, (void)Dtype;
  if (!lt_found(lightHandle, &(struct blas_handle *){0})) return CUBLAS_STATUS_NOT_INITIALIZED;
  lt_compute(computeType, types);
  if (!algo || algoId < 0 || algoId > INT16_MAX || !types[0]) return CUBLAS_STATUS_INVALID_VALUE;
  *algo = algo_of((struct lt_algo){.mark = ALGO_MARK, .compute = (int8_t)types[0], .id = (int16_t)algoId, .splits = 1});
  return CUBLAS_STATUS_SUCCESS;
}

/* Whether the algorithm can be used for this problem; `chosen` ones are valid for one problem only. */
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
                                       cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
                                       cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
                                       const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result) {
  const char *name = "cublasLtMatmulAlgoCheck";
  const struct lt_algo *given = lt_algo(algo);
  struct blas_handle *handle;
  struct lt_operands layouts;
  struct lt_problem problem;
  int count;
  if (!lt_found(lightHandle, &handle)) return lt_logged(name, CUBLAS_STATUS_NOT_INITIALIZED);
  if (!given || !result || !lt_operands(operationDesc, Adesc, Bdesc, Cdesc, Ddesc, &layouts))
    return lt_logged(name, CUBLAS_STATUS_INVALID_VALUE);
  struct lt_algo copy = *given; /* may alias the result */
  cublasLtMatmulHeuristicResult_t best;
  cublasStatus_t status = lt_choose(handle, lt_desc(operationDesc), &layouts, UINT64_MAX >> 1, 1, &best, &count, &problem);
  if (status) return lt_logged(name, status);
  if (copy.chosen && copy.problem != problem.hash) status = CUBLAS_STATUS_NOT_SUPPORTED;
  lt_problem_end(&problem);
  if (status) return lt_logged(name, status);
  if (copy.chosen) best.workspaceSize = copy.workspace;
  best.algo = algo_of(copy);
  *result = best;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheckForStream(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
                                                cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
                                                cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
                                                const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result,
                                                cudaStream_t stream) {
  (void)stream;
  return cublasLtMatmulAlgoCheck(lightHandle, operationDesc, Adesc, Bdesc, Cdesc, Ddesc, algo, result);
}

/* ---- capabilities ---- */

struct answer { short number; unsigned char size; uint64_t value; };

static const struct answer capabilities[] = {
    {0, 4, 0}, {1, 4, 0}, {2, 4, 0}, {3, 4, 1}, {4, 4, 1}, {5, 4, 0}, {7, 4, 0}, {10, 4, 0}, {11, 4, 1 | 2 | 8 | 16},
    {12, 4, EPILOGUE_DEFAULT | EPILOGUE_RELU | EPILOGUE_BIAS | EPILOGUE_GELU}, {14, 4, 0},
    {15, 8, UINT64_MAX}, /* every kind of instruction, type and accumulator */
    {16, 4, 1}, {17, 4, 1}, {18, 4, 1}, {19, 4, 1}, {20, 4, 0}, {21, 4, 0}, {22, 4, 0}, {23, 4, 0},
};
static const struct answer *answer_of(const struct answer *list, size_t count, int number) {
  for (size_t i = 0; i < count; i++)
    if (list[i].number == number) return list + i;
  return NULL;
}

static cublasStatus_t answer(const struct answer *found, void *buf, size_t size, size_t *written) {
  if (!found || (!size && !written) || (size && (!buf || size != found->size))) return CUBLAS_STATUS_INVALID_VALUE;
  if (size) memcpy(buf, &found->value, size);
  if (written) *written = found->size;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoCapAttributes_t attr,
                                                 void *buf, size_t sizeInBytes, size_t *sizeWritten) {
  enum { TILES = 6, STAGE_IDS = 13 };
  if (!lt_algo(algo)) return CUBLAS_STATUS_INVALID_VALUE;
  if (attr == TILES || attr == STAGE_IDS) { /* lists, all empty */
    if (!sizeWritten) return CUBLAS_STATUS_INVALID_VALUE;
    *sizeWritten = 0;
    return CUBLAS_STATUS_SUCCESS;
  }
  return answer(answer_of(capabilities, sizeof capabilities / sizeof *capabilities, attr), buf, sizeInBytes, sizeWritten);
}
