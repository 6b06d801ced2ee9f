/* Functions with 64-bit sizes, implemented with those of 32-bit sizes (generic.h). */
#include "generic.h"

#include <limits.h>

_Thread_local int cusolver_work, cusolver_values;
_Thread_local hipsolverSyevjInfo_t cusolver_syevj;
_Thread_local hipsolverGesvdjInfo_t cusolver_gesvdj;

bool cusolver_jacobi(cusolverDnHandle_t handle) {
  if (!handle->syevj && hipsolver.DnCreateSyevjInfo(&handle->syevj)) return false;
  if (!handle->gesvdj && hipsolver.DnCreateGesvdjInfo(&handle->gesvdj)) return false;
  cusolver_syevj = handle->syevj, cusolver_gesvdj = handle->gesvdj;
  return true;
}

bool cusolver_wide(int64_t sizes) { return sizes < 0 || sizes > INT_MAX; }

cudaDataType cusolver_real(cudaDataType type) {
  return type == HIP_C_32F ? (cudaDataType)HIP_R_32F : type == HIP_C_64F ? (cudaDataType)HIP_R_64F : type;
}

double cusolver_bound(hipDataType type, const void *place) {
  if (!place) return 0;
  return type == HIP_R_32F || type == HIP_C_32F ? (double)*(const float *)place : *(const double *)place;
}

static size_t bytes_of(hipDataType type) {
  return type == HIP_R_32F ? sizeof(float) : type == HIP_C_64F ? 2 * sizeof(double) : sizeof(double);
}

int cusolver_lwork(hipDataType type, size_t bytes) {
  size_t count = bytes / bytes_of(type);
  return count > INT_MAX ? INT_MAX : (int)count;
}

hipsolverStatus_t cusolver_room(hipsolverStatus_t status, hipDataType type, size_t *device, size_t *host) {
  if (status) return status;
  *device = (size_t)cusolver_work * bytes_of(type);
  if (host) *host = 0;
  return status;
}

hipsolverStatus_t cusolver_counted(hipsolverStatus_t status, int64_t *count) {
  if (!status) *count = cusolver_values;
  return status;
}
