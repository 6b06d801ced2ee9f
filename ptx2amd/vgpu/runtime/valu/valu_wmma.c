/* WMMA, the 16x16x16 matrix instructions of RDNA 3. Lanes 16 and up hold copies of the first 16 lanes' A and B.
 *
 * A: row lane % 16, B: column lane % 16, all 16 k of it packed in the lane's registers. D: column lane % 16, row
 * reg * (W / 16) + lane / 16. 16-bit results take half a register each; op_sel[2] says which. */
#include "valu_matrix.h"

static void unpack(struct wave *w, const struct inst *i, int operand, enum matrix_type type, bool is_signed, int lane,
                   float *f, int32_t *n) {
  int bits = matrix_bits(type);
  for (int k = 0; k < 16; k++) {
    int at = k * bits;
    uint32_t word = i->src_kind[operand] == OPERAND_VGPR ? vgpr(w, i->src[operand] + (unsigned)at / 32)[lane]
                                                         : source_u32(w, i, operand);
    uint32_t v = word >> at % 32;
    if (type == MATRIX_f16 || type == MATRIX_bf16) {
      bool neg = k & 1 ? i->neg_hi >> operand & 1 : i->neg >> operand & 1;
      f[k] = matrix_f32(type, (v & 65535) ^ (neg ? 0x8000 : 0));
    } else {
      v <<= 32 - bits;
      n[k] = is_signed ? (int32_t)v >> (32 - bits) : (int32_t)(v >> (32 - bits));
    }
  }
}

const struct inst *VG(valu_wmma)(struct wave *w, const struct inst *i, const struct matrix_shape *s) {
  float a[16][16], b[16][16];
  int32_t x[16][16], y[16][16];
  enum { GROUPS = W / 16, REGISTERS = 16 / GROUPS };
  uint32_t result[REGISTERS][W];
  bool half = s->d == MATRIX_f16 || s->d == MATRIX_bf16, high = half && i->op_sel & 4, integer = s->d == MATRIX_i32;
  for (int l = 0; l < 16; l++) {
    unpack(w, i, 0, s->a, i->neg & 1, l, a[l], x[l]);
    unpack(w, i, 1, s->b, i->neg & 2, l, b[l], y[l]);
  }
  set_mxcsr(0x1f80);
  for (int reg = 0; reg < REGISTERS; reg++)
    for (int l = 0; l < W; l++) {
      int row = reg * GROUPS + l / 16, column = l % 16;
      uint32_t c = i->src_kind[2] == OPERAND_VGPR ? vgpr(w, i->src[2] + (unsigned)reg)[l] : source_u32(w, i, 2);
      if (integer) {
        int64_t sum = (int32_t)c;
        for (int k = 0; k < 16; k++) sum += x[row][k] * y[column][k];
        result[reg][l] = (uint32_t)(i->clamp ? sat_i32(sum) : (int32_t)sum);
        continue;
      }
      if (i->src_kind[2] == OPERAND_VGPR && high) c >>= 16;
      float sum = half ? matrix_f32(s->d, c & 65535) : as_f32(c);
      if (i->neg_hi & 4) sum = __builtin_fabsf(sum);
      if (i->neg & 4) sum = -sum;
      for (int k = 0; k < 16; k++) sum = fma_f32(a[row][k], b[column][k], sum);
      result[reg][l] = s->d == MATRIX_f16 ? f32_to_half(sum) : s->d == MATRIX_bf16 ? f32_to_bf16(sum) : f32_bits(sum);
    }
  set_mxcsr(w->mxcsr);
  for (int reg = 0; reg < REGISTERS; reg++) {
    uint32_t *d = vgpr(w, i->dst + (unsigned)reg);
    for (int l = 0; l < W; l++)
      d[l] = !half ? result[reg][l] : high ? result[reg][l] << 16 | (d[l] & 65535) : result[reg][l] | (d[l] & 0xffff0000);
  }
  return NEXT(i);
}

