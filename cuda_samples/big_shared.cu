// Shared memory beyond what many AMD chips have: a sort of blocks of 100 KiB in dynamic shared memory, opted in,
// and static arrays of 72 KiB with atomics, vector accesses, generic pointers and early exits. More blocks than
// can have such memory at once. The static arrays are more than NVIDIA allows: only the PTX is kept.
// link: -gencode arch=compute_80,code=compute_80
#include <algorithm>
#include <vector>
#include "sample.h"

extern __shared__ int keys[];

__device__ __noinline__ void exchange(int *a, int *b, bool up) {  // generic addresses
  int x = *a, y = *b;
  if ((x > y) == up) *a = y, *b = x;
}

__global__ void sort_blocks(int *data, int n) {
  data += (size_t)blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) keys[i] = data[i];
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
        int low = 2 * i - (i & (stride - 1));
        exchange(&keys[low], &keys[low + stride], !(low & size));
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = keys[i];
}

// The threads of a block count the values below `bins`, each of its sixteenth part of the input.
enum { BINS = 16384, ROWS = 512 };
__global__ void count(const unsigned *data, int n, unsigned *total, unsigned *used) {
  __shared__ unsigned bins[BINS];  // 64 KiB
  __shared__ float4 rows[ROWS];    // 8 KiB
  __shared__ unsigned seen;
  for (int i = threadIdx.x; i < BINS / 4; i += blockDim.x) reinterpret_cast<uint4 *>(bins)[i] = make_uint4(0, 0, 0, 0);
  for (int i = threadIdx.x; i < ROWS; i += blockDim.x) rows[i] = make_float4(i, blockIdx.x, 0, 1);
  if (threadIdx.x == 0) seen = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (atomicAdd(&bins[data[i] % BINS], 1u) == 0) atomicInc(&seen, 0xffffffffu);
  __syncthreads();
  if (threadIdx.x >= 96) return;  // a half-empty wave leaves first
  float4 row = rows[ROWS - 1 - threadIdx.x];
  if (row.x != ROWS - 1 - threadIdx.x || row.y != blockIdx.x) atomicAdd(used, 1u << 31);
  for (int i = threadIdx.x; i < BINS; i += 96)
    if (bins[i]) atomicAdd(&total[i], bins[i]);
  if (threadIdx.x == 7) atomicAdd(used, seen);
}

static void sorts(int n, int blocks) {
  size_t bytes = n * sizeof(int);
  Random random(11);
  std::vector<int> data((size_t)n * blocks), want;
  for (int &x : data) x = (int)random.next();
  want = data;
  for (int b = 0; b < blocks; b++) std::sort(want.begin() + (size_t)b * n, want.begin() + (size_t)(b + 1) * n);
  int *device, per_processor = 0;
  CHECK(cudaMalloc(&device, blocks * bytes));
  CHECK(cudaMemcpy(device, data.data(), blocks * bytes, cudaMemcpyHostToDevice));
  CHECK(cudaFuncSetAttribute(sort_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, sort_blocks, 256, bytes));
  if (per_processor < 1) {
    std::printf("FAIL occupancy %d\n", per_processor);
    std::exit(1);
  }
  sort_blocks<<<blocks, 256, bytes>>>(device, n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(data.data(), device, blocks * bytes, cudaMemcpyDeviceToHost));
  expect_equal(data.data(), want.data(), data.size(), "sorted");
  CHECK(cudaFree(device));
}

static void counts(int n, int blocks) {
  Random random(12);
  std::vector<unsigned> data(n), total(BINS), want(BINS);
  for (unsigned &x : data) want[(x = random.next()) % BINS]++;
  unsigned *device, *sums, used = 0, want_used = 0;
  for (int b = 0; b < blocks; b++) {
    std::vector<bool> seen(BINS);
    for (int i = b * 128; i < n; i += blocks * 128)
      for (int k = i; k < i + 128 && k < n; k++) seen[data[k] % BINS] = true;
    want_used += (unsigned)std::count(seen.begin(), seen.end(), true);
  }
  CHECK(cudaMalloc(&device, n * sizeof(unsigned)));
  CHECK(cudaMalloc(&sums, (BINS + 1) * sizeof(unsigned)));
  CHECK(cudaMemset(sums, 0, (BINS + 1) * sizeof(unsigned)));
  CHECK(cudaMemcpy(device, data.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  count<<<blocks, 128>>>(device, n, sums, sums + BINS);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(total.data(), sums, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&used, sums + BINS, sizeof used, cudaMemcpyDeviceToHost));
  expect_equal(total.data(), want.data(), BINS, "total");
  expect_equal(&used, &want_used, 1, "used");
}

int main() {
  sorts(1 << 13, 3);   // 32 KiB: fits every chip
  sorts(1 << 15, 5);   // 128 KiB
  counts(50000, 12);
  return pass();
}
