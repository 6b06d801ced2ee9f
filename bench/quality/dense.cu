// Dense linear algebra: vectors, products in tiles, matrix instructions, convolutions.
#include "both.h"

KERNEL vadd(const float *a, const float *b, float *c, int n) {
  int i = index_x();
  if (i < n) c[i] = a[i] + b[i];
}

KERNEL saxpy(float *y, const float *x, float a, int n) {
  FOR_GRID(i, n) y[i] = a * x[i] + y[i];
}

KERNEL half2axpy(__half2 *y, const __half2 *x, __half2 a, int n) {
  FOR_GRID(i, n) {
    __half2 v = x[i];
    y[i] = __hadd2(__hfma2(a, v, y[i]), __hmul2(v, __hadd2(v, a)));
  }
}

// C = alpha A B + beta C in tiles of 16 x 16, one element a thread.
template <class T> INLINE void tiled(const T *a, const T *b, T *c, int n, T alpha, T beta) {
  __shared__ T left[16][16], right[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = index_y(), col = index_x();
  T sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    left[ty][tx] = a[row * n + k0 + tx];
    right[ty][tx] = b[(k0 + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) sum += left[ty][k] * right[k][tx];
    __syncthreads();
  }
  c[row * n + col] = alpha * sum + beta * c[row * n + col];
}
KERNEL __launch_bounds__(256) sgemm16(const float *a, const float *b, float *c, int n, float alpha, float beta) {
  tiled(a, b, c, n, alpha, beta);
}
KERNEL __launch_bounds__(256) dgemm16(const double *a, const double *b, double *c, int n, double alpha, double beta) {
  tiled(a, b, c, n, alpha, beta);
}

// A tile of 64 x 64 a block of 64 threads: 8 x 8 elements a thread.
KERNEL __launch_bounds__(64) sgemm64(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
  __shared__ float left[8][64], right[8][64];
  int t = threadIdx.x, tx = t % 8 * 8, ty = t / 8 * 8, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float sums[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      left[i][t] = a[(row0 + t) * n + k0 + i];
      right[i][t] = b[(k0 + i) * n + col0 + t];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float x[8], y[8];
#pragma unroll
      for (int i = 0; i < 8; i++) x[i] = left[k][ty + i], y[i] = right[k][tx + i];
#pragma unroll
      for (int i = 0; i < 64; i++) sums[i / 8][i % 8] += x[i / 8] * y[i % 8];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 64; i++) c[(row0 + ty + i / 8) * n + col0 + tx + i % 8] = sums[i / 8][i % 8];
}

// Halves in, floats summed: 4 x 4 elements a thread of 16 x 16.
KERNEL __launch_bounds__(256) hgemm64(const __half *a, const __half *b, float *c, int n) {
  __shared__ __half left[16][66], right[16][66];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float sums[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int i = t; i < 1024; i += 256) {
      left[i % 16][i / 16] = a[(row0 + i / 16) * n + k0 + i % 16];
      right[i / 64][i % 64] = b[(k0 + i / 64) * n + col0 + i % 64];
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 16; k++)
#pragma unroll
      for (int i = 0; i < 16; i++)
        sums[i / 4][i % 4] += __half2float(left[k][ty * 4 + i / 4]) * __half2float(right[k][tx * 4 + i % 4]);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 16; i++) c[(row0 + ty * 4 + i / 4) * n + col0 + tx * 4 + i % 4] = sums[i / 4][i % 4];
}

// Products of complex numbers, a row a warp.
KERNEL cgemv(const float2 *a, const float2 *x, float2 *y, int n) {
  int row = index_x() / 32, lane = threadIdx.x % 32;
  float re = 0, im = 0;
  for (int k = lane; k < n; k += 32) {
    float2 p = a[row * n + k], q = x[k];
    re += p.x * q.x - p.y * q.y;
    im += p.x * q.y + p.y * q.x;
  }
  re = warp_sum(re), im = warp_sum(im);
  if (lane == 0) y[row] = make_float2(re, im);
}

KERNEL gemv(const float4 *a, const float4 *x, float *y, int n4) {
  int row = index_x() / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int k = lane; k < n4; k += 32) {
    float4 p = a[row * n4 + k], q = x[k];
    sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}

KERNEL __launch_bounds__(256) transpose(const float *in, float *out, int nx, int ny) {
  __shared__ float tile[32][33];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
  for (int j = 0; j < 32; j += 8)
    if (x < nx && y + j < ny) tile[ty + j][tx] = in[(y + j) * nx + x];
  __syncthreads();
  x = blockIdx.y * 32 + tx, y = blockIdx.x * 32 + ty;
  for (int j = 0; j < 32; j += 8)
    if (x < ny && y + j < nx) out[(y + j) * ny + x] = tile[tx][ty + j];
}

KERNEL dot8(const int *a, const int *b, int *c, int rows, int k) {
  int row = index_x();
  if (row >= rows) return;
  int sum = 0;
  for (int j = 0; j < k; j++) sum = DOT4(a[row * k + j], b[j], sum);
  c[row] = sum;
}

