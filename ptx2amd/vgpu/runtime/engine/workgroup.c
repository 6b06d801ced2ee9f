/* A workgroup on one thread: initial registers, and the rounds over its waves. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "state.h"
#include "tools.h"
#include "weak.h"
#include "wave_events.h"

enum {
  WAVE_SLICE = 1 << 14,        /* instructions of a wave before the next wave's turn ... */
  SLICE_GROWTH = 16,           /* ... of FIRST_SLICE, the length in the first round after a barrier, in each round */
  GROUP_SLICE = 1 << 17,       /* instructions of a workgroup before another workgroup's turn */
  SHORT_SHIFT = 5,             /* blocks of a cooperative launch spin until others arrive: their turns are short */
};

/* --- memory --------------------------------------------------------------------------------------- */

static void *map(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static size_t vgpr_bytes(const struct workgroup *g) { return g->capacity * WAVE_VGPR_BYTES(g->lanes); }

struct workgroup *workgroup_new(void) {
  struct workgroup *g = aligned_alloc(64, sizeof *g);   /* the structure's size is a multiple of this */
  if (g) memset(g, 0, sizeof *g);
  return g;
}

void workgroup_free(struct workgroup *g) {
  if (!g) return;
  tools_group_free(g);
  weak_group_free(g);
  if (g->vgprs) munmap(g->vgprs, vgpr_bytes(g));
  if (g->lds) munmap(g->lds, g->lds_capacity);
  if (g->scratch) munmap(g->scratch, g->scratch_capacity);
  free(g->waves);
  free(g->ids);
  free(g);
}

/* The constant parts of the scalar file. */
void write_constants(uint32_t *s) {
  static const uint32_t f32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
  static const uint64_t f64[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                 0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                 0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};
  static const uint16_t f16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
  static const uint16_t bf16[] = {0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22};
  memset(s, 0, S_COUNT * sizeof *s);
  for (int k = 0; k <= 80; k++) {
    int32_t value = k <= 64 ? k : 64 - k;
    s[S_INT + 2 * k] = (uint32_t)value;
    s[S_INT + 2 * k + 1] = (uint32_t)(value >> 31);
  }
  for (int k = 0; k < 9; k++) {
    s[S_FLOAT32 + 2 * k] = f32[k];
    s[S_FLOAT64 + 2 * k] = (uint32_t)f64[k];
    s[S_FLOAT64 + 2 * k + 1] = (uint32_t)(f64[k] >> 32);
    s[S_FLOAT16 + 2 * k] = f16[k];
    s[S_BFLOAT16 + 2 * k] = bf16[k];
    s[S_PK_FLOAT32 + 2 * k] = s[S_PK_FLOAT32 + 2 * k + 1] = f32[k];
  }
  s[S_SHARED_BASE + 1] = s[S_SHARED_LIMIT + 1] = SHARED_APERTURE;
  s[S_PRIVATE_BASE + 1] = s[S_PRIVATE_LIMIT + 1] = PRIVATE_APERTURE;
  s[S_SHARED_LIMIT] = s[S_PRIVATE_LIMIT] = UINT32_MAX;
  s[S_FLAT_SCRATCH + 1] = 1u << PRIVATE_BASE_BIT;
}

static bool reserve(struct workgroup *g, unsigned waves, unsigned lanes, uint32_t lds, size_t scratch) {
  if (waves > g->capacity || lanes != g->lanes) {
    if (g->vgprs) munmap(g->vgprs, vgpr_bytes(g));
    free(g->waves);
    g->prepared_for = 0;
    g->lanes = lanes;
    g->capacity = waves;
    g->vgprs = map(vgpr_bytes(g));
    g->waves = aligned_alloc(64, (waves * sizeof *g->waves + 63) & ~(size_t)63);
    if (!g->vgprs || !g->waves) {
      if (g->vgprs) munmap(g->vgprs, vgpr_bytes(g));
      free(g->waves);
      g->vgprs = NULL, g->waves = NULL, g->capacity = 0;
      return false;
    }
    memset(g->waves, 0, waves * sizeof *g->waves);
    for (unsigned k = 0; k < waves; k++) {
      g->waves[k].v = (uint32_t *)(void *)(g->vgprs + k * WAVE_VGPR_BYTES(lanes));
      write_constants(g->waves[k].s);
    }
  }
  if (lds > g->lds_capacity) {
    if (g->lds) munmap(g->lds, g->lds_capacity);
    g->prepared_for = 0;
    g->lds_capacity = (lds + 4095) & ~4095u;
    g->lds = map(g->lds_capacity);
    if (!g->lds) return g->lds_capacity = 0, false;
  }
  if (scratch > g->scratch_capacity) {
    if (g->scratch) munmap(g->scratch, g->scratch_capacity);
    g->prepared_for = 0;
    g->scratch_capacity = (scratch + 4095) & ~(size_t)4095;
    g->scratch = map(g->scratch_capacity);
    if (!g->scratch) return g->scratch_capacity = 0, false;
  }
  return true;
}

/* --- registers at the start ------------------------------------------------------------------------ */

enum { /* kernel_code_properties */
  USE_PRIVATE_BUFFER = 1, USE_DISPATCH_PTR = 2, USE_QUEUE_PTR = 4, USE_KERNARG_PTR = 8, USE_DISPATCH_ID = 16,
  USE_FLAT_SCRATCH = 32, USE_PRIVATE_SIZE = 64,
};

static unsigned put64(uint32_t *s, unsigned n, uint64_t value) {
  s[n] = (uint32_t)value;
  s[n + 1] = (uint32_t)(value >> 32);
  return n + 2;
}

/* The user SGPRs, then the system SGPRs, in the order of AMDGPUUsage's "Initial Kernel Execution State": values that
 * all waves of the run share, and the positions of the others. */
static void prepare_sgprs(struct workgroup *g) {
  const struct run *run = g->run;
  const struct kernel_descriptor *k = run->descriptor;
  struct start *start = &g->start;
  uint32_t *s = start->s, rsrc2 = k->compute_pgm_rsrc2;
  unsigned n = 0, use = k->kernel_code_properties;
  bool architected = run->arch->architected_flat_scratch;
  memset(start, 0, sizeof *start);
  start->buffer = use & USE_PRIVATE_BUFFER;
  if (start->buffer) {
    /* Base (the wave's), swizzled, element size 4, index stride 64, thread id added: buffer instructions recognise this
     * descriptor. */
    s[2] = UINT32_MAX;
    s[3] = 1u << 19 | 3u << 21 | 1u << 23;
    n = 4;
  }
  if (use & USE_DISPATCH_PTR) n = put64(s, n, (uint64_t)(uintptr_t)&run->packet);
  if (use & USE_QUEUE_PTR) n = put64(s, n, run->d->queue);
  if (use & USE_KERNARG_PTR) n = put64(s, n, run->d->kernarg);
  if (use & USE_DISPATCH_ID) n = put64(s, n, run->d->dispatch_id);
  start->scratch = NOWHERE;
  if ((use & USE_FLAT_SCRATCH) && !architected) start->scratch = (uint8_t)n, n += 2;
  if (use & USE_PRIVATE_SIZE) s[n++] = run->scratch_bytes;
  if (run->preload_dwords) {
    memcpy(s + n, (const uint8_t *)(uintptr_t)run->d->kernarg + run->preload_offset, run->preload_dwords * 4);
    n += run->preload_dwords;
  }
  unsigned user = rsrc2 >> 1 & 31;
  if (n < user) n = user;
  for (int d = 0; d < 3; d++)
    start->id[d] = !run->arch->ttmp_ids && (rsrc2 >> (7 + d) & 1) ? (uint8_t)n++ : NOWHERE;
  start->waves = rsrc2 >> 10 & 1 ? (uint8_t)n++ : NOWHERE;
  /* After them, the wave's offset: 0, because the base above is already the wave's. */
  /* GFX9's FLAT_SCRATCH; the later generations keep it in a hidden register. */
  if (architected && run->arch->generation == 0) start->scratch = 102;
}

/* Values that the waves of one workgroup share. */
static void prepare_group_sgprs(struct workgroup *g) {
  struct start *start = &g->start;
  for (int d = 0; d < 3; d++)
    if (start->id[d] != NOWHERE) start->s[start->id[d]] = g->id[d];
  if (start->waves != NOWHERE) start->s[start->waves] = g->n_waves;
  if (!g->run->arch->ttmp_ids) return;
  start->s[S_TTMP + 9] = g->id[0];
  start->s[S_TTMP + 7] = (g->id[1] & 0xffff) | g->id[2] << 16;
}

static void finish_sgprs(struct wave *w, const struct workgroup *g) {
  const struct start *start = &g->start;
  uint64_t scratch = (uint64_t)(uintptr_t)w->scratch;
  if (start->buffer) w->s[0] = (uint32_t)scratch, w->s[1] = (uint32_t)(scratch >> 32 & 0xffff) | 1u << 31;
  if (start->scratch != NOWHERE) put64(w->s, start->scratch, scratch);
  if (g->run->arch->ttmp_ids) w->s[S_TTMP + 8] = w->index << 25;   /* the wave's number, on GFX12 */
  put64(w->s, S_EXEC, w->lanes == 64 ? UINT64_MAX : (UINT64_C(1) << w->lanes) - 1);
}

/* The rows with the work-items' ids: one with 10 bits per dimension, or one for each dimension that the kernel reads.
 * They are the same in all workgroups of one size. False: out of memory. */
static bool prepare_ids(struct workgroup *g) {
  const struct run *run = g->run;
  unsigned lanes = g->lanes, reads = (run->descriptor->compute_pgm_rsrc2 >> 11 & 3) + 1;
  struct id_layout layout = {.lanes = lanes, .rows = reads > 3 ? 3 : reads, .packed = run->arch->packed_tid};
  memcpy(layout.size, g->size, sizeof layout.size);
  const struct id_layout *now = &g->ids_of;
  if (g->ids && !memcmp(now->size, layout.size, sizeof now->size) && now->lanes == lanes && now->rows == layout.rows &&
      now->packed == layout.packed)
    return true;
  free(g->ids);
  unsigned rows = layout.packed ? 1 : layout.rows;
  uint32_t *row = g->ids = aligned_alloc(64, (size_t)g->n_waves * rows * lanes * 4);
  if (!row) return false;
  uint32_t id[3] = {0};
  for (unsigned wave = 0; wave < g->n_waves; wave++, row += rows * lanes)
    for (unsigned l = 0; l < lanes; l++) {
      if (layout.packed) row[l] = id[0] | (layout.rows > 1 ? id[1] << 10 : 0) | (layout.rows > 2 ? id[2] << 20 : 0);
      else
        for (unsigned d = 0; d < rows; d++) row[d * lanes + l] = id[d];
      if (++id[0] == layout.size[0] && (id[0] = 0, ++id[1] == layout.size[1])) id[1] = 0, id[2]++;
    }
  g->ids_of = layout;
  return true;
}

static void start_wave(struct workgroup *g, unsigned index) {
  const struct run *run = g->run;
  struct wave *w = &g->waves[index];
  uint32_t items = g->size[0] * g->size[1] * g->size[2], first = index * g->lanes;
  unsigned rows = g->ids_of.packed ? 1 : g->ids_of.rows;
  w->lanes = items - first < g->lanes ? items - first : g->lanes;
  w->stop = WAVE_RUNNING;
  w->pc = run->entry;
  w->executed = 0;
  w->at_grid_barrier = false;
  w->trapsts = 0;
  run->build->start_registers(w, g->start.s, g->ids + (size_t)index * rows * g->lanes, rows, run->view->registers.v,
                              run->view->registers.a);
  finish_sgprs(w, g);
  if (w->mode == g->start.mode) return;   /* as the previous wave in this slot left it */
  w->mode = g->start.mode;
  run->build->start_wave(w);
}

/* With tools an instruction takes a hundred times as long, and so does a turn wasted with spinning. */
static unsigned slice_shift(const struct run *run) { return run->d->cooperative || run->real ? SHORT_SHIFT : 0; }

static void set_slice(struct workgroup *g, uint32_t slice) {
  enum { NATIVE_ROUNDS = 64 };
  uint32_t rounds = slice / FIRST_SLICE;
  g->slice = slice;
  g->native_rounds = rounds < NATIVE_ROUNDS ? rounds : NATIVE_ROUNDS;
}

/* State that is the same for all workgroups of a run. Cached allocations stay valid for the run: no memory is returned
 * to the system during it. */
static void prepare(struct workgroup *g) {
  const struct run *run = g->run;
  uint32_t rsrc1 = run->descriptor->compute_pgm_rsrc1;
  prepare_sgprs(g);
  uint32_t mode = (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 | (rsrc1 >> 26 & 1) << 23;
  if (run->arch->generation >= 3) mode = (mode & ~0x300u) | 0x100;   /* DX10_CLAMP always, IEEE never */
  g->start.mode = mode;
  memset(g->sites, 0, sizeof g->sites);
  for (unsigned k = 0; k < g->capacity; k++) {
    struct wave *w = &g->waves[k];
    w->wg = g;
    w->index = k;
    w->lds = g->lds;
    w->lds_size = run->lds_bytes;
    w->sram_ecc = run->arch->sram_ecc;
    w->scratch_size = run->scratch_bytes;
    w->scratch = g->scratch ? g->scratch + (size_t)k * run->scratch_bytes * g->lanes : NULL;
    memset(w->window, 0, sizeof w->window);
    w->mode = mode;
    run->build->start_wave(w);
  }
  g->prepared_for = run->number;
}

bool workgroup_start(struct workgroup *g, struct run *run, uint64_t index) {
  const struct dispatch *d = run->d;
  unsigned lanes = run->build->lanes;
  g->run = run;
  g->id[0] = (uint32_t)(index % d->grid[0]);
  g->id[1] = (uint32_t)(index / d->grid[0] % d->grid[1]);
  g->id[2] = (uint32_t)(index / d->grid[0] / d->grid[1]);
  for (int k = 0; k < 3; k++)
    g->size[k] = d->last_block[k] && g->id[k] == d->grid[k] - 1 ? d->last_block[k] : d->block[k];
  unsigned waves = (g->size[0] * g->size[1] * g->size[2] + lanes - 1) / lanes;
  size_t scratch = (size_t)run->scratch_bytes * lanes * waves;
  if (!reserve(g, waves, lanes, run->lds_bytes, scratch)) {
    run_fault(run, FAULT_BAD_LAUNCH, "out of host memory for the workgroup's registers, LDS or scratch");
    return false;
  }
  if (g->prepared_for != run->number) prepare(g);
  if (run->lds_bytes) memset(g->lds, 0, run->lds_bytes);
  g->n_waves = g->live = waves;
  if (!prepare_ids(g)) {
    run_fault(run, FAULT_BAD_LAUNCH, "out of host memory for the work-items' ids");
    return false;
  }
  g->waiting = 0;
  g->signals = 0;
  set_slice(g, WAVE_SLICE >> slice_shift(run));
  prepare_group_sgprs(g);
  for (unsigned k = 0; k < waves; k++) start_wave(g, k);
  if (run->real && (!tools_group_start(g) || (run->weak && !weak_group_start(g)))) {
    run_fault(run, FAULT_BAD_LAUNCH, "out of host memory for the tools' shadow of the workgroup");
    return false;
  }
  return true;
}

/* --- execution ------------------------------------------------------------------------------------- */

/* After a barrier waves have short turns, because on a chip they run side by side: programs that lack a barrier (one
 * wave reads a word behind this one, another writes it much later) work there. */
static void release_barrier(struct workgroup *g) {
  set_slice(g, FIRST_SLICE);
  g->released = true;
  for (unsigned k = 0; k < g->n_waves; k++)
    if (g->waves[k].stop == WAVE_AT_BARRIER) g->waves[k].stop = WAVE_RUNNING;
  g->waiting = 0;
  g->waves[0].changes++;
  if (g->shadow) tools_group_barrier(g);
}

/* Split barriers: a phase ends when every remaining wave has signalled. A wave that signals and continues may reach the
 * wait after that, so the workgroup records whose signals the phase still has. */
static void check_signals(struct workgroup *g) {
  if (!g->signals || (unsigned)__builtin_popcountll(g->signals) < g->live) return;
  g->signals = 0;
  release_barrier(g);
}

void workgroup_account(struct workgroup *g, const struct wave *w) {
  g->waiting += w->stop == WAVE_AT_BARRIER;
  if (w->stop == WAVE_ENDED) {
    g->live--;
    g->signals &= ~(UINT64_C(1) << w->index);
    check_signals(g);
  }
  if (g->waiting && g->waiting == g->live) release_barrier(g);
}

bool wave_signal(struct wave *w) {
  struct workgroup *g = w->wg;
  bool first = g->signals == 0;
  g->signals |= UINT64_C(1) << w->index;
  check_signals(g);
  return first;
}

bool wave_signal_pending(const struct wave *w) { return w->wg->signals >> w->index & 1; }

uint32_t wave_barrier_state(const struct wave *w) {
  return 1 | w->wg->live << 4 | (uint32_t)__builtin_popcountll(w->wg->signals) << 16;
}

enum group_state workgroup_run(struct workgroup *g) {
  struct run *run = g->run;
  if (run->weak) return weak_group_run(g);
  uint64_t spent = 0;
  uint32_t wave_slice = WAVE_SLICE >> slice_shift(run), group_slice = GROUP_SLICE >> slice_shift(run);
  while (g->live) {
    bool busy = false;   /* some wave could continue and did not request a pause */
    g->released = false;
    for (unsigned k = 0; k < g->n_waves; k++) {
      struct wave *w = &g->waves[k];
      if (w->stop == WAVE_ENDED || w->stop == WAVE_AT_BARRIER) continue;
      if (atomic_load_explicit(&run->stop, memory_order_relaxed)) return GROUP_STOPPED;
      uint64_t before = w->executed;
      run->build->run_wave(w, g->slice);
      spent += w->executed - before;
      if (run->max_instructions && w->executed > run->max_instructions && w->stop != WAVE_ENDED)
        wave_fault(w, w->pc, FAULT_RUNAWAY, -1, 0, "more than %llu instructions", (unsigned long long)run->max_instructions);
      if (w->stop == WAVE_FAULTED) return GROUP_STOPPED;
      busy |= w->stop == WAVE_RUNNING;
      bool waited = g->waiting || w->stop == WAVE_AT_BARRIER;
      workgroup_account(g, w);
      busy |= waited && !g->waiting;   /* released */
    }
    if (!g->released && g->slice < wave_slice) {
      uint32_t longer = g->slice * SLICE_GROWTH;
      set_slice(g, longer < wave_slice ? longer : wave_slice);
    }
    if (g->live && (!busy || spent > group_slice)) {
      atomic_fetch_add_explicit(&run->instructions, spent, memory_order_relaxed);
      return GROUP_PARKED;
    }
  }
  atomic_fetch_add_explicit(&run->instructions, spent, memory_order_relaxed);
  if (g->shadow) tools_group_end(g);
  return GROUP_DONE;
}
