/* The decoder, compiled with DECODER = gfx942, gfx1100 ... (encoding.DECODERS). The generated header defines
 * classify(), the tables op_table[format] of op_info by opcode, F_<format>_<field>() accessors that return 0 for fields
 * that the generation lacks, VOP3_* bases and the operand types. */
#include "decode.h"

#include <string.h>

static inline uint32_t bits(const uint32_t *w, unsigned lo, unsigned n) {
  return (w[lo / 32] >> (lo % 32)) & ((1u << n) - 1);
}

#define QUOTE(x) #x
#define STRING(x) QUOTE(x)
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#include STRING(PASTE(tables_, DECODER).h)

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

static void vector_short(struct decoding *d, unsigned dst, unsigned src0, unsigned src1) {
  d->short_form = true;
  vector_destination(d, dst);
  if (is_extension(src0)) src0 = extended_source(d, src0, &src1);
  sources(d, (unsigned[3]){src0, src1, 0});
  if (d->out->op_sel) d->modified = true;
}

static void vop3(struct decoding *d) {
  const uint32_t *w = d->w;
  struct inst *out = d->out;
  unsigned src0 = F_VOP3_src0(w);
  out->neg = F_VOP3_neg(w);
  out->omod = F_VOP3_omod(w);
  out->clamp = F_VOP3_clamp(w);
  if (d->op->dst2_type != TYPE_none) {
    out->dst2 = scalar_register(F_VOP3_sdst(w), true);
  } else {
    out->abs = F_VOP3_abs(w);
    out->op_sel = F_VOP3_opsel(w);
  }
  vector_destination(d, F_VOP3_vdst(w));
  if (is_extension(src0)) src0 = extended_source(d, src0, NULL);
  sources(d, (unsigned[3]){src0, F_VOP3_src1(w), F_VOP3_src2(w)});
  d->modified |= out->neg || out->abs || out->omod || out->clamp || out->op_sel;
}

static void vop3p(struct decoding *d) {
  const uint32_t *w = d->w;
  struct inst *out = d->out;
  unsigned src0 = F_VOP3P_src0(w);
  vector_destination(d, F_VOP3P_vdst(w));
  if (is_extension(src0)) src0 = extended_source(d, src0, NULL);
  sources(d, (unsigned[3]){src0, F_VOP3P_src1(w), F_VOP3P_src2(w)});
  if (d->op->format == FORMAT_VOP3P_MAI) {
    if (d->op->dst_type == TYPE_none) {   /* scales of the following MFMA */
      out->op_sel = F_VOP3P_opsel(w);
      out->op_sel_hi = F_VOP3P_opsel_hi(w);
      return;
    }
    out->flags |= F_VOP3P_cbsz(w) | F_VOP3P_abid(w) << 3 | F_VOP3P_blgp(w) << 7;
    out->neg = F_VOP3P_neg(w);
    if (!d->op->accumulation) {
      bool sums = DECODER_OWN_ACCUMULATORS || F_VOP3P_acc_cd(w);   /* C and D are accumulation registers */
      for (int k = 0; k < d->op->n_src; k++) {
        bool index = k == 2 && type_bits[d->op->src_type[2]] < type_bits[d->op->dst_type];   /* of sparse products */
        bool acc = k < 2 ? F_VOP3P_acc(w) >> k & 1 : sums && !index;
        if (acc && out->src_kind[k] == OPERAND_VGPR) out->src[k] |= 256;
      }
      if (sums) out->dst |= 256;
    }
    return;
  }
  out->neg = F_VOP3P_neg(w);
  out->neg_hi = F_VOP3P_neg_hi(w);
  out->clamp = F_VOP3P_clamp(w);
  out->op_sel = F_VOP3P_opsel(w);
  out->op_sel_hi = F_VOP3P_opsel_hi(w) | F_VOP3P_opsel_hi2(w) << 2;
  unsigned hi_used = (1u << d->op->n_src) - 1;
  d->modified |= out->neg || out->neg_hi || out->clamp || out->op_sel || (out->op_sel_hi & hi_used) != hi_used;
}