// Bytes in 32 x 32 tiles, four a step.
KERNEL __launch_bounds__(256) igemm(const int *a, const int *b, int *c, int n, int k4) {
  __shared__ int left[32][9], right[32][9];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  int sums[2][2] = {};
  for (int k0 = 0; k0 < k4; k0 += 8) {
    left[t / 8][t % 8] = a[(row0 + t / 8) * k4 + k0 + t % 8];
    right[t / 8][t % 8] = b[(col0 + t / 8) * k4 + k0 + t % 8];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        sums[i / 2][i % 2] = DOT4(left[ty * 2 + i / 2][k], right[tx * 2 + i % 2][k], sums[i / 2][i % 2]);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++) c[(row0 + ty * 2 + i / 2) * n + col0 + tx * 2 + i % 2] = sums[i / 2][i % 2];
}

// A warp of CUDA or a wave of HIP makes 16 x 16 of C = A B, halves in, floats out.
#if !defined(__HIP__)
KERNEL __launch_bounds__(128) wmma(const __half *a, const __half *b, float *c, int n) {
  using namespace nvcuda::wmma;
  int tile = index_x() / 32, row = tile / (n / 16) * 16, col = tile % (n / 16) * 16;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.0f);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(fa, a + row * n + k, n);
    load_matrix_sync(fb, b + k * n + col, n);
    mma_sync(fc, fa, fb, fc);
  }
  store_matrix_sync(c + row * n + col, fc, n, mem_row_major);
}
#elif defined(__HIP_DEVICE_COMPILE__) && !defined(__gfx1030__)
#if defined(__GFX9__)
enum { WAVE = 64, EACH = 4, SUMS = 4, SPREAD = 1 };
#define PRODUCT __builtin_amdgcn_mfma_f32_16x16x16f16
#elif defined(__GFX11__)
enum { WAVE = 32, EACH = 16, SUMS = 8, SPREAD = 2 };
#define PRODUCT __builtin_amdgcn_wmma_f32_16x16x16_f16_w32
#else
enum { WAVE = 32, EACH = 8, SUMS = 8, SPREAD = 1 };
#define PRODUCT __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12
#endif
typedef _Float16 halves __attribute__((ext_vector_type(EACH)));
typedef float floats __attribute__((ext_vector_type(SUMS)));
KERNEL __launch_bounds__(4 * WAVE) wmma(const _Float16 *a, const _Float16 *b, float *c, int n) {
  int lane = threadIdx.x % WAVE, tile = index_x() / WAVE, row = tile / (n / 16) * 16, col = tile % (n / 16) * 16;
  int k0 = EACH == 16 ? 0 : lane / 16 * EACH, at = lane % 16, row0 = lane / 16 * (SPREAD == 2 ? 1 : SUMS);
  floats sums = {};
  for (int k = 0; k < n; k += 16) {
    halves fa = *(const halves *)(a + (row + at) * n + k + k0), fb;
    for (int i = 0; i < EACH; i++) fb[i] = b[(k + k0 + i) * n + col + at];
#if defined(__GFX9__)
    sums = PRODUCT(fa, fb, sums, 0, 0, 0);
#else
    sums = PRODUCT(fa, fb, sums);
#endif
  }
  for (int i = 0; i < SUMS; i++) c[(row + SPREAD * i + row0) * n + col + at] = sums[i];
}
#endif

// 3 x 3 convolution: channels of an image times filters in constant order, one output a thread.
KERNEL conv3x3(const float *__restrict__ in, const float *__restrict__ filter, float *__restrict__ out, int w, int h, int channels) {
  int x = index_x(), y = index_y(), k = blockIdx.z;
  if (x >= w - 2 || y >= h - 2) return;
  float sum = 0;
  for (int c = 0; c < channels; c++)
#pragma unroll
    for (int i = 0; i < 9; i++)
      sum += in[(c * h + y + i / 3) * w + x + i % 3] * filter[(k * channels + c) * 9 + i];
  out[(k * (h - 2) + y) * (w - 2) + x] = sum;
}

// A filter of its own for each channel, the tile with its border in shared memory.
KERNEL __launch_bounds__(256) depthwise(const float *in, const float *filter, float *out, int w, int h) {
  __shared__ float tile[18][18];
  int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 16, y0 = blockIdx.y * 16, c = blockIdx.z;
  for (int i = ty * 16 + tx; i < 324; i += 256) {
    int x = x0 + i % 18 - 1, y = y0 + i / 18 - 1;
    tile[i / 18][i % 18] = x >= 0 && y >= 0 && x < w && y < h ? in[(c * h + y) * w + x] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 9; i++) sum += tile[ty + i / 3][tx + i % 3] * filter[c * 9 + i];
  out[(c * h + y0 + ty) * w + x0 + tx] = sum;
}
