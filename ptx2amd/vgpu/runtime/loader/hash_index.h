/* A hash index over elements that are stored elsewhere: from a hash to the numbers of elements. All zero: empty. */
#ifndef PTX2AMD_VGPU_HASH_INDEX_H
#define PTX2AMD_VGPU_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct hash_slot { uint32_t hash, number; };   /* number of the element, plus 1 */
struct hash_index {
  struct hash_slot *slots;
  size_t size, used;                           /* size: a power of 2 */
};

static inline uint32_t hash_string(const char *text) {
  uint64_t h = 0xcbf29ce484222325;
  for (; *text; text++) h = (h ^ (uint8_t)*text) * 0x100000001b3;
  return (uint32_t)(h ^ h >> 32);
}

static inline uint32_t hash_pointer(const void *p) { return (uint32_t)(((uint64_t)p >> 3) * 0x9e3779b97f4a7c15 >> 32); }

static inline void hash_slot_take(struct hash_index *t, struct hash_slot slot) {
  size_t at = slot.hash & (t->size - 1);
  while (t->slots[at].number) at = (at + 1) & (t->size - 1);
  t->slots[at] = slot;
}

/* False: out of memory. */
static inline bool hash_index_add(struct hash_index *t, uint32_t hash, size_t number) {
  if (2 * (t->used + 1) > t->size) {
    struct hash_index wider = {.size = t->size ? 2 * t->size : 64, .used = t->used};
    wider.slots = calloc(wider.size, sizeof *wider.slots);
    if (!wider.slots) return false;
    for (size_t k = 0; k < t->size; k++)
      if (t->slots[k].number) hash_slot_take(&wider, t->slots[k]);
    free(t->slots);
    *t = wider;
  }
  hash_slot_take(t, (struct hash_slot){hash, (uint32_t)number + 1});
  t->used++;
  return true;
}

/* The next candidate with this hash, with *cursor 0 at first; false: no more. */
static inline bool hash_index_next(const struct hash_index *t, uint32_t hash, size_t *cursor, size_t *number) {
  for (; *cursor < t->size; ++*cursor) {
    struct hash_slot slot = t->slots[(hash + *cursor) & (t->size - 1)];
    if (!slot.number) return false;
    if (slot.hash != hash) continue;
    *number = slot.number - 1;
    ++*cursor;
    return true;
  }
  return false;
}
#endif
