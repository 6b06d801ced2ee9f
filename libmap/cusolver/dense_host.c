/* Functions for dense matrices that neither hipSOLVER nor rocSOLVER has: they wait for the stream and compute on the host,
 * in double precision. */
#include <stdlib.h>

#include "dense_schur.h"
#include "generic.h"

static size_t bytes_of(cudaDataType type) {
  return type == HIP_R_32F ? sizeof(float) : type == HIP_C_64F ? 2 * sizeof(double) : sizeof(double);
}

static bool is_real(cudaDataType type) { return type == HIP_R_32F || type == HIP_R_64F; }
static bool is_known(cudaDataType type) { return is_real(type) || type == HIP_C_32F || type == HIP_C_64F; }

static double complex number_at(cudaDataType type, const void *at, size_t i) {
  const float *single = at;
  const double *twice = at;
  switch (type) {
    case HIP_R_32F: return single[i];
    case HIP_R_64F: return twice[i];
    case HIP_C_32F: return single[2 * i] + I * single[2 * i + 1];
    default: return twice[2 * i] + I * twice[2 * i + 1];
  }
}

static void store(cudaDataType type, void *at, size_t i, double complex value) {
  float *single = at;
  double *twice = at;
  switch (type) {
    case HIP_R_32F: single[i] = (float)creal(value); return;
    case HIP_R_64F: twice[i] = creal(value); return;
    case HIP_C_32F: single[2 * i] = (float)creal(value), single[2 * i + 1] = (float)cimag(value); return;
    default: twice[2 * i] = creal(value), twice[2 * i + 1] = cimag(value); return;
  }
}

/* A matrix of the program, in columns of `lead` numbers. */
struct given {
  cudaDataType type;
  void *at;
  int64_t rows, columns, lead;
};

/* Its numbers on the host, to be freed; NULL: no memory, or it cannot be read. */
static double complex *fetched(cusolverDnHandle_t handle, const struct given *of) {
  size_t rows = (size_t)of->rows, size = bytes_of(of->type), count = rows * (size_t)of->columns;
  char *copy = malloc(count * size + 1);
  double complex *out = malloc((count + 1) * sizeof *out);
  bool good = copy && out && !libmap_driver.synchronize(handle->stream) &&
              !libmap_copy_2d((struct libmap_copy){(uintptr_t)copy, rows * size},
                              (struct libmap_copy){(uintptr_t)of->at, (size_t)of->lead * size}, rows * size,
                              (size_t)of->columns);
  for (size_t i = 0; i < count && good; i++) out[i] = number_at(of->type, copy, i);
  free(copy);
  if (good) return out;
  free(out);
  return NULL;
}

static bool handed(const double complex *from, const struct given *to) {
  size_t rows = (size_t)to->rows, size = bytes_of(to->type), count = rows * (size_t)to->columns;
  char *copy = malloc(count * size + 1);
  for (size_t i = 0; i < count && copy; i++) store(to->type, copy, i, from[i]);
  bool good = copy && !libmap_copy_2d((struct libmap_copy){(uintptr_t)to->at, (size_t)to->lead * size},
                                      (struct libmap_copy){(uintptr_t)copy, rows * size}, rows * size,
                                      (size_t)to->columns);
  free(copy);
  return good;
}

