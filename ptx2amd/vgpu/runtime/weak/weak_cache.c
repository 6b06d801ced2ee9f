/* Caches of the weak-memory mode. A line records for each byte whether it is valid and whether it is dirty; in a full
 * set a new line evicts another. Memory is the host's memory; on chips with one L2 that L2 is part of it, except for
 * coarse-grained memory of the host. */
#include <string.h>

#include "memory.h"
#include "weak.h"

struct line {
  uint64_t address, valid, dirty;
  uint32_t epoch;              /* older than the cache's: only dirty bytes are valid */
  uint8_t data[WEAK_LINE];
};
enum { L0_LINES = 128, L2_LINES = 2048 };
struct cache {
  uint32_t epoch, lines;
  uint32_t n_dirty;
  struct line *line;
  uint16_t *dirty;             /* lines that have been dirty since the last write-back */
};

static struct line l0_lines[WEAK_CUS][L0_LINES], middle_lines[WEAK_PARTS][L0_LINES], scalar_lines[WEAK_CUS / 2][L0_LINES],
    l2_lines[WEAK_PARTS][L2_LINES];
static uint16_t dirty_lines[WEAK_PARTS][L2_LINES];
#define CACHE(of) {.lines = L0_LINES, .line = of}
#define L2(k) {.lines = L2_LINES, .line = l2_lines[k], .dirty = dirty_lines[k]}
static struct cache l0[WEAK_CUS] = {CACHE(l0_lines[0]), CACHE(l0_lines[1]), CACHE(l0_lines[2]), CACHE(l0_lines[3]),
                                    CACHE(l0_lines[4]), CACHE(l0_lines[5]), CACHE(l0_lines[6]), CACHE(l0_lines[7])};
static struct cache middle[WEAK_PARTS] = {CACHE(middle_lines[0]), CACHE(middle_lines[1])};
static struct cache scalar[WEAK_CUS / 2] = {CACHE(scalar_lines[0]), CACHE(scalar_lines[1]), CACHE(scalar_lines[2]),
                                            CACHE(scalar_lines[3])};
static struct cache l2[WEAK_PARTS] = {L2(0), L2(1)};

static unsigned part_of(unsigned cu) { return cu / (WEAK_CUS / WEAK_PARTS); }
static struct cache *l2_of(const struct weak_chip *chip, unsigned cu) { return &l2[chip->dies ? part_of(cu) : 0]; }

/* Fine-grained memory bypasses L2, or is kept coherent in it: stores are written through, and remote stores invalidate. */
bool cache_has(const struct weak_chip *chip, uint64_t address) {
  uint64_t lo, hi;
  uint32_t flags;
  if (!chip->dies && !chip->remote) return false;
  if (!mem_range(address, &lo, &hi, &flags) || mem_is_fine(flags)) return false;
  return chip->dies || !mem_is_device(flags);
}

/* --- bytes -------------------------------------------------------------------------------------------- */

/* Copies the bytes in mask; aligned pairs of dwords and dwords in one access, as chips do. */
static void copy(uint8_t *to, const uint8_t *from, uint64_t mask) {
  for (unsigned k = 0; mask; k += 8, mask >>= 8) {
    unsigned some = mask & 0xff;
    if (some == 0xff) memcpy(to + k, from + k, 8);
    else
      for (unsigned half = 0; half < 8; half += 4) {
        if ((some >> half & 15) == 15) memcpy(to + k + half, from + k + half, 4);
        else
          for (unsigned b = half; b < half + 4; b++)
            if (some >> b & 1) to[k + b] = from[k + b];
      }
  }
}

static uint8_t *memory(uint64_t line) { return (uint8_t *)(uintptr_t)line; }

/* --- pages ------------------------------------------------------------------------------------------------ */

/* Pages in the order of their first access since the last reset: so that a seed has the same effect whatever addresses
 * the system chooses. */
enum { PAGE_BITS = 12, PAGES = 1 << 16 };
static uint64_t pages[PAGES];    /* open addressing */
static uint32_t numbers[PAGES], n_pages;

static uint64_t page_number(uint64_t page) {
  static uint64_t last, last_number;
  if (page == last && n_pages) return last_number;
  uint32_t at = (uint32_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 48);
  while (pages[at] && pages[at] != page) at = (at + 1) % PAGES;
  if (!pages[at]) {
    if (n_pages == PAGES / 2) return page;   /* too many: a seed may not repeat a run */
    pages[at] = page;
    numbers[at] = n_pages++;
  }
  last = page;
  return last_number = numbers[at];
}

