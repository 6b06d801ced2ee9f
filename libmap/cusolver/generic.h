/* What functions with 64-bit sizes and types as arguments need to call those of one type (ptx2amd/api/cusolver). */
#ifndef CUSOLVER_GENERIC_H
#define CUSOLVER_GENERIC_H
#include "cusolver_handle.h"

/* A call of hipSOLVER's function for a type. */
#define CUSOLVER_TYPED(type, single, twice, complex, both, ...)     \
  ((type) == HIP_R_32F   ? hipsolver.single(__VA_ARGS__)            \
   : (type) == HIP_R_64F ? hipsolver.twice(__VA_ARGS__)             \
   : (type) == HIP_C_32F ? hipsolver.complex(__VA_ARGS__)           \
                         : hipsolver.both(__VA_ARGS__))

/* Where the last call of a thread puts the size of a workspace, and how many eigenvalues there are. */
extern _Thread_local int cusolver_work, cusolver_values;
/* Settings of Jacobi's method, as `cusolver_jacobi` found them. */
extern _Thread_local hipsolverSyevjInfo_t cusolver_syevj;
extern _Thread_local hipsolverGesvdjInfo_t cusolver_gesvdj;

/* Finds a handle's settings of Jacobi's method, which are made with its first call; false: there are none. */
bool cusolver_jacobi(cusolverDnHandle_t handle);
/* Whether one of several sizes, joined by |, is negative or no int. */
bool cusolver_wide(int64_t sizes);
/* The type of a matrix' real numbers, as CUDA has it. */
cudaDataType cusolver_real(cudaDataType type);
/* The number at a place in the host's memory, of a matrix' real type; 0 where there is no place. */
double cusolver_bound(hipDataType type, const void *place);
/* A workspace's size as a function of that type takes it. */
int cusolver_lwork(hipDataType type, size_t bytes);
/* Sizes in bytes from `cusolver_work`; host may be NULL. */
hipsolverStatus_t cusolver_room(hipsolverStatus_t status, hipDataType type, size_t *device, size_t *host);
hipsolverStatus_t cusolver_counted(hipsolverStatus_t status, int64_t *count);

/* Whether there are settings of refinement (refined.c); and what was done of iterations, or (`most`) what was allowed. */
cusolverStatus_t cusolver_irs_params(cusolverDnIRSParams_t params);
cusolverStatus_t cusolver_irs_infos(cusolverDnIRSInfos_t infos, int *out, bool most);
#endif
