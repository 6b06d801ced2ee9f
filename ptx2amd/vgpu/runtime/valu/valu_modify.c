/* Modifiers of vector instructions: DPP, SDWA, op_sel, neg, abs, omod, clamp. Modified sources are copied to the
 * temporary rows at the end of the register file, the plain handler runs on a copy of the instruction that names those
 * rows, and its result is modified and merged into the destination. */
#include "valu_half.h"
#include "valu_tables.h"

enum { TEMP_SOURCE = VGPR_TEMP, TEMP_RESULT = VGPR_TEMP + 6 };

/* ---- DPP ---- */

/* row[from[l]] for each lane. */
static void permute(uint32_t *to, const uint32_t *row, const uint8_t *from) {
  LANES(l) to[l] = row[from[l]];
}

/* Lanes enabled by row_mask and bank_mask. */
static uint64_t unmasked_lanes(unsigned rows, unsigned banks) {
  uint64_t row = 0, mask = 0;
  for (int k = 0; k < 4; k++) row |= (uint64_t)(banks >> k & 1) * 0xf << 4 * k;
  for (int k = 0; k < 4; k++) mask |= (uint64_t)(rows >> k & 1) * row << 16 * k;
  return mask;
}

struct dpp {
  uint8_t from[W];   /* the lane that each lane reads */
  uint64_t readable; /* lanes with a source; the others read 0 */
  uint64_t kept;     /* lanes whose result is written */
};

static void dpp_lanes(const struct wave *w, const struct inst *i, struct dpp *d) {
  const struct inst_ext *x = i->ext;
  uint64_t exec = wave_exec(w);
  bool bound = true; /* DPP8: lanes without a source read 0 */
  d->kept = exec;
  if (x->kind == EXT_DPP8) {
    for (int l = 0; l < W; l++) d->from[l] = (uint8_t)((l & ~7) | x->dpp8[l & 7]);
    d->readable = LANES_ALL;
  } else {
    memcpy(d->from, dpp_from[i->op->generation != 0][x->dpp_ctrl], W);
    d->readable = dpp_readable[i->op->generation != 0][x->dpp_ctrl] & LANES_ALL;
    bound = x->dpp_bound;
    if ((x->dpp_row_mask & x->dpp_bank_mask) != 15) d->kept &= unmasked_lanes(x->dpp_row_mask, x->dpp_bank_mask);
  }
  if (!x->dpp_fi && exec != LANES_ALL) {
    ROW uint32_t active[W];
    ROW uint32_t source[W];
    mask_to_row(active, exec);
    permute(source, active, d->from);
    d->readable &= row_to_mask(source);
  }
  if (!bound) d->kept &= d->readable;
}

static void dpp_source(uint32_t *to, const uint32_t *row, const struct dpp *d) {
  permute(to, row, d->from);
  if (d->readable == LANES_ALL) return;
  ROW uint32_t keep[W];
  mask_to_row(keep, d->readable);
  LANES(l) to[l] &= keep[l];
}

/* ---- sources ---- */

/* Byte or word of each lane selected by SDWA. */
static void sdwa_select(uint32_t *row, unsigned sel, bool sext) {
  if (sel >= 6) return;
  unsigned bits = sel < 4 ? 8 : 16, shift = sel < 4 ? sel * 8 : (sel - 4) * 16;
  for (int l = 0; l < W; l++) {
    uint32_t v = row[l] >> shift << (32 - bits);
    row[l] = sext ? (uint32_t)((int32_t)v >> (32 - bits)) : v >> (32 - bits);
  }
}

static void change_sign(uint32_t *row, uint32_t bit, bool neg, bool abs) {
  uint32_t clear = abs ? bit : 0, flip = neg ? bit : 0;
  LANES(l) row[l] = (row[l] & ~clear) ^ flip;
}

/* Packed 16-bit source: the halves selected by op_sel and op_sel_hi, negated according to neg and neg_hi. */
static void packed_source(uint32_t *row, const struct inst *i, int k, bool is_float) {
  unsigned low = (i->op_sel >> k & 1) * 16, high = (i->op_sel_hi >> k & 1) * 16;
  uint32_t flip = is_float ? (uint32_t)(i->neg >> k & 1) << 15 | (uint32_t)(i->neg_hi >> k & 1) << 31 : 0;
  LANES(l) row[l] = ((row[l] >> low & 65535) | row[l] >> high << 16) ^ flip;
}

static bool is_wide(enum valu_type type) { return type == VALU_B64 || type == VALU_F64 || type == VALU_PK32; }

