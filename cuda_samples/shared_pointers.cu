// mapping: padded
// Each warp waits for its flag and raises another. In the first launch these are two arrays, and all flags that are
// waited for have been raised before. In the second launch, and from a graph, both pointers lead to one array: each
// warp raises the flag of the warp after it, in its block or the next.
#include <vector>
#include "sample.h"

const int warps = 7, threads = 32 * warps, blocks = 3, n = blocks * warps;

__global__ void relay(volatile int *awaited, volatile int *raised, int *order, int *tickets) {
  int index = blockIdx.x * warps + threadIdx.x / 32;
  if (threadIdx.x == 0 && blockIdx.x == 0) awaited[0] = 1;
  while (!awaited[index]) {
  }
  if (threadIdx.x % 32 == 0) {
    order[index] = atomicAdd(tickets, 1);
    __threadfence();
    raised[index] = 1;
  }
}

int main() {
  int *flags, *others, *order, *tickets;
  CHECK(cudaMalloc(&flags, (n + 1) * sizeof(int)));
  CHECK(cudaMalloc(&others, n * sizeof(int)));
  CHECK(cudaMalloc(&order, n * sizeof(int)));
  CHECK(cudaMalloc(&tickets, sizeof(int)));
  std::vector<int> found(n), want(n);
  for (int i = 0; i < n; i++) want[i] = i;

  CHECK(cudaMemset(flags, 1, n * sizeof(int)));
  CHECK(cudaMemset(others, 0, n * sizeof(int)));
  CHECK(cudaMemset(tickets, 0, sizeof(int)));
  relay<<<blocks, threads>>>(flags, others, order, tickets);
  CHECK(cudaMemcpy(found.data(), others, n * sizeof(int), cudaMemcpyDeviceToHost));
  expect_equal(found.data(), std::vector<int>(n, 1).data(), n, "raised");

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamCreate(&stream));
  for (int graphs = 0; graphs < 2; graphs++) {
    if (graphs) CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(flags, 0, (n + 1) * sizeof(int), stream));
    CHECK(cudaMemsetAsync(tickets, 0, sizeof(int), stream));
    relay<<<blocks, threads, 0, stream>>>(flags, flags + 1, order, tickets);
    if (graphs) {
      CHECK(cudaStreamEndCapture(stream, &graph));
      CHECK(cudaGraphInstantiate(&ready, graph, 0));
      CHECK(cudaGraphLaunch(ready, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(found.data(), order, n * sizeof(int), cudaMemcpyDeviceToHost));
    expect_equal(found.data(), want.data(), n, "order");
  }
  return pass();
}
