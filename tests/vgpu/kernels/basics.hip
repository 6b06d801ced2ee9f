// Element-wise kernels, indices, private memory, arguments.
GLOBAL void vector_add(const float *a, const float *b, float *c, int n) {
  int i = BX * NX + TX;
  if (i < n) c[i] = a[i] + b[i];
}
GLOBAL void grid_stride(double *y, const double *x, double a, int n) {
  for (int i = BX * NX + TX; i < n; i += GX * NX) y[i] = a * x[i] + y[i];
}
GLOBAL void ids(u32 *out) {
  u32 block = (BZ * 2 + BY) * 3 + BX, item = (TZ * NY + TY) * NX + TX;
  out[block * NX * NY * NZ + item] = TX | TY << 8 | TZ << 16 | block << 24;
}
GLOBAL void reverse(u32 *data, int n) {   /* private array with run-time indices */
  u32 t[40];
  for (int k = 0; k < 40; k++) t[(k * 7 + TX) % 40] = data[TX * 40 + k];
  for (int k = 0; k < 40; k++) data[TX * 40 + k] = t[(n - 1 - k) % 40];
}
GLOBAL void private_bytes(u8 *out, int n) {   /* sub-dword and unaligned scratch */
  u8 t[64];
  for (int k = 0; k < 64; k++) t[(k * 5 + n) & 63] = (u8)(k * 3 + TX);
  u64 word;
  __builtin_memcpy(&word, t + (TX % 7) + n, 8);
  __builtin_memcpy(out + TX * 8, &word, 8);
}
#if __clang_major__ > 19   /* before, AMDGPU has no stack of dynamic size */
GLOBAL void alloca_(u32 *out, int n) {   /* a stack whose size only the run knows */
  u32 *t = (u32 *)__builtin_alloca((n + BX) * sizeof *t);
  for (u32 k = 0; k < n + BX; k++) t[k] = k * TX;
  u32 sum = 0;
  for (u32 k = 0; k < n + BX; k++) sum = sum * 3 + t[(k * 5 + TX) % (n + BX)];
  out[BX * NX + TX] = sum;
}
#endif
struct Big { int a[20]; float f; };
GLOBAL void by_value(float *out, struct Big s) { out[TX] = s.a[TX % 20] * s.f; }
struct Mixed { u8 b; u16 h; u32 w; double d; };
GLOBAL void many_arguments(double *out, u8 a, u16 b, float c, u64 d, struct Mixed m, i8 e) {
  out[TX] = a + b * c + (double)d + m.b + m.h + m.w + m.d + e + TX;
}
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef float float3_ __attribute__((ext_vector_type(3)));
GLOBAL void vectors(const float4_ *x, float4_ *y, const float *x3, float *y3) {
  int i = BX * NX + TX;
  y[i] = x[i].wzyx * 2.0f + x[i ^ 1];
  float3_ p;
  __builtin_memcpy(&p, x3 + 3 * i, 12);
  p = p.zxy + 1.0f;
  __builtin_memcpy(y3 + 3 * i, &p, 12);
}
GLOBAL void unaligned(const u8 *in, u8 *out) {
  u64 a; u32 b; u16 c;
  __builtin_memcpy(&a, in + TX * 9 + 1, 8);
  __builtin_memcpy(&b, in + TX * 5 + 3, 4);
  __builtin_memcpy(&c, in + TX * 3 + 1, 2);
  a = a * 3 + b ^ c;
  __builtin_memcpy(out + TX * 11 + 3, &a, 8);
}
GLOBAL void small_types(const i8 *a, const u8 *b, const i16 *c, const u16 *d, int *out, u8 *bytes, u16 *words) {
  int i = BX * NX + TX;
  out[i] = a[i] * 1000003 + b[i] * 1009 + c[i] * 31 + d[i];
  bytes[i] = (u8)(a[i] - b[i]);
  words[i] = (u16)(c[i] * d[i]);
}
GLOBAL void stencil(const float *in, float *out, int w, int h) {
  int x = BX * NX + TX, y = BY * NY + TY;
  if (x >= w || y >= h) return;
  float s = -4.0f * in[y * w + x];
  if (x > 0) s += in[y * w + x - 1];
  if (x < w - 1) s += in[y * w + x + 1];
  if (y > 0) s += in[(y - 1) * w + x];
  if (y < h - 1) s += in[(y + 1) * w + x];
  out[y * w + x] = s;
}
GLOBAL void stencil_3d(const int *in, int *out, int n) {
  int x = BX * NX + TX, y = BY * NY + TY, z = BZ * NZ + TZ, s = 0;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        int X = x + dx, Y = y + dy, Z = z + dz;
        if (X >= 0 && X < n && Y >= 0 && Y < n && Z >= 0 && Z < n) s += in[(Z * n + Y) * n + X] * (dx * 9 + dy * 3 + dz);
      }
  out[(z * n + y) * n + x] = s;
}
CONSTANT float filter[9] = {1, -2, 3, -4, 5, -4, 3, -2, 1};
GLOBAL void convolve(const float *in, float *out, int n) {
  int i = BX * NX + TX;
  float s = 0;
  for (int k = 0; k < 9; k++) {
    int at = i + k - 4;
    if (at >= 0 && at < n) s = __builtin_fmaf(filter[k], in[at], s);
  }
  if (i < n) out[i] = s;
}
GLOBAL void life(const u8 *in, u8 *out, int n) {
  int x = BX * NX + TX, y = BY, s = 0;
  for (int k = 0; k < 9; k++)
    if (k != 4) s += in[(y + k / 3 - 1 + n) % n * n + (x + k % 3 - 1 + n) % n];
  out[y * n + x] = s == 3 || (s == 2 && in[y * n + x]);
}
GLOBAL void mandelbrot(u32 *out, int w, int h) {
#pragma clang fp contract(off)
  int x = BX * NX + TX, y = BY;
  double cr = x * 3.0 / w - 2, ci = y * 2.0 / h - 1, r = 0, i = 0;
  u32 n = 0;
  while (n < 60 && r * r + i * i <= 4) {
    double t = r * r - i * i + cr;
    i = 2 * r * i + ci;
    r = t;
    n++;
  }
  out[y * w + x] = n;
}
