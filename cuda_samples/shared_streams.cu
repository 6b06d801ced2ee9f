// Kernels with more shared memory than many AMD chips have, from several host threads and streams at once and with
// more blocks than can have it at a time; then a cooperative grid that takes all there is, so that none may be lost.
// Its static array is more than NVIDIA allows: only the PTX is kept.
// link: -gencode arch=compute_80,code=compute_80 -Xcompiler -pthread
#include <thread>
#include <vector>
#include "sample.h"

enum { THREADS = 64, BLOCKS = 700, ROUNDS = 3, WORKERS = 4 };
enum { SOME = 90000, MORE = 220000 };

// Whether the words that a thread wrote are still there, when those of all others have been written.
template <typename T>
__device__ bool kept(T *words, int n, unsigned tag) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) words[i] = tag + i;
  __syncthreads();
  bool good = true;
  for (int i = threadIdx.x; i < n; i += blockDim.x) good &= words[n - 1 - i] == (T)(tag + n - 1 - i);
  return good;
}

__global__ void dynamic(unsigned *out, unsigned tag, int bytes) {
  extern __shared__ unsigned words[];
  unsigned *last = words + bytes / 4 - 200;  // at the end
  if (blockIdx.x % 5 == 0 && threadIdx.x >= 32) return;  // a warp that leaves at once
  if (blockIdx.x % 5 == 0) {
    last[threadIdx.x] = tag + blockIdx.x;
    if (last[threadIdx.x] == tag + blockIdx.x) atomicAdd(out, 2u);
    return;
  }
  if (kept(last, 200, tag * 7 + blockIdx.x)) atomicAdd(out, 1u);
}

__global__ void fixed(unsigned *out, unsigned tag) {
  __shared__ unsigned short far[40000];
  __shared__ unsigned near[300];
  bool good = kept(far + 39000, 1000, tag + blockIdx.x);
  __syncthreads();
  if (kept(near, 300, tag ^ blockIdx.x) && good) atomicAdd(out, 1u);
}

__global__ void hold_all(unsigned *arrived) {
  extern __shared__ unsigned words[];
  words[threadIdx.x] = blockIdx.x;
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (*(volatile unsigned *)arrived < gridDim.x) __nanosleep(200);
  }
}

static void work(int worker) {
  cudaStream_t stream;
  unsigned *counts, got[3 * ROUNDS];
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&counts, sizeof got));
  CHECK(cudaMemset(counts, 0, sizeof got));
  CHECK(cudaDeviceSynchronize());
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned *to = counts + 3 * round, tag = worker * 1000 + round;
    dynamic<<<BLOCKS, THREADS, SOME, stream>>>(to, tag, SOME);
    fixed<<<BLOCKS / 2, THREADS, 0, stream>>>(to + 1, tag);
    dynamic<<<BLOCKS, THREADS, MORE, stream>>>(to + 2, tag, MORE);
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(got, counts, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 3 * ROUNDS; i++) {
    unsigned want = i % 3 == 1 ? BLOCKS / 2 * THREADS : BLOCKS * THREADS;
    expect_equal(&got[i], &want, 1, "threads whose words were kept");
  }
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  CHECK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, MORE));
  CHECK(cudaFuncSetAttribute(hold_all, cudaFuncAttributeMaxDynamicSharedMemorySize, MORE));
  std::vector<std::thread> workers;
  for (int i = 0; i < WORKERS; i++) workers.emplace_back(work, i);
  for (std::thread &worker : workers) worker.join();

  unsigned *arrived, got = 0;
  int processors = 0, blocks = 0;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, hold_all, THREADS, MORE));
  unsigned want = blocks * processors;
  CHECK(cudaMalloc(&arrived, sizeof *arrived));
  CHECK(cudaMemset(arrived, 0, sizeof *arrived));
  void *arguments[] = {&arrived};
  CHECK(cudaLaunchCooperativeKernel((void *)hold_all, want, THREADS, arguments, MORE, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&got, arrived, sizeof got, cudaMemcpyDeviceToHost));
  expect_equal(&got, &want, 1, "blocks at once");
  return pass();
}
