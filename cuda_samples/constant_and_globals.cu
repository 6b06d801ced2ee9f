// Constant memory and device globals: initialised, written by the host, written by kernels, shared by
// two kernels of the module, and a table of pointers to other globals.
#include <vector>
#include "sample.h"

__constant__ float coefficients[5] = {1, 2, 3, 4, 5};
__constant__ int offsets[3];
__device__ int counter = 40;
__device__ double table[4] = {0.5, 1.5, 2.5, 3.5};
__device__ short first_row[3] = {1, 2, 3}, second_row[3] = {-1, -2, -3};
__device__ short *rows[2] = {first_row, second_row};
__device__ const char greeting[] = "ptx";

__global__ void evaluate(const float *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 4; k >= 0; k--) sum = fmaf(sum, x[i], coefficients[k]);
  y[i] = sum + table[i & 3] + rows[i & 1][i % 3] + offsets[i % 3] + greeting[i % 4];
  atomicAdd(&counter, 1);
}

__global__ void bump() {
  counter += 1000;
  table[threadIdx.x] *= 2;
}

int main() {
  const int n = 300;
  std::vector<float> x(n);
  std::vector<double> y(n), want(n);
  int host_offsets[3] = {7, 70, 700}, final_counter;
  double host_table[4], want_table[4] = {1, 3, 5, 7};
  const short row[2][3] = {{1, 2, 3}, {-1, -2, -3}};
  for (int i = 0; i < n; i++) {
    x[i] = i * 0.01f;
    float sum = 0;
    for (int k = 4; k >= 0; k--) sum = fmaf(sum, x[i], (float)(k + 1));
    want[i] = sum + (0.5 + (i & 3)) + row[i & 1][i % 3] + host_offsets[i % 3] + "ptx"[i % 4];
  }
  float *dx;
  double *dy;
  CHECK(cudaMalloc(&dx, n * sizeof(float)));
  CHECK(cudaMalloc(&dy, n * sizeof(double)));
  CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(offsets, host_offsets, sizeof host_offsets));
  evaluate<<<3, 100>>>(dx, dy, n);
  bump<<<1, 4>>>();
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(y.data(), dy, n * sizeof(double), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&final_counter, counter, sizeof counter));
  CHECK(cudaMemcpyFromSymbol(host_table, table, sizeof table));
  expect_equal(y.data(), want.data(), n, "y");
  if (final_counter < 40 + n + 1000) {
    std::printf("FAIL counter: got %d, want at least %d\n", final_counter, 40 + n + 1000);
    return 1;
  }
  expect_equal(host_table, want_table, 4, "table");
  return pass();
}
