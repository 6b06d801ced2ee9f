// Tiled matrix multiply: static shared memory and barriers.
#include <cmath>
#include <vector>
#include "sample.h"

constexpr int TILE = 16;

__global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int t = 0; t < TILE; t++) sum = fmaf(tile_a[threadIdx.y][t], tile_b[t][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}

int main() {
  const int n = 128;
  Random random(2);
  std::vector<float> a(n * n), b(n * n), c(n * n), want(n * n);
  for (float &x : a) x = random.uniform() - 0.5f;
  for (float &x : b) x = random.uniform() - 0.5f;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum = std::fma(a[i * n + k], b[k * n + j], sum);
      want[i * n + j] = sum;
    }
  size_t bytes = n * n * sizeof(float);
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, bytes));
  CHECK(cudaMalloc(&db, bytes));
  CHECK(cudaMalloc(&dc, bytes));
  CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
  matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(da, db, dc, n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
  expect_equal(c.data(), want.data(), n * n, "c");
  return pass();
}