uint64_t weak_hash(uint64_t line) {
  uint64_t place = page_number(line >> PAGE_BITS) << PAGE_BITS | (line & ((1u << PAGE_BITS) - 1));
  return (place / WEAK_LINE + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* --- one cache ----------------------------------------------------------------------------------------- */

static uint32_t place(const struct cache *c, uint64_t address) {
  return (uint32_t)(weak_hash(address) >> 40) % c->lines;
}

static void refresh(const struct cache *c, struct line *l) {
  if (l->epoch == c->epoch) return;
  l->epoch = c->epoch;
  l->valid = l->dirty;
}

static struct line *find(struct cache *c, uint64_t address) {
  struct line *l = &c->line[place(c, address)];
  if (l->address != address) return NULL;
  refresh(c, l);
  return l;
}

static void clean(struct line *l) {
  copy(memory(l->address), l->data, l->dirty);
  l->dirty = 0;
}

/* The line for the address, after evicting another one if necessary. */
static struct line *room(struct cache *c, uint64_t address) {
  struct line *l = &c->line[place(c, address)];
  if (l->address == address) return refresh(c, l), l;
  clean(l);
  *l = (struct line){.address = address, .epoch = c->epoch};
  return l;
}

static void drop(struct cache *c) { c->epoch++; }

static void write_back(struct cache *c) {
  for (uint32_t k = 0; k < c->n_dirty; k++) clean(&c->line[c->dirty[k]]);
  c->n_dirty = 0;
}

/* Bytes that the cache's own clients write without going through it. */
static void pass(struct cache *c, uint64_t address, uint64_t mask, const uint8_t *data) {
  struct line *l = find(c, address);
  if (!l) return;
  copy(l->data, data, mask & l->valid);
  l->dirty &= ~mask;
}

/* --- the levels ------------------------------------------------------------------------------------------ */

static void load_l2(const struct weak_chip *chip, unsigned cu, uint64_t line, uint64_t mask, bool past, bool cached,
                    uint8_t *data) {
  if (!cached) {
    copy(data, memory(line), mask);
    return;
  }
  struct cache *c = l2_of(chip, cu);
  struct line *l = room(c, line);
  if (past || (mask & ~l->valid)) {   /* dirty data here is newer than memory */
    copy(l->data, memory(line), ~l->dirty & (past ? ~UINT64_C(0) : ~l->valid));
    l->valid = ~UINT64_C(0);
  }
  copy(data, l->data, mask);
}

static void load_middle(const struct weak_chip *chip, unsigned cu, uint64_t line, uint64_t mask, unsigned past, bool cached,
                        uint8_t *data) {
  if (!chip->middle) {
    load_l2(chip, cu, line, mask, past & PAST_L2, cached, data);
    return;
  }
  struct line *l = room(&middle[part_of(cu)], line);
  if (past & PAST_MIDDLE || (mask & ~l->valid)) {
    load_l2(chip, cu, line, ~UINT64_C(0), past & PAST_L2, cached, l->data);
    l->valid = ~UINT64_C(0);
  }
  copy(data, l->data, mask);
}

/* A load that misses fetches the whole line. */
void cache_load(const struct weak_chip *chip, unsigned cu, uint64_t line, uint64_t mask, unsigned past, bool cached,
                uint8_t *data) {
  struct line *l = room(&l0[cu], line);
  if (past & PAST_L0 || (mask & ~l->valid)) {
    load_middle(chip, cu, line, ~UINT64_C(0), past, cached, l->data);
    l->valid = ~UINT64_C(0);
  }
  copy(data, l->data, mask);
}

void cache_store(const struct weak_chip *chip, unsigned cu, uint64_t line, uint64_t mask, unsigned past, bool cached,
                 const uint8_t *data) {
  pass(&l0[cu], line, mask, data);
  if (chip->middle) pass(&middle[part_of(cu)], line, mask, data);
  if (!cached) {
    copy(memory(line), data, mask);
    return;
  }
  struct cache *c = l2_of(chip, cu);
  if (past & PAST_L2) {
    copy(memory(line), data, mask);
    pass(c, line, mask, data);
    return;
  }
  struct line *l = room(c, line);
  copy(l->data, data, mask);
  if (!l->dirty) {
    if (c->n_dirty == c->lines) write_back(c);
    c->dirty[c->n_dirty++] = (uint16_t)place(c, line);
  }
  l->valid |= mask;
  l->dirty |= mask;
}

void cache_update(const struct weak_chip *chip, unsigned cu, uint64_t line) {
  struct line *l;
  if ((l = find(&l0[cu], line))) l->valid = 0;
  if (chip->middle && (l = find(&middle[part_of(cu)], line))) l->valid = 0;
  if ((chip->dies || chip->remote) && (l = find(l2_of(chip, cu), line))) {
    clean(l);
    l->valid = 0;
  }
}

uint32_t cache_scalar(const struct weak_chip *chip, unsigned cu, uint64_t address, bool cached) {
  uint64_t line = address & ~(uint64_t)(WEAK_LINE - 1), at = address - line;
  struct line *l = room(&scalar[cu / 2], line);
  if (~l->valid >> at & 15) {
    load_middle(chip, cu, line, ~UINT64_C(0), 0, cached, l->data);
    l->valid = ~UINT64_C(0);
  }
  uint32_t value;
  memcpy(&value, l->data + at, 4);
  return value;
}

void cache_drop_l0(unsigned cu) { drop(&l0[cu]); }
void cache_drop_middle(unsigned cu) { drop(&middle[part_of(cu)]); }
void cache_drop_scalar(unsigned cu) { drop(&scalar[cu / 2]); }
void cache_drop_l2(const struct weak_chip *chip, unsigned cu) { drop(l2_of(chip, cu)); }
void cache_write_back(const struct weak_chip *chip, unsigned cu) { write_back(l2_of(chip, cu)); }

static bool keeps;   /* lines stay until something drops them */

void cache_evict(unsigned cu) {
  if (keeps) return;
  struct line *l = &l0[cu].line[weak_below(L0_LINES)];
  l->valid = 0;
  l = &middle[part_of(cu)].line[weak_below(L0_LINES)];
  l->valid = 0;
  struct cache *c = &l2[part_of(cu)];
  if (!c->n_dirty) return;
  uint32_t k = weak_below(c->n_dirty);
  clean(&c->line[c->dirty[k]]);
  c->dirty[k] = c->dirty[--c->n_dirty];
}

void cache_reset(void) {
  keeps = weak_chance(3);
  memset(pages, 0, sizeof pages);
  n_pages = 0;
  for (unsigned cu = 0; cu < WEAK_CUS; cu++) cache_drop_l0(cu), cache_drop_scalar(cu);
  for (unsigned k = 0; k < WEAK_PARTS; k++) write_back(&l2[k]), drop(&l2[k]), drop(&middle[k]);
}

/* --- cache behaviour from the bits of an instruction -------------------------------------------------------------- */

static const struct weak_chip chips[] = {
  {"gfx90a", .remote = true},
  {"gfx94", .dies = true, .scopes = true},
  {"gfx950", .dies = true, .scopes = true},
  {"gfx9", .dies = false},
  {"gfx8", .dies = false},
  {"gfx10", .middle = true, .pairs = true},
  {"gfx11", .middle = true, .pairs = true},
  {"gfx120", .middle = true, .scopes = true, .pairs = true, .remote = true},
  {"gfx125", .dies = true, .scopes = true},
};

const struct weak_chip *weak_chip(const char *arch) {
  for (size_t k = 0; k < sizeof chips / sizeof *chips; k++)
    if (!strncmp(arch, chips[k].prefix, strlen(chips[k].prefix))) return &chips[k];
  return NULL;
}

unsigned weak_scope(const struct inst *i) {
  if (i->op->generation == 3) return i->flags >> FLAG_SCOPE_SHIFT & 3;
  return (i->flags & FLAG_GLC ? 1u : 0) | (i->flags & FLAG_DLC ? 2u : 0);
}

unsigned weak_past(const struct weak_chip *chip, const struct inst *i, bool store) {
  unsigned scope = weak_scope(i), past = 0;
  if (chip->dies) return scope & 2 ? PAST_L0 | PAST_L2 : 0;   /* a workgroup runs on one CU */
  if (chip->scopes) return scope == 0 ? 0 : scope == 1 ? PAST_L0 : PAST_L0 | PAST_MIDDLE | (scope == 3 ? PAST_L2 : 0);
  if (store) return 0;
  if (i->flags & FLAG_GLC) past |= i->op->generation == 2 ? PAST_L0 | PAST_MIDDLE : PAST_L0;
  if (i->flags & FLAG_DLC && i->op->generation == 1) past |= PAST_MIDDLE;
  return past;
}
