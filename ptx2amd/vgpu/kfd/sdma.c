/* Packets of the copy engines (SDMA). Pointers into the ring are byte counts that only grow; a packet never crosses the
 * ring's end. */
#include <string.h>

#include "kfd.h"

enum operation {
  SDMA_NOP = 0, SDMA_COPY = 1, SDMA_FENCE = 5, SDMA_TRAP = 6, SDMA_POLL = 8, SDMA_ATOMIC = 10, SDMA_FILL = 11,
  SDMA_TIMESTAMP = 13, SDMA_CACHE_CONTROL = 17,
};
enum { COPY_LINEAR = 0, COPY_RECTANGLE = 4, ATOMIC_ADD64 = 47 };

static uint64_t address(const uint32_t *p) { return p[0] | (uint64_t)p[1] << 32; }
static uint64_t bits(uint32_t word, unsigned low, unsigned count) { return word >> low & ((UINT64_C(1) << count) - 1); }

/* One side of a rectangular copy: its first element, and the pitches of rows and slices in bytes. */
struct side { char *base; uint64_t pitch, slice; };

/* Positions of a rectangle's fields; GFX12 has other widths than earlier chips. */
struct rectangle_form { unsigned xy, xy_high, z, pitch_low, pitch, slice; };
static const struct rectangle_form before_gfx12 = {14, 16, 11, 13, 19, 28}, gfx12 = {16, 16, 14, 16, 16, 32};

static struct side side_of(const uint32_t *p, const struct rectangle_form *f, unsigned element) {
  uint64_t pitch = (bits(p[3], f->pitch_low, f->pitch) + 1) << element, slice = (bits(p[4], 0, f->slice) + 1) << element;
  uint64_t x = bits(p[2], 0, f->xy) << element, y = bits(p[2], f->xy_high, f->xy), z = bits(p[3], 0, f->z);
  return (struct side){(char *)address(p) + x + y * pitch + z * slice, pitch, slice};
}

static void copy_rectangle(const struct queue *q, const uint32_t *p) {
  const struct rectangle_form *f = q->gpu->arch->generation == 3 ? &gfx12 : &before_gfx12;
  unsigned element = p[0] >> 29;
  struct side from = side_of(p + 1, f, element), to = side_of(p + 6, f, element);
  uint64_t width = (bits(p[11], 0, f->xy) + 1) << element, height = bits(p[11], f->xy_high, f->xy) + 1;
  uint64_t depth = bits(p[12], 0, f->z) + 1;
  for (uint64_t z = 0; z < depth; z++)
    for (uint64_t y = 0; y < height; y++)
      memmove(to.base + z * to.slice + y * to.pitch, from.base + z * from.slice + y * from.pitch, width);
}

static void fill(const uint32_t *p) {
  unsigned unit = p[0] >> 30;   /* log2 of the bytes */
  uint64_t n = (bits(p[4], 0, 30) >> unit) + 1;
  char *to = (char *)address(p + 1);
  for (uint64_t k = 0; k < n; k++) memcpy(to + (k << unit), p + 3, (size_t)1 << unit);
}

static bool poll_met(const uint32_t *p) {
  uint32_t is = *(volatile uint32_t *)address(p + 1) & p[4], want = p[3];
  switch (p[0] >> 28 & 7) {
    case 1: return is < want;
    case 2: return is <= want;
    case 3: return is == want;
    case 4: return is != want;
    case 5: return is >= want;
    case 6: return is > want;
    default: return true;
  }
}

/* An unmapped address requests a flush of the host's data path instead. */
static bool is_flush(const uint32_t *p) { return p[0] >> 26 & 1 || address(p + 1) >> 63; }

/* False: the queue is being destroyed. */
static bool poll(struct queue *q, const uint32_t *p) {
  if (is_flush(p)) return true;
  for (struct pause pause = {0}; !poll_met(p); pause_a_while(&pause))
    if (atomic_load_explicit(&q->stop, memory_order_relaxed)) return false;
  return true;
}

/* Dwords of the packet; 0: unknown. */
static unsigned length(const uint32_t *p) {
  switch ((enum operation)(p[0] & 0xff)) {
    case SDMA_NOP: return 1 + (unsigned)bits(p[0], 16, 14);
    case SDMA_COPY:
      switch (bits(p[0], 8, 8)) {
        case COPY_LINEAR: return 7;
        case COPY_RECTANGLE: return 13;
        default: return 0;
      }
    case SDMA_FENCE: return 4;
    case SDMA_TRAP: return 2;
    case SDMA_POLL: return 6;
    case SDMA_ATOMIC: return p[0] >> 25 == ATOMIC_ADD64 ? 8 : 0;
    case SDMA_FILL: return 5;
    case SDMA_TIMESTAMP: return 3;
    case SDMA_CACHE_CONTROL: return 5;
  }
  return 0;
}

/* False: the queue is being destroyed. */
static bool execute(struct queue *q, const uint32_t *p) {
  switch ((enum operation)(p[0] & 0xff)) {
    case SDMA_COPY:
      if (bits(p[0], 8, 8) == COPY_RECTANGLE) copy_rectangle(q, p);
      else memmove((void *)address(p + 5), (const void *)address(p + 3), bits(p[1], 0, 30) + 1);
      return true;
    case SDMA_FENCE: __atomic_store_n((uint32_t *)address(p + 1), p[3], __ATOMIC_RELEASE); return true;
    case SDMA_TRAP: event_set((uint32_t)bits(p[1], 0, 28)); return true;
    case SDMA_POLL: return poll(q, p);
    case SDMA_ATOMIC: __atomic_fetch_add((uint64_t *)address(p + 1), address(p + 3), __ATOMIC_ACQ_REL); return true;
    case SDMA_FILL: fill(p); return true;
    case SDMA_TIMESTAMP: *(volatile uint64_t *)address(p + 1) = ticks(); return true;
    default: return true;
  }
}

bool sdma_run(struct queue *q) {
  uint64_t first = q->done;
  for (;;) {
    uint64_t written = __atomic_load_n((uint64_t *)q->write_pointer, __ATOMIC_ACQUIRE);
    if (q->done >= written || atomic_load_explicit(&q->stop, memory_order_relaxed)) break;
    const uint32_t *p = (const uint32_t *)(q->ring + q->done % q->size);
    unsigned dwords = length(p);
    if (!dwords) {
      complain("a copy engine's packet is not known: 0x%08x", p[0]);
      q->failed = true;
      break;
    }
    if (!execute(q, p)) break;
    q->done += dwords * 4;
    __atomic_store_n((uint64_t *)q->read_pointer, q->done, __ATOMIC_RELEASE);
  }
  return q->done != first;
}
