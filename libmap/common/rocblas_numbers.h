/* rocBLAS's handle, enumerations and numbers, for libraries over another library of ROCm's (ptx2amd/api/rocblas.py, and
 * rocSOLVER's functions in ptx2amd/api/cusolver). */
#ifndef ROCBLAS_NUMBERS_H
#define ROCBLAS_NUMBERS_H
typedef struct _rocblas_handle *rocblas_handle;
typedef int rocblas_status, rocblas_atomics_mode, rocblas_operation, rocblas_datatype, rocblas_gemm_algo;
typedef int rocblas_fill, rocblas_diagonal, rocblas_int;
typedef struct rocblas_float_complex { float x, y; } rocblas_float_complex;
typedef struct rocblas_double_complex { double x, y; } rocblas_double_complex;
#endif
