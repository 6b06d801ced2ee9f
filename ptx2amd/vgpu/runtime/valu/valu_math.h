/* Arithmetic on single lanes, for use in instruction rows. Code without a loop has no branches (or only such that GCC
 * removes), so that the lane loop around it vectorises. */
#ifndef PTX2AMD_VGPU_VALU_MATH_H
#define PTX2AMD_VGPU_VALU_MATH_H

#include "valu_half.h"
#include "valu_tables.h"

#define QNAN32 as_f32(0x7fc00000)
#define INF32 __builtin_inff()
/* Selections that GCC keeps as masks instead of branches in loop bodies. */
static inline uint32_t pick32(uint32_t condition, uint32_t a, uint32_t b) {
  uint32_t mask = 0u - condition; /* condition: 0 or 1 */
  return (a & mask) | (b & ~mask);
}
static inline uint64_t pick64(uint64_t condition, uint64_t a, uint64_t b) {
  uint64_t mask = 0u - condition;
  return (a & mask) | (b & ~mask);
}
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MED3(a, b, c) MAX(MIN(MAX(a, b), c), MIN(a, b))
static inline uint32_t nan_f32(float f) { return (f32_bits(f) & 0x7fffffff) > 0x7f800000; }
static inline uint32_t snan_f32(float f) { return nan_f32(f) & !(f32_bits(f) & 0x400000); }
static inline uint32_t nan_f64(double f) { return (f64_bits(f) & INT64_MAX) > UINT64_C(0x7ff0000000000000); }
static inline uint32_t snan_f64(double f) { return nan_f64(f) & !(f64_bits(f) >> 51 & 1); }

/* ---- fused multiply-add ---- */
static inline float fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double fma_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }

/* ---- minimum and maximum: a number wins over a NaN, -0 < +0, signalling NaNs win in IEEE mode ---- */
static inline int32_t order_f32(float f) {
  int32_t i = (int32_t)f32_bits(f);
  return i ^ (i >> 31 & 0x7fffffff);
}
static inline int64_t order_f64(double f) {
  int64_t i = (int64_t)f64_bits(f);
  return i ^ (i >> 63 & INT64_MAX);
}
#define MIN_MAX(type, suffix)                                                                                     \
  static inline type number_##suffix(type a, type b, type r, uint32_t ieee, type one) {                            \
    r = nan_##suffix(b) ? a : r;                                                                                   \
    r = nan_##suffix(a) ? b : r;                                                                                   \
    r = ieee & snan_##suffix(b) ? b : r;                                                                           \
    r = ieee & snan_##suffix(a) ? a : r;                                                                           \
    return r * one;                                                                                                \
  }                                                                                                                \
  static inline type min_##suffix(type a, type b, uint32_t ieee, type one) {                                       \
    return number_##suffix(a, b, order_##suffix(a) < order_##suffix(b) ? a : b, ieee, one);                        \
  }                                                                                                                \
  static inline type max_##suffix(type a, type b, uint32_t ieee, type one) {                                       \
    return number_##suffix(a, b, order_##suffix(a) < order_##suffix(b) ? b : a, ieee, one);                        \
  }