/* saddr and soffset codes for "none", besides 0x7f; GFX9 has no such register. */
enum { NULL_REGISTER = GENERATION_INDEX >= 2 ? 124 : GENERATION_INDEX == 1 ? 125 : 0x7f };

static void absent(struct inst *out, int k) { out->src_kind[k] = OPERAND_NONE; }

static void vector_source(struct inst *out, int k, unsigned row, bool acc) {
  out->src_kind[k] = OPERAND_VGPR;
  out->src[k] = row | (acc ? 256 : 0);
}

/* An offset in elements; if the element size is not known, the instruction is rejected. */
static void scaled_offset(struct decoding *d, bool scale) {
  d->out->scale = scale ? d->op->bytes : 0;
  if (scale && !d->op->bytes) d->direct = true;
}

static uint16_t scope(unsigned value) { return (uint16_t)(value << FLAG_SCOPE_SHIFT); }

static void flat(struct decoding *d, unsigned format) {
  const uint32_t *w = d->w;
  struct inst *out = d->out;
  bool acc = F_FLAT_acc(w);
  out->dst = F_FLAT_vdst(w) | (acc ? 256 : 0);
  vector_source(out, MEM_ADDR, F_FLAT_addr(w), false);
  vector_source(out, MEM_DATA, F_FLAT_data(w), acc);
  absent(out, MEM_SADDR);
  absent(out, MEM_DATA2);
  out->flags |= (F_FLAT_glc(w) ? FLAG_GLC : 0) | (F_FLAT_slc(w) ? FLAG_SLC : 0) | (F_FLAT_dlc(w) ? FLAG_DLC : 0) |
                scope(F_FLAT_scope(w));
  unsigned saddr = F_FLAT_saddr(w);
  bool has_saddr = saddr != 0x7f && saddr != NULL_REGISTER;
  if (format == FORMAT_FLAT) {
    out->imm = GENERATION_INDEX >= 3 ? sign_extend(F_FLAT_ioffset(w), 24) : (int32_t)F_FLAT_offset(w);
    has_saddr = DECODER_GFX125 && has_saddr;
  } else {
    out->imm = sign_extend(F_GLOBAL_ioffset(w), GENERATION_INDEX >= 3 ? 24 : GENERATION_INDEX == 1 ? 12 : 13);
    if (format == FORMAT_SCRATCH) {
      bool has_vaddr = F_SCRATCH_sve(w);
      if (GENERATION_INDEX == 1) has_vaddr = saddr == NULL_REGISTER;   /* 0x7f: neither of the two */
      else if (!DECODER_HAS_SVE) has_vaddr = !has_saddr;
      if (!has_vaddr) absent(out, MEM_ADDR);
    }
  }
  if (has_saddr) {
    out->src_kind[MEM_SADDR] = OPERAND_SCALAR;
    out->src[MEM_SADDR] = scalar_register(saddr, false);
    if (DECODER_GFX125 && format != FORMAT_SCRATCH) out->flags |= FLAG_SIGNED;
  }
  scaled_offset(d, F_FLAT_scale(w));
}

/* GFX generations in which TFE and the accumulation-register bit are the same bit. */
static bool tfe_or_acc(bool tfe, bool acc) { return DECODER_UNIFIED_VGPRS && acc ? false : tfe; }

static void buffer(struct decoding *d) {
  const uint32_t *w = d->w;
  struct inst *out = d->out;
  bool acc = DECODER_UNIFIED_VGPRS && F_MUBUF_acc(w);
  out->dst = F_MUBUF_vdata(w) | (acc ? 256 : 0);
  vector_source(out, MEM_ADDR, F_MUBUF_vaddr(w), false);
  vector_source(out, MEM_DATA, F_MUBUF_vdata(w), acc);
  out->src_kind[MEM_SADDR] = OPERAND_SCALAR;
  out->src[MEM_SADDR] = GENERATION_INDEX >= 3 ? F_MUBUF_rsrc(w) : F_MUBUF_srsrc(w) * 4;
  source(d, MEM_DATA2, F_MUBUF_soffset(w), TYPE_u32);
  out->imm = GENERATION_INDEX >= 3 ? sign_extend(F_MUBUF_ioffset(w), 24) : (int32_t)F_MUBUF_offset(w);
  out->flags |= (F_MUBUF_glc(w) ? FLAG_GLC : 0) | (F_MUBUF_slc(w) ? FLAG_SLC : 0) | (F_MUBUF_dlc(w) ? FLAG_DLC : 0) |
                (F_MUBUF_lds(w) ? FLAG_LDS : 0) | (F_MUBUF_offen(w) ? FLAG_OFFEN : 0) |
                (F_MUBUF_idxen(w) ? FLAG_IDXEN : 0) | (tfe_or_acc(F_MUBUF_tfe(w), F_MUBUF_acc(w)) ? FLAG_TFE : 0) |
                scope(F_MUBUF_scope(w));
  out->literal[0] = F_MUBUF_format(w);
}

