// The mean of random numbers that a kernel sums up, in one stream with their generator; a reset at the end.
#include <cstdio>

typedef struct curandGenerator_st *curandGenerator_t;  // curand.h, which the compiler's wheels do not have
extern "C" {
int curandCreateGenerator(curandGenerator_t *, int);
int curandDestroyGenerator(curandGenerator_t);
int curandSetStream(curandGenerator_t, cudaStream_t);
int curandSetPseudoRandomGeneratorSeed(curandGenerator_t, unsigned long long);
int curandGenerateUniformDouble(curandGenerator_t, double *, size_t);
}

#define OK(call) \
  if (int status = (int)(call)) { printf("%s: %d\n", #call, status); return 1; }

enum { N = 1 << 16 };

__global__ void sum(const double *numbers, double *out) {
  double mine = 0;
  for (int i = threadIdx.x; i < N; i += blockDim.x) mine += numbers[i];
  atomicAdd(out, mine);
}

int main() {
  double *numbers, *out, mean;
  cudaStream_t stream;
  curandGenerator_t generator;
  OK(cudaMalloc(&numbers, N * sizeof *numbers));
  OK(cudaMalloc(&out, sizeof *out));
  OK(cudaMemset(out, 0, sizeof *out));
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(curandCreateGenerator(&generator, 161));  // Philox
  OK(curandSetPseudoRandomGeneratorSeed(generator, 7));
  OK(curandSetStream(generator, stream));
  OK(curandGenerateUniformDouble(generator, numbers, N));
  sum<<<1, 256, 0, stream>>>(numbers, out);
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(&mean, out, sizeof mean, cudaMemcpyDeviceToHost));
  OK(curandDestroyGenerator(generator));
  OK(curandCreateGenerator(&generator, 201));  // Sobol, which keeps tables on the device beyond the reset
  OK(curandGenerateUniformDouble(generator, numbers, N));
  OK(cudaDeviceReset());
  mean /= N;
  printf("%s\n", mean > 0.495 && mean < 0.505 ? "right" : "wrong");
  return 0;
}
