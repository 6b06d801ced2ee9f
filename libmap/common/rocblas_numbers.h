/* rocBLAS's handle and enumerations, for libraries over another library of ROCm's (ptx2amd/api/rocblas.py). */
#ifndef ROCBLAS_NUMBERS_H
#define ROCBLAS_NUMBERS_H
typedef struct _rocblas_handle *rocblas_handle;
typedef int rocblas_status, rocblas_atomics_mode, rocblas_operation, rocblas_datatype, rocblas_gemm_algo;
#endif