/* Copies source k into its temporary rows and applies the modifiers. */
static void prepare_source(struct wave *w, const struct inst *i, struct inst *copy, int k,
                           const struct valu_shape *shape, const struct dpp *from) {
  enum valu_type type = shape->src[k];
  ROW uint32_t temp[2 * W];
  const uint32_t *low, *high = NULL;
  uint32_t *to = vgpr(w, TEMP_SOURCE + 2u * (unsigned)k), *to_high = to + W;
  bool wide = is_wide(type), neg = i->neg >> k & 1, abs = i->abs >> k & 1;
  if (wide) low = row64(w, i, k, temp, &high);
  else low = row32(w, i, k, temp);
  if (from && k == 0) {
    dpp_source(to, low, from);
    if (wide) dpp_source(to_high, high, from);
  } else {
    memcpy(to, low, W * 4);
    if (wide) memcpy(to_high, high, W * 4);
  }
  if (i->ext && i->ext->kind == EXT_SDWA && k < 2) sdwa_select(to, i->ext->sdwa_sel[k], i->ext->sdwa_sext[k]);
  bool halves = type == VALU_PK16 || type == VALU_PKF16;
  if (halves && !shape->vop3p) type = VALU_NONE;
  switch (type) {
  case VALU_NONE: break;
  case VALU_PK16: packed_source(to, i, k, false); break;
  case VALU_PKF16: packed_source(to, i, k, true); break;
  case VALU_PK32: {
    bool l_hi = i->op_sel >> k & 1, h_hi = i->op_sel_hi >> k & 1;
    uint32_t flip = (uint32_t)(i->neg >> k & 1) << 31, flip_hi = (uint32_t)(i->neg_hi >> k & 1) << 31;
    LANES(l) {
      uint32_t a = l_hi ? to_high[l] : to[l], b = h_hi ? to_high[l] : to[l];
      to[l] = a ^ flip, to_high[l] = b ^ flip_hi;
    }
    break;
  }
  case VALU_B16: case VALU_F16: case VALU_BF16:
    if (i->op_sel >> k & 1) LANES(l) to[l] >>= 16;
    if (neg | abs) change_sign(to, 0x8000, neg, abs);
    break;
  case VALU_B64: case VALU_F64: if (neg | abs) change_sign(to_high, 0x80000000, neg, abs); break;
  default: if (neg | abs) change_sign(to, 0x80000000, neg, abs); break;
  }
  copy->src_kind[k] = OPERAND_VGPR;
  copy->src[k] = (uint16_t)(TEMP_SOURCE + 2 * k);
}

/* ---- results ---- */

static float output_f32(float v, unsigned omod, bool clamp, bool nan_to_zero) {
  static const float scale[4] = {1.0f, 2.0f, 4.0f, 0.5f};
  if (omod) v *= scale[omod & 3];
  if (clamp) v = v != v ? (nan_to_zero ? 0.0f : v) : v < 0 ? 0.0f : v > 1 ? 1.0f : v == 0 ? 0.0f : v;
  return v;
}

static double output_f64(double v, unsigned omod, bool clamp, bool nan_to_zero) {
  static const double scale[4] = {1.0, 2.0, 4.0, 0.5};
  if (omod) v *= scale[omod & 3];
  if (clamp) v = v != v ? (nan_to_zero ? 0.0 : v) : v < 0 ? 0.0 : v > 1 ? 1.0 : v == 0 ? 0.0 : v;
  return v;
}

static void modify_result(struct wave *w, uint32_t *row, const struct inst *i, enum valu_type type) {
  unsigned omod = i->omod;
  bool clamp = i->clamp, zero = w->float_state[FLOAT_DX10_CLAMP];
  if (!omod && !clamp) return;
  uint32_t *high = row + W;
  switch (type) {
  case VALU_F32:
    for (int l = 0; l < W; l++) row[l] = f32_bits(output_f32(as_f32(row[l]), omod, clamp, zero));
    break;
  case VALU_PK32:
    for (int l = 0; l < 2 * W; l++) row[l] = f32_bits(output_f32(as_f32(row[l]), 0, clamp, zero));
    break;
  case VALU_F64:
    float64_begin(w);
    for (int l = 0; l < W; l++) {
      uint64_t v = f64_bits(output_f64(as_f64(join(row[l], high[l])), omod, clamp, zero));
      row[l] = (uint32_t)v, high[l] = (uint32_t)(v >> 32);
    }
    float64_end(w);
    break;
  case VALU_F16: case VALU_PKF16:
    float64_begin(w);
    for (int l = 0; l < W; l++) {
      uint32_t low = f32_to_half(output_f32(half_to_f32((uint16_t)row[l]), omod, clamp, zero)), top = row[l] >> 16;
      if (type == VALU_PKF16) top = f32_to_half(output_f32(half_to_f32((uint16_t)top), 0, clamp, zero));
      row[l] = low | top << 16;
    }
    float64_end(w);
    break;
  default: break;
  }
}

