/* Part of decode.c: fields of image instructions. */

/* Dwords of an image instruction's address; on GFX9, whose encoding has no dimension, the minimum. */
static unsigned image_address_dwords(const struct op_info *op, unsigned dim, bool a16) {
  static const uint8_t coordinates[] = {1, 2, 3, 3, 2, 3, 3, 4}, gradients[] = {1, 2, 3, 2, 1, 2, 2, 2};
  unsigned flags = op->image, n = 0;
  n += ((flags & IMAGE_OFFSET) != 0) + ((flags & IMAGE_BIAS) != 0) + ((flags & IMAGE_COMPARE) != 0);
  bool g16 = op->generation ? flags & IMAGE_G16 : a16;
  if (flags & IMAGE_GRAD) n += 2 * (g16 ? (gradients[dim] + 1u) / 2 : gradients[dim]);
  unsigned body = (flags & IMAGE_RESINFO ? 0 : coordinates[dim]) + ((flags & (IMAGE_LOD | IMAGE_CLAMP | IMAGE_MIP)) != 0);
  return n + (a16 ? (body + 1) / 2 : body);
}

static void image_fields(struct decoding *d, unsigned format, struct inst_ext *x) {
  const uint32_t *w = d->w;
  bool sample = format == FORMAT_VSAMPLE;
  x->image.dmask = (uint8_t)(sample ? F_VSAMPLE_dmask(w) : F_MIMG_dmask(w));
  x->image.dim = (uint8_t)(sample ? F_VSAMPLE_dim(w) : F_MIMG_dim(w));
  x->image.unorm = sample ? F_VSAMPLE_unorm(w) : F_MIMG_unorm(w);
  x->image.a16 = sample ? F_VSAMPLE_a16(w) : F_MIMG_a16(w);
  x->image.d16 = sample ? F_VSAMPLE_d16(w) : F_MIMG_d16(w);
  x->image.tfe = sample ? F_VSAMPLE_tfe(w) : tfe_or_acc(F_MIMG_tfe(w), F_MIMG_acc(w));
  x->image.array = F_MIMG_array(w);
}

/* VGPRs of the address: those encoded separately, then those that follow the last one. */
static void image_address(struct decoding *d, unsigned format, struct inst_ext *x) {
  const uint32_t *w = d->w;
  unsigned listed = 1;
  x->image.address[0] = (uint8_t)(format == FORMAT_VSAMPLE ? F_VSAMPLE_vaddr(w) : F_MIMG_vaddr(w));
  if (GENERATION_INDEX >= 3) {
    for (listed = 1; listed < 4; listed++) x->image.address[listed] = (uint8_t)(w[2] >> 8 * listed);
    if (format == FORMAT_MIMG) x->image.address[listed++] = (uint8_t)(w[1] >> 24);
  } else {
    for (unsigned k = F_MIMG_nsa(w); k > 0; k--)
      for (uint32_t more = next_dword(d), j = 0; j < 4; j++)
        x->image.address[listed++] = (uint8_t)(more >> 8 * j);
  }
  for (; listed < IMAGE_ADDRESSES; listed++) x->image.address[listed] = (uint8_t)(x->image.address[listed - 1] + 1);
}

static void image(struct decoding *d, unsigned format) {
  const uint32_t *w = d->w;
  struct inst *out = d->out;
  struct inst_ext *x = extension(d, EXT_IMAGE);
  bool acc = DECODER_UNIFIED_VGPRS && F_MIMG_acc(w), sample = format == FORMAT_VSAMPLE;
  image_fields(d, format, x);
  image_address(d, format, x);
  x->image.n_address = (uint8_t)image_address_dwords(d->op, GENERATION_INDEX ? x->image.dim : 0, x->image.a16);
  unsigned n = d->op->image & IMAGE_GATHER ? 4 : (unsigned)__builtin_popcount(x->image.dmask);
  x->image.n_data = (uint8_t)((x->image.d16 ? (n + 1) / 2 : n) + x->image.tfe);
  out->dst = (sample ? F_VSAMPLE_vdata(w) : F_MIMG_vdata(w)) | (acc ? 256 : 0);
  vector_source(out, MEM_DATA, out->dst, false);
  vector_source(out, MEM_ADDR, x->image.address[0], false);
  out->src_kind[MEM_SADDR] = OPERAND_SCALAR;
  out->src[MEM_SADDR] = GENERATION_INDEX >= 3 ? (sample ? F_VSAMPLE_rsrc(w) : F_MIMG_rsrc(w)) : F_MIMG_srsrc(w) * 4;
  absent(out, MEM_DATA2);
  if (d->op->image & IMAGE_SAMPLED) {
    out->src_kind[MEM_DATA2] = OPERAND_SCALAR;
    out->src[MEM_DATA2] = GENERATION_INDEX >= 3 ? F_VSAMPLE_ssamp(w) : F_MIMG_ssamp(w) * 4;
  }
  if (sample ? F_VSAMPLE_glc(w) : F_MIMG_glc(w)) out->flags |= FLAG_GLC;
  if (F_MIMG_dlc(w)) out->flags |= FLAG_DLC;
  out->flags |= scope(sample ? F_VSAMPLE_scope(w) : F_MIMG_scope(w));
}
