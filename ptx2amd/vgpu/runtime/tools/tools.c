/* The tools' switchboard: what is on, each instruction's way through them, and the reports. */
#include "tools.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "hip_state.h"
#include "lines.h"
#include "settings.h"
#include "weak.h"

static struct tools on;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Findings, by kernel, instruction and kind. */
enum { MAX_FINDINGS = 256, MAX_KERNEL = 64 };
static struct finding { char kernel[MAX_KERNEL]; const char *kind; uint64_t place; uint64_t count; } findings[MAX_FINDINGS];
static unsigned n_findings;
static uint64_t lost, faults;

static struct { uint64_t blocks, bytes; } leaks;

static void count_leak(struct mem_block *block, void *data) {
  enum mem_kind kind = MEM_KIND(block->flags);
  (void)data;
  if ((kind != MEM_DEVICE && kind != MEM_HOST && kind != MEM_MANAGED) || block->internal) return;
  leaks.blocks++;
  leaks.bytes += block->size;
}

static void summary(void) {
  pthread_mutex_lock(&lock);
  uint64_t count = faults;
  for (unsigned k = 0; k < n_findings; k++) count += findings[k].count;
  bool quiet = !on.memcheck && !on.racecheck;
  if (quiet && !count) {
    pthread_mutex_unlock(&lock);
    return;
  }
  fprintf(stderr, "ptx2amd %s: %llu errors at %llu places", on.memcheck ? "memcheck" : on.racecheck ? "racecheck" : "weak",
          (unsigned long long)count, (unsigned long long)(n_findings + faults));
  if (on.weak) fprintf(stderr, " (the seed was %llu)", (unsigned long long)on.weak);
  for (unsigned k = 0; k < n_findings; k++)
    if (findings[k].count > 1)
      fprintf(stderr, "\nptx2amd:   %llu times in %s: %s", (unsigned long long)findings[k].count, findings[k].kernel,
              findings[k].kind);
  if (lost) fprintf(stderr, "\nptx2amd:   and %llu at further places", (unsigned long long)lost);
  if (race_unseen())
    fprintf(stderr, "\nptx2amd:   races in %llu MiB of memory were not looked for", (unsigned long long)race_unseen() >> 20);
  fputc('\n', stderr);
  pthread_mutex_unlock(&lock);
  if (!on.memcheck) return;
  for (int device = 0; device < hip_device_count; device++) mem_each(device, count_leak, NULL);
  fprintf(stderr, "ptx2amd memcheck: %llu allocations of %llu bytes were not freed\n", (unsigned long long)leaks.blocks,
          (unsigned long long)leaks.bytes);
}

static void settle(void) {
  on.memcheck = setting_on(SETTING_MEMCHECK);
  on.racecheck = setting_on(SETTING_RACECHECK);
  on.profile = setting_is_set(SETTING_PROFILE);
  on.weak = setting_is_set(SETTING_WEAK) ? (uint64_t)setting_number(SETTING_WEAK) : 0;
  on.any = on.memcheck || on.racecheck || on.profile || on.weak;
  if (on.memcheck || on.racecheck || on.weak) atexit(summary);
}

const struct tools *tools(void) {
  pthread_once(&once, settle);
  return &on;
}

void tools_fault(void) {
  pthread_mutex_lock(&lock);
  faults++;
  pthread_mutex_unlock(&lock);
}

void tools_report(struct wave *w, const struct inst *i, int lane, const char *tool, const char *kind, const char *format, ...) {
  struct run *run = w->wg->run;
  const char *kernel = run->d->kernel ? run->d->kernel : "?";
  uint64_t place = (uint64_t)(i - run->entry);
  pthread_mutex_lock(&lock);
  struct finding *f = NULL;
  for (unsigned k = 0; k < n_findings && !f; k++)
    if (findings[k].place == place && findings[k].kind == kind && !strncmp(findings[k].kernel, kernel, MAX_KERNEL - 1))
      f = &findings[k];
  bool fresh = !f;
  if (fresh && n_findings < MAX_FINDINGS) {
    f = &findings[n_findings++];
    snprintf(f->kernel, sizeof f->kernel, "%s", kernel);
    f->kind = kind;
    f->place = place;
  }
  if (f) f->count++;
  else lost++;
  pthread_mutex_unlock(&lock);
  if (!fresh || !f) return;
  char what[256], where[560], line[1200];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  wave_place(w, i, lane, where, sizeof where);
  snprintf(line, sizeof line, "ptx2amd %s: %s: %s\nptx2amd %s:   in kernel %.120s, %s\n", tool, kind, what, tool, kernel, where);
  fputs(line, stderr);
}

/* --- workgroups -------------------------------------------------------------------------------------- */

