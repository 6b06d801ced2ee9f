/* MUBUF instructions: a 128-bit descriptor in SGPRs gives base, stride and range. Reads out of range return zero and
 * writes are dropped, as on the chip. A descriptor that adds the lane's number is the wave's scratch (GFX9's private
 * segment buffer). */
#include "element.h"
#include "texel.h"
#include "vmem.h"

struct buffer {
  uint64_t base;
  uint32_t stride, records;
  bool swizzle, add_tid;
};

/* The dword after the data that reports missing pages: there are none. */
static void all_resident(struct wave *w, const struct inst *i, unsigned dwords) {
  if (!(i->flags & FLAG_TFE)) return;
  uint32_t *d = vgpr(w, i->dst + dwords);
  EACH_LANE(l, wave_exec(w)) d[l] = 0;
}

static struct buffer buffer_descriptor(const struct wave *w, const struct inst *i) {
  const uint32_t *s = w->s + i->src[MEM_SADDR];
  bool gfx9 = i->op->generation == 0;
  return (struct buffer){
    .base = s[0] | (uint64_t)(s[1] & 0xffff) << 32,
    .stride = s[1] >> 16 & 0x3fff,
    .records = s[2],
    .swizzle = gfx9 ? s[1] >> 31 : (s[1] >> 30 & 3) != 0,
    .add_tid = s[3] >> 23 & 1,
  };
}

/* Offsets of the lanes into a->p; lanes out of range are removed from a->lanes. */
static void buffer_offsets(const struct wave *w, const struct inst *i, const struct buffer *b, struct lane_addresses *a,
                           unsigned bytes) {
  uint32_t scalar = source_u32(w, i, MEM_DATA2);
  const uint32_t *index = w->v + (size_t)i->src[MEM_ADDR] * W;
  const uint32_t *offset = i->flags & FLAG_IDXEN ? index + W : index;
  uint64_t inside = 0;
  a->stride = 4;
  no_pattern(a);
  for (unsigned l = 0; l < W; l++) {
    uint64_t item = i->flags & FLAG_IDXEN ? index[l] : 0;
    uint64_t within = (uint32_t)i->imm + (uint64_t)(i->flags & FLAG_OFFEN ? offset[l] : 0);
    uint64_t total = within + scalar;
    bool in;
    if (b->stride == 0) in = total + bytes <= b->records;
    else if (b->swizzle || (i->flags & FLAG_IDXEN)) in = item < b->records && (!b->swizzle || within + bytes <= b->stride);
    else in = total + bytes <= (uint64_t)b->records * b->stride;
    a->p[l] = b->base + item * b->stride + total;
    inside |= (uint64_t)in << l;
  }
  a->lanes &= inside;
}

/* Byte offsets in the wave's scratch. SOFFSET counts bytes of all lanes: the stack pointer of GFX9. */
static void scratch_offsets(const struct wave *w, const struct inst *i, const struct buffer *b,
                            struct lane_addresses *a) {
  uint32_t scalar = source_u32(w, i, MEM_DATA2) + (uint32_t)(b->base - (uint64_t)(uintptr_t)w->scratch);
  const uint32_t *v = w->v + (size_t)i->src[MEM_ADDR] * W;
  for (int l = 0; l < W; l++)
    a->p[l] = (uint32_t)(scalar / W + (uint32_t)i->imm + (i->flags & FLAG_OFFEN ? v[l] : 0));
}

/* Stores lane l's data to M0 + offset + l * size; zeros if it is out of range. */
static next_inst load_to_lds(struct wave *w, const struct inst *i, const struct buffer *b, enum load_kind kind) {
  struct lane_addresses a = {.lanes = wave_exec(w)};
  next_inst out;
  static const uint8_t zeros[16];
  if (b->add_tid) return wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "%s from private memory to LDS", i->op->name);
  buffer_offsets(w, i, b, &a, load_bytes[kind]);
  if (a.lanes && !VG(check_addresses)(w, i, &a, load_bytes[kind], false, &out)) return out;
  for (unsigned l = 0; l < W; l++)
    if (!(a.lanes >> l & 1)) a.p[l] = (uint64_t)(uintptr_t)zeros;
  a.lanes = wave_exec(w);
  return VG(load_lds)(w, i, &a, kind);
}

next_inst VG(buffer_load)(struct wave *w, const struct inst *i, enum load_kind kind) {
  struct lane_addresses a;
  next_inst out;
  uint64_t exec = wave_exec(w);
  if (!(a.lanes = exec)) return NEXT(i);
  struct buffer b = buffer_descriptor(w, i);
  if (i->flags & FLAG_LDS) return load_to_lds(w, i, &b, kind);
  all_resident(w, i, (load_bytes[kind] + 3u) / 4);
  if (b.add_tid) {
    scratch_offsets(w, i, &b, &a);
    return VG(scratch_access)(w, i, &a, load_bytes[kind], (int)kind, -1);
  }
  buffer_offsets(w, i, &b, &a, load_bytes[kind]);
  if (a.lanes && !VG(check_addresses)(w, i, &a, load_bytes[kind], false, &out)) return out;
  if (a.lanes) VG(load_lanes)(w, i, &a, kind);
  VG(load_zeros)(w, i, exec & ~a.lanes, kind);
  return NEXT(i);
}

next_inst VG(buffer_store)(struct wave *w, const struct inst *i, enum store_kind kind) {
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  struct buffer b = buffer_descriptor(w, i);
  if (b.add_tid) {
    scratch_offsets(w, i, &b, &a);
    return VG(scratch_access)(w, i, &a, store_bytes[kind], -1, (int)kind);
  }
  buffer_offsets(w, i, &b, &a, store_bytes[kind]);
  if (!a.lanes) return NEXT(i);
  if (!VG(check_addresses)(w, i, &a, store_bytes[kind], true, &out)) return out;
  VG(store_lanes)(w, i, &a, kind);
  return NEXT(i);
}

