/* Sparse systems as programs pass them, and objects that keep one between calls (sparse.c, sparse_steps.c,
 * sparse_lu_steps.c), least squares and eigenvalues (sparse_eigen.c), and patterns (sparse_reorder.c). */
#ifndef CUSOLVER_SPARSE_SYSTEM_H
#define CUSOLVER_SPARSE_SYSTEM_H
#include "cusolver_handle.h"
#include "sparse_solve.h"

struct cusolverSpHandle_t_st { int mark; cudaStream_t stream; };
enum kind { SINGLE, TWICE, COMPLEX, BOTH };
enum method { ROTATIONS, CHOLESKY, LU };
/* Orders: the matrix's, reverse Cuthill-McKee, and minimum degree for the others. */
enum { KEEP_ORDER, CUTHILL_MCKEE, LAST_ORDER = 3 };

/* A system with its memory. */
struct system {
  enum kind kind;
  enum method method;
  int m, n, entries, base;
  bool on_device;
  int reorder;
  double tolerance;
  const void *value, *b; /* of all systems of a batch */
  const int *row, *column;
};

/* Where a matrix has numbers, counted from `base`. */
struct pattern {
  int m, n, entries, base;
  const int *row, *column;
};

/* What is solved in steps: the matrix on the host, once it was passed. */
struct steps {
  int mark;
  enum kind kind;
  int m, n, entries, base;
  int *row, *column;
  void *value;
};
enum { SPARSE_STEPS = 0x63737169 };
struct csrqrInfo_t_st { struct steps steps; };
struct csrqrInfoHost_t_st { struct steps steps; };
struct csrcholInfo_t_st { struct steps steps; };
struct csrcholInfoHost_t_st { struct steps steps; };

extern const size_t sparse_sizes[]; /* of numbers */
bool sparse_is_handle(cusolverSpHandle_t handle);
/* What a matrix counts from; -1: no descriptor. */
int sparse_base(cusparseMatDescr_t descriptor);
/* Whether it is of a general matrix. */
bool sparse_general(cusparseMatDescr_t descriptor);
double complex sparse_number(enum kind kind, const void *at, int64_t i);
void sparse_store(enum kind kind, void *at, int64_t i, double complex value);
/* A copy on the host; NULL: it cannot be read, or there is no memory. */
void *sparse_fetched(bool on_device, const void *from, size_t size);
/* Row pointers on the host, of as many numbers as `entries` says, so that the others can be read; NULL: see `status`. */
int *sparse_rows(bool on_device, const struct pattern *of, cusolverStatus_t *status);
/* Whether row pointers and column numbers are those of such a matrix. */
bool sparse_is_matrix(const struct pattern *of);
/* The matrix with its rows in an order, counted from 0, columns of a row upwards; place[j] is where column j comes, and
 * from[k] where its k-th number was. */
void sparse_arrange(const struct pattern *of, const int *order, const int *place, int *rows, int *columns, int *from);
/* The matrix on the host, columns of a row upwards; to be freed. False: no memory. */
struct host_matrix { struct sparse a; int *row, *column; double complex *value; };
bool sparse_on_host(enum kind kind, const struct pattern *of, const void *value, struct host_matrix *out);
void sparse_free_matrix(struct host_matrix *matrix);
/* Solves one system of a batch, all on the host. Returns as sparse_by_rotations; `diagonal` has room for n numbers, those
 * of Cholesky's factor. */
int sparse_solve_one(const struct system *of, const int *row, const int *column, const void *value, const void *b,
                     int64_t batch, void *x, double *diagonal);
void sparse_forget(struct steps *steps);
cusolverStatus_t sparse_wide(void);
/* Sizes of the memory that a program allocates, which is not used. */
cusolverStatus_t sparse_buffers(size_t *internal, size_t *work);
#endif
