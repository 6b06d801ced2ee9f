// Stencils, particles, finance, transforms.
#include "both.h"

KERNEL stencil2d(const float *in, float *out, int nx, int ny) {
  int x = index_x(), y = index_y();
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  float s = 0.25f * in[y * nx + x] + 0.125f * (in[y * nx + x - 1] + in[y * nx + x + 1] + in[(y - 1) * nx + x] + in[(y + 1) * nx + x]);
  s += 0.0625f * (in[(y - 1) * nx + x - 1] + in[(y - 1) * nx + x + 1] + in[(y + 1) * nx + x - 1] + in[(y + 1) * nx + x + 1]);
  out[y * nx + x] = s;
}

// Seven points, marching in z.
KERNEL stencil3d(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz, float c0, float c1) {
  int x = index_x(), y = index_y();
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int at = y * nx + x, plane = nx * ny;
  float below = in[at], here = in[at + plane];
  for (int z = 1; z < nz - 1; z++) {
    int i = z * plane + at;
    float above = in[i + plane];
    out[i] = c0 * here + c1 * (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
    below = here, here = above;
  }
}

// Four Jacobi steps of a tile in shared memory, whose border stays.
KERNEL __launch_bounds__(256) jacobi(const float *in, float *out, int n) {
  __shared__ float a[16][17], b[16][17];
  int tx = threadIdx.x, ty = threadIdx.y, at = index_y() * n + index_x();
  bool inner = tx > 0 && ty > 0 && tx < 15 && ty < 15;
  a[ty][tx] = b[ty][tx] = in[at];
  __syncthreads();
  for (int step = 0; step < 4; step += 2) {
    if (inner) b[ty][tx] = 0.25f * (a[ty][tx - 1] + a[ty][tx + 1] + a[ty - 1][tx] + a[ty + 1][tx]);
    __syncthreads();
    if (inner) a[ty][tx] = 0.25f * (b[ty][tx - 1] + b[ty][tx + 1] + b[ty - 1][tx] + b[ty + 1][tx]);
    __syncthreads();
  }
  out[at] = a[ty][tx];
}

// The wave equation with eight neighbours in each direction of a line.
KERNEL wave8(const double *now, const double *before, double *next, int n, double c) {
  int x = index_x() + 8;
  if (x >= n - 8) return;
  double s = -2.0 * now[x];
#pragma unroll
  for (int k = 1; k <= 8; k++) s += (now[x - k] + now[x + k]) / (k * k);
  next[x] = 2.0 * now[x] - before[x] + c * s;
}

KERNEL nbody(const float4 *p, float4 *f, int n) {
  __shared__ float4 tile[128];
  int i = index_x();
  float4 me = p[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; j += 128) {
    tile[threadIdx.x] = p[j + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 128; k++) {
      float4 o = tile[k];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, d2 = dx * dx + dy * dy + dz * dz + 1e-3f;
      float inv = rsqrtf(d2), s = o.w * inv * inv * inv;
      x += dx * s, y += dy * s, z += dz * s;
    }
    __syncthreads();
  }
  f[i] = make_float4(x, y, z, 0);
}

// Lennard-Jones forces from lists of neighbours, in a periodic box.
KERNEL lennard_jones(const float4 *p, const int *neighbours, float4 *f, int n, int most, float box, float cut2) {
  int i = index_x();
  if (i >= n) return;
  float4 me = p[i];
  float x = 0, y = 0, z = 0, energy = 0;
  for (int k = 0; k < most; k++) {
    int j = neighbours[k * n + i];
    if (j < 0) break;
    float4 o = p[j];
    float dx = me.x - o.x, dy = me.y - o.y, dz = me.z - o.z;
    dx -= box * rintf(dx / box), dy -= box * rintf(dy / box), dz -= box * rintf(dz / box);
    float d2 = dx * dx + dy * dy + dz * dz;
    if (d2 < cut2) {
      float r2 = 1.0f / d2, r6 = r2 * r2 * r2, s = 24.0f * r2 * r6 * (2.0f * r6 - 1.0f);
      x += s * dx, y += s * dy, z += s * dz, energy += 4.0f * r6 * (r6 - 1.0f);
    }
  }
  f[i] = make_float4(x, y, z, energy);
}

INLINE float cnd(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float v = 0.39894228f * expf(-0.5f * d * d) * tail;
  return d > 0 ? 1.0f - v : v;
}
KERNEL blackscholes(const float *s, const float *x, const float *t, float *call, float *put, float r, float v, int n) {
  int i = index_x();
  if (i >= n) return;
  float root = sqrtf(t[i]), d1 = (logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i]) / (v * root), d2 = d1 - v * root;
  float c1 = cnd(d1), c2 = cnd(d2), e = expf(-r * t[i]);
  call[i] = s[i] * c1 - x[i] * e * c2;
  put[i] = x[i] * e * (1.0f - c2) - s[i] * (1.0f - c1);
}

