/* Functions of instructions introduced with gfx950 and GFX12: IEEE 754-2019 minimum and maximum, OCP's 8-bit floats. */
#ifndef PTX2AMD_VGPU_VALU_NEWER_H
#define PTX2AMD_VGPU_VALU_NEWER_H

#include "valu_math.h"

/* A NaN operand, quieted, signalling ones first; r if there is none. */
static inline float nan_or_f32(float a, float b, float r) {
  r = nan_f32(b) ? b : r;
  r = nan_f32(a) ? a : r;
  r = snan_f32(b) & !snan_f32(a) ? b : r;
  return nan_f32(r) ? as_f32(f32_bits(r) | 0x400000) : r;
}
static inline double nan_or_f64(double a, double b, double r) {
  r = nan_f64(b) ? b : r;
  r = nan_f64(a) ? a : r;
  r = snan_f64(b) & !snan_f64(a) ? b : r;
  return nan_f64(r) ? as_f64(f64_bits(r) | UINT64_C(1) << 51) : r;
}
/* -0 < +0. */
static inline float minimum_f32(float a, float b) {
  return nan_or_f32(a, b, order_f32(a) < order_f32(b) ? a : b);
}
static inline float maximum_f32(float a, float b) {
  return nan_or_f32(a, b, order_f32(a) < order_f32(b) ? b : a);
}
static inline double minimum_f64(double a, double b) {
  return nan_or_f64(a, b, order_f64(a) < order_f64(b) ? a : b);
}
static inline double maximum_f64(double a, double b) {
  return nan_or_f64(a, b, order_f64(a) < order_f64(b) ? b : a);
}

static inline int32_t sat_i8(int32_t v) { return clamp_i32(v, -128, 127); }

/* Three-input logic: the truth table's bit number is a << 2 | b << 1 | c. */
static inline uint32_t logic3(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (uint32_t k = 0; k < 8; k++)
    r |= -(table >> k & 1) & (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return r;
}

/* The OCP formats of gfx950 and GFX12: fp8 is E4M3 with bias 7, no infinities, NaN 0x7f; bf8 is E5M2 with bias 15. */
static inline float ocp_to_f32(uint32_t b, int mantissa) {
  int bias = mantissa == 3 ? 7 : 15;
  b &= 0xff;
  uint32_t e = (b & 0x7f) >> mantissa, m = b & ((1u << mantissa) - 1), sign = (b & 0x80) << 24;
  if (mantissa == 3 ? (b & 0x7f) == 0x7f : e == 31 && m) return as_f32(sign | 0x7fc00000);
  if (mantissa == 2 && e == 31) return as_f32(sign | 0x7f800000);
  float scale = as_f32((uint32_t)(127 - bias - mantissa + (e ? (int)e : 1)) << 23);
  float f = (float)(int32_t)(e ? m | 1u << mantissa : m) * scale;
  return as_f32(f32_bits(f) | sign);
}
/* Rounds to nearest even; too large: the largest number if `saturate`, otherwise NaN (fp8) or infinity (bf8). */
static inline uint32_t f32_to_ocp(float f, int mantissa, bool saturate) {
  int bias = mantissa == 3 ? 7 : 15;
  uint32_t u = f32_bits(f), sign = u >> 24 & 0x80;
  uint32_t largest = mantissa == 3 ? 0x7e : 0x7b, over = mantissa == 3 ? 0x7f : 0x7c;
  u &= 0x7fffffff;
  if (u > 0x7f800000) return sign | 0x7f;
  uint64_t r = round_small(u, mantissa, bias);
  if (u == 0x7f800000 || r > largest) return sign | (saturate ? largest : over);
  return sign | (uint32_t)r;
}
#define e4m3_to_f32(b) ocp_to_f32(b, 3)
#define e5m2_to_f32(b) ocp_to_f32(b, 2)
#define f32_to_e4m3(f, saturate) f32_to_ocp(f, 3, saturate)
#define f32_to_e5m2(f, saturate) f32_to_ocp(f, 2, saturate)

/* Adds 1 - 32 random bits to the float below the result's last bit, then truncates (stochastic rounding). */
static inline uint32_t stochastic_bf16(float f, uint32_t noise) {
  uint32_t u = f32_bits(f);
  if ((u & 0x7f800000) == 0x7f800000) return f32_to_bf16(f);
  return (u + (noise >> 16)) >> 16;
}
#endif