MIN_MAX(float, f32)
MIN_MAX(double, f64)
#undef MIN_MAX
/* f16 values are computed as f32, and the conversion has quieted signalling NaNs: the bits show the original. */
static inline uint32_t snan_f16(uint32_t bits) { return (bits & 0x7fff) > 0x7c00 && !(bits & 0x200); }
static inline float min_f16(float a, float b, uint32_t a_bits, uint32_t b_bits, uint32_t ieee, float one) {
  float r = min_f32(a, b, 0, one);
  return ieee & (snan_f16(a_bits) | snan_f16(b_bits)) ? QNAN32 : r;
}
static inline float max_f16(float a, float b, uint32_t a_bits, uint32_t b_bits, uint32_t ieee, float one) {
  float r = max_f32(a, b, 0, one);
  return ieee & (snan_f16(a_bits) | snan_f16(b_bits)) ? QNAN32 : r;
}
static inline float med3_f32(float a, float b, float c, uint32_t ieee, float one) {
  float lo = min_f32(min_f32(a, b, ieee, one), c, ieee, one);
  int32_t x = order_f32(a), y = order_f32(b), z = order_f32(c), m = MED3(x, y, z);
  float mid = as_f32((uint32_t)(m ^ (m >> 31 & 0x7fffffff))) * one;
  return nan_f32(a) | nan_f32(b) | nan_f32(c) ? lo : mid;
}
/* The third operand of a chain: only its own signalling NaN counts, because the intermediate result is quiet. */
static inline float med3_f16(float a, float b, float c, uint32_t ab, uint32_t bb, uint32_t cb, uint32_t ieee, float one) {
  float lo = min_f16(min_f16(a, b, ab, bb, ieee, one), c, 0, cb, ieee, one);
  return nan_f32(a) | nan_f32(b) | nan_f32(c) ? lo : med3_f32(a, b, c, ieee, one);
}

/* ---- float to integer: truncates, saturates, NaN gives 0 ---- */
static inline int32_t f32_to_i32(float f) {
  int32_t r = (int32_t)f;
  r = f >= 2147483648.0f ? INT32_MAX : r;
  r = f <= -2147483648.0f ? INT32_MIN : r;
  return f != f ? 0 : r;
}
static inline uint32_t f32_to_u32(float f) {
  int32_t low = (int32_t)f, high = (int32_t)(f - 2147483648.0f);
  uint32_t r = f >= 2147483648.0f ? (uint32_t)high ^ 0x80000000 : (uint32_t)low;
  r = f >= 4294967296.0f ? UINT32_MAX : r;
  return f > 0 ? r : 0;
}
static inline int32_t f64_to_i32(double f) {
  double c = f < -2147483648.0 ? -2147483648.0 : f;
  c = c > 2147483647.0 ? 2147483647.0 : c;
  c = f != f ? 0.0 : c;
  return (int32_t)c;
}
static inline uint32_t f64_to_u32(double f) {
  double c = f > 0 ? f : 0.0;
  c = c > 4294967295.0 ? 4294967295.0 : c;
  return (uint32_t)(int32_t)(__builtin_trunc(c) - 2147483648.0) ^ 0x80000000;
}
static inline double u32_to_f64(uint32_t u) {   /* exact, but rounding down turns a sum of 0 into -0 */
  return as_f64(f64_bits((double)(int32_t)(u ^ 0x80000000) + 2147483648.0) & INT64_MAX);
}
/* Rounds once: the halves are exact. */
static inline float u32_to_f32(uint32_t u) { return (float)(int32_t)(u >> 16) * 65536.0f + (float)(int32_t)(u & 0xffff); }
static inline int32_t clamp_i32(int32_t v, int32_t lo, int32_t hi) {
  v = v < lo ? lo : v;
  return v > hi ? hi : v;
}
static inline int32_t f32_to_i16(float f) { return clamp_i32(f32_to_i32(f), -32768, 32767); }
static inline int32_t f32_to_u16(float f) { return clamp_i32(f32_to_i32(f), 0, 65535); }
static inline uint32_t f32_to_u8(float f) { return (uint32_t)clamp_i32(f32_to_i32(f), 0, 255); }
/* To nearest even whatever the mode is. */
static inline float rndne_f32(float f) {
  uint32_t sign = f32_bits(f) & 0x80000000;
  float a = as_f32(f32_bits(f) & 0x7fffffff), down = __builtin_floorf(a), rest = a - down;
  uint32_t odd = (uint32_t)(int32_t)(a < 8388608.0f ? down : 0.0f) & 1;
  uint32_t up = (uint32_t)(rest > 0.5f) | ((uint32_t)(rest == 0.5f) & odd);
  return as_f32(f32_bits(down + (float)(int32_t)up) | sign);
}
static inline double rndne_f64(double f) {
  double a = as_f64(f64_bits(f) & INT64_MAX), down = __builtin_floor(a), rest = a - down;
  double half = down * 0.5, odd = half - __builtin_floor(half); /* 0 or 0.5 */
  double r = rest > 0.5 || (rest == 0.5 && odd != 0) ? down + 1.0 : down;
  r = a < 4503599627370496.0 ? r : a;
  return as_f64(f64_bits(r) | (f64_bits(f) & (UINT64_C(1) << 63)));
}
static inline int32_t f32_to_snorm(float f) {
  float c = f > 1.0f ? 1.0f : f;
  c = c < -1.0f ? -1.0f : c;
  return f32_to_i32(rndne_f32(c * 32767.0f));
}
static inline int32_t f32_to_unorm(float f) {
  float c = f > 0.0f ? f : 0.0f;
  c = c > 1.0f ? 1.0f : c;
  return f32_to_i32(rndne_f32(c * 65535.0f));
}

