// Two streams with asynchronous copies, an event that orders them, and event times.
#include <vector>
#include "sample.h"

__global__ void scale(float *x, float factor, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= factor;
}

__global__ void add(float *x, const float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += y[i];
}

int main() {
  const int n = 50000;
  float *x, *y, *dx, *dy, milliseconds = -1;
  cudaStream_t first, second;
  cudaEvent_t begin, scaled, end;
  CHECK(cudaMallocHost(&x, n * sizeof(float)));
  CHECK(cudaMallocHost(&y, n * sizeof(float)));
  CHECK(cudaMalloc(&dx, n * sizeof(float)));
  CHECK(cudaMalloc(&dy, n * sizeof(float)));
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreateWithFlags(&scaled, cudaEventDisableTiming));
  CHECK(cudaEventCreate(&end));
  for (int i = 0; i < n; i++) x[i] = (float)i, y[i] = 1.0f;
  CHECK(cudaEventRecord(begin, first));
  CHECK(cudaMemcpyAsync(dx, x, n * sizeof(float), cudaMemcpyHostToDevice, first));
  CHECK(cudaMemcpyAsync(dy, y, n * sizeof(float), cudaMemcpyHostToDevice, second));
  for (int round = 0; round < 10; round++) scale<<<16, 64, 0, second>>>(dy, 2.0f, n);
  CHECK(cudaEventRecord(scaled, second));
  CHECK(cudaStreamWaitEvent(first, scaled, 0));
  add<<<16, 64, 0, first>>>(dx, dy, n);
  CHECK(cudaMemcpyAsync(x, dx, n * sizeof(float), cudaMemcpyDeviceToHost, first));
  CHECK(cudaEventRecord(end, first));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(cudaEventQuery(scaled));
  for (int i = 0; i < n; i++)
    if (x[i] != i + 1024.0f) {
      std::printf("FAIL x[%d]: got %g, want %g\n", i, x[i], i + 1024.0f);
      return 1;
    }
  if (!(milliseconds > 0)) {
    std::printf("FAIL elapsed time: %g ms\n", milliseconds);
    return 1;
  }
  CHECK(cudaStreamSynchronize(second));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(scaled));
  CHECK(cudaEventDestroy(end));
  return pass();
}
