/* Part of valu_math.h: the steps of a division, transcendental functions, cube maps. */

/* ---- the steps of a division ---- */
/* Scales numerator or denominator (s0 is a copy of one of them) so that neither the steps nor the quotient s2/s1 leave
 * the normal range; *flag: v_div_fmas must scale back. Uses exponents and significands, without arithmetic that could
 * itself underflow; later lines take precedence. */
static inline float div_scale_f32(float s0, float s1, float s2, uint32_t *flag) {
  uint32_t u1 = f32_bits(s1), u2 = f32_bits(s2), f1 = u1 & 0x7fffff, f2 = u2 & 0x7fffff;
  int32_t e1 = (int32_t)(u1 >> 23 & 255), e2 = (int32_t)(u2 >> 23 & 255);
  uint32_t den = f32_bits(s0) == u1, num = f32_bits(s0) == u2, zero = (u1 << 1 == 0) | (u2 << 1 == 0);
  uint32_t tiny_q = (e1 != 255) & (e2 - e1 - (int32_t)(f2 < f1) < -126);
  uint32_t tiny_r = (e1 != 255) & (127 - e1 - (int32_t)(f1 > 0) < -126), big = e2 - e1 >= 96;
  uint32_t same = f32_bits(s0), up = f32_bits(s0 * 0x1p64f), down = f32_bits(s0 * 0x1p-64f);
  uint32_t r = pick32(e2 <= 23, up, same);
  r = pick32(tiny_q, pick32(num, up, same), r);
  r = pick32(tiny_r, pick32((tiny_q ^ 1) | den, down, same), r);
  r = pick32(e1 == 0, up, r);
  r = pick32(big, pick32(den, up, same), r);
  *flag = (zero ^ 1) & (big | ((uint32_t)(e1 != 0) & tiny_q));
  return as_f32(pick32(zero, 0x7fc00000, r));
}
static inline double div_scale_f64(double s0, double s1, double s2, uint32_t *flag) {
  uint64_t u1 = f64_bits(s1), u2 = f64_bits(s2), mask = UINT64_C(0xfffffffffffff), f1 = u1 & mask, f2 = u2 & mask;
  int64_t e1 = (int64_t)(u1 >> 52 & 2047), e2 = (int64_t)(u2 >> 52 & 2047);
  uint64_t den = f64_bits(s0) == u1, num = f64_bits(s0) == u2, zero = (u1 << 1 == 0) | (u2 << 1 == 0);
  uint64_t tiny_q = (e1 != 2047) & (e2 - e1 - (int64_t)(f2 < f1) < -1022);
  uint64_t tiny_r = (e1 != 2047) & (1023 - e1 - (int64_t)(f1 > 0) < -1022), big = e2 - e1 >= 768;
  uint64_t same = f64_bits(s0), up = f64_bits(s0 * 0x1p128), down = f64_bits(s0 * 0x1p-128);
  uint64_t r = pick64(e2 <= 53, up, same);
  r = pick64(tiny_q, pick64(num, up, same), r);
  r = pick64(tiny_r, pick64((tiny_q ^ 1) | den, down, same), r);
  r = pick64(e1 == 0, up, r);
  r = pick64(big, pick64(den, up, same), r);
  *flag = (uint32_t)((zero ^ 1) & (big | ((uint64_t)(e1 != 0) & tiny_q)));
  return as_f64(pick64(zero, UINT64_C(0x7ff8000000000000), r));
}

