// mapping: padded
// Warp specialisation: the first warp of each block fills the stages of a ring in shared memory, the others work
// on them. They meet at barriers in shared memory (cuda::barrier), one pair for each stage.
#include <cuda/barrier>
#include <new>
#include <vector>
#include "sample.h"

using barrier = cuda::barrier<cuda::thread_scope_block>;
const int stages = 2, tiles = 6, tile = 64, consumers = 96, threads = 32 + consumers, blocks = 2;

__global__ void ring(const int *in, int *out) {
  __shared__ int data[stages][tile];
  __shared__ alignas(barrier) char memory[2 * stages * sizeof(barrier)];
  barrier *full = (barrier *)memory, *empty = full + stages;
  if (threadIdx.x == 0)
    for (int i = 0; i < 2 * stages; i++) new (full + i) barrier(threads);
  __syncthreads();
  in += blockIdx.x * tiles * tile;
  if (threadIdx.x < 32) {
    for (int t = 0; t < tiles; t++) {
      int stage = t % stages;
      if (t >= stages) empty[stage].arrive_and_wait();
      for (int i = threadIdx.x; i < tile; i += 32) data[stage][i] = in[t * tile + i];
      (void)full[stage].arrive();
    }
  } else {
    int me = threadIdx.x - 32, sum = 0;
    for (int t = 0; t < tiles; t++) {
      int stage = t % stages;
      full[stage].arrive_and_wait();
      for (int i = 0; i < tile; i++) sum += data[stage][i] * ((me + i) % 5);
      if (t + stages < tiles) (void)empty[stage].arrive();
    }
    out[blockIdx.x * consumers + me] = sum;
  }
}

int main() {
  Random random(11);
  std::vector<int> in(blocks * tiles * tile), out(blocks * consumers), want(out.size());
  for (int &x : in) x = (int)(random.next() % 1000);
  for (int block = 0; block < blocks; block++)
    for (int me = 0; me < consumers; me++)
      for (int k = 0; k < tiles * tile; k++)
        want[block * consumers + me] += in[block * tiles * tile + k] * ((me + k % tile) % 5);
  int *din, *dout;
  CHECK(cudaMalloc(&din, in.size() * 4));
  CHECK(cudaMalloc(&dout, out.size() * 4));
  CHECK(cudaMemcpy(din, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
  ring<<<blocks, threads>>>(din, dout);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(out.data(), dout, out.size() * 4, cudaMemcpyDeviceToHost));
  expect_equal(out.data(), want.data(), out.size(), "sums");
  return pass();
}
