/* Shared by the functions of libcublas (cublas.c). */
#ifndef CUBLAS_HANDLE_H
#define CUBLAS_HANDLE_H
#include "blas_handle.h"
#include "cublas_api.h"
#include "rocblas_table.h"
#include "rocsolver_table.h"

struct cublasHandle_t_st {
  struct blas_handle shared;
  rocblas_handle rocblas;
  cudaStream_t stream; /* the program's CUDA stream */
  cublasMath_t math_mode;
  int multiprocessors;
  uint64_t scratch; /* device memory and its size; grows (solver.c) */
  size_t scratch_size;
};

/* rocBLAS's handle; false: not a valid handle. */
bool cublas_found(cublasHandle_t handle, rocblas_handle *found);
/* The same results at each run, as cuBLAS promises; before ROCm 7.0 that is not rocBLAS's default. */
void cublas_repeatable(rocblas_handle made);
/* Direction of a copy, and whether it is asynchronous in a stream. */
enum { CUBLAS_COPY_IN, CUBLAS_COPY_OUT, CUBLAS_COPY_ASYNC };
cublasStatus_t cublas_copy(int how, int64_t width, int64_t columns, int64_t element, const void *from, int64_t from_pitch,
                           void *to, int64_t to_pitch, cudaStream_t stream);
/* The legacy API: the handle of all its functions (NULL before cublasInit), the stored error, and the meaning of its
 * letters (-1: invalid). */
cublasHandle_t cublas_default(void);
void cublas_note(cublasStatus_t status);
cublasOperation_t cublas_operation(char letter);
cublasFillMode_t cublas_fill(char letter);
cublasDiagType_t cublas_diagonal(char letter);
cublasSideMode_t cublas_side(char letter);
/* Whether rocSOLVER is available; if not, a message has been printed. */
bool cublas_solver(void);
/* The precision in which rocBLAS computes a product with this result type. */
rocblas_datatype compute_type(cublasComputeType_t type, rocblas_datatype result);
#endif
