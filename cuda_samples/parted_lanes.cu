// Lanes of a warp that come to an exchange by different branches, and meet there all the same: sums in two copies of
// a loop, as compilers make them of `if (lane == 0)` in it; a loop against its rounds written out; __syncwarp().
#include <vector>
#include "sample.h"

const unsigned ALL = 0xffffffffu;

__device__ float norm(const float *row, int columns) {
  float sum = 0;
  for (int k = threadIdx.x % 32; k < columns; k += 32) sum += row[k] * row[k];
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);
  return sum;
}

__global__ void norms(const float *in, float *out, int rows, int columns) {
  if (threadIdx.x % 32 == 0) {
    for (int row = 0; row < rows; row++) out[row] = norm(in + row * columns, columns);
  } else {
    for (int row = 0; row < rows; row++) norm(in + row * columns, columns);
  }
}

__global__ void rounds(int *out, int n) {
  int lane = threadIdx.x % 32, result = 0;
  if (lane < 10) {
    for (int k = 0; k < n; k++) result = result * 3 + __shfl_sync(ALL, lane + k, lane + 5);
  } else {
    int a = __shfl_sync(ALL, lane, lane + 1);
    int b = __shfl_sync(ALL, lane + 100, lane + 2);
    int c = __shfl_sync(ALL, lane + 200, 3);
    result = a + 1000 * b + 1000000 * c;
  }
  out[threadIdx.x] = result;
}

__global__ void mailbox(int *out) {
  __shared__ volatile int box[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 31) {
    box[warp] = 7 + warp;
    __syncwarp();
    out[threadIdx.x] = -1;
  } else {
    __syncwarp();
    out[threadIdx.x] = box[warp] * 100 + lane;
  }
}

int main() {
  const int rows = 6, columns = 75, n = 3, threads = 64;
  std::vector<float> in(rows * columns), sums(rows), want_sums(rows);
  Random random(6);
  for (float &x : in) x = (float)(random.next() % 17);
  for (int k = 0; k < rows * columns; k++) want_sums[k / columns] += in[k] * in[k];
  std::vector<int> got(threads), want(threads);
  float *din, *dsums;
  int *dout;
  CHECK(cudaMalloc(&din, in.size() * 4));
  CHECK(cudaMalloc(&dsums, rows * 4));
  CHECK(cudaMalloc(&dout, threads * 4));
  CHECK(cudaMemcpy(din, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
  norms<<<1, threads>>>(din, dsums, rows, columns);
  CHECK(cudaMemcpy(sums.data(), dsums, rows * 4, cudaMemcpyDeviceToHost));
  expect_equal(sums.data(), want_sums.data(), rows, "norms");

  rounds<<<1, threads>>>(dout, n);
  CHECK(cudaMemcpy(got.data(), dout, threads * 4, cudaMemcpyDeviceToHost));
  for (int t = 0; t < threads; t++) {
    int lane = t % 32, from[3] = {lane + 1, lane + 2, 3}, results[3];
    for (int k = 0; k < 3; k++) {
      int source = (lane < 10 ? lane + 5 : from[k]) % 32;
      results[k] = source + (source < 10 ? k : 100 * k);
    }
    const int *r = results;
    want[t] = lane < 10 ? (r[0] * 3 + r[1]) * 3 + r[2] : r[0] + 1000 * r[1] + 1000000 * r[2];
  }
  expect_equal(got.data(), want.data(), threads, "rounds");

  mailbox<<<1, threads>>>(dout);
  CHECK(cudaMemcpy(got.data(), dout, threads * 4, cudaMemcpyDeviceToHost));
  for (int t = 0; t < threads; t++) want[t] = t % 32 == 31 ? -1 : (7 + t / 32) * 100 + t % 32;
  expect_equal(got.data(), want.data(), threads, "mailbox");
  return pass();
}
