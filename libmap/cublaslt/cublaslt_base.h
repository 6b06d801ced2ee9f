/* Prerequisites of libcublasLt's declarations: types of hipBLASLt and of the driver API, and cuBLAS's codes. */
#ifndef CUBLASLT_BASE_H
#define CUBLASLT_BASE_H
#include <stdio.h>

#include "blas_codes.h"
#include "hipblasLt_types.h"
#include "libmap.h"
#endif
