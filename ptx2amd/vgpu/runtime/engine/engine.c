/* Dispatches on a thread pool. A thread takes workgroups one by one and keeps those that exceed their time slice, so
 * that workgroups which wait for one another make progress. */
#define _GNU_SOURCE
#include "engine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "memory.h"
#include "settings.h"
#include "state.h"
#include "tools.h"
#include "watch.h"
#include "weak.h"

enum { MAX_RESIDENT = 256, MAX_THREADS = 256 };

/* --- checks ---------------------------------------------------------------------------------------- */

static int bad_launch(struct fault *f, const struct dispatch *d, const char *format, unsigned long long a,
                      unsigned long long b) {
  char what[200];
  snprintf(what, sizeof what, format, a, b);
  memset(f, 0, sizeof *f);
  f->kind = FAULT_BAD_LAUNCH;
  f->lane = -1;
  snprintf(f->kernel, sizeof f->kernel, "%s", d->kernel ? d->kernel : "?");
  snprintf(f->text, sizeof f->text, "bad launch: kernel %.200s: %s", f->kernel, what);
  return FAULT_BAD_LAUNCH;
}

enum { MAX_BLOCK = 1024, USES_DISPATCH_PTR = 2 };

static const struct kernel_descriptor *descriptor_of(const struct dispatch *d) {
  return (const struct kernel_descriptor *)(uintptr_t)d->descriptor;
}

static unsigned wave_lanes(const struct dispatch *d) {
  if (d->code->arch->generation == 0) return 64;
  return descriptor_of(d)->kernel_code_properties >> 10 & 1 ? 32 : 64;
}

/* Arguments that start in SGPRs (gfx90a and later of GFX9): bytes from the segment's start. */
struct preload { uint32_t dwords, offset; };
enum { PRELOAD_SKIP = 256, MAX_USER_SGPRS = 16 };

static struct preload preload_of(const struct dispatch *d) {
  uint32_t word = d->code->arch->generation == 0 ? descriptor_of(d)->kernarg_preload : 0;
  return (struct preload){word & 127, (word >> 7) * 4};
}

/* The requested LDS size, rounded up to 16 bytes (chips have granules of 512 and more): LLVM reads 16 aligned bytes
 * where a program reads 12. */
static uint64_t lds_asked(const struct dispatch *d) {
  return (uint64_t)descriptor_of(d)->group_segment_fixed_size + d->dynamic_lds;
}

int engine_check(const struct dispatch *d, struct fault *fault) {
  const struct arch *arch = d->code->arch;
  const struct kernel_descriptor *k = descriptor_of(d);
  uint64_t items = (uint64_t)d->block[0] * d->block[1] * d->block[2];
  if (d->block[0] > MAX_BLOCK || d->block[1] > MAX_BLOCK || d->block[2] > MAX_BLOCK || items > MAX_BLOCK || !items)
    return bad_launch(fault, d, "%llu work-items in a workgroup, the limit is %llu", items, MAX_BLOCK);
  uint64_t lds = lds_asked(d);
  if (lds > arch->lds_bytes) return bad_launch(fault, d, "%llu bytes of LDS, the limit is %llu", lds, arch->lds_bytes);
  struct preload preload = preload_of(d);
  uint64_t entry = d->descriptor + (uint64_t)k->kernel_code_entry_byte_offset - d->code->base, lo, hi;
  uint64_t last = entry + (preload.dwords ? PRELOAD_SKIP : 0);
  if (entry % 4 || entry / 4 >= d->code->dwords || last / 4 >= d->code->dwords)
    return bad_launch(fault, d, "the kernel's entry 0x%llx is outside its code of %llu bytes", entry,
                      (uint64_t)d->code->dwords * 4);
  if (!(arch->wave_sizes & (wave_lanes(d) == 32 ? 1 : 2)))
    return bad_launch(fault, d, "waves of %llu lanes, which the chip does not have%.0llu", wave_lanes(d), 0);
  uint64_t from = d->kernarg + preload.offset;
  uint32_t flags;
  if (preload.dwords && (preload.dwords > MAX_USER_SGPRS || !mem_range(from, &lo, &hi, &flags) || hi - from < preload.dwords * 4))
    return bad_launch(fault, d, "%llu dwords of arguments from offset %llu in registers, which are not there", preload.dwords,
                      preload.offset);
  return 0;
}

