/* FLAT and GLOBAL instructions. */
#include "element.h"
#include "quad.h"
#include "vmem.h"

static const struct inst *lds_fault(struct wave *w, const struct inst *i, int lane, uint64_t offset, unsigned bytes) {
  return wave_fault(w, i, FAULT_LDS, lane, offset, "%u bytes at LDS offset 0x%llx of %u", bytes,
                    (unsigned long long)offset, w->lds_size);
}

/* --- address computation --------------------------------------------------------------------------- */

static void flat_addresses(const struct wave *w, const struct inst *i, struct lane_addresses *a) {
  uint64_t offset = (uint64_t)(int64_t)i->imm;
  uint64_t *restrict p = a->p;
  a->stride = 4;
  no_pattern(a);
  if (i->src_kind[MEM_SADDR] != OPERAND_NONE) {
    const uint32_t *s = w->s + i->src[MEM_SADDR];
    offset += (uint64_t)s[1] << 32 | s[0];
    const uint32_t *lo = w->v + (size_t)i->src[MEM_ADDR] * W;
    if (i->flags & FLAG_SIGNED) {
      int64_t scale = i->scale ? i->scale : 1;
      for (int l = 0; l < W; l++) p[l] = offset + (uint64_t)((int32_t)lo[l] * scale);
    } else {
      for (int l = 0; l < W; l++) p[l] = offset + lo[l];
    }
  } else {
    const uint32_t *lo = w->v + (size_t)i->src[MEM_ADDR] * W, *hi = lo + W;
    for (int l = 0; l < W; l++) p[l] = offset + ((uint64_t)hi[l] << 32 | lo[l]);
  }
}

/* Lowest and highest address of the lanes; determines the patterns if all lanes are active. */
static inline void address_range(struct lane_addresses *a, unsigned bytes, uint64_t *low, uint64_t *high) {
  const uint64_t *p = a->p;
  uint64_t lo = p[0], hi = p[0];
  if (all_lanes(a->lanes)) {
    for (int g = 0; g < GROUPS; g++, p += 16) {
      a->pattern[g] = pattern64(p, bytes);
      uint64_t first = p[0], last = p[15];
      if (a->pattern[g] == PATTERN_ANY)
        for (int k = 0; k < 16; k++) {
          first = p[k] < first ? p[k] : first;
          last = p[k] > last ? p[k] : last;
        }
      lo = first < lo ? first : lo;
      hi = last > hi ? last : hi;
    }
  } else {
    fill_inactive(a);
    lo = hi = p[0];
    for (int l = 0; l < W; l++) {
      lo = p[l] < lo ? p[l] : lo;
      hi = p[l] > hi ? p[l] : hi;
    }
  }
  *low = lo;
  *high = hi;
}

bool VG(check_addresses)(struct wave *w, const struct inst *i, struct lane_addresses *a, unsigned bytes, bool write,
                         next_inst *out) {
  uint64_t lo, hi;
  address_range(a, bytes, &lo, &hi);
  const struct mem_window *m = hi + bytes > hi ? find_window(w, lo, hi + bytes - 1) : NULL;
  if (__builtin_expect(m && (!write || m->writable), 1)) return true;
  const uint64_t *p = a->p;
  EACH_LANE(l, a->lanes) {
    m = p[l] + bytes > p[l] ? find_window(w, p[l], p[l] + bytes - 1) : NULL;
    if (!m || (write && !m->writable)) {
      *out = wave_memory_fault(w, i, (int)l, p[l], bytes, write);
      return false;
    }
  }
  return true;
}

static bool check_aligned(struct wave *w, const struct inst *i, const struct lane_addresses *a, unsigned bytes,
                          next_inst *out) {
  EACH_LANE(l, a->lanes)
    if (a->p[l] % bytes) {
      *out = wave_fault(w, i, FAULT_MISALIGNED, (int)l, a->p[l], "atomic operation on %u bytes at 0x%llx", bytes,
                        (unsigned long long)a->p[l]);
      return false;
    }
  return true;
}

/* --- GLOBAL ---------------------------------------------------------------------------------------- */

