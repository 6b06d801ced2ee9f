/* rocSPARSE descriptors made from the getters of hipSPARSE's matrices and vectors. hipSPARSE and rocSPARSE store
 * analyses and the chosen algorithm in a matrix descriptor, where a call with another operation would reuse them; in
 * cuSPARSE a matrix has no such state. Therefore products with a vector and solves (multiply.c, solve.c) work on
 * copies: host-side descriptors of the same arrays. */
#include "cusparse_handle.h"

#include <string.h>

cusparseStatus_t cusparse_of_rocsparse(rocsparse_status status) {
  switch (status) {
    case rocsparse_status_success: return CUSPARSE_STATUS_SUCCESS;
    case rocsparse_status_invalid_handle: case rocsparse_status_not_initialized: return CUSPARSE_STATUS_NOT_INITIALIZED;
    case rocsparse_status_not_implemented: case rocsparse_status_type_mismatch: return CUSPARSE_STATUS_NOT_SUPPORTED;
    case rocsparse_status_invalid_pointer: case rocsparse_status_invalid_size: case rocsparse_status_invalid_value:
    case rocsparse_status_requires_sorted_storage:
      return CUSPARSE_STATUS_INVALID_VALUE;
    case rocsparse_status_memory_error: return CUSPARSE_STATUS_ALLOC_FAILED;
    case rocsparse_status_arch_mismatch: return CUSPARSE_STATUS_ARCH_MISMATCH;
    case rocsparse_status_zero_pivot: return CUSPARSE_STATUS_ZERO_PIVOT;
    default: return CUSPARSE_STATUS_INTERNAL_ERROR;
  }
}

bool cusparse_operation(cusparseOperation_t operation, rocsparse_operation *out) {
  *out = (rocsparse_operation)((int)rocsparse_operation_none + operation);
  return operation >= 0 && operation <= 2;
}

bool cusparse_data_type(cudaDataType type, rocsparse_datatype *out) {
  switch ((hipDataType)type) {
    case HIP_R_16F: *out = rocsparse_datatype_f16_r; return true;
    case HIP_R_16BF: *out = rocsparse_datatype_bf16_r; return true;
    case HIP_R_32F: *out = rocsparse_datatype_f32_r; return true;
    case HIP_R_64F: *out = rocsparse_datatype_f64_r; return true;
    case HIP_C_32F: *out = rocsparse_datatype_f32_c; return true;
    case HIP_C_64F: *out = rocsparse_datatype_f64_c; return true;
    case HIP_R_8I: *out = rocsparse_datatype_i8_r; return true;
    case HIP_R_8U: *out = rocsparse_datatype_u8_r; return true;
    case HIP_R_32I: *out = rocsparse_datatype_i32_r; return true;
    case HIP_R_32U: *out = rocsparse_datatype_u32_r; return true;
    default: return false;
  }
}

/* hipSPARSE's index types have the same values as rocSPARSE's. */
static rocsparse_status make(const struct cusparse_parts *p, rocsparse_spmat_descr *out) {
  rocsparse_indextype first = (rocsparse_indextype)p->first_type, second = (rocsparse_indextype)p->second_type;
  rocsparse_index_base base = (rocsparse_index_base)p->base;
  rocsparse_datatype type;
  if (!cusparse_data_type((cudaDataType)p->type, &type)) return rocsparse_status_not_implemented;
  switch (p->format) {
    case HIPSPARSE_FORMAT_CSR:
      return rocsparse.create_csr_descr(out, p->rows, p->columns, p->count, (void *)p->first, (void *)p->second,
                                        (void *)p->values, first, second, base, type);
    case HIPSPARSE_FORMAT_CSC:
      return rocsparse.create_csc_descr(out, p->rows, p->columns, p->count, (void *)p->first, (void *)p->second,
                                        (void *)p->values, first, second, base, type);
    default:
      return rocsparse.create_coo_descr(out, p->rows, p->columns, p->count, (void *)p->first, (void *)p->second,
                                        (void *)p->values, first, base, type);
  }
}