/* --- options and builds ------------------------------------------------------------------------------ */

static struct engine_options options;
static unsigned thread_limit;
static uint64_t patience, time_limit;   /* nanoseconds */
static const struct build *chosen[2];
static pthread_once_t options_once = PTHREAD_ONCE_INIT;

extern const struct build *const all_builds[];   /* generated: best level first, terminated by NULL */

static bool cpu_has(const char *level) {
  __builtin_cpu_init();
  if (!strcmp(level, "v4"))
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && cpu_has("v3");
  if (!strcmp(level, "v3"))
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

/* A setting in seconds, as nanoseconds. */
static uint64_t nanoseconds(enum setting setting) {
  double seconds = setting_number(setting);
  return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
}

static void settle_options(void) {
  if (!options.threads) options.threads = (unsigned)setting_number(SETTING_VGPU_THREADS);
  if (!options.max_instructions) options.max_instructions = (uint64_t)setting_number(SETTING_VGPU_MAX_INSTRUCTIONS);
  if (!options.level && setting_is_set(SETTING_VGPU_LEVEL)) options.level = setting_text(SETTING_VGPU_LEVEL);
  patience = nanoseconds(SETTING_VGPU_DEADLOCK);
  time_limit = nanoseconds(SETTING_VGPU_TIMEOUT);
  cpu_set_t set;
  unsigned cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
  thread_limit = options.threads ? options.threads : cpus;
  if (weak_on()) thread_limit = 1;   /* the schedule depends on the seed only */
  if (thread_limit > MAX_THREADS) thread_limit = MAX_THREADS;
  if (!thread_limit) thread_limit = 1;
  for (int wanted = 1; wanted >= 0; wanted--)   /* first the requested level, then any */
    for (const struct build *const *b = all_builds; *b; b++) {
      const struct build **slot = &chosen[(*b)->lanes == 64];
      if (*slot || !cpu_has((*b)->level)) continue;
      if (wanted && options.level && strcmp(options.level, (*b)->level)) continue;
      *slot = *b;
    }
}

static _Atomic bool settled;

bool engine_configure(const struct engine_options *o) {
  if (settled) return false;
  options = *o;
  return true;
}

static void settle(void) {
  pthread_once(&options_once, settle_options);
  settled = true;
}

unsigned engine_threads(void) { return settle(), thread_limit; }
const struct build *build_for(unsigned lanes) { return settle(), chosen[lanes == 64]; }
const char *engine_level(void) {
  const struct build *b = build_for(64);
  return b ? b->level : "none";
}

/* --- a thread's share of a run ------------------------------------------------------------------------ */

/* Each thread keeps its workgroup objects for its next dispatch. */
struct context {
  struct workgroup *spare[4];
  unsigned n_spare;
};
static _Thread_local struct context *thread_context;
static pthread_key_t context_key;
static pthread_once_t context_once = PTHREAD_ONCE_INIT;

static void free_context(void *p) {
  struct context *c = p;
  for (unsigned k = 0; k < c->n_spare; k++) workgroup_free(c->spare[k]);
  free(c);
}
static void make_context_key(void) { pthread_key_create(&context_key, free_context); }

static struct context *my_context(void) {
  if (!thread_context) {
    pthread_once(&context_once, make_context_key);
    thread_context = calloc(1, sizeof *thread_context);
    pthread_setspecific(context_key, thread_context);
  }
  return thread_context;
}

static struct workgroup *take_group(struct context *c) {
  return c && c->n_spare ? c->spare[--c->n_spare] : workgroup_new();
}
static void give_group(struct context *c, struct workgroup *g) {
  if (c && c->n_spare < sizeof c->spare / sizeof *c->spare) c->spare[c->n_spare++] = g;
  else workgroup_free(g);
}

static void take_part(struct run *run, unsigned csr) {
  struct context *c = my_context();
  struct workgroup *few[MAX_RESIDENT], **resident = few;
  uint64_t n = 0, turn = 0, most = MAX_RESIDENT;
  if (run->d->cooperative && run->groups > most) {
    most = run->groups;
    resident = malloc(most * sizeof *resident);
    if (!resident) {
      run_fault(run, FAULT_BAD_LAUNCH, "out of host memory");
      return;
    }
  }
  uint64_t next = 0, end = 0;   /* the current batch */
  bool open = true;             /* whether workgroups may be left */
  struct watch watch;
  watch_begin(&watch, run);
  while (!atomic_load_explicit(&run->stop, memory_order_relaxed)) {
    struct workgroup *g = NULL;
    if (open && n < most) {
      if (next == end) {
        next = atomic_fetch_add(&run->next, run->batch);
        end = next + run->batch < run->groups ? next + run->batch : run->groups;
        if (next >= run->groups) open = false, next = end;
      }
      if (next < end) {
        g = take_group(c);
        if (!g) {
          run_fault(run, FAULT_BAD_LAUNCH, "out of host memory");
          break;
        }
        g->host_csr = csr;
        if (!workgroup_start(g, run, next++)) {
          give_group(c, g);
          break;
        }
        resident[turn = n++] = g;
        watch.progress = true;
      }
    }
    if (!n) break;
    if (!g) {
      if (turn >= n) {
        turn = 0;
        if (n == 1) sched_yield();
        watch_round(&watch, run, resident, n);
      }
      g = resident[run->weak ? weak_turn((unsigned)n) : turn];
      if (!run->weak && !run->max_instructions && watch_waits(&watch, g)) {
        turn++;
        continue;
      }
    }
    switch (workgroup_run(g)) {
    case GROUP_DONE:
      give_group(c, g);
      for (turn = 0; resident[turn] != g;) turn++;
      resident[turn] = resident[--n];
      watch.progress = true;
      break;
    case GROUP_PARKED: turn++; break;
    case GROUP_STOPPED: break;
    }
  }
  watch_end(&watch, run);
  for (uint64_t k = 0; k < n && run->weak; k++) weak_group_end(resident[k]);
  while (n) give_group(c, resident[--n]);
  if (resident != few) free(resident);
}

static void participate(struct run *run) {
  unsigned csr = _mm_getcsr();
  take_part(run, csr);
  _mm_setcsr(csr);
}

/* --- the pool ------------------------------------------------------------------------------------------ */

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct run *wanting;      /* runs with workgroups that no thread has taken yet */
static unsigned workers, idle;

static void unlist(struct run *run) {
  if (!run->listed) return;
  for (struct run **p = &wanting; *p; p = &(*p)->next_run)
    if (*p == run) {
      *p = run->next_run;
      break;
    }
  run->listed = false;
}

static void *worker(void *arg) {
  (void)arg;
  pthread_mutex_lock(&pool_lock);
  for (;;) {
    while (!wanting) {
      idle++;
      pthread_cond_wait(&work, &pool_lock);
      idle--;
    }
    struct run *run = wanting;
    run->participants++;
    pthread_mutex_unlock(&pool_lock);
    participate(run);
    pthread_mutex_lock(&pool_lock);
    unlist(run);   /* no workgroups are left, or the run was stopped */
    if (--run->participants == 0) pthread_cond_broadcast(&done);
  }
  return NULL;
}

/* Threads do not survive a fork, and a lock held by another thread would never be released. */
static void after_fork(void) {
  pthread_mutex_init(&pool_lock, NULL);
  pthread_cond_init(&work, NULL);
  pthread_cond_init(&done, NULL);
  wanting = NULL;
  workers = idle = 0;
}

/* Under the lock. The calling thread works too, so the pool has one thread less than the limit. */
static void want_workers(struct run *run) {
  static bool registered;
  if (!registered) registered = pthread_atfork(NULL, NULL, after_fork) == 0;
  run->next_run = wanting;
  run->listed = true;
  wanting = run;
  unsigned wanted = run->groups < thread_limit ? (unsigned)run->groups : thread_limit;
  for (unsigned k = 1 + idle; k < wanted && workers + 1 < thread_limit; k++) {
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attr, worker, NULL) == 0) workers++;
    pthread_attr_destroy(&attr);
  }
  if (idle) pthread_cond_broadcast(&work);
}

