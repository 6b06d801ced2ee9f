/* libcufft on AMD's hipFFT: plan numbers, creation of plans in one call, streams. The rest is in the table
 * (ptx2amd/api/cufft). */
#include <pthread.h>
#include <stdlib.h>

#include "cufft_plan.h"

enum { FIRST = 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hipfftHandle *plans; /* plans FIRST and following; NULL: free */
static int room;

bool cufft_found(cufftHandle plan, hipfftHandle *found) {
  pthread_mutex_lock(&lock);
  *found = plan >= FIRST && plan < FIRST + room ? plans[plan - FIRST] : NULL;
  pthread_mutex_unlock(&lock);
  return *found != NULL;
}

/* A number for the plan; -1: out of memory. */
static int numbered(hipfftHandle plan) {
  int at = 0;
  pthread_mutex_lock(&lock);
  while (at < room && plans[at]) at++;
  if (at == room) {
    int more = room ? 2 * room : 16;
    hipfftHandle *grown = realloc(plans, (size_t)more * sizeof *plans);
    if (grown) {
      for (int i = room; i < more; i++) grown[i] = NULL;
      plans = grown, room = more;
    }
  }
  int number = at < room ? at + FIRST : -1;
  if (number >= 0) plans[at] = plan;
  pthread_mutex_unlock(&lock);
  return number;
}

cufftResult cufftCreate(cufftHandle *handle) {
  hipfftHandle made = NULL;
  if (!handle) return CUFFT_INVALID_VALUE;
  if (!libmap_ready()) return CUFFT_SETUP_FAILED;
  cufftResult status = cufft_status(hipfft.Create(&made));
  if (status) return status;
  int number = numbered(made);
  if (number < 0) {
    hipfft.Destroy(made);
    return CUFFT_ALLOC_FAILED;
  }
  *handle = number;
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
  hipfftHandle found;
  if (!cufft_found(plan, &found)) return CUFFT_INVALID_PLAN;
  pthread_mutex_lock(&lock);
  plans[plan - FIRST] = NULL;
  pthread_mutex_unlock(&lock);
  return cufft_status(hipfft.Destroy(found));
}

#define LAYOUT(suffix, integer, wrong_size)                                                                      \
  cufftResult cufft_layout##suffix(int rank, const integer *sizes, const integer *inembed, integer istride,        \
                                   const integer *onembed, integer ostride, integer batch) {                       \
    if (rank < 1 || rank > 3 || !sizes) return CUFFT_INVALID_VALUE;                                                \
    if ((inembed && istride < 1) || (onembed && ostride < 1)) return CUFFT_INVALID_VALUE;                          \
    for (int i = 0; i < rank; i++)                                                                                 \
      if (sizes[i] < 1) return wrong_size;                                                                         \
    return batch < 1 ? wrong_size : CUFFT_SUCCESS;                                                                 \
  }

LAYOUT(, int, CUFFT_INVALID_SIZE)
LAYOUT(_64, long long, CUFFT_INVALID_VALUE)

/* A plan from cufftCreate and the call `make`, which receives its number as `made`. */
#define CREATE(plan, make)                      \
  cufftHandle made;                             \
  size_t work;                                  \
  if (!plan) return CUFFT_INVALID_VALUE;        \
  cufftResult status = cufftCreate(&made);      \
  if (status) return status;                    \
  status = make;                                \
  if (status) cufftDestroy(made);               \
  else *plan = made;                            \
  return status

cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch) {
  CREATE(plan, cufftMakePlan1d(made, nx, type, batch, &work));
}

cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type) {
  CREATE(plan, cufftMakePlan2d(made, nx, ny, type, &work));
}

cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type) {
  CREATE(plan, cufftMakePlan3d(made, nx, ny, nz, type, &work));
}

cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                          int ostride, int odist, cufftType type, int batch) {
  CREATE(plan, cufftMakePlanMany(made, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, &work));
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  hipfftHandle found;
  hipStream_t beneath;
  if (!cufft_found(plan, &found)) return CUFFT_INVALID_PLAN;
  if (libmap_driver.stream(stream, &beneath)) return CUFFT_INVALID_VALUE;
  return cufft_status(hipfft.SetStream(found, beneath));
}

cufftResult cufftGetProperty(libraryPropertyType type, int *value) {
  int version = libmap_version, found = libmap_property(type, version / 1000, version / 100 % 10, version % 100);
  if (!value) return CUFFT_INVALID_VALUE;
  if (found < 0) return CUFFT_INVALID_TYPE;
  *value = found;
  return CUFFT_SUCCESS;
}
