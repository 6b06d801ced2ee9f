// Kernels for the translation benchmark. SIZE (1, 2, ...) scales how many instances and how long their
// unrolled bodies are: ordinary CUDA code of several kinds, not repeated copies of one.
#include <cstdint>

template <int TILE, int STEP>
__device__ void matmul_tile(const float *a, const float *b, float *c, int n) {
  __shared__ float sa[16][16 * 4], sb[16][16 * 4];
  float acc[TILE][TILE] = {};
  int tx = threadIdx.x, ty = threadIdx.y;
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int i = 0; i < 4; i++) {
      sa[ty][tx + 16 * i] = a[(blockIdx.y * 64 + tx + 16 * i) * n + k0 + ty];
      sb[ty][tx + 16 * i] = b[(k0 + ty) * n + blockIdx.x * 64 + tx + 16 * i];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < STEP; k++)
#pragma unroll
      for (int i = 0; i < TILE; i++)
#pragma unroll
        for (int j = 0; j < TILE; j++) acc[i][j] += sa[k][ty * TILE + i & 63] * sb[k][tx * TILE + j & 63];
    __syncthreads();
  }
  for (int i = 0; i < TILE; i++)
    for (int j = 0; j < TILE; j++) c[(blockIdx.y * 64 + ty * TILE + i) * n + blockIdx.x * 64 + tx * TILE + j] = acc[i][j];
}

template <int ROUNDS>
__device__ void hash(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t w[16], a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f;
#pragma unroll
  for (int k = 0; k < 16; k++) w[k] = in[i * 16 + k];
#pragma unroll
  for (int r = 0; r < ROUNDS; r++) {
    uint32_t s = w[r & 15];
    uint32_t t = e + ((a >> 6 | a << 26) ^ (a >> 11 | a << 21)) + ((a & b) ^ (~a & c)) + s + 0x428a2f98u * r;
    w[r & 15] = s + (w[(r + 1) & 15] >> 7 ^ w[(r + 14) & 15] >> 17) + w[(r + 9) & 15];
    e = d; d = c; c = b; b = a; a = t + (b & c | d & b);
  }
  out[i] = a ^ b ^ c ^ d ^ e;
}

template <int BODIES>
__device__ void forces(const float4 *p, float4 *f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = p[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; j += BODIES)
#pragma unroll
    for (int k = 0; k < BODIES; k++) {
      float4 o = p[j + k];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      float d2 = dx * dx + dy * dy + dz * dz + 1e-3f;
      float inv = k & 1 ? rsqrtf(d2) : 1.0f / sqrtf(d2);
      if (d2 < me.w * (k + 1)) { x += dx * inv; y += dy * inv * expf(-d2); z += dz * inv; }
    }
  f[i] = make_float4(x, y, z, sinf(x) + logf(y * y + 1.0f) + powf(z * z + 0.5f, 1.5f));
}

template <typename T, int WIDTH>
__device__ void stencil(const T *in, T *out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  T sum = 0;
#pragma unroll
  for (int dy = -WIDTH; dy <= WIDTH; dy++)
#pragma unroll
    for (int dx = -WIDTH; dx <= WIDTH; dx++) {
      int xx = x + dx, yy = y + dy;
      if (xx >= 0 && xx < nx && yy >= 0 && yy < ny) sum += in[yy * nx + xx] * T(1.0 / (1 + dx * dx + dy * dy));
    }
  out[y * nx + x] = sum;
}

template <int N>
__device__ void reduce(const int *in, int *out, int n) {
  __shared__ int part[32];
  int v[N], lane = threadIdx.x & 31, total = 0;
#pragma unroll
  for (int k = 0; k < N; k++) v[k] = in[(blockIdx.x * N + k) * blockDim.x + threadIdx.x];
#pragma unroll
  for (int k = 0; k < N; k++) {
#pragma unroll
    for (int m = 16; m; m >>= 1) v[k] = max(v[k], v[k] + __shfl_xor_sync(~0u, v[k], m));
    if (lane == 0) part[threadIdx.x >> 5] = v[k];
    __syncthreads();
    total += part[lane] * (int)__popc(__ballot_sync(~0u, v[k] > n)) + v[k] / n;
    __syncthreads();
  }
  atomicAdd(out, total);
}

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define KERNELS(N)                                                                                       \
  extern "C" __global__ void CAT(matmul_, N)(const float *a, const float *b, float *c, int n) {         \
    matmul_tile<4, N % 3 * 4 + 4>(a, b, c, n);                                                            \
  }                                                                                                      \
  extern "C" __global__ void CAT(hash_, N)(const uint32_t *in, uint32_t *out, int n) {                  \
    hash<64 + 8 * N>(in, out, n);                                                                        \
  }                                                                                                      \
  extern "C" __global__ void CAT(forces_, N)(const float4 *p, float4 *f, int n) { forces<N + 2>(p, f, n); } \
  extern "C" __global__ void CAT(stencil_, N)(const float *in, float *out, int nx, int ny) {            \
    stencil<float, 1 + N % 4>(in, out, nx, ny);                                                           \
  }                                                                                                      \
  extern "C" __global__ void CAT(stencil64_, N)(const double *in, double *out, int nx, int ny) {        \
    stencil<double, 1 + N % 3>(in, out, nx, ny);                                                          \
  }                                                                                                      \
  extern "C" __global__ void CAT(reduce_, N)(const int *in, int *out, int n) { reduce<N + 1>(in, out, n); }

KERNELS(1)
#if SIZE >= 2
KERNELS(2) KERNELS(3) KERNELS(4)
#endif
#if SIZE >= 3
KERNELS(5) KERNELS(6) KERNELS(7) KERNELS(8) KERNELS(9)
#endif
#if SIZE >= 4
KERNELS(10) KERNELS(11) KERNELS(12)
#endif
