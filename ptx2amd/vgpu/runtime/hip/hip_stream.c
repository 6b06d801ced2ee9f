/* Streams: each has a queue and a worker thread; and the dependencies between them. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

struct handle_class stream_class = HANDLE_CLASS(struct ihipStream_t, 1 << 16);

#define SPIN 400               /* iterations before a thread sleeps: about 10 us */

static __thread stream *per_thread[MAX_DEVICES];
static _Atomic unsigned long long last_id;

stream *stream_new(struct device *d, unsigned flags, int priority) {
  stream *s = handle_new(&stream_class);
  if (!s) return NULL;
  if (!s->prepared) {
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    pthread_cond_init(&s->progress, NULL);
    s->prepared = true;
  }
  s->device = d;
  s->flags = flags;
  s->priority = priority;
  s->id = atomic_fetch_add(&last_id, 1) + 1;
  s->seen_null = s->seen_by_null = 0;
  s->closing = false;
  atomic_store(&s->capture, NULL);
  pthread_mutex_lock(&d->lock);
  s->next = d->streams;
  d->streams = s;
  atomic_fetch_add(&d->stream_count, 1);
  pthread_mutex_unlock(&d->lock);
  return s;
}

/* The per-thread default stream of the current device; it lives as long as the process. */
static stream *thread_stream(void) {
  struct device *d = device_current();
  stream **s = &per_thread[d->ordinal];
  if (!*s) *s = stream_new(d, 0, 0);
  return *s;
}

stream *stream_resolve(hipStream_t handle) {
  if ((uintptr_t)handle <= 1) return device_current()->null_stream;
  if ((uintptr_t)handle == 2) return thread_stream();
  return handle_ok(&stream_class, handle) ? handle : NULL;
}

static bool is_callback(const struct op *op) { return op->kind == OP_HOST || op->kind == OP_CALLBACK; }

/* Executes commands until command number `last` is done, the queue is empty, or, in a helper, a callback is next: those
 * run on the worker's thread only. Begins and ends under the stream's lock; one thread at a time drains. */
static void drain(stream *s, uint64_t last, bool helper) {
  s->draining = true;
  struct command *c;
  while ((c = s->head) && c->seq <= last && !(helper && is_callback(&c->op))) {
    pthread_mutex_unlock(&s->lock);
    if (c->op.kind == OP_RECORD) event_completed(c->op.record.event, c->op.record.generation, s, c->seq);
    else op_run(s->device, &c->op);
    op_discard(&c->op);
    pthread_mutex_lock(&s->lock);
    atomic_store_explicit(&s->head, c->next, memory_order_release);
    if (!c->next) s->tail = NULL;
    atomic_store_explicit(&s->completed, c->seq, memory_order_release);
    c->next = s->spare;
    s->spare = c;
    if (s->waiters) pthread_cond_broadcast(&s->progress);
  }
  s->draining = false;
}

static void *work(void *argument) {
  stream *s = argument;
  for (;;) {
    for (int k = 0; k < SPIN && !atomic_load_explicit(&s->head, memory_order_acquire); k++) __builtin_ia32_pause();
    pthread_mutex_lock(&s->lock);
    while ((!s->head && !s->closing) || s->draining) {
      s->asleep = true;
      pthread_cond_wait(&s->wake, &s->lock);
      s->asleep = false;
    }
    if (s->head) drain(s, UINT64_MAX, false);
    bool end = s->closing && !s->head;
    pthread_mutex_unlock(&s->lock);
    if (end) return NULL;
  }
}

/* Under the stream's lock. Signals are left to the program's own threads. */
static bool start_worker(stream *s) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  s->running = pthread_create(&s->worker, NULL, work, s) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return s->running;
}