/* ---- exponents ---- */
static inline uint32_t exponent_f32(float f) { return f32_bits(f) >> 23 & 255; }
static inline uint32_t exponent_f64(double f) { return (uint32_t)(f64_bits(f) >> 52) & 2047; }
static inline float flush_f32(float f) {
  uint32_t u = f32_bits(f);
  return as_f32(u & 0x7f800000 ? u : u & 0x80000000);
}
/* f * 2^e with one rounding: three factors, where the products before the last are exact or overflow permanently. */
static inline double ldexp_f64(double f, int32_t e) {
  e = clamp_i32(e, -2200, 2200);
  uint64_t m = f64_bits(f) & INT64_MAX;
  if (m == 0 || m >= UINT64_C(0x7ff0000000000000)) return f;
  int shift = m >> 52 ? 0 : __builtin_clzll(m) - 11;
  int have = shift ? 1 - shift : (int)(m >> 52);
  if (shift) m = m << shift & UINT64_C(0xfffffffffffff);
  int want = have + e;
  uint64_t sign = f64_bits(f) & (UINT64_C(1) << 63);
  if (want > 0 && want < 2047) return as_f64(sign | (uint64_t)want << 52 | (m & UINT64_C(0xfffffffffffff)));
  if (want >= 2047) return as_f64(sign | UINT64_C(2046) << 52) * 2.0;
  if (want < -60) want = -60;
  /* the significand as a normal number with exponent 1, scaled down exactly once */
  double normal = as_f64(sign | UINT64_C(1) << 52 | (m & UINT64_C(0xfffffffffffff)));
  return normal * as_f64((uint64_t)(1023 + want - 1) << 52);
}
/* Exact in f64, then rounded once to f32 (and further to f16 exactly as from the infinite result). */
static inline float ldexp_f32(float f, int32_t e) {
  e = clamp_i32(e, -600, 600);
  double a = as_f64((uint64_t)(1023 + e) << 52);
  return (float)((double)f * a);
}
static inline int32_t frexp_exp_f32(float f) {
  uint32_t m = f32_bits(f) & 0x7fffffff;
  if (m == 0 || m >= 0x7f800000) return 0;
  return m >> 23 ? (int)(m >> 23) - 126 : -125 - (__builtin_clz(m) - 8);
}
static inline float frexp_mant_f32(float f) {
  uint32_t u = f32_bits(f), m = u & 0x7fffffff;
  if (m == 0 || m >= 0x7f800000) return as_f32(m > 0x7f800000 ? u | 0x400000 : u);
  if (!(m >> 23)) m <<= __builtin_clz(m) - 8;
  return as_f32((u & 0x80000000) | 0x3f000000 | (m & 0x7fffff));
}
static inline int32_t frexp_exp_f64(double f) {
  uint64_t m = f64_bits(f) & INT64_MAX;
  if (m == 0 || m >= UINT64_C(0x7ff0000000000000)) return 0;
  return m >> 52 ? (int)(m >> 52) - 1022 : -1021 - (__builtin_clzll(m) - 11);
}
static inline double frexp_mant_f64(double f) {
  uint64_t u = f64_bits(f), m = u & INT64_MAX;
  if (m == 0 || m >= UINT64_C(0x7ff0000000000000))
    return as_f64(m > UINT64_C(0x7ff0000000000000) ? u | UINT64_C(1) << 51 : u);
  if (!(m >> 52)) m <<= __builtin_clzll(m) - 11;
  return as_f64((u & UINT64_C(1) << 63) | UINT64_C(0x3fe0000000000000) | (m & UINT64_C(0xfffffffffffff)));
}
static inline float fract_f32(float f) {
  float r = f - __builtin_floorf(f);
  return r >= 1.0f ? as_f32(0x3f7fffff) : r;
}
static inline float fract_f16(float f) {
  float r = f - __builtin_floorf(f);
  return r > 0.99951171875f ? 0.99951171875f : r;
}
static inline double fract_f64(double f) {
  double r = f - __builtin_floor(f);
  return r >= 1.0 ? as_f64(UINT64_C(0x3fefffffffffffff)) : r;
}

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

