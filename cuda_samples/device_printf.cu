// printf from the device: the test compares standard output with device_printf.expected.
#include "sample.h"

__global__ void report(int round) {
  if (threadIdx.x % 16 == 5)
    printf("round %d thread %2u of %u: %s %c %.3f %lld %#x %5.1e %%\n", round, threadIdx.x, blockDim.x,
           threadIdx.x > 20 ? "high" : "low", 'a' + threadIdx.x % 26, threadIdx.x / 8.0, -5000000000ll * round, 255 + round,
           12345.678 * round);
  if (threadIdx.x == 0) printf("no arguments\n");
}

// Strings that are gone when they are printed.
__global__ void strings(const char *global) {
  __shared__ char block[4];
  char own[8];
  if (threadIdx.x == 0) block[0] = 'A' + blockIdx.x, block[1] = 0;
  for (int k = 0; k < 4; k++) own[k] = 'a' + threadIdx.x + k;
  own[4] = 0;
  __syncthreads();
  printf("%d [%s] [%6s] [%.2s] %g [%-3s|%s|%s]\n", threadIdx.x, own, own, own, 1.5, block, "text", global);
}

int main() {
  for (int round = 1; round <= 2; round++) {
    report<<<1, 1>>>(round);
    CHECK(cudaDeviceSynchronize());
    report<<<1, 40>>>(round);
    CHECK(cudaDeviceSynchronize());
  }
  char *global;
  CHECK(cudaMallocManaged(&global, 8));
  global[0] = 'g', global[1] = 0;
  strings<<<2, 3>>>(global);
  CHECK(cudaDeviceSynchronize());
  return pass();
}
