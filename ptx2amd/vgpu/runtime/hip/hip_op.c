/* Execution of stream operations. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hip_state.h"
#include "tools.h"
#include "watch.h"

__thread bool hip_in_callback;

static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
static char fault_text[sizeof ((struct fault *)0)->text];
static _Atomic uint64_t totals[4];

size_t ptx2amd_vgpu_last_fault(char *buf, size_t size) {
  pthread_mutex_lock(&fault_lock);
  size_t n = strlen(fault_text);
  if (buf && size > 0) {
    size_t fits = n < size ? n : size - 1;
    memcpy(buf, fault_text, fits);
    buf[fits] = 0;
  }
  pthread_mutex_unlock(&fault_lock);
  return n;
}

void ptx2amd_vgpu_counters(uint64_t counters[4]) {
  for (int k = 0; k < 4; k++) counters[k] = atomic_load(&totals[k]);
}

static hipError_t error_of(int kind) {
  switch ((enum fault_kind)kind) {
    case FAULT_NONE: return hipSuccess;
    case FAULT_MEMORY:
    case FAULT_LDS:
    case FAULT_SCRATCH: return hipErrorIllegalAddress;
    case FAULT_MISALIGNED: return hipErrorMisalignedAddress;
    case FAULT_ILLEGAL_INSTRUCTION:
    case FAULT_REGISTER:
    case FAULT_UNIMPLEMENTED: return hipErrorIllegalInstruction;
    case FAULT_DEADLOCK:
    case FAULT_RUNAWAY: return hipErrorLaunchTimeOut;
    case FAULT_BAD_LAUNCH: return hipErrorLaunchOutOfResources;
    default: return hipErrorLaunchFailure;
  }
}

static hipError_t run_kernel(struct device *d, const struct launch *l) {
  static _Atomic uint64_t last_dispatch;
  const function *f = l->function;
  if (!handle_ok(&function_class, f) || f->handle.generation != l->generation) return hipErrorInvalidHandle;
  const struct kernel_info *k = f->kernel;
  uint64_t stack = d->limits[hipLimitStackSize];
  struct dispatch dispatch = {
      .code = k->code,
      .kernel = k->name,
      .descriptor = k->descriptor,
      .dynamic_lds = l->shared,
      .cooperative = l->cooperative,
      .private_bytes = k->dynamic_stack ? k->private_size + (uint32_t)stack : k->private_size,
      .kernarg = l->args->address,
      .padded = k->padded,
      .dispatch_id = atomic_fetch_add(&last_dispatch, 1) + 1,
  };
  for (int n = 0; n < 3; n++) {
    dispatch.grid[n] = l->grid[n];
    dispatch.block[n] = l->block[n];
    dispatch.last_block[n] = l->last_block[n];
  }
  struct fault fault;
  struct engine_counters counters = {0};
  fault.text[0] = 0;
  uint64_t begin = hip_trace_time();
  int kind = engine_run(&dispatch, &fault, &counters);
  hip_trace_kernel(&dispatch, begin, kind);
  atomic_fetch_add_explicit(&totals[0], counters.instructions, memory_order_relaxed);
  atomic_fetch_add_explicit(&totals[1], counters.waves, memory_order_relaxed);
  atomic_fetch_add_explicit(&totals[2], counters.workgroups, memory_order_relaxed);
  atomic_fetch_add_explicit(&totals[3], 1, memory_order_relaxed);
  if (kind == FAULT_NONE) return hipSuccess;
  pthread_mutex_lock(&fault_lock);
  memcpy(fault_text, fault.text, sizeof fault_text);
  pthread_mutex_unlock(&fault_lock);
  tools_fault();
  complain("%s", fault.text);
  return error_of(kind);
}

void copy_run(const struct copy *c) {
  if (!c->width || !c->height || !c->depth) return;
  if (c->dst_pitch == c->width && c->src_pitch == c->width &&
      (c->depth == 1 || (c->dst_slice == c->width * c->height && c->src_slice == c->dst_slice))) {
    memmove(c->dst, c->src, c->width * c->height * c->depth);
    shadow_copy((uint64_t)c->dst, (uint64_t)c->src, c->width * c->height * c->depth);
    return;
  }
  for (size_t z = 0; z < c->depth; z++)
    for (size_t y = 0; y < c->height; y++) {
      char *to = c->dst + z * c->dst_slice + y * c->dst_pitch;
      const char *from = c->src + z * c->src_slice + y * c->src_pitch;
      memmove(to, from, c->width);
      shadow_copy((uint64_t)to, (uint64_t)from, c->width);
    }
}

static void fill_row(char *row, const struct fill *f) {
  if (f->element == 1) memset(row, (int)f->value, f->width);
  else if (f->element == 2) {
    uint16_t v = (uint16_t)f->value;
    for (size_t k = 0; k < f->width; k++) memcpy(row + 2 * k, &v, 2);
  } else {
    for (size_t k = 0; k < f->width; k++) memcpy(row + 4 * k, &f->value, 4);
  }
}

void fill_run(const struct fill *f) {
  for (size_t y = 0; y < f->height; y++) {
    fill_row(f->dst + y * f->pitch, f);
    shadow_mark((uint64_t)f->dst + y * f->pitch, f->width * f->element, false);
  }
}

static bool condition(const struct op *op) {
  uint64_t is = op->value.wide ? __atomic_load_n((uint64_t *)op->value.ptr, __ATOMIC_ACQUIRE)
                               : __atomic_load_n((uint32_t *)op->value.ptr, __ATOMIC_ACQUIRE);
  uint64_t want = op->value.value, mask = op->value.mask;
  is &= mask;
  switch (op->value.flags) {
    case 0: return op->value.wide ? (int64_t)(is - want) >= 0 : (int32_t)((uint32_t)is - (uint32_t)want) >= 0;
    case 1: return is == want;
    case 2: return (is & want) != 0;
    default: return (~(is | want) & (op->value.wide ? UINT64_MAX : UINT32_MAX)) != 0;
  }
}

/* Pins memory while it is used; false: it was freed before the operation's turn. */
static bool value_there(const struct op *op) {
  mem_enter();
  bool there = mem_spans(op->value.ptr, op->value.wide ? 8 : 4, true);
  if (!there) mem_leave();
  return there;
}

