/* MFMA, the matrix instructions of CDNA. All lanes participate whatever EXEC contains, and MODE does not apply.
 *
 * Layout, with the K elements of a lane's A or B registers being consecutive k: lane = (k / K) * m * blocks' lanes ...
 * A: row lane % m; the other lane bits are block, then k, in that order. B: column lane % n likewise. D: column lane %
 * n. Results of 4 consecutive rows are in 4 consecutive registers, followed by the lane groups of n lanes, then by
 * further registers; f64 has one row per register pair instead of four. */
#include "valu_matrix.h"

/* The same, as on gfx90a for f16 and bf16: subnormal numbers are zero in sources, accumulators and results. */
const struct inst *VG(valu_mfma_flushed)(struct wave *w, const struct inst *i, const struct matrix_shape *shape);

#if W == 64

enum { MAX_A = 32 * 32 * 2, MAX_D = 32 * 32 * 2 };

/* The lane from which lane `l` reads B (blgp). */
static int b_lane(unsigned pattern, int l) {
  switch (pattern) {
  case 1: return l & 31;
  case 2: return 32 | (l & 31);
  case 3: return (l + 16) & 63;
  case 4: case 5: case 6: case 7: return (int)(pattern - 4) * 16 | (l & 15);
  default: return l;
  }
}

static uint32_t element(const uint32_t *const *rows, int lane, int index, int bits) {
  int at = index * bits;
  return rows[at / 32][lane] >> at % 32 & (uint32_t)((UINT64_C(1) << bits) - 1);
}

/* Position of element `j` of lane `l`: row or column `line`, block and k, for a matrix of `lines` lines. */
static void locate(const struct matrix_shape *s, int lines, int per_lane, int l, int j, int *line, int *block, int *k) {
  int group = l / lines;
  *line = l % lines;
  *block = group % s->blocks;
  *k = group / s->blocks * per_lane + j;
}

static void source_rows(struct wave *w, const struct inst *i, int operand, int dwords, const uint32_t **rows,
                        uint32_t *temp) {
  if (i->src_kind[operand] == OPERAND_VGPR) {
    for (int k = 0; k < dwords; k++) rows[k] = vgpr(w, i->src[operand] + (unsigned)k);
    return;
  }
  uint64_t value = source_u64(w, i, operand);
  broadcast(temp, (uint32_t)value);
  broadcast(temp + W, (uint32_t)(value >> 32));
  for (int k = 0; k < dwords; k++) rows[k] = temp + (k & 1) * W;
}

static void multiply_f32(const struct matrix_shape *s, const float *a, const float *b, float *d) {
  for (int row = 0; row < s->m; row++) {
    float *out = d + row * s->n;
    for (int k = 0; k < s->k; k++) {
      float x = a[row * s->k + k];
      const float *y = b + k * s->n;
      _Pragma("GCC ivdep") for (int c = 0; c < s->n; c++) out[c] = fma_f32(x, y[c], out[c]);
    }
  }
}
static void multiply_f64(const struct matrix_shape *s, const double *a, const double *b, double *d) {
  for (int row = 0; row < s->m; row++)
    for (int k = 0; k < s->k; k++)
      for (int c = 0; c < s->n; c++)
        d[row * s->n + c] = fma_f64(a[row * s->k + k], b[k * s->n + c], d[row * s->n + c]);
}
static void multiply_i32(const struct matrix_shape *s, const int32_t *a, const int32_t *b, int32_t *d) {
  for (int row = 0; row < s->m; row++)
    for (int k = 0; k < s->k; k++)
      for (int c = 0; c < s->n; c++)
        d[row * s->n + c] += (int32_t)((uint32_t)a[row * s->k + k] * (uint32_t)b[k * s->n + c]);
}

/* An element of A or B; subnormal f16 and bf16 as zero, if these are flushed. */
static float source_f32(enum matrix_type type, uint32_t bits, bool flushes) {
  uint32_t exponent = type == MATRIX_f16 ? 0x7c00 : 0x7f80;
  return matrix_f32(type, flushes && !(bits & exponent) ? bits & 0x8000 : bits);
}

