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

#include "decode_operand.h"
#include "decode_vector.h"
#include "decode_memory.h"

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