static void typed_buffer(struct decoding *d) {
  const uint32_t *w = d->w;
  struct inst *out = d->out;
  bool acc = DECODER_UNIFIED_VGPRS && F_MTBUF_acc(w);
  out->dst = F_MTBUF_vdata(w) | (acc ? 256 : 0);
  vector_source(out, MEM_ADDR, F_MTBUF_vaddr(w), false);
  vector_source(out, MEM_DATA, F_MTBUF_vdata(w), acc);
  out->src_kind[MEM_SADDR] = OPERAND_SCALAR;
  out->src[MEM_SADDR] = F_MTBUF_srsrc(w) * 4;
  source(d, MEM_DATA2, F_MTBUF_soffset(w), TYPE_u32);
  out->imm = (int32_t)F_MTBUF_offset(w);
  out->flags |= (F_MTBUF_glc(w) ? FLAG_GLC : 0) | (F_MTBUF_slc(w) ? FLAG_SLC : 0) | (F_MTBUF_dlc(w) ? FLAG_DLC : 0) |
                (F_MTBUF_offen(w) ? FLAG_OFFEN : 0) | (F_MTBUF_idxen(w) ? FLAG_IDXEN : 0) |
                (tfe_or_acc(F_MTBUF_tfe(w), F_MTBUF_acc(w)) ? FLAG_TFE : 0);
  out->literal[0] = F_MTBUF_format(w);
}

#include "decode_image.h"

static void ds(struct decoding *d) {
  const uint32_t *w = d->w;
  struct inst *out = d->out;
  bool acc = F_DS_acc(w);
  out->dst = F_DS_vdst(w) | (acc ? 256 : 0);
  vector_source(out, MEM_ADDR, F_DS_addr(w), false);
  vector_source(out, MEM_DATA, F_DS_data0(w), acc);
  vector_source(out, MEM_DATA2, F_DS_data1(w), acc);
  absent(out, MEM_SADDR);
  out->imm = F_DS_offset0(w) | F_DS_offset1(w) << 8;
  if (F_DS_gds(w)) out->flags |= FLAG_GDS;
}

static void smem(struct decoding *d) {
  const uint32_t *w = d->w;
  struct inst *out = d->out;
  out->dst = scalar_register(F_SMEM_sdata(w), true);
  out->src_kind[0] = OPERAND_SCALAR;
  out->src[0] = F_SMEM_sbase(w) * 2;
  absent(out, 1);
  unsigned soffset = F_SMEM_soffset(w);
  bool has_soffset;
#if GENERATION_INDEX == 0
  has_soffset = F_SMEM_soffset_en(w);
  if (F_SMEM_imm(w)) out->imm = sign_extend(F_SMEM_offset(w), 21);
  else if (!has_soffset) soffset = F_SMEM_offset(w) & 127, has_soffset = true;
#else
  has_soffset = soffset != NULL_REGISTER;
  out->imm = GENERATION_INDEX >= 3 ? sign_extend(F_SMEM_ioffset(w), 24) : sign_extend(F_SMEM_offset(w), 21);
#endif
  if (has_soffset) {
    out->src_kind[1] = OPERAND_SCALAR;
    out->src[1] = scalar_register(soffset, false);
  }
  scaled_offset(d, F_SMEM_scale(w));
}