next_inst VG(buffer_atomic)(struct wave *w, const struct inst *i, enum atomic_op op, unsigned bits) {
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  struct buffer b = buffer_descriptor(w, i);
  if (b.add_tid) return wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "buffer atomic on private memory");
  buffer_offsets(w, i, &b, &a, bits / 8);
  if (!a.lanes) return NEXT(i);
  if (!VG(check_addresses)(w, i, &a, bits / 8, true, &out)) return out;
  EACH_LANE(l, a.lanes)
    if (a.p[l] % (bits / 8))
      return wave_fault(w, i, FAULT_MISALIGNED, (int)l, a.p[l], "atomic operation on %u bytes at 0x%llx", bits / 8,
                        (unsigned long long)a.p[l]);
  unsigned data = i->src[MEM_DATA];
  VG(atomic_lanes)(w, i, &a, op, bits, i->flags & FLAG_GLC, true, data, data + bits / 32);
  return NEXT(i);
}

/* --- formats ---------------------------------------------------------------------------------------------------- */

/* The format, and the components selected by a load. False: a fault. */
static bool buffer_format(struct wave *w, const struct inst *i, bool typed, struct texel_format *f, uint8_t select[4],
                          next_inst *out) {
  unsigned generation = i->op->generation;
  uint32_t s = w->s[i->src[MEM_SADDR] + 3], code = i->literal[0];
  if (!typed && generation == 0) code = (s >> 15 & 15) | (s >> 12 & 7) << 4;
  else if (!typed) code = s >> 12 & (generation == 1 ? 127 : 63);
  if (generation == 0) code = (code & 15) | code >> 4 << 6;
  for (unsigned k = 0; k < 4; k++) select[k] = typed ? 4 + k : s >> 3 * k & 7;
  if (texel_format(generation, code, f)) return true;
  *out = wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "%s: format %u of the buffer", i->op->name, code);
  return false;
}

static uint32_t half_of(const struct texel_format *f, uint32_t value) {
  return texel_integer(f) ? value & 0xffff : texel_half(value);
}
static uint32_t whole_of(const struct texel_format *f, uint32_t half) {
  return f->number == NUMBER_UINT ? half & 0xffff : f->number == NUMBER_SINT ? (uint32_t)(int32_t)(int16_t)half : texel_from_half(half);
}

next_inst VG(buffer_load_format)(struct wave *w, const struct inst *i, unsigned n, enum format_halves halves, bool typed) {
  struct lane_addresses a;
  struct texel_format f;
  uint8_t select[4];
  next_inst out;
  uint64_t exec = wave_exec(w);
  if (!(a.lanes = exec)) return NEXT(i);
  struct buffer b = buffer_descriptor(w, i);
  if (!buffer_format(w, i, typed, &f, select, &out)) return out;
  if (b.add_tid) return wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "%s on private memory", i->op->name);
  buffer_offsets(w, i, &b, &a, f.bytes);
  if (a.lanes && !VG(check_addresses)(w, i, &a, f.bytes, false, &out)) return out;
  uint32_t *d = vgpr(w, i->dst);
  EACH_LANE(l, exec) {
    uint32_t value[4] = {0};
    if (a.lanes >> l & 1) texel_load(&f, element(w, a.p[l], f.bytes, false), value);
    texel_select(&f, select, value);
    for (unsigned k = 0; k < n; k++) {
      uint32_t half = half_of(&f, value[k]), *r = &d[k / 2 * W + l];
      if (halves == FORMAT_DWORDS) d[k * W + l] = value[k];
      else if (k & 1) *r = (*r & 0xffff) | half << 16;
      else if (halves == FORMAT_HIGH_HALF) *r = (w->sram_ecc ? 0 : *r & 0xffff) | half << 16;
      else *r = (n > 1 || w->sram_ecc ? 0 : *r & 0xffff0000) | half;
    }
  }
  all_resident(w, i, halves == FORMAT_DWORDS ? n : (n + 1) / 2);
  return NEXT(i);
}

next_inst VG(buffer_store_format)(struct wave *w, const struct inst *i, unsigned n, enum format_halves halves, bool typed) {
  struct lane_addresses a;
  struct texel_format f;
  uint8_t select[4];
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  struct buffer b = buffer_descriptor(w, i);
  if (!buffer_format(w, i, typed, &f, select, &out)) return out;
  if (b.add_tid) return wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "%s on private memory", i->op->name);
  buffer_offsets(w, i, &b, &a, f.bytes);
  if (!a.lanes) return NEXT(i);
  if (!VG(check_addresses)(w, i, &a, f.bytes, true, &out)) return out;
  const uint32_t *s = vgpr(w, i->src[MEM_DATA]);
  w->changes++;
  EACH_LANE(l, a.lanes) {
    uint32_t value[4];
    for (unsigned k = 0; k < 4; k++) {   /* missing components: zero, from GFX10 on the first component */
      unsigned from = k < n ? k : 0;
      uint32_t half = s[from / 2 * W + l] >> (halves == FORMAT_HIGH_HALF || (from & 1) ? 16 : 0);
      value[k] = k >= n && i->op->generation == 0 ? 0 : halves == FORMAT_DWORDS ? s[from * W + l] : whole_of(&f, half & 0xffff);
    }
    texel_unselect(select, value);
    texel_store(&f, element(w, a.p[l], f.bytes, true), value);
  }
  return NEXT(i);
}
