/* DS instructions: LDS belongs to one workgroup, which one thread runs, so nothing here needs to be atomic. */
#include "vmem.h"

static unsigned offset16(const struct inst *i) { return (uint16_t)i->imm; }
static unsigned offset0(const struct inst *i) { return i->imm & 0xff; }
static unsigned offset1(const struct inst *i) { return i->imm >> 8 & 0xff; }

static next_inst lds_fault(struct wave *w, const struct inst *i, int lane, uint64_t at, unsigned bytes) {
  return wave_fault(w, i, FAULT_LDS, lane, at, "%u bytes at LDS offset 0x%llx of %u", bytes, (unsigned long long)at,
                    w->lds_size);
}

/* Host addresses of ADDR + offset. Lanes out of range are removed from a->lanes, as on the chip, or are a fault: then
 * returns false, with *out set. */
static bool lds_addresses(struct wave *w, const struct inst *i, struct lane_addresses *a, unsigned offset,
                          unsigned bytes, next_inst *out) {
  const uint32_t *restrict v = w->v + (size_t)i->src[MEM_ADDR] * W;
  uint64_t base = (uint64_t)(uintptr_t)w->lds, limit = w->lds_size, lanes = a->lanes;
  a->stride = 4;
  uint64_t highest = 0;
  if (all_lanes(lanes)) {
    for (int l = 0; l < W; l++) a->p[l] = base + offset + v[l];
    for (int g = 0; g < GROUPS; g++) {
      const uint32_t *o = v + 16 * g;
      uint32_t last = o[15];
      a->pattern[g] = pattern32(o, bytes);
      if (a->pattern[g] == PATTERN_ANY)
        for (int k = 0; k < 16; k++) last = o[k] > last ? o[k] : last;
      else if (o[0] > last) last = o[0];   /* a row that wraps around */
      highest = last > highest ? last : highest;
    }
  } else {
    for (int l = 0; l < W; l++) {
      uint64_t at = (lanes >> l & 1) ? v[l] : 0;
      highest = at > highest ? at : highest;
      a->p[l] = base + offset + at;
    }
  }
  if (__builtin_expect(highest + offset + bytes > limit, 0)) {
    EACH_LANE(l, lanes) {
      uint32_t at = v[l] + offset;   /* the sum wraps around: compilers use offsets with negative addresses */
      a->p[l] = base + at;
      if ((uint64_t)at + bytes <= limit) continue;
      if (!wave_may_stray(w)) {
        *out = lds_fault(w, i, (int)l, at, bytes);
        return false;
      }
      a->lanes &= ~(UINT64_C(1) << l);
    }
  }
  if (a->lanes && !all_lanes(a->lanes)) fill_inactive(a);
  return true;
}

/* Fast path for loads of whole waves: rows and single elements need only their first address. `furthest` is the largest
 * offset that the instruction adds. False: some lane is out of range, or an address wraps around. */
static inline bool quick_addresses(struct wave *w, const struct inst *i, struct lane_addresses *a, unsigned offset,
                                   unsigned furthest, unsigned bytes) {
  const uint32_t *restrict v = w->v + (size_t)i->src[MEM_ADDR] * W;
  uint64_t base = (uint64_t)(uintptr_t)w->lds + offset;
  uint32_t highest = 0;
  a->stride = 4;
  for (int g = 0; g < GROUPS; g++) {
    const uint32_t *o = v + 16 * g;
    uint32_t last = o[15] > o[0] ? o[15] : o[0];
    a->pattern[g] = pattern32(o, bytes);
    a->p[16 * g] = base + o[0];
    if (a->pattern[g] == PATTERN_ANY)
      for (int k = 0; k < 16; k++) {
        last = o[k] > last ? o[k] : last;
        a->p[16 * g + k] = base + o[k];
      }
    highest = last > highest ? last : highest;
  }
  return (uint64_t)highest + furthest + bytes <= w->lds_size;
}

static inline void move_addresses(struct lane_addresses *a, int64_t by) {
  for (int g = 0; g < GROUPS; g++) {
    int n = a->pattern[g] == PATTERN_ANY ? 16 : 1;
    for (int k = 0; k < n; k++) a->p[16 * g + k] += (uint64_t)by;
  }
}

next_inst VG(ds_load)(struct wave *w, const struct inst *i, enum load_kind kind) {
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  bool quick = all_lanes(a.lanes) && (kind == LOAD_B32 || kind == LOAD_B64 || kind == LOAD_B128);
  if (!(quick && quick_addresses(w, i, &a, offset16(i), offset16(i), load_bytes[kind])) &&
      !lds_addresses(w, i, &a, offset16(i), load_bytes[kind], &out))
    return out;
  VG(load_lanes)(w, i, &a, kind);
  VG(load_zeros)(w, i, wave_exec(w) & ~a.lanes, kind);
  return NEXT(i);
}

