// A device-side assert that fails for some threads: what the program then sees of it. Arguments: none.
#include <cassert>
#include <cstdio>

__device__ __noinline__ int checked(int i) {
  assert(i != 37 && "thirty-seven");
  return i;
}

__global__ void kernel(int *x) { x[blockIdx.x * 32 + threadIdx.x] = checked(blockIdx.x * 32 + threadIdx.x); }

int main() {
  int *x;
  if (cudaMalloc(&x, 64 * sizeof *x)) return 1;
  kernel<<<1, 32>>>(x);
  std::printf("first: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  kernel<<<2, 32>>>(x);
  std::printf("second: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("then: %s\n", cudaGetErrorName(cudaMemset(x, 0, 4)));
}