static hipError_t push(stream *s, const struct op *op, uint64_t *seq) {
  pthread_mutex_lock(&s->lock);
  struct command *c = s->spare;
  if (c) s->spare = c->next;
  else if (!(c = malloc(sizeof *c))) goto failed;
  if (!s->running && !start_worker(s)) {
    free(c);
    goto failed;
  }
  c->op = *op;
  c->next = NULL;
  c->seq = atomic_load_explicit(&s->submitted, memory_order_relaxed) + 1;
  if (seq) *seq = c->seq;
  atomic_store_explicit(&s->submitted, c->seq, memory_order_release);
  if (s->tail) s->tail->next = c;
  else atomic_store_explicit(&s->head, c, memory_order_release);
  s->tail = c;
  if (s->asleep && !s->draining) pthread_cond_signal(&s->wake);
  pthread_mutex_unlock(&s->lock);
  return hipSuccess;
failed:
  pthread_mutex_unlock(&s->lock);
  return hipErrorOutOfMemory;
}

static hipError_t push_wait(stream *s, stream *target, uint64_t target_seq) {
  struct op op = {.kind = OP_WAIT, .wait = {target, target_seq}};
  return push(s, &op, NULL);
}

/* HIP's rules for the null stream: it waits for all earlier work in blocking streams, and they wait for its work. */
static hipError_t order_behind_others(stream *s) {
  struct device *d = s->device;
  stream *null_stream = d->null_stream;
  if (s != null_stream) {
    if (s->flags & NON_BLOCKING) return hipSuccess;
    uint64_t seq = atomic_load_explicit(&null_stream->submitted, memory_order_acquire);
    if (seq <= s->seen_null || stream_reached(null_stream, seq)) return hipSuccess;
    hipError_t error = push_wait(s, null_stream, seq);
    if (error == hipSuccess) s->seen_null = seq;   /* not earlier: other threads also push to this stream */
    return error;
  }
  if (atomic_load_explicit(&d->stream_count, memory_order_relaxed) < 2) return hipSuccess;
  hipError_t error = hipSuccess;
  pthread_mutex_lock(&d->lock);
  for (stream *other = d->streams; other && error == hipSuccess; other = other->next) {
    if (other == s || other->flags & NON_BLOCKING) continue;
    uint64_t seq = atomic_load_explicit(&other->submitted, memory_order_acquire);
    if (seq <= other->seen_by_null || stream_reached(other, seq)) continue;
    other->seen_by_null = seq;
    error = push_wait(s, other, seq);
  }
  pthread_mutex_unlock(&d->lock);
  return error;
}

hipError_t stream_submit(stream *s, const struct op *op, uint64_t *seq) {
  if (__builtin_expect(atomic_load_explicit(&s->capture, memory_order_relaxed) != NULL, 0)) return capture_op(s, op);
  hipError_t error = capture_implicit(s, false);
  if (error == hipSuccess) error = order_behind_others(s);
  return error == hipSuccess ? push(s, op, seq) : error;
}

/* A waiting thread executes the work itself: that saves two thread switches. */
void stream_wait(stream *s, uint64_t seq) {
  if (stream_reached(s, seq)) return;
  pthread_mutex_lock(&s->lock);
  if (!s->draining && s->head && !is_callback(&s->head->op)) {
    drain(s, seq, true);
    if (s->head && s->asleep) pthread_cond_signal(&s->wake);
  }
  pthread_mutex_unlock(&s->lock);
  for (int k = 0; k < SPIN; k++) {
    if (stream_reached(s, seq)) return;
    __builtin_ia32_pause();
  }
  pthread_mutex_lock(&s->lock);
  s->waiters++;
  while (!stream_reached(s, seq)) pthread_cond_wait(&s->progress, &s->lock);
  s->waiters--;
  pthread_mutex_unlock(&s->lock);
}

bool stream_quiet(stream *s) {
  if (!stream_idle(s)) return false;
  struct device *d = s->device;
  if (s != d->null_stream) return (s->flags & NON_BLOCKING) || stream_idle(d->null_stream);
  bool quiet = true;
  pthread_mutex_lock(&d->lock);
  for (stream *other = d->streams; other && quiet; other = other->next)
    quiet = (other->flags & NON_BLOCKING) || stream_idle(other);
  pthread_mutex_unlock(&d->lock);
  return quiet;
}

