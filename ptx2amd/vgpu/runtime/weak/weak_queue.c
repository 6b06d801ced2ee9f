/* Operations in flight: requests for lines in the channels of each CU, LDS operations in the queue of each wave. */
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "memory.h"
#include "weak.h"

/* One line of a part. */
struct request {
  struct request *next;
  struct weak_part *part;
  uint64_t line, mask, lanes;   /* bytes of the line; lanes that access them */
  uint32_t number;              /* in the channel's order */
  uint8_t past;
  bool cached;
  uint8_t data[WEAK_LINE];
};
static struct channel { struct request *head, *tail; uint32_t last; } channels[WEAK_CUS][WEAK_CHANNELS];
static unsigned queued[WEAK_CUS];
static uint32_t stalled[WEAK_CUS];   /* channels that are delayed */
static struct request *spare;
static struct weak_part *spare_parts;
static struct weak_op *spare_ops;

enum { MOST_QUEUED = 2048, MOST_OUTSTANDING = 160 };

static unsigned channel_of(uint64_t line) {
  return (unsigned)(weak_hash(line) >> 59) % WEAK_CHANNELS;
}

/* --- a handler's function on lanes that are no longer the wave's own ------------------------------------------ */

static struct wave ghost;

static void act(struct weak_part *part, uint64_t lanes, const uint64_t *p) {
  ghost.v = &part->rows[0][0];
  ghost.mxcsr = _mm_getcsr();
  struct inst inst = part->inst;
  inst.dst = 0;
  inst.src[MEM_DATA] = 0;
  part->build->weak_lanes(&ghost, &inst, p, lanes, part->access, part->kind, part->bits, part->returns);
}

/* --- lanes and lines --------------------------------------------------------------------------------------- */

/* The bytes of a lane's element in the line: the first one's offsets in the element and in the line, and their number.
 * */
struct overlap { unsigned from, to, n; };
static struct overlap overlap(const struct weak_part *part, unsigned lane, uint64_t line) {
  uint64_t lo = part->p[lane], hi = lo + part->bytes, end = line + WEAK_LINE;
  if (lo >= end || hi <= line) return (struct overlap){0};
  uint64_t first = lo > line ? lo : line, last = hi < end ? hi : end;
  return (struct overlap){(unsigned)(first - lo), (unsigned)(first - line), (unsigned)(last - first)};
}

/* The element that a lane stores. */
static void stored(const struct weak_part *part, unsigned lane, uint8_t out[16]) {
  unsigned n = part->build->lanes;
  const uint32_t *rows = &part->rows[0][0];
  if (part->elements) {
    memcpy(out, rows + 4 * lane, 16);
    return;
  }
  bool high = part->kind == 2 || part->kind == 3;   /* STORE_D16_HI_... */
  for (unsigned k = 0; 4 * k < part->bytes; k++) {
    uint32_t value = rows[k * n + lane];
    if (high) value >>= 16;
    memcpy(out + 4 * k, &value, 4);
  }
}

static uint8_t *loaded(struct weak_part *part, unsigned lane) { return (uint8_t *)&part->rows[0][0] + 16 * lane; }

/* --- requests ------------------------------------------------------------------------------------------------ */

struct weak_part *weak_part_new(void) {
  struct weak_part *part = spare_parts;
  if (part) spare_parts = part->next;
  else part = aligned_alloc(64, (sizeof *part + 63) & ~(size_t)63);
  if (!part) abort();   /* two KiB: if this fails, the process cannot continue */
  return part;
}

static void finish_op(struct weak_op *op) {
  if (op->wave || op->requests || op->lds) return;
  weak_forget(op);
  for (struct weak_part *p = op->parts, *next; p; p = next) {
    next = p->next;
    p->next = spare_parts;
    spare_parts = p;
  }
  op->older = spare_ops;
  spare_ops = op;
}

static void perform(struct request *r, unsigned cu) {
  struct weak_part *part = r->part;
  struct weak_op *op = part->op;
  switch (part->access) {
  case WEAK_LOAD:
    cache_load(op->chip, cu, r->line, r->mask, r->past, r->cached, r->data);
    for (uint64_t rest = r->lanes; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctzll(rest);
      struct overlap o = overlap(part, lane, r->line);
      memcpy(loaded(part, lane) + o.from, r->data + o.to, o.n);
    }
    break;
  case WEAK_STORE:
    cache_store(op->chip, cu, r->line, r->mask, r->past, r->cached, r->data);
    break;
  case WEAK_UPDATE:
    cache_update(op->chip, cu, r->line);
    act(part, r->lanes, part->p);
    break;
  }
  op->requests--;
  r->next = spare;
  spare = r;
  finish_op(op);
}

