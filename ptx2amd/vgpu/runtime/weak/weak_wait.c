/* The operations covered by a wait, and the registers that wait for them. */
#include <string.h>

#include "tools.h"
#include "weak.h"

/* --- registers -------------------------------------------------------------------------------------------- */

static uint8_t *marks(struct weak_wave *x, char file, unsigned first, unsigned n, uint8_t **class) {
  if (file == 's') {
    *class = x->s_class + first;
    return first + n <= sizeof x->s ? x->s + first : NULL;
  }
  first += file == 'a' ? 256 : 0;
  *class = x->v_class + first;
  return first + n <= sizeof x->v ? x->v + first : NULL;
}

void weak_mark(struct weak_op *op) {
  struct weak_wave *x = op->wave->weak;
  uint8_t *class, *mark = op->n ? marks(x, op->file, op->first, op->n, &class) : NULL;
  if (!mark) return;
  for (unsigned k = 0; k < op->n; k++) {
    mark[k]++;
    class[k] = op->class;
  }
  x->pending += op->n;
  op->pending = true;
}

void weak_unmark(struct weak_op *op) {
  struct weak_wave *x = op->wave->weak;
  uint8_t *class, *mark = marks(x, op->file, op->first, op->n, &class);
  for (unsigned k = 0; k < op->n; k++) mark[k]--;
  x->pending -= op->n;
  op->pending = false;
}

/* The operation that will write the register. */
static const struct weak_op *writer(const struct weak_wave *x, char file, unsigned index) {
  for (const struct weak_op *op = x->youngest; op; op = op->older)
    if (op->pending && op->file == file && index >= op->first && index < op->first + op->n) return op;
  return x->youngest;
}

static void check_operand(struct wave *w, const struct inst *whole, const struct inst *i, int k, unsigned own) {
  struct weak_wave *x = w->weak;
  struct named r = operand_named(i, k, w->wg->lanes);
  uint8_t *class, *mark = r.n ? marks(x, r.file, r.first, r.n, &class) : NULL;
  if (!mark) return;
  bool writes = k >= 4;
  for (unsigned at = 0; at < r.n; at++) {
    if (!mark[at] || (writes && own == class[at] && own < CLASS_FLAT)) continue;   /* results of one kind arrive in
                                                                                    * order */
    const struct weak_op *op = writer(x, r.file, r.first + at);
    long long offset = (long long)(op->at - w->wg->run->entry) * 4;
    tools_report(w, whole, -1, "weak", writes ? "register written while a load to it is outstanding" :
                 "register read before the load to it was waited for", "%s %s %c%u, which %s at %s0x%llx has yet to write",
                 whole->op->name, writes ? "writes" : "reads", r.file, r.first + at, op->at->op->name, offset < 0 ? "-" : "+",
                 offset < 0 ? -offset : offset);
    return;
  }
}

static void check_one(struct wave *w, const struct inst *whole, const struct inst *i, unsigned own) {
  for (int k = 0; k < 6; k++) check_operand(w, whole, i, k, own);
}

void weak_check(struct wave *w, const struct inst *i, unsigned class) {
  const struct inst_ext *x = i->ext;
  if (x && x->kind == EXT_VOPD) {
    check_one(w, i, x->x, class);
    check_one(w, i, x->y, class);
    return;
  }
  if (x && x->kind == EXT_SCALES) check_one(w, i, x->x, class);
  check_one(w, i, i, class);
}

/* --- waits --------------------------------------------------------------------------------------------------- */

static enum weak_class class_in(const struct weak_op *op, enum weak_counter counter) {
  return op->flat && counter == COUNT_LGKM ? CLASS_LDS : (enum weak_class)op->class;
}

/* Leaves at most n operations of the counter outstanding. In a class that completes in order those are the youngest;
 * for others nothing is known unless n is 0. */
static void wait_for(struct wave *w, enum weak_counter counter, unsigned n) {
  struct weak_wave *x = w->weak;
  unsigned younger[CLASSES] = {0};
  struct weak_op *covered = NULL;   /* the youngest of those */
  uint8_t bit = (uint8_t)(1u << counter);
  for (struct weak_op *op = x->youngest; op; op = op->older) {
    if (!(op->counts & bit)) continue;
    enum weak_class class = class_in(op, counter);
    bool done = class < CLASS_FLAT ? n <= younger[class] : n == 0;
    younger[class]++;
    if (!done) continue;
    op->counts &= (uint8_t)~bit;
    if (!covered) covered = op;
  }
  if (!covered) return;
  for (struct weak_op *op = x->oldest, *next; op; op = next) {
    next = op == covered ? NULL : op->younger;
    if (!(op->counts & op->need)) weak_perform(op);
    if ((op->pending || op->saved) && !(op->counts & op->need)) weak_deliver(op);
    if (op->pending && !(op->counts & op->need)) weak_unmark(op);
    if (!op->counts || (op->class == CLASS_FLAT && !(op->counts & op->need))) weak_retire(op);
  }
}

static unsigned field(const struct inst *i, unsigned lo, unsigned n) { return (uint32_t)i->imm >> lo & ((1u << n) - 1); }

/* S_WAITCNT's three counters, in the generation's encoding. */
static void legacy(struct wave *w, const struct inst *i) {
  switch (i->op->generation) {
  case 0:
    wait_for(w, COUNT_VM, field(i, 0, 4) | field(i, 14, 2) << 4);
    wait_for(w, COUNT_LGKM, field(i, 8, 4) == 15 ? 64 : field(i, 8, 4));
    break;
  case 1:
    wait_for(w, COUNT_VM, field(i, 0, 4) | field(i, 14, 2) << 4);
    wait_for(w, COUNT_LGKM, field(i, 8, 6));
    break;
  default:
    wait_for(w, COUNT_VM, field(i, 10, 6));
    wait_for(w, COUNT_LGKM, field(i, 4, 6));
  }
}

void weak_wait(struct wave *w, const struct inst *i, enum weak_wait what) {
  unsigned n = (uint16_t)i->imm;
  switch (what) {
  case WAIT_NONE: break;
  case WAIT_LEGACY: legacy(w, i); break;
  case WAIT_VMCNT: case WAIT_LOADCNT: wait_for(w, COUNT_VM, n); break;
  case WAIT_VSCNT: case WAIT_STORECNT: wait_for(w, COUNT_VS, n); break;
  case WAIT_LGKMCNT: case WAIT_DSCNT: wait_for(w, COUNT_LGKM, n); break;
  case WAIT_SAMPLECNT: wait_for(w, COUNT_SAMPLE, n); break;
  case WAIT_BVHCNT: wait_for(w, COUNT_BVH, n); break;
  case WAIT_KMCNT: wait_for(w, COUNT_KM, n); break;
  case WAIT_LOADCNT_DSCNT:
    wait_for(w, COUNT_VM, field(i, 8, 6));
    wait_for(w, COUNT_LGKM, field(i, 0, 6));
    break;
  case WAIT_STORECNT_DSCNT:
    wait_for(w, COUNT_VS, field(i, 8, 6));
    wait_for(w, COUNT_LGKM, field(i, 0, 6));
    break;
  case WAIT_IDLE:
    for (int c = 0; c < COUNTERS; c++) wait_for(w, (enum weak_counter)c, 0);
  }
}
