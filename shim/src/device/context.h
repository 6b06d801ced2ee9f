/* Contexts: which one is current, and whose a call may borrow. */
#ifndef SHIM_CONTEXT_H
#define SHIM_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_constants.h"
#include "cuda_types.h"
#include "handle.h"

struct storage;
/* What programs have set of a stream: values as CUDA lays them out. */
struct stream_attributes { char set[4], value[4][64]; };
struct multiprocessors { unsigned first, count; };
struct context {
  struct handle h;
  int device;
  unsigned flags;
  bool primary, ending;
  _Atomic bool active;
  int retained;           /* primary: retain count; others: attach count */
  uint64_t id;
  int cache_config;
  size_t limits[CU_LIMITS];
  struct multiprocessors sms; /* of a green context; count 0: all */
  struct storage *storage;
  struct stream_attributes default_attributes[2]; /* of the default stream, and of threads' own */
};
FITS(struct context, SLOT_CONTEXT);

struct thread_state {
  struct context *current;
  int hip_device, depth;
  struct context *stack[64];
  bool sealed; /* cuInit done: seen by this thread */
  bool by_runtime; /* since its last launch, this thread called the runtime library, which asks storage.c each time */
};
extern __thread struct thread_state thread_state __attribute__((tls_model("initial-exec")));
extern bool initialised;

CUresult context_missing(void);  /* why there is no usable current context */
static inline struct context *context_current(void) {
  struct context *c = thread_state.current;
  if (!c || __atomic_load_n(&c->h.live, __ATOMIC_RELAXED) != HANDLE_LIVE) return NULL;
  return atomic_load_explicit(&c->active, memory_order_relaxed) ? c : NULL;
}
static inline CUresult context_required(void) { return context_current() ? CUDA_SUCCESS : context_missing(); }
struct context *context_checked(CUcontext handle); /* NULL when stale or foreign */
bool context_flags_ok(unsigned flags);
struct context *context_new(int device);           /* active, not the primary one */
struct context *primary_context(int device);       /* created inactive at first use */

/* The context of an object, for a call of a thread that has none current: or what that call answers. */
CUresult context_owner(CUcontext c, struct context **owner);
CUresult stream_owner(CUstream stream, struct context **owner);
CUresult kernel_owner(CUfunction f, struct context **owner);
CUresult module_owner(CUmodule m, struct context **owner);
CUresult any_owner(struct context **owner);
/* Makes it current, beside the thread's stack. Returns what was, for context_return. */
struct context *context_lend(struct context *owner);
void context_return(struct context *before);
#endif
