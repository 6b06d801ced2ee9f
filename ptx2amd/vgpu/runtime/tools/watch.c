/* Finds dispatches that can never end: every wave waits at a barrier or repeats a read-only loop, and nothing changes
 * memory. Proof for one wave: stepped one instruction at a time, it returns to an earlier state (program counter and
 * all registers) without having changed memory. If this holds for all waves, repeatedly for the time of patience, with
 * nothing else running in the process, the dispatch is a deadlock. Waves that read host-writable memory never count as
 * stuck. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "watch.h"

enum {
  CHECKS = 8,            /* per time of patience */
  MAX_STEPS = 1 << 16,   /* instructions for which a check follows a wave */
  FEW_STEPS = 64,        /* those of a short loop, with which one wave waits for another */
};

static _Atomic uint64_t last_activity;   /* nanoseconds; of anything that may change memory */

void watch_activity(void) { atomic_store_explicit(&last_activity, clock_nanoseconds(), memory_order_relaxed); }

struct snapshot {
  const struct inst *pc;
  uint32_t mode, s[S_SCC + 1];
  uint32_t v[512 * 64];
};

struct rows { size_t vgprs, agprs; };   /* bytes in use, and the start of the second kind */

static struct rows rows_of(const struct wave *w) {
  const struct registers *given = &w->wg->run->view->registers;
  size_t row = (size_t)w->wg->lanes * 4;
  return (struct rows){given->v * row, given->a * row};
}

static void take(struct snapshot *s, const struct wave *w) {
  struct rows r = rows_of(w);
  s->pc = w->pc;
  s->mode = w->mode;
  memcpy(s->s, w->s, sizeof s->s);
  memcpy(s->v, w->v, r.vgprs);
  memcpy(s->v + 256 * 64, w->v + 256 * w->wg->lanes, r.agprs);
}

static bool same(const struct snapshot *s, const struct wave *w) {
  struct rows r = rows_of(w);
  return s->pc == w->pc && s->mode == w->mode && !memcmp(s->s, w->s, sizeof s->s) && !memcmp(s->v, w->v, r.vgprs) &&
         !memcmp(s->v + 256 * 64, w->v + 256 * w->wg->lanes, r.agprs);
}

/* Steps the wave. True: it repeats a loop without effects. Otherwise w->stop may say that it ended or reached a
 * barrier. */
static bool repeats(struct wave *w, struct snapshot *s, unsigned steps) {
  uint64_t changes = w->changes;
  unsigned retake = 1;
  take(s, w);
  for (unsigned step = 1; step <= steps; step++) {
    w->wg->run->build->run_wave(w, 1);
    if ((w->stop != WAVE_RUNNING && w->stop != WAVE_YIELDED) || w->changes != changes) return false;
    if (same(s, w)) return true;
    if (step == retake) {
      take(s, w);
      retake *= 2;
    }
  }
  return false;
}

/* Whether the host can write what the wave's last loop read. */
static bool reads_host_memory(const struct wave *w) {
  for (int k = 0; k < MEM_WINDOWS; k++) {
    uint64_t lo, hi;
    uint32_t flags;
    if (w->window[k].lo == w->window[k].hi || !mem_range(w->window[k].lo, &lo, &hi, &flags)) continue;
    enum mem_kind kind = MEM_KIND(flags);
    if (kind == MEM_HOST || kind == MEM_MANAGED || kind == MEM_REGISTERED || kind == MEM_VIRTUAL) return true;
  }
  return false;
}

/* Whether every wave waits at a barrier or repeats a loop without effects. */
static bool group_repeats(struct workgroup *g, struct snapshot *s, unsigned steps, bool may_read_host_memory) {
  for (unsigned k = 0; k < g->n_waves; k++) {
    struct wave *w = &g->waves[k];
    if (w->stop == WAVE_ENDED || w->stop == WAVE_AT_BARRIER) continue;
    memset(w->window, 0, sizeof w->window);
    bool stuck = repeats(w, s, steps);
    workgroup_account(g, w);
    if (!stuck || (!may_read_host_memory && reads_host_memory(w))) return false;
  }
  return g->live > 0;
}

