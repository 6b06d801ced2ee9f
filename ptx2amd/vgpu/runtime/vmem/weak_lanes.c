/* Deferred vector memory accesses for the weak-memory mode (weak/weak.h). */
#include "vmem.h"
#include "weak.h"

void VG(weak_lanes)(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes, unsigned access, unsigned kind,
                    unsigned bits, bool returns) {
  struct lane_addresses a = {.lanes = lanes, .stride = 4};
  memcpy(a.p, p, sizeof a.p);
  no_pattern(&a);
  if (access == WEAK_LOAD) VG(load_lanes)(w, i, &a, (enum load_kind)kind);
  else if (access == WEAK_STORE) VG(store_lanes)(w, i, &a, (enum store_kind)kind);
  else VG(atomic_lanes)(w, i, &a, (enum atomic_op)kind, bits, returns, true, 2, 4);
}

/* Addresses of all lanes, computed from the patterns. */
static void spread(const struct lane_addresses *a, unsigned bytes, uint64_t p[W]) {
  for (unsigned l = 0; l < W; l++) {
    enum group_pattern pattern = all_lanes(a->lanes) ? (enum group_pattern)a->pattern[l / 16] : PATTERN_ANY;
    unsigned first = l & ~15u;
    p[l] = pattern == PATTERN_ANY ? a->p[l] : pattern == PATTERN_SAME ? a->p[first] : a->p[first] + (l - first) * (uint64_t)bytes;
  }
}

bool VG(weak_load)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum load_kind kind) {
  uint64_t p[W];
  if (a->stride != 4 || !a->lanes) return false;   /* private memory */
  spread(a, load_bytes[kind], p);
  return weak_take_load(w, i, p, a->lanes, kind, load_bytes[kind]);
}

bool VG(weak_store)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum store_kind kind) {
  uint64_t p[W];
  if (a->stride != 4 || !a->lanes) return false;
  spread(a, store_bytes[kind], p);
  return weak_take_store(w, i, p, a->lanes, kind, store_bytes[kind]);
}

bool VG(weak_update)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum atomic_op op, unsigned bits,
                     bool returns, unsigned data, unsigned data2) {
  return a->lanes && weak_take_update(w, i, a->p, a->lanes, op, bits, returns, data, data2);
}