bool tools_group_start(struct workgroup *g) {
  const struct tools *t = tools();
  struct group_shadow *s = g->shadow;
  const struct run *run = g->run;
  size_t scratch = (size_t)run->scratch_bytes * g->lanes * g->n_waves;
  if (!s && !(s = g->shadow = calloc(1, sizeof *s))) return false;
  if (t->memcheck) {
    if (s->lds_size < run->lds_bytes || !s->lds) {
      free(s->lds);
      s->lds = malloc(run->lds_bytes + 1);
    }
    if (s->scratch_size < scratch || !s->scratch) {
      free(s->scratch);
      s->scratch = malloc(scratch + 1);
    }
    if (!s->lds || !s->scratch) return false;
    memset(s->lds, 0, run->lds_bytes);
    memset(s->lds, 1, run->packet.group_segment_size);
    memset(s->scratch, 1, scratch);
  }
  if (t->racecheck) {
    if (!s->race || s->lds_size != run->lds_bytes) {
      race_free(s->race);
      if (!(s->race = race_new(run->lds_bytes))) return false;
    }
    race_start(s->race);
  }
  if (t->profile && !s->counts && !(s->counts = profile_new())) return false;
  s->lds_size = run->lds_bytes;
  s->scratch_size = scratch;
  return true;
}

void tools_group_barrier(struct workgroup *g) {
  if (g->shadow && g->shadow->race) race_barrier(g->shadow->race);
}

void tools_group_end(struct workgroup *g) {
  if (g->shadow && g->shadow->counts) profile_merge(g->shadow->counts, g->run);
}

void tools_group_free(struct workgroup *g) {
  struct group_shadow *s = g->shadow;
  if (!s) return;
  free(s->lds);
  free(s->scratch);
  race_free(s->race);
  free(s->counts);
  free(s);
}

/* --- instructions ------------------------------------------------------------------------------------ */

struct lanes {
  uint64_t active, address[64];
};

static uint64_t exec_of(const struct wave *w) {
  uint64_t exec = w->s[S_EXEC];
  return w->wg->lanes == 64 ? exec | (uint64_t)w->s[S_EXEC + 1] << 32 : exec;
}

/* As the handlers in vmem_*.c compute them. */
static void addresses(const struct wave *w, const struct inst *i, const struct access_info *a, unsigned step, struct lanes *out) {
  unsigned n = w->wg->lanes;
  const uint32_t *v = w->v + (size_t)i->src[MEM_ADDR] * n;
  for (unsigned l = 0; l < n; l++) {
    uint64_t p = 0;
    switch ((enum access_space)a->space) {
    case SPACE_GLOBAL:
    case SPACE_FLAT:
      p = (uint64_t)(int64_t)i->imm + (i->flags & FLAG_SIGNED ? (uint64_t)((int32_t)v[l] * (int64_t)(i->scale ? i->scale : 1)) : v[l]);
      if (i->src_kind[MEM_SADDR] != OPERAND_NONE) p += (uint64_t)w->s[i->src[MEM_SADDR] + 1] << 32 | w->s[i->src[MEM_SADDR]];
      else p += (uint64_t)v[n + l] << 32;
      break;
    case SPACE_SCRATCH: {
      uint32_t at = (uint32_t)i->imm;
      if (i->src_kind[MEM_SADDR] != OPERAND_NONE) at += w->s[i->src[MEM_SADDR]];
      if (i->src_kind[MEM_ADDR] != OPERAND_NONE) at += v[l] * (i->scale ? i->scale : 1);
      p = at;
      break;
    }
    case SPACE_LDS: p = (uint32_t)(v[l] + (uint16_t)i->imm); break;
    case SPACE_LDS2: p = (uint32_t)(v[l] + (step ? i->imm >> 8 & 0xff : i->imm & 0xff) * a->unit); break;
    default: break;
    }
    out->address[l] = p;
  }
}

/* The warp of a lane: in the paired mapping a wave holds two. */
static unsigned warp_of(const struct wave *w, unsigned lane) {
  if (w->wg->lanes == 32 || w->wg->run->d->padded) return w->index;
  return w->index * 2 + lane / 32;
}

/* Bytes that the lane stores, from the data register. */
static void stored(const struct wave *w, const struct inst *i, const struct access_info *a, unsigned step, unsigned lane,
                   uint8_t *out) {
  unsigned row = i->src[step ? MEM_DATA2 : MEM_DATA], n = w->wg->lanes;
  for (unsigned k = 0; k < a->bytes; k += 4) {
    uint32_t value = w->v[((size_t)row + k / 4) * n + lane];
    if (a->how & ACCESS_HIGH) value >>= 16;
    memcpy(out + k, &value, a->bytes - k < 4 ? a->bytes - k : 4);
  }
}

/* What the line table says of an instruction, looked up once. */
enum { NOTE_KNOWN = 1, NOTE_STRONG = 2, NOTE_HELPER = 4, NOTE_APART = 8 };

