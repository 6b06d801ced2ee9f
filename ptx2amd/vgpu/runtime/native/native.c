/* Frequently entered blocks of code and their translation: the extent of a block, and the machine code around its
 * groups of instructions. */
#define _GNU_SOURCE
#include "native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native_linear.h"
#include "native_machine.h"
#include "native_plan.h"
#include "settings.h"
#include "tools.h"

enum { PATIENCE = 24 };   /* number of entries before a block is translated */

struct block {
  struct block *next;           /* of the code's blocks */
  handler_fn original;          /* of its first instruction */
  handler_fn version[2];        /* masked by EXEC; all lanes active */
  _Atomic unsigned entered;
  bool translated[2];
  bool behind_barrier;
};

struct native {
  struct block **blocks;        /* by entry; NULL: no block begins there. Reserved, touched when needed */
  size_t entries;
  struct block *all;
  uint8_t *write, *run;         /* the same pages of machine code */
  size_t size, used;            /* bytes of them */
  const uint8_t *access;
  bool refused;                 /* no executable memory */
  struct compiler *compiler;
};

const struct vector_machine *native_machine(void) {
  const char *level = engine_level();
  return !strcmp(level, "v4") ? &avx512_machine : !strcmp(level, "v3") ? &avx2_machine : NULL;
}

bool native_wanted(void) {
  static _Atomic int wanted = -1;
  if (wanted < 0) {
    wanted = strcmp(setting_text(SETTING_VGPU_NATIVE), "0") && !tools()->any && native_machine();
  }
  return wanted;
}

static unsigned patience(void) {
  static _Atomic unsigned n;
  if (!n) {
    n = !strcmp(setting_text(SETTING_VGPU_NATIVE), "always") ? 1 : PATIENCE;
  }
  return n;
}

