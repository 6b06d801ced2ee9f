/* Handles: objects live in one arena per kind, so that arithmetic alone decides whether a pointer from the program is
 * a live object, without touching memory that is not ours. */
#ifndef SHIM_HANDLE_H
#define SHIM_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum handle_kind {
  HANDLE_CONTEXT, HANDLE_MODULE, HANDLE_KERNEL, HANDLE_STREAM, HANDLE_EVENT, HANDLE_LINK, HANDLE_ARRAY, HANDLE_REFERENCE,
  HANDLE_PART, HANDLE_MIPMAP,
  HANDLE_KINDS
};

/* Slot sizes of the kinds of objects, in bytes; powers of two. */
enum handle_slot {
  SLOT_CONTEXT = 1024, SLOT_MODULE = 1024, SLOT_KERNEL = 2048, SLOT_STREAM = 512, SLOT_EVENT = 64, SLOT_LINK = 128,
  SLOT_ARRAY = 128, SLOT_REFERENCE = 512, SLOT_PART = 64, SLOT_MIPMAP = 512,
};
#define FITS(type, slot) _Static_assert(sizeof(type) <= slot, #type " does not fit its slot")

enum handle_state { HANDLE_FREE, HANDLE_LIVE, HANDLE_ENDING };

/* First member of every object. */
struct handle {
  uint32_t live;      /* enum handle_state */
  uint32_t next_free; /* slot number + 1 */
};

struct arena {
  uintptr_t base;
  uintptr_t span;   /* bytes of slots ever used */
  size_t slot;      /* bytes of a slot, a power of two */
};

extern struct arena arenas[HANDLE_KINDS];

/* A zeroed object with `live` set; NULL when memory or slots are exhausted. */
void *handle_new(enum handle_kind kind);
/* Claims an object for destruction: the handle is invalid afterwards. False if another thread has claimed it. */
bool handle_claim(void *object);
/* Frees the slot, claiming it first if that has not been done. */
bool handle_free(enum handle_kind kind, void *object);

static inline bool handle_ok(enum handle_kind kind, const void *p) {
  const struct arena *a = &arenas[kind];
  uintptr_t span = __atomic_load_n(&a->span, __ATOMIC_ACQUIRE);   /* grows only after the slots are mapped */
  uintptr_t offset = (uintptr_t)p - __atomic_load_n(&a->base, __ATOMIC_RELAXED);
  return offset < span && !(offset & (a->slot - 1)) && __atomic_load_n(&((const struct handle *)p)->live, __ATOMIC_ACQUIRE) == HANDLE_LIVE;
}

/* Walks the live objects of a kind: handle_next(kind, NULL) is the first. */
void *handle_next(enum handle_kind kind, const void *after);

#endif
