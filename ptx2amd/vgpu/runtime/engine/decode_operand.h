/* Part of decode.c: the operands of an instruction, and the dwords behind it that extend them. */

enum { SRC_DPP8 = 233, SRC_DPP8_FI = 234, SRC_SDWA = 249, SRC_DPP16 = 250,
       SRC_FLAT_SCRATCH = 230, SRC_VCCZ = 251, SRC_EXECZ = 252, SRC_LDS_DIRECT = 254, SRC_LITERAL64 = 254, SRC_LITERAL = 255, SRC_VGPR = 256 };

/* Decoding state of one instruction. */
struct decoding {
  const uint32_t *w;
  struct inst *out;
  struct decode_context *c;
  const struct op_info *op;
  unsigned len;            /* dwords consumed so far */
  bool short_form, truncated, modified;
  bool reserved, direct;   /* a source has an undefined code; or LDS, directly */
};

static int32_t sign_extend(uint32_t value, unsigned width) {
  return (int32_t)(value << (32 - width)) >> (32 - width);
}

/* Index into wave->s of a 7-bit scalar register code. */
static unsigned scalar_register(unsigned code, bool destination) {
#if GENERATION_INDEX >= 2
  if (code == 124) return destination ? S_SINK : S_ZERO;
  if (code == 125) return S_M0;
#else
  if (code == 125) return destination ? S_SINK : S_ZERO;
#endif
  return code;
}

static uint32_t next_dword(struct decoding *d) {
  if (d->len >= d->c->after) {
    d->truncated = true;
    return 0;
  }
  return d->w[d->len++];
}

static const uint16_t float_rows[] = {
  [CLASS_INT] = S_FLOAT32, [CLASS_INT16] = S_FLOAT16, [CLASS_INT64] = S_FLOAT64, [CLASS_F16] = S_FLOAT16,
  [CLASS_BF16] = S_BFLOAT16, [CLASS_F32] = S_FLOAT32, [CLASS_F64] = S_FLOAT64, [CLASS_PK_F32] = S_PK_FLOAT32,
  [CLASS_MASK] = S_FLOAT32,
};

static void literal(struct decoding *d, enum operand_type type) {
  struct inst *out = d->out;
  if (!(out->flags & DECODE_HAS_LITERAL)) {
    out->literal[0] = next_dword(d);
    out->flags |= DECODE_HAS_LITERAL;
  }
  uint32_t value = d->w[d->len - 1];
  if (d->truncated) value = 0;
  if (type == TYPE_f64) out->literal[0] = 0, out->literal[1] = value;
  else if (type == TYPE_i64) out->literal[0] = value, out->literal[1] = -(value >> 31);
  else if (type_class[type] == CLASS_PK_F32) out->literal[0] = out->literal[1] = value;
  else out->literal[0] = value, out->literal[1] = 0;
}

static void literal64(struct decoding *d) {
  d->out->literal[0] = next_dword(d);
  d->out->literal[1] = next_dword(d);
}

/* A source operand from its 8- or 9-bit code. */
static void source(struct decoding *d, int k, unsigned code, enum operand_type type) {
  struct inst *out = d->out;
  out->src_kind[k] = OPERAND_SCALAR;
  if (code >= SRC_VGPR) {
    out->src_kind[k] = OPERAND_VGPR;
    out->src[k] = code - SRC_VGPR;
#if GENERATION_INDEX >= 2
    if (d->short_form && type_bits[type] == 16) { /* v0.h and friends: bit 7 of the field */
      out->op_sel |= (code >> 7 & 1) << k;
      out->src[k] &= 127;
    }
#endif
  } else if (code < 128) {
    out->src[k] = scalar_register(code, false);
  } else if (code <= 208) {
    out->src[k] = S_INT + (code - 128) * 2;
  } else if (code >= 235 && code <= 238) {
    out->src[k] = S_SHARED_BASE + (code - 235) * 2;
  } else if (code >= 240 && code <= 248) {
    out->src[k] = float_rows[type_class[type]] + (code - 240) * 2;
  } else if (code == 253) {
    out->src[k] = S_SCC;
  } else if (code == SRC_LITERAL) {
    out->src_kind[k] = OPERAND_LITERAL;
    literal(d, type);
  } else if (DECODER_GFX125 && code == SRC_LITERAL64) {
    out->src_kind[k] = OPERAND_LITERAL;
    literal64(d);
  } else if (DECODER_GFX125 && (code == SRC_FLAT_SCRATCH || code == SRC_FLAT_SCRATCH + 1)) {
    out->src[k] = S_FLAT_SCRATCH + (code - SRC_FLAT_SCRATCH);
  } else {
    out->src_kind[k] = OPERAND_SPECIAL;
    out->src[k] = code;
    if (code == SRC_LDS_DIRECT && GENERATION_INDEX <= 1) d->direct = true;
    else if (code != SRC_VCCZ && code != SRC_EXECZ) d->reserved = true;
  }
}

