// Arithmetic of every width: integers, bits, floats.
GLOBAL void division(const i64 *a, const i64 *b, i64 *q, i64 *r, u64 *uq, u64 *ur) {
  int i = BX * NX + TX;
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
  uq[i] = (u64)a[i] / (u64)b[i];
  ur[i] = (u64)a[i] % (u64)b[i];
}
GLOBAL void division_32(const int *a, const int *b, int *q, int *r, u32 *uq, u32 *ur) {
  int i = BX * NX + TX;
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
  uq[i] = (u32)a[i] / (u32)b[i];
  ur[i] = (u32)a[i] % (u32)b[i];
}
GLOBAL void small_division(const i16 *a, const i16 *b, i16 *q, u16 *r, i8 *q8, u8 *r8) {
  int i = BX * NX + TX;
  q[i] = (i16)(a[i] / b[i]);
  r[i] = (u16)((u16)a[i] % (u16)b[i]);
  q8[i] = (i8)((i8)a[i] / (i8)(b[i] | 1));
  r8[i] = (u8)((u8)a[i] % (u8)(b[i] | 1));
}
GLOBAL void wide(const u64 *a, const u64 *b, u64 *sum, u64 *product) {   /* 128 bits */
  int i = BX * NX + TX;
  unsigned __int128 x = (unsigned __int128)a[2 * i + 1] << 64 | a[2 * i], y = (unsigned __int128)b[2 * i + 1] << 64 | b[2 * i];
  unsigned __int128 s = x + y, p = x * y;
  sum[2 * i] = (u64)s;
  sum[2 * i + 1] = (u64)(s >> 64);
  product[2 * i] = (u64)p;
  product[2 * i + 1] = (u64)(p >> 64);
}
GLOBAL void bits(const u32 *x, u32 *out) {
  u32 i = BX * NX + TX, n = GX * NX, v = x[i];
  out[i] = (u32)__builtin_popcount(v);
  out[n + i] = v ? (u32)__builtin_clz(v) : 32;
  out[2 * n + i] = v ? (u32)__builtin_ctz(v) : 32;
  out[3 * n + i] = __builtin_bitreverse32(v);
  out[4 * n + i] = __builtin_bswap32(v);
  out[5 * n + i] = __builtin_rotateleft32(v, v & 31);
  out[6 * n + i] = (v >> (v & 15)) & 0x3ff;
  out[7 * n + i] = (u32)((int)(v << 11) >> 20);
  out[8 * n + i] = (v & 0xff00ff00) >> 8 | (v & 0x00ff00ff) << 8;
  out[9 * n + i] = v & x[i ^ 1] ^ ~x[i ^ 2];
}
GLOBAL void bits_64(const u64 *x, u64 *out) {
  u32 i = BX * NX + TX, n = GX * NX;
  u64 v = x[i];
  out[i] = (u64)__builtin_popcountll(v) | (u64)(v ? __builtin_clzll(v) : 64) << 8 | (u64)(v ? __builtin_ctzll(v) : 64) << 16;
  out[n + i] = __builtin_bitreverse64(v);
  out[2 * n + i] = __builtin_rotateleft64(v, v & 63);
  out[3 * n + i] = (u64)((i64)v >> (v & 63));
  out[4 * n + i] = v * v;
  out[5 * n + i] = v << (v & 63) | v >> 63;
}
GLOBAL void byte_swap(const u64 *x, u64 *out) { out[BX * NX + TX] = __builtin_bswap64(x[BX * NX + TX]); }
GLOBAL void saturating(const int *a, const int *b, int *out) {
  u32 i = BX * NX + TX, n = GX * NX;
  out[i] = __builtin_elementwise_add_sat(a[i], b[i]);
  out[n + i] = __builtin_elementwise_sub_sat(a[i], b[i]);
  out[2 * n + i] = (int)__builtin_elementwise_add_sat((u32)a[i], (u32)b[i]);
  out[3 * n + i] = (int)__builtin_elementwise_sub_sat((u32)a[i], (u32)b[i]);
  out[4 * n + i] = (int)(a[i] > b[i] ? (u32)a[i] - (u32)b[i] : (u32)b[i] - (u32)a[i]);
  int smallest = a[i] < b[i] ? a[i] : b[i];
  out[5 * n + i] = smallest < -100 ? -100 : smallest > 100 ? 100 : smallest;
}
GLOBAL void f32_exact(const float *a, const float *b, const float *c, float *out) {
  u32 i = BX * NX + TX, n = GX * NX;
  out[i] = a[i] / b[i];
  out[n + i] = __builtin_sqrtf(__builtin_fabsf(a[i]));
  out[2 * n + i] = __builtin_fmaf(a[i], b[i], c[i]);
  out[3 * n + i] = __builtin_floorf(a[i]) + __builtin_truncf(b[i]);
  out[4 * n + i] = __builtin_rintf(a[i]) - __builtin_ceilf(c[i]);
  out[5 * n + i] = __builtin_copysignf(a[i], b[i]);
  out[6 * n + i] = __builtin_fmaxf(a[i], b[i]) * 0.5f + __builtin_fminf(b[i], c[i]);
}
GLOBAL void f64_exact(const double *a, const double *b, const double *c, double *out) {
  u32 i = BX * NX + TX, n = GX * NX;
  out[i] = a[i] / b[i];
  out[n + i] = __builtin_sqrt(__builtin_fabs(a[i]));
  out[2 * n + i] = __builtin_fma(a[i], b[i], c[i]);
  out[3 * n + i] = __builtin_floor(a[i]) + __builtin_trunc(b[i]);
  out[4 * n + i] = __builtin_rint(a[i]) - __builtin_ceil(c[i]);
  out[5 * n + i] = __builtin_fmax(a[i], b[i]) + __builtin_fmin(b[i], c[i]);
  out[6 * n + i] = __builtin_ldexp(a[i], (int)(i % 40) - 20);
}
GLOBAL void f16_exact(const _Float16 *a, const _Float16 *b, _Float16 *out) {
  u32 i = BX * NX + TX, n = GX * NX;
  out[i] = a[i] + b[i];
  out[n + i] = a[i] * b[i];
  out[2 * n + i] = (_Float16)((float)a[i] / (float)b[i]);
  out[3 * n + i] = (_Float16)((float)a[i] * 3.0f + (float)b[i]);
  out[4 * n + i] = a[i] < b[i] ? a[i] : b[i];
}
typedef _Float16 half2_ __attribute__((ext_vector_type(2)));
typedef i16 short2_ __attribute__((ext_vector_type(2)));
GLOBAL void packed(const half2_ *a, const half2_ *b, half2_ *out, const short2_ *s, short2_ *sout) {
  u32 i = BX * NX + TX, n = GX * NX;
  out[i] = a[i] + b[i].yx;
  out[n + i] = a[i] * -b[i];
  sout[i] = s[i] * s[i ^ 1] + s[i].yx;
  sout[n + i] = s[i] << (short2_){3, 5};
  sout[2 * n + i] = __builtin_elementwise_max(s[i], s[i ^ 1]);
}
GLOBAL void casts(const float *f, const double *d, const i64 *q, const u64 *u, int *out, i64 *wide_out, float *fout, double *dout) {
  u32 i = BX * NX + TX, n = GX * NX;
  out[i] = (int)f[i];
  out[n + i] = (int)(u32)(f[i] < 0 ? -f[i] : f[i]);
  out[2 * n + i] = (int)d[i];
  wide_out[i] = (i64)(d[i] * 1073741824.0);
  wide_out[n + i] = (i64)f[i];
  wide_out[2 * n + i] = (i64)(u64)((d[i] < 0 ? -d[i] : d[i]) * 4294967296.0);
  fout[i] = (float)q[i];
  fout[n + i] = (float)u[i];
  fout[2 * n + i] = (float)d[i];
  dout[i] = (double)q[i];
  dout[n + i] = (double)u[i];
  dout[2 * n + i] = (double)f[i];
}
GLOBAL void bfloat(const float *in, u16 *out, float *back) {
  u32 i = BX * NX + TX;
  __bf16 x = (__bf16)in[i];
  __builtin_memcpy(&out[i], &x, 2);
  back[i] = (float)x * 2.0f;
}
GLOBAL void crc32(const u8 *text, u32 *out, int length) {
  u32 crc = ~0u;
  for (int k = 0; k < length; k++) {
    crc ^= text[TX * length + k];
    for (int b = 0; b < 8; b++) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  out[TX] = ~crc;
}
GLOBAL void sha256(const u32 *words, const u32 *k, u32 *out) {   /* one block of 64 bytes for each thread */
  u32 w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, s[8];
#define R(x, n) __builtin_rotateright32(x, n)
  for (int t = 0; t < 16; t++) w[t] = __builtin_bswap32(words[TX * 16 + t]);
  for (int t = 16; t < 64; t++) {
    u32 a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + (R(a, 7) ^ R(a, 18) ^ a >> 3) + w[t - 7] + (R(b, 17) ^ R(b, 19) ^ b >> 10);
  }
  for (int j = 0; j < 8; j++) s[j] = h[j];
  for (int t = 0; t < 64; t++) {
    u32 one = s[7] + (R(s[4], 6) ^ R(s[4], 11) ^ R(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[t] + w[t];
    u32 two = (R(s[0], 2) ^ R(s[0], 13) ^ R(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int j = 7; j; j--) s[j] = s[j - 1];
    s[4] += one;
    s[0] = one + two;
  }
  for (int j = 0; j < 8; j++) out[TX * 8 + j] = h[j] + s[j];
}
GLOBAL void random_walk(u32 *out, int steps) {   /* xorshift, and a multiply with carry */
  u32 x = TX * 747796405u + 1, carry = BX + 1;
  for (int k = 0; k < steps; k++) {
    x ^= x << 13; x ^= x >> 17; x ^= x << 5;
    u64 t = (u64)x * 4294957665u + carry;
    x = (u32)t;
    carry = (u32)(t >> 32);
  }
  out[BX * NX + TX] = x ^ carry;
}
