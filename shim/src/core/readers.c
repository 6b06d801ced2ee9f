/* Modules and kernels are freed only when no thread is in a call that may still read them. Such calls (generated
 * entry.c) register in a record of their thread. A thread that frees an object first invalidates its handle, then waits
 * until every call that was registered at that moment has returned. */
#include <sched.h>
#include <stdlib.h>

#include "readers.h"
#include "shim.h"

static _Atomic(struct reader *) readers; /* never freed: records of ended threads are reused */
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
__thread struct reader *own_reader __attribute__((tls_model("initial-exec")));

static void give_back(void *reader) { atomic_store(&((struct reader *)reader)->taken, false); }
static void make_key(void) { pthread_key_create(&at_thread_end, give_back); }

static struct reader *found(void) {
  for (struct reader *r = atomic_load(&readers); r; r = r->next) {
    bool taken = false;
    if (atomic_compare_exchange_strong(&r->taken, &taken, true)) return r;
  }
  return NULL;
}

struct reader *reader_new(void) {
  pthread_once(&once, make_key);
  struct reader *r = found();
  if (!r) {
    while (!(r = calloc(1, sizeof *r))) sched_yield(); /* out of memory: retry, as the size is small */
    atomic_store(&r->taken, true);
    r->next = atomic_load(&readers);
    while (!atomic_compare_exchange_weak(&readers, &r->next, r)) continue;
  }
  pthread_setspecific(at_thread_end, r);
  return own_reader = r;
}

void readers_wait(void) {
  atomic_thread_fence(memory_order_seq_cst);
  for (struct reader *r = atomic_load(&readers); r; r = r->next) {
    unsigned calls = atomic_load(&r->calls);
    while (r != own_reader && atomic_load(&r->depth) && atomic_load(&r->calls) == calls) sched_yield();
  }
}
