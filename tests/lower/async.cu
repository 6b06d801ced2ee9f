// libcu++'s barriers, pipelines and asynchronous copies, as nvcc compiles them. Every kernel writes n results.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int TILE = 128, TILES = 8;

// A barrier of the block: each tile is copied by all threads and summed by neighbours.
extern "C" __global__ void by_barrier(const int *in, int *out) {
  __shared__ alignas(16) int tile[TILE];
  __shared__ barrier bar;
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  block.sync();
  for (int t = 0; t < TILES; t++) {
    cuda::memcpy_async(block, tile, in + t * TILE, cuda::aligned_size_t<16>(sizeof tile), bar);
    bar.arrive_and_wait();
    out[t * TILE + threadIdx.x] = tile[threadIdx.x] + tile[(threadIdx.x + 1) % TILE];
    bar.arrive_and_wait();
  }
}

// A pipeline of two stages shared by the block.
extern "C" __global__ void by_pipeline(const int *in, int *out) {
  __shared__ alignas(16) int tile[2][TILE];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int t = 0, next = 0; t < TILES; t++) {
    for (; next < TILES && next < t + 2; next++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[next % 2], in + next * TILE, cuda::aligned_size_t<16>(sizeof *tile), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[t * TILE + threadIdx.x] = tile[t % 2][threadIdx.x] + tile[t % 2][(threadIdx.x + 1) % TILE];
    pipe.consumer_release();
  }
}

// cooperative groups: copies of a block, waited for one behind the other.
extern "C" __global__ void by_groups(const int *in, int *out) {
  __shared__ alignas(16) int tile[2][TILE];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile[0], in, sizeof *tile);
  for (int t = 0; t < TILES; t++) {
    if (t + 1 < TILES) {
      cg::memcpy_async(block, tile[(t + 1) % 2], in + (t + 1) * TILE, sizeof *tile);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    out[t * TILE + threadIdx.x] = tile[t % 2][threadIdx.x] + tile[t % 2][(threadIdx.x + 1) % TILE];
    block.sync();
  }
}

// One warp brings tiles by bulk copies while the others work: full and empty barriers of two stages.
extern "C" __global__ void by_specialists(const int *in, int *out) {
  __shared__ alignas(128) int tile[2][TILE];
  __shared__ uint64_t full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; s++) ptx::mbarrier_init(&full[s], 1), ptx::mbarrier_init(&empty[s], TILE);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x >= TILE) {
    if (threadIdx.x == TILE)
      for (int t = 0; t < TILES; t++) {
        int s = t % 2;
        while (!ptx::mbarrier_try_wait_parity(&empty[s], (t / 2 + 1) % 2)) {}
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], sizeof *tile);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[s], in + t * TILE, sizeof *tile, &full[s]);
      }
  } else {
    for (int t = 0; t < TILES; t++) {
      int s = t % 2;
      while (!ptx::mbarrier_try_wait_parity(&full[s], t / 2 % 2)) {}
      out[t * TILE + threadIdx.x] = tile[s][threadIdx.x] + tile[s][(threadIdx.x + 1) % TILE];
      ptx::mbarrier_arrive(&empty[s]);
    }
  }
}

// A tensor map: a row a tile comes by a tensor copy, and goes back by one after work in shared memory.
extern "C" __global__ void by_tensors(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) int tile[TILE], sums[TILE];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  for (int t = 0; t < TILES; t++) {
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
      int at[2] = {0, t};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &from, at, cuda::device::barrier_native_handle(bar));
      token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else {
      token = bar.arrive();
    }
    bar.wait(std::move(token));
    sums[threadIdx.x] = tile[threadIdx.x] + tile[(threadIdx.x + 1) % TILE];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      int at[2] = {0, t};
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, at, sums);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
    __syncthreads();
  }
}
