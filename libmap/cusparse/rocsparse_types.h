/* Types and numbers of rocSPARSE, as far as libcusparse uses them. */
#ifndef ROCSPARSE_TYPES_H
#define ROCSPARSE_TYPES_H
#include <stddef.h>
#include <stdint.h>

#include "hip_types.h"

typedef struct _rocsparse_handle *rocsparse_handle;
typedef struct _rocsparse_spmat_descr *rocsparse_spmat_descr;
typedef const struct _rocsparse_spmat_descr *rocsparse_const_spmat_descr;
typedef struct _rocsparse_dnvec_descr *rocsparse_dnvec_descr;
typedef const struct _rocsparse_dnvec_descr *rocsparse_const_dnvec_descr;
typedef struct _rocsparse_dnmat_descr *rocsparse_dnmat_descr;
typedef const struct _rocsparse_dnmat_descr *rocsparse_const_dnmat_descr;

typedef enum rocsparse_status {
  rocsparse_status_success, rocsparse_status_invalid_handle, rocsparse_status_not_implemented,
  rocsparse_status_invalid_pointer, rocsparse_status_invalid_size, rocsparse_status_memory_error,
  rocsparse_status_internal_error, rocsparse_status_invalid_value, rocsparse_status_arch_mismatch,
  rocsparse_status_zero_pivot, rocsparse_status_not_initialized, rocsparse_status_type_mismatch,
  rocsparse_status_requires_sorted_storage,
} rocsparse_status;
typedef enum rocsparse_operation {
  rocsparse_operation_none = 111, rocsparse_operation_transpose, rocsparse_operation_conjugate_transpose,
} rocsparse_operation;
typedef enum rocsparse_index_base { rocsparse_index_base_zero, rocsparse_index_base_one } rocsparse_index_base;
typedef enum rocsparse_pointer_mode { rocsparse_pointer_mode_host, rocsparse_pointer_mode_device } rocsparse_pointer_mode;
typedef enum rocsparse_indextype {
  rocsparse_indextype_u16 = 1, rocsparse_indextype_i32, rocsparse_indextype_i64,
} rocsparse_indextype;
typedef enum rocsparse_datatype {
  rocsparse_datatype_f16_r = 150, rocsparse_datatype_f32_r, rocsparse_datatype_f64_r, rocsparse_datatype_f32_c = 154,
  rocsparse_datatype_f64_c, rocsparse_datatype_i8_r = 160, rocsparse_datatype_u8_r, rocsparse_datatype_i32_r,
  rocsparse_datatype_u32_r, rocsparse_datatype_bf16_r = 168,
} rocsparse_datatype;
typedef enum rocsparse_order { rocsparse_order_row, rocsparse_order_column } rocsparse_order;
typedef enum rocsparse_spmat_attribute { rocsparse_spmat_fill_mode, rocsparse_spmat_diag_type } rocsparse_spmat_attribute;
typedef enum rocsparse_spmv_alg {
  rocsparse_spmv_alg_default, rocsparse_spmv_alg_coo, rocsparse_spmv_alg_csr_adaptive,
  rocsparse_spmv_alg_csr_rowsplit,
} rocsparse_spmv_alg;
typedef enum rocsparse_spmv_stage {
  rocsparse_spmv_stage_buffer_size = 1, rocsparse_spmv_stage_preprocess, rocsparse_spmv_stage_compute,
} rocsparse_spmv_stage;
typedef enum rocsparse_spsv_alg { rocsparse_spsv_alg_default } rocsparse_spsv_alg;
typedef enum rocsparse_spsv_stage {
  rocsparse_spsv_stage_buffer_size = 1, rocsparse_spsv_stage_preprocess, rocsparse_spsv_stage_compute,
} rocsparse_spsv_stage;
typedef enum rocsparse_spsm_alg { rocsparse_spsm_alg_default } rocsparse_spsm_alg;
typedef enum rocsparse_spsm_stage {
  rocsparse_spsm_stage_buffer_size = 1, rocsparse_spsm_stage_preprocess, rocsparse_spsm_stage_compute,
} rocsparse_spsm_stage;
#endif
