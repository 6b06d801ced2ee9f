/* The first singular values and vectors, which cuSOLVER approximates with random vectors: here all are computed, by Jacobi's
 * method, and the first are copied. */
#include "generic.h"

enum { ALIGNMENT = 256 };

struct first {
  int vectors_u, vectors_v;
  int64_t m, n, k, more, steps;
  cudaDataType type, of_s, of_u, of_v, compute;
  int64_t lda, ldu, ldv;
};

static size_t bytes_of(cudaDataType type) {
  return type == HIP_R_32F ? sizeof(float) : type == HIP_C_64F ? 2 * sizeof(double) : sizeof(double);
}

static int shorter(const struct first *f) { return (int)(f->m < f->n ? f->m : f->n); }

static int choice(signed char job) { return job == 'S' || job == 's' ? 1 : job == 'N' || job == 'n' ? 0 : -1; }

static cusolverStatus_t check(cusolverDnHandle_t handle, const struct first *f) {
  if (!cusolver_found(handle, &(hipsolverHandle_t){0})) return CUSOLVER_STATUS_NOT_INITIALIZED;
  bool known = f->type == HIP_R_32F || f->type == HIP_R_64F || f->type == HIP_C_32F || f->type == HIP_C_64F;
  if (cusolver_wide(f->m | f->n | f->k | f->more | f->steps | f->lda | f->ldu | f->ldv) || f->lda < f->m || f->lda < 1 ||
      f->vectors_u < 0 || f->vectors_v < 0 || f->k < 1 || f->k + f->more > shorter(f) || !known ||
      f->of_s != cusolver_real(f->type) || f->compute != f->type || f->of_u != f->type || f->of_v != f->type ||
      (f->vectors_u && f->ldu < f->m) || (f->vectors_v && f->ldv < f->n)) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  return cusolver_jacobi(handle) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

/* Where the workspace has all values, vectors, and what hipSOLVER needs. */
struct parts { size_t s, u, v, work, end; int count; };

static cusolverStatus_t divide(cusolverDnHandle_t handle, const struct first *f, struct parts *out) {
  int m = (int)f->m, n = (int)f->n, lda = (int)f->lda, all = shorter(f);
  size_t number = bytes_of(f->type);
  const size_t sizes[] = {(size_t)all * bytes_of(f->of_s), (size_t)m * (size_t)all * number, (size_t)n * (size_t)all * number};
  hipsolverStatus_t status =
      CUSOLVER_TYPED(f->type, DnSgesvdj_bufferSize, DnDgesvdj_bufferSize, DnCgesvdj_bufferSize, DnZgesvdj_bufferSize,
                     handle->hipsolver, HIPSOLVER_EIG_MODE_VECTOR, 1, m, n, NULL, lda, NULL, NULL, m, NULL, n, &out->count,
                     cusolver_gesvdj);
  if (status) return cusolver_status(status);
  size_t *const places[] = {&out->s, &out->u, &out->v};
  size_t at = 0;
  for (int i = 0; i < 3; i++) *places[i] = at, at += (sizes[i] + ALIGNMENT - 1) & -(size_t)ALIGNMENT;
  out->work = at, out->end = at + (size_t)out->count * number;
  return CUSOLVER_STATUS_SUCCESS;
}

static bool copy(void *to, int64_t lead, const char *from, int64_t rows, int64_t columns, size_t number) {
  return !libmap_copy_2d((struct libmap_copy){(uintptr_t)to, (size_t)lead * number},
                         (struct libmap_copy){(uintptr_t)from, (size_t)rows * number}, (size_t)rows * number,
                         (size_t)columns);
}

#define FIRST()                                                                                                        \
  (&(struct first){choice(jobu), choice(jobv), m, n, k, p, niters, dataTypeA, dataTypeSrand, dataTypeUrand,            \
                   dataTypeVrand, computeType, lda, ldUrand, ldVrand})

cusolverStatus_t cusolverDnXgesvdr_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                              signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p,
                                              int64_t niters, cudaDataType dataTypeA, const void *A, int64_t lda,
                                              cudaDataType dataTypeSrand, const void *Srand, cudaDataType dataTypeUrand,
                                              const void *Urand, int64_t ldUrand, cudaDataType dataTypeVrand,
                                              const void *Vrand, int64_t ldVrand, cudaDataType computeType,
                                              size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
  struct parts parts;
  (void)params, (void)A, (void)Srand, (void)Urand, (void)Vrand;
  cusolverStatus_t status = check(handle, FIRST());
  if (!status && (!workspaceInBytesOnDevice || !workspaceInBytesOnHost)) status = CUSOLVER_STATUS_INVALID_VALUE;
  if (!status) status = divide(handle, FIRST(), &parts);
  if (!status) *workspaceInBytesOnDevice = parts.end, *workspaceInBytesOnHost = 0;
  return status;
}

cusolverStatus_t cusolverDnXgesvdr(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                   signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p, int64_t niters,
                                   cudaDataType dataTypeA, void *A, int64_t lda, cudaDataType dataTypeSrand, void *Srand,
                                   cudaDataType dataTypeUrand, void *Urand, int64_t ldUrand, cudaDataType dataTypeVrand,
                                   void *Vrand, int64_t ldVrand, cudaDataType computeType, void *bufferOnDevice,
                                   size_t workspaceInBytesOnDevice, void *bufferOnHost, size_t workspaceInBytesOnHost,
                                   int *d_info) {
  struct parts parts;
  const struct first *f = FIRST();
  (void)params, (void)bufferOnHost, (void)workspaceInBytesOnHost;
  cusolverStatus_t status = check(handle, f);
  if (!status && (!A || !Srand || (f->vectors_u && !Urand) || (f->vectors_v && !Vrand) || !d_info || !bufferOnDevice)) {
    status = CUSOLVER_STATUS_INVALID_VALUE;
  }
  if (!status) status = divide(handle, f, &parts);
  if (!status && workspaceInBytesOnDevice < parts.end) status = CUSOLVER_STATUS_INVALID_WORKSPACE;
  if (status) return status;
  char *room = bufferOnDevice;
  void *s = room + parts.s, *u = room + parts.u, *v = room + parts.v, *work = room + parts.work;
  status = cusolver_status(CUSOLVER_TYPED(f->type, DnSgesvdj, DnDgesvdj, DnCgesvdj, DnZgesvdj, handle->hipsolver,
                                          HIPSOLVER_EIG_MODE_VECTOR, 1, (int)m, (int)n, A, (int)lda, s, u, (int)m, v,
                                          (int)n, work, parts.count, d_info, cusolver_gesvdj));
  if (status) return status;
  size_t number = bytes_of(f->type);
  bool good = !libmap_driver.synchronize(handle->stream) && copy(Srand, k, s, k, 1, bytes_of(f->of_s)) &&
              (!f->vectors_u || copy(Urand, ldUrand, u, m, k, number)) &&
              (!f->vectors_v || copy(Vrand, ldVrand, v, n, k, number));
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}
