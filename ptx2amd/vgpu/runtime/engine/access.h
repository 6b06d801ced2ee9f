/* Fast lookup of the allocation around an address: each wave caches the last few. */
#ifndef PTX2AMD_VGPU_ACCESS_H
#define PTX2AMD_VGPU_ACCESS_H

#include "wave.h"
#include "wave_events.h"

/* The allocation that contains [lo, hi] (inclusive), or NULL. A hit moves to the front. */
static inline const struct mem_window *find_window(struct wave *w, uint64_t lo, uint64_t hi) {
  if (__builtin_expect(lo > hi, 0)) return NULL;   /* wraps around the address space */
  for (int k = 0; k < MEM_WINDOWS; k++)
    if (lo >= w->window[k].lo && hi < w->window[k].hi) {
      if (__builtin_expect(k != 0, 0)) {
        struct mem_window found = w->window[k];
        w->window[k] = w->window[k - 1];
        w->window[k - 1] = found;
        return &w->window[k - 1];
      }
      return &w->window[0];
    }
  struct mem_window found;
  if (!memory_window(w, lo, &found) || hi >= found.hi) return NULL;
  w->window[MEM_WINDOWS - 1] = found;
  return &w->window[MEM_WINDOWS - 1];
}
static inline bool may_read(struct wave *w, uint64_t lo, uint64_t hi) { return find_window(w, lo, hi) != NULL; }
static inline bool may_write(struct wave *w, uint64_t lo, uint64_t hi) {
  const struct mem_window *m = find_window(w, lo, hi);
  return m && m->writable;
}

/* For scalar memory instructions: the offset, and the address aligned to dwords. */
static inline uint64_t scalar_offset(const struct wave *w, const struct inst *i) {
  return (uint64_t)(int64_t)i->imm + (i->src_kind[1] == OPERAND_NONE ? 0 : (uint64_t)w->s[i->src[1]] * (i->scale ? i->scale : 1));
}

static inline uint64_t scalar_address(const struct wave *w, const struct inst *i) {
  const uint32_t *base = w->s + i->src[0];
  return (((uint64_t)base[1] << 32 | base[0]) + scalar_offset(w, i)) & ~UINT64_C(3);
}
#endif
