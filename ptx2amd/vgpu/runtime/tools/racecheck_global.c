/* Races in global memory: two warps of a launch access a byte, one of them writes, and nothing orders the accesses.
 * Within a workgroup the clocks of racecheck.c decide. Between workgroups only atomic operations and volatile or
 * stronger accesses establish order; here any of them does, whatever its address: two accesses are ordered if both
 * workgroups have made one since the first access. Every report is a race, but not every race is reported. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "tools.h"

enum { READERS = 2, WORDS = 1024, PAGE_BITS = 12, LOW_BITS = 18, HIGH_BITS = 47 - PAGE_BITS - LOW_BITS };
#define MOST_PAGES (UINT64_C(65536))      /* 4 GiB of shadow for 256 MiB of device memory */

struct access {
  uint32_t run, group, time;              /* run 0: none; time: of the launch's clock */
  uint32_t clock;                         /* number of the warp in its workgroup */
  uint8_t warp, bytes, atomic;            /* bytes: bit per byte of the word */
};
struct word { struct access write, read[READERS]; uint32_t value; };
struct page { atomic_flag lock; struct word words[WORDS]; };
struct table { _Atomic(struct page *) pages[1 << LOW_BITS]; };

static _Atomic(struct table *) tables[1 << HIGH_BITS];
static _Atomic uint64_t pages, unseen;

struct race_run {
  _Atomic uint32_t clock;
  _Atomic uint32_t last[];                /* by workgroup: its last operation that establishes order */
};

struct race_run *race_run_new(uint64_t groups) { return calloc(1, sizeof(struct race_run) + groups * sizeof(uint32_t)); }

void race_run_free(struct race_run *r) { free(r); }

uint64_t race_unseen(void) { return atomic_load(&unseen) << PAGE_BITS; }

/* The pointer in *slot, created at first use; NULL: out of memory. */
static void *made(_Atomic(void *) *slot, size_t size) {
  void *p = atomic_load_explicit(slot, memory_order_acquire), *none = NULL;
  if (p || !(p = calloc(1, size))) return p;
  if (atomic_compare_exchange_strong(slot, &none, p)) return p;
  free(p);
  return none;
}

static struct page *page_of(uint64_t address) {
  if (address >> 47) return NULL;
  struct table *table = made((_Atomic(void *) *)&tables[address >> (PAGE_BITS + LOW_BITS)], sizeof *table);
  if (!table) return NULL;
  _Atomic(struct page *) *slot = &table->pages[address >> PAGE_BITS & ((1u << LOW_BITS) - 1)];
  struct page *page = atomic_load_explicit(slot, memory_order_acquire);
  if (page) return page;
  if (atomic_fetch_add(&pages, 1) < MOST_PAGES) page = made((_Atomic(void *) *)slot, sizeof *page);
  if (!page) atomic_fetch_add(&unseen, 1);
  return page;
}

static void order(struct wave *w) {
  struct race_run *r = w->wg->run->races;
  if (r) atomic_store(&r->last[workgroup_index(w->wg)], atomic_fetch_add(&r->clock, 1) + 1);
}

/* Recorded before the operation, because others may see its write at once; and after it, because until then it may read
 * values that others write. */
void race_global_order(struct wave *w) {
  order(w);
  w->wg->shadow->orders = true;
}

void race_global_done(struct wave *w) {
  if (!w->wg->shadow->orders) return;
  w->wg->shadow->orders = false;
  order(w);
}

struct here { const struct run *run; struct race *race; uint32_t group; unsigned warp; };

/* Whether an access to some of the bytes is unordered with the current one. */
static bool open(const struct here *h, const struct access *a, unsigned bytes) {
  if (a->run != (uint32_t)h->run->number || !(a->bytes & bytes)) return false;
  if (a->group == h->group) return !race_ordered(h->race, h->warp, a->warp, a->clock);
  const struct race_run *r = h->run->races;
  return atomic_load(&r->last[a->group]) <= a->time || atomic_load(&r->last[h->group]) <= a->time;
}

