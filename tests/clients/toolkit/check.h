/* Self-checking cases: each prints "ok   name" or "FAIL name: where"; the exit status is the number of failures. */
#pragma once
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

inline int failures = 0;
inline const char *failed_at = nullptr;
inline int failed_line = 0;

inline void expect(bool right, const char *what, int line) {
  if (!right && !failed_at) failed_at = what, failed_line = line;
}

inline void expect_success(cudaError_t result, const char *what, int line) {
  if (result != cudaSuccess) printf("     %s: %s\n", what, cudaGetErrorName(result));
  expect(result == cudaSuccess, what, line);
}

#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define DO(call) expect_success(call, #call, __LINE__)

template <class F> void run(const char *name, F body) {
  failed_at = nullptr;
  body();
  cudaError_t late = cudaDeviceSynchronize();
  if (late != cudaSuccess && !failed_at) failed_at = cudaGetErrorName(late), failed_line = 0;
  cudaGetLastError();
  if (failed_at) failures++, printf("FAIL %s: %s (line %d)\n", name, failed_at, failed_line);
  else printf("ok   %s\n", name);
  fflush(stdout);
}

template <class T> T *device(size_t n) {
  T *p = nullptr;
  DO(cudaMalloc(&p, n * sizeof(T)));
  DO(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}
