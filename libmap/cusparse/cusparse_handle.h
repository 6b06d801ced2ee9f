/* Shared by the functions of libcusparse (cusparse.c, copies.c). */
#ifndef CUSPARSE_HANDLE_H
#define CUSPARSE_HANDLE_H
#include <pthread.h>

#include "cusparse_api.h"
#include "hipsparse_table.h"
#include "rocsparse_table.h"

/* What a CSR, CSC or COO matrix is made from. */
enum { MATRIX_ATTRIBUTES = 2 };
struct cusparse_parts {
  hipsparseFormat_t format;
  int64_t rows, columns, count;
  const void *first, *second, *values;
  hipsparseIndexType_t first_type, second_type;
  hipsparseIndexBase_t base;
  hipDataType type;
  int attributes[MATRIX_ATTRIBUTES];
};

/* Matrices of products with vectors, kept between the calls (kept.c). */
enum { KEPT = 16 };
struct cusparse_kept {
  struct cusparse_parts parts;
  rocsparse_operation operation;
  rocsparse_spmv_alg algorithm;
  rocsparse_spmat_descr matrix; /* NULL: free */
  uint64_t used;                /* number of the last use */
  bool busy;
};

struct cusparseHandle_t_st {
  uint64_t mark; /* the magic number while the handle is valid */
  hipsparseHandle_t hipsparse;
  rocsparse_handle rocsparse;
  cudaStream_t stream; /* the program's CUDA stream */
  bool on_device;      /* whether factors are in device memory */
  pthread_mutex_t lock; /* of the rest */
  uint64_t uses;
  struct cusparse_kept kept[KEPT];
};

/* hipSPARSE's handle; false: not a valid handle. */
bool cusparse_found(cusparseHandle_t handle, hipsparseHandle_t *found);
/* Whether hipSPARSE and rocSPARSE are available; if not, a message has been printed. */
bool cusparse_ready(void);

/* rocSPARSE descriptors of hipSPARSE's matrices and vectors, because those inside hipSPARSE's are not accessible
 * (copies.c). Each returns a status; the caller owns the result. */
cusparseStatus_t cusparse_of_rocsparse(rocsparse_status status);
bool cusparse_operation(cusparseOperation_t operation, rocsparse_operation *out);
bool cusparse_data_type(cudaDataType type, rocsparse_datatype *out);
cusparseStatus_t cusparse_parts_of(cusparseConstSpMatDescr_t matrix, struct cusparse_parts *parts);
cusparseStatus_t cusparse_matrix_of(const struct cusparse_parts *parts, rocsparse_spmat_descr *out);
cusparseStatus_t cusparse_copy_matrix(cusparseConstSpMatDescr_t matrix, rocsparse_spmat_descr *out);
cusparseStatus_t cusparse_copy_vector(cusparseConstDnVecDescr_t vector, rocsparse_dnvec_descr *out);
cusparseStatus_t cusparse_copy_dense(cusparseConstDnMatDescr_t matrix, rocsparse_dnmat_descr *out);

/* A copy of the matrix for products of one operation and algorithm, to be given back after the call (kept.c). */
cusparseStatus_t cusparse_borrow(cusparseHandle_t handle, cusparseConstSpMatDescr_t matrix, rocsparse_operation operation,
                                 rocsparse_spmv_alg algorithm, rocsparse_spmat_descr *out);
void cusparse_give_back(cusparseHandle_t handle, rocsparse_spmat_descr matrix);
void cusparse_drop_kept(cusparseHandle_t handle);

/* Whether a matrix has no elements; the dense form of a matrix that may have none (empty.c). */
bool cusparse_empty(cusparseConstSpMatDescr_t matrix);
hipsparseStatus_t cusparse_to_dense(hipsparseHandle_t handle, cusparseConstSpMatDescr_t matrix,
                                    cusparseDnMatDescr_t dense, hipsparseSparseToDenseAlg_t alg, void *buffer);

/* Buffer sizes: the one that hipSPARSE returned to the thread, as size_t; one that has to be an int (narrow.c). */
extern _Thread_local int cusparse_size;
hipsparseStatus_t cusparse_widened(hipsparseStatus_t status, size_t *out);
cusparseStatus_t cusparse_narrowed(cusparseStatus_t status, size_t size, int *out);

/* The zero pivot of real or complex factors (cholesky.c). */
hipsparseStatus_t cusparse_pivot(hipsparseHandle_t handle, csric02Info_t info, int *position);

/* Matrices in blocked ELL format (blocked_ell.c). room: receives the size of the buffer that is needed, or NULL; now: whether
 * anything is to be done. */
#define CUSPARSE_IF(condition, one, other) ((condition) ? (one) : (other))
bool cusparse_is_ell(cusparseConstSpMatDescr_t matrix);
cusparseStatus_t cusparse_ell_take(cusparseHandle_t handle, cusparseConstDnMatDescr_t dense,
                                   cusparseConstSpMatDescr_t matrix, size_t *room, bool now);
cusparseStatus_t cusparse_ell_spread(cusparseHandle_t handle, cusparseConstSpMatDescr_t matrix,
                                     cusparseConstDnMatDescr_t dense, size_t *room, bool now);
cusparseStatus_t cusparse_ell_multiply(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                       const void *alpha, cusparseConstSpMatDescr_t matrix,
                                       cusparseConstDnMatDescr_t right, const void *beta,
                                       cusparseConstDnMatDescr_t result, cudaDataType type, size_t *room, bool now);

/* y = alpha op(A) x + beta y, of numbers of a type (S, D, C, Z), for a transposed dense A and a sparse x (turned.c). */
cusparseStatus_t cusparse_turned(cusparseHandle_t handle, cusparseOperation_t op, int m, int n, const void *alpha,
                                 const void *a, int lda, int nnz, const void *x, const int *index, const void *beta,
                                 void *y, cusparseIndexBase_t base, char letter);

/* Whether shapes match (shapes.c). */
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
/* Whether one of these is a batch, which rocSPARSE supports in SpMM only. Any may be NULL. */
bool cusparse_batch(cusparseConstSpMatDescr_t sparse, cusparseConstDnMatDescr_t dense, cusparseConstDnMatDescr_t other);
bool cusparse_vectors_fit(cusparseConstSpVecDescr_t sparse, cusparseConstDnVecDescr_t dense);
/* The status for an unsupported operation with matching shapes, with a message printed once; or for shapes that do not
 * match. */
cusparseStatus_t cusparse_no(bool fits, const char *what);
#endif
