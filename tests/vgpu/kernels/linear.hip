// Matrices: in LDS, by dot products, by the chip's matrix instructions; and what stands on them.
#define TILE(T, name, S)                                                        \
  GLOBAL void name(const T *a, const T *b, S *c, int n) {                       \
    SHARED T A[16][16], B[16][16];                                              \
    int x = BX * 16 + TX, y = BY * 16 + TY;                                     \
    S sum = 0;                                                                  \
    for (int k = 0; k < n; k += 16) {                                           \
      A[TY][TX] = a[y * n + k + TX];                                            \
      B[TY][TX] = b[(k + TY) * n + x];                                          \
      barrier();                                                                \
      for (int j = 0; j < 16; j++) sum += (S)A[TY][j] * (S)B[j][TX];            \
      barrier();                                                                \
    }                                                                           \
    c[y * n + x] = sum;                                                         \
  }
TILE(float, matmul_f32, float)
TILE(double, matmul_f64, double)
TILE(_Float16, matmul_f16, float)
TILE(i8, matmul_i8, int)
typedef _Float16 half4_ __attribute__((ext_vector_type(4)));
typedef _Float16 half8_ __attribute__((ext_vector_type(8)));
typedef _Float16 half16_ __attribute__((ext_vector_type(16)));
typedef float float4m __attribute__((ext_vector_type(4)));
typedef float float8m __attribute__((ext_vector_type(8)));
GLOBAL void matmul_units(const _Float16 *a, const _Float16 *b, float *c, int n) {   /* a wave: 16 x 16, b transposed */
  u32 lane = TX, row = BY * 16, column = BX * 16;
#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
  float4m sum = 0;
  for (int k = 0; k < n; k += 16) {
    half4_ x, y;
    __builtin_memcpy(&x, a + (row + lane % 16) * n + k + lane / 16 * 4, 8);
    __builtin_memcpy(&y, b + (column + lane % 16) * n + k + lane / 16 * 4, 8);
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
  }
  for (int j = 0; j < 4; j++) c[(row + lane / 16 * 4 + j) * n + column + lane % 16] = sum[j];
#elif defined(__GFX11__)
  half16_ x, y;
#if WAVE == 32
  float8m sum = 0;
  for (int k = 0; k < n; k += 16) {
    __builtin_memcpy(&x, a + (row + lane % 16) * n + k, 32);
    __builtin_memcpy(&y, b + (column + lane % 16) * n + k, 32);
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, sum);
  }
  for (int j = 0; j < 8; j++) c[(row + 2 * j + lane / 16) * n + column + lane % 16] = sum[j];
#else
  float4m sum = 0;
  for (int k = 0; k < n; k += 16) {
    __builtin_memcpy(&x, a + (row + lane % 16) * n + k, 32);
    __builtin_memcpy(&y, b + (column + lane % 16) * n + k, 32);
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w64(x, y, sum);
  }
  for (int j = 0; j < 4; j++) c[(row + 4 * j + lane / 16) * n + column + lane % 16] = sum[j];
#endif
#elif defined(__GFX12__)
#if WAVE == 32
  float8m sum = 0;
  for (int k = 0; k < n; k += 16) {
    half8_ x, y;
    __builtin_memcpy(&x, a + (row + lane % 16) * n + k + lane / 16 * 8, 16);
    __builtin_memcpy(&y, b + (column + lane % 16) * n + k + lane / 16 * 8, 16);
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(x, y, sum);
  }
  for (int j = 0; j < 8; j++) c[(row + lane / 16 * 8 + j) * n + column + lane % 16] = sum[j];
#else
  float4m sum = 0;
  for (int k = 0; k < n; k += 16) {
    half4_ x, y;
    __builtin_memcpy(&x, a + (row + lane % 16) * n + k + lane / 16 * 4, 8);
    __builtin_memcpy(&y, b + (column + lane % 16) * n + k + lane / 16 * 4, 8);
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w64_gfx12(x, y, sum);
  }
  for (int j = 0; j < 4; j++) c[(row + lane / 16 % 2 * 8 + lane / 32 * 4 + j) * n + column + lane % 16] = sum[j];
#endif
#else
  for (u32 e = lane; e < 256; e += NX) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += (float)a[(row + e / 16) * n + k] * (float)b[(column + e % 16) * n + k];
    c[(row + e / 16) * n + column + e % 16] = sum;
  }
