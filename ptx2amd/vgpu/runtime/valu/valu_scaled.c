/* gfx950's conversions to and from floats of 8, 6 and 4 bits with a scale, of which only the exponent is used.
 *
 * Values become value / 2^scale, codes code * 2^scale. One and two values are written to (read from) a byte or half of
 * a register selected by OPSEL; 32 of them fill 6 registers. Stochastic rounding uses the seed unchanged for every
 * value. Values that are too large become the largest number in formats without infinity; in 8-bit formats infinity or
 * NaN, unless MODE's FP16_OVFL is set; a NaN becomes the largest number if the format has none. */
#include "valu_scaled.h"

static float wide_value(enum wide_type type, uint32_t bits) {
  return type == WIDE_f32 ? as_f32(bits) : type == WIDE_f16 ? half_to_f32((uint16_t)bits) : bf16_to_f32(bits);
}

static const uint32_t *rows_of(struct wave *w, const struct inst *i, int k, uint32_t *temp) {
  if (i->src_kind[k] == OPERAND_VGPR) return vgpr(w, i->src[k]);
  uint64_t value = source_u64(w, i, k);
  broadcast(temp, (uint32_t)value);
  broadcast(temp + W, (uint32_t)(value >> 32));
  return temp;
}

/* Value number j of the sources, with its modifiers. */
static float source_value(const struct inst *i, const struct scaled_shape *s, const uint32_t *const *rows, int lane, int j) {
  int k = s->sources > 1 && j >= s->count / s->sources ? 1 : 0, at = k ? j - s->count / s->sources : j;
  int bits = s->wide == WIDE_f32 ? 32 : 16;
  uint32_t u = packed_element(rows[k], lane, at, bits);
  if (i->abs >> k & 1) u &= bits == 32 ? 0x7fffffff : 0x7fff;
  if (i->neg >> k & 1) u ^= bits == 32 ? 0x80000000 : 0x8000;
  return wide_value(s->wide, u);
}

static void put_bits(uint32_t *v, int lane, int at, int bits, uint32_t value) {
  uint32_t mask = (uint32_t)((UINT64_C(1) << bits) - 1);
  int word = at / 32, shift = at % 32;
  v[word * W + lane] = (v[word * W + lane] & ~(mask << shift)) | value << shift;
  if (shift + bits > 32) {
    uint32_t *next = v + (word + 1) * W + lane;
    *next = (*next & ~(mask >> (32 - shift))) | value >> (32 - shift);
  }
}

const struct inst *VG(valu_narrow)(struct wave *w, const struct inst *i, const struct scaled_shape *s) {
  const struct small_format *format = &small_formats[s->small];
  ROW uint32_t temp[4][2 * W];
  const uint32_t *rows[4];
  ROW uint32_t result[6 * W];
  for (int k = 0; k < i->op->n_src; k++) rows[k] = rows_of(w, i, k, temp[k]);
  const uint32_t *seed = s->stochastic ? rows[s->sources] : NULL, *scale = rows[s->sources + (s->stochastic ? 1 : 0)];
  int bits = format->bits * s->count, select = i->op_sel >> 2 & 3, at = bits == 16 ? (select & 2) * 8 : select * 8;
  bool saturate = format->bits < 8 || w->mode >> 23 & 1;
  uint64_t exec = wave_exec(w);
  uint32_t *d = vgpr(w, i->dst);
  for (int l = 0; l < W; l++) {
    if (!(exec >> l & 1)) continue;
    int exponent = (int)(scale[l] >> 23 & 255);
    for (int r = 0; r < (bits + 31) / 32; r++) result[r * W + l] = d[r * W + l];
    for (int j = 0; j < s->count; j++) {
      float f = exponent == 255 ? as_f32(0x7fc00000) : source_value(i, s, rows, l, j);
      uint32_t code = f32_to_small(format, f, exponent - 127, saturate, s->stochastic, seed ? seed[l] : 0);
      put_bits(result, l, (bits < 32 ? at : 0) + j * format->bits, format->bits, code);
    }
    for (int r = 0; r < (bits + 31) / 32; r++) d[r * W + l] = result[r * W + l];
  }
  return NEXT(i);
}

const struct inst *VG(valu_widen)(struct wave *w, const struct inst *i, const struct scaled_shape *s) {
  const struct small_format *format = &small_formats[s->small];
  ROW uint32_t temp[2][2 * W];
  const uint32_t *codes = rows_of(w, i, 0, temp[0]), *scale = rows_of(w, i, 1, temp[1]);
  int bits = format->bits * s->count, select = i->op_sel & 3;
  int at = bits > 32 ? 0 : bits == 16 ? (select & 1) * 2 : select;   /* byte of the source */
  int wide = s->wide == WIDE_f32 ? 32 : 16;
  uint64_t exec = wave_exec(w);
  uint32_t *d = vgpr(w, i->dst);
  set_mxcsr(0x1f80);
  for (int l = 0; l < W; l++) {
    if (!(exec >> l & 1)) continue;
    int exponent = (int)(scale[l] >> 23 & 255);
    uint32_t source[6], result[32];
    for (int r = 0; r < (bits + 31) / 32; r++) source[r] = codes[r * W + l];
    if (bits < 32) source[0] >>= at * 8;
    for (int j = 0; j < s->count; j++) {
      int from = j * format->bits;
      uint64_t pair = source[from / 32] | (from % 32 + format->bits > 32 ? (uint64_t)source[from / 32 + 1] << 32 : 0);
      float f = small_to_f32(format, (uint32_t)(pair >> from % 32) & ((1u << format->bits) - 1));
      f = exponent == 255 ? as_f32(0x7fc00000) : (float)((double)f * as_f64((uint64_t)(1023 + exponent - 127) << 52));
      result[j] = s->wide == WIDE_f32 ? f32_bits(f) : s->wide == WIDE_f16 ? f32_to_half(f) : f32_to_bf16(f);
    }
    if (s->count == 1 && wide == 16) {
      put_bits(d, l, i->op_sel & 8 ? 16 : 0, 16, result[0]);
    } else {
      for (int j = 0; j < s->count; j++) put_bits(d, l, j * wide, wide, result[j]);
    }
  }
  set_mxcsr(w->mxcsr);
  return NEXT(i);
}
