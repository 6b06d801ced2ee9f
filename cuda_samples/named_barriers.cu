// mapping: padded
// Named barriers: warps with different jobs in one block. One warp produces tiles into two buffers, the others
// consume them: full and empty buffers are announced by bar.arrive (which does not wait) and awaited by bar.sync,
// with thread counts. The consumers then vote among themselves with barrier.red.
#include <vector>
#include "sample.h"

const int kWarp = 32, kConsumers = 3 * kWarp, kThreads = kWarp + kConsumers, kTile = kConsumers, kTiles = 37;

__device__ void sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void arrive(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ int count(int barrier, int threads, bool yes) {
  int votes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; barrier.red.popc.aligned.u32 %0, %1, %2, p; }"
               : "=r"(votes) : "r"(barrier), "r"(threads), "r"((int)yes) : "memory");
  return votes;
}

// Barriers 1, 2: buffer 0, 1 is full; 3, 4: it is empty; 5: the consumers alone.
__global__ void pipeline(const int *in, int *sums, int *odd) {
  __shared__ int tile[2][kTile];
  in += blockIdx.x * kTiles * kTile;
  if (threadIdx.x < kWarp) {
    for (int t = 0; t < kTiles; t++) {
      int buffer = t % 2;
      if (t >= 2) sync(3 + buffer, kThreads);
      for (int k = threadIdx.x; k < kTile; k += kWarp) tile[buffer][k] = in[t * kTile + k];
      arrive(1 + buffer, kThreads);
    }
    return;
  }
  unsigned me = threadIdx.x - kWarp, sum = 0;
  int odds = 0;
  for (int t = 0; t < kTiles; t++) {
    int buffer = t % 2;
    sync(1 + buffer, kThreads);
    int value = tile[buffer][(me * 7 + t) % kTile];  // what another lane loaded
    if (t + 2 < kTiles) arrive(3 + buffer, kThreads);
    sum = sum * 3 + value;
    odds += count(5, kConsumers, value & 1);
  }
  sums[blockIdx.x * kConsumers + me] = (int)sum;
  odd[blockIdx.x * kConsumers + me] = odds;
}

int main() {
  const int blocks = 4, n = blocks * kTiles * kTile, m = blocks * kConsumers;
  Random random(11);
  std::vector<int> in(n), sums(m), odd(m), want_sums(m), want_odd(m);
  for (int &x : in) x = (int)(random.next() % 1000);
  for (int b = 0; b < blocks; b++)
    for (int t = 0; t < kTiles; t++) {
      const int *tile = &in[(b * kTiles + t) * kTile];
      int odds = 0;
      for (int k = 0; k < kTile; k++) odds += tile[k] & 1;  // every element is read by one consumer
      for (int me = 0; me < kConsumers; me++) {
        int &sum = want_sums[b * kConsumers + me];
        sum = (int)((unsigned)sum * 3 + tile[(me * 7 + t) % kTile]);
        want_odd[b * kConsumers + me] += odds;
      }
    }
  int *din, *dsums, *dodd;
  CHECK(cudaMalloc(&din, n * 4));
  CHECK(cudaMalloc(&dsums, m * 4));
  CHECK(cudaMalloc(&dodd, m * 4));
  CHECK(cudaMemcpy(din, in.data(), n * 4, cudaMemcpyHostToDevice));
  pipeline<<<blocks, kThreads>>>(din, dsums, dodd);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(sums.data(), dsums, m * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(odd.data(), dodd, m * 4, cudaMemcpyDeviceToHost));
  expect_equal(sums.data(), want_sums.data(), m, "sums");
  expect_equal(odd.data(), want_odd.data(), m, "odd");
  return pass();
}