/* The sources of a vector or scalar ALU instruction, from the codes in its fields a, b, c. */
static void sources(struct decoding *d, const unsigned codes[3]) {
  const struct op_info *op = d->op;
  for (int k = 0; k < op->n_src; k++) {
    if (d->short_form && (op->fixed >> k & 1)) {
      d->out->src_kind[k] = OPERAND_SCALAR;
      d->out->src[k] = S_VCC;
    } else if (op->src_role[k] == ROLE_K) {
      d->out->src_kind[k] = OPERAND_LITERAL;
      if (type_bits[op->src_type[k]] == 64) literal64(d);
      else literal(d, op->src_type[k]);
    } else {
      source(d, k, codes[op->src_role[k]], op->src_type[k]);
    }
    if (op->accumulation >> k & 1) d->out->src[k] |= 256;
  }
}

static void vector_destination(struct decoding *d, unsigned code) {
  const struct op_info *op = d->op;
  struct inst *out = d->out;
  if (op->fixed & 64) out->dst = S_EXEC;
  else if (d->short_form && (op->fixed & 16)) out->dst = S_VCC;
  else if (op->scalar_dst) out->dst = scalar_register(code & 127, true);
  else out->dst = code;
  if (op->accumulation & 16) out->dst |= 256;
#if GENERATION_INDEX >= 2
  if (d->short_form && !op->scalar_dst && type_bits[op->dst_type] == 16) {
    out->op_sel |= (code >> 7 & 1) << 3;
    out->dst &= 127;
  }
#endif
  if (d->short_form && op->dst2_type != TYPE_none) out->dst2 = S_VCC;
}

static struct inst_ext *extension(struct decoding *d, enum ext_kind kind) {
  struct inst_ext *x = d->c->alloc(d->c, sizeof *x);
  x->kind = kind;
  d->out->ext = x;
  d->modified = true;
  return x;
}

/* Source 0 denotes an extension dword: reads it and returns the real source 0. */
static unsigned extended_source(struct decoding *d, unsigned code, unsigned *src1) {
  const uint32_t word = next_dword(d);
  const uint32_t *w = &word;
  struct inst *out = d->out;
  if (code == SRC_DPP8 || code == SRC_DPP8_FI) {
    struct inst_ext *x = extension(d, EXT_DPP8);
    x->dpp_fi = code == SRC_DPP8_FI;
    for (int k = 0; k < 8; k++) x->dpp8[k] = F_DPP8_lanes(w) >> (3 * k) & 7;
    return SRC_VGPR + F_DPP8_vsrc0(w);
  }
  if (code == SRC_DPP16) {
    struct inst_ext *x = extension(d, EXT_DPP16);
    x->dpp_ctrl = F_DPP16_ctrl(w);
    x->dpp_fi = GENERATION_INDEX >= 1 && F_DPP16_fi(w);
    x->dpp_bound = F_DPP16_bound(w);
    x->dpp_row_mask = F_DPP16_row_mask(w);
    x->dpp_bank_mask = F_DPP16_bank_mask(w);
    if (d->short_form) {
      out->neg |= F_DPP16_neg0(w) | F_DPP16_neg1(w) << 1;
      out->abs |= F_DPP16_abs0(w) | F_DPP16_abs1(w) << 1;
    }
    return SRC_VGPR + F_DPP16_vsrc0(w);
  }
  struct inst_ext *x = extension(d, EXT_SDWA);
  x->sdwa_sel[0] = F_SDWA_sel0(w), x->sdwa_sel[1] = F_SDWA_sel1(w);
  x->sdwa_sext[0] = F_SDWA_sext0(w), x->sdwa_sext[1] = F_SDWA_sext1(w);
  out->neg = F_SDWA_neg0(w) | F_SDWA_neg1(w) << 1;
  out->abs = F_SDWA_abs0(w) | F_SDWA_abs1(w) << 1;
  if (d->op->format == FORMAT_VOPC) {
    x->sdwa_dst_sel = 6;
    if (F_SDWA_sd(w)) out->dst = scalar_register(F_SDWA_sdst(w), true);
  } else {
    x->sdwa_dst_sel = F_SDWA_dst_sel(w);
    x->sdwa_dst_unused = F_SDWA_unused(w);
    out->clamp = F_SDWA_clamp(w);
    out->omod = F_SDWA_omod(w);
  }
  if (src1 && F_SDWA_s1(w)) *src1 -= SRC_VGPR;
  return F_SDWA_vsrc0(w) + (F_SDWA_s0(w) ? 0 : SRC_VGPR);
}

static bool is_extension(unsigned code) {
  return code == SRC_DPP8 || code == SRC_DPP8_FI || code == SRC_DPP16 ||
         (GENERATION_INDEX <= 1 && code == SRC_SDWA);
}
