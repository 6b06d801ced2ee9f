// Warp-shuffle reductions: butterfly, down-shift, index and up-shift (scan), with sub-warp widths.
#include <vector>
#include "sample.h"

__global__ void reduce(const int *in, int *sums, float *maxima, int *scans, int *groups) {
  unsigned all = 0xffffffffu;
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int value = in[i];
  int sum = value;
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(all, sum, step);
  sum = __shfl_sync(all, sum, 0);
  float largest = (float)value;
  for (int step = 16; step; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(all, largest, step));
  int scan = value;
  for (int step = 1; step < 32; step *= 2) {
    int other = __shfl_up_sync(all, scan, step);
    if (lane >= step) scan += other;
  }
  int group = value;  // sums of 8 neighbours
  for (int step = 4; step; step /= 2) group += __shfl_xor_sync(all, group, step, 8);
  sums[i] = sum, maxima[i] = largest, scans[i] = scan, groups[i] = group;
}

int main() {
  const int blocks = 3, threads = 96, n = blocks * threads;
  Random random(4);
  std::vector<int> in(n), sums(n), scans(n), groups(n), want_sums(n), want_scans(n), want_groups(n);
  std::vector<float> maxima(n), want_maxima(n);
  for (int &x : in) x = (int)(random.next() % 20000) - 10000;
  for (int warp = 0; warp < n; warp += 32) {
    int sum = 0, largest = in[warp];
    for (int k = 0; k < 32; k++) {
      want_scans[warp + k] = sum += in[warp + k];
      if (in[warp + k] > largest) largest = in[warp + k];
    }
    for (int k = 0; k < 32; k++) {
      want_sums[warp + k] = sum, want_maxima[warp + k] = (float)largest;
      int group = 0;
      for (int j = 0; j < 8; j++) group += in[warp + k / 8 * 8 + j];
      want_groups[warp + k] = group;
    }
  }
  int *din, *dsums, *dscans, *dgroups;
  float *dmaxima;
  CHECK(cudaMalloc(&din, n * 4));
  CHECK(cudaMalloc(&dsums, n * 4));
  CHECK(cudaMalloc(&dmaxima, n * 4));
  CHECK(cudaMalloc(&dscans, n * 4));
  CHECK(cudaMalloc(&dgroups, n * 4));
  CHECK(cudaMemcpy(din, in.data(), n * 4, cudaMemcpyHostToDevice));
  reduce<<<blocks, threads>>>(din, dsums, dmaxima, dscans, dgroups);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(sums.data(), dsums, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(maxima.data(), dmaxima, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(scans.data(), dscans, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(groups.data(), dgroups, n * 4, cudaMemcpyDeviceToHost));
  expect_equal(sums.data(), want_sums.data(), n, "sums");
  expect_equal(maxima.data(), want_maxima.data(), n, "maxima");
  expect_equal(scans.data(), want_scans.data(), n, "scans");
  expect_equal(groups.data(), want_groups.data(), n, "groups");
  return pass();
}
