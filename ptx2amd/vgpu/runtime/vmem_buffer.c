/* MUBUF instructions: a 128-bit descriptor in SGPRs gives base, stride and range. Accesses out of range read zero
 * and write nothing, as on the chip. A descriptor that adds the lane's number is the wave's scratch (GFX9's private
 * segment buffer). */
#include "vmem.h"

struct buffer {
  uint64_t base;
  uint32_t stride, records;
  bool swizzle, add_tid;
};

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

/* Offsets of the lanes into a->p; lanes out of range leave a->lanes. */
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

next_inst VG(buffer_load)(struct wave *w, const struct inst *i, enum load_kind kind) {
  struct lane_addresses a;
  next_inst out;
  uint64_t exec = wave_exec(w);
  if (!(a.lanes = exec)) return NEXT(i);
  struct buffer b = buffer_descriptor(w, i);
  if (i->flags & (FLAG_LDS | FLAG_TFE)) return wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "buffer load with lds or tfe");
  if (b.add_tid) {
    scratch_offsets(w, i, &b, &a);
    return VG(scratch_access)(w, i, &a, load_bytes[kind], (int)kind, -1);
  }
  buffer_offsets(w, i, &b, &a, load_bytes[kind]);
  if (a.lanes && !VG(check_addresses)(w, i, &a, load_bytes[kind], false, &out)) return out;
  uint64_t outside = exec & ~a.lanes;
  if (outside) {
    static const uint8_t zeros[16];
    struct lane_addresses z = {.lanes = outside, .stride = 4};
    for (int l = 0; l < W; l++) z.p[l] = (uint64_t)(uintptr_t)zeros;
    if (a.lanes) VG(load_lanes)(w, i, &a, kind);
    VG(load_lanes)(w, i, &z, kind);
  } else {
    VG(load_lanes)(w, i, &a, kind);
  }
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
