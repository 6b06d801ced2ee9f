/* Copies of matrices that products with vectors use again. To destroy one, rocSPARSE waits for the device, which ends a
 * capture and costs more than the product; a solver calls the same product thousands of times. A copy serves one
 * operation and one algorithm, so that what rocSPARSE may store in it fits; the values and indices are read anew. */
#include <string.h>

#include "cusparse_handle.h"

static bool same(const struct cusparse_kept *k, const struct cusparse_parts *parts, rocsparse_operation operation,
                 rocsparse_spmv_alg algorithm) {
  return k->matrix && k->operation == operation && k->algorithm == algorithm && !memcmp(&k->parts, parts, sizeof *parts);
}

/* The copy that fits, or else the place for a new one: a free one, or that of the copy not used for longest. NULL: all
 * are in use by other threads. Under the lock. */
static struct cusparse_kept *place(cusparseHandle_t handle, const struct cusparse_parts *parts,
                                   rocsparse_operation operation, rocsparse_spmv_alg algorithm) {
  struct cusparse_kept *oldest = NULL;
  for (struct cusparse_kept *k = handle->kept; k < handle->kept + KEPT; k++) {
    if (k->busy) continue;
    if (same(k, parts, operation, algorithm)) return k;
    if (!oldest || k->used < oldest->used) oldest = k;
  }
  return oldest;
}

cusparseStatus_t cusparse_borrow(cusparseHandle_t handle, cusparseConstSpMatDescr_t matrix, rocsparse_operation operation,
                                 rocsparse_spmv_alg algorithm, rocsparse_spmat_descr *out) {
  struct cusparse_parts parts;
  cusparseStatus_t status = cusparse_parts_of(matrix, &parts);
  if (status) return status;
  pthread_mutex_lock(&handle->lock);
  struct cusparse_kept *k = place(handle, &parts, operation, algorithm);
  if (k && same(k, &parts, operation, algorithm)) {
    *out = k->matrix;
  } else {
    status = cusparse_matrix_of(&parts, out);
    if (!status && k) {
      if (k->matrix) rocsparse.destroy_spmat_descr(k->matrix);
      memcpy(&k->parts, &parts, sizeof parts);
      k->operation = operation;
      k->algorithm = algorithm;
      k->matrix = *out;
    }
  }
  if (!status && k) {
    k->used = ++handle->uses;
    k->busy = true;
  }
  pthread_mutex_unlock(&handle->lock);
  return status;
}

void cusparse_give_back(cusparseHandle_t handle, rocsparse_spmat_descr matrix) {
  bool found = false;
  pthread_mutex_lock(&handle->lock);
  for (struct cusparse_kept *k = handle->kept; k < handle->kept + KEPT && !found; k++) {
    found = k->matrix == matrix;
    if (found) k->busy = false;
  }
  pthread_mutex_unlock(&handle->lock);
  if (!found) rocsparse.destroy_spmat_descr(matrix);
}

void cusparse_drop_kept(cusparseHandle_t handle) {
  for (struct cusparse_kept *k = handle->kept; k < handle->kept + KEPT; k++)
    if (k->matrix) rocsparse.destroy_spmat_descr(k->matrix);
  pthread_mutex_destroy(&handle->lock);
}
