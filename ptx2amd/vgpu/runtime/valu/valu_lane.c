/* Vector instructions that move values between lanes, between vector and scalar registers, or by register index. */
#include "ops.h"
#include "valu_newer.h"

#define HANDLER(name) const struct inst *VG(name)(struct wave *w, const struct inst *i)
HANDLER(valu_nop);
HANDLER(valu_mov);
HANDLER(valu_readfirstlane);
HANDLER(valu_readlane);
HANDLER(valu_writelane);
HANDLER(valu_swap);
HANDLER(valu_swap16_all);
HANDLER(valu_permlane16_all);
HANDLER(valu_permlanex16_all);
HANDLER(valu_permlane64);
HANDLER(valu_permlane16_var_all);
HANDLER(valu_permlanex16_var_all);
HANDLER(valu_bitop3_all);
HANDLER(valu_bitop3_b16_all);
HANDLER(valu_permlane16_swap);
HANDLER(valu_permlane32_swap);
HANDLER(valu_movreld);
HANDLER(valu_movrels);
HANDLER(valu_movrelsd);
HANDLER(valu_movrelsd_2);
HANDLER(valu_swaprel);
HANDLER(valu_mqsad_u32_u8);
HANDLER(valu_pk_mov_all);
HANDLER(valu_vopd);

HANDLER(valu_nop) {
  (void)w;
  return NEXT(i);
}

static void write_row(struct wave *w, unsigned row, const uint32_t *from) {
  uint32_t *d = vgpr(w, row);
  if (LIKELY(wave_exec(w) == LANES_ALL)) memmove(d, from, W * 4);
  else blend(d, from, wave_exec(w));
}

/* Register index mode of GFX9 (s_set_gpr_idx_on): M0 [7:0] is added to the registers selected by M0 [15:12]. */
enum { MODE_GPR_INDEX = 1 << 27, INDEX_SRC0 = 1 << 12, INDEX_DST = 1 << 15 };

HANDLER(valu_mov) {
  ROW uint32_t temp[W];
  if (UNLIKELY(w->mode & MODE_GPR_INDEX) && i->op->generation == 0) {
    uint32_t m0 = w->s[S_M0], index = m0 & 255;
    unsigned source = i->src[0] + (m0 & INDEX_SRC0 ? index : 0), dst = i->dst + (m0 & INDEX_DST ? index : 0);
    bool vector = i->src_kind[0] == OPERAND_VGPR;
    const uint32_t *row = row32(w, i, 0, temp);
    if (vector) memcpy(temp, vgpr(w, (source & 255) | (i->src[0] & ~255u)), sizeof temp), row = temp;
    else if (row != temp) memcpy(temp, row, sizeof temp), row = temp;
    write_row(w, i->dst < 256 ? dst & 255 : i->dst, row);
    return NEXT(i);
  }
  if (LIKELY(wave_exec(w) == LANES_ALL)) {
    uint32_t *d = vgpr(w, i->dst);
    if (i->src_kind[0] == OPERAND_VGPR) {
      const uint32_t *a = vgpr(w, i->src[0]);
      LANES(l) d[l] = a[l];
    } else {
      broadcast(d, source_u32(w, i, 0));
    }
    return NEXT(i);
  }
  blend(vgpr(w, i->dst), row32(w, i, 0, temp), wave_exec(w));
  return NEXT(i);
}

HANDLER(valu_readfirstlane) {
  ROW uint32_t temp[W];
  uint64_t exec = wave_exec(w);
  w->s[i->dst] = row32(w, i, 0, temp)[exec ? __builtin_ctzll(exec) : 0];
  return NEXT(i);
}

HANDLER(valu_readlane) {
  ROW uint32_t temp[W];
  w->s[i->dst] = row32(w, i, 0, temp)[source_u32(w, i, 1) & (W - 1)];
  return NEXT(i);
}

HANDLER(valu_writelane) {
  vgpr(w, i->dst)[source_u32(w, i, 1) & (W - 1)] = source_u32(w, i, 0);
  return NEXT(i);
}

static void swap_rows(struct wave *w, unsigned a, unsigned b) {
  ROW uint32_t old[W];
  memcpy(old, vgpr(w, a), sizeof old);
  write_row(w, a, vgpr(w, b));
  write_row(w, b, old);
}

HANDLER(valu_swap) {
  swap_rows(w, i->dst, i->src[0]);
  return NEXT(i);
}