/* Where a wave with all lanes active accesses consecutive dwords of one allocation, by addresses in two registers: the
 * usual case, for which no lane's address needs to be made. 0: it is another one, or a fault. */
static inline uint64_t whole_row(struct wave *w, const struct inst *i, bool write) {
  if (!all_lanes(wave_exec(w)) || i->src_kind[MEM_SADDR] != OPERAND_NONE || w->weak) return 0;
  const uint32_t *lo = w->v + (size_t)i->src[MEM_ADDR] * W, *hi = lo + W;
  uint32_t first = lo[0], high = hi[0], other = 0;
  if (first > UINT32_MAX - 4 * W) return 0;
  for (uint32_t l = 0; l < W; l++) other |= (lo[l] - 4 * l) ^ first;
  for (uint32_t l = 0; l < W; l++) other |= hi[l] ^ high;
  if (other) return 0;
  uint64_t at = ((uint64_t)high << 32 | first) + (uint64_t)(int64_t)i->imm;
  const struct mem_window *m = find_window(w, at, at + 4 * W - 1);
  return m && (!write || m->writable) ? at : 0;
}

next_inst VG(global_load)(struct wave *w, const struct inst *i, enum load_kind kind) {
  struct lane_addresses a;
  next_inst out;
  uint64_t row;
  if (kind == LOAD_B32 && (row = whole_row(w, i, false))) {
    uint32_t *d = vgpr(w, i->dst);
    for (int g = 0; g < GROUPS; g++) memcpy(d + 16 * g, (const char *)(uintptr_t)row + 64 * g, 64);
    return NEXT(i);
  }
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  flat_addresses(w, i, &a);
  if (!VG(check_addresses)(w, i, &a, load_bytes[kind], false, &out)) return out;
  VG(load_lanes)(w, i, &a, kind);
  return NEXT(i);
}

next_inst VG(global_store)(struct wave *w, const struct inst *i, enum store_kind kind) {
  struct lane_addresses a;
  next_inst out;
  uint64_t row;
  if (kind == STORE_B32 && (row = whole_row(w, i, true))) {
    const uint32_t *s = vgpr(w, i->src[MEM_DATA]);
    for (int g = 0; g < GROUPS; g++) memcpy((char *)(uintptr_t)row + 64 * g, s + 16 * g, 64);
    w->changes++;
    return NEXT(i);
  }
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  flat_addresses(w, i, &a);
  if (!VG(check_addresses)(w, i, &a, store_bytes[kind], true, &out)) return out;
  VG(store_lanes)(w, i, &a, kind);
  return NEXT(i);
}

/* Groups of 8 lanes load 8 elements of 16 bits each, and lane l gets element l % 8 of every lane of its group (GFX12). */
next_inst VG(global_load_transposed)(struct wave *w, const struct inst *i, enum load_kind kind) {
  struct lane_addresses a;
  next_inst out;
  if (W != 32) return wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "%s in a wave of 64 lanes", i->op->name);
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  flat_addresses(w, i, &a);
  if (!VG(check_addresses)(w, i, &a, load_bytes[kind], false, &out)) return out;
  uint16_t element_of[W][8] = {0};
  EACH_LANE(l, a.lanes) {
    const void *from = element(w, a.p[l], load_bytes[kind], false);
    if (!weak_asks(w)) memcpy(element_of[l], from, sizeof element_of[l]);
  }
  if (weak_asks(w)) return NEXT(i);
  uint32_t *d = vgpr(w, i->dst);
  EACH_LANE(l, a.lanes)
    for (unsigned k = 0; k < 4; k++)
      d[k * W + l] = element_of[l / 8 * 8 + 2 * k][l % 8] | (uint32_t)element_of[l / 8 * 8 + 2 * k + 1][l % 8] << 16;
  return NEXT(i);
}

next_inst VG(global_block)(struct wave *w, const struct inst *i, bool write) {
  struct lane_addresses a;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  flat_addresses(w, i, &a);
  return VG(block)(w, i, &a, false, write);
}

/* Compare-and-swap has its comparand in the rows after the new value. */
static void atomic(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum atomic_op op,
                   unsigned bits, bool shared) {
  unsigned data = i->src[MEM_DATA];
  VG(atomic_lanes)(w, i, a, op, bits, i->flags & FLAG_GLC, shared, data, data + bits / 32);
}

