/* Loaded code: arrays of decoded instructions, one for each view, filled on demand. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "state.h"
#include "tools.h"

enum { GUARDS = 8 };   /* entries past the end, so that NEXT() of the last instruction is valid */

struct arena { struct arena *next; };

struct code *code_create(const struct arch *arch, uint64_t base, uint64_t size) {
  if (!arch || base % 4) return NULL;
  struct code *code = calloc(1, sizeof *code);
  if (!code) return NULL;
  code->arch = arch;
  code->base = base;
  code->dwords = size / 4;
  pthread_mutex_init(&code->lock, NULL);
  return code;
}

void code_may_stray(struct code *code) { code->may_stray = true; }
void code_set_lines(struct code *code, const struct lines *lines) { code->lines = lines; }

static size_t entries_bytes(const struct code *code) { return (code->dwords + GUARDS) * sizeof(struct inst); }

static size_t real_bytes(const struct code *code) { return (code->dwords + GUARDS) * sizeof(handler_fn); }

static void view_free(struct view *v) {
  if (v->entries) munmap(v->entries, entries_bytes(v->code));
  if (v->real) munmap(v->real, real_bytes(v->code));
  native_free(v->native);
  free(v);
}

void code_destroy(struct code *code) {
  if (!code) return;
  for (struct view *v = code->views, *next; v; v = next) {
    next = v->next;
    view_free(v);
  }
  if (code->notes) munmap(code->notes, code->dwords + GUARDS);
  for (struct arena *a = code->arena, *next; a; a = next) {
    next = a->next;
    free(a);
  }
  pthread_mutex_destroy(&code->lock);
  free(code);
}

static void *map(size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static struct view *view_new(struct code *code, unsigned lanes, struct registers registers) {
  struct view *v = calloc(1, sizeof *v);
  if (!v) return NULL;
  *v = (struct view){.code = code, .lanes = lanes, .registers = registers, .entries = map(entries_bytes(code))};
  bool complete = v->entries;
  if (tools()->any) {
    v->real = map(real_bytes(code));
    if (!code->notes) code->notes = map(code->dwords + GUARDS);
    complete = complete && v->real && code->notes;
  }
  if (!complete) return view_free(v), NULL;
  for (int k = 0; k < GUARDS; k++) {
    v->entries[code->dwords + k].len = 1;
    v->entries[code->dwords + k].run = run_bad_jump;
  }
  return v;
}

struct view *code_view(struct code *code, unsigned lanes, struct registers registers) {
  pthread_mutex_lock(&code->lock);
  struct view *v = code->views;
  while (v && (v->lanes != lanes || memcmp(&v->registers, &registers, sizeof registers))) v = v->next;
  if (!v && (v = view_new(code, lanes, registers))) {
    v->next = code->views;
    code->views = v;
  }
  pthread_mutex_unlock(&code->lock);
  return v;
}

struct code_context { struct decode_context c; struct code *code; };

static void *arena_alloc(struct decode_context *c, size_t size) {
  struct code *code = ((struct code_context *)c)->code;
  struct arena *a = calloc(1, sizeof *a + 48 + size);
  if (!a) abort();   /* a few hundred bytes: if this fails, the process cannot continue */
  a->next = code->arena;
  code->arena = a;
  return (void *)(((uintptr_t)(a + 1) + 15) & ~(uintptr_t)15);
}

handler_fn code_decode(struct wave *w, const struct inst *i) {
  struct run *run = w->wg->run;
  struct code *code = run->d->code;
  struct inst *entry = run->entries + (i - run->entries);
  pthread_mutex_lock(&code->lock);
  handler_fn handler = entry->run;
  if (!handler) {
    size_t at = (size_t)(i - run->entries);
    struct code_context context = {
      .c = {.handlers = run->build->handlers, .vopd = run->build->vopd, .alloc = arena_alloc, .before = at,
            .after = code->dwords - at},
      .code = code,
    };
    struct inst decoded;
    code->arch->decode((const uint32_t *)(uintptr_t)code->base + at, &decoded, &context.c);
    handler = decoded.run;
    if (decoded.op && !registers_hold(&run->view->registers, &decoded, run->build->lanes)) handler = run_beyond_registers;
    decoded.run = NULL;
    if (run->real && decoded.op) {
      run->view->real[at] = handler;
      handler = tools_observe;
    } else {
      handler = native_handler(run->view, at, &decoded, handler);
    }
    /* The handler, the first member, is written last: readers check it first. */
    memcpy((char *)entry + sizeof entry->run, (char *)&decoded + sizeof decoded.run, sizeof decoded - sizeof decoded.run);
    __atomic_store_n(&entry->run, handler, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&code->lock);
  return handler;
}

uint64_t code_address(const struct wave *w, const struct inst *i) {
  const struct run *run = w->wg->run;
  return run->d->code->base + (uint64_t)(i - run->entries) * 4;
}

const struct inst *code_at(const struct wave *w, uint64_t address) {
  const struct run *run = w->wg->run;
  uint64_t offset = address - run->d->code->base;
  if (offset % 4 || offset / 4 >= run->d->code->dwords) return NULL;
  return run->entries + offset / 4;
}
