// A cooperative grid: as many blocks as the device can run at once meet at grid.sync(), step after step. Two grids
// run at the same time, in two streams.
#include <cooperative_groups.h>
#include <vector>
#include "sample.h"

namespace cg = cooperative_groups;

// A heat equation on a ring: each step reads what neighbouring blocks wrote in the last.
__global__ void heat(long long *a, long long *b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int step = 0; step < steps; step++) {
    for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
      b[i] = a[(i + n - 1) % n] + 2 * a[i] + a[(i + 1) % n];
    grid.sync();
    long long *old = a;
    a = b, b = old;
  }
}

// The sum of all: block sums, then one block adds them up, then all read the result.
__global__ void normalise(const int *in, int *partial, int *out, int n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  cg::sync(grid);
  if (grid.thread_rank() == 0)
    for (int b = 1; b < gridDim.x; b++) partial[0] += partial[b];
  grid.sync();
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) out[i] = in[i] - partial[0];
}

int main() {
  const int threads = 128, n = 5000, steps = 9;
  int device = 0, cooperative = 0, processors = 0, per_processor = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, heat, threads, 0));
  const int limit = processors * per_processor;
  if (!cooperative || limit < 2) {
    std::printf("FAIL cooperative %d, %d x %d blocks\n", cooperative, processors, per_processor);
    return 1;
  }
  const int blocks = limit < 300 ? limit : 300;  // of which many have nothing to do but to meet

  Random random(21);
  std::vector<long long> heats(n), want(n), next(n);
  for (long long &x : heats) x = random.next() % 1000;
  want = heats;
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < n; i++) next[i] = want[(i + n - 1) % n] + 2 * want[i] + want[(i + 1) % n];
    want.swap(next);
  }
  std::vector<int> in(n), out(n), want_out(n);
  int total = 0;
  for (int &x : in) total += x = (int)(random.next() % 100);
  for (int i = 0; i < n; i++) want_out[i] = in[i] - total;

  long long *da, *db;
  int *din, *dpartial, *dout;
  CHECK(cudaMalloc(&da, n * sizeof(long long)));
  CHECK(cudaMalloc(&db, n * sizeof(long long)));
  CHECK(cudaMalloc(&din, n * sizeof(int)));
  CHECK(cudaMalloc(&dpartial, blocks * sizeof(int)));
  CHECK(cudaMalloc(&dout, n * sizeof(int)));
  CHECK(cudaMemcpy(da, heats.data(), n * sizeof(long long), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  cudaStream_t first, second;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  int length = n, count = steps;
  void *heat_args[] = {&da, &db, &length, &count}, *sum_args[] = {&din, &dpartial, &dout, &length};
  CHECK(cudaLaunchCooperativeKernel((void *)heat, blocks, threads, heat_args, 0, first));
  CHECK(cudaLaunchCooperativeKernel((void *)normalise, blocks / 2, threads, sum_args, 0, second));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(heats.data(), steps % 2 ? db : da, n * sizeof(long long), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(out.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
  expect_equal(heats.data(), want.data(), n, "heats");
  expect_equal(out.data(), want_out.data(), n, "out");

  // More blocks than can be there at once would wait for each other for ever.
  cudaError_t error = cudaLaunchCooperativeKernel((void *)heat, limit + 1, threads, heat_args, 0, first);
  if (error != cudaErrorCooperativeLaunchTooLarge) {
    std::printf("FAIL a launch of %d blocks: %s\n", limit + 1, cudaGetErrorString(error));
    return 1;
  }
  return pass();
}
