/* Counts per kernel: executed instructions by class and by name, active lanes, memory transactions, LDS bank conflicts.
 * Written as JSON at exit to the file named by PTX2AMD_PROFILE (one per process: the process id is appended). */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hip_chip.h"
#include "ops.h"
#include "settings.h"
#include "tools.h"

enum { CLASS_VALU, CLASS_MATRIX, CLASS_SALU, CLASS_BRANCH, CLASS_SMEM, CLASS_GLOBAL, CLASS_LDS, CLASS_SCRATCH, CLASS_OTHER, CLASSES };
static const char *const class_names[CLASSES] = {"valu", "matrix", "salu", "branch", "smem", "global", "lds", "scratch", "other"};

enum { LINE = 128, BANKS = 32 };

struct profile_counts {
  uint64_t executed[CLASSES];
  uint64_t lanes_active, lanes_all;      /* of vector instructions */
  uint64_t transactions, requests;       /* lines of LINE bytes touched by global accesses; the accesses */
  uint64_t lds_requests, lds_conflicts;  /* extra cycles for lanes that access the same bank */
  uint64_t opcodes[OP_COUNT];            /* executed, by op_info.id */
  const char *names[OP_COUNT];           /* names of the executed opcodes */
};

static struct kernel {
  char name[256], arch[32];
  struct profile_counts counts;
  uint64_t workgroups, vgprs, lds, scratch, lanes, block, dispatches;
  int resident, most;                    /* maximum number of waves on a multiprocessor */
  struct kernel *next;
} *kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct profile_counts *profile_new(void) { return calloc(1, sizeof(struct profile_counts)); }

static unsigned class_of(const struct inst *i) {
  unsigned traits = i->op->traits;
  const char *name = i->op->name;
  if (traits & TRAIT_MEMORY) {
    switch (access_table[i->op->id].space) {
    case SPACE_SCALAR: return CLASS_SMEM;
    case SPACE_SCRATCH: return CLASS_SCRATCH;
    case SPACE_LDS: case SPACE_LDS2: return CLASS_LDS;
    case SPACE_GLOBAL: case SPACE_FLAT: return CLASS_GLOBAL;
    }
    return !strncmp(name, "ds_", 3) ? CLASS_LDS : CLASS_OTHER;
  }
  if (!strncmp(name, "v_mfma", 6) || !strncmp(name, "v_wmma", 6) || !strncmp(name, "v_smfma", 7)) return CLASS_MATRIX;
  if (traits & TRAIT_VALU || !strncmp(name, "v_", 2)) return CLASS_VALU;
  if (access_table[i->op->id].space == SPACE_SCALAR) return CLASS_SMEM;
  if (traits & TRAIT_BRANCH) return CLASS_BRANCH;
  if (traits & TRAIT_SALU) return CLASS_SALU;
  return CLASS_OTHER;
}

void profile_count(struct profile_counts *c, const struct wave *w, const struct inst *i) {
  unsigned class = class_of(i);
  c->executed[class]++;
  c->opcodes[i->op->id]++;
  c->names[i->op->id] = i->op->name;
  if (class == CLASS_VALU || class == CLASS_GLOBAL || class == CLASS_LDS || class == CLASS_SCRATCH) {
    uint64_t exec = w->s[S_EXEC];
    if (w->wg->lanes == 64) exec |= (uint64_t)w->s[S_EXEC + 1] << 32;
    c->lanes_active += (unsigned)__builtin_popcountll(exec);
    c->lanes_all += w->wg->lanes;
  }
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Number of distinct values among the first n. */
static unsigned distinct(uint64_t *v, unsigned n) {
  qsort(v, n, sizeof *v, compare);
  unsigned count = n > 0;
  for (unsigned k = 1; k < n; k++) count += v[k] != v[k - 1];
  return count;
}

void profile_lanes(struct profile_counts *c, enum access_space space, const uint64_t *address, uint64_t lanes, unsigned bytes) {
  uint64_t v[128];
  unsigned n = 0;
  if (space == SPACE_GLOBAL || space == SPACE_FLAT) {
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
      uint64_t at = address[__builtin_ctzll(rest)];
      v[n++] = at / LINE;
      v[n++] = (at + bytes - 1) / LINE;
    }
    c->requests++;
    c->transactions += distinct(v, n);
  } else if (space == SPACE_LDS || space == SPACE_LDS2) {
    for (unsigned half = 0; half < 2; half++) {   /* 32 lanes per cycle; only the first dword of each lane */
      uint8_t used[BANKS] = {0}, most = 0;
      n = 0;
      for (uint64_t rest = lanes >> 32 * half & UINT32_MAX; rest; rest &= rest - 1)
        v[n++] = address[__builtin_ctzll(rest) + 32 * half] / 4;
      if (!n) continue;
      qsort(v, n, sizeof *v, compare);
      for (unsigned k = 0; k < n; k++)
        if (k == 0 || v[k] != v[k - 1]) {
          uint8_t count = ++used[v[k] % BANKS];
          if (count > most) most = count;
        }
      c->lds_requests++;
      c->lds_conflicts += most - 1u;
    }
  }
}