/* Writes a result to the byte or word of the destination selected by SDWA. */
static void sdwa_place(uint32_t *row, const uint32_t *old, unsigned sel, unsigned unused) {
  if (sel >= 6) return;
  unsigned bits = sel < 4 ? 8 : 16, shift = sel < 4 ? sel * 8 : (sel - 4) * 16;
  uint32_t mask = ((1u << bits) - 1) << shift;
  for (int l = 0; l < W; l++) {
    uint32_t v = row[l] << shift & mask, rest = 0;
    if (unused == 1) rest = (row[l] >> (bits - 1) & 1 ? ~0u : 0) << shift << (bits - 1) << 1; /* sign-extend upwards */
    if (unused == 2) rest = old[l];
    row[l] = v | (rest & ~mask);
  }
}

static bool is_half(enum valu_type type) { return type == VALU_B16 || type == VALU_F16 || type == VALU_BF16; }

static void set_exec(struct wave *w, uint64_t exec) { mask_write(w, S_EXEC, exec); }

const struct inst *VG(valu_modified)(struct wave *w, const struct inst *i, const struct valu_shape *shape) {
  struct inst copy = *i;
  const struct inst_ext *x = i->ext;
  const uint64_t exec = wave_exec(w);
  enum valu_type type = shape->dst;
  bool dpp = x && (x->kind == EXT_DPP16 || x->kind == EXT_DPP8), sdwa = x && x->kind == EXT_SDWA;
  struct dpp from;
  if (dpp) dpp_lanes(w, i, &from);
  uint64_t kept = dpp ? from.kept : exec;

  for (int k = 0; k < 3; k++) {
    enum valu_type source = shape->src[k];
    if (source == VALU_NONE || source == VALU_MASK || source == VALU_B128) continue;
    if (i->src_kind[k] == OPERAND_NONE) continue;
    bool packed = source == VALU_PK16 || source == VALU_PKF16 || source == VALU_PK32;
    bool changed = (dpp && k == 0) || (sdwa && k < 2) || ((i->neg | i->abs) >> k & 1) || (i->op_sel >> k & 1) ||
                   (packed && shape->vop3p && (!(i->op_sel_hi >> k & 1) || (i->neg_hi >> k & 1)));
    if (changed) prepare_source(w, i, &copy, k, shape, dpp ? &from : NULL);
  }
  copy.ext = NULL, copy.neg = copy.abs = copy.neg_hi = copy.omod = copy.clamp = 0;
  handler_fn run = i->clamp && shape->saturated ? shape->saturated : shape->plain;
  if (dpp) set_exec(w, kept);

  bool half = is_half(type), high = half && i->op_sel >> 3 & 1;
  bool floats = type == VALU_F16 || type == VALU_F32 || type == VALU_F64 || type == VALU_PKF16 || type == VALU_PK32;
  bool rewrite = type != VALU_MASK && type != VALU_NONE && type != VALU_B128 &&
                 (high || (sdwa && x->sdwa_dst_sel < 6) || (floats && (i->omod || (i->clamp && !shape->saturated))));
  if (!rewrite) {
    const struct inst *next = run(w, &copy);
    if (dpp && !shape->writes_exec) set_exec(w, exec);
    return next == NULL ? NULL : NEXT(i);
  }

  int dwords = is_wide(type) ? 2 : 1;
  uint32_t *result = vgpr(w, TEMP_RESULT), *d = vgpr(w, i->dst);
  memcpy(result, d, (size_t)dwords * W * 4);
  if (high && shape->reads_dst) LANES(l) result[l] >>= 16;
  copy.dst = TEMP_RESULT;
  run(w, &copy);
  modify_result(w, result, i, type);
  if (sdwa) {
    if (half) LANES(l) result[l] &= 65535;
    sdwa_place(result, d, x->sdwa_dst_sel, x->sdwa_dst_unused);
  } else if (high) {
    LANES(l) result[l] = result[l] << 16 | (d[l] & 65535);
  }
  for (int k = 0; k < dwords; k++) blend(d + k * W, result + k * W, kept);
  if (dpp) set_exec(w, exec);
  return NEXT(i);
}
