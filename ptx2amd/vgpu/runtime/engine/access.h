/* Finding the allocation around an address quickly: the last few are kept per wave. */
#ifndef PTX2AMD_VGPU_ACCESS_H
#define PTX2AMD_VGPU_ACCESS_H

#include "wave.h"
#include "wave_events.h"

/* The allocation that holds [lo, hi] (inclusive), or NULL. A window found moves to the front. */
static inline const struct mem_window *find_window(struct wave *w, uint64_t lo, uint64_t hi) {
  if (__builtin_expect(lo > hi, 0)) return NULL;   /* around the end of the address space */
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
#endif
