/* Image instructions: a 256-bit descriptor in SGPRs describes the image (image.h), the address registers select the
 * texel. Texels outside of the image read zero, and writes to them are dropped, as on the chip. */
#include "element.h"
#include "image.h"
#include "vmem.h"

/* Operands of an instruction. */
struct target { struct image image; struct sampler sampler; enum image_dim dim; };

static bool found(struct wave *w, const struct inst *i, struct target *t, next_inst *out) {
  unsigned generation = i->op->generation;
  const char *why = image_describe(w->s + i->src[MEM_SADDR], generation, &t->image);
  if (!why && i->src_kind[MEM_DATA2] == OPERAND_SCALAR)
    why = sampler_describe(w->s + i->src[MEM_DATA2], generation, &t->sampler);
  if (!why) {
    t->dim = image_request_dim(i, &t->image);
    if (t->dim >= DIM_2D_MSAA) why = "the image has several samples a texel";
  }
  if (why) *out = wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "%s: %s", i->op->name, why);
  return !why;
}

static void request(const struct wave *w, const struct inst *i, enum image_dim dim, unsigned lane, struct image_request *r) {
  uint32_t dwords[IMAGE_ADDRESSES];
  for (unsigned k = 0; k < IMAGE_ADDRESSES; k++) dwords[k] = w->v[(size_t)i->ext->image.address[k] * W + lane];
  image_request(i, dim, dwords, r);
}

/* Writes the components selected by DMASK to the lane's registers. */
static void write_lane(struct wave *w, const struct inst *i, unsigned lane, const uint32_t value[4], bool integer, unsigned mask) {
  uint32_t *d = w->v + (size_t)i->dst * W + lane;
  unsigned n = 0;
  for (unsigned k = 0; k < 4; k++) {
    if (!(mask >> k & 1)) continue;
    if (!i->ext->image.d16) {
      d[n * W] = value[k];
    } else {
      uint32_t half = integer ? value[k] & 0xffff : texel_half(value[k]);
      d[n / 2 * W] = n & 1 ? (d[n / 2 * W] & 0xffff) | half << 16 : half;
    }
    n++;
  }
  if (i->ext->image.tfe) d[(i->ext->image.n_data - 1) * W] = 0;   /* no page is missing */
}

static void read_lane(const struct wave *w, const struct inst *i, unsigned lane, bool integer_signed, bool integer, uint32_t value[4]) {
  const uint32_t *s = w->v + (size_t)i->src[MEM_DATA] * W + lane;
  unsigned n = 0, mask = i->ext->image.dmask;
  for (unsigned k = 0; k < 4; k++) {
    if (!(mask >> k & 1)) {   /* zero; from GFX10 on the first component, which is then present */
      value[k] = n && i->op->generation ? value[__builtin_ctz(mask)] : 0;
      continue;
    }
    if (!i->ext->image.d16) {
      value[k] = s[n * W];
    } else {
      uint32_t half = s[n / 2 * W] >> 16 * (n & 1) & 0xffff;
      value[k] = !integer ? texel_from_half(half) : integer_signed ? (uint32_t)(int32_t)(int16_t)half : half;
    }
    n++;
  }
}

next_inst VG(image_load)(struct wave *w, const struct inst *i) {
  struct target t;
  next_inst out;
  if (!wave_exec(w)) return NEXT(i);
  if (!found(w, i, &t, &out)) return out;
  unsigned bytes = t.image.format.bytes;
  EACH_LANE(l, wave_exec(w)) {
    struct image_request r;
    uint32_t value[4] = {0};
    request(w, i, t.dim, (unsigned)l, &r);
    uint64_t at = image_texel(&t.image, t.dim, &r, i->op->image);
    if (at && !may_read(w, at, at + bytes - 1)) return wave_memory_fault(w, i, (int)l, at, bytes, false);
    if (at) texel_load(&t.image.format, element(w, at, bytes, false), value);
    texel_select(&t.image.format, t.image.select, value);
    write_lane(w, i, (unsigned)l, value, texel_integer(&t.image.format), i->ext->image.dmask);
  }
  return NEXT(i);
}

next_inst VG(image_store)(struct wave *w, const struct inst *i) {
  struct target t;
  next_inst out;
  if (!wave_exec(w)) return NEXT(i);
  if (!found(w, i, &t, &out)) return out;
  const struct texel_format *f = &t.image.format;
  w->changes++;
  EACH_LANE(l, wave_exec(w)) {
    struct image_request r;
    uint32_t value[4];
    request(w, i, t.dim, (unsigned)l, &r);
    uint64_t at = image_texel(&t.image, t.dim, &r, i->op->image);
    if (!at) continue;
    if (!may_write(w, at, at + f->bytes - 1)) return wave_memory_fault(w, i, (int)l, at, f->bytes, true);
    read_lane(w, i, (unsigned)l, f->number == NUMBER_SINT, texel_integer(f), value);
    texel_unselect(t.image.select, value);
    texel_store(f, element(w, at, f->bytes, true), value);
  }
  return NEXT(i);
}

