/* Registration of calls that read modules and kernels (readers.c). */
#ifndef SHIM_READERS_H
#define SHIM_READERS_H
#include <stdatomic.h>
#include <stdbool.h>

struct reader {
  _Atomic unsigned depth; /* nesting: a callback of the program may call the driver */
  _Atomic unsigned calls; /* number of calls begun */
  _Atomic bool taken;     /* owned by a thread */
  struct reader *next;
};
extern __thread struct reader *own_reader __attribute__((tls_model("initial-exec")));
struct reader *reader_new(void);

static inline struct reader *reader_enter(void) {
  struct reader *r = own_reader;
  if (__builtin_expect(!r, 0)) r = reader_new();
  unsigned depth = atomic_load_explicit(&r->depth, memory_order_relaxed);
  if (!depth) atomic_store_explicit(&r->calls, atomic_load_explicit(&r->calls, memory_order_relaxed) + 1, memory_order_relaxed);
  atomic_store_explicit(&r->depth, depth + 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst); /* visible before any handle is read */
  return r;
}

static inline void reader_leave(struct reader *r) {
  atomic_store_explicit(&r->depth, atomic_load_explicit(&r->depth, memory_order_relaxed) - 1, memory_order_release);
}

/* Waits until all calls begun so far, except the caller's own, have returned. The caller must have invalidated the
 * handles that new calls may not find. */
void readers_wait(void);
#endif
