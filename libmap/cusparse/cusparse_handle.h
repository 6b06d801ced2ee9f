/* What the functions of libcusparse share (cusparse.c, copies.c). */
#ifndef CUSPARSE_HANDLE_H
#define CUSPARSE_HANDLE_H
#include "cusparse_api.h"
#include "hipsparse_table.h"
#include "rocsparse_table.h"

struct cusparseHandle_t_st {
  uint64_t mark; /* of a handle that is there */
  hipsparseHandle_t hipsparse;
  rocsparse_handle rocsparse;
  cudaStream_t stream; /* as the program knows it */
};

/* hipSPARSE's handle; false: it is none of ours. */
bool cusparse_found(cusparseHandle_t handle, hipsparseHandle_t *found);
/* Whether both libraries beneath are there; else it was said why. */
bool cusparse_ready(void);

/* Matrices and vectors as rocSPARSE has them, whose own of hipSPARSE's cannot be known (copies.c). Each gives a status;
 * what was made is the caller's. */
cusparseStatus_t cusparse_of_rocsparse(rocsparse_status status);
bool cusparse_operation(cusparseOperation_t operation, rocsparse_operation *out);
bool cusparse_data_type(cudaDataType type, rocsparse_datatype *out);
cusparseStatus_t cusparse_copy_matrix(cusparseConstSpMatDescr_t matrix, rocsparse_spmat_descr *out);
cusparseStatus_t cusparse_copy_vector(cusparseConstDnVecDescr_t vector, rocsparse_dnvec_descr *out);
cusparseStatus_t cusparse_copy_dense(cusparseConstDnMatDescr_t matrix, rocsparse_dnmat_descr *out);

/* Whether a matrix has no numbers; the dense matrix of one that may have none (empty.c). */
bool cusparse_empty(cusparseConstSpMatDescr_t matrix);
hipsparseStatus_t cusparse_to_dense(hipsparseHandle_t handle, cusparseConstSpMatDescr_t matrix,
                                    cusparseDnMatDescr_t dense, hipsparseSparseToDenseAlg_t alg, void *buffer);

/* Whether shapes fit (shapes.c). */
bool cusparse_vector_product_fits(cusparseOperation_t op, cusparseConstSpMatDescr_t matrix, cusparseConstDnVecDescr_t x,
                                  cusparseConstDnVecDescr_t y);
bool cusparse_product_fits(cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstSpMatDescr_t left,
                           cusparseConstDnMatDescr_t right, cusparseConstDnMatDescr_t result);
bool cusparse_sampled_fits(cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstDnMatDescr_t left,
                           cusparseConstDnMatDescr_t right, cusparseConstSpMatDescr_t result);
bool cusparse_sparse_product_fits(cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstSpMatDescr_t left,
                                  cusparseConstSpMatDescr_t right, cusparseConstSpMatDescr_t result);
bool cusparse_solution_fits(cusparseOperation_t op_b, cusparseConstSpMatDescr_t matrix, cusparseConstDnMatDescr_t right,
                            cusparseConstDnMatDescr_t result);
bool cusparse_same_shape(cusparseConstSpMatDescr_t one, cusparseConstDnMatDescr_t other);
/* Whether one of these is several, which rocSPARSE minds in SpMM only. Any may be NULL. */
bool cusparse_batch(cusparseConstSpMatDescr_t sparse, cusparseConstDnMatDescr_t dense, cusparseConstDnMatDescr_t other);
bool cusparse_vectors_fit(cusparseConstSpVecDescr_t sparse, cusparseConstDnVecDescr_t dense);
/* The answer to what is not done although shapes fit, which is said once, or to shapes that do not. */
cusparseStatus_t cusparse_no(bool fits, const char *what);
#endif
