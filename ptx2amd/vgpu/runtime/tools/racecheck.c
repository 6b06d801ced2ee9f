/* Races in LDS: two warps of a workgroup access a byte, one of them writes, and nothing orders the accesses. Barriers
 * and atomic operations establish order; each warp has a vector clock, each byte a record of its last accesses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

enum { WARPS = 32, READERS = 2 };

struct cell {
  uint32_t written, read[READERS];   /* the warp's clock at that time */
  uint8_t writer, reader[READERS];   /* warp + 1, 0: none */
  uint8_t atomic, value;
};

struct race {
  uint32_t bytes;
  uint32_t clock[WARPS][WARPS];      /* [w][u]: warp w's knowledge of u's clock */
  uint32_t released[WARPS];          /* by atomic operations */
  struct cell cells[];
};

struct race *race_new(uint32_t lds_bytes) {
  struct race *r = calloc(1, sizeof *r + lds_bytes * sizeof *r->cells);
  if (r) r->bytes = lds_bytes;
  return r;
}

void race_free(struct race *r) { free(r); }

void race_start(struct race *r) {
  memset(r->clock, 0, sizeof r->clock);
  memset(r->released, 0, sizeof r->released);
  memset(r->cells, 0, r->bytes * sizeof *r->cells);
  for (int w = 0; w < WARPS; w++) r->clock[w][w] = 1;
}

static void join(uint32_t *to, const uint32_t *from) {
  for (int u = 0; u < WARPS; u++)
    if (from[u] > to[u]) to[u] = from[u];
}

void race_barrier(struct race *r) {
  uint32_t all[WARPS] = {0};
  for (int w = 0; w < WARPS; w++) join(all, r->clock[w]);
  for (int w = 0; w < WARPS; w++) {
    memcpy(r->clock[w], all, sizeof all);
    r->clock[w][w]++;
  }
}

void race_atomic(struct race *r, unsigned warp) {
  uint32_t *mine = r->clock[warp % WARPS];
  join(mine, r->released);
  join(r->released, mine);
  mine[warp % WARPS]++;
}

/* Whether an access by warp + 1 at that time is unordered with the current one. */
static bool open(const uint32_t *mine, unsigned warp, uint8_t other, uint32_t time) {
  return other && other != warp + 1 && mine[other - 1] < time;
}

bool race_ordered(const struct race *r, unsigned warp, unsigned other, uint32_t time) {
  return !open(r->clock[warp % WARPS], warp % WARPS, (uint8_t)(other + 1), time);
}

uint32_t race_clock(const struct race *r, unsigned warp) { return r->clock[warp % WARPS][warp % WARPS]; }

static void remember_read(struct cell *c, unsigned warp, uint32_t time) {
  for (int k = 0; k < READERS; k++)
    if (c->reader[k] == warp + 1 || !c->reader[k]) {
      c->reader[k] = (uint8_t)(warp + 1);
      c->read[k] = time;
      return;
    }
  memmove(&c->reader[0], &c->reader[1], READERS - 1);   /* replaces the oldest */
  memmove(&c->read[0], &c->read[1], (READERS - 1) * sizeof c->read[0]);
  c->reader[READERS - 1] = (uint8_t)(warp + 1);
  c->read[READERS - 1] = time;
}

bool race_access(struct race *r, unsigned warp, uint32_t offset, unsigned bytes, unsigned how, const uint8_t *value,
                 char *text, size_t size) {
  bool found = false, polled = false;
  warp %= WARPS;
  uint32_t *mine = r->clock[warp];
  for (unsigned k = 0; k < bytes && offset + k < r->bytes; k++) {
    struct cell *c = &r->cells[offset + k];
    bool both_atomic = c->atomic && (how & ACCESS_ATOMIC);
    if (!(how & ACCESS_WRITES) && c->atomic && !polled) {   /* polls a counter of another warp */
      join(mine, r->released);
      polled = true;
    }
    bool same = (how & ACCESS_WRITES) && !(how & ACCESS_ATOMIC) && !c->atomic && c->value == value[k];
    if (!both_atomic && !same && !found && open(mine, warp, c->writer, c->written) &&
        !(!(how & ACCESS_WRITES) && c->atomic)) {
      snprintf(text, size, "%s by warp %u at offset 0x%x, after a write by warp %u",
               how & ACCESS_WRITES ? "write" : "read", warp, offset + k, c->writer - 1);
      found = true;
    }
    if (how & ACCESS_WRITES)
      for (int n = 0; n < READERS && !found && !(how & ACCESS_ATOMIC); n++)
        if (open(mine, warp, c->reader[n], c->read[n])) {
          snprintf(text, size, "write by warp %u at offset 0x%x, after a read by warp %u", warp, offset + k, c->reader[n] - 1);
          found = true;
        }
    if (how & ACCESS_WRITES) {
      c->writer = (uint8_t)(warp + 1);
      c->written = mine[warp];
      c->atomic = (how & ACCESS_ATOMIC) != 0;
      c->value = how & ACCESS_ATOMIC ? 0 : value[k];
    } else {
      remember_read(c, warp, mine[warp]);
    }
  }
  return found;
}
