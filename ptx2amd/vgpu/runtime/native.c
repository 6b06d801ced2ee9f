/* Blocks of code that are entered often, and their translation: which instructions belong to a block, in which groups,
 * and the machine code around the groups. */
#define _GNU_SOURCE
#include "native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native_emit.h"
#include "tools.h"

enum {
  PATIENCE = 24,   /* times that a block is entered before it is translated */
  ROUNDS = 64,     /* of a loop within a block before the engine has its turn */
};

struct block {
  struct block *next;           /* of the code's blocks */
  handler_fn original;          /* of its first instruction */
  handler_fn version[2];        /* masked by EXEC; all lanes active */
  _Atomic unsigned entered;
  bool translated[2];
};

struct native {
  struct block **blocks;        /* by entry; NULL: no block begins there. Reserved, touched where needed */
  size_t entries;
  struct block *all;
  uint8_t *write, *run;         /* the same pages of machine code */
  size_t size, used;            /* bytes of them */
  const uint8_t *access;
  bool refused;                 /* no executable memory */
  struct compiler *compiler;
};

bool native_wanted(void) {
  static _Atomic int wanted = -1;
  if (wanted < 0) {
    const char *text = getenv("PTX2AMD_VGPU_NATIVE");
    wanted = !(text && !strcmp(text, "0")) && !tools()->any && !strcmp(engine_level(), "v4");
  }
  return wanted;
}

