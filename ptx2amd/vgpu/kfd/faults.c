/* Faults of kernels: our report on stderr, and the report that the driver would send to the runtime. Invalid memory
 * accesses are exceptions of the GPU, for which the runtime has an event; other faults stop the queue, and its inactive
 * signal contains the reason. The runtime ends the program, or calls a handler that the program registered. */

#include "hsa_abi.h"
#include "kfd.h"

/* queue 0: not caused by one queue */
static int64_t queue_error(enum fault_kind kind) {
  switch (kind) {
    case FAULT_LDS:
    case FAULT_SCRATCH:
    case FAULT_MISALIGNED: return QUEUE_APERTURE_VIOLATION;
    case FAULT_ILLEGAL_INSTRUCTION:
    case FAULT_REGISTER:
    case FAULT_UNIMPLEMENTED: return QUEUE_ILLEGAL_INSTRUCTION;
    case FAULT_BAD_LAUNCH: return QUEUE_INVALID_DIMENSION;
    case FAULT_TRAP: return QUEUE_EXCEPTION;
    case FAULT_DEADLOCK:
    case FAULT_RUNAWAY: return 0;
    default: return QUEUE_INVALID_CODE;
  }
}

static void stop_queue(struct queue *q, int64_t error) {
  uint64_t inactive = *(uint64_t *)(q->write_pointer - QUEUE_WRITE_INDEX + QUEUE_INACTIVE_SIGNAL);
  struct signal *s = (struct signal *)inactive;
  if (!s) return;
  uint64_t mailbox = s->mailbox;
  uint32_t event = s->event_id;
  atomic_fetch_or(&s->value, error);
  if (!mailbox) return;
  *(volatile uint64_t *)mailbox = event;
  event_set(event);
}

void fault_report(struct queue *q, const struct fault *fault) {
  enum { WHOLE_GPU_RESET = 0, GPU_HANG = 0 };
  complain("%s", fault->text);
  engine->count_fault();
  q->failed = true;
  if (fault->kind == FAULT_MEMORY) {
    struct kfd_event_data data = {.memory = {.not_present = 1, .va = fault->address & ~4095ull, .gpu_id = q->gpu->id}};
    if (event_raise(KFD_EVENT_MEMORY, &data)) return;
  }
  int64_t error = queue_error(fault->kind);
  struct kfd_event_data hang = {.hw = {WHOLE_GPU_RESET, GPU_HANG, 0, q->gpu->id}};
  if (!error && event_raise(KFD_EVENT_HW_EXCEPTION, &hang)) return;
  stop_queue(q, error ? error : QUEUE_INVALID_PACKET);
}