static struct snapshot *snapshot_of(struct watch *watch) {
  if (!watch->snapshot) watch->snapshot = malloc(sizeof(struct snapshot));
  return watch->snapshot;
}

bool watch_waits(struct watch *watch, struct workgroup *g) {
  struct snapshot *s = snapshot_of(watch);
  return s && group_repeats(g, s, FEW_STEPS, true);
}

static uint64_t changes_of(struct workgroup *const *groups, unsigned n) {
  uint64_t sum = 0;
  for (unsigned k = 0; k < n; k++)
    for (unsigned j = 0; j < groups[k]->n_waves; j++) sum += groups[k]->waves[j].changes;
  return sum;
}

/* The first allocation that the wave's loop reads, for the report. */
static void polled(const struct wave *w, char *text, size_t size) {
  char where[128];
  snprintf(text, size, "its registers or LDS");
  for (int k = 0; k < MEM_WINDOWS; k++) {
    uint64_t lo, hi;
    uint32_t flags;
    if (w->window[k].lo == w->window[k].hi || !mem_range(w->window[k].lo, &lo, &hi, &flags)) continue;
    enum mem_kind kind = MEM_KIND(flags);
    if (kind == MEM_CODE || kind == MEM_KERNARG || kind == MEM_RUNTIME) continue;
    snprintf(text, size, "memory %s", mem_describe(lo, where, sizeof where));
    return;
  }
}

static void report(struct run *run, struct workgroup *const *groups, unsigned n) {
  struct wave *found = NULL;
  unsigned polling = 0, waiting = 0;
  for (unsigned k = 0; k < n; k++)
    for (unsigned j = 0; j < groups[k]->n_waves; j++) {
      struct wave *w = &groups[k]->waves[j];
      if (w->stop == WAVE_ENDED) continue;
      if (w->stop == WAVE_AT_BARRIER) waiting++;
      else if (polling++ == 0) found = w;
    }
  if (!found) found = &groups[0]->waves[0];
  char what[160];
  polled(found, what, sizeof what);
  uint64_t taken = atomic_load(&run->next), left = taken < run->groups ? run->groups - taken : 0;
  wave_fault(found, found->pc, FAULT_DEADLOCK, -1, 0,
             "nothing changed for %.3g s: %u waves wait at a barrier, %u poll (this one %s), %llu blocks have not begun",
             (double)run->patience / 1e9, waiting, polling, what, (unsigned long long)left);
}

void watch_begin(struct watch *watch, struct run *run) {
  *watch = (struct watch){0};
  atomic_fetch_add(&run->watching, 1);
}

void watch_end(struct watch *watch, struct run *run) {
  if (watch->stuck) atomic_fetch_sub(&run->stuck, 1);
  atomic_fetch_sub(&run->watching, 1);
  free(watch->snapshot);
}

void watch_round(struct watch *watch, struct run *run, struct workgroup *const *groups, unsigned n) {
  uint64_t now = clock_nanoseconds();
  if (run->time_limit && now - run->begin > run->time_limit) {
    struct wave *w = &groups[0]->waves[0];
    wave_fault(w, w->pc, FAULT_RUNAWAY, -1, 0, "it ran longer than PTX2AMD_VGPU_TIMEOUT (%.3g s)",
               (double)run->time_limit / 1e9);
    return;
  }
  if (!run->patience) return;
  if (!watch->next) watch->next = now + run->patience / CHECKS;
  if (now < watch->next || !n) return;
  watch->next = now + run->patience / CHECKS;
  if (!snapshot_of(watch)) return;
  bool stuck = !watch->progress;
  for (unsigned k = 0; k < n && stuck; k++) stuck = group_repeats(groups[k], watch->snapshot, MAX_STEPS, false);
  uint64_t changes = changes_of(groups, n);
  stuck = stuck && changes == watch->changes;
  watch->changes = changes;
  watch->progress = false;
  if (stuck != watch->stuck) {
    watch->stuck = stuck;
    atomic_fetch_add(&run->stuck, stuck ? 1 : -1);
  }
  if (!stuck) watch_activity();
  else if (atomic_load(&run->stuck) == atomic_load(&run->watching) && now > atomic_load(&last_activity) + run->patience)
    report(run, groups, n);
}
