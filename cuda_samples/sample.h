// Shared by the samples: error checks and the verdict line.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t status = (call);                                                             \
    if (status != cudaSuccess) {                                                             \
      std::printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

// Compare element by element; `what` names the result. Exits with FAIL at the first difference.
template <typename T>
void expect_equal(const T *got, const T *want, size_t n, const char *what) {
  for (size_t k = 0; k < n; k++)
    if (!(got[k] == want[k])) {
      std::printf("FAIL %s[%zu]: got %.17g, want %.17g\n", what, k, (double)got[k], (double)want[k]);
      std::exit(1);
    }
}

inline int pass() {
  std::printf("PASS\n");
  return 0;
}

// A small reproducible generator, so that samples need no library.
struct Random {
  unsigned long long state;
  explicit Random(unsigned long long seed) : state(seed * 2862933555777941757ull + 3037000493ull) {}
  unsigned next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) * 2654435761u;
  }
  float uniform() { return (next() >> 8) * (1.0f / (1 << 24)); }
};
