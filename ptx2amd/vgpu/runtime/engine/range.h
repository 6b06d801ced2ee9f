/* Ranges given by programs: sizes, pitches and positions may have any value, and nothing here wraps around. Used by the
 * software GPU and the shim. */
#ifndef PTX2AMD_RANGE_H
#define PTX2AMD_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* Whether `count` elements of `bytes` bytes from `at` on do not wrap around the address space. */
static inline bool range_fits(uint64_t at, size_t count, size_t bytes) {
  size_t size, end;
  return !__builtin_mul_overflow(count, bytes, &size) && !__builtin_add_overflow(at, size, &end);
}

/* [at, at + size) lies in [base, base + length), which does not wrap. */
static inline bool range_within(uint64_t at, size_t size, uint64_t base, size_t length) {
  return at >= base && at - base <= length && size <= length - (at - base);
}

/* All of its pages are mapped in this process, for whatever purpose. */
static inline bool range_mapped(uint64_t at, size_t size) {
  enum { PAGE_BYTES = 4096, AT_ONCE = 1024 };
  unsigned char resident[AT_ONCE];
  if (!range_fits(at, size, 1)) return false;
  for (uint64_t page = at & ~(uint64_t)(PAGE_BYTES - 1), end = at + size; page < end;) {
    uint64_t left = end - page, part = left < AT_ONCE * PAGE_BYTES ? left : AT_ONCE * PAGE_BYTES;
    if (mincore((void *)page, part, resident)) return false;
    if (part == left) break;
    page += part;
  }
  return true;
}

/* SIZE_MAX: too large. A box with such a slice has no extent unless it lies in the first slice. */
static inline size_t size_times(size_t a, size_t b) {
  size_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/* A box in pitched memory. x, width and the pitches of rows and slices are in bytes. */
struct box {
  size_t x, y, z, width, height, depth, pitch, slice;
};

/* Offsets of the box's first byte and of the byte after its last one; an empty box is at 0. False: they exceed size_t.
 * */
static inline bool box_extent(const struct box *b, size_t *first, size_t *end) {
  size_t x, y, z, row, rows, slices;
  *first = *end = 0;
  if (!b->width || !b->height || !b->depth) return true;
  if (__builtin_add_overflow(b->x, b->width, &x) || __builtin_add_overflow(b->y, b->height - 1, &y) ||
      __builtin_add_overflow(b->z, b->depth - 1, &z) || __builtin_mul_overflow(y, b->pitch, &rows) ||
      __builtin_mul_overflow(z, b->slice, &slices) || __builtin_add_overflow(x, rows, &row) ||
      __builtin_add_overflow(row, slices, end))
    return false;
  *first = b->z * b->slice + b->y * b->pitch + b->x;
  return true;
}
#endif