HANDLER(valu_swap16_all) {
  uint32_t *a = vgpr(w, i->dst), *b = vgpr(w, i->src[0]);
  unsigned sa = (i->op_sel >> 3 & 1) * 16, sb = (i->op_sel & 1) * 16;
  uint64_t exec = wave_exec(w);
  for (int l = 0; l < W; l++) {
    if (!(exec >> l & 1)) continue;
    uint32_t va = a[l] >> sa & 65535, vb = b[l] >> sb & 65535;
    a[l] = (a[l] & ~(65535u << sa)) | vb << sa;
    b[l] = (b[l] & ~(65535u << sb)) | va << sb;
  }
  return NEXT(i);
}

/* Each lane reads from a lane of its own row of 16 (flip 0) or of the neighbouring row (flip 16), selected by the
 * nibbles of the two scalar sources. op_sel[0]: inactive lanes are read too; op_sel[1]: lanes without a source become 0
 * instead of keeping the old value. */
static const struct inst *permlane(struct wave *w, const struct inst *i, int flip) {
  ROW uint32_t temp[W];
  ROW uint32_t result[W];
  const uint32_t *a = row32(w, i, 0, temp), *old = vgpr(w, i->dst);
  uint64_t select = join(source_u32(w, i, 1), source_u32(w, i, 2)), exec = wave_exec(w);
  for (int l = 0; l < W; l++) {
    int from = ((l & ~15) ^ flip) | (int)(select >> (l & 15) * 4 & 15);
    bool readable = i->op_sel & 1 || exec >> from & 1;
    result[l] = readable ? a[from] : i->op_sel & 2 ? 0 : old[l];
  }
  write_row(w, i->dst, result);
  return NEXT(i);
}
HANDLER(valu_permlane16_all) { return permlane(w, i, 0); }
HANDLER(valu_permlanex16_all) { return permlane(w, i, 16); }

/* The same with the source lanes in a register, the second source. */
static const struct inst *permlane_var(struct wave *w, const struct inst *i, int flip) {
  ROW uint32_t result[W];
  const uint32_t *a = vgpr(w, i->src[0]), *select = vgpr(w, i->src[1]), *old = vgpr(w, i->dst);
  uint64_t exec = wave_exec(w);
  for (int l = 0; l < W; l++) {
    int from = ((l & ~15) ^ flip) | (int)(select[l] & 15);
    bool readable = i->op_sel & 1 || exec >> from & 1;
    result[l] = readable ? a[from] : i->op_sel & 2 ? 0 : old[l];
  }
  write_row(w, i->dst, result);
  return NEXT(i);
}
HANDLER(valu_permlane16_var_all) { return permlane_var(w, i, 0); }
HANDLER(valu_permlanex16_var_all) { return permlane_var(w, i, 16); }

/* The truth table is encoded in the bits of other instructions' modifiers. */
static uint32_t truth_table(const struct inst *i) {
  return (uint32_t)i->omod << 6 | (uint32_t)(i->abs & 7) << 3 | (i->neg & 7u);
}

HANDLER(valu_bitop3_all) {
  ROW uint32_t ta[W];
  ROW uint32_t tb[W];
  ROW uint32_t tc[W];
  ROW uint32_t result[W];
  const uint32_t *a = row32(w, i, 0, ta), *b = row32(w, i, 1, tb), *c = row32(w, i, 2, tc), table = truth_table(i);
  LANES(l) result[l] = logic3(table, a[l], b[l], c[l]);
  write_row(w, i->dst, result);
  return NEXT(i);
}

HANDLER(valu_bitop3_b16_all) {
  ROW uint32_t ta[W];
  ROW uint32_t tb[W];
  ROW uint32_t tc[W];
  ROW uint32_t result[W];
  const uint32_t *a = row32(w, i, 0, ta), *b = row32(w, i, 1, tb), *c = row32(w, i, 2, tc), table = truth_table(i);
  const uint32_t *old = vgpr(w, i->dst);
  unsigned sa = (i->op_sel & 1) * 16, sb = (i->op_sel >> 1 & 1) * 16, sc = (i->op_sel >> 2 & 1) * 16;
  unsigned sd = (i->op_sel >> 3 & 1) * 16;
  for (int l = 0; l < W; l++)
    result[l] = (old[l] & ~(65535u << sd)) | (logic3(table, a[l] >> sa, b[l] >> sb, c[l] >> sc) & 65535) << sd;
  write_row(w, i->dst, result);
  return NEXT(i);
}

HANDLER(valu_permlane64) {
#if W == 64
  ROW uint32_t result[W];
  const uint32_t *a = vgpr(w, i->src[0]);
  for (int l = 0; l < W; l++) result[l] = a[l ^ 32];
  write_row(w, i->dst, result);
#else
  (void)w;
#endif
  return NEXT(i);
}

