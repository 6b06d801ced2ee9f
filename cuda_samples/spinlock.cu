// Locks that each thread takes for itself: one for all, one for each of a few bins, and one in shared memory. On
// machines that run the lanes of a warp in step, a lane that holds a lock has to get on while others spin.
#include <vector>
#include "sample.h"

const int bins = 5, blocks = 3, threads = 80, rounds = 3;

__device__ void lock(int *l) {
  while (atomicCAS(l, 0, 1) != 0) {
  }
  __threadfence();
}

__device__ void unlock(int *l) {
  __threadfence();
  atomicExch(l, 0);
}

__global__ void one_lock(int *l, volatile int *counter) {
  lock(l);
  *counter = *counter + 1;
  unlock(l);
}

// The retry is written so that the lock is released inside the loop.
__global__ void bin_locks(int *locks, volatile int *counts, volatile int *lists, int room) {
  int thread = blockIdx.x * threads + threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    int bin = (thread * 7 + round) % bins;
    bool done = false;
    while (!done) {
      if (atomicCAS(&locks[bin], 0, 1) == 0) {
        __threadfence();
        lists[bin * room + counts[bin]] = thread;
        counts[bin] = counts[bin] + 1;
        __threadfence();
        atomicExch(&locks[bin], 0);
        done = true;
      }
    }
  }
}

// Test and test-and-set, with a pause, on a lock in shared memory.
__global__ void polite(int *sums) {
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  while (true) {
    while (*(volatile int *)&l) __nanosleep(50);
    if (atomicExch(&l, 1) == 0) break;
  }
  __threadfence_block();
  *(volatile int *)&sum = *(volatile int *)&sum + threadIdx.x;
  __threadfence_block();
  *(volatile int *)&l = 0;
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int main() {
  const int room = blocks * threads * rounds;
  int *dlocks, *dcounts, *dlists, *dsums;
  CHECK(cudaMalloc(&dlocks, (bins + 1) * 4));
  CHECK(cudaMalloc(&dcounts, (bins + 1) * 4));
  CHECK(cudaMalloc(&dlists, bins * room * 4));
  CHECK(cudaMalloc(&dsums, blocks * 4));
  CHECK(cudaMemset(dlocks, 0, (bins + 1) * 4));
  CHECK(cudaMemset(dcounts, 0, (bins + 1) * 4));
  one_lock<<<blocks, threads>>>(dlocks + bins, dcounts + bins);
  bin_locks<<<blocks, threads>>>(dlocks, dcounts, dlists, room);
  polite<<<blocks, threads>>>(dsums);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<int> counts(bins + 1), lists(bins * room), sums(blocks), want_sums(blocks, threads * (threads - 1) / 2);
  CHECK(cudaMemcpy(counts.data(), dcounts, counts.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(lists.data(), dlists, lists.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sums.data(), dsums, sums.size() * 4, cudaMemcpyDeviceToHost));
  std::vector<int> want(bins + 1, 0), seen(bins * blocks * threads, 0), want_seen(seen.size(), 0);
  want[bins] = blocks * threads;
  for (int thread = 0; thread < blocks * threads; thread++)
    for (int round = 0; round < rounds; round++) {
      int bin = (thread * 7 + round) % bins;
      want[bin]++, want_seen[bin * blocks * threads + thread]++;
    }
  expect_equal(counts.data(), want.data(), want.size(), "counts");
  for (int bin = 0; bin < bins; bin++)
    for (int k = 0; k < counts[bin]; k++) seen[bin * blocks * threads + lists[bin * room + k]]++;
  expect_equal(seen.data(), want_seen.data(), seen.size(), "threads in a bin");
  expect_equal(sums.data(), want_sums.data(), blocks, "sums");
  return pass();
}
