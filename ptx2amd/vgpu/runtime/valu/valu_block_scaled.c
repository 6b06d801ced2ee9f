/* gfx950's MFMA of 8-, 6- and 4-bit floats (CBSZ and BLGP select the format of A and B), plain and with a scale for
 * every 32 k.
 *
 * A lane holds 32 k of a row of A (a column of B). 6 and 4 bits: consecutive from lane / m * 32; 8 bits: 16 from lane /
 * m * 16, and 16 in the second half of all k. Scale number b, a byte with exponent and bias 127, applies to k = 32 b to
 * 32 b + 31; it is in the lane of the row (column) in the b-th group of lanes. */
#include "small_float.h"
#include "valu_matrix.h"

#if W == 64

enum { MOST_K = 128, MOST_LINES = 32 };
static const enum small_type types[] = {SMALL_fp8, SMALL_bf8, SMALL_fp6, SMALL_bf6, SMALL_fp4};

static void unpack(struct wave *w, const struct inst *i, int operand, unsigned type, int lines, float (*to)[MOST_K]) {
  const struct small_format *format = &small_formats[types[type]];
  int groups = 64 / lines;
  const uint32_t *v = vgpr(w, i->src[operand]);
  for (int l = 0; l < 64; l++)
    for (int e = 0; e < 32; e++) {
      int group = l / lines, k = format->bits == 8 ? e / 16 * 16 * groups + group * 16 + e % 16 : group * 32 + e;
      to[l % lines][k] = small_to_f32(format, packed_element(v, l, e, format->bits));
    }
}

/* 2^(scale - 127) for a line's block; NaN for 255. 1 without scales. */
static double scale_of(struct wave *w, const struct inst *scales, int operand, int lines, int line, int block) {
  if (!scales) return 1;
  int lane = block * lines + line, byte = (scales->op_sel >> operand & 1) | (scales->op_sel_hi >> operand & 1) << 1;
  uint32_t word = scales->src_kind[operand] == OPERAND_VGPR ? vgpr(w, scales->src[operand])[lane]
                                                            : source_u32(w, scales, operand);
  uint32_t e = word >> 8 * byte & 255;
  return e == 255 ? as_f64(UINT64_C(0x7ff8) << 48) : as_f64((uint64_t)(1023 + (int)e - 127) << 52);
}

const struct inst *VG(valu_mfma_small)(struct wave *w, const struct inst *i, const struct matrix_shape *s) {
  static _Thread_local float a[MOST_LINES][MOST_K], b[MOST_LINES][MOST_K];
  float result[MOST_LINES * MOST_LINES];
  unsigned type_a = i->flags & 7, type_b = i->flags >> 7 & 7;
  if (type_a > 4 || type_b > 4)
    return wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, -1, 0, "%s with operand types %u and %u", i->op->name, type_a, type_b);
  const struct inst *scales = i->ext ? i->ext->x : NULL;
  set_mxcsr(0x1f80);
  unpack(w, i, 0, type_a, s->m, a);
  unpack(w, i, 1, type_b, s->n, b);
  for (int row = 0; row < s->m; row++)
    for (int column = 0; column < s->n; column++) {
      int reg, lane;
      matrix_place(s, 0, row, column, &reg, &lane);
      float sum = as_f32(i->src_kind[2] == OPERAND_VGPR ? vgpr(w, i->src[2] + (unsigned)reg)[lane] : source_u32(w, i, 2));
      for (int block = 0; block < s->k / 32; block++) {
        float part = 0;
        for (int k = block * 32; k < block * 32 + 32; k++) part = fma_f32(a[row][k], b[column][k], part);
        double scale = scale_of(w, scales, 0, s->m, row, block) * scale_of(w, scales, 1, s->n, column, block);
        sum = (float)((double)part * scale + (double)sum);
      }
      result[row * s->n + column] = sum;
    }
  for (int row = 0; row < s->m; row++)
    for (int column = 0; column < s->n; column++) {
      int reg, lane;
      matrix_place(s, 0, row, column, &reg, &lane);
      vgpr(w, i->dst + (unsigned)reg)[lane] = f32_bits(result[row * s->n + column]);
    }
  set_mxcsr(w->mxcsr);
  return NEXT(i);
}

#else

const struct inst *VG(valu_mfma_small)(struct wave *w, const struct inst *i, const struct matrix_shape *shape) {
  return matrix_wave32(w, i, shape);
}
#endif