// Philox: ten rounds of a counter-based random generator; how many of its points are in a circle.
KERNEL montecarlo(u32 *hits, int rounds, u32 seed) {
  u32 count = 0, i = index_x();
  for (int j = 0; j < rounds; j++) {
    u32 c[4] = {i, (u32)j, 0, 0}, k0 = seed, k1 = 0;
#pragma unroll
    for (int round = 0; round < 10; round++) {
      u64 a = (u64)0xD2511F53u * c[0], b = (u64)0xCD9E8D57u * c[2];
      u32 c1 = c[1], c3 = c[3];
      c[0] = (u32)(b >> 32) ^ c1 ^ k0, c[1] = (u32)b, c[2] = (u32)(a >> 32) ^ c3 ^ k1, c[3] = (u32)a;
      k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    for (int p = 0; p < 4; p += 2) {
      float x = (c[p] >> 8) * (1.0f / 16777216.0f), y = (c[p + 1] >> 8) * (1.0f / 16777216.0f);
      count += x * x + y * y < 1.0f;
    }
  }
  hits[i] = count;
}

// Paths of an option's price by Box and Muller's method.
KERNEL asian(const float2 *uniform, float *out, int n, int steps, float s0, float drift, float sigma) {
  int i = index_x();
  if (i >= n) return;
  float s = s0, sum = 0;
  for (int k = 0; k < steps; k++) {
    float2 u = uniform[k * n + i];
    float normal = sqrtf(-2.0f * logf(u.x)) * cosf(6.2831853f * u.y);
    s *= expf(drift + sigma * normal);
    sum += s;
  }
  out[i] = sum / steps;
}

INLINE float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
INLINE float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
INLINE float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

// Stockham's passes of radix 4 and 8: in has n elements, groups of p are done.
KERNEL fft4(const float2 *in, float2 *out, const float2 *tw, int n, int p) {
  int i = index_x(), q = n / 4, k = i & (p - 1);
  if (i >= q) return;
  float2 v[4];
#pragma unroll
  for (int j = 0; j < 4; j++) v[j] = times(in[i + j * q], tw[j * k * (q / p)]);
  float2 a = plus(v[0], v[2]), b = minus(v[0], v[2]), c = plus(v[1], v[3]), d = minus(v[1], v[3]);
  d = make_float2(d.y, -d.x);
  int o = (i - k) * 4 + k;
  out[o] = plus(a, c);
  out[o + p] = plus(b, d);
  out[o + 2 * p] = minus(a, c);
  out[o + 3 * p] = minus(b, d);
}
KERNEL fft8(const float2 *in, float2 *out, const float2 *tw, int n, int p) {
  int i = index_x(), q = n / 8, k = i & (p - 1);
  if (i >= q) return;
  float2 v[8], w[8];
#pragma unroll
  for (int j = 0; j < 8; j++) v[j] = times(in[i + j * q], tw[j * k * (q / p)]);
  const float h = 0.70710678f;
#pragma unroll
  for (int j = 0; j < 4; j++) w[j] = plus(v[j], v[j + 4]), w[j + 4] = minus(v[j], v[j + 4]);
  w[5] = make_float2(h * (w[5].x + w[5].y), h * (w[5].y - w[5].x));
  w[6] = make_float2(w[6].y, -w[6].x);
  w[7] = make_float2(h * (w[7].y - w[7].x), -h * (w[7].x + w[7].y));
  int o = (i - k) * 8 + k;
#pragma unroll
  for (int j = 0; j < 2; j++) {
    float2 *x = w + 4 * j, a = plus(x[0], x[2]), b = minus(x[0], x[2]), c = plus(x[1], x[3]), d = minus(x[1], x[3]);
    d = make_float2(d.y, -d.x);
    out[o + j * p] = plus(a, c);
    out[o + (j + 2) * p] = plus(b, d);
    out[o + (j + 4) * p] = minus(a, c);
    out[o + (j + 6) * p] = minus(b, d);
  }
}
// A whole transform of 256 elements a block of 64 threads: four passes of radix 4 through shared memory.
KERNEL __launch_bounds__(64) fft256(const float2 *in, float2 *out, const float2 *tw) {
  __shared__ float2 s[256];
  int t = threadIdx.x;
  float2 v[4];
#pragma unroll
  for (int j = 0; j < 4; j++) v[j] = in[blockIdx.x * 256 + t + 64 * j];
#pragma unroll
  for (int p = 1; p < 256; p *= 4) {
    int k = t & (p - 1), o = (t - k) * 4 + k;
    if (p > 1) {
#pragma unroll
      for (int j = 1; j < 4; j++) v[j] = times(v[j], tw[j * k * (64 / p)]);
    }
    float2 a = plus(v[0], v[2]), b = minus(v[0], v[2]), c = plus(v[1], v[3]), d = minus(v[1], v[3]);
    d = make_float2(d.y, -d.x);
    __syncthreads();
    s[o] = plus(a, c), s[o + p] = plus(b, d), s[o + 2 * p] = minus(a, c), s[o + 3 * p] = minus(b, d);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; j++) v[j] = s[t + 64 * j];
  }
#pragma unroll
  for (int j = 0; j < 4; j++) out[blockIdx.x * 256 + t + 64 * j] = v[j];
}

