// Histogram with shared and global atomics, and the other atomic operations on the way.
#include <vector>
#include "sample.h"

constexpr int BINS = 64;

__global__ void histogram(const unsigned char *in, int n, unsigned *bins, int *extremes, unsigned long long *total,
                          float *fsum) {
  __shared__ unsigned local[BINS];
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i] % BINS], 1u);
    atomicMin(&extremes[0], (int)in[i]);
    atomicMax(&extremes[1], (int)in[i]);
    atomicAdd(total, (unsigned long long)in[i]);
    atomicAdd(fsum, 0.5f);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

__global__ void compare_and_swap_sum(const unsigned char *in, int n, double *sum) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto *bits = reinterpret_cast<unsigned long long *>(sum);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(__longlong_as_double(assumed) + in[i]));
  } while (assumed != old);
}

int main() {
  const int n = 20000;
  Random random(6);
  std::vector<unsigned char> in(n);
  std::vector<unsigned> bins(BINS), want(BINS, 0);
  int extremes[2] = {1000, -1}, want_extremes[2] = {1000, -1};
  unsigned long long total = 0, want_total = 0;
  for (auto &x : in) {
    x = (unsigned char)(random.next() % 251);
    want[x % BINS]++;
    want_total += x;
    if (x < want_extremes[0]) want_extremes[0] = x;
    if (x > want_extremes[1]) want_extremes[1] = x;
  }
  unsigned char *din;
  unsigned *dbins;
  int *dextremes;
  unsigned long long *dtotal;
  float *dfsum, fsum;
  double *dsum, sum;
  CHECK(cudaMalloc(&din, n));
  CHECK(cudaMalloc(&dbins, sizeof(unsigned) * BINS));
  CHECK(cudaMalloc(&dextremes, sizeof extremes));
  CHECK(cudaMalloc(&dtotal, 8));
  CHECK(cudaMalloc(&dfsum, 4));
  CHECK(cudaMalloc(&dsum, 8));
  CHECK(cudaMemcpy(din, in.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(dbins, 0, sizeof(unsigned) * BINS));
  CHECK(cudaMemcpy(dextremes, extremes, sizeof extremes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(dtotal, 0, 8));
  CHECK(cudaMemset(dfsum, 0, 4));
  CHECK(cudaMemset(dsum, 0, 8));
  histogram<<<8, 160>>>(din, n, dbins, dextremes, dtotal, dfsum);
  compare_and_swap_sum<<<10, 64>>>(din, 600, dsum);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(bins.data(), dbins, sizeof(unsigned) * BINS, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(extremes, dextremes, sizeof extremes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&total, dtotal, 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&fsum, dfsum, 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&sum, dsum, 8, cudaMemcpyDeviceToHost));
  float want_fsum = 0.5f * n;
  double want_sum = 0;
  for (int i = 0; i < 600; i++) want_sum += in[i];
  expect_equal(bins.data(), want.data(), BINS, "bins");
  expect_equal(extremes, want_extremes, 2, "extremes");
  expect_equal(&total, &want_total, 1, "total");
  expect_equal(&fsum, &want_fsum, 1, "fsum");
  expect_equal(&sum, &want_sum, 1, "sum");
  return pass();
}
