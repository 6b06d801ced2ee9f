/* Types and numbers of rocBLAS, as far as libcublas uses them. */
#ifndef ROCBLAS_TYPES_H
#define ROCBLAS_TYPES_H
#include <stdint.h>

#include "hip_types.h"

typedef struct _rocblas_handle *rocblas_handle;
typedef int32_t rocblas_int;
typedef int64_t rocblas_stride;
typedef struct rocblas_half { uint16_t data; } rocblas_half;
typedef struct rocblas_bfloat16 { uint16_t data; } rocblas_bfloat16;
typedef struct rocblas_float_complex { float x, y; } rocblas_float_complex;
typedef struct rocblas_double_complex { double x, y; } rocblas_double_complex;

typedef enum rocblas_operation {
  rocblas_operation_none = 111, rocblas_operation_transpose, rocblas_operation_conjugate_transpose,
} rocblas_operation;
typedef enum rocblas_fill { rocblas_fill_upper = 121, rocblas_fill_lower = 122, rocblas_fill_full = 120 } rocblas_fill;
typedef enum rocblas_diagonal { rocblas_diagonal_non_unit = 131, rocblas_diagonal_unit } rocblas_diagonal;
typedef enum rocblas_side { rocblas_side_left = 141, rocblas_side_right } rocblas_side;
typedef enum rocblas_pointer_mode { rocblas_pointer_mode_host, rocblas_pointer_mode_device } rocblas_pointer_mode;
typedef enum rocblas_atomics_mode { rocblas_atomics_not_allowed, rocblas_atomics_allowed } rocblas_atomics_mode;
typedef enum rocblas_gemm_algo { rocblas_gemm_algo_standard } rocblas_gemm_algo;
typedef enum rocblas_datatype {
  rocblas_datatype_f16_r = 150, rocblas_datatype_f32_r, rocblas_datatype_f64_r, rocblas_datatype_f16_c,
  rocblas_datatype_f32_c, rocblas_datatype_f64_c, rocblas_datatype_i8_r = 160, rocblas_datatype_i32_r = 162,
  rocblas_datatype_bf16_r = 168, rocblas_datatype_invalid = 255,
} rocblas_datatype;
typedef enum rocblas_status {
  rocblas_status_success, rocblas_status_invalid_handle, rocblas_status_not_implemented,
  rocblas_status_invalid_pointer, rocblas_status_invalid_size, rocblas_status_memory_error,
  rocblas_status_internal_error, rocblas_status_perf_degraded, rocblas_status_invalid_value = 11,
  rocblas_status_excluded_from_build = 14, rocblas_status_arch_mismatch,
} rocblas_status;
#endif