hipError_t stream_perform(stream *s, const struct op *op) {
  if (atomic_load_explicit(&s->capture, memory_order_relaxed)) return capture_forbids(s);
  MAY_WAIT();
  hipError_t error = device_error(s->device);
  if (error == hipSuccess) error = capture_implicit(s, false);
  if (error != hipSuccess) return error;
  if (stream_quiet(s)) return op_run(s->device, op);
  uint64_t seq = 0;
  error = stream_submit(s, op, &seq);
  if (error != hipSuccess) return error;
  stream_wait(s, seq);
  return device_error(s->device);
}

/* The API */

static hipError_t create(hipStream_t *handle, unsigned flags, int priority) {
  ENTER();
  if (!handle || flags & ~NON_BLOCKING) return done(hipErrorInvalidValue);
  struct device *d = device_current();
  if (priority > 1) priority = 1;
  if (priority < -1) priority = -1;
  stream *s = stream_new(d, flags, priority);
  if (!s) return done(hipErrorOutOfMemory);
  *handle = s;
  return done(device_error(d));
}

hipError_t hipStreamCreate(hipStream_t *handle) { return create(handle, 0, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t *handle, unsigned flags) { return create(handle, flags, 0); }
hipError_t hipStreamCreateWithPriority(hipStream_t *handle, unsigned flags, int priority) {
  return create(handle, flags, priority);
}

#define STREAM(s, handle)                   \
  stream *s = stream_resolve(handle);       \
  if (!s) return done(hipErrorInvalidHandle)

hipError_t hipStreamDestroy(hipStream_t handle) {
  ENTER();
  if ((uintptr_t)handle <= 2) return done(hipErrorInvalidHandle);
  MAY_WAIT();
  STREAM(s, handle);
  capture_loses(s);
  stream_wait(s, atomic_load(&s->submitted));
  struct device *d = s->device;
  pthread_mutex_lock(&d->lock);
  for (stream **p = &d->streams; *p; p = &(*p)->next) {
    if (*p == s) {
      *p = s->next;
      atomic_fetch_sub(&d->stream_count, 1);
      break;
    }
  }
  pthread_mutex_unlock(&d->lock);
  pthread_mutex_lock(&s->lock);
  s->closing = true;
  bool join = s->running;
  pthread_cond_signal(&s->wake);
  pthread_mutex_unlock(&s->lock);
  if (join) pthread_join(s->worker, NULL);
  s->running = false;
  handle_free(&stream_class, s);
  return hipSuccess;
}

/* The host asks, or waits, for a stream that does not capture. */
static hipError_t capture_asks(stream *s) {
  hipError_t error = capture_implicit(s, false);
  return error != hipSuccess ? error : capture_allows();
}

hipError_t hipStreamQuery(hipStream_t handle) {
  ENTER();
  STREAM(s, handle);
  if (s->capture) return done(capture_forbids(s));
  hipError_t error = capture_asks(s);
  if (error == hipSuccess) error = device_error(s->device);
  return done(error != hipSuccess ? error : stream_idle(s) ? hipSuccess : hipErrorNotReady);
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
  ENTER();
  MAY_WAIT();
  STREAM(s, handle);
  if (s->capture) return done(capture_forbids(s));
  hipError_t forbidden = capture_asks(s);
  if (forbidden != hipSuccess) return done(forbidden);
  struct device *d = s->device;
  if (s != d->null_stream) stream_wait(s, atomic_load(&s->submitted));
  else if (!stream_quiet(s)) {
    /* Synchronising with the null stream includes all blocking streams. */
    struct op op = {.kind = OP_EMPTY};
    uint64_t seq = 0;
    hipError_t error = stream_submit(s, &op, &seq);
    if (error != hipSuccess) return done(error);
    stream_wait(s, seq);
  }
  return done(device_error(d));
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t e, unsigned flags) {
  ENTER();
  STREAM(s, handle);
  if (!handle_ok(&event_class, e)) return done(hipErrorInvalidHandle);
  if (flags > 1) return done(hipErrorInvalidValue);
  if (s->capture || e->capture) return done(capture_wait(s, e));
  hipError_t error = capture_implicit(s, false);
  return done(error != hipSuccess ? error : event_wait(s, e));
}

hipError_t hipStreamGetFlags(hipStream_t handle, unsigned *flags) {
  ENTER();
  STREAM(s, handle);
  if (!flags) return done(hipErrorInvalidValue);
  *flags = s->flags;
  return hipSuccess;
}

hipError_t hipStreamGetPriority(hipStream_t handle, int *priority) {
  ENTER();
  STREAM(s, handle);
  if (!priority) return done(hipErrorInvalidValue);
  *priority = s->priority;
  return hipSuccess;
}

hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t *device) {
  ENTER();
  STREAM(s, handle);
  if (!device) return done(hipErrorInvalidValue);
  *device = s->device->ordinal;
  return hipSuccess;
}