/* ---- bits ---- */
static inline uint32_t bit_reverse(uint32_t v) {
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(v);
}
static inline uint32_t popcount(uint32_t v) {
  v = v - (v >> 1 & 0x55555555);
  v = (v & 0x33333333) + (v >> 2 & 0x33333333);
  v = (v + (v >> 4)) & 0x0f0f0f0f;
  v += v >> 8; /* not the usual multiplication: GCC would recognise a popcount, which it does not vectorise */
  return (v + (v >> 16)) & 63;
}
static inline uint32_t ffbl(uint32_t v) { return popcount((v & -v) - 1) | -(uint32_t)(v == 0); }
static inline uint32_t ffbh(uint32_t v) {
  uint32_t m = v;
  m |= m >> 1, m |= m >> 2, m |= m >> 4, m |= m >> 8, m |= m >> 16;
  return (32 - popcount(m)) | -(uint32_t)(v == 0);
}
/* Bits from the top that equal the sign bit; -1 if all do. */
static inline uint32_t ffbh_signed(uint32_t v) { return ffbh(v ^ (uint32_t)((int32_t)v >> 31)); }
static inline uint32_t bfe_u32(uint32_t a, uint32_t offset, uint32_t width) {
  return a >> (offset & 31) & ((1u << (width & 31)) - 1);
}
static inline uint32_t bfe_i32(uint32_t a, uint32_t offset, uint32_t width) {
  uint32_t n = width & 31, v = bfe_u32(a, offset, width), sign = (n ? 1u << (n - 1) : 0);
  return (v ^ sign) - sign;
}
static inline uint32_t perm_byte(uint64_t data, uint32_t s) {
  uint32_t byte = (uint32_t)(data >> ((s & 7) * 8)) & 255;
  uint32_t sign = (0u - (uint32_t)(data >> (((s - 8) & 3) * 16 + 15) & 1)) & 255;
  byte = s >= 8 ? sign : byte;
  byte = s >= 12 ? 0 : byte;
  return s >= 13 ? 255 : byte;
}
static inline uint32_t perm_b32(uint32_t a, uint32_t b, uint32_t sel) {
  uint64_t data = join(b, a);
  return perm_byte(data, sel & 255) | perm_byte(data, sel >> 8 & 255) << 8 | perm_byte(data, sel >> 16 & 255) << 16 |
         perm_byte(data, sel >> 24) << 24;
}
static inline uint32_t absdiff(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }
static inline uint32_t sad_u8(uint32_t a, uint32_t b) {
  return absdiff(a & 255, b & 255) + absdiff(a >> 8 & 255, b >> 8 & 255) + absdiff(a >> 16 & 255, b >> 16 & 255) +
         absdiff(a >> 24, b >> 24);
}
/* Bytes that are 0 in the reference b are not counted. */
static inline uint32_t msad_u8(uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (int k = 0; k < 32; k += 8) r += (b >> k & 255) ? absdiff(a >> k & 255, b >> k & 255) : 0;
  return r;
}
static inline uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (int k = 0; k < 32; k += 8) r |= ((a >> k & 255) + (b >> k & 255) + (c >> k & 1)) >> 1 << k;
  return r;
}

