/* Packets of architected queues (AQL). One thread executes them in order, so that barrier bits and fences are satisfied
 * without further work. */

#include "hsa_abi.h"
#include "kfd.h"

static int64_t value_of(uint64_t signal) {
  return atomic_load_explicit(&((struct signal *)signal)->value, memory_order_acquire);
}

void signal_complete(uint64_t handle) {
  if (!handle) return;
  struct signal *s = (struct signal *)handle;
  s->end = ticks();
  uint64_t mailbox = s->mailbox;   /* before the value: a thread that waits for the value may free the signal at once */
  uint32_t event = s->event_id;
  atomic_fetch_sub_explicit(&s->value, 1, memory_order_acq_rel);
  if (!mailbox) return;
  *(volatile uint64_t *)mailbox = event;
  event_set(event);
}

static bool all_zero(const struct aql_barrier *b) {
  for (int k = 0; k < 5; k++)
    if (b->signals[k] && value_of(b->signals[k])) return false;
  return true;
}

static bool any_zero(const struct aql_barrier *b) {
  bool none = true;
  for (int k = 0; k < 5; k++) {
    if (!b->signals[k]) continue;
    if (!value_of(b->signals[k])) return true;
    none = false;
  }
  return none;
}

static bool value_met(const struct aql_barrier_value *b) {
  if (!b->signal) return true;
  int64_t is = value_of(b->signal) & b->mask;
  switch (b->condition) {
    case 0: return is == b->value;
    case 1: return is != b->value;
    case 2: return is < b->value;
    default: return is >= b->value;
  }
}

static bool may_pass(const union aql_packet *p, enum aql_type type) {
  if (type == AQL_BARRIER_AND) return all_zero(&p->barrier);
  if (type == AQL_BARRIER_OR) return any_zero(&p->barrier);
  return type != AQL_VENDOR || p->vendor.format != VENDOR_BARRIER_VALUE || value_met(&p->value);
}

/* False: the queue is being destroyed. */
static bool wait_for(struct queue *q, const union aql_packet *p, enum aql_type type) {
  for (struct pause pause = {0}; !may_pass(p, type); pause_a_while(&pause))
    if (atomic_load_explicit(&q->stop, memory_order_relaxed)) return false;
  return true;
}

static void execute(struct queue *q, union aql_packet *p, enum aql_type type, uint64_t index) {
  if (p->any.completion) ((struct signal *)p->any.completion)->start = ticks();
  if (type == AQL_DISPATCH) {
    dispatch_run(q, &p->dispatch, index);
    if (q->failed) return;
  } else if (type == AQL_VENDOR && p->vendor.format == VENDOR_PM4_IB) {
    code_forget_all();   /* the runtime uses these commands to invalidate the instruction caches */
  }
  signal_complete(p->any.completion);
}

bool aql_run(struct queue *q) {
  uint64_t packets = q->size / AQL_BYTES, first = q->done;
  for (;;) {
    uint64_t written = __atomic_load_n((uint64_t *)q->write_pointer, __ATOMIC_ACQUIRE);
    union aql_packet *p = (union aql_packet *)q->ring + q->done % packets;
    enum aql_type type = AQL_TYPE(atomic_load_explicit(&p->header, memory_order_acquire));
    if (q->done >= written || type == AQL_INVALID || atomic_load_explicit(&q->stop, memory_order_relaxed)) break;
    if (!wait_for(q, p, type)) break;
    execute(q, p, type, q->done);
    if (q->failed) break;
    atomic_store_explicit(&p->header, AQL_INVALID, memory_order_release);
    __atomic_store_n((uint64_t *)q->read_pointer, ++q->done, __ATOMIC_RELEASE);
  }
  return q->done != first;
}