/* Each 16 lanes load a tile of 16 columns, row by row, and each lane receives a column (gfx950). */
next_inst VG(ds_load_transposed)(struct wave *w, const struct inst *i, enum load_kind kind, unsigned bits) {
  unsigned dwords = load_bytes[kind] / 4, rows = 32 * dwords / bits;
  next_inst next = VG(ds_load)(w, i, kind);
  uint32_t *d = w->v + (size_t)i->dst * W, tile[16 * 3 + 1] = {0};
  for (unsigned first = 0; next && first < W; first += 16) {
    for (unsigned l = 0; l < 16; l++)
      for (unsigned k = 0; k < dwords; k++) tile[l * dwords + k] = d[k * W + first + l];
    EACH_LANE(column, wave_exec(w) >> first & 0xffff) {
      uint64_t own[4] = {0};
      for (unsigned r = 0; r < rows; r++) {
        unsigned from = (r * 16 + (unsigned)column) * bits, to = r * bits;
        uint64_t pair = tile[from / 32] | (uint64_t)tile[from / 32 + 1] << 32;
        uint64_t element = (pair >> from % 32 & ((1u << bits) - 1)) << to % 32;
        own[to / 32] |= (uint32_t)element;
        own[to / 32 + 1] |= element >> 32;
      }
      for (unsigned k = 0; k < dwords; k++) d[k * W + first + column] = (uint32_t)own[k];
    }
  }
  return next;
}

next_inst VG(ds_store)(struct wave *w, const struct inst *i, enum store_kind kind) {
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  if (!lds_addresses(w, i, &a, offset16(i), store_bytes[kind], &out)) return out;
  VG(store_lanes)(w, i, &a, kind);
  return NEXT(i);
}

/* Both elements are loaded before the first register is written, because ADDR may be one of them. */
next_inst VG(ds_load2)(struct wave *w, const struct inst *i, unsigned bits, bool stride64) {
  struct lane_addresses a, b;
  next_inst out;
  unsigned bytes = bits / 8, unit = stride64 ? bytes * 64 : bytes;
  enum load_kind kind = bits == 32 ? LOAD_B32 : LOAD_B64;
  unsigned first = offset0(i) * unit, last = offset1(i) * unit;
  if (!(a.lanes = b.lanes = wave_exec(w))) return NEXT(i);
  struct inst second = *i;
  second.dst = (uint16_t)(i->dst + bits / 32);
  if (all_lanes(a.lanes) && quick_addresses(w, i, &a, first, first > last ? first : last, bytes)) {
    VG(load_lanes)(w, i, &a, kind);
    move_addresses(&a, (int64_t)last - first);
    VG(load_lanes)(w, &second, &a, kind);
    return NEXT(i);
  }
  if (!lds_addresses(w, i, &a, first, bytes, &out)) return out;
  if (!lds_addresses(w, i, &b, last, bytes, &out)) return out;
  VG(load_lanes)(w, i, &a, kind);
  VG(load_zeros)(w, i, wave_exec(w) & ~a.lanes, kind);
  VG(load_lanes)(w, &second, &b, kind);
  VG(load_zeros)(w, &second, wave_exec(w) & ~b.lanes, kind);
  return NEXT(i);
}

next_inst VG(ds_store2)(struct wave *w, const struct inst *i, unsigned bits, bool stride64) {
  struct lane_addresses a, b;
  next_inst out;
  unsigned bytes = bits / 8, unit = stride64 ? bytes * 64 : bytes;
  enum store_kind kind = bits == 32 ? STORE_B32 : STORE_B64;
  if (!(a.lanes = b.lanes = wave_exec(w))) return NEXT(i);
  if (!lds_addresses(w, i, &a, offset0(i) * unit, bytes, &out)) return out;
  if (!lds_addresses(w, i, &b, offset1(i) * unit, bytes, &out)) return out;
  struct inst second = *i;
  second.src[MEM_DATA] = i->src[MEM_DATA2];
  VG(store_lanes)(w, i, &a, kind);
  VG(store_lanes)(w, &second, &b, kind);
  return NEXT(i);
}

