/* Part of decode.c: fields of vector ALU instructions. */

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
