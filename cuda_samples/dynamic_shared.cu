// Dynamic shared memory: two arrays carved out of one block, reversed and prefix-summed.
#include <vector>
#include "sample.h"

extern __shared__ unsigned char pool[];

__global__ void reverse_and_scan(const int *in, int *reversed, long long *sums, int per_block) {
  int *values = reinterpret_cast<int *>(pool);
  long long *partial = reinterpret_cast<long long *>(pool + per_block * sizeof(long long));
  int t = threadIdx.x, base = blockIdx.x * per_block;
  values[t] = in[base + t];
  partial[t] = values[t];
  __syncthreads();
  reversed[base + t] = values[per_block - 1 - t];
  for (int step = 1; step < per_block; step *= 2) {
    long long add = t >= step ? partial[t - step] : 0;
    __syncthreads();
    partial[t] += add;
    __syncthreads();
  }
  sums[base + t] = partial[t];
}

int main() {
  const int blocks = 5, per_block = 200, n = blocks * per_block;
  Random random(3);
  std::vector<int> in(n), reversed(n), want_reversed(n);
  std::vector<long long> sums(n), want_sums(n);
  for (int &x : in) x = (int)random.next();
  for (int b = 0; b < blocks; b++) {
    long long sum = 0;
    for (int t = 0; t < per_block; t++) {
      want_reversed[b * per_block + t] = in[b * per_block + per_block - 1 - t];
      want_sums[b * per_block + t] = sum += in[b * per_block + t];
    }
  }
  int *din, *dreversed;
  long long *dsums;
  CHECK(cudaMalloc(&din, n * sizeof(int)));
  CHECK(cudaMalloc(&dreversed, n * sizeof(int)));
  CHECK(cudaMalloc(&dsums, n * sizeof(long long)));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  reverse_and_scan<<<blocks, per_block, 2 * per_block * sizeof(long long)>>>(din, dreversed, dsums, per_block);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(reversed.data(), dreversed, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sums.data(), dsums, n * sizeof(long long), cudaMemcpyDeviceToHost));
  expect_equal(reversed.data(), want_reversed.data(), n, "reversed");
  expect_equal(sums.data(), want_sums.data(), n, "sums");
  return pass();
}