next_inst VG(ds_exchange2)(struct wave *w, const struct inst *i, unsigned bits, bool stride64) {
  w->changes++;
  struct lane_addresses a, b;
  next_inst out;
  unsigned bytes = bits / 8, unit = stride64 ? bytes * 64 : bytes;
  if (!(a.lanes = b.lanes = wave_exec(w))) return NEXT(i);
  if (!lds_addresses(w, i, &a, offset0(i) * unit, bytes, &out)) return out;
  if (!lds_addresses(w, i, &b, offset1(i) * unit, bytes, &out)) return out;
  if ((a.lanes & b.lanes) != wave_exec(w)) return lds_fault(w, i, -1, w->lds_size, bytes);
  uint64_t old[2], value[2];
  uint32_t *d = vgpr(w, i->dst);
  const uint32_t *s[2] = {vgpr(w, i->src[MEM_DATA]), vgpr(w, i->src[MEM_DATA2])};
  EACH_LANE(l, a.lanes) {
    for (int k = 0; k < 2; k++) value[k] = s[k][l] | (bits == 64 ? (uint64_t)s[k][W + l] << 32 : 0);
    memcpy(&old[0], (void *)(uintptr_t)a.p[l], bytes);
    memcpy(&old[1], (void *)(uintptr_t)b.p[l], bytes);
    memcpy((void *)(uintptr_t)a.p[l], &value[0], bytes);
    memcpy((void *)(uintptr_t)b.p[l], &value[1], bytes);
    for (unsigned k = 0; k < 2; k++) {
      d[k * (bits / 32) * W + l] = (uint32_t)old[k];
      if (bits == 64) d[(k * 2 + 1) * W + l] = (uint32_t)(old[k] >> 32);
    }
  }
  return NEXT(i);
}

next_inst VG(ds_atomic)(struct wave *w, const struct inst *i, enum atomic_op op, unsigned bits, bool returns) {
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  if (!lds_addresses(w, i, &a, offset16(i), bits / 8, &out)) return out;
  uint64_t misaligned = 0;
  for (int l = 0; l < W; l++) misaligned |= a.p[l] & (bits / 8 - 1);   /* inactive lanes have the address of an active
                                                                        * one */
  if (__builtin_expect(misaligned != 0, 0)) EACH_LANE(l, a.lanes)
    if (a.p[l] & (bits / 8 - 1)) {
      uint64_t at = a.p[l] - (uint64_t)(uintptr_t)w->lds;
      return wave_fault(w, i, FAULT_MISALIGNED, (int)l, at, "atomic operation on %u bytes at LDS offset 0x%llx", bits / 8,
                        (unsigned long long)at);
    }
  unsigned data = i->src[MEM_DATA], data2 = i->src[MEM_DATA2];
  /* GFX9 has the comparand first, GFX11 the new value. */
  bool swapped = i->op->generation < 2 && (op == ATOMIC_CMPSWAP || op == ATOMIC_CMPSWAP_F);
  VG(atomic_lanes)(w, i, &a, op, bits, returns, false, swapped ? data2 : data, swapped ? data : data2);
  if (returns) VG(load_zeros)(w, i, wave_exec(w) & ~a.lanes, bits == 32 ? LOAD_B32 : LOAD_B64);
  return NEXT(i);
}

next_inst VG(ds_condxchg32)(struct wave *w, const struct inst *i) {
  w->changes++;
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  if (!lds_addresses(w, i, &a, offset16(i), 8, &out)) return out;
  if (a.lanes != wave_exec(w)) return lds_fault(w, i, -1, w->lds_size, 8);
  uint32_t *d = vgpr(w, i->dst);
  const uint32_t *s = vgpr(w, i->src[MEM_DATA]);
  EACH_LANE(l, a.lanes) {
    uint32_t *p = (uint32_t *)(uintptr_t)(a.p[l] & ~UINT64_C(7)), value[2] = {s[l], s[W + l]};
    for (int k = 0; k < 2; k++) {
      d[k * W + l] = p[k];
      if (value[k] >> 31) p[k] = value[k] & 0x7fffffff;
    }
  }
  return NEXT(i);
}

/* M0 + offset + 4 * lane. */
next_inst VG(ds_addtid)(struct wave *w, const struct inst *i, bool store) {
  uint64_t base = (w->s[S_M0] & 0xffff) + offset16(i);
  struct lane_addresses a = {.lanes = wave_exec(w), .stride = 4};
  if (!a.lanes) return NEXT(i);
  EACH_LANE(l, a.lanes) {
    uint64_t at = base + 4 * l;
    if (at + 4 > w->lds_size) return lds_fault(w, i, (int)l, at, 4);
    a.p[l] = (uint64_t)(uintptr_t)w->lds + at;
  }
  fill_inactive(&a);
  no_pattern(&a);
  if (store) VG(store_lanes)(w, i, &a, STORE_B32);
  else VG(load_lanes)(w, i, &a, LOAD_B32);
  return NEXT(i);
}

/* The barrier of a grid: the chip counts waves. Each barrier repeats the count with which it was initialised. */
next_inst VG(ds_gws_init)(struct wave *w, const struct inst *i) {
  (void)w;
  return NEXT(i);
}

