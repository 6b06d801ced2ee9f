// Double-precision dot product and the f64 operations that have no single instruction: division, sqrt.
#include <cmath>
#include <vector>
#include "sample.h"

__global__ void dot(const double *a, const double *b, double *out, double *quotients, double *roots, int n) {
  __shared__ double partial[256];
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    sum = fma(a[i], b[i], sum);
    quotients[i] = a[i] / b[i];
    roots[i] = sqrt(fabs(a[i]));
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int step = blockDim.x / 2; step; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = partial[0];
}

int main() {
  const int n = 3000, threads = 256;
  Random random(7);
  std::vector<double> a(n), b(n), quotients(n), roots(n), want_quotients(n), want_roots(n);
  double partial[threads] = {}, got;
  for (int i = 0; i < n; i++) {
    a[i] = (random.uniform() - 0.5) * std::pow(2.0, (int)(random.next() % 60) - 30);
    b[i] = (random.uniform() + 0.1) * std::pow(2.0, (int)(random.next() % 60) - 30);
    want_quotients[i] = a[i] / b[i], want_roots[i] = std::sqrt(std::fabs(a[i]));
    partial[i % threads] = std::fma(a[i], b[i], partial[i % threads]);
  }
  for (int step = threads / 2; step; step /= 2)
    for (int t = 0; t < step; t++) partial[t] += partial[t + step];
  double *da, *db, *dout, *dquotients, *droots;
  CHECK(cudaMalloc(&da, n * 8));
  CHECK(cudaMalloc(&db, n * 8));
  CHECK(cudaMalloc(&dout, 8));
  CHECK(cudaMalloc(&dquotients, n * 8));
  CHECK(cudaMalloc(&droots, n * 8));
  CHECK(cudaMemcpy(da, a.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), n * 8, cudaMemcpyHostToDevice));
  dot<<<1, threads>>>(da, db, dout, dquotients, droots, n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&got, dout, 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(quotients.data(), dquotients, n * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(roots.data(), droots, n * 8, cudaMemcpyDeviceToHost));
  expect_equal(&got, partial, 1, "dot");
  expect_equal(quotients.data(), want_quotients.data(), n, "quotients");
  expect_equal(roots.data(), want_roots.data(), n, "roots");
  return pass();
}
