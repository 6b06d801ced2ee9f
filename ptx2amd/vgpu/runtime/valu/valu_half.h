/* 16-bit and 8-bit floating-point formats: conversion of rows to and from f32. */
#ifndef PTX2AMD_VGPU_VALU_HALF_H
#define PTX2AMD_VGPU_VALU_HALF_H

#include "valu.h"

#if defined(__F16C__)
static inline float half_to_f32(uint16_t h) { return _cvtsh_ss(h); }
static inline uint16_t f32_to_half(float f) { return _cvtss_sh(f, 4); } /* 4: MXCSR's rounding */
#else
static inline float half_to_f32(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;
  if (e == 31) return as_f32(sign | 0x7f800000 | m << 13 | (m ? 0x400000 : 0));
  if (e) return as_f32(sign | (e + 112) << 23 | m << 13);
  if (!m) return as_f32(sign);
  unsigned shift = (unsigned)__builtin_clz(m) - 21;
  return as_f32(sign | (113 - shift) << 23 | (m << shift & 1023) << 13);
}
static inline uint16_t f32_to_half(float f) {
  uint32_t u = f32_bits(f), sign = u >> 16 & 0x8000, round = _mm_getcsr() >> 13 & 3;
  u &= 0x7fffffff;
  if (u > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (u >> 13 & 0x3ff));
  if (u == 0x7f800000) return (uint16_t)(sign | 0x7c00);
  uint32_t bits; /* truncated result; the remainder decides the rounding */
  uint64_t rest, half;
  int e = (int)(u >> 23) - 112;
  if (e >= 31) return (uint16_t)(sign | (round == 0 || round == (sign ? 1u : 2u) ? 0x7c00 : 0x7bff));
  if (e > 0) {
    bits = (uint32_t)e << 10 | (u >> 13 & 0x3ff), rest = u & 0x1fff, half = 0x1000;
  } else {
    uint64_t m = u < 0x800000 ? u : (u & 0x7fffff) | 0x800000;
    int shift = (u < 0x800000 ? 0 : -e + 1) + 13 + (u < 0x800000 ? 112 : 0);
    if (shift > 40) shift = 40;
    if (u < 0x800000) shift = 40; /* f32 denormals are far below half of the smallest f16 */
    bits = (uint32_t)(m >> shift), rest = m & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
  }
  bool up = round == 0 ? rest > half || (rest == half && (bits & 1)) : round == (sign ? 1u : 2u) && rest;
  return (uint16_t)(sign | (bits + up));
}
#endif

static inline uint32_t flush_half(uint32_t h) { return (h & 0x7c00) ? h : h & 0x8000; }

/* Low halves of a row to f32. */
static inline void half_row(const struct wave *w, float *to, const uint32_t *from) {
#if defined(__AVX512F__)
  for (int l = 0; l < W; l += 16)
    _mm512_store_ps(to + l, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_load_si512(from + l))));
#else
  for (int l = 0; l < W; l++) to[l] = half_to_f32((uint16_t)from[l]);
#endif
  if (UNLIKELY(w->float_state[FLOAT_FLUSH16] & 1))
    for (int l = 0; l < W; l++) to[l] = half_to_f32((uint16_t)flush_half(from[l] & 0xffff));
}
/* f32 to halves in the low 16 bits, zeros above. */
static inline void half_pack(const struct wave *w, uint32_t *to, const float *from) {
#if defined(__AVX512F__)
  for (int l = 0; l < W; l += 16)
    _mm512_store_si512(to + l, _mm512_cvtepu16_epi32(_mm512_cvtps_ph(_mm512_load_ps(from + l), 4)));
#else
  for (int l = 0; l < W; l++) to[l] = f32_to_half(from[l]);
#endif
  if (UNLIKELY(w->float_state[FLOAT_FLUSH16] & 2))
    for (int l = 0; l < W; l++) to[l] = flush_half(to[l]);
}

/* Packed halves: 2 * W values, lane by lane, low before high. */
static inline void half_row2(const struct wave *w, float *to, const uint32_t *from) {
  const uint16_t *h = (const uint16_t *)from;
#if defined(__AVX512F__)
  for (int l = 0; l < 2 * W; l += 16)
    _mm512_store_ps(to + l, _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(h + l))));
#elif defined(__F16C__)
  for (int l = 0; l < 2 * W; l += 8)
    _mm256_store_ps(to + l, _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(h + l))));
#else
  for (int l = 0; l < 2 * W; l++) to[l] = half_to_f32(h[l]);
