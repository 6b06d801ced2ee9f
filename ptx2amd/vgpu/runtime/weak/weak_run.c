/* Dispatches in the weak-memory mode: placement of workgroups, and their scheduling. */
#include <stdlib.h>
#include <string.h>

#include "tools.h"
#include "weak.h"

bool weak_on(void) { return tools()->weak != 0; }

/* A chip's caches are invalidated before a kernel, and written back after it. */
void weak_run_begin(void) {
  weak_lock();
  weak_drain_all();
  cache_reset();
  weak_unlock();
}
void weak_run_end(void) { weak_run_begin(); }

bool weak_group_start(struct workgroup *g) {
  const struct run *run = g->run;
  enum { WGP_MODE = 29 };
  bool pair = run->weak->pairs && run->descriptor->compute_pgm_rsrc1 >> WGP_MODE & 1;
  if (g->weak_capacity < g->n_waves) {
    free(g->weak);
    g->weak = calloc(g->n_waves, sizeof *g->weak);
    g->weak_capacity = g->weak ? g->n_waves : 0;
    if (!g->weak) return false;
  }
  weak_lock();
  unsigned cu = weak_below(WEAK_CUS);
  for (unsigned k = 0; k < g->n_waves; k++) {
    struct weak_wave *x = &g->weak[k];
    memset(x, 0, sizeof *x);
    x->chip = run->weak;
    x->cu = pair && weak_chance(2) ? cu ^ 1 : cu;
    g->waves[k].weak = x;
  }
  weak_unlock();
  return true;
}

void weak_group_free(struct workgroup *g) { free(g->weak); }

/* The wave's operations in flight continue without it; LDS is released with the workgroup. */
static void wave_end(struct wave *w) {
  struct weak_wave *x = w->weak;
  weak_lds(w, UINT32_MAX);
  for (struct weak_op *op = x->oldest; op; op = x->oldest) {
    if (op->writes_back || (op->saved && !op->pending)) weak_perform(op);
    if (op->saved && !op->pending) weak_deliver(op);   /* to LDS */
    if (op->pending) weak_unmark(op);
    weak_leave(op);
  }
}

void weak_group_end(struct workgroup *g) {
  weak_lock();
  for (unsigned k = 0; k < g->n_waves; k++)
    if (g->waves[k].weak) wave_end(&g->waves[k]);
  weak_unlock();
}

unsigned weak_turn(unsigned n) {
  weak_lock();
  unsigned turn = weak_below(n);
  weak_unlock();
  return turn;
}

static struct wave *pick(struct workgroup *g) {
  unsigned n = 0;
  struct wave *found = NULL;
  for (unsigned k = 0; k < g->n_waves; k++) {
    struct wave *w = &g->waves[k];
    if (w->stop == WAVE_ENDED || w->stop == WAVE_AT_BARRIER) continue;
    if (weak_chance(++n)) found = w;
  }
  return found;
}

enum group_state weak_group_run(struct workgroup *g) {
  struct run *run = g->run;
  enum { TURNS = 4, LONGEST = 7 };
  enum group_state state = GROUP_PARKED;
  weak_lock();
  for (unsigned turn = weak_below(TURNS) + g->n_waves; turn && g->live && state == GROUP_PARKED; turn--) {
    struct wave *w = pick(g);
    uint64_t before = w->executed;
    if (atomic_load_explicit(&run->stop, memory_order_relaxed)) {
      state = GROUP_STOPPED;
      break;
    }
    run->build->run_wave(w, 1u << weak_below(LONGEST));
    atomic_fetch_add_explicit(&run->instructions, w->executed - before, memory_order_relaxed);
    if (run->max_instructions && w->executed > run->max_instructions && w->stop != WAVE_ENDED)
      wave_fault(w, w->pc, FAULT_RUNAWAY, -1, 0, "more than %llu instructions", (unsigned long long)run->max_instructions);
    if (w->stop == WAVE_FAULTED) state = GROUP_STOPPED;
    if (w->stop == WAVE_ENDED || w->stop == WAVE_FAULTED) wave_end(w);
    if (state == GROUP_PARKED) workgroup_account(g, w);
    weak_tick(w);
  }
  if (!g->live) state = GROUP_DONE;
  weak_unlock();
  if (state == GROUP_DONE && g->shadow) tools_group_end(g);
  return state;
}
