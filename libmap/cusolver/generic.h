/* Helpers with which functions that take 64-bit sizes and types as arguments call those for one type
 * (ptx2amd/api/cusolver). */
#ifndef CUSOLVER_GENERIC_H
#define CUSOLVER_GENERIC_H
#include "cusolver_handle.h"

/* Calls hipSOLVER's function for a type. */
#define CUSOLVER_TYPED(type, single, twice, complex, both, ...)     \
  ((type) == HIP_R_32F   ? hipsolver.single(__VA_ARGS__)            \
   : (type) == HIP_R_64F ? hipsolver.twice(__VA_ARGS__)             \
   : (type) == HIP_C_32F ? hipsolver.complex(__VA_ARGS__)           \
                         : hipsolver.both(__VA_ARGS__))

/* Outputs of the thread's last call: a workspace size and the number of eigenvalues. */
extern _Thread_local int cusolver_work, cusolver_values;
/* Settings of Jacobi's method, as found by `cusolver_jacobi`. */
extern _Thread_local hipsolverSyevjInfo_t cusolver_syevj;
extern _Thread_local hipsolverGesvdjInfo_t cusolver_gesvdj;

/* Finds a handle's Jacobi settings, which are created at its first call; false: failed. */
bool cusolver_jacobi(cusolverDnHandle_t handle);
/* Whether one of several sizes, combined with |, is negative or does not fit an int. */
bool cusolver_wide(int64_t sizes);
/* The CUDA type of a matrix' real numbers. */
cudaDataType cusolver_real(cudaDataType type);
/* The number at a host address, of a matrix' real type; 0 for a null pointer. */
double cusolver_bound(hipDataType type, const void *place);
/* A workspace size in the unit of the function for that type. */
int cusolver_lwork(hipDataType type, size_t bytes);
/* Sizes in bytes from `cusolver_work`; host may be NULL. */
hipsolverStatus_t cusolver_room(hipsolverStatus_t status, hipDataType type, size_t *device, size_t *host);
hipsolverStatus_t cusolver_counted(hipsolverStatus_t status, int64_t *count);

/* Checks refinement settings (refined.c); stores the number of iterations done, or (`most`) the allowed number. */
cusolverStatus_t cusolver_irs_params(cusolverDnIRSParams_t params);
cusolverStatus_t cusolver_irs_infos(cusolverDnIRSInfos_t infos, int *out, bool most);
#endif
