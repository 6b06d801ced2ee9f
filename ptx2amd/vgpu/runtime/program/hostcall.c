/* Calls from kernels to the host. A wave pops a packet from the stack of free packets, fills a slot for each active
 * lane, pushes it onto the stack of ready packets, increments the doorbell and sends an interrupt; then it waits until
 * the packet's flag is clear, and pushes it back. Packets are processed at the interrupt, on the wave's own thread. The
 * layouts are those of ROCm's device libraries, versions 5 to 7. */
#define _GNU_SOURCE
#include "hostcall.h"

#include <string.h>
#include <sys/mman.h>

#include "hip_state.h"

/* Stacks store packet numbers with a counter above the index, so that no two states are the same word (ABA); 0: empty.
 * */
struct packet_header { uint64_t next, active; uint32_t service; _Atomic uint32_t ready; };
struct packet { uint64_t slots[64][8]; };
/* amd_signal_t: if event_mailbox is not 0, the device sends an interrupt after incrementing value. */
struct signal { int64_t kind, value; uint64_t event_mailbox; uint32_t event_id, pad; uint64_t times[2], queue, pads[2]; };
struct buffer {
  struct packet_header *headers;
  struct packet *packets;
  struct signal *doorbell;
  uint64_t free_stack;
  _Atomic uint64_t ready_stack;
  uint64_t index_mask;
};
/* One mapping for all; pages of unused packets cost nothing. */
enum { PACKETS = 1 << 16 };      /* more than the number of concurrent waves */
struct all {
  struct buffer buffer;
  _Alignas(64) struct signal doorbell;
  uint64_t mailbox;
  _Alignas(4096) struct packet_header headers[PACKETS];
  struct packet packets[PACKETS];
};
enum { SERVICE_CALL = 1, SERVICE_MESSAGE = 2, SERVICE_MEMORY = 3 };

static struct all *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The first word is the host function's address; it receives the other seven and returns two. */
static void call_function(uint64_t slot[8]) {
  void (*function)(uint64_t *output, const uint64_t *input) = (void (*)(uint64_t *, const uint64_t *))slot[0];
  uint64_t output[2] = {0};
  function(output, slot + 1);
  memcpy(slot, output, sizeof output);
}

static void serve_slot(uint32_t service, uint64_t slot[8]) {
  static bool said;
  switch (service) {
    case SERVICE_CALL: call_function(slot); break;
    case SERVICE_MESSAGE: hostcall_message(slot); break;
    case SERVICE_MEMORY: hostcall_memory(slot); break;
    default:
      if (!said) complain("a kernel asks the host for service %u, which is unknown", service);
      said = true;
      slot[0] = slot[1] = 0;
  }
}

static void serve(void) {
  struct buffer *b = &all->buffer;
  pthread_mutex_lock(&lock);
  uint64_t at = atomic_exchange_explicit(&b->ready_stack, 0, memory_order_acquire);
  while (at) {
    struct packet_header *h = &all->headers[at & (PACKETS - 1)];
    struct packet *p = &all->packets[at & (PACKETS - 1)];
    at = h->next;   /* before the packet is returned to the wave */
    for (uint64_t lanes = h->active; lanes; lanes &= lanes - 1)
      serve_slot(h->service, p->slots[__builtin_ctzll(lanes)]);
    atomic_store_explicit(&h->ready, 0, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
}

static void make(void) {
  struct all *a = mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (a == MAP_FAILED) return;
  struct mem_block *block = mem_adopt(a, sizeof *a, MEM_RUNTIME, 0);
  if (!block) {
    munmap(a, sizeof *a);
    return;
  }
  block->internal = true;
  enum { SIGNAL_USER = 1 };
  a->doorbell = (struct signal){.kind = SIGNAL_USER, .value = 1, .event_mailbox = (uint64_t)&a->mailbox, .event_id = 1};
  a->buffer = (struct buffer){.headers = a->headers, .packets = a->packets, .doorbell = &a->doorbell,
                              .index_mask = PACKETS - 1};
  uint64_t next = PACKETS;        /* packet 0, with a count of 1 */
  for (uint32_t k = 1; k < PACKETS; k++) {
    a->headers[k].next = next;
    next = k;
  }
  a->buffer.free_stack = next;
  all = a;
  engine_on_interrupt(serve);
}

uint64_t hostcall_buffer(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make);
  return (uint64_t)(all ? &all->buffer : NULL);
}