#endif
}
GLOBAL void softmax(const float *in, float *out, int n) {   /* a row for each block */
  SHARED float part[128];
  const float *x = in + BX * n;
  float top = -__builtin_inff();
  for (int i = TX; i < n; i += NX) top = __builtin_fmaxf(top, x[i]);
  part[TX] = top;
  barrier();
  for (u32 half = NX / 2; half; half /= 2) {
    if (TX < half) part[TX] = __builtin_fmaxf(part[TX], part[TX + half]);
    barrier();
  }
  top = part[0];
  barrier();
  float sum = 0;
  for (int i = TX; i < n; i += NX) sum += EXP2((x[i] - top) * 1.44269504f);
  part[TX] = sum;
  barrier();
  for (u32 half = NX / 2; half; half /= 2) {
    if (TX < half) part[TX] += part[TX + half];
    barrier();
  }
  for (int i = TX; i < n; i += NX) out[BX * n + i] = EXP2((x[i] - top) * 1.44269504f) / part[0];
}
GLOBAL void layernorm(const float *in, const float *gain, float *out, int n) {
  SHARED float part[2][64];
  float sum = 0, squares = 0;
  for (int i = TX; i < n; i += NX) {
    float x = in[BX * n + i];
    sum += x;
    squares += x * x;
  }
  part[0][TX] = sum;
  part[1][TX] = squares;
  barrier();
  for (u32 half = NX / 2; half; half /= 2) {
    if (TX < half) for (int k = 0; k < 2; k++) part[k][TX] += part[k][TX + half];
    barrier();
  }
  float mean = part[0][0] / n, scale = 1.0f / __builtin_sqrtf(part[1][0] / n - mean * mean + 1e-5f);
  for (int i = TX; i < n; i += NX) out[BX * n + i] = (in[BX * n + i] - mean) * scale * gain[i];
}
GLOBAL void attention(const float *q, const float *k, const float *v, float *out, int n) {   /* 32 wide; causal, one pass */
  float own[32], sum[32] = {0}, top = -__builtin_inff(), weight = 0;
  u32 i = BX * NX + TX;
  for (int d = 0; d < 32; d++) own[d] = q[i * 32 + d];
  for (u32 j = 0; j <= i && j < n; j++) {
    float score = 0;
    for (int d = 0; d < 32; d++) score += own[d] * k[j * 32 + d];
    score *= 0.1767767f * 1.44269504f;
    float now = __builtin_fmaxf(top, score), keep = EXP2(top - now), p = EXP2(score - now);
    weight = weight * keep + p;
    for (int d = 0; d < 32; d++) sum[d] = sum[d] * keep + p * v[j * 32 + d];
    top = now;
  }
  for (int d = 0; d < 32; d++) out[i * 32 + d] = sum[d] / weight;
}
GLOBAL void spmv(const u32 *rows, const u32 *columns, const double *values, const double *x, double *y, int n) {
  u32 i = BX * NX + TX;
  if (i >= n) return;
  double sum = 0;
  for (u32 k = rows[i]; k < rows[i + 1]; k++) sum += values[k] * x[columns[k]];
  y[i] = sum;
}
GLOBAL void bodies(const float *p, float *force, int n) {
  SHARED float tile[64][3];
  u32 i = BX * NX + TX;
  float fx = 0, fy = 0, fz = 0, x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
  for (int base = 0; base < n; base += 64) {
    for (int k = 0; k < 3; k++) tile[TX][k] = p[(base + TX) * 3 + k];
    barrier();
    for (int j = 0; j < 64; j++) {
      float dx = tile[j][0] - x, dy = tile[j][1] - y, dz = tile[j][2] - z, r2 = dx * dx + dy * dy + dz * dz + 0.01f;
      float s = 1.0f / (r2 * __builtin_sqrtf(r2));
      fx += dx * s; fy += dy * s; fz += dz * s;
    }
    barrier();
  }
  force[3 * i] = fx; force[3 * i + 1] = fy; force[3 * i + 2] = fz;
}
GLOBAL void fourier(float *data, const float *roots) {   /* 128 points in LDS, radix 2 */
  SHARED float re[128], im[128];
  u32 back = __builtin_bitreverse32(TX) >> 25;
  re[back] = data[(BX * 128 + TX) * 2];
  im[back] = data[(BX * 128 + TX) * 2 + 1];
  barrier();
  for (u32 half = 1; half < 128; half *= 2) {
    u32 k = TX % half, a = TX / half * 2 * half + k, b = a + half;
    float wr = roots[2 * (k * 64 / half)], wi = roots[2 * (k * 64 / half) + 1];
    if (TX < 64) {
      float xr = re[b] * wr - im[b] * wi, xi = re[b] * wi + im[b] * wr;
      re[b] = re[a] - xr; im[b] = im[a] - xi;
      re[a] += xr; im[a] += xi;
    }
    barrier();
  }
  data[(BX * 128 + TX) * 2] = re[TX];
  data[(BX * 128 + TX) * 2 + 1] = im[TX];
}
GLOBAL void inverses(const double *in, double *out) {   /* 4 x 4 by Gauss with pivots, private and run-time indices */
  double m[4][8];
  u32 i = BX * NX + TX;
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 4; c++) { m[r][c] = in[i * 16 + r * 4 + c]; m[r][4 + c] = r == c; }
  for (int c = 0; c < 4; c++) {
    int best = c;
    for (int r = c + 1; r < 4; r++) if (__builtin_fabs(m[r][c]) > __builtin_fabs(m[best][c])) best = r;
    for (int k = 0; k < 8; k++) { double t = m[c][k]; m[c][k] = m[best][k]; m[best][k] = t; }
    double scale = 1 / m[c][c];
    for (int k = 0; k < 8; k++) m[c][k] *= scale;
    for (int r = 0; r < 4; r++) {
      double f = m[r][c];
      if (r != c) for (int k = 0; k < 8; k++) m[r][k] -= f * m[c][k];
    }
  }
  for (int r = 0; r < 4; r++) for (int c = 0; c < 4; c++) out[i * 16 + r * 4 + c] = m[r][4 + c];
}
