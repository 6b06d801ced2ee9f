// Neural networks: normalisations, attention, routing, quantised products, an optimiser.
#include "both.h"

KERNEL softmax(const float *in, float *out, int n) {
  __shared__ float part[32];
  const float *row = in + (size_t)blockIdx.x * n;
  float *to = out + (size_t)blockIdx.x * n;
  float most = -3.4e38f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
  most = block_max(most, part);
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
  sum = block_sum(sum, part);
  for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = expf(row[i] - most) / sum;
}

INLINE float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

KERNEL layernorm(const float4 *in, const float4 *gamma, const float4 *beta, float4 *out, int n4) {
  __shared__ float part[32];
  const float4 *row = in + (size_t)blockIdx.x * n4;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < n4; i += blockDim.x) {
    float4 v = row[i];
    s += v.x + v.y + v.z + v.w;
    q += dot(v, v);
  }
  float mean = block_sum(s, part) / (4 * n4), var = block_sum(q, part) / (4 * n4) - mean * mean;
  float r = 1.0f / sqrtf(var + 1e-5f);
  for (int i = threadIdx.x; i < n4; i += blockDim.x) {
    float4 v = row[i], g = gamma[i], b = beta[i];
    v.x = (v.x - mean) * r * g.x + b.x;
    v.y = (v.y - mean) * r * g.y + b.y;
    v.z = (v.z - mean) * r * g.z + b.z;
    v.w = (v.w - mean) * r * g.w + b.w;
    out[(size_t)blockIdx.x * n4 + i] = v;
  }
}

KERNEL rmsnorm(const __half *in, const float *weight, __half *out, int n) {
  __shared__ float part[32];
  float q = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = __half2float(in[blockIdx.x * n + i]);
    q += v * v;
  }
  float r = rsqrtf(block_sum(q, part) / n + 1e-6f);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = __float2half(__half2float(in[blockIdx.x * n + i]) * r * weight[i]);
}

KERNEL gelu(const float4 *in, float4 *out, int n4) {
  FOR_GRID(i, n4) {
    float4 v = in[i];
    float x[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; k++) x[k] = 0.5f * x[k] * (1.0f + tanhf(0.79788456f * (x[k] + 0.044715f * x[k] * x[k] * x[k])));
    out[i] = make_float4(x[0], x[1], x[2], x[3]);
  }
}

// SwiGLU: silu of one half of a row times the other half.
KERNEL swiglu(const float *in, float *out, int n) {
  int i = index_x(), row = blockIdx.y;
  if (i >= n) return;
  float gate = in[row * 2 * n + i], up = in[row * 2 * n + n + i];
  out[row * n + i] = gate / (1.0f + expf(-gate)) * up;
}

