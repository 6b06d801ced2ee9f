/* SCRATCH instructions: private memory, in which the dwords of a wave's lanes are side by side. */
#include "vmem.h"

bool VG(scratch_addresses)(struct wave *w, const struct inst *i, struct lane_addresses *a, unsigned bytes, bool write,
                           next_inst *out) {
  uint64_t limit = w->scratch_size;
  uint64_t *p = a->p;
  EACH_LANE(l, a->lanes)
    if (p[l] + bytes > limit || p[l] + bytes < p[l]) {
      *out = wave_fault(w, i, FAULT_SCRATCH, (int)l, p[l], "%s of %u bytes at private offset 0x%llx of %llu",
                        write ? "write" : "read", bytes, (unsigned long long)p[l], (unsigned long long)limit);
      return false;
    }
  fill_inactive(a);
  a->stride = W * 4;
  uint64_t first = p[0], same = 0;
  for (int l = 0; l < W; l++) {
    same |= p[l] ^ first;
    p[l] = (uint64_t)(uintptr_t)w->scratch + (p[l] / 4 * W + (unsigned)l) * 4 + p[l] % 4;
  }
  memset(a->pattern, !same && first % 4 == 0 ? PATTERN_ROW : PATTERN_ANY, sizeof a->pattern);
  return true;
}

static bool crosses_dword(const struct lane_addresses *a, unsigned bytes) {
  bool crosses = false;
  EACH_LANE(l, a->lanes) crosses |= a->p[l] % 4 + (bytes > 4 ? 4 : bytes) > 4;
  return crosses;
}

void VG(scratch_copy)(struct wave *w, unsigned lane, uint64_t offset, uint8_t *buffer, unsigned bytes, bool write) {
  for (unsigned k = 0; k < bytes; k++) {
    uint8_t *at = w->scratch + ((offset + k) / 4 * W + lane) * 4 + (offset + k) % 4;
    if (write) *at = buffer[k];
    else buffer[k] = *at;
  }
}

/* one of load and store is the kind, the other is -1. a->p holds byte offsets. */
next_inst VG(scratch_access)(struct wave *w, const struct inst *i, struct lane_addresses *a, unsigned bytes, int load,
                             int store) {
  next_inst out;
  if (!crosses_dword(a, bytes)) {
    if (!VG(scratch_addresses)(w, i, a, bytes, store >= 0, &out)) return out;
    if (load >= 0) VG(load_lanes)(w, i, a, (enum load_kind)load);
    else VG(store_lanes)(w, i, a, (enum store_kind)store);
    return NEXT(i);
  }
  uint8_t buffer[W][16];
  struct lane_addresses b = {.lanes = a->lanes, .stride = 4};
  for (int l = 0; l < W; l++) b.p[l] = (uint64_t)(uintptr_t)buffer[l];
  struct lane_addresses checked = *a;
  if (!VG(scratch_addresses)(w, i, &checked, bytes, store >= 0, &out)) return out;
  if (load >= 0) {
    EACH_LANE(l, a->lanes) VG(scratch_copy)(w, (unsigned)l, a->p[l], buffer[l], bytes, false);
    VG(load_lanes)(w, i, &b, (enum load_kind)load);
  } else {
    VG(store_lanes)(w, i, &b, (enum store_kind)store);
    EACH_LANE(l, a->lanes) VG(scratch_copy)(w, (unsigned)l, a->p[l], buffer[l], bytes, true);
  }
  return NEXT(i);
}

static void scratch_offsets(const struct wave *w, const struct inst *i, struct lane_addresses *a) {
  uint32_t base = (uint32_t)i->imm;
  if (i->src_kind[MEM_SADDR] != OPERAND_NONE) base += w->s[i->src[MEM_SADDR]];
  if (i->src_kind[MEM_ADDR] == OPERAND_NONE) {
    for (int l = 0; l < W; l++) a->p[l] = base;
  } else {
    const uint32_t *v = w->v + (size_t)i->src[MEM_ADDR] * W, scale = i->scale ? i->scale : 1;
    for (int l = 0; l < W; l++) a->p[l] = (uint32_t)(base + v[l] * scale);
  }
}

next_inst VG(scratch_load)(struct wave *w, const struct inst *i, enum load_kind kind) {
  struct lane_addresses a;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  scratch_offsets(w, i, &a);
  return VG(scratch_access)(w, i, &a, load_bytes[kind], (int)kind, -1);
}

next_inst VG(scratch_store)(struct wave *w, const struct inst *i, enum store_kind kind) {
  struct lane_addresses a;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  scratch_offsets(w, i, &a);
  return VG(scratch_access)(w, i, &a, store_bytes[kind], -1, (int)kind);
}

next_inst VG(block)(struct wave *w, const struct inst *i, const struct lane_addresses *first, bool scratch, bool write) {
  next_inst out = NEXT(i);
  for (uint32_t rest = w->s[S_M0]; out && rest; rest &= rest - 1) {
    unsigned k = (unsigned)__builtin_ctz(rest);
    struct lane_addresses a = *first;
    for (int l = 0; l < W; l++) a.p[l] += 4 * k;
    struct inst one = *i;
    one.dst += k, one.src[MEM_DATA] += k;
    if (scratch ? !VG(scratch_addresses)(w, i, &a, 4, write, &out) : !VG(check_addresses)(w, i, &a, 4, write, &out)) break;
    if (write) VG(store_lanes)(w, &one, &a, STORE_B32);
    else VG(load_lanes)(w, &one, &a, LOAD_B32);
  }
  return out;
}

next_inst VG(scratch_block)(struct wave *w, const struct inst *i, bool write) {
  struct lane_addresses a;
  if (!(a.lanes = wave_exec(w))) return NEXT(i);
  scratch_offsets(w, i, &a);
  EACH_LANE(l, a.lanes)
    if (a.p[l] % 4)
      return wave_fault(w, i, FAULT_MISALIGNED, (int)l, a.p[l], "private offset 0x%llx of a block of dwords",
                        (unsigned long long)a.p[l]);
  return VG(block)(w, i, &a, true, write);
}
