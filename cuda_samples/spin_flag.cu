// mapping: padded
// Warps of a block that wait for each other in loops: for a flag in shared memory that the first warp sets, and
// in a chain through global memory in which each warp waits for the one before it (run from a graph).
#include <vector>
#include "sample.h"

const int warps = 7, threads = 32 * warps, blocks = 3, n = blocks * threads;

__device__ int warp_sum(int value) {
  for (int step = 16; step; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

__global__ void broadcast(const int *in, int *out) {
  __shared__ volatile int ready;
  __shared__ int sum;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    int part = 0;
    for (int i = threadIdx.x; i < threads; i += 32) part += in[blockIdx.x * threads + i];
    part = warp_sum(part);
    if (threadIdx.x == 0) {
      sum = part;
      __threadfence_block();
      ready = 1;
    }
    out[blockIdx.x * threads + threadIdx.x] = part;
  } else {
    while (!ready) {
    }
    __threadfence_block();
    out[blockIdx.x * threads + threadIdx.x] = *(volatile int *)&sum;
  }
}

__global__ void chain(volatile int *totals, const int *in, int *before) {
  int warp = threadIdx.x / 32;
  volatile int *mine = totals + blockIdx.x * (warps + 1) + warp;
  int sum = warp_sum(in[blockIdx.x * threads + threadIdx.x]);
  if (threadIdx.x % 32 == 0) {
    while (mine[0] < 0) {
    }
    before[blockIdx.x * warps + warp] = mine[0];
    mine[1] = mine[0] + sum;
  }
}

int main() {
  Random random(7);
  std::vector<int> in(n), out(n), want(n), totals(blocks * (warps + 1), -1), before(blocks * warps), want_before;
  for (int &x : in) x = (int)(random.next() % 1000);
  for (int block = 0; block < blocks; block++) {
    int sum = 0;
    totals[block * (warps + 1)] = 0;
    for (int i = 0; i < threads; i++) {
      if (i % 32 == 0) want_before.push_back(sum);
      sum += in[block * threads + i];
    }
    for (int i = 0; i < threads; i++) want[block * threads + i] = sum;
  }
  int *din, *dout, *dtotals, *dbefore;
  CHECK(cudaMalloc(&din, n * 4));
  CHECK(cudaMalloc(&dout, n * 4));
  CHECK(cudaMalloc(&dtotals, totals.size() * 4));
  CHECK(cudaMalloc(&dbefore, before.size() * 4));
  CHECK(cudaMemcpy(din, in.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dtotals, totals.data(), totals.size() * 4, cudaMemcpyHostToDevice));
  broadcast<<<blocks, threads>>>(din, dout);
  CHECK(cudaGetLastError());
  void *arguments[] = {&dtotals, &din, &dbefore};
  cudaKernelNodeParams node = {};
  node.func = (void *)chain, node.gridDim = blocks, node.blockDim = threads, node.kernelParams = arguments;
  cudaGraph_t graph;
  cudaGraphNode_t added;
  cudaGraphExec_t run;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &node));
  CHECK(cudaGraphKernelNodeGetParams(added, &node));
  if (node.blockDim.x != threads) return 1;
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  CHECK(cudaGraphLaunch(run, 0));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(out.data(), dout, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(before.data(), dbefore, before.size() * 4, cudaMemcpyDeviceToHost));
  expect_equal(out.data(), want.data(), n, "sums");
  expect_equal(before.data(), want_before.data(), before.size(), "sums before");
  return pass();
}
