/* API handles that can be checked: each class of objects lives in slots of one address range that is never unmapped, so
 * a stale or foreign handle is distinguished from a live one without a lock and without touching unmapped memory. */
#ifndef PTX2AMD_VGPU_HANDLE_H
#define PTX2AMD_VGPU_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Common head of all objects of a class. */
struct handle {
  _Atomic uint32_t alive;
  uint32_t generation;        /* number of objects that have used the slot */
  struct handle *next_free;
};

struct handle_class {
  size_t slot;                /* bytes */
  size_t limit;               /* slots */
  _Atomic(char *) base;
  size_t used;
  struct handle *first_free, **last_free;   /* oldest first: a slot is reused as late as possible */
  size_t free_count;
  pthread_mutex_t lock;
};

#define HANDLE_CLASS(type, count) {.slot = (sizeof(type) + 63) & ~(size_t)63, .limit = (count), .lock = PTHREAD_MUTEX_INITIALIZER}

/* A live object, zeroed behind struct handle when the slot is used for the first time; later it keeps what the previous
 * object left. NULL: all slots taken, or out of memory. */
void *handle_new(struct handle_class *c);
void handle_free(struct handle_class *c, void *object);

static inline bool handle_ok(struct handle_class *c, const void *object) {
  char *base = atomic_load_explicit(&c->base, memory_order_acquire);
  size_t offset = (size_t)((const char *)object - base);
  if (!base || (const char *)object < base || offset >= c->slot * c->limit || offset % c->slot) return false;
  return atomic_load_explicit(&((struct handle *)object)->alive, memory_order_acquire) == 1;
}
#endif