/* ---- saturating integers (clamp) ---- */
static inline uint32_t addsat_u32(uint32_t a, uint32_t b) { return a + b < a ? UINT32_MAX : a + b; }
static inline uint32_t subsat_u32(uint32_t a, uint32_t b) { return a < b ? 0 : a - b; }
static inline int32_t sat_i32(int64_t v) { return (int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v); }
static inline uint32_t sat_u32(uint64_t v) { return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v; }
static inline int32_t sat_i16(int32_t v) { return clamp_i32(v, -32768, 32767); }
static inline int32_t sat_u16(int32_t v) { return clamp_i32(v, 0, 65535); }
static inline int32_t addsat_i32(int32_t a, int32_t b) { return sat_i32((int64_t)a + b); }
static inline int32_t subsat_i32(int32_t a, int32_t b) { return sat_i32((int64_t)a - b); }

static inline uint32_t sat_u8(int32_t v) { return (uint32_t)clamp_i32(v, 0, 255); }

/* ---- dot products of bytes and nibbles ---- */
static inline int64_t dot4_i8(uint32_t a, uint32_t b) {
  int32_t r = 0;
  for (int k = 0; k < 32; k += 8) r += (int8_t)(a >> k) * (int8_t)(b >> k);
  return r;
}
static inline uint64_t dot4_u8(uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (int k = 0; k < 32; k += 8) r += (a >> k & 255) * (b >> k & 255);
  return r;
}
static inline int64_t dot8_i4(uint32_t a, uint32_t b) {
  int32_t r = 0;
  for (int k = 0; k < 32; k += 4) r += ((int32_t)(a >> k << 28) >> 28) * ((int32_t)(b >> k << 28) >> 28);
  return r;
}
static inline uint64_t dot8_u4(uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (int k = 0; k < 32; k += 4) r += (a >> k & 15) * (b >> k & 15);
  return r;
}
/* Sums of absolute differences at four byte offsets, added to 16-bit accumulators. */
static inline uint64_t qsad_pk(uint64_t a, uint32_t b, uint64_t c) {
  uint64_t r = 0;
  for (int k = 0; k < 4; k++) r |= ((sad_u8((uint32_t)(a >> 8 * k), b) + (c >> 16 * k)) & 65535) << 16 * k;
  return r;
}
static inline uint64_t mqsad_pk(uint64_t a, uint32_t b, uint64_t c) {
  uint64_t r = 0;
  for (int k = 0; k < 4; k++) r |= ((msad_u8((uint32_t)(a >> 8 * k), b) + (c >> 16 * k)) & 65535) << 16 * k;
  return r;
}

/* f32 to f16 bits, truncated whatever the mode; finite values stay finite. */
static inline uint32_t half_rtz(float f) {
  uint32_t u = f32_bits(f), a = u & 0x7fffffff, e = a >> 23, m = (a & 0x7fffff) | 0x800000;
  uint32_t shift = 126 - MIN(MAX(e, 95u), 126u), tiny = m >> MIN(shift, 31u);
  uint32_t r = pick32(e >= 113, (a - (112u << 23)) >> 13, tiny);
  r = pick32(e >= 143, 0x7bff, r);
  r = pick32(a == 0x7f800000, 0x7c00, r);
  r = pick32(a > 0x7f800000, 0x7e00 | (a >> 13 & 0x3ff), r);
  return r | (u >> 16 & 0x8000);
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

/* ---- classes: signalling NaN, quiet NaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf ---- */
static inline uint32_t class_bits(uint64_t u, int bits, int mantissa) {
  uint64_t m = u & ((UINT64_C(1) << mantissa) - 1), top = (UINT64_C(1) << (bits - 1 - mantissa)) - 1;
  uint64_t e = u >> mantissa & top, sign = u >> (bits - 1) & 1, quiet = m >> (mantissa - 1);
  uint64_t k = pick64(m != 0, pick64(sign, 4, 7), pick64(sign, 5, 6));
  k = pick64(e != 0, pick64(sign, 3, 8), k);
  k = pick64(e == top, pick64(m != 0, quiet, pick64(sign, 2, 9)), k);
  return 1u << k;
}
#endif
