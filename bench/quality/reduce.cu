// Reductions, scans, sorting, hashing: what parallel-algorithm libraries do.
#include "both.h"

KERNEL reduce(const float *in, float *out, int n) {
  __shared__ float part[32];
  float s = 0;
  FOR_GRID(i, n) s += in[i];
  for (int m = 16; m; m >>= 1) s += SHFL_DOWN(s, m);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int m = 16; m; m >>= 1) s += SHFL_DOWN(s, m);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
  }
}

// Inclusive sums within a warp, then a block of 256.
INLINE int warp_scan(int v, int lanes) {
  int lane = threadIdx.x % 32;
  for (int d = 1; d < lanes; d *= 2) {
    int u = SHFL_UP(v, d);
    if (lane >= d) v += u;
  }
  return v;
}
INLINE int block_scan(int v, int *sums) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = warp_scan(v, 32);
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = warp_scan(lane < 8 ? sums[lane] : 0, 8);
    if (lane < 8) sums[lane] = s;
  }
  __syncthreads();
  return warp ? v + sums[warp - 1] : v;
}
KERNEL __launch_bounds__(256) scan(const int *in, int *out, int n) {
  __shared__ int sums[8];
  int i = index_x(), v = block_scan(i < n ? in[i] : 0, sums);
  if (i < n) out[i] = v;
}

// The elements above a limit, in order: 256 a block, each block to a place of its own.
KERNEL __launch_bounds__(256) compact(const int *in, int *out, int *counts, int limit) {
  __shared__ int sums[8];
  int i = index_x(), v = in[i], keep = v > limit, at = block_scan(keep, sums);
  if (keep) out[blockIdx.x * 256 + at - 1] = v;
  if (threadIdx.x == 255) counts[blockIdx.x] = at;
}

KERNEL histogram(const u32 *in, u32 *out, int n) {
  __shared__ u32 bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  FOR_GRID(i, n) {
    u32 v = in[i];
#pragma unroll
    for (int k = 0; k < 32; k += 8) atomicAdd(&bins[v >> k & 255], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}

// Order of a block's 256 keys by a digit of four bits: stable, by ballots within warps and counts of warps.
KERNEL __launch_bounds__(256) radix(const u32 *in, u32 *out, int shift) {
  __shared__ int counts[16][8], starts[128];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  u32 key = in[blockIdx.x * 256 + t], digit = key >> shift & 15, same = ~0u;
  for (int b = 0; b < 4; b++) {
    u32 has = BALLOT(digit >> b & 1);
    same &= digit >> b & 1 ? has : ~has;
  }
  if (t < 128) counts[t / 8][t % 8] = 0;
  __syncthreads();
  int before = __popc(same & ((1u << lane) - 1));
  if (before == 0) counts[digit][warp] = __popc(same);
  __syncthreads();
  if (t < 128) starts[t] = counts[t / 8][t % 8];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int u = t < 128 && t >= d ? starts[t - d] : 0;
    __syncthreads();
    if (t < 128) starts[t] += u;
    __syncthreads();
  }
  int at = digit * 8 + warp;
  out[blockIdx.x * 256 + (at ? starts[at - 1] : 0) + before] = key;
}

KERNEL __launch_bounds__(256) bitonic(const int *in, int *out) {
  __shared__ int s[512];
  int t = threadIdx.x, base = blockIdx.x * 512;
  s[t] = in[base + t];
  s[t + 256] = in[base + t + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int stride = size / 2; stride; stride /= 2) {
      __syncthreads();
      int at = 2 * t - (t & (stride - 1)), a = s[at], b = s[at + stride];
      bool up = (at & size) == 0;
      if ((a > b) == up) s[at] = b, s[at + stride] = a;
    }
  __syncthreads();
  out[base + t] = s[t];
  out[base + t + 256] = s[t + 256];
}

// Two sorted lists become one: each thread finds the place of its eight results by bisection.
KERNEL merge(const int *a, const int *b, int *out, int n) {
  int first = index_x() * 8;
  if (first >= 2 * n) return;
  int low = first > n ? first - n : 0, high = first < n ? first : n;
  while (low < high) {
    int mid = (low + high) / 2;
    if (a[mid] <= b[first - 1 - mid]) low = mid + 1;
    else high = mid;
  }
  int i = low, j = first - low;
  for (int k = 0; k < 8; k++) {
    bool left = j >= n || (i < n && a[i] <= b[j]);
    out[first + k] = left ? a[i++] : b[j++];
  }
}

INLINE u32 mixed(u32 h) {
  h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}
// A hash table with linear probing; keys are not 0.
KERNEL hash_insert(const u32 *keys, u32 *table, u32 *values, u32 mask, int n) {
  int i = index_x();
  if (i >= n) return;
  u32 key = keys[i], at = mixed(key) & mask;
  for (;;) {
    u32 found = atomicCAS(&table[at], 0u, key);
    if (found == 0 || found == key) break;
    at = (at + 1) & mask;
  }
  atomicAdd(&values[at], key >> 3);
}
KERNEL hash_lookup(const u32 *keys, const u32 *table, const u32 *values, u32 *out, u32 mask, int n) {
  int i = index_x();
  if (i >= n) return;
  u32 key = keys[i], at = mixed(key) & mask, found, result = 0;
  while ((found = table[at]) != 0) {
    if (found == key) {
      result = values[at];
      break;
    }
    at = (at + 1) & mask;
  }
  out[i] = result;
}

// Largest element and its place, the first of equals; a row a block.
KERNEL argmax(const float *in, int *out, int n) {
  __shared__ float best[32];
  __shared__ int place[32];
  float v = -3.4e38f;
  int at = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float x = in[blockIdx.x * n + i];
    if (x > v) v = x, at = i;
  }
  for (int round = 0; round < 2; round++) {
    for (int m = 16; m; m >>= 1) {
      float other = SHFL_XOR(v, m);
      int where = SHFL_XOR(at, m);
      if (other > v || (other == v && where < at)) v = other, at = where;
    }
    if (round) break;
    if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = v, place[threadIdx.x / 32] = at;
    __syncthreads();
    bool used = threadIdx.x % 32 < blockDim.x / 32;
    v = used ? best[threadIdx.x % 32] : -3.4e38f, at = used ? place[threadIdx.x % 32] : 0x7fffffff;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = at;
}