/* GFX12: a lane holds k / (W / 16) k of row (column) lane % 16, but at least a whole register (then only the lower half
 * of a wave of 64 has elements); the order of k does not matter, because A and B agree. Results are (16 / (W / 16))
 * consecutive rows, 16-bit ones two per register. */
static void unpack12(struct wave *w, const struct inst *i, int operand, enum matrix_type type, int depth, bool is_signed,
                     float (*f)[32], int32_t (*n)[32]) {
  int bits = matrix_bits(type), lanes = depth * 16 / W * bits < 32 ? W / 2 : W, per_lane = depth * 16 / lanes;
  for (int l = 0; l < lanes; l++)
    for (int j = 0; j < per_lane; j++) {
      int at = j * bits, k = l / 16 * per_lane + j;
      uint32_t word = i->src_kind[operand] == OPERAND_VGPR ? vgpr(w, i->src[operand] + (unsigned)at / 32)[l]
                                                           : source_u32(w, i, operand);
      uint32_t v = word >> at % 32;
      if (type == MATRIX_f16 || type == MATRIX_bf16) {
        bool neg = k & 1 ? i->neg_hi >> operand & 1 : i->neg >> operand & 1;
        f[l % 16][k] = matrix_f32(type, (v & 65535) ^ (neg ? 0x8000 : 0));
      } else if (type == MATRIX_e4m3 || type == MATRIX_e5m2) {
        f[l % 16][k] = matrix_f32(type, v & 255);
      } else {
        v <<= 32 - bits;
        n[l % 16][k] = is_signed ? (int32_t)v >> (32 - bits) : (int32_t)(v >> (32 - bits));
      }
    }
}

const struct inst *VG(valu_wmma12)(struct wave *w, const struct inst *i, const struct matrix_shape *s) {
  float a[16][32], b[16][32];
  int32_t x[16][32], y[16][32];
  enum { ROWS = 256 / W };   /* of a lane's results */
  uint32_t result[ROWS][W];
  bool half = s->d == MATRIX_f16 || s->d == MATRIX_bf16, integer = s->d == MATRIX_i32;
  unpack12(w, i, 0, s->a, s->k, i->neg & 1, a, x);
  unpack12(w, i, 1, s->b, s->k, i->neg & 2, b, y);
  set_mxcsr(0x1f80);
  for (int r = 0; r < ROWS; r++)
    for (int l = 0; l < W; l++) {
      int row = wmma12_row(l, r), column = l % 16;
      uint32_t c = i->src_kind[2] == OPERAND_VGPR ? vgpr(w, i->src[2] + (unsigned)(half ? r / 2 : r))[l]
                                                  : source_u32(w, i, 2);
      if (integer) {
        int64_t sum = (int32_t)c;
        for (int k = 0; k < s->k; k++) sum += x[row][k] * y[column][k];
        result[r][l] = (uint32_t)(i->clamp ? sat_i32(sum) : (int32_t)sum);
        continue;
      }
      if (half && r & 1 && i->src_kind[2] == OPERAND_VGPR) c >>= 16;
      float sum = half ? matrix_f32(s->d, c & 65535) : as_f32(c);
      if (i->neg_hi & 4) sum = __builtin_fabsf(sum);
      if (i->neg & 4) sum = -sum;
      for (int k = 0; k < s->k; k++) sum = fma_f32(a[row][k], b[column][k], sum);
      result[r][l] = s->d == MATRIX_f16 ? f32_to_half(sum) : s->d == MATRIX_bf16 ? f32_to_bf16(sum) : f32_bits(sum);
    }
  set_mxcsr(w->mxcsr);
  for (int r = 0; r < ROWS; r += half ? 2 : 1) {
    uint32_t *d = vgpr(w, i->dst + (unsigned)(half ? r / 2 : r));
    for (int l = 0; l < W; l++) d[l] = half ? result[r][l] | result[r + 1][l] << 16 : result[r][l];
  }
  return NEXT(i);
}