static void choose_handler(struct decoding *d) {
  const struct handler_pair *h = &d->c->handlers[d->op->id];
  handler_fn run = d->modified && h->run[1] ? h->run[1] : h->run[0];
  d->out->run = run ? run : run_unimplemented;
}

/* One of VOPD's operations, from its fields. */
struct half {
  unsigned op, dst, src0, src1, src2, neg;
};

#if GENERATION_INDEX >= 2
/* VOPD3 has room for three sources and signs. */
static void half_operands(struct decoding *d, const struct half *h, bool three) {
  struct inst *out = d->out;
  d->short_form = !three;
  vector_destination(d, h->dst);
  const struct op_info *op = d->op;
  bool mask = op->n_src > 2 && op->src_type[2] == TYPE_mask, bits = three && h->op == 18;
  sources(d, (unsigned[3]){h->src0, SRC_VGPR + h->src1, bits ? 128 : mask ? h->src2 : SRC_VGPR + h->src2});
  if (bits) {   /* a function of two operands: entries of v_bitop3's table that ignore the third */
    out->neg = h->src2 & 7;
    out->abs = h->src2 >> 3 & 7;
    out->omod = (uint8_t)(h->src2 >> 6);
  } else {
    out->neg = (uint8_t)h->neg;
    d->modified = out->neg != 0;
  }
}
#endif

static void vopd(struct decoding *d, unsigned format) {
#if GENERATION_INDEX >= 2
  const uint32_t *w = d->w;
  struct inst *whole = d->out;
  struct inst_ext *x = extension(d, EXT_VOPD);
  bool three = format == FORMAT_VOPD3;
  unsigned second = F_VOPD_vdsty(w) << 1 | (~F_VOPD_vdst(w) & 1);
  struct half fields[2] = {{F_VOPD_op(w), F_VOPD_vdst(w), F_VOPD_src0(w), F_VOPD_src1(w), 0, 0},
                           {F_VOPD_opy(w), second, F_VOPD_srcy0(w), F_VOPD_srcy1(w), 0, 0}};
  if (three) {
    fields[0] = (struct half){F_VOPD3_op(w), F_VOPD3_vdst(w), F_VOPD3_src0(w), F_VOPD3_src1(w), F_VOPD3_src2(w), F_VOPD3_neg(w)};
    fields[1] = (struct half){F_VOPD3_opy(w), F_VOPD3_vdsty(w), F_VOPD3_srcy0(w), F_VOPD3_srcy1(w), F_VOPD3_srcy2(w), F_VOPD3_negy(w)};
  }
  struct inst *half[2] = {x->x = d->c->alloc(d->c, 2 * sizeof **half), NULL};
  half[1] = x->y = x->x + 1;
  bool literal_read = false, known = d->c->vopd != NULL;
  for (int k = 0; k < 2; k++) {
    d->out = half[k];
    d->op = half[k]->op = vopd_table[fields[k].op];
    if (!d->op) {
      whole->run = run_illegal;
      return;
    }
    if (literal_read) half[k]->flags |= DECODE_HAS_LITERAL;
    d->modified = false;
    half_operands(d, &fields[k], three);
    literal_read |= (half[k]->flags & DECODE_HAS_LITERAL) != 0;
    half[k]->flags &= ~DECODE_HAS_LITERAL;
    choose_handler(d);
    known &= half[k]->run != run_unimplemented;
  }
  d->out = whole;
  d->op = whole->op = half[0]->op;
  whole->run = known ? d->c->vopd : run_unimplemented;
#else
  (void)format;
  d->out->run = run_illegal;
#endif
}