next_inst VG(image_atomic)(struct wave *w, const struct inst *i, enum atomic_op op) {
  struct target t;
  next_inst out;
  uint64_t exec = wave_exec(w);
  if (!exec) return NEXT(i);
  if (!found(w, i, &t, &out)) return out;
  unsigned dwords = (unsigned)__builtin_popcount(i->ext->image.dmask), bits = 32 * dwords;
  if (op == ATOMIC_CMPSWAP || op == ATOMIC_CMPSWAP_F) bits /= 2;
  if (bits / 8 != t.image.format.bytes)
    return wave_fault(w, i, FAULT_BAD_LAUNCH, -1, 0, "%s of %u bits on texels of %u bytes", i->op->name, bits,
                      t.image.format.bytes);
  struct lane_addresses a = {.stride = 4};
  no_pattern(&a);
  EACH_LANE(l, exec) {
    struct image_request r;
    request(w, i, t.dim, (unsigned)l, &r);
    a.p[l] = image_texel(&t.image, t.dim, &r, i->op->image);
    a.lanes |= (uint64_t)(a.p[l] != 0) << l;
  }
  bool returns = i->flags & FLAG_GLC;
  unsigned data = i->src[MEM_DATA];
  if (a.lanes) {
    if (!VG(check_addresses)(w, i, &a, bits / 8, true, &out)) return out;
    VG(atomic_lanes)(w, i, &a, op, bits, returns, true, data, data + bits / 32);
  }
  EACH_LANE(l, returns ? exec & ~a.lanes : 0)
    for (unsigned k = 0; k < bits / 32; k++) vgpr(w, i->dst + k)[l] = 0;
  return NEXT(i);
}

/* Gradients are computed from differences in quads of lanes. */
static void quad_gradients(struct image_request *r, enum image_dim dim) {
  unsigned n = image_coordinates(dim);
  for (unsigned l = 0; l < W; l += 4)
    for (unsigned k = 0; k < 3 && k < n; k++) {
      float dx = r[l + 1].at.f[k] - r[l].at.f[k], dy = r[l + 2].at.f[k] - r[l].at.f[k];
      for (unsigned q = 0; q < 4; q++) r[l + q].gradient[0][k] = dx, r[l + q].gradient[1][k] = dy;
    }
}

static void requests(const struct wave *w, const struct inst *i, enum image_dim dim, struct image_request *r) {
  for (unsigned l = 0; l < W; l++) request(w, i, dim, l, &r[l]);
  if (!(i->op->image & (IMAGE_GRAD | IMAGE_LOD | IMAGE_ZERO))) quad_gradients(r, dim);
}

next_inst VG(image_sample)(struct wave *w, const struct inst *i) {
  struct target t;
  next_inst out;
  struct image_request r[W];
  if (!wave_exec(w)) return NEXT(i);
  if (!found(w, i, &t, &out)) return out;
  unsigned mask = i->ext->image.dmask, component = mask ? (unsigned)__builtin_ctz(mask) : 0;
  requests(w, i, t.dim, r);
  EACH_LANE(l, wave_exec(w)) {
    uint32_t value[4];
    uint64_t bad;
    if (!image_sample(w, &t.image, &t.sampler, t.dim, i->op->image, i->ext->image.unorm, component, &r[l], value, &bad))
      return wave_memory_fault(w, i, (int)l, bad, t.image.format.bytes, false);
    write_lane(w, i, (unsigned)l, value, texel_integer(&t.image.format), i->op->image & IMAGE_GATHER ? 15 : mask);
  }
  return NEXT(i);
}

/* Level of detail as it would be sampled, and before the sampler's limits. */
next_inst VG(image_lod)(struct wave *w, const struct inst *i) {
  struct target t;
  next_inst out;
  struct image_request r[W];
  if (!wave_exec(w)) return NEXT(i);
  if (!found(w, i, &t, &out)) return out;
  requests(w, i, t.dim, r);
  EACH_LANE(l, wave_exec(w)) {
    float lod = image_lod(&t.image, &t.sampler, t.dim, &r[l]);
    float both[2] = {image_lod_limited(&t.image, &t.sampler, &r[l], lod), lod};
    uint32_t value[4] = {0};
    both[0] = both[0] > 0 ? 0 : both[0];   /* there is one level */
    both[0] = both[0] < 0 ? 0 : both[0];
    memcpy(value, both, sizeof both);
    write_lane(w, i, (unsigned)l, value, false, i->ext->image.dmask);
  }
  return NEXT(i);
}

/* Width, height, depth or slices, and levels. */
next_inst VG(image_resinfo)(struct wave *w, const struct inst *i) {
  struct target t;
  next_inst out;
  if (!wave_exec(w)) return NEXT(i);
  if (!found(w, i, &t, &out)) return out;
  const struct image *m = &t.image;
  bool slices = t.dim == DIM_2D_ARRAY || t.dim == DIM_CUBE, row_slices = t.dim == DIM_1D_ARRAY;
  uint32_t n = m->slices - m->first;
  uint32_t info[4] = {m->size[0], row_slices ? n : m->size[1], slices ? t.dim == DIM_CUBE ? n / 6 : n : m->size[2], 1};
  EACH_LANE(l, wave_exec(w)) {
    struct image_request r;
    static const uint32_t none[4] = {[3] = 1};
    request(w, i, t.dim, (unsigned)l, &r);
    write_lane(w, i, (unsigned)l, r.lod == 0 ? info : none, true, i->ext->image.dmask);
  }
  return NEXT(i);
}
