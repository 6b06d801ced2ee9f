// Warps of a block hand on rows in more shared memory than many AMD chips have: each waits for the one before it at a
// barrier object (cuda::barrier) that lies there too. Atomics through generic addresses, static arrays beside it.
// mapping: padded
// link: -gencode arch=compute_80,code=compute_80
#include <cuda/barrier>
#include <vector>
#include "sample.h"

struct Links {
  cuda::barrier<cuda::thread_scope_block> full[8];
};

__device__ __noinline__ void bump(unsigned *at) { atomicAdd(at, 2u); }  // a generic address

__global__ void chain(unsigned *out, int words) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ unsigned total[2];
  unsigned *rows = reinterpret_cast<unsigned *>(memory);
  Links *links = reinterpret_cast<Links *>(memory + 8 * words * sizeof(unsigned));  // beyond the rows
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < 8) init(&links->full[threadIdx.x], 32);
  if (threadIdx.x < 2) total[threadIdx.x] = 0;
  __syncthreads();
  for (int turn = 0; turn < 3; turn++) {
    if (warp) links->full[warp - 1].wait_parity(turn & 1);
    for (int i = lane; i < words; i += 32) {
      unsigned before = warp ? rows[(warp - 1) * words + i] : (unsigned)i + turn;
      rows[warp * words + i] = before + blockIdx.x + 1;
      bump(&rows[warp * words + i]);
    }
    (void)links->full[warp].arrive();
    __syncthreads();
  }
  for (int i = lane; i < words; i += 32) atomicXor(&total[warp & 1], rows[warp * words + i] * 2654435761u);
  __syncthreads();
  if (threadIdx.x < 2) out[2 * blockIdx.x + threadIdx.x] = total[threadIdx.x];
}

int main() {
  const int blocks = 9, words = 5000;
  const int bytes = 8 * words * 4 + (int)sizeof(Links);  // 160,064
  std::vector<unsigned> want(2 * blocks), got(2 * blocks);
  for (int b = 0; b < blocks; b++)
    for (int warp = 0; warp < 8; warp++)
      for (int i = 0; i < words; i++) want[2 * b + (warp & 1)] ^= (i + 2 + (warp + 1) * (b + 3)) * 2654435761u;
  unsigned *out;
  CHECK(cudaMalloc(&out, got.size() * sizeof(unsigned)));
  CHECK(cudaFuncSetAttribute(chain, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  chain<<<blocks, 256, bytes>>>(out, words);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  expect_equal(got.data(), want.data(), want.size(), "chain");
  return pass();
}
