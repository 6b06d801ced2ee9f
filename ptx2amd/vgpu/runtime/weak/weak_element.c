/* Accesses of elements that a handler computes one at a time: texels of images, formatted buffers, loads to LDS.
 *
 * A store writes its elements into a part of the operation instead of to memory. A load's handler runs twice: when the
 * operation is issued, which gives the elements' addresses, and when it completes, on the registers that it was issued
 * with and with the elements that the queues have loaded. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "weak.h"

/* What a load was issued with. */
struct weak_saved {
  struct weak_saved *next;
  handler_fn real;
  uint32_t s[S_COUNT];
  uint32_t rows[IMAGE_ADDRESSES][64];
};
static struct weak_saved *spare;

static unsigned address_row(const struct inst *i, unsigned k) {
  return i->ext && i->ext->kind == EXT_IMAGE ? i->ext->image.address[k] : i->src[MEM_ADDR] + k;
}
static unsigned address_rows(const struct inst *i) {
  return i->ext && i->ext->kind == EXT_IMAGE ? IMAGE_ADDRESSES : 2;
}

void weak_save(struct wave *w, struct weak_op *op, handler_fn real) {
  struct weak_saved *saved = spare;
  unsigned lanes = w->wg->lanes;
  if (saved) spare = saved->next;
  else saved = malloc(sizeof *saved);
  if (!saved) abort();
  saved->real = real;
  memcpy(saved->s, w->s, sizeof saved->s);
  for (unsigned k = 0; k < address_rows(op->at); k++)
    memcpy(saved->rows[k], w->v + (size_t)address_row(op->at, k) * lanes, lanes * 4);
  op->saved = saved;
}

void weak_forget(struct weak_op *op) {
  if (!op->saved) return;
  op->saved->next = spare;
  spare = op->saved;
  op->saved = NULL;
}

/* The registers that the operation writes, between the wave and a copy of its file. */
static void copy_results(uint32_t *to, const uint32_t *from, const struct weak_op *op, uint64_t lanes, unsigned n) {
  size_t first = op->file == 'a' ? op->first + 256u : op->first;
  for (size_t row = first; row < first + op->n; row++)
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
      size_t at = row * n + (unsigned)__builtin_ctzll(rest);
      to[at] = from[at];
    }
}

void weak_replay(struct weak_op *op) {
  static _Alignas(64) uint32_t file[VGPR_ROWS * 64];
  static struct weak_wave again;
  static struct wave copy;
  struct wave *w = op->wave;
  const struct weak_saved *saved = op->saved;
  unsigned n = w->wg->lanes;
  copy = *w;
  copy.v = file;
  memcpy(copy.s, saved->s, sizeof copy.s);
  copy_results(file, w->v, op, n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1, n);
  for (unsigned k = 0; k < address_rows(op->at); k++)
    memcpy(file + (size_t)address_row(op->at, k) * n, saved->rows[k], n * 4);
  again.now = op;
  again.again = true;
  again.filled = 0;
  copy.weak = &again;
  saved->real(&copy, op->at);
  uint64_t exec = saved->s[S_EXEC] | (n == 64 ? (uint64_t)saved->s[S_EXEC + 1] << 32 : 0);
  copy_results(w->v, file, op, exec, n);
}

/* Where the part keeps an element. */
static uint8_t *slot(struct weak_part *part, unsigned k) { return (uint8_t *)&part->rows[0][0] + 16 * k; }

/* Element number n of a load that completes; the operation's parts are linked in reverse. */
static uint8_t *loaded(const struct weak_op *op, unsigned n) {
  unsigned lanes = op->wave->wg->lanes, later = 0;
  for (const struct weak_part *part = op->parts; part; part = part->next) later++;
  struct weak_part *part = op->parts;
  for (later -= n / lanes + 1; later; later--) part = part->next;
  return slot(part, n % lanes);
}

void *weak_element(struct wave *w, uint64_t address, unsigned bytes, bool store) {
  struct weak_wave *x = w->weak;
  struct weak_op *op = x->now;
  unsigned lanes = w->wg->lanes;
  if (x->again) return loaded(op, x->filled++);
  struct weak_part *part = x->filling;
  if (part && x->filled == lanes) weak_fill_end(w), part = NULL;
  if (!part) {
    part = x->filling = weak_part_new();
    x->filled = 0;
    part->op = op;
    part->build = w->wg->run->build;
    part->inst = *op->at;
    part->lanes = 0;
    part->access = store ? WEAK_STORE : WEAK_LOAD;
    part->bytes = (uint8_t)bytes;
    part->lds = false;
    part->elements = true;
  }
  part->p[x->filled] = address;
  part->lanes |= UINT64_C(1) << x->filled;
  return slot(part, x->filled++);
}

void weak_fill_end(struct wave *w) {
  struct weak_wave *x = w->weak;
  if (x->filling) weak_enter(x->filling);
  x->filling = NULL;
}
