/* The weak-memory mode: its setting, and the processing of each instruction. */
#define _GNU_SOURCE
#include "weak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "memory.h"
#include "tools.h"

/* --- numbers ------------------------------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t next_number(void) {
  if (!state) state = (tools()->weak + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
  state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
  return state * UINT64_C(0x2545f4914f6cdd1d);
}

unsigned weak_below(unsigned n) { return (unsigned)((next_number() >> 32) * n >> 32); }
bool weak_chance(unsigned in) { return weak_below(in) == 0; }

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
void weak_lock(void) { pthread_mutex_lock(&lock); }
void weak_unlock(void) { pthread_mutex_unlock(&lock); }

/* --- what handlers access -------------------------------------------------------------------------------------- */

static bool inside(uint64_t address, const void *base, uint64_t size) {
  return address - (uint64_t)(uintptr_t)base < size;
}

/* A new part of the current operation, for the lanes' addresses; NULL: memory private to the wave, or accessed by the
 * handler. */
static struct weak_part *part_for(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes) {
  struct weak_op *op = w->weak->now;
  uint64_t first = p[__builtin_ctzll(lanes)], lo, hi;
  uint32_t flags;
  bool lds = inside(first, w->lds, w->lds_size);
  w->changes++;
  if (!op || (!lds && (inside(first, w->wg->scratch, w->wg->scratch_capacity) || !mem_range(first, &lo, &hi, &flags)))) return NULL;
  struct weak_part *part = weak_part_new();
  part->op = op;
  part->build = w->wg->run->build;
  part->inst = *i;
  part->lanes = lanes;
  memcpy(part->p, p, part->build->lanes * sizeof *p);
  part->lds = lds;
  part->elements = false;
  op->need |= lds ? 1u << COUNT_LGKM : op->counts & (1u << COUNT_VM | 1u << COUNT_VS);
  return part;
}

static void take_rows(struct weak_part *part, const struct wave *w, unsigned to, unsigned from, unsigned n) {
  unsigned lanes = part->build->lanes;
  memcpy(&part->rows[0][0] + to * lanes, w->v + (size_t)from * lanes, (size_t)n * lanes * 4);
}

bool weak_take_load(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes, unsigned kind, unsigned bytes) {
  struct weak_part *part = part_for(w, i, p, lanes);
  if (!part) return false;
  part->access = WEAK_LOAD;
  part->kind = (uint8_t)kind;
  part->bytes = (uint8_t)bytes;
  weak_enter(part);
  return true;
}

bool weak_take_store(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes, unsigned kind, unsigned bytes) {
  struct weak_part *part = part_for(w, i, p, lanes);
  if (!part) return false;
  part->access = WEAK_STORE;
  part->kind = (uint8_t)kind;
  part->bytes = (uint8_t)bytes;
  take_rows(part, w, 0, i->src[MEM_DATA], (bytes + 3) / 4);
  weak_enter(part);
  return true;
}

bool weak_take_update(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes, unsigned op, unsigned bits,
                      bool returns, unsigned data, unsigned data2) {
  struct weak_part *part = part_for(w, i, p, lanes);
  if (!part) return false;
  part->access = WEAK_UPDATE;
  part->kind = (uint8_t)op;
  part->bits = (uint8_t)bits;
  part->bytes = (uint8_t)(bits / 8);
  part->returns = returns;
  take_rows(part, w, 2, data, bits / 32);
  take_rows(part, w, 4, data2, bits / 32);
  weak_enter(part);
  return true;
}

/* A load whose result goes to LDS; it counts as others do. */
static bool to_lds(const struct inst *i, const struct weak_info *info) {
  return i->flags & FLAG_LDS && info->what == WEAK_VECTOR;
}

/* --- instructions -------------------------------------------------------------------------------------------------- */

static enum weak_class class_of(const struct inst *i, const struct weak_info *info, bool result) {
  switch ((enum weak_what)info->what) {
  case WEAK_VECTOR: case WEAK_SCRATCH: return result || i->op->generation == 0 ? CLASS_VECTOR : CLASS_STORE;
  case WEAK_IMAGE:
    return i->op->image & IMAGE_SAMPLED ? CLASS_SAMPLE : result || i->op->generation == 0 ? CLASS_VECTOR : CLASS_STORE;
  case WEAK_LDS: case WEAK_EXCHANGE: return CLASS_LDS;
  case WEAK_FLAT: return i->op->generation == 0 ? CLASS_FLAT : result ? CLASS_VECTOR : CLASS_STORE;
  default: return CLASS_SCALAR;
  }
}

static uint8_t counters_of(const struct inst *i, enum weak_class class, bool result) {
  unsigned generation = i->op->generation;
  unsigned vector = result || generation == 0 ? COUNT_VM : COUNT_VS;
  switch (class) {
  case CLASS_VECTOR: return 1 << COUNT_VM;
  case CLASS_STORE: return 1 << COUNT_VS;
  case CLASS_SAMPLE: return generation == 3 ? 1 << COUNT_SAMPLE : 1 << COUNT_VM;
  case CLASS_LDS: return 1 << COUNT_LGKM;
  case CLASS_FLAT: return (uint8_t)(1u << vector | 1u << COUNT_LGKM);
  default: return generation == 3 ? 1 << COUNT_KM : 1 << COUNT_LGKM;
  }
}

