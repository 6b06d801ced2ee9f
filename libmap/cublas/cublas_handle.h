/* What the functions of libcublas share (cublas.c). */
#ifndef CUBLAS_HANDLE_H
#define CUBLAS_HANDLE_H
#include "blas_handle.h"
#include "cublas_api.h"
#include "rocblas_table.h"

struct cublasHandle_t_st {
  struct blas_handle shared;
  rocblas_handle rocblas;
  cudaStream_t stream; /* as the program knows it */
  cublasMath_t math_mode;
};

/* rocBLAS's handle; false: it is none of ours. */
bool cublas_found(cublasHandle_t handle, rocblas_handle *found);
/* In what precision rocBLAS computes a product whose result is of that type. */
rocblas_datatype compute_type(cublasComputeType_t type, rocblas_datatype result);
#endif