static void fill_packet(struct run *run) {
  const struct dispatch *d = run->d;
  struct dispatch_packet *p = &run->packet;
  p->setup = 3;
  for (int k = 0; k < 3; k++) {
    p->workgroup_size[k] = (uint16_t)d->block[k];
    p->grid_size[k] = d->last_block[k] ? (d->grid[k] - 1) * d->block[k] + d->last_block[k] : d->grid[k] * d->block[k];
  }
  p->private_segment_size = run->scratch_bytes;
  p->group_segment_size = (uint32_t)lds_asked(d);
  p->kernel_object = d->descriptor;
  p->kernarg_address = d->kernarg;
}

int engine_run(const struct dispatch *d, struct fault *fault, struct engine_counters *counters) {
  settle();
  struct fault own;
  if (!fault) fault = &own;
  fault->kind = FAULT_NONE;
  fault->text[0] = 0;
  if (counters) memset(counters, 0, sizeof *counters);
  int bad = engine_check(d, fault);
  if (bad) return bad;
  const struct kernel_descriptor *k = descriptor_of(d);
  struct run run = {
    .d = d, .descriptor = k, .arch = d->code->arch, .build = build_for(wave_lanes(d)), .fault = fault,
    .groups = (uint64_t)d->grid[0] * d->grid[1] * d->grid[2],
    .lds_bytes = ((uint32_t)lds_asked(d) + 15) & ~15u,
    .scratch_bytes = (k->private_segment_fixed_size > d->private_bytes ? k->private_segment_fixed_size : d->private_bytes),
    .max_instructions = d->max_instructions ? d->max_instructions : options.max_instructions,
    .preload_dwords = preload_of(d).dwords, .preload_offset = preload_of(d).offset,
  };
  if (!run.groups) return 0;
  run.begin = clock_nanoseconds();
  run.patience = patience;
  run.time_limit = time_limit;
  watch_activity();
  if (!run.build) return bad_launch(fault, d, "this CPU lacks SSE4.2%.0llu%.0llu", 0, 0);
  run.scratch_bytes = (run.scratch_bytes + 15) & ~15u;
  run.view = code_view(d->code, run.build->lanes, registers_given(k, run.arch, run.build->lanes));
  if (!run.view) return bad_launch(fault, d, "out of host memory for decoded code%.0llu%.0llu", 0, 0);
  run.entries = run.view->entries;
  run.real = run.view->real;
  uint64_t entry = d->descriptor + (uint64_t)k->kernel_code_entry_byte_offset - d->code->base;
  run.entry = run.entries + entry / 4;
  if (run.preload_dwords) run.entry += PRELOAD_SKIP / 4;   /* the first 256 bytes load the same arguments, for old firmware */
  run.batch = run.groups / (thread_limit * 16u);
  run.batch = run.batch < 1 ? 1 : run.batch > 64 ? 64 : run.batch;
  static _Atomic uint64_t runs;
  run.number = atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed) + 1;
  if (tools()->racecheck) run.races = race_run_new(run.groups);
  if (weak_on() && !(run.weak = weak_chip(run.arch->name)))
    return bad_launch(fault, d, "the weak-memory mode does not know the chip%.0llu%.0llu", 0, 0);
  if (run.weak) weak_run_begin();
  native_begin(run.view, (size_t)(run.entry - run.entries));
  pthread_mutex_init(&run.fault_lock, NULL);
  fill_packet(&run);
  struct mem_block *packet = NULL;
  if (k->kernel_code_properties & USES_DISPATCH_PTR)
    packet = mem_adopt(&run.packet, sizeof run.packet, MEM_KERNARG | MEM_READONLY, -1);
  mem_enter();
  bool shared = run.groups > 1 && thread_limit > 1;
  if (shared) {
    pthread_mutex_lock(&pool_lock);
    want_workers(&run);
    pthread_mutex_unlock(&pool_lock);
  }
  participate(&run);
  if (shared) {
    pthread_mutex_lock(&pool_lock);
    unlist(&run);
    while (run.participants) pthread_cond_wait(&done, &pool_lock);
    pthread_mutex_unlock(&pool_lock);
  }
  if (run.weak) weak_run_end();
  mem_leave();
  watch_activity();
  if (packet) mem_release(packet);
  pthread_mutex_destroy(&run.fault_lock);
  if (tools()->profile) profile_dispatch(&run);
  race_run_free(run.races);
  if (counters) {
    uint64_t items = (uint64_t)d->block[0] * d->block[1] * d->block[2];
    counters->instructions = run.instructions;
    counters->workgroups = run.groups;
    counters->waves = run.groups * ((items + run.build->lanes - 1) / run.build->lanes);
  }
  return fault->kind;
}
