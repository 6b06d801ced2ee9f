/* Sparse least squares and eigenvalues, on the host. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "sparse_system.h"

/* A matrix as programs pass it. */
struct given {
  enum kind kind;
  bool on_device;
  int m, n, entries;
  cusparseMatDescr_t descriptor;
  const void *value;
  const int *row, *column;
};

/* Checks it, and copies it to the host. */
static cusolverStatus_t taken(cusolverSpHandle_t handle, const struct given *of, struct host_matrix *out) {
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  int base = sparse_base(of->descriptor);
  if (of->m < 1 || of->n < 1 || of->entries < 0 || base < 0 || !of->value || !of->row || !of->column) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  if (!sparse_general(of->descriptor)) return CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  if (of->on_device && libmap_driver.synchronize(handle->stream)) return CUSOLVER_STATUS_EXECUTION_FAILED;
  const struct pattern given = {of->m, of->n, of->entries, base, of->row, of->column};
  cusolverStatus_t status;
  int *row = sparse_rows(of->on_device, &given, &status);
  if (status) return status;
  int *column = sparse_fetched(of->on_device, of->column, (size_t)of->entries * sizeof *column);
  void *value = sparse_fetched(of->on_device, of->value, (size_t)of->entries * sparse_sizes[of->kind]);
  const struct pattern pattern = {of->m, of->n, of->entries, base, row, column};
  if (!column || !value) status = CUSOLVER_STATUS_ALLOC_FAILED;
  else if (!sparse_is_matrix(&pattern)) status = CUSOLVER_STATUS_INVALID_VALUE;
  else if (!sparse_on_host(of->kind, &pattern, value, out)) status = CUSOLVER_STATUS_ALLOC_FAILED;
  free(row), free(column), free(value);
  return status;
}

/* A program's vector on the host; NULL: it cannot be read, or there is no memory. */
static double complex *vector(enum kind kind, bool on_device, const void *from, int n) {
  void *copy = sparse_fetched(on_device, from, (size_t)n * sparse_sizes[kind]);
  double complex *out = malloc((size_t)n * sizeof *out);
  for (int i = 0; i < n && copy && out; i++) out[i] = sparse_number(kind, copy, i);
  bool good = copy && out;
  free(copy);
  if (good) return out;
  free(out);
  return NULL;
}

