/* Floating-point formats of 8 bits and fewer, as OCP defines them, with a scale: a value is code * 2^scale. */
#ifndef PTX2AMD_VGPU_SMALL_FLOAT_H
#define PTX2AMD_VGPU_SMALL_FLOAT_H

#include "valu_newer.h"

enum small_type { SMALL_fp8, SMALL_bf8, SMALL_fp6, SMALL_bf6, SMALL_fp4, SMALL_f16 };
/* largest: code of the largest value. over: code for larger values (infinity or NaN; `largest` if the format has
 * neither). */
struct small_format { uint8_t mantissa, bits, bias; uint16_t largest, over, nan; };
static const struct small_format small_formats[] = {
  [SMALL_fp8] = {3, 8, 7, 0x7e, 0x7f, 0x7f}, [SMALL_bf8] = {2, 8, 15, 0x7b, 0x7c, 0x7f},
  [SMALL_fp6] = {3, 6, 1, 0x1f, 0x1f, 0x1f}, [SMALL_bf6] = {2, 6, 3, 0x1f, 0x1f, 0x1f},
  [SMALL_fp4] = {1, 4, 1, 7, 7, 7}, [SMALL_f16] = {10, 16, 15, 0x7bff, 0x7c00, 0x7e00},
};

/* A code's value, exact. Not for f16. */
static inline float small_to_f32(const struct small_format *s, uint32_t code) {
  uint32_t sign = (code >> (s->bits - 1) & 1) << 31, magnitude = code & ((1u << (s->bits - 1)) - 1);
  if (magnitude > s->largest) return as_f32(sign | (magnitude == s->over && s->over != s->nan ? 0x7f800000 : 0x7fc00000));
  uint32_t e = magnitude >> s->mantissa, m = magnitude & ((1u << s->mantissa) - 1);
  if (e) m |= 1u << s->mantissa;
  float f = (float)(int32_t)m * as_f32((uint32_t)(127 + (e ? (int)e : 1) - s->bias - s->mantissa) << 23);
  return as_f32(f32_bits(f) | sign);
}

/* f / 2^scale in the format: rounded to nearest even, or (stochastic) with `noise` added to the discarded bits. */
static inline uint32_t f32_to_small(const struct small_format *s, float f, int scale, bool saturate, bool stochastic,
                                    uint32_t noise) {
  uint32_t u = f32_bits(f), sign = (u >> 31) << (s->bits - 1), over = saturate ? s->largest : s->over;
  u &= 0x7fffffff;
  if (u > 0x7f800000) return sign | s->nan;
  if (u == 0x7f800000) return sign | over;
  if (!u) return sign;
  uint64_t m = u < 0x800000 ? u : (u & 0x7fffff) | 0x800000;
  int quantum = (int)(u < 0x800000 ? 1 : u >> 23) - 150 - scale;        /* of m */
  int top = quantum + 63 - __builtin_clzll(m), lowest = 1 - s->bias;    /* exponents of the value, and of normal codes */
  if (top > s->bias + 2) return sign | over;
  bool normal = top >= lowest;
  int drop = (normal ? top : lowest) - s->mantissa - quantum;
  if (drop > 60) drop = 60;
  if (drop <= 0) {
    m <<= -drop;
  } else if (stochastic) {
    m = (m + (drop <= 32 ? (uint64_t)noise >> (32 - drop) : (uint64_t)noise << (drop - 32))) >> drop;
  } else {
    uint64_t rest = m & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
    m >>= drop;
    m += rest > half || (rest == half && (m & 1));
  }
  uint32_t code = normal ? ((uint32_t)(top - lowest) << s->mantissa) + (uint32_t)m : (uint32_t)m;
  return sign | (code > s->largest ? over : code);
}

/* Element `index` of values of `bits` bits each, packed in a lane's registers. */
static inline uint32_t packed_element(const uint32_t *v, int lane, int index, int bits) {
  int at = index * bits, word = at / 32, shift = at % 32;
  uint64_t pair = v[word * W + lane];
  if (shift + bits > 32) pair |= (uint64_t)v[(word + 1) * W + lane] << 32;
  return (uint32_t)(pair >> shift) & (uint32_t)((UINT64_C(1) << bits) - 1);
}
#endif