static cusolverStatus_t answered(int *info, int value) {
  bool good = !libmap_driver.copy_in((uintptr_t)info, &value, sizeof value);
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

static bool is_handle(cusolverDnHandle_t handle) { return cusolver_found(handle, &(hipsolverHandle_t){0}); }

/* No function here needs a workspace. */
static cusolverStatus_t no_room(cusolverStatus_t status, size_t *device, size_t *host) {
  if (status) return status;
  if (!device || !host) return CUSOLVER_STATUS_INVALID_VALUE;
  *device = *host = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

/* ---- eigenvalues of any matrix ---- */

struct eigen {
  int vectors;
  int64_t n;
  struct given a, values, right; /* values of a real type: all real parts before all imaginary parts */
};

static cusolverStatus_t check(cusolverDnHandle_t handle, int jobvl, const struct eigen *e, cudaDataType compute) {
  cudaDataType type = e->a.type, wide = type == HIP_R_32F ? HIP_C_32F : HIP_C_64F;
  if (!is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (cusolver_wide(e->n | e->a.lead | e->right.lead) || e->a.lead < e->n || e->a.lead < 1 || jobvl < 0 || jobvl > 1 ||
      e->vectors < 0 || e->vectors > 1 || (e->vectors && (e->right.lead < e->n || e->right.lead < 1))) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  if (!is_known(type) || compute != type || (e->vectors && e->right.type != type) ||
      (e->values.type != type && !(is_real(type) && e->values.type == wide))) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  static int said;
  return jobvl ? libmap_refuse(&said, "cusolverDnXgeev with left eigenvectors", CUSOLVER_STATUS_INVALID_VALUE)
               : CUSOLVER_STATUS_SUCCESS;
}

/* A pair's two columns are the real and the imaginary parts of the first vector. */
static void vectors(const struct eigen *e, const double complex *t, const double complex *u, double complex *room,
                    double complex *out) {
  size_t n = (size_t)e->n;
  bool real = is_real(e->a.type);
  for (size_t k = 0; k < n; k++) {
    double complex *x = out + k * n;
    dense_vector(n, real, t, u, k, room, x);
    if (!real || cimag(t[k * n + k]) == 0) continue;
    for (size_t i = 0; i < n; i++) x[n + i] = cimag(x[i]), x[i] = creal(x[i]);
    k++;
  }
}

static bool solve(const struct eigen *e, double complex *t, int *wrong) {
  size_t n = (size_t)e->n;
  double complex *u = malloc((n * n + 1) * sizeof *u), *out = malloc((n * n + 1) * sizeof *out);
  double complex *values = malloc((2 * n + 1) * sizeof *values);
  bool good = u && out && values, real = is_real(e->values.type);
  *wrong = good ? dense_schur(n, is_real(e->a.type), t, u) : -1;
  good = *wrong >= 0;
  for (size_t k = 0; k < n && good; k++) {
    values[k] = t[k * n + k];
    if (real) values[n + k] = cimag(t[k * n + k]);
  }
  if (good) {
    struct given list = {e->values.type, e->values.at, (real ? 2 : 1) * e->n, 1, (real ? 2 : 1) * e->n};
    good = handed(values, &list);
  }
  if (good && e->vectors && !*wrong) vectors(e, t, u, values, out), good = handed(out, &e->right);
  free(u), free(out), free(values);
  return good;
}

#define EIGEN()                                                                                                        \
  (&(struct eigen){jobvr, n, {dataTypeA, (void *)A, n, n, lda}, {dataTypeW, (void *)W, 0, 0, 0},                       \
                   {dataTypeVR, (void *)VR, n, n, ldvr}})

cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobvl,
                                            cusolverEigMode_t jobvr, int64_t n, cudaDataType dataTypeA, const void *A,
                                            int64_t lda, cudaDataType dataTypeW, const void *W, cudaDataType dataTypeVL,
                                            const void *VL, int64_t ldvl, cudaDataType dataTypeVR, const void *VR,
                                            int64_t ldvr, cudaDataType computeType, size_t *workspaceInBytesOnDevice,
                                            size_t *workspaceInBytesOnHost) {
  (void)params, (void)dataTypeVL, (void)VL, (void)ldvl;
  return no_room(check(handle, jobvl, EIGEN(), computeType), workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobvl,
                                 cusolverEigMode_t jobvr, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
                                 cudaDataType dataTypeW, void *W, cudaDataType dataTypeVL, void *VL, int64_t ldvl,
                                 cudaDataType dataTypeVR, void *VR, int64_t ldvr, cudaDataType computeType,
                                 void *bufferOnDevice, size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                 size_t workspaceInBytesOnHost, int *info) {
  (void)params, (void)dataTypeVL, (void)VL, (void)ldvl, (void)bufferOnDevice, (void)workspaceInBytesOnDevice;
  (void)bufferOnHost, (void)workspaceInBytesOnHost;
  const struct eigen *e = EIGEN();
  cusolverStatus_t status = check(handle, jobvl, e, computeType);
  if (status) return status;
  if (!info || (n && (!A || !W || (jobvr && !VR)))) return CUSOLVER_STATUS_INVALID_VALUE;
  int wrong = 0;
  double complex *t = fetched(handle, &e->a);
  bool good = t && solve(e, t, &wrong);
  free(t);
  return good ? answered(info, wrong) : CUSOLVER_STATUS_EXECUTION_FAILED;
}

/* ---- systems with a symmetric matrix, as sytrf has factorised it ---- */

/* The factor: U or L, D of blocks of one or two numbers, and exchanged rows as LAPACK counts them, or NULL. */
struct symmetric {
  size_t n;
  bool upper;
  const double complex *a;
  const int64_t *pivot;
};

static bool is_single(const struct symmetric *of, size_t k) { return !of->pivot || of->pivot[k] > 0; }

static void exchange(const struct symmetric *of, size_t row, size_t k, double complex *b) {
  if (!of->pivot) return;
  size_t other = (size_t)llabs(of->pivot[k]) - 1;
  double complex moved = b[row];
  b[row] = b[other], b[other] = moved;
}

/* b -= column k times b[k], in rows that the factor has beside its diagonal from `first` to before `end`. */
static void subtract(const struct symmetric *of, size_t k, size_t first, size_t end, double complex *b) {
  for (size_t i = first; i < end; i++) b[i] -= of->a[k * of->n + i] * b[k];
}

static void gather(const struct symmetric *of, size_t k, size_t first, size_t end, double complex *b) {
  for (size_t i = first; i < end; i++) b[k] -= of->a[k * of->n + i] * b[i];
}

/* D's block of rows k and k + 1. */
static void divide(const struct symmetric *of, size_t k, double complex *b) {
  size_t n = of->n;
  double complex first = of->a[k * n + k], last = of->a[(k + 1) * n + k + 1];
  double complex apart = of->upper ? of->a[(k + 1) * n + k] : of->a[k * n + k + 1], whole = first * last - apart * apart;
  double complex x = (last * b[k] - apart * b[k + 1]) / whole;
  b[k + 1] = (first * b[k + 1] - apart * b[k]) / whole, b[k] = x;
}

static void by_upper(const struct symmetric *of, double complex *b) {
  for (size_t k = of->n; k-- > 0;) {
    bool single = is_single(of, k);
    size_t top = single ? k : k - 1; /* the block's first row */
    exchange(of, top, k, b);
    subtract(of, k, 0, top, b);
    if (single) b[k] /= of->a[k * of->n + k];
    else subtract(of, top, 0, top, b), divide(of, top, b), k--;
  }
  for (size_t k = 0; k < of->n; k++) {
    bool single = is_single(of, k);
    gather(of, k, 0, k, b);
    if (!single) gather(of, k + 1, 0, k, b);
    exchange(of, k, k, b);
    k += !single;
  }
}

static void by_lower(const struct symmetric *of, double complex *b) {
  for (size_t k = 0; k < of->n; k++) {
    bool single = is_single(of, k);
    size_t low = single ? k : k + 1;
    exchange(of, low, k, b);
    subtract(of, k, low + 1, of->n, b);
    if (single) b[k] /= of->a[k * of->n + k];
    else subtract(of, low, low + 1, of->n, b), divide(of, k, b), k++;
  }
  for (size_t k = of->n; k-- > 0;) {
    bool single = is_single(of, k);
    gather(of, k, k + 1, of->n, b);
    if (!single) gather(of, k - 1, k + 1, of->n, b);
    exchange(of, k, k, b);
    k -= !single;
  }
}

/* Whether exchanged rows are there, and blocks of two rows whole. */
static bool is_sound(const struct symmetric *of) {
  for (size_t k = 0; k < of->n && of->pivot; k++) {
    if (!of->pivot[k] || llabs(of->pivot[k]) > (int64_t)of->n) return false;
    if (of->pivot[k] < 0 && (k + 1 == of->n || of->pivot[++k] >= 0)) return false;
  }
  return true;
}

static cusolverStatus_t symmetric_check(cusolverDnHandle_t handle, int uplo, const struct given *a,
                                        const struct given *b) {
  if (!is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (cusolver_wide(a->rows | b->columns | a->lead | b->lead) || uplo < 0 || uplo > 1 || a->lead < a->rows || a->lead < 1 ||
      b->lead < a->rows || b->lead < 1 || !is_known(a->type) || a->type != b->type) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXsytrs_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                             cudaDataType dataTypeA, const void *A, int64_t lda, const int64_t *ipiv,
                                             cudaDataType dataTypeB, void *B, int64_t ldb,
                                             size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
  const struct given a = {dataTypeA, (void *)A, n, n, lda}, b = {dataTypeB, B, n, nrhs, ldb};
  (void)ipiv;
  return no_room(symmetric_check(handle, uplo, &a, &b), workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

cusolverStatus_t cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                  cudaDataType dataTypeA, const void *A, int64_t lda, const int64_t *ipiv,
                                  cudaDataType dataTypeB, void *B, int64_t ldb, void *bufferOnDevice,
                                  size_t workspaceInBytesOnDevice, void *bufferOnHost, size_t workspaceInBytesOnHost,
                                  int *info) {
  const struct given a = {dataTypeA, (void *)A, n, n, lda}, b = {dataTypeB, B, n, nrhs, ldb};
  (void)bufferOnDevice, (void)workspaceInBytesOnDevice, (void)bufferOnHost, (void)workspaceInBytesOnHost;
  cusolverStatus_t status = symmetric_check(handle, uplo, &a, &b);
  if (status) return status;
  if (!info || (n && (!A || (nrhs && !B)))) return CUSOLVER_STATUS_INVALID_VALUE;
  int64_t *pivot = ipiv ? malloc(((size_t)n + 1) * sizeof *pivot) : NULL;
  double complex *factor = fetched(handle, &a), *right = fetched(handle, &b);
  bool good = factor && right && (!ipiv || (pivot && !libmap_driver.copy_out(pivot, (uintptr_t)ipiv,
                                                                            (size_t)n * sizeof *pivot)));
  const struct symmetric of = {(size_t)n, uplo == 1, factor, pivot};
  bool sound = good && is_sound(&of);
  for (size_t j = 0; j < (size_t)nrhs && sound; j++) (of.upper ? by_upper : by_lower)(&of, right + j * of.n);
  good = good && (!sound || handed(right, &b));
  free(pivot), free(factor), free(right);
  if (!good) return CUSOLVER_STATUS_EXECUTION_FAILED;
  return sound ? answered(info, 0) : CUSOLVER_STATUS_INVALID_VALUE;
}