/* The other way round. */
static cusolverStatus_t hand(enum kind kind, bool on_device, const double complex *from, int n, void *to) {
  size_t size = (size_t)n * sparse_sizes[kind];
  void *copy = on_device ? malloc(size) : to;
  if (!copy) return CUSOLVER_STATUS_ALLOC_FAILED;
  for (int i = 0; i < n; i++) sparse_store(kind, copy, i, from[i]);
  if (!on_device) return CUSOLVER_STATUS_SUCCESS;
  bool good = !libmap_driver.copy_in((uint64_t)(uintptr_t)to, copy, size);
  free(copy);
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

/* ---- least squares ---- */

static cusolverStatus_t least_squares(cusolverSpHandle_t handle, const struct given *of, const void *b, double tolerance,
                                      int *rank, void *x, int *p, double *norm) {
  struct host_matrix matrix;
  if (sparse_is_handle(handle) && (!b || !(tolerance >= 0) || !rank || !x || !p)) return CUSOLVER_STATUS_INVALID_VALUE;
  if (sparse_is_handle(handle) && of->m < of->n) return sparse_wide();
  cusolverStatus_t status = taken(handle, of, &matrix);
  if (status) return status;
  double complex *right = vector(of->kind, false, b, of->m);
  bool good = right && sparse_least_squares(&matrix.a, tolerance, right, p, rank, norm);
  status = good ? hand(of->kind, false, right, of->n, x) : CUSOLVER_STATUS_ALLOC_FAILED;
  free(right);
  sparse_free_matrix(&matrix);
  return status;
}

/* ---- the eigenvalue nearest to a number ---- */

/* A - shift I, whose diagonal has all numbers; to be freed. */
static bool shifted(const struct sparse *a, double complex shift, struct host_matrix *out) {
  size_t entries = (size_t)a->row[a->m] + (size_t)a->m;
  *out = (struct host_matrix){.row = malloc(((size_t)a->m + 1) * sizeof(int)), .column = malloc(entries * sizeof(int)),
                              .value = malloc(entries * sizeof *out->value)};
  if (!out->row || !out->column || !out->value) {
    sparse_free_matrix(out);
    return false;
  }
  int to = 0;
  out->row[0] = 0;
  for (int i = 0; i < a->m; i++) { /* numbers at the same place are added up, also these */
    out->column[to] = i, out->value[to++] = -shift;
    for (int k = a->row[i]; k < a->row[i + 1]; k++) out->column[to] = a->column[k], out->value[to++] = a->value[k];
    out->row[i + 1] = to;
  }
  out->a = (struct sparse){a->m, a->n, out->row, out->column, out->value};
  return true;
}

static double length(int n, const double complex *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += creal(x[i] * conj(x[i]));
  return sqrt(sum);
}

static void divide(int n, double complex *x, double by) {
  for (int i = 0; i < n; i++) x[i] /= by;
}

/* mu = x^H A x; returns |A x - mu x|. */
static double quotient(const struct sparse *a, const double complex *x, double complex *product, double complex *mu) {
  *mu = 0;
  for (int i = 0; i < a->n; i++) {
    product[i] = 0;
    for (int k = a->row[i]; k < a->row[i + 1]; k++) product[i] += a->value[k] * x[a->column[k]];
    *mu += conj(x[i]) * product[i];
  }
  for (int i = 0; i < a->n; i++) product[i] -= *mu * x[i];
  return length(a->n, product);
}

/* A pivot of 0, where the shift is an eigenvalue, becomes a small number: the solution then is its vector. */
static void avoid_zeros(struct factors *factors) {
  double largest = 1;
  for (int k = 0; k < factors->n; k++) largest = fmax(largest, cabs(factors->upper[k].value[factors->upper[k].count - 1]));
  for (int k = 0; k < factors->n; k++) {
    double complex *diagonal = &factors->upper[k].value[factors->upper[k].count - 1];
    if (!(cabs(*diagonal) > DBL_EPSILON * largest)) *diagonal = DBL_EPSILON * largest;
  }
}

/* Inverse iteration with a fixed shift. */
static cusolverStatus_t iterate(const struct sparse *a, double complex shift, int most, double tolerance,
                                double complex *x, double complex *mu) {
  struct host_matrix moved;
  struct factors factors;
  double complex *product = malloc((size_t)a->n * sizeof *product);
  bool good = shifted(a, shift, &moved);
  if (good && !sparse_factor(&moved.a, 1, &factors)) sparse_free_matrix(&moved), good = false;
  double first = length(a->n, x);
  if (!good || !product || !(first > 0)) most = 0;
  else avoid_zeros(&factors), divide(a->n, x, first);
  *mu = 0;
  for (int i = 0; i < most; i++) {
    if (quotient(a, x, product, mu) <= tolerance) break;
    for (int k = 0; k < a->n; k++) product[k] = x[k];
    sparse_substitute(&factors, product, x);
    divide(a->n, x, length(a->n, x));
  }
  if (good) sparse_free_factors(&factors), sparse_free_matrix(&moved);
  good = good && product;
  free(product);
  if (!good) return CUSOLVER_STATUS_ALLOC_FAILED;
  return first > 0 ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

static cusolverStatus_t nearest(cusolverSpHandle_t handle, const struct given *of, double complex shift, const void *x0,
                                int most, double tolerance, void *mu, void *x) {
  struct host_matrix matrix;
  if (sparse_is_handle(handle) && (!x0 || most < 0 || !(tolerance >= 0) || !mu || !x)) return CUSOLVER_STATUS_INVALID_VALUE;
  cusolverStatus_t status = taken(handle, of, &matrix);
  if (status) return status;
  double complex *now = vector(of->kind, of->on_device, x0, of->n), value = 0;
  status = now ? iterate(&matrix.a, shift, most, tolerance, now, &value) : CUSOLVER_STATUS_ALLOC_FAILED;
  if (!status) status = hand(of->kind, of->on_device, now, of->n, x);
  if (!status) status = hand(of->kind, of->on_device, &value, 1, mu);
  free(now);
  sparse_free_matrix(&matrix);
  return status;
}

/* ---- how many eigenvalues are in a rectangle ---- */

static cusolverStatus_t enclosed(cusolverSpHandle_t handle, const struct given *of, double complex least,
                                 double complex most, int *count) {
  struct host_matrix matrix;
  if (sparse_is_handle(handle) && !count) return CUSOLVER_STATUS_INVALID_VALUE;
  cusolverStatus_t status = taken(handle, of, &matrix);
  if (status) return status;
  size_t n = (size_t)of->n;
  double complex *dense = calloc(n * n, sizeof *dense), *values = malloc(n * sizeof *values);
  if (!dense || !values) status = CUSOLVER_STATUS_ALLOC_FAILED;
  for (size_t i = 0; i < n && !status; i++) {
    for (int k = matrix.row[i]; k < matrix.row[i + 1]; k++) dense[i * n + (size_t)matrix.column[k]] += matrix.value[k];
  }
  if (!status && !dense_eigenvalues(of->n, dense, values)) status = CUSOLVER_STATUS_EXECUTION_FAILED;
  int found = 0;
  for (size_t i = 0; i < n && !status; i++) {
    found += creal(values[i]) >= creal(least) && creal(values[i]) <= creal(most) &&
             cimag(values[i]) >= cimag(least) && cimag(values[i]) <= cimag(most);
  }
  if (!status) *count = found;
  free(dense), free(values);
  sparse_free_matrix(&matrix);
  return status;
}

/* ---- the functions ---- */

#define MATRIX(kind, device, m, n) \
  (&(struct given){kind, device, m, n, nnz, descrA, csrValA, csrRowPtrA, csrColIndA})
#define NEAREST(letter, T, R, kind, name, device, shift)                                                               \
  cusolverStatus_t cusolverSp##letter##name(cusolverSpHandle_t handle, int m, int nnz, cusparseMatDescr_t descrA,      \
                                            const T *csrValA, const int *csrRowPtrA, const int *csrColIndA, T mu0,     \
                                            const T *x0, int maxite, R tol, T *mu, T *x) {                             \
    return nearest(handle, MATRIX(kind, device, m, m), shift, x0, maxite, tol, mu, x);                                 \
  }
#define ALL(letter, T, R, kind, C, shift)                                                                              \
  cusolverStatus_t cusolverSp##letter##csrlsqvqrHost(                                                                  \
      cusolverSpHandle_t handle, int m, int n, int nnz, cusparseMatDescr_t descrA, const T *csrValA,                   \
      const int *csrRowPtrA, const int *csrColIndA, const T *b, R tol, int *rankA, T *x, int *p, R *min_norm) {        \
    double norm = 0;                                                                                                   \
    if (sparse_is_handle(handle) && !min_norm) return CUSOLVER_STATUS_INVALID_VALUE;                                   \
    cusolverStatus_t status = least_squares(handle, MATRIX(kind, false, m, n), b, tol, rankA, x, p, &norm);            \
    if (!status) *min_norm = (R)norm;                                                                                  \
    return status;                                                                                                     \
  }                                                                                                                    \
  NEAREST(letter, T, R, kind, csreigvsi, true, shift)                                                                  \
  NEAREST(letter, T, R, kind, csreigvsiHost, false, shift)                                                             \
  cusolverStatus_t cusolverSp##letter##csreigsHost(                                                                    \
      cusolverSpHandle_t handle, int m, int nnz, cusparseMatDescr_t descrA, const T *csrValA, const int *csrRowPtrA,   \
      const int *csrColIndA, C left_bottom_corner, C right_upper_corner, int *num_eigs) {                              \
    return enclosed(handle, MATRIX(kind, false, m, m), left_bottom_corner.x + I * left_bottom_corner.y,                \
                    right_upper_corner.x + I * right_upper_corner.y, num_eigs);                                        \
  }

ALL(S, float, float, SINGLE, cuComplex, mu0)
ALL(D, double, double, TWICE, cuDoubleComplex, mu0)
ALL(C, cuComplex, float, COMPLEX, cuComplex, mu0.x + I * mu0.y)
ALL(Z, cuDoubleComplex, double, BOTH, cuDoubleComplex, mu0.x + I * mu0.y)
