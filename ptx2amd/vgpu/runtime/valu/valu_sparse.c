/* Sparse matrix instructions: SMFMAC of CDNA 3 and 4, SWMMAC of RDNA 4. D += A * B, where at most two of four
 * neighbouring k of a row of A are stored, and an index register selects them: two bits for each stored element.
 *
 * A lane holds some k of a row of A (a column of B): stored elements in order, those of B in order, so that elements j
 * = 2 p, 2 p + 1 of a lane of A correspond to elements 4 p .. 4 p + 3 of the lane of B in the same group of lanes. The
 * index bits are those of A's lane. Results have the layout of the dense instructions. */
#include "valu_matrix.h"

enum { MOST = 32 };   /* elements of a lane */

/* `count` elements of a lane's registers; f for floats, n for integers. */
static void lane_elements(struct wave *w, const struct inst *i, int operand, enum matrix_type type, bool is_signed,
                          int lane, int count, float *f, int32_t *n) {
  int bits = matrix_bits(type);
  for (int j = 0; j < count; j++) {
    uint32_t v = vgpr(w, i->src[operand] + (unsigned)(j * bits / 32))[lane] >> j * bits % 32;
    if (matrix_is_integer(type)) {
      v <<= 32 - bits;
      n[j] = is_signed ? (int32_t)v >> (32 - bits) : (int32_t)(v >> (32 - bits));
    } else {
      f[j] = matrix_f32(type, v & (uint32_t)((UINT64_C(1) << bits) - 1));
    }
  }
}

struct product { float f; int64_t n; };

/* Adds a lane of A times a lane of B. */
static void add_products(struct product *sum, const float *af, const int32_t *an, const float *bf, const int32_t *bn,
                         uint32_t index, int stored, bool integer) {
  for (int j = 0; j < stored; j++) {
    int at = j / 2 * 4 + (int)(index >> 2 * j & 3);
    if (integer) sum->n += (int64_t)an[j] * bn[at];
    else sum->f = fma_f32(af[j], bf[at], sum->f);
  }
}

#if W == 64
const struct inst *VG(valu_smfmac)(struct wave *w, const struct inst *i, const struct matrix_shape *s) {
  int groups = 64 / s->m, stored = s->k / groups / 2;
  int sets = 16 / stored, set = (i->flags & 7) ? 0 : (i->flags >> 3 & 15) % (sets ? sets : 1);   /* cbsz, abid */
  bool integer = s->d == MATRIX_i32;
  static _Thread_local float af[64][MOST], bf[64][MOST];
  static _Thread_local int32_t an[64][MOST], bn[64][MOST];
  uint32_t index[64], result[32 * 32];
  for (int l = 0; l < 64; l++) {
    lane_elements(w, i, 0, s->a, true, l, stored, af[l], an[l]);
    lane_elements(w, i, 1, s->b, true, l, 2 * stored, bf[l], bn[l]);
    index[l] = vgpr(w, i->src[2])[l] >> set * 2 * stored % 32;
  }
  set_mxcsr(0x1f80);
  for (int row = 0; row < s->m; row++)
    for (int column = 0; column < s->n; column++) {
      int reg, lane;
      matrix_place(s, 0, row, column, &reg, &lane);
      uint32_t c = vgpr(w, i->dst + (unsigned)reg)[lane];
      struct product sum = {as_f32(c), (int32_t)c};
      for (int g = 0; g < groups; g++) {
        int a = g * s->m + row, b = g * s->n + column;
        add_products(&sum, af[a], an[a], bf[b], bn[b], index[a], stored, integer);
      }
      result[row * s->n + column] = integer ? (uint32_t)sum.n : f32_bits(sum.f);
    }
  set_mxcsr(w->mxcsr);
  for (int row = 0; row < s->m; row++)
    for (int column = 0; column < s->n; column++) {
      int reg, lane;
      matrix_place(s, 0, row, column, &reg, &lane);
      vgpr(w, i->dst + (unsigned)reg)[lane] = result[row * s->n + column];
    }
  return NEXT(i);
}
#else
const struct inst *VG(valu_smfmac)(struct wave *w, const struct inst *i, const struct matrix_shape *shape) {
  return matrix_wave32(w, i, shape);
}
#endif

const struct inst *VG(valu_swmmac)(struct wave *w, const struct inst *i, const struct matrix_shape *s) {
  enum { GROUPS = W / 16, ROWS = 256 / W };
  bool integer = s->d == MATRIX_i32, half = s->d == MATRIX_f16 || s->d == MATRIX_bf16;
  /* A lane of A holds at least a whole register: in small shapes only the lower half of a wave of 64 has elements. */
  int groups = s->k / 2 / GROUPS * matrix_bits(s->a) < 32 ? GROUPS / 2 : GROUPS;
  int stored = s->k / 2 / groups, dense = s->k / GROUPS;
  int sets = 16 / stored, set = (i->op_sel & 3) % (sets ? sets : 1);
  float af[W][MOST], bf[W][MOST];
  int32_t an[W][MOST], bn[W][MOST];
  uint32_t index[W], result[ROWS][W];
  for (int l = 0; l < W; l++) {
    lane_elements(w, i, 0, s->a, i->neg & 1, l, stored, af[l], an[l]);
    index[l] = vgpr(w, i->src[2])[l] >> set * 2 * stored % 32;
  }
  for (int l = 0; l < groups * 16; l++)
    for (int part = 0; part < GROUPS / groups; part++)   /* the other part of a column is 32 lanes higher */
      lane_elements(w, i, 1, s->b, i->neg & 2, l + part * 32, dense, bf[l] + part * dense, bn[l] + part * dense);
  set_mxcsr(0x1f80);
  for (int r = 0; r < ROWS; r++)
    for (int l = 0; l < W; l++) {
      int row = wmma12_row(l, r), column = l % 16;
      uint32_t c = vgpr(w, i->dst + (unsigned)(half ? r / 2 : r))[l];
      if (half && r & 1) c >>= 16;
      struct product sum = {half ? matrix_f32(s->d, c & 65535) : as_f32(c), (int32_t)c};
      for (int g = 0; g < groups; g++) {
        int a = g * 16 + row, b = g * 16 + column;
        add_products(&sum, af[a], an[a], bf[b], bn[b], index[a], stored, integer);
      }
      result[r][l] = integer ? (uint32_t)(i->clamp ? sat_i32(sum.n) : (int32_t)sum.n)
                   : s->d == MATRIX_f16 ? f32_to_half(sum.f) : s->d == MATRIX_bf16 ? f32_to_bf16(sum.f) : f32_bits(sum.f);
    }
  set_mxcsr(w->mxcsr);
  for (int r = 0; r < ROWS; r += half ? 2 : 1) {
    uint32_t *d = vgpr(w, i->dst + (unsigned)(half ? r / 2 : r));
    for (int l = 0; l < W; l++) d[l] = half ? result[r][l] | result[r + 1][l] << 16 : result[r][l];
  }
  return NEXT(i);
}
