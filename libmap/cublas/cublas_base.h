/* Prerequisites of libcublas' declarations: types of rocBLAS and of the driver API, and cuBLAS's codes. */
#ifndef CUBLAS_BASE_H
#define CUBLAS_BASE_H
#include "blas_codes.h"
#include "libmap.h"
#include "rocblas_types.h"
#endif
