/* Part of decode.c: fields of memory instructions. */

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
