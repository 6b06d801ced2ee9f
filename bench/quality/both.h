// One source for nvcc (CUDA) and for clang with ROCm's headers (HIP): what the two name differently.
#pragma once
#if defined(__HIP__)
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#define SHFL(v, lane) __shfl(v, lane, 32)
#define SHFL_XOR(v, mask) __shfl_xor(v, mask, 32)
#define SHFL_UP(v, by) __shfl_up(v, by, 32)
#define SHFL_DOWN(v, by) __shfl_down(v, by, 32)
// A warp's 32 bits: on 64-lane waves the half that the lane is in.
#define BALLOT(p) ((unsigned)(__ballot(p) >> (__lane_id() & 32)))
#define SYNCWARP() __builtin_amdgcn_wave_barrier()
#if defined(__GFX11__) || defined(__GFX12__)
#define DOT4(a, b, c) __builtin_amdgcn_sudot4(true, a, true, b, c, false)
#else
#define DOT4(a, b, c) __builtin_amdgcn_sdot4(a, b, c, false)
#endif
#else
#include <cuda_fp16.h>
#include <mma.h>
#define SHFL(v, lane) __shfl_sync(~0u, v, lane)
#define SHFL_XOR(v, mask) __shfl_xor_sync(~0u, v, mask)
#define SHFL_UP(v, by) __shfl_up_sync(~0u, v, by)
#define SHFL_DOWN(v, by) __shfl_down_sync(~0u, v, by)
#define BALLOT(p) __ballot_sync(~0u, p)
#define SYNCWARP() __syncwarp()
#define DOT4(a, b, c) __dp4a(a, b, c)
#endif
#define KERNEL extern "C" __global__ void
#define INLINE __device__ __forceinline__
typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned char u8;

INLINE int index_x() { return blockIdx.x * blockDim.x + threadIdx.x; }
INLINE int index_y() { return blockIdx.y * blockDim.y + threadIdx.y; }
#define FOR_GRID(i, n) for (int i = index_x(); i < n; i += blockDim.x * gridDim.x)

INLINE float warp_sum(float v) {
  for (int m = 16; m; m >>= 1) v += SHFL_XOR(v, m);
  return v;
}
INLINE float warp_max(float v) {
  for (int m = 16; m; m >>= 1) v = fmaxf(v, SHFL_XOR(v, m));
  return v;
}
// Sum and maximum of a block of up to 1,024 threads, in all of its threads. part: 32 floats of shared memory.
INLINE float block_sum(float v, float *part) {
  v = warp_sum(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0.0f);
}
INLINE float block_max(float v, float *part) {
  v = warp_max(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_max(part[threadIdx.x % 32 % (blockDim.x / 32)]);
}
