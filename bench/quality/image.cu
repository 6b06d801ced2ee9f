// Images and rays.
#include "both.h"

INLINE int clamped(int v, int n) { return min(max(v, 0), n - 1); }

KERNEL sobel(const u8 *in, u8 *out, int w, int h) {
  int x = index_x(), y = index_y();
  if (x >= w || y >= h) return;
  int p[9];
#pragma unroll
  for (int i = 0; i < 9; i++) p[i] = in[clamped(y + i / 3 - 1, h) * w + clamped(x + i % 3 - 1, w)];
  int gx = p[2] - p[0] + 2 * (p[5] - p[3]) + p[8] - p[6], gy = p[6] - p[0] + 2 * (p[7] - p[1]) + p[8] - p[2];
  out[y * w + x] = min(abs(gx) + abs(gy), 255);
}

KERNEL bilateral(const float *in, float *out, int w, int h, float space, float range) {
  int x = index_x(), y = index_y();
  if (x >= w || y >= h) return;
  float center = in[y * w + x], sum = 0, total = 0;
  for (int j = -2; j <= 2; j++)
    for (int i = -2; i <= 2; i++) {
      float v = in[clamped(y + j, h) * w + clamped(x + i, w)], d = v - center;
      float weight = expf(-space * (i * i + j * j) - range * d * d);
      sum += weight * v, total += weight;
    }
  out[y * w + x] = sum / total;
}

INLINE void order(u8 &a, u8 &b) {
  u8 low = min(a, b);
  b = max(a, b), a = low;
}
// The median of nine, by exchanges.
KERNEL median(const u8 *in, u8 *out, int w, int h) {
  int x = index_x(), y = index_y();
  if (x >= w || y >= h) return;
  u8 p[9];
#pragma unroll
  for (int i = 0; i < 9; i++) p[i] = in[clamped(y + i / 3 - 1, h) * w + clamped(x + i % 3 - 1, w)];
#pragma unroll
  for (int i = 0; i < 5; i++)
#pragma unroll
    for (int k = i + 1; k < 9; k++) order(p[i], p[k]);
  out[y * w + x] = p[4];
}

// A blur of 17 pixels along rows, whose part of the row is in shared memory.
KERNEL __launch_bounds__(128) blur(const float *in, const float *weights, float *out, int w) {
  __shared__ float row[144];
  int x0 = blockIdx.x * 128, t = threadIdx.x, base = blockIdx.y * w;
  for (int i = t; i < 144; i += 128) row[i] = in[base + clamped(x0 + i - 8, w)];
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int k = 0; k < 17; k++) s += weights[k] * row[t + k];
  out[base + x0 + t] = s;
}

KERNEL resize(const uchar4 *in, uchar4 *out, int w, int h, int to_w, int to_h, float sx, float sy) {
  int x = index_x(), y = index_y();
  if (x >= to_w || y >= to_h) return;
  float fx = fmaxf((x + 0.5f) * sx - 0.5f, 0.0f), fy = fmaxf((y + 0.5f) * sy - 0.5f, 0.0f);
  int x0 = (int)fx, y0 = (int)fy, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
  float ax = fx - x0, ay = fy - y0;
  uchar4 a = in[y0 * w + x0], b = in[y0 * w + x1], c = in[y1 * w + x0], d = in[y1 * w + x1], r;
#define MIX(m) (u8)((a.m * (1 - ax) + b.m * ax) * (1 - ay) + (c.m * (1 - ax) + d.m * ax) * ay + 0.5f)
  r.x = MIX(x), r.y = MIX(y), r.z = MIX(z), r.w = MIX(w);
  out[y * to_w + x] = r;
}

// RGB to luma and chroma in integers, four pixels a thread.
KERNEL yuv(const u8 *in, u8 *out, int n) {
  int i = index_x() * 4;
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int r = in[3 * (i + k)], g = in[3 * (i + k) + 1], b = in[3 * (i + k) + 2];
    out[i + k] = (66 * r + 129 * g + 25 * b + 128 >> 8) + 16;
    out[n + i + k] = (-38 * r - 74 * g + 112 * b + 128 >> 8) + 128;
    out[2 * n + i + k] = (112 * r - 94 * g - 18 * b + 128 >> 8) + 128;
  }
}

INLINE float3 cross(float3 a, float3 b) { return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
INLINE float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE float3 less(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
INLINE float3 xyz(const float4 &v) { return make_float3(v.x, v.y, v.z); }
// The nearest triangle that a ray meets, by Moller and Trumbore's method.
KERNEL triangles(const float4 *from, const float4 *to, const float4 *corners, int count, float *out, int rays) {
  int i = index_x();
  if (i >= rays) return;
  float3 o = xyz(from[i]), d = xyz(to[i]);
  float nearest = 1e30f;
  for (int k = 0; k < count; k++) {
    float3 a = xyz(corners[3 * k]), e = less(xyz(corners[3 * k + 1]), a), f = less(xyz(corners[3 * k + 2]), a), p = cross(d, f);
    float det = dot(e, p);
    if (fabsf(det) < 1e-6f) continue;
    float inv = 1.0f / det;
    float3 s = less(o, a), q = cross(s, e);
    float u = dot(s, p) * inv, v = dot(d, q) * inv, t = dot(f, q) * inv;
    if (u >= 0 && v >= 0 && u + v <= 1 && t > 0 && t < nearest) nearest = t;
  }
  out[i] = nearest;
}