static unsigned patience(void) {
  static _Atomic unsigned n;
  if (!n) {
    const char *text = getenv("PTX2AMD_VGPU_NATIVE");
    n = text && !strcmp(text, "always") ? 1 : PATIENCE;
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
  n->entries = code->dwords + 16;   /* and the guards */
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

/* Pages that are written at one address and run at another. */
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
  struct x86 x = {n->write, n->write + n->size, false};
  native_access_emit(&x);
  n->access = n->write;
  n->used = (size_t)(x.at - n->write);
  return true;
}

/* --- which instructions --------------------------------------------------------------------------------- */

enum kind { KIND_CALL, KIND_NOTHING, KIND_SEQUENCE, KIND_PAIR, KIND_MEMORY, KIND_COMPARE_EXEC, KIND_BRANCH, KIND_JUMP, KIND_END };

static bool relative(const struct inst *i) { return i->op->traits & TRAIT_RELATIVE; }
static bool is(const struct inst *i, const char *name) { return !strcmp(i->op->name, name); }

static bool writes_exec(const struct inst *i) {
  const struct op_info *op = i->op;
  if (native_rows[op->id].flags & NATIVE_WRITES_EXEC) return true;
  bool scalar = (op->traits & TRAIT_SALU) || op->scalar_dst;
  if (scalar && op->dst_type != TYPE_none && i->dst >= S_EXEC - 1 && i->dst <= S_EXEC + 1) return true;
  return op->dst2_type != TYPE_none && i->dst2 >= S_EXEC - 1 && i->dst2 <= S_EXEC + 1;
}

static bool sequence_known(const struct inst *i) { return native_sequence_known(i) && !writes_exec(i); }

static enum kind kind_of(const struct inst *i) {
  const struct op_info *op = i->op;
  unsigned flags = native_rows[op->id].flags;
  if (i->ext && i->ext->kind == EXT_VOPD) {
    const struct inst *x = i->ext->x, *y = i->ext->y;
    return sequence_known(x) && sequence_known(y) ? KIND_PAIR : KIND_CALL;
  }
  if (flags & NATIVE_NOTHING) return KIND_NOTHING;
  if (sequence_known(i)) return KIND_SEQUENCE;
  bool compares_exec = op->generation > 0 && op->format == FORMAT_VOPC && (flags & NATIVE_WRITES_EXEC);
  if (compares_exec && native_sequence_known(i)) return KIND_COMPARE_EXEC;
  if (op->traits & TRAIT_VALU) return KIND_CALL;
  if (op->format == FORMAT_SMEM) return KIND_CALL;
  if (op->traits & TRAIT_MEMORY) return native_memory_known(i) ? KIND_MEMORY : KIND_CALL;
  if (relative(i)) return is(i, "s_branch") ? KIND_JUMP : strncmp(op->name, "s_cbranch_", 10) ? KIND_END : KIND_BRANCH;
  return (flags & (NATIVE_PURE | NATIVE_WRITES_EXEC)) ? KIND_CALL : KIND_END;
}

static bool is_vector(unsigned kind) { return kind >= KIND_SEQUENCE && kind <= KIND_COMPARE_EXEC; }

/* Condition of a branch: compare the dwords at the scalar register with zero; taken if they are (not). */
struct branch { unsigned index; bool mask, taken_if_zero; };
static bool branch_of(const struct inst *i, struct branch *b) {
  static const struct { const char *name; struct branch b; } known[] = {
    {"s_cbranch_scc0", {S_SCC, false, true}}, {"s_cbranch_scc1", {S_SCC, false, false}},
    {"s_cbranch_vccz", {S_VCC, true, true}}, {"s_cbranch_vccnz", {S_VCC, true, false}},
    {"s_cbranch_execz", {S_EXEC, true, true}}, {"s_cbranch_execnz", {S_EXEC, true, false}},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (is(i, known[k].name)) return *b = known[k].b, true;
  return false;
}

/* --- order: scalar instructions move before the group they stand in, where nothing forbids it ------------------- */

struct set { uint64_t bits[(S_COUNT + 63) / 64]; };
static void add(struct set *s, unsigned index, unsigned n) {
  for (unsigned k = index; k < index + n && k < S_COUNT; k++) s->bits[k / 64] |= UINT64_C(1) << k % 64;
}
static bool meet(const struct set *a, const struct set *b) {
  for (size_t k = 0; k < sizeof a->bits / sizeof *a->bits; k++)
    if (a->bits[k] & b->bits[k]) return true;
  return false;
}

/* What instructions do with scalar registers and memory: numbers that all lanes read, lane masks read, writes. */
struct effects { struct set uniform, masks, writes; bool loads[MEMORY_SPACES], stores[MEMORY_SPACES]; };

static bool has_mask_result(const struct inst *i) { return i->op->dst2_type != TYPE_none && i->dst2 != S_SINK; }

static void scalar_effects(const struct inst *i, struct effects *e) {
  *e = (struct effects){0};
  for (unsigned k = 0; k < 4; k++)
    if (i->src_kind[k] == OPERAND_SCALAR) add(&e->uniform, i->src[k], 4);
    else if (i->src_kind[k] == OPERAND_SPECIAL) add(&e->uniform, S_VCC, 2);
  add(&e->uniform, i->dst, 2);
  add(&e->writes, i->dst, i->op->format == FORMAT_SMEM ? 16 : 2);
  add(&e->writes, S_SCC, 1);
}

/* Where v_cmp's and v_cmpx's mask goes; GFX9's v_cmpx, which has two, is called. */
static unsigned mask_result(const struct inst *i) {
  return native_rows[i->op->id].flags & NATIVE_WRITES_EXEC ? S_EXEC : i->dst;
}

static void vector_effects(const struct inst *i, struct effects *e) {
  for (unsigned k = 0; k < i->op->n_src; k++)
    if (i->src_kind[k] == OPERAND_SCALAR) add(i->op->src_type[k] == TYPE_mask ? &e->masks : &e->uniform, i->src[k], 2);
  if (native_rows[i->op->id].flags & NATIVE_READS_VCC) add(&e->masks, S_VCC, 2);
  if (i->op->scalar_dst) add(&e->writes, mask_result(i), 2);
  if (has_mask_result(i)) add(&e->writes, i->dst2, 2);
}

/* Scalar sources that the lane mask which the instruction writes covers: later chunks of lanes read copies. */
static void shadow_sources(struct compiler *c, const struct inst *i) {
  struct effects e = {0};
  vector_effects(i, &e);
  for (unsigned k = 0; k < i->op->n_src; k++) {
    struct set read = {0};
    if (i->src_kind[k] != OPERAND_SCALAR || i->op->src_type[k] == TYPE_mask) continue;
    add(&read, i->src[k], 2);
    if (!meet(&read, &e.writes)) continue;
    if (c->n_shadows < MAX_SHADOWS) c->shadow[c->n_shadows++] = i->src[k];
    else c->x.full = true;
  }
}

static struct effects effects_of(const struct inst *i, enum kind kind) {
  struct effects e = {0};
  if (kind == KIND_MEMORY) {
    const struct native_memory *m = &native_rows[i->op->id].memory;
    if (i->src_kind[MEM_SADDR] == OPERAND_SCALAR) add(&e.uniform, i->src[MEM_SADDR], 2);
    (m->store ? e.stores : e.loads)[m->space] = true;
  } else if (kind == KIND_PAIR) {
    vector_effects(i->ext->x, &e);
    vector_effects(i->ext->y, &e);
  } else {
    vector_effects(i, &e);
  }
  return e;
}

/* A lane mask that the instruction reads or writes overlaps another one that the group writes. */
static bool masks_overlap(const struct inst *i, const struct effects *group, unsigned lanes) {
  unsigned index[7], n = 0;
  if (native_rows[i->op->id].flags & NATIVE_READS_VCC) index[n++] = S_VCC;
  for (unsigned k = 0; k < i->op->n_src; k++)
    if (i->src_kind[k] == OPERAND_SCALAR && i->op->src_type[k] == TYPE_mask) index[n++] = i->src[k];
  if (i->op->scalar_dst) index[n++] = i->dst;
  if (has_mask_result(i)) index[n++] = i->dst2;
  for (unsigned k = 0; k < n && lanes == 64; k++) {
    struct set beside = {0};   /* a write of the mask that begins one below or one above shows here */
    if (index[k]) add(&beside, index[k] - 1, 1);
    add(&beside, index[k] + 2, 1);
    if (meet(&beside, &group->writes) && index[k] != S_VCC) return true;
  }
  return false;
}

/* Chunks of lanes go through a whole group one after the other: what one instruction writes for all lanes, no other
 * of the group may depend on, but for lane masks, of which each chunk reads its own bits. */
static bool vector_conflicts(const struct inst *i, enum kind kind, const struct effects *group, unsigned lanes) {
  struct effects e = effects_of(i, kind);
  if (meet(&e.uniform, &group->writes) || meet(&e.writes, &group->uniform)) return true;
  if (kind == KIND_PAIR) return masks_overlap(i->ext->x, group, lanes) || masks_overlap(i->ext->y, group, lanes);
  if (kind == KIND_SEQUENCE) return masks_overlap(i, group, lanes);
  unsigned space = native_rows[i->op->id].memory.space;
  if (space == MEMORY_SCRATCH) return false;   /* each lane has its own */
  return group->stores[space] || (e.stores[space] && group->loads[space]);
}

static void join_effects(struct effects *to, const struct effects *e) {
  for (size_t k = 0; k < sizeof to->writes.bits / 8; k++) {
    to->uniform.bits[k] |= e->uniform.bits[k];
    to->masks.bits[k] |= e->masks.bits[k];
    to->writes.bits[k] |= e->writes.bits[k];
  }
  for (int k = 0; k < MEMORY_SPACES; k++) to->loads[k] |= e->loads[k], to->stores[k] |= e->stores[k];
}

struct step { const struct inst *i; uint8_t kind; uint16_t number, group; };
struct plan {
  struct step step[MAX_BLOCK];
  unsigned n, groups;
  const struct inst *next;     /* where the block ends without a jump; NULL: its last instruction jumps */
};

static void arrange(struct plan *p, unsigned lanes) {
  struct effects group = {0}, scalar;
  unsigned number = 0;
  bool vectors = false;
  for (unsigned n = 0; n < p->n; n++) {
    struct step *s = &p->step[n];
    const struct inst *i = s->i;
    if (s->kind == KIND_NOTHING || s->kind == KIND_JUMP) continue;
    if (is_vector(s->kind)) {
      if (vectors && vector_conflicts(i, s->kind, &group, lanes)) number++, group = (struct effects){0};
      vectors = true;
      struct effects own = effects_of(i, s->kind);
      join_effects(&group, &own);
      s->group = (uint16_t)number;
      if (s->kind == KIND_COMPARE_EXEC) number++, group = (struct effects){0}, vectors = false;
      continue;
    }
    bool hoists = false;
    if (s->kind == KIND_CALL && !(i->op->traits & TRAIT_VALU) && !writes_exec(i) &&
        (i->op->format == FORMAT_SMEM || (native_rows[i->op->id].flags & NATIVE_PURE))) {
      scalar_effects(i, &scalar);
      hoists = !meet(&scalar.uniform, &group.writes) && !meet(&scalar.writes, &group.uniform) &&
               !meet(&scalar.writes, &group.masks) && !meet(&scalar.writes, &group.writes) && !(i->op->format == FORMAT_SMEM && group.stores[MEMORY_GLOBAL]);
    }
    if (vectors && !hoists) number++, group = (struct effects){0}, vectors = false;
    s->group = (uint16_t)number;
  }
  p->groups = number + 1;
}

/* --- machine code ------------------------------------------------------------------------------------------ */

struct detour *detour_new(struct compiler *c, const struct inst *i) {
  if (c->n_detours == sizeof c->detours / sizeof *c->detours) c->x.full = true, c->n_detours = 0;
  struct detour *d = &c->detours[c->n_detours++];
  *d = (struct detour){.i = i};
  return d;
}

void leave(struct compiler *c, jump from) {
  if (c->n_leaves < MAX_JUMPS) c->leaves[c->n_leaves++] = from;
  else c->x.full = true;
}

static void exit_if(struct compiler *c, enum condition cc, const struct inst *target, unsigned done) {
  c->exits[c->n_exits++] = (struct exit){jump_if(&c->x, cc), target, done};
}

static const uint8_t saved[] = {RBP, RBX, R12, R13, R14, R15};
static void push(struct x86 *x, unsigned r) { rex(x, false, 0, r), put8(x, 0x50 | (r & 7)); }
static void pop(struct x86 *x, unsigned r) { rex(x, false, 0, r), put8(x, 0x58 | (r & 7)); }

#define FUEL mem(R15, (int32_t)(offsetof(struct workgroup, native_fuel) - offsetof(struct workgroup, sites)))

static void prologue(struct compiler *c) {
  struct x86 *x = &c->x;
  for (size_t k = 0; k < sizeof saved; k++) push(x, saved[k]);
  gpr_rr(x, OP_MOV, true, RAX, RSP);
  gpr_immediate(x, 5, true, RSP, FRAME_BYTES);
  gpr_immediate(x, 4, true, RSP, -64);
  gpr_store(x, true, FRAME(caller_rsp), RAX);
  gpr_rr(x, OP_MOV, true, R13, RDI);
  gpr_rm(x, OP_MOV, true, RBP, WAVE(lds));
  gpr_rm(x, OP_MOV, true, R15, WAVE(wg));
  gpr_immediate(x, 0, true, R15, (int32_t)offsetof(struct workgroup, sites));
  gpr_constant(x, RAX, ROUNDS);
  gpr_store(x, false, FUEL, RAX);
}

static void epilogue(struct compiler *c) {
  struct x86 *x = &c->x;
  put8(x, 0xc5), put8(x, 0xf8), put8(x, 0x77);   /* vzeroupper */
  gpr_rm(x, OP_MOV, true, RSP, FRAME(caller_rsp));
  for (size_t k = sizeof saved; k-- > 0;) pop(x, saved[k]);
}

static void count(struct compiler *c, unsigned done) {
  if (done > 1) memory_immediate(&c->x, 0, true, WAVE(executed), (int32_t)done - 1);
}

static void finish(struct compiler *c, const struct inst *target, unsigned done) {
  count(c, done);
  gpr_constant(&c->x, RAX, (uint64_t)(uintptr_t)target);
  leave(c, jump_always(&c->x));
}

static bool always_continues(const struct inst *i) {
  return (i->op->traits & TRAIT_VALU) || (native_rows[i->op->id].flags & (NATIVE_PURE | NATIVE_WRITES_EXEC));
}

static void count_call(struct compiler *c, const struct inst *i) {
  uint64_t *counter = native_call_counter(i);
  if (!counter) return;
  gpr_constant(&c->x, RAX, (uint64_t)(uintptr_t)counter);
  memory_immediate(&c->x, 0, true, mem(RAX, 0), 1);
}

static void call(struct compiler *c, const struct inst *i, handler_fn handler) {
  struct x86 *x = &c->x;
  count_call(c, i);
  gpr_rr(x, OP_MOV, true, RDI, R13);
  gpr_constant(x, RSI, (uint64_t)(uintptr_t)i);
  gpr_constant(x, RAX, (uint64_t)(uintptr_t)handler);
  put8(x, 0xff), put8(x, 0xd0);
  if (always_continues(i)) return;
  gpr_constant(x, RCX, (uint64_t)(uintptr_t)NEXT(i));
  gpr_rr(x, OP_CMP, true, RAX, RCX);
  leave(c, jump_if(x, CC_NE));
}

/* Compares a lane mask, or a dword, in the scalar file with zero (all: with all lanes). */
static void test(struct compiler *c, unsigned index, bool mask, bool all) {
  memory_immediate(&c->x, 7, mask && c->lanes == 64, SCALAR(index), all ? -1 : 0);
}

/* The handler of a decoded entry, whatever stands in its place. */
static handler_fn handler_at(const struct native *n, const struct inst *entries, const struct inst *i) {
  struct block *b = n->blocks[i - entries];
  return b && b->original ? b->original : i->run;
}

/* The other version goes on from here if EXEC is no longer as this one takes it. */
static void exec_changed(struct compiler *c, const struct step *s) {
  test(c, S_EXEC, true, true);
  exit_if(c, c->masked ? CC_E : CC_NE, NEXT(s->i), s->number + 1u);
}

static void emit_call(struct compiler *c, const struct native *n, const struct step *s) {
  const struct inst *i = s->i;
  struct branch b;
  switch ((enum kind)s->kind) {
  case KIND_BRANCH:
    if (branch_of(i, &b)) {
      test(c, b.index, b.mask, false);
      exit_if(c, b.taken_if_zero ? CC_E : CC_NE, NEXT(i) + i->imm, s->number + 1u);
    }
    break;
  case KIND_CALL:
    if (!native_scalar_emit(c, i) && !native_scalar_load_emit(c, i, handler_at(n, c->entries, i)))
      call(c, i, handler_at(n, c->entries, i));
    if (writes_exec(i)) exec_changed(c, s);
    break;
  case KIND_END:
    count_call(c, i);
    count(c, s->number + 1u);
    gpr_rr(&c->x, OP_MOV, true, RDI, R13);
    gpr_constant(&c->x, RSI, (uint64_t)(uintptr_t)i);
    gpr_constant(&c->x, RAX, (uint64_t)(uintptr_t)handler_at(n, c->entries, i));
    epilogue(c);
    put8(&c->x, 0xff), put8(&c->x, 0xe0);
    break;
  default: break;
  }
}

static void emit_vector(struct compiler *c, const struct step *s) {
  switch ((enum kind)s->kind) {
  case KIND_SEQUENCE: case KIND_COMPARE_EXEC: native_sequence_emit(c, s->i); break;
  case KIND_PAIR: native_pair_emit(c, s->i); break;
  default: native_memory_emit(c, s->i); break;
  }
  native_release(c);
}

static void emit_block(struct compiler *c, const struct native *n, const struct plan *p) {
  prologue(c);
  const uint8_t *body = c->x.at;
  unsigned calls = 0, vectors = 0;
  for (unsigned g = 0; g < p->groups; g++) {
    for (; calls < p->n && (is_vector(p->step[calls].kind) || p->step[calls].group <= g); calls++)
      if (!is_vector(p->step[calls].kind)) emit_call(c, n, &p->step[calls]);
    bool open = false;
    const struct step *last = NULL;
    for (; vectors < p->n && (!is_vector(p->step[vectors].kind) || p->step[vectors].group <= g); vectors++) {
      if (!is_vector(p->step[vectors].kind)) continue;
      if (!open) {
        c->n_shadows = 0;
        for (unsigned k = vectors; k < p->n && (!is_vector(p->step[k].kind) || p->step[k].group <= g); k++) {
          const struct inst *i = p->step[k].i;
          if (p->step[k].kind == KIND_SEQUENCE || p->step[k].kind == KIND_COMPARE_EXEC) shadow_sources(c, i);
          if (p->step[k].kind == KIND_PAIR) shadow_sources(c, i->ext->x), shadow_sources(c, i->ext->y);
        }
        native_group_begin(c);
      }
      open = true;
      emit_vector(c, last = &p->step[vectors]);
    }
    if (open) native_group_end(c);
    if (vectors && last && last->kind == KIND_COMPARE_EXEC) exec_changed(c, last);
  }
  if (p->next) finish(c, p->next, p->n);
  for (unsigned k = 0; k < c->n_exits; k++) {
    land(&c->x, c->exits[k].from);
    if (c->exits[k].target == p->step[0].i) {   /* the block is a loop */
      memory_immediate(&c->x, 5, false, FUEL, 1);
      jump enough = jump_if(&c->x, CC_E);
      memory_immediate(&c->x, 0, true, WAVE(executed), (int32_t)c->exits[k].done);
      land_at(&c->x, jump_always(&c->x), body);
      land(&c->x, enough);
    }
    finish(c, c->exits[k].target, c->exits[k].done);
  }
  for (unsigned k = 0; k < c->n_detours; k++) {
    const struct detour *d = &c->detours[k];
    for (unsigned j = 0; j < d->n_from; j++) land(&c->x, d->from[j]);
    d->emit(c, d);
  }
  for (unsigned k = 0; k < c->n_leaves; k++) land(&c->x, c->leaves[k]);
  epilogue(c);
  put8(&c->x, 0xc3);
}

/* --- blocks ------------------------------------------------------------------------------------------------ */

static struct inst *decoded(struct wave *w, const struct run *run, const struct inst *i) {
  if (!__atomic_load_n(&i->run, __ATOMIC_ACQUIRE)) code_decode(w, i);
  return run->entries + (i - run->entries);
}

static bool faults(handler_fn handler) {
  return handler == run_illegal || handler == run_unimplemented || handler == run_bad_jump || handler == run_beyond_registers;
}

/* The block that begins at the entry. Decodes what is not decoded yet: without the lock held. */
static void make_plan(struct wave *w, struct native *n, const struct run *run, const struct inst *first, bool full,
                      struct plan *p) {
  const struct inst *i = first;
  size_t dwords = run->d->code->dwords;
  p->n = 0;
  while (true) {
    size_t at = (size_t)(i - run->entries);
    if (p->n == MAX_BLOCK || at >= dwords) break;
    /* A masked version ends where ways meet: EXEC may be full again. */
    if (!full && p->n && __atomic_load_n(&n->blocks[at], __ATOMIC_RELAXED)) break;
    decoded(w, run, i);
    if (!i->op || faults(handler_at(n, run->entries, i))) break;   /* the interpreter's */
    struct step *s = &p->step[p->n];
    *s = (struct step){.i = i, .kind = (uint8_t)kind_of(i), .number = (uint16_t)p->n};
    if (relative(i)) {   /* out of the code: the handler's fault */
      ptrdiff_t target = (ptrdiff_t)at + i->len + i->imm;
      if (target < 0 || target >= (ptrdiff_t)dwords) s->kind = KIND_END;
    }
    p->n++;
    if (s->kind == KIND_END) {
      p->next = NULL;
      arrange(p, run->build->lanes);
      return;
    }
    if (s->kind == KIND_BRANCH) {
      struct branch b;
      const struct inst *target = NEXT(i) + i->imm;
      if (branch_of(i, &b) && target <= i) {   /* a loop's end: what comes after it is another block */
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
  arrange(p, run->build->lanes);
}

/* What a block takes for granted of MODE: bits that are on or off, and one mode for all floats. */
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
    if (!is_vector(p->step[k].kind)) continue;
    if (p->step[k].kind == KIND_PAIR) {
      condition_of(i->ext->x, run->arch->generation, &c);
      condition_of(i->ext->y, run->arch->generation, &c);
    } else {
      condition_of(i, run->arch->generation, &c);
    }
  }
  return c;
}

/* To the first instruction's handler where MODE is another. */
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

/* Translates a version of the block. With the lock held. NULL: there is no room. */
static handler_fn translate(struct native *n, const struct run *run, struct block *b, const struct plan *p, bool full) {
  if (!code_pages(n)) return NULL;
  struct compiler *c = n->compiler;
  memset(c, 0, offsetof(struct compiler, detours));
  c->n_detours = c->n_exits = c->n_leaves = 0;
  size_t start = (n->used + 63) & ~(size_t)63;
  c->x = (struct x86){n->write + start, n->write + n->size, false};
  c->build = run->build;
  c->entries = run->entries;
  c->lanes = run->build->lanes;
  c->row_bytes = (int32_t)c->lanes * 4;
  c->masked = !full;
  c->access = n->access;
  c->n_sites = (unsigned)(p->step[0].i - run->entries);
  struct conditions mode = conditions(p, run);
  check_mode(c, b, &mode);
  emit_block(c, n, p);
  if (c->x.full) return NULL;
  n->used = (size_t)(c->x.at - n->write);
  return (handler_fn)(void *)(n->run + start);
}

/* The machine code at a block's first entry: picks the version. */
static handler_fn entry_code(struct native *n, const struct run *run, struct block *b) {
  if (!code_pages(n)) return NULL;
  size_t start = (n->used + 15) & ~(size_t)15;
  struct x86 x = {n->write + start, n->write + n->size, false};
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

/* Stands for a version that is not there yet. */
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
    handler_fn version = plan.n ? translate(n, run, b, &plan, full) : NULL;
    b->translated[full] = true;
    __atomic_store_n(&b->version[full], version ? version : b->original, __ATOMIC_RELEASE);
    for (unsigned k = 0; k < plan.n; k++)
      if ((plan.step[k].kind == KIND_CALL || plan.step[k].kind == KIND_COMPARE_EXEC) && writes_exec(plan.step[k].i))
        native_leader(run->view, (size_t)(NEXT(plan.step[k].i) - run->entries));
    if (plan.next) native_leader(run->view, (size_t)(plan.next - run->entries));
  }
  pthread_mutex_unlock(&code->lock);
  return b->original(w, i);
}

/* Handler of a block's first entry while it is seldom entered. */
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

handler_fn native_handler(struct view *view, size_t at, const struct inst *i, handler_fn handler) {
  struct native *n = native_of(view);
  if (n && i->op) {
    enum kind kind = kind_of(i);
    if (kind >= KIND_BRANCH) native_leader(view, at + i->len);
    if (relative(i)) native_leader(view, (size_t)((ptrdiff_t)at + i->len + i->imm));
  }
  if (!n || !n->blocks[at]) return handler;
  n->blocks[at]->original = handler;
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
