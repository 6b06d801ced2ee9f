/* Linear systems and least squares with settings for iterative refinement. Factorisations use the matrix' own
 * precision, so settings are stored and checked but nothing is refined. */
#include <stdlib.h>

#include "generic.h"

#define PARAMS_MARK 0x7074783269727370u
#define INFOS_MARK 0x7074783269727369u
enum { PIVOTS_ALIGNED = 256, DEFAULT_ITERATIONS = 50 };

struct cusolverDnIRSParams_t_st {
  uint64_t mark;
  hipDataType type;
  bool has_type;
  int iterations;
};
struct cusolverDnIRSInfos_t_st {
  uint64_t mark;
  int most_iterations;
};

static bool params_there(cusolverDnIRSParams_t params) { return params && params->mark == PARAMS_MARK; }
static bool infos_there(cusolverDnIRSInfos_t infos) { return infos && infos->mark == INFOS_MARK; }

/* ---- settings ---- */

cusolverStatus_t cusolverDnIRSParamsCreate(cusolverDnIRSParams_t *params) {
  if (!params) return CUSOLVER_STATUS_INVALID_VALUE;
  struct cusolverDnIRSParams_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUSOLVER_STATUS_ALLOC_FAILED;
  made->mark = PARAMS_MARK, made->iterations = DEFAULT_ITERATIONS;
  *params = made;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnIRSParamsDestroy(cusolverDnIRSParams_t params) {
  if (!params_there(params)) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  params->mark = 0;
  free(params);
  return CUSOLVER_STATUS_SUCCESS;
}

static bool main_type(cusolverPrecType_t type, hipDataType *found) {
  switch (type) {
    case CUSOLVER_R_32F: *found = HIP_R_32F; return true;
    case CUSOLVER_R_64F: *found = HIP_R_64F; return true;
    case CUSOLVER_C_32F: *found = HIP_C_32F; return true;
    case CUSOLVER_C_64F: *found = HIP_C_64F; return true;
    default: return false;
  }
}

cusolverStatus_t cusolverDnIRSParamsSetSolverMainPrecision(cusolverDnIRSParams_t params, cusolverPrecType_t type) {
  if (!params_there(params)) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  if (!main_type(type, &params->type)) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
  params->has_type = true;
  return CUSOLVER_STATUS_SUCCESS;
}

static bool lower_type(cusolverPrecType_t type) {
  return (type >= CUSOLVER_R_64F && type <= CUSOLVER_R_TF32) || (type >= CUSOLVER_C_64F && type <= CUSOLVER_C_TF32);
}

cusolverStatus_t cusolverDnIRSParamsSetSolverLowestPrecision(cusolverDnIRSParams_t params, cusolverPrecType_t type) {
  if (!params_there(params)) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  return lower_type(type) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
}

cusolverStatus_t cusolverDnIRSParamsSetSolverPrecisions(cusolverDnIRSParams_t params, cusolverPrecType_t type,
                                                        cusolverPrecType_t lowest) {
  cusolverStatus_t status = cusolverDnIRSParamsSetSolverLowestPrecision(params, lowest);
  return status ? status : cusolverDnIRSParamsSetSolverMainPrecision(params, type);
}

cusolverStatus_t cusolverDnIRSParamsSetRefinementSolver(cusolverDnIRSParams_t params, cusolverIRSRefinement_t solver) {
  if (!params_there(params)) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  bool known = solver >= CUSOLVER_IRS_REFINE_NOT_SET && solver <= CUSOLVER_IRS_REFINE_GMRES_NOPCOND;
  return known ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE;
}

cusolverStatus_t cusolverDnIRSParamsSetMaxIters(cusolverDnIRSParams_t params, int iterations) {
  if (!params_there(params)) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  if (iterations < 0) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER;
  params->iterations = iterations;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnIRSParamsSetMaxItersInner(cusolverDnIRSParams_t params, int iterations) {
  if (!params_there(params)) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  return iterations < 0 ? CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER : CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnIRSParamsGetMaxIters(cusolverDnIRSParams_t params, int *iterations) {
  if (!params_there(params)) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  if (!iterations) return CUSOLVER_STATUS_INVALID_VALUE;
  *iterations = params->iterations;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolver_irs_params(cusolverDnIRSParams_t params) {
  return params_there(params) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
}

/* ---- results of refinement ---- */

cusolverStatus_t cusolverDnIRSInfosCreate(cusolverDnIRSInfos_t *infos) {
  if (!infos) return CUSOLVER_STATUS_INVALID_VALUE;
  struct cusolverDnIRSInfos_t_st *made = calloc(1, sizeof *made);
  if (!made) return CUSOLVER_STATUS_ALLOC_FAILED;
  made->mark = INFOS_MARK;
  *infos = made;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnIRSInfosDestroy(cusolverDnIRSInfos_t infos) {
  if (!infos_there(infos)) return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
  infos->mark = 0;
  free(infos);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolver_irs_infos(cusolverDnIRSInfos_t infos, int *out, bool most) {
  if (!infos_there(infos)) return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
  if (!out) return CUSOLVER_STATUS_INVALID_VALUE;
  *out = most ? infos->most_iterations : 0;
  return CUSOLVER_STATUS_SUCCESS;
}

/* ---- systems ---- */

/* The bytes before the workspace that hold the pivots. */
static size_t pivots_size(int n) {
  size_t bytes = n > 0 ? (size_t)n * sizeof(int) : 0;
  return (bytes + PIVOTS_ALIGNED - 1) / PIVOTS_ALIGNED * PIVOTS_ALIGNED;
}

static cusolverStatus_t usable(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, hipsolverHandle_t *found) {
  if (!cusolver_found(handle, found)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!params_there(params)) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  return params->has_type ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
}

static cusolverStatus_t begun(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                              int *iterations, hipsolverHandle_t *found) {
  cusolverStatus_t status = usable(handle, params, found);
  if (status) return status;
  if (!infos_there(infos)) return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
  if (!iterations) return CUSOLVER_STATUS_INVALID_VALUE;
  infos->most_iterations = params->iterations;
  *iterations = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnIRSXgesv_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, int n, int nrhs,
                                               size_t *lwork_bytes) {
  hipsolverHandle_t found;
  cusolverStatus_t status = usable(handle, params, &found);
  if (status) return status;
  if (!lwork_bytes || n < 0) return CUSOLVER_STATUS_INVALID_VALUE;
  int leading = n > 0 ? n : 1;
  status = cusolver_status(CUSOLVER_TYPED(params->type, DnSSgesv_bufferSize, DnDDgesv_bufferSize, DnCCgesv_bufferSize,
                                          DnZZgesv_bufferSize, found, n, nrhs, NULL, leading, NULL, NULL, leading, NULL,
                                          leading, NULL, lwork_bytes));
  if (!status) *lwork_bytes += pivots_size(n);
  return status;
}

cusolverStatus_t cusolverDnIRSXgesv(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                                    int n, int nrhs, void *dA, int ldda, void *dB, int lddb, void *dX, int lddx,
                                    void *dWorkspace, size_t lwork_bytes, int *niters, int *d_info) {
  hipsolverHandle_t found;
  cusolverStatus_t status = begun(handle, params, infos, niters, &found);
  if (status) return status;
  size_t pivots = pivots_size(n);
  if (!dWorkspace || lwork_bytes < pivots) return CUSOLVER_STATUS_INVALID_WORKSPACE;
  return cusolver_status(CUSOLVER_TYPED(params->type, DnSSgesv, DnDDgesv, DnCCgesv, DnZZgesv, found, n, nrhs, dA, ldda,
                                        dWorkspace, dB, lddb, dX, lddx, (char *)dWorkspace + pivots,
                                        lwork_bytes - pivots, niters, d_info));
}

cusolverStatus_t cusolverDnIRSXgels_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, int m, int n,
                                               int nrhs, size_t *lwork_bytes) {
  hipsolverHandle_t found;
  cusolverStatus_t status = usable(handle, params, &found);
  if (status) return status;
  int leading = m > 0 ? m : 1, rows = n > 0 ? n : 1;
  if (!lwork_bytes) return CUSOLVER_STATUS_INVALID_VALUE;
  return cusolver_status(CUSOLVER_TYPED(params->type, DnSSgels_bufferSize, DnDDgels_bufferSize, DnCCgels_bufferSize,
                                        DnZZgels_bufferSize, found, m, n, nrhs, NULL, leading, NULL, leading, NULL,
                                        rows, NULL, lwork_bytes));
}

cusolverStatus_t cusolverDnIRSXgels(cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                                    int m, int n, int nrhs, void *dA, int ldda, void *dB, int lddb, void *dX, int lddx,
                                    void *dWorkspace, size_t lwork_bytes, int *niters, int *d_info) {
  hipsolverHandle_t found;
  cusolverStatus_t status = begun(handle, params, infos, niters, &found);
  if (status) return status;
  return cusolver_status(CUSOLVER_TYPED(params->type, DnSSgels, DnDDgels, DnCCgels, DnZZgels, found, m, n, nrhs, dA,
                                        ldda, dB, lddb, dX, lddx, dWorkspace, lwork_bytes, niters, d_info));
}