/* Exchanges odd groups of `group` lanes of the destination with even groups of the source. */
static const struct inst *swap_groups(struct wave *w, const struct inst *i, int group) {
  uint32_t *d = vgpr(w, i->dst), *a = vgpr(w, i->src[0]);
  uint64_t exec = wave_exec(w);
  for (int l = 0; l < W; l++) {
    if (l & group || l + group >= W) continue;
    uint32_t odd = d[l + group], even = a[l];
    if (exec >> (l + group) & 1) d[l + group] = even;
    if (exec >> l & 1) a[l] = odd;
  }
  return NEXT(i);
}
HANDLER(valu_permlane16_swap) { return swap_groups(w, i, 16); }
HANDLER(valu_permlane32_swap) { return swap_groups(w, i, 32); }

/* Register-relative moves: M0 is added to register numbers. */
static const struct inst *move_relative(struct wave *w, const struct inst *i, uint32_t to, uint32_t from) {
  ROW uint32_t temp[W];
  const uint32_t *row = i->src_kind[0] == OPERAND_VGPR ? vgpr(w, (i->src[0] + from) & 255) : row32(w, i, 0, temp);
  write_row(w, (i->dst + to) & 255, row);
  return NEXT(i);
}
HANDLER(valu_movreld) { return move_relative(w, i, w->s[S_M0], 0); }
HANDLER(valu_movrels) { return move_relative(w, i, 0, w->s[S_M0]); }
HANDLER(valu_movrelsd) { return move_relative(w, i, w->s[S_M0], w->s[S_M0]); }
HANDLER(valu_movrelsd_2) { return move_relative(w, i, w->s[S_M0] >> 16 & 1023, w->s[S_M0] & 1023); }
HANDLER(valu_swaprel) {
  swap_rows(w, (i->dst + (w->s[S_M0] >> 16 & 1023)) & 255, (i->src[0] + (w->s[S_M0] & 1023)) & 255);
  return NEXT(i);
}

HANDLER(valu_mqsad_u32_u8) {
  ROW uint32_t ta[2 * W];
  ROW uint32_t tb[W];
  ROW uint32_t result[4 * W];
  const uint32_t *a_hi, *a = row64(w, i, 0, ta, &a_hi), *b = row32(w, i, 1, tb);
  for (int k = 0; k < 4; k++) {
    const uint32_t *c = i->src_kind[2] == OPERAND_VGPR ? vgpr(w, i->src[2] + (unsigned)k) : NULL;
    uint32_t uniform = c ? 0 : k ? 0 : source_u32(w, i, 2);
    for (int l = 0; l < W; l++)
      result[k * W + l] = msad_u8((uint32_t)(join(a[l], a_hi[l]) >> 8 * k), b[l]) + (c ? c[l] : uniform);
  }
  for (int k = 0; k < 4; k++) write_row(w, i->dst + (unsigned)k, result + k * W);
  return NEXT(i);
}

HANDLER(valu_pk_mov_all) {
  ROW uint32_t ta[2 * W];
  ROW uint32_t tb[2 * W];
  ROW uint32_t result[2 * W];
  const uint32_t *a_hi, *a = row64(w, i, 0, ta, &a_hi), *b_hi, *b = row64(w, i, 1, tb, &b_hi);
  memcpy(result, i->op_sel & 1 ? a_hi : a, W * 4);
  memcpy(result + W, i->op_sel & 2 ? b_hi : b, W * 4);
  write_row(w, i->dst, result);
  write_row(w, i->dst + 1u, result + W);
  return NEXT(i);
}

/* ---- VOPD: two operations that read all their sources before either writes ---- */

static bool reads(const struct inst *i, const struct inst *written) {
  unsigned row = written->dst, rows = operand_dwords(written->op->dst_type);
  for (unsigned k = 0; k < i->op->n_src; k++) {
    unsigned n = operand_dwords(i->op->src_type[k]);
    if (i->src_kind[k] == OPERAND_VGPR && i->src[k] < row + rows && row < i->src[k] + n) return true;
  }
  return false;
}

HANDLER(valu_vopd) {
  const struct inst *x = i->ext->x, *y = i->ext->y;
  if (!reads(y, x)) {
    x->run(w, x);
    y->run(w, y);
  } else if (!reads(x, y)) {
    y->run(w, y);
    x->run(w, x);
  } else { /* each reads what the other writes */
    ROW uint32_t before[2 * W];
    ROW uint32_t after[2 * W];
    size_t bytes = operand_dwords(x->op->dst_type) * W * 4;
    uint32_t *d = vgpr(w, x->dst);
    memcpy(before, d, bytes);
    x->run(w, x);
    memcpy(after, d, bytes);
    memcpy(d, before, bytes);
    y->run(w, y);
    memcpy(d, after, bytes);
  }
  return NEXT(i);
}