next_inst VG(global_atomic)(struct wave *w, const struct inst *i, enum atomic_op op, unsigned bits) {
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  flat_addresses(w, i, &a);
  if (!VG(check_addresses)(w, i, &a, bits / 8, true, &out)) return out;
  if (!check_aligned(w, i, &a, bits / 8, &out)) return out;
  atomic(w, i, &a, op, bits, true);
  return NEXT(i);
}

next_inst VG(global_addtid)(struct wave *w, const struct inst *i, bool store) {
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  bool scalar = i->src_kind[MEM_SADDR] != OPERAND_NONE;
  const uint32_t *s = w->s + i->src[MEM_SADDR];
  uint64_t base = (scalar ? (uint64_t)s[1] << 32 | s[0] : 0) + (uint64_t)(int64_t)i->imm;
  a.stride = 4;
  no_pattern(&a);
  for (unsigned l = 0; l < W; l++) a.p[l] = base + 4 * l;
  if (!VG(check_addresses)(w, i, &a, 4, store, &out)) return out;
  if (store) VG(store_lanes)(w, i, &a, STORE_B32);
  else VG(load_lanes)(w, i, &a, LOAD_B32);
  return NEXT(i);
}

next_inst VG(global_load_lds)(struct wave *w, const struct inst *i, enum load_kind kind) {
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  flat_addresses(w, i, &a);
  if (!VG(check_addresses)(w, i, &a, load_bytes[kind], false, &out)) return out;
  return VG(load_lds)(w, i, &a, kind);
}

next_inst VG(load_lds)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum load_kind kind) {
  unsigned bytes = load_bytes[kind], step = bytes < 4 ? 4 : bytes;
  uint64_t base = (w->s[S_M0] & 0xffffff) + (uint64_t)(int64_t)i->imm;
  w->changes++;
  EACH_LANE(l, a->lanes) {
    uint64_t at = base + l * step;
    if (at + step > w->lds_size) return lds_fault(w, i, (int)l, at, step);
    const void *from = element(w, a->p[l], bytes, false);
    if (weak_asks(w)) continue;
    if (kind == LOAD_I8 || kind == LOAD_I16) {
      int32_t value = kind == LOAD_I8 ? *(const int8_t *)from : *(const int16_t *)from;
      memcpy(w->lds + at, &value, 4);
    } else {
      quad value = {0};
      if (bytes == 16) value = load_quad((uint64_t)(uintptr_t)from);
      else memcpy(&value, from, bytes);
      memcpy(w->lds + at, &value, step);
    }
  }
  return NEXT(i);
}

/* --- FLAT ------------------------------------------------------------------------------------------ */

/* Lanes whose addresses are in an aperture (host addresses are below 2^48). */
static bool any_aperture(const struct lane_addresses *a) {
  uint64_t all = 0;
  for (int l = 0; l < W; l++) all |= (a->lanes >> l & 1) ? a->p[l] : 0;
  return all >> 48 != 0;
}

static uint64_t lanes_in(const struct lane_addresses *a, uint32_t aperture) {
  uint64_t lanes = 0;
  EACH_LANE(l, a->lanes) lanes |= (uint64_t)(a->p[l] >> 32 == aperture) << l;
  return lanes;
}

/* Converts gfx1250's addresses of private memory, which contain the lane, to those of an aperture. */
static bool own_private_memory(struct wave *w, const struct inst *i, struct lane_addresses *a, next_inst *out) {
  EACH_LANE(l, a->lanes) {
    uint64_t p = a->p[l];
    if (p >> 58 != 1) continue;
    if ((p >> 52 & 31) != l || (p >> 32 & 0xfffff)) {
      *out = wave_fault(w, i, FAULT_SCRATCH, (int)l, p, "private memory of another lane at 0x%llx", (unsigned long long)p);
      return false;
    }
    a->p[l] = (uint64_t)PRIVATE_APERTURE << 32 | (uint32_t)p;
  }
  return true;
}