static void decode_fields(struct decoding *d, unsigned format) {
  const uint32_t *w = d->w;
  struct inst *out = d->out;
  switch (format) {
  case FORMAT_SOP1: case FORMAT_SOP2: case FORMAT_SOPC:
    if (format == FORMAT_SOP1) out->dst = scalar_register(F_SOP1_sdst(w), true);
    if (format == FORMAT_SOP2) out->dst = scalar_register(F_SOP2_sdst(w), true);
    sources(d, (unsigned[3]){F_SOP2_src0(w), F_SOP2_src1(w), 0});
    break;
  case FORMAT_SOPK:
    out->dst = scalar_register(F_SOPK_sdst(w), true);
    out->src[0] = scalar_register(F_SOPK_sdst(w), false);
    out->src_kind[0] = OPERAND_SCALAR;
    out->imm = (int16_t)F_SOPK_simm16(w);
    for (int k = 0; k < d->op->n_src; k++)
      if (d->op->src_role[k] == ROLE_K) {
        out->src_kind[k] = OPERAND_LITERAL;
        literal(d, TYPE_u32);
      }
    break;
  case FORMAT_SOPP:
    out->imm = (int16_t)F_SOPP_simm16(w);
    break;
  case FORMAT_SMEM: smem(d); break;
  case FORMAT_VOP1: vector_short(d, F_VOP1_vdst(w), F_VOP1_src0(w), 0); break;
  case FORMAT_VOP2: vector_short(d, F_VOP2_vdst(w), F_VOP2_src0(w), SRC_VGPR + F_VOP2_src1(w)); break;
  case FORMAT_VOPC: vector_short(d, S_VCC, F_VOPC_src0(w), SRC_VGPR + F_VOPC_src1(w)); break;
  case FORMAT_VOP3: vop3(d); break;
  case FORMAT_VOP3P: vop3p(d); break;
  case FORMAT_FLAT: case FORMAT_GLOBAL: case FORMAT_SCRATCH: flat(d, format); break;
  case FORMAT_MUBUF: buffer(d); break;
  case FORMAT_MTBUF: typed_buffer(d); break;
  case FORMAT_MIMG: case FORMAT_VSAMPLE: image(d, format); break;
  case FORMAT_DS: ds(d); break;
  default: break;
  }
}

/* v_mfma_ld_scale_b32 was decoded: it forms one instruction with the MFMA behind it. */
static void scaled(struct decoding *d) {
  struct inst *whole = d->out;
  struct inst *scales = d->c->alloc(d->c, sizeof *scales);
  *scales = *whole;
  memset(whole, 0, sizeof *whole);
  whole->len = (uint8_t)d->len;
  whole->run = run_illegal;
  if (d->c->after < d->len + 2 || classify(d->w[d->len]) != FORMAT_VOP3P) return;
  const struct op_info *op = find_op(FORMAT_VOP3P, d->w + d->len);
  if (!op || !op->scaled) return;
  d->w += d->len;
  d->op = whole->op = op;
  vop3p(d);
  d->modified = false;
  choose_handler(d);
  struct inst_ext *x = extension(d, EXT_SCALES);
  x->x = scales;
  d->len += 2;
}

/* A relative branch whose target lies outside the code. */
static bool jumps_outside(const struct decoding *d) {
  if (!(d->op->traits & TRAIT_RELATIVE)) return false;
  int64_t target = (int64_t)d->c->before + d->len + d->out->imm;
  return target < 0 || target >= (int64_t)(d->c->before + d->c->after);
}

void PASTE(decode_, DECODER)(const uint32_t *words, struct inst *out, struct decode_context *c) {
  memset(out, 0, sizeof *out);
  out->len = 1;
  unsigned format = classify(words[0]);
  if (format == FORMAT_none || format_dwords[format] > c->after) {
    out->run = run_illegal;
    return;
  }
  struct decoding d = {.w = words, .out = out, .c = c, .len = format_dwords[format]};
  out->len = (uint8_t)d.len;
  if (format == FORMAT_VOPD || format == FORMAT_VOPD3) {
    vopd(&d, format);
  } else {
    d.op = out->op = find_op(format, words);
    if (!d.op) {
      out->run = run_illegal;
      return;
    }
    decode_fields(&d, format);
    if (d.op->format == FORMAT_VOP3P_MAI && d.op->dst_type == TYPE_none) scaled(&d);
    else choose_handler(&d);
    if (jumps_outside(&d)) out->run = run_bad_jump;
  }
  out->flags &= (uint16_t)~DECODE_HAS_LITERAL;
  out->len = (uint8_t)d.len;
  if (d.truncated || d.reserved) out->run = run_illegal;
  else if (d.direct) out->run = run_unimplemented;
}