static bool met(const struct op *op) {
  if (!value_there(op)) return true;
  bool is = condition(op);
  mem_leave();
  return is;
}

/* Polls, because any agent may write the value. Ends when the memory is freed or the device is in error. */
static void wait_value(struct device *d, const struct op *op) {
  for (unsigned round = 0; !met(op) && !device_error(d); round++) {
    if (round < 100) sched_yield();
    else nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
  }
}

static void write_value(const struct op *op) {
  if (!value_there(op)) return;
  shadow_mark((uint64_t)op->value.ptr, op->value.wide ? 8 : 4, false);
  if (op->value.wide) __atomic_store_n((uint64_t *)op->value.ptr, op->value.value, __ATOMIC_RELEASE);
  else __atomic_store_n((uint32_t *)op->value.ptr, (uint32_t)op->value.value, __ATOMIC_RELEASE);
  mem_leave();
}

static void signal_semaphore(int fd) {
  uint64_t one = 1;
  while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {}
}

/* Ends when the device is in error. */
static void await_semaphore(struct device *d, int fd) {
  uint64_t taken;
  while (!device_error(d)) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, 100) < 0 && errno != EINTR) return;
    if (p.revents & (POLLERR | POLLNVAL)) return;
    if (p.revents & POLLIN && (read(fd, &taken, sizeof taken) > 0 || errno != EAGAIN)) return;
  }
}

static void mark(struct shared_event *e, uint64_t seq) {
  uint64_t before = atomic_load(&e->completed);
  while (before < seq && !atomic_compare_exchange_weak(&e->completed, &before, seq)) {}
}

/* Another thread may have freed the memory meanwhile: this is a fault, as on a chip. */
static hipError_t move_bytes(const struct op *op) {
  const struct copy *c = &op->copy;
  bool copy = op->kind == OP_COPY;
  mem_enter();
  bool fine = copy ? copy_ok(c) : fill_ok(&op->fill);
  if (fine && copy) copy_run(c);
  else if (fine) fill_run(&op->fill);
  mem_leave();
  if (!fine) complain("a %s of memory that was freed before its turn came", copy ? "copy" : "fill");
  else watch_activity();
  return fine ? hipSuccess : hipErrorIllegalAddress;
}

hipError_t op_run(struct device *d, const struct op *op) {
  hipError_t error = hipSuccess, sticky = device_error(d);
  switch (op->kind) {   /* these also run in an error state */
    case OP_CALLBACK:
      hip_in_callback = true;
      op->callback.fn(op->callback.handle, sticky, op->callback.data);
      hip_in_callback = false;
      return sticky;
    case OP_WAIT: stream_wait(op->wait.stream, op->wait.seq); return sticky;
    default: break;
  }
  if (sticky != hipSuccess) return sticky;
  switch (op->kind) {
    case OP_KERNEL: error = run_kernel(d, &op->launch); break;
    case OP_COPY:
    case OP_FILL: error = move_bytes(op); break;
    case OP_HOST:
      hip_in_callback = true;
      op->host.fn(op->host.data);
      hip_in_callback = false;
      break;
    case OP_WAIT_VALUE: wait_value(d, op); break;
    case OP_SIGNAL: signal_semaphore(op->semaphore.fd); break;
    case OP_AWAIT: await_semaphore(d, op->semaphore.fd); break;
    case OP_MARK_WAIT: shared_event_wait(op->mark.event, op->mark.seq); break;
    case OP_MARK: mark(op->mark.event, op->mark.seq); break;
    case OP_BATCH:
      for (size_t k = 0; k < op->batch->count && error == hipSuccess; k++) error = op_run(d, &op->batch->ops[k]);
      break;
    case OP_WRITE_VALUE: write_value(op); break;
    default: break;
  }
  int none = hipSuccess;
  if (error != hipSuccess) atomic_compare_exchange_strong(&d->sticky, &none, (int)error);
  return error;
}

void op_discard(const struct op *op) {
  if (op->kind == OP_FREE) pool_give_back(op->block);
  else op_drop(op);
}
