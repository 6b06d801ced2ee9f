/* Whether the shapes of matrices and vectors match: rocSPARSE does not check, and its kernels would access memory
 * outside of the arrays. A missing descriptor never matches. */
#include "cusparse_handle.h"

struct shape { int64_t rows, columns; };

static bool sparse(cusparseConstSpMatDescr_t matrix, cusparseOperation_t op, struct shape *out) {
  int64_t rows, columns, count;
  if (!matrix || hipsparse.SpMatGetSize(matrix, &rows, &columns, &count)) return false;
  *out = op ? (struct shape){columns, rows} : (struct shape){rows, columns};
  return true;
}

static bool dense(cusparseConstDnMatDescr_t matrix, cusparseOperation_t op, struct shape *out) {
  int64_t rows, columns, leading;
  const void *values;
  hipDataType type;
  hipsparseOrder_t order;
  if (!matrix || hipsparse.ConstDnMatGet(matrix, &rows, &columns, &leading, &values, &type, &order)) return false;
  *out = op ? (struct shape){columns, rows} : (struct shape){rows, columns};
  return true;
}

static int64_t length(cusparseConstDnVecDescr_t vector) {
  int64_t size;
  const void *values;
  hipDataType type;
  return !vector || hipsparse.ConstDnVecGet(vector, &size, &values, &type) ? -1 : size;
}

static bool product(struct shape a, struct shape b, struct shape c) {
  return a.columns == b.rows && a.rows == c.rows && b.columns == c.columns;
}

bool cusparse_vector_product_fits(cusparseOperation_t op, cusparseConstSpMatDescr_t matrix, cusparseConstDnVecDescr_t x,
                                  cusparseConstDnVecDescr_t y) {
  struct shape a;
  return sparse(matrix, op, &a) && length(x) == a.columns && length(y) == a.rows;
}

bool cusparse_product_fits(cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstSpMatDescr_t left,
                           cusparseConstDnMatDescr_t right, cusparseConstDnMatDescr_t result) {
  struct shape a, b, c;
  return sparse(left, op_a, &a) && dense(right, op_b, &b) && dense(result, 0, &c) && product(a, b, c);
}

bool cusparse_sampled_fits(cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstDnMatDescr_t left,
                           cusparseConstDnMatDescr_t right, cusparseConstSpMatDescr_t result) {
  struct shape a, b, c;
  return dense(left, op_a, &a) && dense(right, op_b, &b) && sparse(result, 0, &c) && product(a, b, c);
}

bool cusparse_sparse_product_fits(cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstSpMatDescr_t left,
                                  cusparseConstSpMatDescr_t right, cusparseConstSpMatDescr_t result) {
  struct shape a, b, c;
  return sparse(left, op_a, &a) && sparse(right, op_b, &b) && sparse(result, 0, &c) && product(a, b, c);
}

bool cusparse_solution_fits(cusparseOperation_t op_b, cusparseConstSpMatDescr_t matrix, cusparseConstDnMatDescr_t right,
                            cusparseConstDnMatDescr_t result) {
  struct shape a;
  return sparse(matrix, 0, &a) && a.rows == a.columns && cusparse_product_fits(0, op_b, matrix, right, result);
}

bool cusparse_same_shape(cusparseConstSpMatDescr_t one, cusparseConstDnMatDescr_t other) {
  struct shape a, b;
  return sparse(one, 0, &a) && dense(other, 0, &b) && a.rows == b.rows && a.columns == b.columns;
}

bool cusparse_vectors_fit(cusparseConstSpVecDescr_t sparse, cusparseConstDnVecDescr_t dense) {
  int64_t size, count;
  const void *indices, *values;
  hipsparseIndexType_t index;
  hipsparseIndexBase_t base;
  hipDataType type;
  return sparse && !hipsparse.ConstSpVecGet(sparse, &size, &count, &indices, &values, &index, &base, &type) &&
         length(dense) == size;
}

/* ---- batches ---- */

/* Without a batch, the count is 0 or 1. */
static bool dense_batch(cusparseConstDnMatDescr_t matrix) {
  int count = 0;
  int64_t stride;
  return matrix && !hipsparse.DnMatGetStridedBatch(matrix, &count, &stride) && count > 1;
}

static bool sparse_batch(cusparseConstSpMatDescr_t matrix) {
  int count = 0;
  return matrix && !hipsparse.SpMatGetStridedBatch(matrix, &count) && count > 1;
}

bool cusparse_batch(cusparseConstSpMatDescr_t sparse, cusparseConstDnMatDescr_t dense, cusparseConstDnMatDescr_t other) {
  return sparse_batch(sparse) || dense_batch(dense) || dense_batch(other);
}

cusparseStatus_t cusparse_no(bool fits, const char *what) {
  static int said;
  return fits ? libmap_refuse(&said, what, CUSPARSE_STATUS_NOT_SUPPORTED) : CUSPARSE_STATUS_INVALID_VALUE;
}
