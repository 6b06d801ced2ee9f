/* What the functions of libcublas share (cublas.c). */
#ifndef CUBLAS_HANDLE_H
#define CUBLAS_HANDLE_H
#include "blas_handle.h"
#include "cublas_api.h"
#include "rocblas_table.h"
#include "rocsolver_table.h"

struct cublasHandle_t_st {
  struct blas_handle shared;
  rocblas_handle rocblas;
  cudaStream_t stream; /* as the program knows it */
  cublasMath_t math_mode;
  int multiprocessors;
  uint64_t scratch; /* memory of the device, of that size; grows (solver.c) */
  size_t scratch_size;
};

/* rocBLAS's handle; false: it is none of ours. */
bool cublas_found(cublasHandle_t handle, rocblas_handle *found);
/* How a copy is made: from the device or to it, in a stream or at once. */
enum { CUBLAS_COPY_IN, CUBLAS_COPY_OUT, CUBLAS_COPY_ASYNC };
cublasStatus_t cublas_copy(int how, int64_t width, int64_t columns, int64_t element, const void *from, int64_t from_pitch,
                           void *to, int64_t to_pitch, cudaStream_t stream);
/* Version 1: the handle of all its functions (NULL before cublasInit), the error that is kept, what letters mean (-1: nothing). */
cublasHandle_t cublas_default(void);
void cublas_note(cublasStatus_t status);
cublasOperation_t cublas_operation(char letter);
cublasFillMode_t cublas_fill(char letter);
cublasDiagType_t cublas_diagonal(char letter);
cublasSideMode_t cublas_side(char letter);
/* Whether rocSOLVER is there; else it was said why. */
bool cublas_solver(void);
/* In what precision rocBLAS computes a product whose result is of that type. */
rocblas_datatype compute_type(cublasComputeType_t type, rocblas_datatype result);
#endif