static unsigned note_of(const struct wave *w, const struct inst *i) {
  const struct run *run = w->wg->run;
  uint8_t *note = &run->d->code->notes[i - run->entries];
  unsigned value = __atomic_load_n(note, __ATOMIC_RELAXED);
  if (value) return value;
  const struct lines *lines = run->d->code->lines;
  struct place place;
  value = NOTE_KNOWN;
  if (lines && lines->table) {
    if (!lines_find(lines, code_address(w, i), &place)) value |= NOTE_HELPER;   /* the translator's own code */
    else value |= (place.strong ? NOTE_STRONG : 0) | (place.apart ? NOTE_APART : 0);
  }
  __atomic_store_n(note, (uint8_t)value, __ATOMIC_RELAXED);
  return value;
}

bool tools_helper(const struct wave *w, const struct inst *i) { return note_of(w, i) & NOTE_HELPER; }
bool tools_apart(const struct wave *w, const struct inst *i) { return note_of(w, i) & NOTE_APART; }

static bool check_lane(struct wave *w, const struct inst *i, const struct access_info *a, unsigned step, unsigned lane,
                       enum access_space space, uint64_t address) {
  if (on.memcheck && !memcheck_access(w, i, lane, space, address, a->bytes, a->how)) return false;
  struct race *race = w->wg->shadow->race;
  if (!race || (space != SPACE_LDS && space != SPACE_GLOBAL)) return true;
  unsigned warp = warp_of(w, lane), how = a->how;
  if (note_of(w, i) & NOTE_STRONG) how |= ACCESS_ATOMIC;
  uint8_t value[16] = {0};
  char text[160], near[160];
  if ((how & ACCESS_WRITES) && !(how & ACCESS_ATOMIC)) stored(w, i, a, step, lane, value);
  if (space == SPACE_LDS) {
    if (race_access(race, warp, (uint32_t)address, a->bytes, how, value, text, sizeof text))
      tools_report(w, i, (int)lane, "racecheck", "race in shared memory", "%s", text);
  } else if (race_global(w, warp, address, a->bytes, how, value, text, sizeof text) && !tools_helper(w, i)) {
    tools_report(w, i, (int)lane, "racecheck", "race in global memory", "%s, at 0x%llx, %s", text, (unsigned long long)address,
                 mem_describe(address, near, sizeof near));
  }
  if (how & ACCESS_ATOMIC) {
    race_atomic(race, warp);
    if (space == SPACE_GLOBAL) race_global_order(w);
  }
  return true;
}

static bool check(struct wave *w, const struct inst *i, const struct access_info *a) {
  struct lanes p = {.active = exec_of(w)};
  if (a->space == SPACE_SCALAR) {
    if (on.memcheck) memcheck_scalar(w, i, scalar_address(w, i), a->bytes);
    return true;
  }
  for (unsigned step = 0; step < (a->space == SPACE_LDS2 ? 2 : 1) && p.active; step++) {
    addresses(w, i, a, step, &p);
    struct profile_counts *counts = w->wg->shadow->counts;
    if (counts) profile_lanes(counts, a->space, p.address, p.active, a->bytes);
    if (!on.memcheck && !on.racecheck) continue;
    for (uint64_t rest = p.active; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctzll(rest);
      uint64_t address = p.address[lane];
      enum access_space space = a->space == SPACE_LDS2 ? SPACE_LDS : a->space;
      if (space == SPACE_FLAT) {
        uint64_t high = address >> 32;
        space = high == SHARED_APERTURE ? SPACE_LDS : high == PRIVATE_APERTURE ? SPACE_SCRATCH : SPACE_GLOBAL;
        if (space != SPACE_GLOBAL) address = (uint32_t)address;
      }
      if (!check_lane(w, i, a, step, lane, space, address)) return false;
    }
  }
  /* Spilled registers: a slot written for some lanes may be read back for all. */
  if (on.memcheck && a->space == SPACE_SCRATCH && (a->how & ACCESS_WRITES) && i->src_kind[MEM_ADDR] == OPERAND_NONE)
    for (unsigned lane = 0; lane < w->wg->lanes; lane++)
      memcheck_access(w, i, lane, SPACE_SCRATCH, p.address[lane], a->bytes, ACCESS_WRITES);
  return true;
}

const struct inst *tools_observe(struct wave *w, const struct inst *i) {
  const struct run *run = w->wg->run;
  const struct access_info *a = &access_table[i->op->id];
  if (on.profile) profile_count(w->wg->shadow->counts, w, i);
  bool checks = on.memcheck || on.racecheck || on.profile;
  if (checks && a->space && !check(w, i, a)) return NULL;
  handler_fn real = run->real[i - run->entries];
  const struct inst *next = run->weak ? weak_step(w, i, real) : real(w, i);
  race_global_done(w);
  return next;
}