hipError_t hipStreamGetId(hipStream_t handle, unsigned long long *id) {
  ENTER();
  STREAM(s, handle);
  if (!id) return done(hipErrorInvalidValue);
  *id = s->id;
  return hipSuccess;
}

/* Submit, for the asynchronous calls. */
static hipError_t enqueue(hipStream_t handle, const struct op *op) {
  STREAM(s, handle);
  hipError_t error = device_error(s->device);
  return done(error != hipSuccess ? error : stream_submit(s, op, NULL));
}

hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t fn, void *data, unsigned flags) {
  ENTER();
  if (!fn || flags) return done(hipErrorInvalidValue);
  STREAM(s, handle);
  if (s->capture) return done(capture_forbids(s));
  struct op op = {.kind = OP_CALLBACK, .callback = {fn, data, handle}};
  return done(stream_submit(s, &op, NULL));   /* also in an error state: the callback receives the error */
}

hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t fn, void *data) {
  ENTER();
  if (!fn) return done(hipErrorInvalidValue);
  struct op op = {.kind = OP_HOST, .host = {fn, data}};
  return enqueue(handle, &op);
}

hipError_t hipStreamAttachMemAsync(hipStream_t handle, void *ptr, size_t length, unsigned flags) {
  ENTER();
  STREAM(s, handle);
  struct mem_block block;
  if (!ptr || (flags != 1 && flags != 2 && flags != 4) || !mem_find((uint64_t)ptr, &block) ||
      MEM_KIND(block.flags) != MEM_MANAGED || (length && length != block.size))   /* always for all of it */
    return done(hipErrorInvalidValue);
  return done(device_error(s->device));
}

static hipError_t value_op(hipStream_t handle, enum op_kind kind, void *ptr, uint64_t value, uint64_t mask,
                           unsigned flags, bool wide) {
  size_t bytes = wide ? 8 : 4;
  if ((uint64_t)ptr % bytes || !mem_spans(ptr, bytes, true)) return done(hipErrorInvalidValue);
  struct op op = {.kind = kind, .value = {ptr, value, mask, flags, wide}};
  return enqueue(handle, &op);
}

#define MAX_WAIT_CONDITION 3u   /* greater or equal, equal, and, nor */

hipError_t hipStreamWaitValue32(hipStream_t handle, void *ptr, uint32_t value, unsigned flags, uint32_t mask) {
  ENTER();
  if (flags > MAX_WAIT_CONDITION) return done(hipErrorInvalidValue);
  return value_op(handle, OP_WAIT_VALUE, ptr, value, mask, flags, false);
}

hipError_t hipStreamWaitValue64(hipStream_t handle, void *ptr, uint64_t value, unsigned flags, uint64_t mask) {
  ENTER();
  if (flags > MAX_WAIT_CONDITION) return done(hipErrorInvalidValue);
  return value_op(handle, OP_WAIT_VALUE, ptr, value, mask, flags, true);
}

hipError_t hipStreamWriteValue32(hipStream_t handle, void *ptr, uint32_t value, unsigned flags) {
  ENTER();
  return value_op(handle, OP_WRITE_VALUE, ptr, value, 0, flags, false);
}

hipError_t hipStreamWriteValue64(hipStream_t handle, void *ptr, uint64_t value, unsigned flags) {
  ENTER();
  return value_op(handle, OP_WRITE_VALUE, ptr, value, 0, flags, true);
}