static bool drain_one(unsigned cu, unsigned channel) {
  struct channel *c = &channels[cu][channel];
  struct request *r = c->head;
  if (!r) return false;
  c->head = r->next;
  queued[cu]--;
  perform(r, cu);
  return true;
}

void weak_drain_cu(unsigned cu) {
  while (queued[cu])
    for (unsigned k = 0; k < WEAK_CHANNELS; k++) drain_one(cu, k);
}

void weak_drain_all(void) {
  for (unsigned cu = 0; cu < WEAK_CUS; cu++) weak_drain_cu(cu);
}

static void enqueue(struct weak_op *op, struct request *r) {
  unsigned k = channel_of(r->line);
  struct channel *c = &channels[op->cu][k];
  r->next = NULL;
  if (c->head) c->tail->next = r;
  else c->head = r;
  c->tail = r;
  r->number = op->last[k] = ++c->last;
  op->channels |= UINT32_C(1) << k;
  op->requests++;
  queued[op->cu]++;
}

static struct request *new_request(struct weak_part *part, uint64_t line, bool cached) {
  struct request *r = spare;
  if (r) spare = r->next;
  else r = malloc(sizeof *r);
  if (!r) abort();
  r->part = part;
  r->line = line;
  r->mask = r->lanes = 0;
  r->cached = cached;
  r->past = (uint8_t)weak_past(part->op->chip, &part->inst, part->access != WEAK_LOAD);
  return r;
}

static void enter_global(struct weak_part *part) {
  enum { MOST = 128 };   /* each lane's element may lie in two lines */
  struct request *made[MOST];
  uint8_t places[MOST] = {0};   /* open addressing: number of the request, from 1 */
  unsigned n = 0;
  struct request *r = NULL;
  bool cached = cache_has(part->op->chip, part->p[__builtin_ctzll(part->lanes)]);
  for (uint64_t rest = part->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(rest);
    uint8_t value[16];
    if (part->access == WEAK_STORE) stored(part, lane, value);
    uint64_t line = part->p[lane] & ~(uint64_t)(WEAK_LINE - 1);
    uint64_t end = part->p[lane] + (part->access == WEAK_UPDATE ? 1 : part->bytes);   /* updates are aligned */
    for (; line < end; line += WEAK_LINE) {
      if (!r || r->line != line) {
        unsigned at = line / WEAK_LINE % MOST;
        while (places[at] && made[places[at] - 1]->line != line) at = (at + 1) % MOST;
        if (!places[at]) {
          made[n++] = new_request(part, line, cached);
          places[at] = (uint8_t)n;
        }
        r = made[places[at] - 1];
      }
      r->lanes |= UINT64_C(1) << lane;
      struct overlap o = overlap(part, lane, line);
      r->mask |= (o.n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << o.n) - 1) << o.to;
      if (part->access == WEAK_STORE) memcpy(r->data + o.to, value + o.from, o.n);
    }
  }
  for (unsigned k = 0; k < n; k++) enqueue(part->op, made[k]);
  if (queued[part->op->cu] > MOST_QUEUED) weak_drain_cu(part->op->cu);
}

/* --- LDS ------------------------------------------------------------------------------------------------------- */

static void perform_lds(struct weak_part *part) {
  if (part->access != WEAK_LOAD) act(part, part->lanes, part->p);
  else
    for (uint64_t rest = part->lanes; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctzll(rest);
      memcpy(loaded(part, lane), (const void *)(uintptr_t)part->p[lane], part->bytes);
    }
  part->op->lds--;
}

void weak_lds(struct wave *w, unsigned most) {
  struct weak_wave *x = w->weak;
  while (x->lds_head && most--) {
    struct weak_part *part = x->lds_head;
    x->lds_head = part->after;
    struct weak_op *op = part->op;
    perform_lds(part);
    finish_op(op);
  }
}

void weak_enter(struct weak_part *part) {
  struct weak_op *op = part->op;
  part->next = op->parts;
  op->parts = part;
  if (!part->lds) {
    enter_global(part);
    return;
  }
  struct weak_wave *x = op->wave->weak;
  part->after = NULL;
  if (x->lds_head) x->lds_tail->after = part;
  else x->lds_head = part;
  x->lds_tail = part;
  op->lds++;
}

/* --- operations --------------------------------------------------------------------------------------------------- */

struct weak_op *weak_op_new(struct wave *w, const struct inst *i) {
  struct weak_wave *x = w->weak;
  struct weak_op *op = spare_ops;
  if (op) spare_ops = op->older;
  else op = malloc(sizeof *op);
  if (!op) abort();
  memset(op, 0, offsetof(struct weak_op, last));
  op->wave = w;
  op->chip = x->chip;
  op->at = i;
  op->cu = x->cu;
  op->older = x->youngest;
  if (x->youngest) x->youngest->younger = op;
  else x->oldest = op;
  x->youngest = op;
  x->length++;
  while (x->length > MOST_OUTSTANDING) weak_retire(x->oldest);
  return op;
}