/* fma(a, b, c) times 2^64 or 2^-64 (f64: 2^128), in the direction given by c, with one rounding. */
static inline float div_fmas_f32(float a, float b, float c) {
  double p = (double)a * b, s = p + c; /* the product is exact; an inexact sum is made odd */
  double t = s - p, error = (p - (s - t)) + (c - t);
  uint64_t bits = f64_bits(s), up = f64_bits(error) >> 63 == bits >> 63;
  if (error != 0 && error == error && !(bits & 1)) bits += up ? 1 : -UINT64_C(1);
  return (float)(as_f64(bits) * (exponent_f32(c) > 127 ? 0x1p64 : 0x1p-64));
}
static inline double div_fmas_f64(double a, double b, double c) {
  if (exponent_f64(c) > 1023) return fma_f64(a, b, c) * 0x1p128;
  double r = fma_f64(a, b, c);
  if (!(__builtin_fabs(r) < 0x1p-893)) return r * 0x1p-128; /* stays normal: exact */
  /* In units of the denormal result's last place: the integer part of c; the rest is made odd if inexact. */
  int64_t whole = (int64_t)(c * 0x1p946);
  double low = c - (double)whole * 0x1p-946, p = a * b, rest = fma_f64(a, b, -p);
  double s = p + low, t = s - p, error = (p - (s - t)) + (low - t) + rest;
  uint64_t bits = f64_bits(s), up = f64_bits(error) >> 63 == bits >> 63;
  if (error != 0 && !(bits & 1)) bits += up ? 1 : -UINT64_C(1);
  double units = as_f64(bits) * 0x1p946, below = __builtin_floor(units), part = units - below;
  whole += (int64_t)below;
  whole += part > 0.5 || (part == 0.5 && (whole & 1));
  return __builtin_copysign((double)whole * 0x1p-946 * 0x1p-128, r);
}
static inline float div_fixup_f32(float s0, float s1, float s2) {
  uint32_t sign = (f32_bits(s1) ^ f32_bits(s2)) & 0x80000000, a1 = f32_bits(s1) & 0x7fffffff;
  uint32_t a2 = f32_bits(s2) & 0x7fffffff, r = f32_bits(s0);
  r = nan_f32(s0) ? sign | 0x7f800000 : (r & 0x7fffffff) | sign; /* the steps overflow only if the quotient does */
  r = (int)(a2 >> 23) - (int)(a1 >> 23) < -150 ? sign : r;
  r = a1 == 0x7f800000 || a2 == 0 ? sign : r;
  r = a1 == 0 || a2 == 0x7f800000 ? sign | 0x7f800000 : r;
  r = (a1 == 0 && a2 == 0) || (a1 == 0x7f800000 && a2 == 0x7f800000) ? 0xffc00000 : r;
  r = a1 > 0x7f800000 ? f32_bits(s1) | 0x400000 : r;
  r = a2 > 0x7f800000 ? f32_bits(s2) | 0x400000 : r;
  return as_f32(r);
}
static inline double div_fixup_f64(double s0, double s1, double s2) {
  const uint64_t top = UINT64_C(1) << 63, inf = UINT64_C(0x7ff0000000000000), quiet = UINT64_C(1) << 51;
  uint64_t sign = (f64_bits(s1) ^ f64_bits(s2)) & top, a1 = f64_bits(s1) & ~top, a2 = f64_bits(s2) & ~top;
  uint64_t r = f64_bits(s0);
  r = nan_f64(s0) ? sign | inf : (r & ~top) | sign;
  r = (int)(a2 >> 52) - (int)(a1 >> 52) < -1075 ? sign : r;
  r = a1 == inf || a2 == 0 ? sign : r;
  r = a1 == 0 || a2 == inf ? sign | inf : r;
  r = (a1 == 0 && a2 == 0) || (a1 == inf && a2 == inf) ? top | inf | quiet : r;
  r = a1 > inf ? f64_bits(s1) | quiet : r;
  r = a2 > inf ? f64_bits(s2) | quiet : r;
  return as_f64(r);
}

static inline float div_fixup_f16(float s0, float s1, float s2) {
  uint32_t sign = (f32_bits(s1) ^ f32_bits(s2)) & 0x80000000, a1 = f32_bits(s1) & 0x7fffffff;
  uint32_t a2 = f32_bits(s2) & 0x7fffffff, r = f32_bits(s0);
  r = nan_f32(s0) ? sign | 0x7f800000 : (r & 0x7fffffff) | sign;
  r = a1 == 0x7f800000 || a2 == 0 ? sign : r;
  r = a1 == 0 || a2 == 0x7f800000 ? sign | 0x7f800000 : r;
  r = (a1 == 0 && a2 == 0) || (a1 == 0x7f800000 && a2 == 0x7f800000) ? 0xffc00000 : r;
  r = a1 > 0x7f800000 ? f32_bits(s1) | 0x400000 : r;
  r = a2 > 0x7f800000 ? f32_bits(s2) | 0x400000 : r;
  return as_f32(r);
}

