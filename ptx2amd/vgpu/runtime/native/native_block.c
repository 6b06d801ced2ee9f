/* The machine code of a block: its beginning and end, calls of handlers, and the groups between them. */
#include "native_linear.h"
#include "native_machine.h"
#include "native_plan.h"

#include <string.h>

struct detour *detour_new(struct compiler *c, const struct inst *i) {
  if (c->n_detours == sizeof c->detours / sizeof *c->detours) c->x.full = true, c->n_detours = 0;
  struct detour *d = &c->detours[c->n_detours++];
  *d = (struct detour){.i = i, .chunk = (uint8_t)c->chunk};
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

#define GROUP(field) mem(R15, (int32_t)(offsetof(struct workgroup, field) - offsetof(struct workgroup, sites)))
#define FUEL GROUP(native_fuel)

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
  gpr_rm(x, OP_MOV, false, RAX, GROUP(native_rounds));
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

/* The other version continues here if EXEC no longer matches this one. */
static void exec_changed(struct compiler *c, const struct step *s) {
  test(c, S_EXEC, true, true);
  exit_if(c, c->masked ? CC_E : CC_NE, NEXT(s->i), s->number + 1u);
}

static void emit_call(struct compiler *c, const struct native *n, const struct step *s) {
  const struct inst *i = s->i;
  struct branch b;
  switch ((enum kind)s->kind) {
  case KIND_BRANCH:
    if (native_branch(i, &b)) {
      test(c, b.index, b.mask, false);
      exit_if(c, b.taken_if_zero ? CC_E : CC_NE, NEXT(i) + i->imm, s->number + 1u);
    }
    break;
  case KIND_CALL:
    if (!native_scalar_emit(c, i) && !native_scalar_load_emit(c, i, native_own_handler(n, c->entries, i)))
      call(c, i, native_own_handler(n, c->entries, i));
    if (native_writes_exec(i)) exec_changed(c, s);
    break;
  case KIND_END:
    count_call(c, i);
    count(c, s->number + 1u);
    gpr_rr(&c->x, OP_MOV, true, RDI, R13);
    gpr_constant(&c->x, RSI, (uint64_t)(uintptr_t)i);
    gpr_constant(&c->x, RAX, (uint64_t)(uintptr_t)native_own_handler(n, c->entries, i));
    epilogue(c);
    put8(&c->x, 0xff), put8(&c->x, 0xe0);
    break;
  default: break;
  }
}

static void emit_chunk(struct compiler *c, const struct step *s) {
  switch ((enum kind)s->kind) {
  case KIND_SEQUENCE: case KIND_COMPARE_EXEC: native_sequence_emit(c, s->i); break;
  case KIND_PAIR: native_pair_emit(c, s->i); break;
  default: native_memory_emit(c, s->i); break;
  }
}

static void emit_vector(struct compiler *c, const struct step *s) {
  unsigned sites = c->n_sites;
  for (c->chunk = 0; c->chunk < (c->unrolled ? c->lanes / c->machine->lanes : 1); c->chunk++) {
    c->n_sites = sites;   /* shared by the chunks */
    emit_chunk(c, s);
    native_release(c);
  }
  c->chunk = 0;
}

/* The rows that later steps may read or write. False: any. */
static bool rows_later(const struct plan *p, unsigned calls, unsigned vectors, struct row_set *rows) {
  *rows = (struct row_set){0};
  if (p->next) return false;
  for (unsigned k = 0; k < p->n; k++) {
    const struct step *s = &p->step[k];
    bool vector = native_is_vector(s->kind);
    if (k < (vector ? vectors : calls) || s->kind == KIND_NOTHING || s->kind == KIND_JUMP) continue;
    if (s->kind == KIND_COMPARE_EXEC) return false;
    if (vector) native_rows_of(s->i, (enum kind)s->kind, rows);
    else if (s->kind == KIND_END && strcmp(s->i->op->name, "s_endpgm")) return false;
    else if (s->kind == KIND_BRANCH) return false;
    else if (s->kind == KIND_CALL && (native_writes_exec(s->i) || !(s->i->op->traits & TRAIT_SALU))) return false;
  }
  return true;
}

/* The first steps of a kind with a later group. */
struct position { unsigned calls, vectors; };
static struct position behind(const struct plan *p, unsigned group) {
  struct position at = {p->n, p->n};
  for (unsigned k = p->n; k-- > 0;)
    if (p->step[k].group > group) *(native_is_vector(p->step[k].kind) ? &at.vectors : &at.calls) = k;
  return at;
}

static void begin_group(struct compiler *c, const struct plan *p, unsigned from, unsigned end) {
  c->n_shadows = 0;
  for (unsigned k = from; k < end; k++) {
    const struct inst *i = p->step[k].i;
    if (c->linear && c->linear->deferred[k]) continue;
    if (p->step[k].kind == KIND_SEQUENCE || p->step[k].kind == KIND_COMPARE_EXEC) native_shadow_sources(c, i);
    if (p->step[k].kind == KIND_PAIR) native_shadow_sources(c, i->ext->x), native_shadow_sources(c, i->ext->y);
  }
  native_group_begin(c);
}

/* The vector instructions from `from` to the end of the group. last: of the run. Returns the last one; NULL: there is none. */
static const struct step *emit_group(struct compiler *c, const struct plan *p, unsigned group, unsigned from, bool last) {
  struct position after = behind(p, group);
  struct row_set later;
  const struct step *final = NULL;
  for (unsigned k = from; k < after.vectors; k++)
    if (native_is_vector(p->step[k].kind)) final = &p->step[k];
  if (!final) return NULL;
  bool open = false, ends = final->kind == KIND_COMPARE_EXEC;   /* the other version may continue there */
  c->live = !ends && rows_later(p, after.calls, after.vectors, &later) ? &later : NULL;
  for (unsigned k = from; k < after.vectors; k++) {
    if (!native_is_vector(p->step[k].kind)) continue;
    bool vector = !c->linear || !c->linear->deferred[k];
    if (vector && !open) begin_group(c, p, k, after.vectors), open = true;
    if (!c->linear || !linear_emit(c, c->linear, k, open)) emit_vector(c, &p->step[k]);
  }
  if (last && c->linear && linear_is_live(c)) {
    if (!open) begin_group(c, p, after.vectors, after.vectors), open = true;
    linear_store(c);
  }
  if (open) native_group_end(c);
  return final;
}

/* The last group before which no calls follow the group's. */
static unsigned run_end(const struct plan *p, unsigned group) {
  unsigned last = p->groups - 1;
  for (unsigned k = 0; k < p->n; k++) {
    const struct step *s = &p->step[k];
    if (s->kind == KIND_NOTHING || s->kind == KIND_JUMP || s->group < group) continue;
    if (!native_is_vector(s->kind) && s->group > group && s->group <= last) last = s->group - 1u;
    if (s->kind == KIND_COMPARE_EXEC && s->group < last) last = s->group;
  }
  return last;
}

static const struct step *emit_groups(struct compiler *c, const struct plan *p, unsigned group, unsigned last, unsigned from) {
  const struct step *final = NULL;
  for (unsigned g = group; g <= last; g++) {
    const struct step *s = emit_group(c, p, g, from, g == last);
    if (s) final = s;
    from = behind(p, g).vectors;
  }
  return final;
}

/* A run of groups: with linear rows if that is worth it. */
static const struct step *emit_run(struct compiler *c, const struct plan *p, unsigned group, unsigned last, unsigned from) {
  struct linear linear;
  struct fallback *f = &c->fallbacks[c->n_fallbacks];
  bool possible = c->machine->vex && c->n_fallbacks < MAX_FALLBACKS && from < p->n;
  if (!possible || !linear_plan(&linear, p, group, last, from, behind(p, last).vectors, c->lanes, c->masked, c->guess))
    return emit_groups(c, p, group, last, from);
  c->n_fallbacks++;
  *f = (struct fallback){.group = group, .last = last, .step = from, .n_sites = c->n_sites};
  linear_emit_checks(c, &linear, f);
  c->linear = &linear;
  const struct step *final = emit_groups(c, p, linear.joined ? last : group, last, from);
  c->linear = NULL;
  f->back = c->x.at;
  return final;
}

void native_block_emit(struct compiler *c, const struct native *n, const struct plan *p) {
  c->unrolled = p->unrolled;
  prologue(c);
  const uint8_t *body = c->x.at;
  unsigned calls = 0, vectors = 0;
  for (unsigned g = 0, last; g < p->groups; g = last + 1) {
    last = run_end(p, g);
    for (unsigned end = behind(p, g).calls; calls < end; calls++) {
      if (native_is_vector(p->step[calls].kind)) continue;
      emit_call(c, n, &p->step[calls]);
      if (p->step[calls].kind == KIND_CALL && !(p->step[calls].i->op->traits & TRAIT_SALU) && p->step[calls].i->op->format != FORMAT_SMEM)
        memset(c->guess, NOT_LINEAR, sizeof c->guess);
    }
    const struct step *final = emit_run(c, p, g, last, vectors);
    if (final && final->kind == KIND_COMPARE_EXEC) exec_changed(c, final);
    vectors = behind(p, last).vectors;
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
  for (unsigned k = 0; k < c->n_fallbacks; k++) {
    const struct fallback *f = &c->fallbacks[k];
    for (unsigned j = 0; j < f->n_from; j++) land(&c->x, f->from[j]);
    c->n_sites = f->n_sites;
    emit_groups(c, p, f->group, f->last, f->step);
    land_at(&c->x, jump_always(&c->x), f->back);
  }
  for (unsigned k = 0; k < c->n_detours; k++) {
    const struct detour *d = &c->detours[k];
    for (unsigned j = 0; j < d->n_from; j++) land(&c->x, d->from[j]);
    c->chunk = d->chunk;
    d->emit(c, d);
  }
  for (unsigned k = 0; k < c->n_leaves; k++) land(&c->x, c->leaves[k]);
  epilogue(c);
  put8(&c->x, 0xc3);
}
