/* cublasSgemm of ours against rocblas_sgemm beneath it, in turn on one handle each: `libmap LIBCUBLAS` prints
 * milliseconds to load ours before its first call, and for each round the nanoseconds of a call of both. The product has
 * no rows, so that both check their arguments and launch nothing. */
#define _GNU_SOURCE
#include "libmap.h"

typedef int product(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *,
                    float *, int);

enum { NONE = 111 };

static double calls(product *call, void *handle, int none) {
  float one = 1, *memory = (float *)256;
  double start = now();
  for (int i = 0; i < CALLS; i++)
    if (call(handle, none, none, 0, 8, 8, &one, memory, 8, memory, 8, &one, memory, 8)) exit(2);
  return (now() - start) / CALLS;
}

int main(int count, char **words) {
  double start = now();
  void *blas = dlopen(count > 1 ? words[1] : "libcublas.so.12", RTLD_NOW);
  if (!blas) return fprintf(stderr, "%s\n", dlerror()), 1;
  printf("%.3f\n", (now() - start) / 1e6);
  void *ours, *theirs;
  enter();
  if (((int (*)(void **))need(blas, "cublasCreate_v2"))(&ours)) return 4;
  void *roc = dlopen("librocblas.so.5", RTLD_NOW);
  if (((int (*)(void **))need(roc, "rocblas_create_handle"))(&theirs)) return 4;
  product *through = (product *)need(blas, "cublasSgemm_v2"), *beneath = (product *)need(roc, "rocblas_sgemm");
  for (int i = 0; i < ROUNDS; i++) {
    double below = calls(beneath, theirs, NONE), above = calls(through, ours, 0);
    printf("%.2f\t%.2f\n", below, above);
  }
  return 0;
}
