/* Special forms of fused multiply-add (last step of divisions, mixed precision) and dot products whose modifier bits
 * select types. */
#include "valu_math.h"

#define HANDLER(name) const struct inst *VG(name)(struct wave *w, const struct inst *i)
HANDLER(valu_div_fmas_f32);
HANDLER(valu_div_fmas_f64);
HANDLER(valu_fma_mix_all);
HANDLER(valu_fma_mixlo_all);
HANDLER(valu_fma_mixhi_all);
HANDLER(valu_mad_mix_all);
HANDLER(valu_mad_mixlo_all);
HANDLER(valu_mad_mixhi_all);
HANDLER(valu_dot4_iu8_all);
HANDLER(valu_dot8_iu4_all);

/* Lanes whose bit of VCC is set scale the result; they are rare. */
HANDLER(valu_div_fmas_f32) {
  ROW uint32_t ta[W];
  ROW uint32_t tb[W];
  ROW uint32_t tc[W];
  ROW uint32_t r[W];
  const uint32_t *a = row32(w, i, 0, ta), *b = row32(w, i, 1, tb), *c = row32(w, i, 2, tc);
  LANES(l) r[l] = f32_bits(fma_f32(as_f32(a[l]), as_f32(b[l]), as_f32(c[l])));
  for (uint64_t scaled = mask_read(w->s + S_VCC); scaled; scaled &= scaled - 1) {
    int l = __builtin_ctzll(scaled);
    r[l] = f32_bits(div_fmas_f32(as_f32(a[l]), as_f32(b[l]), as_f32(c[l])));
  }
  blend(vgpr(w, i->dst), r, wave_exec(w));
  return NEXT(i);
}

HANDLER(valu_div_fmas_f64) {
  ROW uint32_t ta[2 * W];
  ROW uint32_t tb[2 * W];
  ROW uint32_t tc[2 * W];
  ROW uint32_t r[2 * W];
  const uint32_t *ah, *a = row64(w, i, 0, ta, &ah), *bh, *b = row64(w, i, 1, tb, &bh), *ch, *c = row64(w, i, 2, tc, &ch);
  float64_begin(w);
  LANES(l) {
    uint64_t v = f64_bits(fma_f64(as_f64(join(a[l], ah[l])), as_f64(join(b[l], bh[l])), as_f64(join(c[l], ch[l]))));
    r[l] = (uint32_t)v, r[W + l] = (uint32_t)(v >> 32);
  }
  for (uint64_t scaled = mask_read(w->s + S_VCC); scaled; scaled &= scaled - 1) {
    int l = __builtin_ctzll(scaled);
    uint64_t v = f64_bits(div_fmas_f64(as_f64(join(a[l], ah[l])), as_f64(join(b[l], bh[l])), as_f64(join(c[l], ch[l]))));
    r[l] = (uint32_t)v, r[W + l] = (uint32_t)(v >> 32);
  }
  float64_end(w);
  blend(vgpr(w, i->dst), r, wave_exec(w));
  blend(vgpr(w, i->dst + 1u), r + W, wave_exec(w));
  return NEXT(i);
}

/* Source k as f32: op_sel_hi selects f16, op_sel which half; neg and abs (in neg_hi) apply to the f32. */
static void mixed_row(struct wave *w, const struct inst *i, int k, float *to) {
  ROW uint32_t temp[W];
  const uint32_t *row = row32(w, i, k, temp);
  if (i->op_sel_hi >> k & 1) {
    ROW uint32_t half[W];
    unsigned shift = (i->op_sel >> k & 1) * 16;
    LANES(l) half[l] = row[l] >> shift & 65535;
    half_row(w, to, half);
  } else {
    LANES(l) to[l] = as_f32(row[l]);
  }
  uint32_t keep = i->neg_hi >> k & 1 ? 0x7fffffff : ~0u, flip = i->neg >> k & 1 ? 0x80000000 : 0;
  LANES(l) to[l] = as_f32((f32_bits(to[l]) & keep) ^ flip);
}

/* fused: V_FMA_MIX; otherwise gfx900's V_MAD_MIX, which rounds the product. */
static void mixed_fma(struct wave *w, const struct inst *i, float *r, bool fused) {
  ROW float a[W];
  ROW float b[W];
  ROW float c[W];
  mixed_row(w, i, 0, a);
  mixed_row(w, i, 1, b);
  mixed_row(w, i, 2, c);
  if (fused) LANES(l) r[l] = fma_f32(a[l], b[l], c[l]);
  else LANES(l) r[l] = a[l] * b[l] + c[l];
  if (i->clamp)
    for (int l = 0; l < W; l++)
      r[l] = r[l] != r[l] && !w->float_state[FLOAT_DX10_CLAMP] ? r[l] : r[l] > 0 ? MIN(r[l], 1.0f) : 0.0f;
}

static const struct inst *mixed(struct wave *w, const struct inst *i, bool fused) {
  ROW float r[W];
  mixed_fma(w, i, r, fused);
  blend(vgpr(w, i->dst), (const uint32_t *)r, wave_exec(w));
  return NEXT(i);
}
HANDLER(valu_fma_mix_all) { return mixed(w, i, true); }
HANDLER(valu_mad_mix_all) { return mixed(w, i, false); }

static const struct inst *mixed_half(struct wave *w, const struct inst *i, unsigned shift, bool fused) {
  ROW float r[W];
  ROW uint32_t half[W];
  uint32_t *d = vgpr(w, i->dst);
  mixed_fma(w, i, r, fused);
  float64_begin(w);
  half_pack(w, half, r);
  float64_end(w);
  LANES(l) half[l] = half[l] << shift | (d[l] & ~(65535u << shift));
  blend(d, half, wave_exec(w));
  return NEXT(i);
}
HANDLER(valu_fma_mixlo_all) { return mixed_half(w, i, 0, true); }
HANDLER(valu_fma_mixhi_all) { return mixed_half(w, i, 16, true); }
HANDLER(valu_mad_mixlo_all) { return mixed_half(w, i, 0, false); }
HANDLER(valu_mad_mixhi_all) { return mixed_half(w, i, 16, false); }

/* Integer dot products; bit k of neg: source k is signed. */
static const struct inst *dot_iu(struct wave *w, const struct inst *i, int bits) {
  ROW uint32_t ta[W];
  ROW uint32_t tb[W];
  ROW uint32_t tc[W];
  ROW uint32_t r[W];
  const uint32_t *a = row32(w, i, 0, ta), *b = row32(w, i, 1, tb), *c = row32(w, i, 2, tc);
  bool sa = i->neg & 1, sb = i->neg & 2;
  for (int l = 0; l < W; l++) {
    int64_t t = (int32_t)c[l];
    for (int k = 0; k < 32; k += bits) {
      uint32_t x = a[l] >> k << (32 - bits), y = b[l] >> k << (32 - bits);
      int32_t m = sa ? (int32_t)x >> (32 - bits) : (int32_t)(x >> (32 - bits));
      int32_t n = sb ? (int32_t)y >> (32 - bits) : (int32_t)(y >> (32 - bits));
      t += m * n;
    }
    r[l] = (uint32_t)(i->clamp ? sat_i32(t) : (int32_t)t);
  }
  blend(vgpr(w, i->dst), r, wave_exec(w));
  return NEXT(i);
}
HANDLER(valu_dot4_iu8_all) { return dot_iu(w, i, 8); }
HANDLER(valu_dot8_iu4_all) { return dot_iu(w, i, 4); }