KERNEL mandelbrot(int *out, int w, int h, int limit) {
  int i = index_x();
  if (i >= w * h) return;
  float cx = -2.0f + 3.0f * (i % w) / w, cy = -1.5f + 3.0f * (i / w) / h, x = 0, y = 0;
  int k = 0;
  while (k < limit && x * x + y * y < 4.0f) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    k++;
  }
  out[i] = k;
}

// Lattice Boltzmann in two dimensions with nine speeds: streaming by gather, and collision.
KERNEL lbm(const float *in, float *out, int nx, int ny, float omega) {
  int x = index_x(), y = index_y(), n = nx * ny;
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const float w[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
  float f[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int k = 0; k < 9; k++) {
    f[k] = in[k * n + (y - cy[k] + ny) % ny * nx + (x - cx[k] + nx) % nx];
    rho += f[k], ux += cx[k] * f[k], uy += cy[k] * f[k];
  }
  ux /= rho, uy /= rho;
  float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int k = 0; k < 9; k++) {
    float cu = 3.0f * (cx[k] * ux + cy[k] * uy);
    out[k * n + y * nx + x] = f[k] + omega * (w[k] * rho * (1.0f + cu + 0.5f * cu * cu - square) - f[k]);
  }
}

// Thomas's method for tridiagonal systems, one a thread, interleaved.
KERNEL thomas(const float *a, const float *b, const float *c, float *d, float *cp, int n, int systems) {
  int s = index_x();
  if (s >= systems) return;
  float last_c = c[s] / b[s], last_d = d[s] / b[s];
  cp[s] = last_c, d[s] = last_d;
  for (int i = 1; i < n; i++) {
    int at = i * systems + s;
    float m = 1.0f / (b[at] - a[at] * last_c);
    last_c = c[at] * m;
    last_d = (d[at] - a[at] * last_d) * m;
    cp[at] = last_c, d[at] = last_d;
  }
  for (int i = n - 2; i >= 0; i--) {
    int at = i * systems + s;
    last_d = d[at] - cp[at] * last_d;
    d[at] = last_d;
  }
}