static const struct inst *mfma(struct wave *w, const struct inst *i, const struct matrix_shape *s, bool flushes) {
  union number { float f; int32_t i; };
  static _Thread_local union { float f[MAX_A]; int32_t i[MAX_A]; double d[MAX_A / 2]; } a, b, d;
  const uint32_t *rows[8], *acc[64];
  ROW uint32_t temp[2 * W];
  int bits = matrix_bits(s->a), per_a = s->m * s->k * s->blocks / 64, dwords = per_a * bits / 32;
  int per_b = s->n * s->k * s->blocks / 64, size_a = s->m * s->k, size_b = s->k * s->n, size_d = s->m * s->n;
  bool f64 = s->d == MATRIX_f64, integer = s->d == MATRIX_i32;
  unsigned broadcast_log = f64 ? 0 : i->flags & 7, broadcast_block = i->flags >> 3 & 15, pattern = f64 ? 0 : i->flags >> 7 & 7;
  if (dwords == 0) dwords = 1;
  set_mxcsr(0x1f80);

  source_rows(w, i, 0, dwords, rows, temp);
  for (int l = 0; l < 64; l++)
    for (int j = 0; j < per_a; j++) {
      int line, block, k;
      locate(s, s->m, per_a, l, j, &line, &block, &k);
      int at = block * size_a + line * s->k + k;
      if (f64) a.d[at] = as_f64(join(rows[0][l], rows[1][l]) ^ (uint64_t)(i->neg & 1) << 63);
      else if (integer) a.i[at] = (int8_t)element(rows, l, j, bits);
      else a.f[at] = source_f32(s->a, element(rows, l, j, bits), flushes);
    }
  bits = matrix_bits(s->b);
  source_rows(w, i, 1, dwords, rows, temp);
  for (int l = 0; l < 64; l++)
    for (int j = 0; j < per_b; j++) {
      int line, block, k, from = b_lane(pattern, l);
      locate(s, s->n, per_b, l, j, &line, &block, &k);
      int at = block * size_b + k * s->n + line;
      if (f64) b.d[at] = as_f64(join(rows[0][l], rows[1][l]) ^ (uint64_t)(i->neg >> 1 & 1) << 63);
      else if (integer) b.i[at] = (int8_t)element(rows, from, j, bits);
      else b.f[at] = source_f32(s->b, element(rows, from, j, bits), flushes);
    }

  int results = size_d * s->blocks / 64 * (f64 ? 2 : 1);
  bool constant = i->src_kind[2] != OPERAND_VGPR;
  source_rows(w, i, 2, results, acc, temp);
  for (int block = 0; block < s->blocks; block++)
    for (int row = 0; row < s->m; row++)
      for (int column = 0; column < s->n; column++) {
        int reg, lane, at = block * size_d + row * s->n + column;
        matrix_place(s, block, row, column, &reg, &lane);
        if (f64) d.d[at] = as_f64(join(acc[2 * reg][lane], acc[2 * reg + 1][lane]) ^ (uint64_t)(i->neg >> 2 & 1) << 63);
        else d.i[at] = (int32_t)(constant ? acc[0][lane] : acc[reg][lane]);
        if (flushes) d.f[at] = flush_f32(d.f[at]);
      }

  for (int block = 0; block < s->blocks; block++) {
    int from = (block >> broadcast_log << broadcast_log) + (broadcast_log ? (int)broadcast_block : 0);
    if (from >= s->blocks) from = block;
    if (f64) multiply_f64(s, a.d + from * size_a, b.d + block * size_b, d.d + block * size_d);
    else if (integer) multiply_i32(s, a.i + from * size_a, b.i + block * size_b, d.i + block * size_d);
    else multiply_f32(s, a.f + from * size_a, b.f + block * size_b, d.f + block * size_d);
  }

  for (int block = 0; block < s->blocks; block++)
    for (int row = 0; row < s->m; row++)
      for (int column = 0; column < s->n; column++) {
        int reg, lane, at = block * size_d + row * s->n + column;
        matrix_place(s, block, row, column, &reg, &lane);
        if (f64) {
          uint64_t v = f64_bits(d.d[at]);
          vgpr(w, i->dst + 2u * (unsigned)reg)[lane] = (uint32_t)v;
          vgpr(w, i->dst + 2u * (unsigned)reg + 1)[lane] = (uint32_t)(v >> 32);
        } else {
          vgpr(w, i->dst + (unsigned)reg)[lane] = flushes ? f32_bits(flush_f32(d.f[at])) : (uint32_t)d.i[at];
        }
      }
  set_mxcsr(w->mxcsr);
  return NEXT(i);
}

const struct inst *VG(valu_mfma)(struct wave *w, const struct inst *i, const struct matrix_shape *shape) {
  return mfma(w, i, shape, false);
}
const struct inst *VG(valu_mfma_flushed)(struct wave *w, const struct inst *i, const struct matrix_shape *shape) {
  return mfma(w, i, shape, true);
}

#else /* CDNA has no waves of 32 lanes */

const struct inst *VG(valu_mfma)(struct wave *w, const struct inst *i, const struct matrix_shape *shape) {
  return matrix_wave32(w, i, shape);
}
const struct inst *VG(valu_mfma_flushed)(struct wave *w, const struct inst *i, const struct matrix_shape *shape) {
  return matrix_wave32(w, i, shape);
}
#endif