static void describe(const struct here *h, const char *what, const struct access *a, const char *how, char *text, size_t size) {
  const uint32_t *n = h->run->d->grid;
  snprintf(text, size, "%s by warp %u after a %s by warp %u of block (%u,%u,%u)", what, h->warp, how, a->warp, a->group % n[0],
           a->group / n[0] % n[1], a->group / n[0] / n[1]);
}

static bool word_access(const struct here *h, struct word *c, unsigned bytes, unsigned how, uint32_t value, char *text,
                        size_t size) {
  bool found = false, writes = how & ACCESS_WRITES, atomic = how & ACCESS_ATOMIC;
  uint32_t mask = 0;
  for (unsigned k = 0; k < 4; k++) mask |= bytes >> k & 1 ? 0xffu << 8 * k : 0;
  bool same = writes && !atomic && !c->write.atomic && (c->write.bytes & bytes) == bytes && !((c->value ^ value) & mask);
  bool polls = !writes && c->write.atomic;
  if (!same && !polls && !(atomic && c->write.atomic) && open(h, &c->write, bytes)) {
    describe(h, writes ? "write" : "read", &c->write, "write", text, size);
    found = true;
  }
  for (int k = 0; k < READERS && writes && !atomic && !found; k++)
    if (open(h, &c->read[k], bytes)) {
      describe(h, "write", &c->read[k], "read", text, size);
      found = true;
    }
  struct access now = {
    .run = (uint32_t)h->run->number, .group = h->group, .time = atomic_load(&h->run->races->clock),
    .clock = race_clock(h->race, h->warp), .warp = (uint8_t)h->warp, .bytes = (uint8_t)bytes, .atomic = atomic,
  };
  if (writes) {
    c->write = now;
    c->value = (c->value & ~mask) | (value & mask);
    return found;
  }
  struct access *slot = &c->read[0];   /* its own entry, one of an earlier launch, or the oldest */
  for (int k = 0; k < READERS; k++)
    if (c->read[k].run != now.run || (c->read[k].group == now.group && c->read[k].warp == now.warp)) slot = &c->read[k];
  if (slot->run == now.run && slot->group == now.group && slot->warp == now.warp) now.bytes |= slot->bytes;
  else if (slot == &c->read[0]) c->read[0] = c->read[1], slot = &c->read[1];
  *slot = now;
  return found;
}

bool race_global(struct wave *w, unsigned warp, uint64_t address, unsigned bytes, unsigned how, const uint8_t *value,
                 char *text, size_t size) {
  const struct run *run = w->wg->run;
  uint64_t lo, hi;
  uint32_t flags;   /* the device libraries' protocols order more than is observed here */
  if (mem_range(address, &lo, &hi, &flags) && MEM_KIND(flags) == MEM_RUNTIME) return false;
  const struct here h = {run, w->wg->shadow->race, workgroup_index(w->wg), warp};
  bool found = false, polled = false;
  for (uint64_t at = address & ~UINT64_C(3); run->races && at < address + bytes; at += 4) {
    unsigned touched = 0;
    uint32_t word = 0;
    for (unsigned k = 0; k < 4; k++)
      if (at + k >= address && at + k < address + bytes) {
        touched |= 1u << k;
        word |= (uint32_t)value[at + k - address] << 8 * k;
      }
    struct page *page = page_of(at);
    if (!page) return found;
    while (atomic_flag_test_and_set_explicit(&page->lock, memory_order_acquire)) {}
    struct word *c = &page->words[at / 4 % WORDS];
    polled |= !(how & ACCESS_WRITES) && c->write.atomic && c->write.run == (uint32_t)run->number;
    if (!found) found = word_access(&h, c, touched, how, word, text, size);
    else word_access(&h, c, touched, how, word, (char[160]){0}, 160);
    atomic_flag_clear_explicit(&page->lock, memory_order_release);
  }
  if (polled) {   /* it reads a counter of another workgroup */
    race_atomic(h.race, warp);
    race_global_order(w);
  }
  return found;
}