/* The triangle and diagonal used by solves; both libraries use the same values. */
static const struct { hipsparseSpMatAttribute_t from; rocsparse_spmat_attribute to; } attributes[MATRIX_ATTRIBUTES] = {
    {HIPSPARSE_SPMAT_FILL_MODE, rocsparse_spmat_fill_mode}, {HIPSPARSE_SPMAT_DIAG_TYPE, rocsparse_spmat_diag_type}};

cusparseStatus_t cusparse_parts_of(cusparseConstSpMatDescr_t matrix, struct cusparse_parts *p) {
  memset(p, 0, sizeof *p);   /* padding too: parts are compared as bytes */
  hipsparseStatus_t found = matrix ? hipsparse.SpMatGetFormat(matrix, &p->format) : HIPSPARSE_STATUS_INVALID_VALUE;
  if (found) return cusparse_status(found);
  switch (p->format) {
    case HIPSPARSE_FORMAT_CSR:
      found = hipsparse.ConstCsrGet(matrix, &p->rows, &p->columns, &p->count, &p->first, &p->second, &p->values,
                                    &p->first_type, &p->second_type, &p->base, &p->type);
      break;
    case HIPSPARSE_FORMAT_CSC:
      found = hipsparse.ConstCscGet(matrix, &p->rows, &p->columns, &p->count, &p->first, &p->second, &p->values,
                                    &p->first_type, &p->second_type, &p->base, &p->type);
      break;
    case HIPSPARSE_FORMAT_COO:
      found = hipsparse.ConstCooGet(matrix, &p->rows, &p->columns, &p->count, &p->first, &p->second, &p->values,
                                    &p->first_type, &p->base, &p->type);
      break;
    default: return CUSPARSE_STATUS_NOT_SUPPORTED;
  }
  for (unsigned i = 0; i < MATRIX_ATTRIBUTES && !found; i++)
    found = hipsparse.SpMatGetAttribute(matrix, attributes[i].from, &p->attributes[i], sizeof p->attributes[i]);
  return cusparse_status(found);
}

cusparseStatus_t cusparse_matrix_of(const struct cusparse_parts *p, rocsparse_spmat_descr *out) {
  *out = NULL;
  rocsparse_status status = make(p, out);
  for (unsigned i = 0; i < MATRIX_ATTRIBUTES && !status; i++)
    status = rocsparse.spmat_set_attribute(*out, attributes[i].to, &p->attributes[i], sizeof p->attributes[i]);
  if (status && *out) rocsparse.destroy_spmat_descr(*out);
  return cusparse_of_rocsparse(status);
}

cusparseStatus_t cusparse_copy_matrix(cusparseConstSpMatDescr_t matrix, rocsparse_spmat_descr *out) {
  struct cusparse_parts p;
  cusparseStatus_t status = cusparse_parts_of(matrix, &p);
  return status ? status : cusparse_matrix_of(&p, out);
}

cusparseStatus_t cusparse_copy_vector(cusparseConstDnVecDescr_t vector, rocsparse_dnvec_descr *out) {
  int64_t size;
  const void *values;
  hipDataType type;
  rocsparse_datatype beneath;
  hipsparseStatus_t found =
      vector ? hipsparse.ConstDnVecGet(vector, &size, &values, &type) : HIPSPARSE_STATUS_INVALID_VALUE;
  if (found) return cusparse_status(found);
  if (!cusparse_data_type((cudaDataType)type, &beneath)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return cusparse_of_rocsparse(rocsparse.create_dnvec_descr(out, size, (void *)values, beneath));
}

cusparseStatus_t cusparse_copy_dense(cusparseConstDnMatDescr_t matrix, rocsparse_dnmat_descr *out) {
  int64_t rows, columns, leading;
  const void *values;
  hipDataType type;
  hipsparseOrder_t order;
  rocsparse_datatype beneath;
  hipsparseStatus_t found = matrix ? hipsparse.ConstDnMatGet(matrix, &rows, &columns, &leading, &values, &type, &order)
                                   : HIPSPARSE_STATUS_INVALID_VALUE;
  if (found) return cusparse_status(found);
  if (!cusparse_data_type((cudaDataType)type, &beneath)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return cusparse_of_rocsparse(
      rocsparse.create_dnmat_descr(out, rows, columns, leading, (void *)values, beneath,
                                   order == HIPSPARSE_ORDER_ROW ? rocsparse_order_row : rocsparse_order_column));
}