/* Drains its channels up to its last request in each. */
static void drain_for(struct weak_op *op) {
  for (uint32_t rest = op->channels; rest; rest &= rest - 1) {
    unsigned k = (unsigned)__builtin_ctz(rest);
    const struct channel *c = &channels[op->cu][k];
    uint32_t last = op->last[k];
    while (c->head && (int32_t)(c->head->number - last) <= 0) drain_one(op->cu, k);
  }
}

void weak_perform(struct weak_op *op) {
  struct wave *w = op->wave;
  if (op->requests) drain_for(op);
  while (op->lds) weak_lds(w, 1);
  if (op->writes_back) {
    for (struct weak_op *o = op->older; o; o = o->older) weak_perform(o);
    cache_write_back(op->chip, op->cu);
    op->writes_back = false;
  }
}

void weak_deliver(struct weak_op *op) {
  struct wave *w = op->wave;
  struct weak_wave *x = w->weak;
  if (op->saved) {
    weak_replay(op);
    weak_forget(op);
    return;
  }
  w->weak = NULL;
  for (struct weak_part *part = op->parts; part; part = part->next) {
    if (part->access == WEAK_UPDATE && part->returns) {
      unsigned n = part->build->lanes;
      for (unsigned row = 0; row < part->bits / 32u; row++)
        for (uint64_t rest = part->lanes; rest; rest &= rest - 1) {
          unsigned lane = (unsigned)__builtin_ctzll(rest);
          w->v[(part->inst.dst + row) * n + lane] = (&part->rows[0][0])[row * n + lane];
        }
    } else if (part->access == WEAK_LOAD) {
      uint64_t p[64];
      for (unsigned lane = 0; lane < 64; lane++) p[lane] = (uint64_t)(uintptr_t)loaded(part, lane);
      part->build->weak_lanes(w, &part->inst, p, part->lanes, WEAK_LOAD, part->kind, part->bits, false);
    }
  }
  w->weak = x;
}

void weak_retire(struct weak_op *op) {
  weak_perform(op);
  if (op->pending || op->saved) weak_deliver(op);
  if (op->pending) weak_unmark(op);
  weak_leave(op);
}

void weak_leave(struct weak_op *op) {
  struct weak_wave *x = op->wave->weak;
  if (op->older) op->older->younger = op->younger;
  else x->oldest = op->younger;
  if (op->younger) op->younger->older = op->older;
  else x->youngest = op->older;
  x->length--;
  op->wave = NULL;
  finish_op(op);
}

/* --- time ------------------------------------------------------------------------------------------------------------ */

bool weak_linger(struct wave *w) {
  struct weak_wave *x = w->weak;
  bool open = x->oldest && (queued[x->cu] || x->lds_head);
  if (!x->rest && (!open || weak_chance(2))) return false;
  w->changes++;
  if (x->rest) return x->rest--;
  if (weak_chance(16)) x->rest = (uint8_t)weak_below(128);
  for (unsigned k = 0, some = weak_below(UINT32_MAX), most = 1 + weak_below(8); k < WEAK_CHANNELS; k++)
    for (unsigned n = some >> k & 1 ? most : 0; n && drain_one(x->cu, k);) n--;
  if (weak_chance(2)) weak_lds(w, 1 + weak_below(3));
  return true;
}

void weak_tick(struct wave *w) {
  if (weak_chance(3)) {
    unsigned cu = weak_below(WEAK_CUS);
    if (weak_chance(16)) stalled[cu] = weak_chance(3) ? 0 : weak_chance(2) ? UINT32_MAX : weak_below(1u << 31) << 1 | weak_below(2);
    for (unsigned n = queued[cu] ? weak_below(6) : 0; n; n--) {
      unsigned k = weak_below(WEAK_CHANNELS);
      for (unsigned tries = 0; tries < WEAK_CHANNELS && (!channels[cu][k].head || stalled[cu] >> k & 1); tries++)
        k = (k + 1) % WEAK_CHANNELS;
      if (!(stalled[cu] >> k & 1)) drain_one(cu, k);
    }
    if (weak_chance(8)) cache_evict(cu);
  }
  if (w->weak->lds_head && weak_chance(4)) weak_lds(w, 1 + weak_below(3));
  struct weak_op *op = w->weak->youngest;
  if (op && op->writes_back && weak_chance(32)) weak_perform(op);
}