/* ADDR in the first active lane: the number of participating waves minus one. */
next_inst VG(ds_gws_barrier)(struct wave *w, const struct inst *i) {
  uint64_t lanes = wave_exec(w);
  const uint32_t *v = w->v + (size_t)i->src[MEM_ADDR] * W;
  return wave_grid_barrier(w, i, lanes ? v[__builtin_ctzll(lanes)] + 1 : 1);
}

/* Adds (or subtracts) the number of active lanes to a counter; every lane gets the old value. */
next_inst VG(ds_append)(struct wave *w, const struct inst *i, int sign) {
  w->changes++;
  uint64_t lanes = wave_exec(w), at = (w->s[S_M0] & 0xffff) + offset16(i);
  if (at + 4 > w->lds_size) return lds_fault(w, i, -1, at, 4);
  uint32_t old, value;
  memcpy(&old, w->lds + at, 4);
  value = old + (uint32_t)(sign * __builtin_popcountll(lanes));
  memcpy(w->lds + at, &value, 4);
  uint32_t *d = vgpr(w, i->dst);
  EACH_LANE(l, lanes) d[l] = old;
  return NEXT(i);
}

/* --- data exchange between lanes, no memory --------------------------------------------------------- */

/* Lanes that an index can address: the whole wave on GFX9, halves of 32 on GFX10 and later. */
static unsigned group_lanes(const struct inst *i) { return i->op->generation == 0 ? W : 32; }

static void write_active(uint32_t *d, const uint32_t *value, uint64_t lanes) {
  for (int l = 0; l < W; l++) d[l] = lanes >> l & 1 ? value[l] : d[l];
}

next_inst VG(ds_permute)(struct wave *w, const struct inst *i) {
  const uint32_t *address = vgpr(w, i->src[MEM_ADDR]), *s = vgpr(w, i->src[MEM_DATA]);
  uint32_t value[W] = {0};
  uint64_t lanes = wave_exec(w);
  unsigned n = group_lanes(i);
  EACH_LANE(l, lanes) value[(l & ~(uint64_t)(n - 1)) + ((address[l] + offset16(i)) / 4 & (n - 1))] = s[l];
  write_active(vgpr(w, i->dst), value, lanes);
  return NEXT(i);
}

static next_inst bpermute(struct wave *w, const struct inst *i, uint64_t readable) {
  const uint32_t *address = vgpr(w, i->src[MEM_ADDR]), *s = vgpr(w, i->src[MEM_DATA]);
  uint32_t value[W], source[W];
  uint64_t lanes = wave_exec(w);
  unsigned n = group_lanes(i), offset = offset16(i);
  for (int l = 0; l < W; l++) source[l] = readable >> l & 1 ? s[l] : 0;   /* the others read as zero */
  for (unsigned l = 0; l < W; l++) value[l] = source[(l & ~(n - 1)) + ((address[l] + offset) / 4 & (n - 1))];
  write_active(vgpr(w, i->dst), value, lanes);
  return NEXT(i);
}

next_inst VG(ds_bpermute)(struct wave *w, const struct inst *i) { return bpermute(w, i, wave_exec(w)); }
next_inst VG(ds_bpermute_fi)(struct wave *w, const struct inst *i) { return bpermute(w, i, LANES_ALL); }

/* The source of lane l, by the swizzle mode in the offset. */
static unsigned swizzle_lane(unsigned offset, unsigned l) {
  if (offset >= 0xe000) {   /* FFT: bit-reversed order */
    unsigned mask = offset & 31, j = 0;
    for (int k = 0; k < 5; k++) j |= (l >> k & 1) << (4 - k);
    return (j >> __builtin_popcount(mask)) | (l & mask) | (l & 32);
  }
  if (offset >= 0xc000) {   /* rotate within 32 lanes; bit 10: direction, mask: lanes that keep their position */
    unsigned rotate = offset >> 5 & 31, mask = offset & 31;
    if (offset >> 10 & 1) rotate = -rotate;
    return (l & mask) | ((l + rotate) & ~mask & 31) | (l & 32);
  }
  if (offset & 0x8000) return (l & ~3u) | (offset >> (2 * (l & 3)) & 3);   /* any order within four lanes */
  unsigned and_mask = offset & 31, or_mask = offset >> 5 & 31, xor_mask = offset >> 10 & 31;
  return ((((l & 31) & and_mask) | or_mask) ^ xor_mask) | (l & 32);
}

next_inst VG(ds_swizzle)(struct wave *w, const struct inst *i) {
  const uint32_t *s = vgpr(w, i->src[MEM_ADDR]);
  uint32_t value[W];
  uint64_t lanes = wave_exec(w);
  for (unsigned l = 0; l < W; l++) {
    unsigned from = swizzle_lane(offset16(i), l);
    value[l] = lanes >> from & 1 ? s[from] : 0;
  }
  write_active(vgpr(w, i->dst), value, lanes);
  return NEXT(i);
}