#endif
  if (UNLIKELY(w->float_state[FLOAT_FLUSH16] & 1))
    for (int l = 0; l < 2 * W; l++) to[l] = half_to_f32((uint16_t)flush_half(h[l]));
}
static inline void half_pack2(const struct wave *w, uint32_t *to, const float *from) {
  uint16_t *h = (uint16_t *)to;
#if defined(__AVX512F__)
  for (int l = 0; l < 2 * W; l += 16)
    _mm256_store_si256((__m256i *)(h + l), _mm512_cvtps_ph(_mm512_load_ps(from + l), 4));
#elif defined(__F16C__)
  for (int l = 0; l < 2 * W; l += 8)
    _mm_store_si128((__m128i *)(h + l), _mm256_cvtps_ph(_mm256_load_ps(from + l), 4));
#else
  for (int l = 0; l < 2 * W; l++) h[l] = f32_to_half(from[l]);
#endif
  if (UNLIKELY(w->float_state[FLOAT_FLUSH16] & 2))
    for (int l = 0; l < 2 * W; l++) h[l] = (uint16_t)flush_half(h[l]);
}

static inline float bf16_to_f32(uint32_t b) { return as_f32(b << 16); }
/* Round to nearest even; NaNs stay NaNs. */
static inline uint32_t f32_to_bf16(float f) {
  uint32_t u = f32_bits(f);
  if ((u & 0x7fffffff) > 0x7f800000) return u >> 16 | 0x40;
  return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

/* gfx942's 8-bit formats: fp8 is E4M3 with bias 8, bf8 is E5M2 with bias 16; both without infinities and -0,
 * 0x80 is the only NaN (the "FNUZ" formats). */
static inline float fnuz_to_f32(uint32_t b, int mantissa, int bias) {
  b &= 0xff;
  if (b == 0x80) return as_f32(0x7fc00000);
  uint32_t e = (b & 0x7f) >> mantissa, m = b & ((1u << mantissa) - 1);
  float scale = as_f32((uint32_t)(127 - bias - mantissa + (e ? (int)e : 1)) << 23);
  float f = (float)(e ? m | 1u << mantissa : m) * scale;
  return b & 0x80 ? -f : f;
}
static inline float fp8_to_f32(uint32_t b) { return fnuz_to_f32(b, 3, 8); }
static inline float bf8_to_f32(uint32_t b) { return fnuz_to_f32(b, 2, 16); }

/* The bits of a positive float in a format with `mantissa` bits and an exponent bias, rounded to nearest even; values
 * beyond the largest number give a code above its code. */
static inline uint64_t round_small(uint32_t u, int mantissa, int bias) {
  int e = (int)(u >> 23) - 127 + bias, drop = 23 - mantissa;
  uint64_t m = (u & 0x7fffff) | (u >= 0x800000 ? 0x800000 : 0);
  if (e < 1) {
    drop += 1 - e;
    if (drop > 40) drop = 40;
    e = 1;
  }
  uint64_t q = m >> drop, rest = m & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
  q += rest > half || (rest == half && (q & 1));
  return ((uint64_t)(e - 1) << mantissa) + q;
}
/* A float in an FNUZ format, rounded to nearest even; too large: the largest number or NaN. */
static inline uint32_t f32_to_fnuz(float f, int mantissa, int bias, bool saturate) {
  uint32_t u = f32_bits(f), sign = u >> 24 & 0x80;
  u &= 0x7fffffff;
  if (u > 0x7f800000) return 0x80;
  uint64_t r = round_small(u, mantissa, bias);
  if (u == 0x7f800000 || r > 0x7f) return saturate ? sign | 0x7f : 0x80;
  return r ? sign | (uint32_t)r : 0;
}
#define f32_to_fp8(f, saturate) f32_to_fnuz(f, 3, 8, saturate)
#define f32_to_bf8(f, saturate) f32_to_fnuz(f, 2, 16, saturate)
/* Stochastic: adds noise to the mantissa bits below the result's, then truncates. */
static inline float add_noise(float f, uint32_t noise) {
  uint32_t u = f32_bits(f);
  if ((u & 0x7f800000) == 0x7f800000) return f;
  return as_f32((u & 0xff800000) | ((u + (noise >> 12)) & 0x7fffff));
}

/* a * b + c of three f16 values, to be rounded to f16 afterwards: with round-to-nearest an inexact f32 result is made
 * odd (round-to-odd), so that rounding twice equals rounding once. */
static inline float fma_f16(float a, float b, float c, uint32_t nearest) {
  float p = a * b, s = p + c; /* the product of two f16 is exact in f32 */
  float t = s - p, error = (p - (s - t)) + (c - t);
  uint32_t bits = f32_bits(s);
  uint32_t up = f32_bits(error) >> 31 == bits >> 31;
  uint32_t odd = bits & 1 ? bits : up ? bits + 1 : bits - 1;
  /* error is NaN for infinite and NaN results */
  return as_f32(nearest && error != 0 && error == error ? odd : bits);
}
#endif