/* Whether a write-back or invalidation is one of L2: for other dies, or for the host. */
static bool l2_scope(const struct weak_chip *chip, const struct inst *i) {
  unsigned scope = weak_scope(i);
  return chip->dies ? scope & 2 : chip->remote && (!chip->scopes || scope == 3);
}

static void write_back_later(struct wave *w, const struct inst *i) {
  struct weak_op *op = weak_op_new(w, i);
  op->class = i->op->generation == 0 ? CLASS_VECTOR : CLASS_STORE;
  op->counts = op->need = counters_of(i, (enum weak_class)op->class, false);
  op->writes_back = l2_scope(op->chip, i);
}

static void invalidate(struct wave *w, const struct inst *i) {
  const struct weak_wave *x = w->weak;
  unsigned scope = weak_scope(i);
  if (l2_scope(x->chip, i)) cache_drop_l2(x->chip, x->cu);
  if (!x->chip->scopes || scope == 0) return;   /* gfx90a's buffer_invl2 */
  cache_drop_l0(x->cu);
  if (scope >= 2) cache_drop_middle(x->cu);
}

static void control(struct wave *w, const struct inst *i, enum weak_control what) {
  unsigned cu = w->weak->cu;
  switch (what) {
  case CONTROL_NONE: break;
  case CONTROL_L0: cache_drop_l0(cu); break;
  case CONTROL_MIDDLE: cache_drop_middle(cu); break;
  case CONTROL_SCALAR: cache_drop_scalar(cu); break;
  case CONTROL_SCOPE: invalidate(w, i); break;
  case CONTROL_WRITE_BACK: write_back_later(w, i); break;
  case CONTROL_BOTH:
    write_back_later(w, i);
    invalidate(w, i);
  }
}

/* By the handler itself, after all operations in flight have been performed. */
static const struct inst *at_once(struct wave *w, const struct inst *i, handler_fn real) {
  struct weak_wave *x = w->weak;
  weak_lds(w, UINT32_MAX);
  weak_drain_cu(x->cu);
  cache_write_back(x->chip, x->cu);
  w->weak = NULL;
  const struct inst *next = real(w, i);
  w->weak = x;
  cache_drop_l0(x->cu);
  cache_drop_middle(x->cu);
  cache_drop_l2(x->chip, x->cu);
  return next;
}

/* The scalar cache's content instead of memory's. */
static void scalar_values(struct wave *w, const struct inst *i, uint64_t address) {
  uint64_t lo, hi;
  uint32_t flags;
  bool global = mem_range(address, &lo, &hi, &flags) && MEM_KIND(flags) != MEM_KERNARG;
  bool cached = global && cache_has(w->weak->chip, address);
  for (unsigned k = 0; global && k < access_table[i->op->id].bytes / 4u; k++)
    w->s[i->dst + k] = cache_scalar(w->weak->chip, w->weak->cu, address + 4 * k, cached);
}

bool weak_asks(const struct wave *w) { return w->weak && !w->weak->again; }

static const struct inst *by_elements(struct wave *w, const struct inst *i, handler_fn real, bool loads) {
  if (loads) weak_save(w, w->weak->now, real);
  const struct inst *next = real(w, i);
  weak_fill_end(w);
  return next;
}

static const struct inst *memory_step(struct wave *w, const struct inst *i, handler_fn real, const struct weak_info *info,
                                      enum weak_class class, const struct named *result) {
  struct weak_wave *x = w->weak;
  struct weak_op *op = x->now = weak_op_new(w, i);
  const struct inst *next;
  op->class = class;
  op->counts = counters_of(i, class, result->n || to_lds(i, info));
  op->flat = info->what == WEAK_FLAT && class != CLASS_FLAT;
  if (op->flat) op->counts |= 1 << COUNT_LGKM;
  if (info->how == HOW_NOW) {
    next = at_once(w, i, real);
  } else if (info->how != HOW_LANES || to_lds(i, info)) {
    next = by_elements(w, i, real, info->how != HOW_STORES);
  } else if (info->what == WEAK_SCALAR) {
    uint64_t address = scalar_address(w, i);
    next = real(w, i);
    if (next) scalar_values(w, i, address);
  } else {
    next = real(w, i);
  }
  x->now = NULL;
  if (!op->need) op->need = info->what == WEAK_FLAT ? op->counts & (1 << COUNT_VM | 1 << COUNT_VS) : op->counts;
  op->file = result->file;
  op->first = (uint16_t)result->first;
  op->n = (uint16_t)result->n;
  weak_mark(op);
  weak_tick(w);
  return next;
}

const struct inst *weak_step(struct wave *w, const struct inst *i, handler_fn real) {
  const struct weak_info *info = &weak_table[i->op->id];
  switch ((enum weak_what)info->what) {
  case WEAK_OTHER:
    if (w->weak->pending) weak_check(w, i, CLASSES);
    return real(w, i);
  case WEAK_WAITS:
    if (weak_linger(w)) return wave_stay(w, i);
    weak_wait(w, i, (enum weak_wait)info->sub);
    return NEXT(i);
  case WEAK_CACHE: control(w, i, (enum weak_control)info->sub); return NEXT(i);
  default: break;
  }
  struct named result = operand_named(i, 4, w->wg->lanes);
  enum weak_class class = class_of(i, info, result.n || to_lds(i, info));
  if (w->weak->pending) weak_check(w, i, class);
  return memory_step(w, i, real, info, class, &result);
}