static bool lds_addresses(struct wave *w, const struct inst *i, struct lane_addresses *a, unsigned bytes,
                          next_inst *out) {
  EACH_LANE(l, a->lanes) {
    uint64_t offset = (uint32_t)a->p[l];
    if (offset + bytes > w->lds_size) {
      *out = lds_fault(w, i, (int)l, offset, bytes);
      return false;
    }
    a->p[l] = (uint64_t)(uintptr_t)w->lds + offset;
  }
  fill_inactive(a);
  return true;
}

/* a->p holds offsets. The values pass through a buffer: a 64-bit one is in two places. */
static next_inst private_atomic(struct wave *w, const struct inst *i, const struct lane_addresses *a,
                                enum atomic_op op, unsigned bytes) {
  uint64_t buffer[W];
  struct lane_addresses checked = *a, b = {.lanes = a->lanes, .stride = 4};
  next_inst out;
  if (!check_aligned(w, i, a, bytes, &out)) return out;
  if (!VG(scratch_addresses)(w, i, &checked, bytes, true, &out)) return out;
  for (int l = 0; l < W; l++) b.p[l] = (uint64_t)(uintptr_t)&buffer[l];
  EACH_LANE(l, a->lanes) VG(scratch_copy)(w, (unsigned)l, a->p[l], (uint8_t *)&buffer[l], bytes, false);
  atomic(w, i, &b, op, bytes * 8, false);
  EACH_LANE(l, a->lanes) VG(scratch_copy)(w, (unsigned)l, a->p[l], (uint8_t *)&buffer[l], bytes, true);
  return NEXT(i);
}

/* One access in up to three parts. op < 0: a load or store. */
static next_inst flat_access(struct wave *w, const struct inst *i, unsigned bytes, int load, int store, int op) {
  struct lane_addresses a;
  next_inst out;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  flat_addresses(w, i, &a);
  uint64_t shared = 0, private = 0;
  if (any_aperture(&a)) {
    if (!own_private_memory(w, i, &a, &out)) return out;
    shared = lanes_in(&a, SHARED_APERTURE);
    private = lanes_in(&a, PRIVATE_APERTURE);
  }
  struct lane_addresses global = a;
  global.lanes &= ~(shared | private);
  if (global.lanes) {
    if (!VG(check_addresses)(w, i, &global, bytes, load < 0, &out)) return out;
    if (op >= 0 && !check_aligned(w, i, &global, bytes, &out)) return out;
  }
  if (shared) {
    struct lane_addresses b = a;
    b.lanes = shared;
    if (!lds_addresses(w, i, &b, bytes, &out)) return out;
    if (op >= 0 && !check_aligned(w, i, &b, bytes, &out)) return out;
    if (op >= 0) atomic(w, i, &b, (enum atomic_op)op, bytes * 8, false);
    else if (load >= 0) VG(load_lanes)(w, i, &b, (enum load_kind)load);
    else VG(store_lanes)(w, i, &b, (enum store_kind)store);
  }
  if (private) {
    struct lane_addresses b = a;
    b.lanes = private;
    for (int l = 0; l < W; l++) b.p[l] = (uint32_t)b.p[l];
    if (op >= 0) {
      out = private_atomic(w, i, &b, (enum atomic_op)op, bytes);
      if (!out) return out;
    } else {
      out = VG(scratch_access)(w, i, &b, bytes, load, store);
      if (!out) return out;
    }
  }
  if (global.lanes) {
    if (op >= 0) atomic(w, i, &global, (enum atomic_op)op, bytes * 8, true);
    else if (load >= 0) VG(load_lanes)(w, i, &global, (enum load_kind)load);
    else VG(store_lanes)(w, i, &global, (enum store_kind)store);
  }
  return NEXT(i);
}

next_inst VG(flat_load)(struct wave *w, const struct inst *i, enum load_kind kind) {
  return flat_access(w, i, load_bytes[kind], (int)kind, -1, -1);
}
next_inst VG(flat_store)(struct wave *w, const struct inst *i, enum store_kind kind) {
  return flat_access(w, i, store_bytes[kind], -1, (int)kind, -1);
}
next_inst VG(flat_atomic)(struct wave *w, const struct inst *i, enum atomic_op op, unsigned bits) {
  return flat_access(w, i, bits / 8, -1, -1, (int)op);
}
