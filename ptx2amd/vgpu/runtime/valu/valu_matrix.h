/* Matrix instructions: shapes and element types, as in the rows' MATRIX(...). */
#ifndef PTX2AMD_VGPU_VALU_MATRIX_H
#define PTX2AMD_VGPU_VALU_MATRIX_H

#include "valu_newer.h"

enum matrix_type {
  MATRIX_f16, MATRIX_bf16, MATRIX_f32, MATRIX_xf32, MATRIX_f64, MATRIX_i8, MATRIX_fp8, MATRIX_bf8, MATRIX_iu8,
  MATRIX_iu4, MATRIX_i32, MATRIX_e4m3, MATRIX_e5m2
};

/* D (m x n) = A (m x k) * B (k x n) + C, for each of `blocks` independent blocks. */
struct matrix_shape {
  uint8_t m, n, k, blocks;
  enum matrix_type a, b, d;
};

const struct inst *VG(valu_mfma)(struct wave *w, const struct inst *i, const struct matrix_shape *shape);
const struct inst *VG(valu_wmma)(struct wave *w, const struct inst *i, const struct matrix_shape *shape);
const struct inst *VG(valu_wmma12)(struct wave *w, const struct inst *i, const struct matrix_shape *shape);
const struct inst *VG(valu_smfmac)(struct wave *w, const struct inst *i, const struct matrix_shape *shape);
const struct inst *VG(valu_swmmac)(struct wave *w, const struct inst *i, const struct matrix_shape *shape);
const struct inst *VG(valu_mfma_small)(struct wave *w, const struct inst *i, const struct matrix_shape *shape);

/* Number of bits of an element. */
static inline int matrix_bits(enum matrix_type type) {
  switch (type) {
  case MATRIX_f16: case MATRIX_bf16: return 16;
  case MATRIX_f64: return 64;
  case MATRIX_i8: case MATRIX_iu8: case MATRIX_fp8: case MATRIX_bf8: case MATRIX_e4m3: case MATRIX_e5m2: return 8;
  case MATRIX_iu4: return 4;
  default: return 32;
  }
}

static inline bool matrix_is_integer(enum matrix_type type) {
  return type == MATRIX_i8 || type == MATRIX_iu8 || type == MATRIX_iu4 || type == MATRIX_i32;
}

/* MFMA: register (pair) and lane of D's element. */
static inline void matrix_place(const struct matrix_shape *s, int block, int row, int column, int *reg, int *lane) {
  int groups = 64 / s->n;            /* lane groups that share a column */
  if (s->m == 4) {                   /* each group of four lanes is a block */
    *reg = s->d == MATRIX_f64 ? 0 : row;
    *lane = s->d == MATRIX_f64 ? row * 16 + block * 4 + column : block * 4 + column;
  } else if (s->d == MATRIX_f64) {
    *reg = row / groups;
    *lane = row % groups * s->n + column;
  } else {
    *reg = block * (s->m / groups) + row / (4 * groups) * 4 + row % 4;
    *lane = row / 4 % groups * s->n + column;
  }
}

/* MFMA and SMFMAC do not exist in waves of 32 lanes on CDNA; for those builds: */
static inline const struct inst *matrix_wave32(struct wave *w, const struct inst *i, const struct matrix_shape *shape) {
  (void)shape;
  return wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, -1, 0, "%s in a wave of 32 lanes", i->op->name);
}

/* WMMA on GFX12: row of result number r in lane l. In waves of 64 lanes, bit 4 of the lane selects the half of the
 * rows, bit 5 a half of that. */
static inline int wmma12_row(int l, int r) {
  return W == 32 ? l / 16 * 8 + r : (l >> 4 & 1) * 8 + (l >> 5) * 4 + r;
}

/* Element bits to f32 (exact for all floating types except f64). XF32 drops the low bits of f32, as the chip does. */
static inline float matrix_f32(enum matrix_type type, uint32_t bits) {
  switch (type) {
  case MATRIX_f16: return half_to_f32((uint16_t)bits);
  case MATRIX_bf16: return bf16_to_f32(bits);
  case MATRIX_fp8: return fp8_to_f32(bits);
  case MATRIX_bf8: return bf8_to_f32(bits);
  case MATRIX_e4m3: return e4m3_to_f32(bits);
  case MATRIX_e5m2: return e5m2_to_f32(bits);
  case MATRIX_xf32: return as_f32(bits & 0xffffe000);
  default: return as_f32(bits);
  }
}
#endif