/* ---- transcendental functions: in f64, rounded to f32; within 1 ulp, as on the chip. f32 denormals count as 0 ---- */
static inline double exp2_core(double x) { /* |x| <= 200 */
  double n = __builtin_floor(x + 0.5), f = (x - n) * 0.693147180559945309417;
  double p = 1.0 / 3628800;
  p = p * f + 1.0 / 362880, p = p * f + 1.0 / 40320, p = p * f + 1.0 / 5040, p = p * f + 1.0 / 720;
  p = p * f + 1.0 / 120, p = p * f + 1.0 / 24, p = p * f + 1.0 / 6, p = p * f + 0.5, p = p * f + 1.0, p = p * f + 1.0;
  return p * as_f64((uint64_t)(int64_t)((int32_t)n + 1023) << 52);
}
static inline double log2_core(double x) { /* x > 0, finite, normal as f64 */
  uint64_t u = f64_bits(x);
  uint32_t top = (uint32_t)(u >> 32) - 0x3fe6a09e; /* significand in [sqrt(1/2), sqrt(2)) */
  int32_t e = (int32_t)top >> 20;
  double m = as_f64(u - ((uint64_t)(int64_t)e << 52)), s = (m - 1.0) / (m + 1.0), z = s * s, p = 1.0 / 19;
  p = p * z + 1.0 / 17, p = p * z + 1.0 / 15, p = p * z + 1.0 / 13, p = p * z + 1.0 / 11, p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7, p = p * z + 1.0 / 5, p = p * z + 1.0 / 3, p = p * z + 1.0;
  return (double)e + p * s * 2.88539008177792681472;
}
static inline float exp2_f32(float f) {
  double x = flush_f32(f), c = x > 200.0 ? 200.0 : x < -200.0 ? -200.0 : x;
  c = x != x ? 0.0 : c;
  float r = flush_f32((float)exp2_core(c));
  return x != x ? f + f : r;
}
static inline float log2_f32(float f) {
  float g = flush_f32(f);
  double x = g, c = g > 0 && g < INF32 ? x : 1.0;
  float r = (float)log2_core(c);
  r = g == INF32 ? INF32 : r;
  r = g == 0 ? -INF32 : r;
  return g < 0 ? QNAN32 : g != g ? f + f : r;
}
static inline float rcp_f32(float f) { return flush_f32((float)(1.0 / (double)flush_f32(f))); }
static inline float sqrt_f32(float f) { return __builtin_sqrtf(flush_f32(f)); }
static inline float rsq_f32(float f) { return (float)(1.0 / __builtin_sqrt((double)flush_f32(f))); }
/* sin and cos of 2 pi x by quadrants; `quarter`: 0 sine, 1 cosine. */
static inline float sin_turns(float f, int quarter) {
  double x = flush_f32(f), r = x - __builtin_floor(x);      /* exact, [0, 1) */
  r = r - __builtin_floor(r);
  double q = __builtin_floor(r * 4.0 + 0.5), t = (r - q * 0.25) * 6.28318530717958647692, z = t * t;
  double s = -1.0 / 39916800, c = 1.0 / 479001600;
  s = s * z + 1.0 / 362880, s = s * z - 1.0 / 5040, s = s * z + 1.0 / 120, s = s * z - 1.0 / 6, s = s * z + 1.0, s *= t;
  c = c * z - 1.0 / 3628800, c = c * z + 1.0 / 40320, c = c * z - 1.0 / 720, c = c * z + 1.0 / 24;
  c = c * z - 0.5, c = c * z + 1.0;
  int32_t n = (int32_t)(x - x == 0 ? q : 0.0) + quarter;
  double v = n & 1 ? c : s;
  v = n & 2 ? -v : v;
  return x - x == 0 ? (float)v : QNAN32;
}

static inline float mullit(float a, float b, float c) {
  const float lowest = -0x1.fffffep127f;
  return b == lowest || b == -INF32 || b != b || !(c > 0) ? lowest : a == 0 || b == 0 ? 0 : a * b;
}

/* ---- cube maps: face, coordinates and major axis of a direction ---- */
static inline float cube_id(float x, float y, float z) {
  float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (az >= ax && az >= ay) return z < 0 ? 5 : 4;
  if (ay >= ax) return y < 0 ? 3 : 2;
  return x < 0 ? 1 : 0;
}
static inline float cube_sc(float x, float y, float z) {
  float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (az >= ax && az >= ay) return z < 0 ? -x : x;
  if (ay >= ax) return x;
  return x < 0 ? z : -z;
}
static inline float cube_tc(float x, float y, float z) {
  float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (az >= ax && az >= ay) return -y;
  if (ay >= ax) return y < 0 ? -z : z;
  return -y;
}
static inline float cube_ma(float x, float y, float z) {
  float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  return 2.0f * (az >= ax && az >= ay ? z : ay >= ax ? y : x);
}