// Rotary embedding: pairs of elements turn by an angle that depends on their place.
KERNEL rope(const float2 *in, float2 *out, int pairs, float base) {
  int i = index_x(), position = blockIdx.y;
  if (i >= pairs) return;
  float angle = position * exp2f(-base * i / pairs), s, c;
  sincosf(angle, &s, &c);
  float2 v = in[position * pairs + i];
  out[position * pairs + i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

// Attention, a row of Q of 32 a thread; K and V come in tiles of 32 rows.
KERNEL __launch_bounds__(64) flash(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                                   float *__restrict__ out, int n, float scale) {
  __shared__ float keys[32][32], values[32][32];
  int t = threadIdx.x, row = blockIdx.x * 64 + t;
  float mine[32], sums[32] = {}, most = -3.4e38f, total = 0;
#pragma unroll
  for (int d = 0; d < 32; d++) mine[d] = q[row * 32 + d] * scale;
  for (int j0 = 0; j0 < n; j0 += 32) {
    __syncthreads();
    for (int i = t; i < 1024; i += 64) keys[i / 32][i % 32] = k[j0 * 32 + i], values[i / 32][i % 32] = v[j0 * 32 + i];
    __syncthreads();
    for (int j = 0; j < 32; j++) {
      float s = 0;
#pragma unroll
      for (int d = 0; d < 32; d++) s += mine[d] * keys[j][d];
      float higher = fmaxf(most, s), old = expf(most - higher), p = expf(s - higher);
      total = total * old + p;
      most = higher;
#pragma unroll
      for (int d = 0; d < 32; d++) sums[d] = sums[d] * old + p * values[j][d];
    }
  }
#pragma unroll
  for (int d = 0; d < 32; d++) out[row * 32 + d] = sums[d] / total;
}

// The gradient of Q: dQ = sum over j of P (dO . V - delta) K, with P from the saved maximum and sum.
KERNEL __launch_bounds__(64) flash_back(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                                        const float *__restrict__ grad, const float2 *__restrict__ saved,
                                        float *__restrict__ out, int n, float scale) {
  __shared__ float keys[16][32], values[16][32];
  int t = threadIdx.x, row = blockIdx.x * 64 + t;
  float mine[32], g[32], sums[32] = {};
#pragma unroll
  for (int d = 0; d < 32; d++) mine[d] = q[row * 32 + d] * scale, g[d] = grad[row * 32 + d];
  float2 state = saved[row];   // the logarithm of the sum, and delta
  for (int j0 = 0; j0 < n; j0 += 16) {
    __syncthreads();
    for (int i = t; i < 512; i += 64) keys[i / 32][i % 32] = k[j0 * 32 + i], values[i / 32][i % 32] = v[j0 * 32 + i];
    __syncthreads();
    for (int j = 0; j < 16; j++) {
      float s = 0, dp = 0;
#pragma unroll
      for (int d = 0; d < 32; d++) s += mine[d] * keys[j][d], dp += g[d] * values[j][d];
      float ds = expf(s - state.x) * (dp - state.y) * scale;
#pragma unroll
      for (int d = 0; d < 32; d++) sums[d] += ds * keys[j][d];
    }
  }
#pragma unroll
  for (int d = 0; d < 32; d++) out[row * 32 + d] = sums[d];
}

// Routing of mixture-of-experts: the two best of 32 experts for a token, by a warp, and their shares.
KERNEL moe_route(const float *scores, int *experts, float *shares) {
  int token = index_x() / 32, lane = threadIdx.x % 32;
  float mine = scores[token * 32 + lane], best[2];
  int which[2];
  for (int k = 0; k < 2; k++) {
    float v = mine;
    int at = lane;
    for (int m = 16; m; m >>= 1) {
      float other = SHFL_XOR(v, m);
      int where = SHFL_XOR(at, m);
      if (other > v || (other == v && where < at)) v = other, at = where;
    }
    best[k] = v, which[k] = at;
    if (lane == at) mine = -3.4e38f;
  }
  float second = expf(best[1] - best[0]);
  if (lane < 2) {
    experts[token * 2 + lane] = which[lane];
    shares[token * 2 + lane] = (lane ? second : 1.0f) / (1.0f + second);
  }
}

KERNEL embedding(const int *tokens, const float4 *table, float4 *out, int n4) {
  int token = tokens[blockIdx.x];
  for (int i = threadIdx.x; i < n4; i += blockDim.x) out[blockIdx.x * n4 + i] = table[token * n4 + i];
}

KERNEL adam(float *weights, const float *grads, float *m, float *v, float rate, float b1, float b2, float eps, int n) {
  int i = index_x();
  if (i >= n) return;
  float g = grads[i], a = b1 * m[i] + (1.0f - b1) * g, b = b2 * v[i] + (1.0f - b2) * g * g;
  m[i] = a, v[i] = b;
  weights[i] -= rate * a / (sqrtf(b) + eps);
}

KERNEL cross_entropy(const float *logits, const int *labels, float *loss, int n) {
  int row = index_x() / 32, lane = threadIdx.x % 32;
  float most = -3.4e38f, sum = 0;
  for (int i = lane; i < n; i += 32) most = fmaxf(most, logits[row * n + i]);
  most = warp_max(most);
  for (int i = lane; i < n; i += 32) sum += expf(logits[row * n + i] - most);
  sum = warp_sum(sum);
  if (lane == 0) loss[row] = logf(sum) + most - logits[row * n + labels[row]];
}

KERNEL maxpool(const float *in, float *out, int w, int h) {
  int x = index_x(), y = index_y(), c = blockIdx.z;
  if (x >= w / 2 || y >= h / 2) return;
  float v = -3.4e38f;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++) {
      int px = 2 * x + i, py = 2 * y + j;
      if (px >= 0 && py >= 0 && px < w && py < h) v = fmaxf(v, in[(c * h + py) * w + px]);
    }
  out[(c * (h / 2) + y) * (w / 2) + x] = v;
}

// Blocks of 32 numbers as bytes with a common scale, as in llama.cpp's q8_0: a warp a block.
KERNEL quantise8(const float *in, signed char *bytes, float *scales) {
  int i = index_x();
  float v = in[i], most = warp_max(fabsf(v)), scale = most / 127.0f;
  bytes[i] = most == 0.0f ? 0 : (signed char)rintf(v / scale);
  if (i % 32 == 0) scales[i / 32] = scale;
}
KERNEL q8_matvec(const int *a, const float *scales, const int *x, const float *x_scales, float *y, int blocks) {
  int row = index_x() / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int b = lane / 4; b < blocks; b += 8) {
    const int *p = a + (row * blocks + b) * 8 + lane % 4 * 2, *q = x + b * 8 + lane % 4 * 2;
    int d = DOT4(p[1], q[1], DOT4(p[0], q[0], 0));
    sum += d * scales[row * blocks + b] * x_scales[b];
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}
// Nibbles less 8, of which a word has eight: the low ones are elements 0-3, the high ones 16-19 of a block of 32.
KERNEL q4_matvec(const int *a, const float *scales, const int *x, const float *x_scales, float *y, int blocks) {
  int row = index_x() / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int b = lane / 4; b < blocks; b += 8) {
    int w = a[(row * blocks + b) * 4 + lane % 4];
    int low = x[b * 8 + lane % 4], high = x[b * 8 + 4 + lane % 4];
    int d = DOT4(w & 0x0f0f0f0f, low, DOT4(w >> 4 & 0x0f0f0f0f, high, 0));
    int shift = DOT4(0x08080808, low, DOT4(0x08080808, high, 0));
    sum += (d - shift) * scales[row * blocks + b] * x_scales[b];
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}
