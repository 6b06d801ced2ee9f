// printf from the device: the test compares standard output with device_printf.expected.
#include "sample.h"

__global__ void report(int round) {
  if (threadIdx.x % 16 == 5)
    printf("round %d thread %2u of %u: %s %c %.3f %lld %#x %5.1e %%\n", round, threadIdx.x, blockDim.x,
           threadIdx.x > 20 ? "high" : "low", 'a' + threadIdx.x % 26, threadIdx.x / 8.0, -5000000000ll * round, 255 + round,
           12345.678 * round);
  if (threadIdx.x == 0) printf("no arguments\n");
}

int main() {
  for (int round = 1; round <= 2; round++) {
    report<<<1, 1>>>(round);
    CHECK(cudaDeviceSynchronize());
    report<<<1, 40>>>(round);
    CHECK(cudaDeviceSynchronize());
  }
  return pass();
}