static void *reserve(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static struct native *native_of(struct view *view) {
  const struct code *code = view->code;
  struct native **slot = &view->native;
  if (*slot || !native_wanted()) return *slot;
  struct native *n = calloc(1, sizeof *n);
  if (!n) return NULL;
  n->entries = code->dwords + 16;   /* including the guards */
  n->size = (1 << 20) + code->dwords * 512;
  n->blocks = reserve(n->entries * sizeof *n->blocks);
  if (!n->blocks) return free(n), NULL;
  return *slot = n;
}

void native_free(struct native *n) {
  if (!n) return;
  for (struct block *b = n->all, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  munmap(n->blocks, n->entries * sizeof *n->blocks);
  if (n->write) munmap(n->write, n->size), munmap(n->run, n->size);
  free(n->compiler);
  free(n);
}

/* Pages that are written at one address and executed at another. */
static bool code_pages(struct native *n) {
  if (n->write || n->refused) return n->write != NULL;
  int file = memfd_create("ptx2amd code", MFD_CLOEXEC);
  void *write = MAP_FAILED, *run = MAP_FAILED;
  if (file >= 0 && ftruncate(file, n->size) == 0) {
    write = mmap(NULL, n->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    run = mmap(NULL, n->size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  if (file >= 0) close(file);
  n->compiler = malloc(sizeof *n->compiler);
  if (write == MAP_FAILED || run == MAP_FAILED || !n->compiler) {
    if (write != MAP_FAILED) munmap(write, n->size);
    if (run != MAP_FAILED) munmap(run, n->size);
    n->refused = true;
    return false;
  }
  n->write = write, n->run = run;
  struct x86 x = {n->write, n->write + n->size, false, native_machine()->vex};
  native_access_emit(&x);
  n->access = n->write;
  n->used = (size_t)(x.at - n->write);
  return true;
}

handler_fn native_own_handler(const struct native *n, const struct inst *entries, const struct inst *i) {
  /* Other threads may be executing: a block's handler is stored after the block. */
  handler_fn now = __atomic_load_n(&i->run, __ATOMIC_ACQUIRE);
  const struct block *b = __atomic_load_n(&n->blocks[i - entries], __ATOMIC_ACQUIRE);
  handler_fn own = b ? __atomic_load_n(&b->original, __ATOMIC_ACQUIRE) : NULL;
  return own ? own : now;
}

/* --- blocks ------------------------------------------------------------------------------------------------ */

static struct inst *decoded(struct wave *w, const struct run *run, const struct inst *i) {
  if (!__atomic_load_n(&i->run, __ATOMIC_ACQUIRE)) code_decode(w, i);
  return run->entries + (i - run->entries);
}

static bool faults(handler_fn handler) {
  return handler == run_illegal || handler == run_unimplemented || handler == run_bad_jump || handler == run_beyond_registers;
}

/* An instruction's effect on LDS: bits of enum access_how. */
static unsigned access_lds(const struct inst *i) {
  const struct access_info *a = &access_table[i->op->id];
  return a->space == SPACE_LDS || a->space == SPACE_LDS2 ? a->how : 0;
}

static void arrange(struct plan *p, unsigned lanes, bool full) {
  p->unrolled = full && native_unrolls(p, lanes);
  native_arrange(p, lanes);
}

/* The block that begins at the entry. Decodes missing instructions: without the lock held. */
static void make_plan(struct wave *w, struct native *n, const struct run *run, const struct inst *first, bool full,
                      struct plan *p) {
  const struct inst *i = first;
  size_t dwords = run->d->code->dwords;
  bool behind_barrier = n->blocks[first - run->entries]->behind_barrier, reads = false;
  p->n = 0;
  while (true) {
    size_t at = (size_t)(i - run->entries);
    if (p->n == MAX_BLOCK || at >= dwords) break;
    /* A masked version ends where paths merge: EXEC may be full again. */
    if (!full && p->n && __atomic_load_n(&n->blocks[at], __ATOMIC_RELAXED)) break;
    decoded(w, run, i);
    if (!i->op || faults(native_own_handler(n, run->entries, i))) break;   /* the interpreter's */
    if (behind_barrier && reads && p->n >= FIRST_SLICE && (access_lds(i) & ACCESS_WRITES)) break;   /* others read it
                                                                                                     * first */
    reads |= access_lds(i) & ACCESS_READS;
    struct step *s = &p->step[p->n];
    *s = (struct step){.i = i, .kind = (uint8_t)native_kind(i), .number = (uint16_t)p->n};
    if (native_is_relative(i)) {   /* outside of the code: the handler raises the fault */
      ptrdiff_t target = (ptrdiff_t)at + i->len + i->imm;
      if (target < 0 || target >= (ptrdiff_t)dwords) s->kind = KIND_END;
    }
    p->n++;
    if (s->kind == KIND_END) {
      p->next = NULL;
      arrange(p, run->build->lanes, full);
      return;
    }
    if (s->kind == KIND_BRANCH) {
      struct branch b;
      const struct inst *target = NEXT(i) + i->imm;
      if (native_branch(i, &b) && target <= i) {   /* the end of a loop: another block follows */
        i = NEXT(i);
        break;
      }
    }
    if (s->kind == KIND_JUMP) {
      const struct inst *target = NEXT(i) + i->imm;
      if (target <= i) {
        i = target;
        break;
      }
      i = target;
    } else {
      i = NEXT(i);
    }
  }
  p->next = i;
  arrange(p, run->build->lanes, full);
}

/* A block's assumptions about MODE: bits that must be on or off, and one mode for all floats. */
struct conditions { uint32_t bits, on; bool one_mode; };

static void condition_of(const struct inst *i, unsigned generation, struct conditions *c) {
  enum { HALF_DENORMALS = 3 << 6, DX10_CLAMP = 1 << 8, IEEE = 1 << 9, INDEXED = 1 << 27 };
  unsigned flags = native_rows[i->op->id].flags;
  if (flags & NATIVE_IEEE_OFF) c->bits |= IEEE;
  if ((flags & NATIVE_INDEX_OFF) && generation == 0) c->bits |= INDEXED;
  if (flags & (NATIVE_WIDE | NATIVE_HALF)) c->one_mode = true;
  if (flags & NATIVE_HALF) c->bits |= HALF_DENORMALS, c->on |= HALF_DENORMALS;
  if ((i->op->traits & TRAIT_VALU) && i->clamp) c->bits |= DX10_CLAMP, c->on |= DX10_CLAMP;
}

static struct conditions conditions(const struct plan *p, const struct run *run) {
  struct conditions c = {0};
  for (unsigned k = 0; k < p->n; k++) {
    const struct inst *i = p->step[k].i;
    if (!native_is_vector(p->step[k].kind)) continue;
    if (p->step[k].kind == KIND_PAIR) {
      condition_of(i->ext->x, run->arch->generation, &c);
      condition_of(i->ext->y, run->arch->generation, &c);
    } else {
      condition_of(i, run->arch->generation, &c);
    }
  }
  return c;
}

/* Returns to the first instruction's handler if MODE differs. */
static void check_mode(struct compiler *c, const struct block *b, const struct conditions *mode) {
  struct x86 *x = &c->x;
  jump fits = NULL, other = NULL;
  if (mode->one_mode) {
    gpr_rm(x, OP_MOV, false, RAX, mem(RDI, (int32_t)offsetof(struct wave, mxcsr)));
    gpr_rm(x, OP_CMP, false, RAX, mem(RDI, (int32_t)offsetof(struct wave, float_state)));   /* FLOAT_CSR64 */
    other = jump_if(x, CC_NE);
  }
  if (mode->bits) {
    gpr_rm(x, OP_MOV, false, RAX, mem(RDI, (int32_t)offsetof(struct wave, mode)));
    gpr_immediate(x, 6, false, RAX, (int32_t)mode->on);     /* xor */
    put8(x, 0xa9), put32(x, mode->bits);                    /* test eax */
    fits = jump_if(x, CC_E);
  } else if (mode->one_mode) {
    fits = jump_always(x);
  } else {
    return;
  }
  if (other) land(x, other);
  gpr_constant(x, RAX, (uint64_t)(uintptr_t)b->original);
  put8(x, 0xff), put8(x, 0xe0);
  land(x, fits);
}

/* Translates a version of the block. With the lock held. NULL: no space left. */
static handler_fn translate(struct native *n, const struct wave *w, struct block *b, const struct plan *p, bool full) {
  const struct run *run = w->wg->run;
  if (!code_pages(n)) return NULL;
  struct compiler *c = n->compiler;
  memset(c, 0, offsetof(struct compiler, detours));
  c->n_detours = c->n_exits = c->n_leaves = c->n_fallbacks = 0;
  size_t start = (n->used + 63) & ~(size_t)63;
  c->machine = native_machine();
  c->x = (struct x86){n->write + start, n->write + n->size, false, c->machine->vex};
  c->build = run->build;
  c->entries = run->entries;
  c->lanes = run->build->lanes;
  c->row_bytes = (int32_t)c->lanes * 4;
  c->masked = !full;
  c->access = n->access;
  c->n_sites = (unsigned)(p->step[0].i - run->entries);
  linear_sample(w, c->lanes, run->view->registers.v, c->guess);
  struct conditions mode = conditions(p, run);
  check_mode(c, b, &mode);
  native_block_emit(c, n, p);
  if (c->x.full) return NULL;
  n->used = (size_t)(c->x.at - n->write);
  return (handler_fn)(void *)(n->run + start);
}

/* The machine code at a block's first entry: selects the version. */
static handler_fn entry_code(struct native *n, const struct run *run, struct block *b) {
  if (!code_pages(n)) return NULL;
  size_t start = (n->used + 15) & ~(size_t)15;
  struct x86 x = {n->write + start, n->write + n->size, false, false};
  memory_immediate(&x, 7, run->build->lanes == 64, mem(RDI, (int32_t)offsetof(struct wave, s) + 4 * S_EXEC), -1);
  jump partial = jump_if(&x, CC_NE);
  for (int full = 1; full >= 0; full--) {
    if (!full) land(&x, partial);
    gpr_constant(&x, RAX, (uint64_t)(uintptr_t)&b->version[full]);
    put8(&x, 0xff), put8(&x, 0x20);   /* jmp [rax] */
  }
  if (x.full) return NULL;
  n->used = (size_t)(x.at - n->write);
  return (handler_fn)(void *)(n->run + start);
}

static bool exec_full(const struct wave *w, const struct run *run) {
  return w->s[S_EXEC] == UINT32_MAX && (run->build->lanes == 32 || w->s[S_EXEC + 1] == UINT32_MAX);
}

/* Placeholder for a version that does not exist yet. */
static const struct inst *translate_version(struct wave *w, const struct inst *i) {
  const struct run *run = w->wg->run;
  struct code *code = run->d->code;
  struct native *n = run->view->native;
  struct block *b = n->blocks[i - run->entries];
  bool full = exec_full(w, run);
  struct plan plan;
  make_plan(w, n, run, i, full, &plan);
  pthread_mutex_lock(&code->lock);
  if (!b->translated[full]) {
    handler_fn version = plan.n ? translate(n, w, b, &plan, full) : NULL;
    b->translated[full] = true;
    __atomic_store_n(&b->version[full], version ? version : b->original, __ATOMIC_RELEASE);
    for (unsigned k = 0; k < plan.n; k++)
      if ((plan.step[k].kind == KIND_CALL || plan.step[k].kind == KIND_COMPARE_EXEC) && native_writes_exec(plan.step[k].i))
        native_leader(run->view, (size_t)(NEXT(plan.step[k].i) - run->entries));
    if (plan.next) native_leader(run->view, (size_t)(plan.next - run->entries));
  }
  pthread_mutex_unlock(&code->lock);
  return b->original(w, i);
}

/* Handler of a block's first entry until the block is translated. */
static const struct inst *count_entries(struct wave *w, const struct inst *i) {
  const struct run *run = w->wg->run;
  struct code *code = run->d->code;
  struct native *n = run->view->native;
  struct block *b = n->blocks[i - run->entries];
  if (atomic_fetch_add_explicit(&b->entered, 1, memory_order_relaxed) + 1 == patience()) {
    pthread_mutex_lock(&code->lock);
    handler_fn entry = entry_code(n, run, b);
    struct inst *at = run->entries + (i - run->entries);
    __atomic_store_n(&at->run, entry ? entry : b->original, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&code->lock);
  }
  return b->original(w, i);
}

void native_leader(struct view *view, size_t at) {
  struct native *n = native_of(view);
  if (!n || at >= n->entries || n->blocks[at]) return;
  struct block *b = calloc(1, sizeof *b);
  if (!b) return;
  b->version[0] = b->version[1] = translate_version;
  struct inst *i = view->entries + at;
  handler_fn handler = __atomic_load_n(&i->run, __ATOMIC_ACQUIRE);
  b->original = handler;        /* NULL: not decoded yet */
  __atomic_store_n(&n->blocks[at], b, __ATOMIC_RELEASE);
  b->next = n->all;
  n->all = b;
  if (handler) __atomic_store_n(&i->run, count_entries, __ATOMIC_RELEASE);
}

static bool is_barrier(const struct inst *i) {
  return !strcmp(i->op->name, "s_barrier") || !strcmp(i->op->name, "s_barrier_wait");
}

handler_fn native_handler(struct view *view, size_t at, const struct inst *i, handler_fn handler) {
  struct native *n = native_of(view);
  if (n && i->op) {
    enum kind kind = native_kind(i);
    if (kind >= KIND_BRANCH) native_leader(view, at + i->len);
    if (is_barrier(i) && n->blocks[at + i->len]) n->blocks[at + i->len]->behind_barrier = true;
    if (native_is_relative(i)) native_leader(view, (size_t)((ptrdiff_t)at + i->len + i->imm));
  }
  if (!n || !n->blocks[at]) return handler;
  __atomic_store_n(&n->blocks[at]->original, handler, __ATOMIC_RELEASE);
  return count_entries;
}

void native_begin(struct view *view, size_t at) {
  struct native *n = __atomic_load_n(&view->native, __ATOMIC_ACQUIRE);
  if (!native_wanted() || (n && __atomic_load_n(&n->blocks[at], __ATOMIC_ACQUIRE))) return;
  pthread_mutex_lock(&view->code->lock);
  native_leader(view, at);
  pthread_mutex_unlock(&view->code->lock);
}

handler_fn native_original(const struct run *run, const struct inst *i) {
  const struct native *n = run->view->native;
  const struct block *b = n ? __atomic_load_n(&n->blocks[i - run->entries], __ATOMIC_ACQUIRE) : NULL;
  return b ? b->original : NULL;
}