/* The contents of a JSON string: kernel names may contain any character. */
static void put_string(FILE *f, const char *text) {
  for (; *text; text++) {
    unsigned char ch = (unsigned char)*text;
    if (ch < ' ' || ch == '"' || ch == '\\') fprintf(f, "\\u%04x", ch);
    else fputc(ch, f);
  }
}

/* Pairs of name and count; an instruction that has several formats may have several. */
static void put_opcodes(FILE *f, const struct profile_counts *c) {
  const char *between = "";
  for (unsigned id = 0; id < OP_COUNT; id++) {
    if (!c->opcodes[id]) continue;
    fprintf(f, "%s[\"%s\", %llu]", between, c->names[id], (unsigned long long)c->opcodes[id]);
    between = ", ";
  }
}

static void write_json(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%ld", setting_text(SETTING_PROFILE), (long)getpid());
  FILE *f = kernels ? fopen(path, "w") : NULL;
  if (!f) return;
  pthread_mutex_lock(&lock);
  fputs("{\"kernels\": [", f);
  for (struct kernel *k = kernels; k; k = k->next) {
    const struct profile_counts *c = &k->counts;
    fputs("\n  {\"name\": \"", f);
    put_string(f, k->name);
    fprintf(f, "\", \"arch\": \"%s\", \"launches\": %llu, \"blocks\": %llu, \"instructions\": {", k->arch,
            (unsigned long long)k->dispatches, (unsigned long long)k->workgroups);
    for (int n = 0; n < CLASSES; n++)
      fprintf(f, "%s\"%s\": %llu", n ? ", " : "", class_names[n], (unsigned long long)c->executed[n]);
    fprintf(f, "}, \"lanes_active\": %llu, \"lanes_all\": %llu, \"requests\": %llu, \"transactions\": %llu, ",
            (unsigned long long)c->lanes_active, (unsigned long long)c->lanes_all, (unsigned long long)c->requests,
            (unsigned long long)c->transactions);
    fprintf(f, "\"lds_requests\": %llu, \"lds_conflicts\": %llu, ", (unsigned long long)c->lds_requests,
            (unsigned long long)c->lds_conflicts);
    fprintf(f, "\"wave\": %llu, \"block\": %llu, \"vgprs\": %llu, \"lds\": %llu, \"scratch\": %llu, "
            "\"resident\": %d, \"most\": %d, \"opcodes\": [",
            (unsigned long long)k->lanes, (unsigned long long)k->block, (unsigned long long)k->vgprs,
            (unsigned long long)k->lds, (unsigned long long)k->scratch, k->resident, k->most);
    put_opcodes(f, c);
    fputs(k->next ? "]}," : "]}", f);
  }
  fputs("\n]}\n", f);
  pthread_mutex_unlock(&lock);
  fclose(f);
}

void profile_merge(struct profile_counts *c, const struct run *run) {
  static bool registered;
  const char *name = run->d->kernel ? run->d->kernel : "?";
  pthread_mutex_lock(&lock);
  if (!registered) registered = atexit(write_json) == 0;
  struct kernel **p = &kernels;
  while (*p && (strncmp((*p)->name, name, sizeof (*p)->name - 1) || strcmp((*p)->arch, run->arch->name))) p = &(*p)->next;
  struct kernel *k = *p;
  if (!k && (k = *p = calloc(1, sizeof *k))) {
    snprintf(k->name, sizeof k->name, "%s", name);
    snprintf(k->arch, sizeof k->arch, "%s", run->arch->name);
  }
  if (k) {
    uint64_t *to = (uint64_t *)&k->counts;
    const uint64_t *from = (const uint64_t *)c;
    for (size_t n = 0; n < offsetof(struct profile_counts, names) / sizeof *to; n++) to[n] += from[n];
    for (unsigned id = 0; id < OP_COUNT; id++)
      if (c->opcodes[id]) k->counts.names[id] = c->names[id];
    k->workgroups++;
    const struct registers *given = &run->view->registers;
    k->vgprs = run->arch->unified_vgprs ? given->v + given->a : given->v;
    k->lds = run->lds_bytes;
    k->scratch = run->scratch_bytes;
    k->lanes = run->build->lanes;
    k->block = (uint64_t)run->d->block[0] * run->d->block[1] * run->d->block[2];
    const struct chip *chip = chip_find(run->arch->name);
    int waves = (int)((k->block + k->lanes - 1) / k->lanes);
    if (chip) {
      k->most = chip_waves(chip, run->arch, (unsigned)k->lanes);
      k->resident = waves * chip_blocks(chip, run->arch, (unsigned)k->lanes, (int)k->vgprs, waves, k->lds);
    }
  }
  pthread_mutex_unlock(&lock);
  memset(c, 0, sizeof *c);
}

void profile_dispatch(const struct run *run) {
  pthread_mutex_lock(&lock);
  for (struct kernel *k = kernels; k; k = k->next)
    if (!strncmp(k->name, run->d->kernel ? run->d->kernel : "?", sizeof k->name - 1) && !strcmp(k->arch, run->arch->name))
      k->dispatches++;
  pthread_mutex_unlock(&lock);
}
