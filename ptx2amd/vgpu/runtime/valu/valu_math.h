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

/* ---- classes: signalling NaN, quiet NaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf ---- */
static inline uint32_t class_bits(uint64_t u, int bits, int mantissa) {
  uint64_t m = u & ((UINT64_C(1) << mantissa) - 1), top = (UINT64_C(1) << (bits - 1 - mantissa)) - 1;
  uint64_t e = u >> mantissa & top, sign = u >> (bits - 1) & 1, quiet = m >> (mantissa - 1);
  uint64_t k = pick64(m != 0, pick64(sign, 4, 7), pick64(sign, 5, 6));
  k = pick64(e != 0, pick64(sign, 3, 8), k);
  k = pick64(e == top, pick64(m != 0, quiet, pick64(sign, 2, 9)), k);
  return 1u << k;
}

#include "valu_bits.h"
#include "valu_functions.h"
#endif
