/* Events: a position in a stream, and the time at which the stream reached it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "hip_state.h"

struct handle_class event_class = HANDLE_CLASS(struct ihipEvent_t, 1 << 20);

#define BLOCKING_SYNC 1u
#define DISABLE_TIMING 2u
#define INTERPROCESS 4u
#define HIP_ONLY 0xe0000000u   /* release scopes: no effect here */

uint64_t clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

hipError_t event_new(hipEvent_t *handle, unsigned flags) {
  event *e = handle_new(&event_class);
  if (!e) return done(hipErrorOutOfMemory);
  if (!e->prepared) pthread_mutex_init(&e->lock, NULL);
  e->prepared = true;
  e->device = device_current();
  e->flags = flags;
  e->stream = NULL;
  e->seq = e->time = e->time_seq = 0;
  e->capture = 0;
  e->shared = NULL;
  *handle = e;
  return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t *handle, unsigned flags) {
  ENTER();
  if (!handle || flags & ~(BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS | HIP_ONLY)) return done(hipErrorInvalidValue);
  if (flags & INTERPROCESS && !(flags & DISABLE_TIMING)) return done(hipErrorInvalidValue);
  hipError_t error = event_new(handle, flags);
  if (error != hipSuccess || !(flags & INTERPROCESS)) return done(error);
  (*handle)->shared = shared_event_new(&(*handle)->shared_fd);
  if ((*handle)->shared) return hipSuccess;
  handle_free(&event_class, *handle);
  return done(hipErrorOutOfMemory);
}

hipError_t hipEventCreate(hipEvent_t *handle) { return hipEventCreateWithFlags(handle, 0); }

hipError_t hipEventDestroy(hipEvent_t e) {
  ENTER();
  if (!handle_ok(&event_class, e)) return done(hipErrorInvalidHandle);
  if (e->shared) {   /* queued operations still use it */
    device_synchronize(e->device);
    shared_event_free(e->shared, e->shared_fd);
    e->shared = NULL;
  }
  pthread_mutex_lock(&e->lock);
  free(e->nodes);
  e->nodes = NULL;
  e->node_count = 0;
  pthread_mutex_unlock(&e->lock);
  handle_free(&event_class, e);
  return hipSuccess;
}

void event_completed(event *e, uint32_t generation, stream *s, uint64_t seq) {
  uint64_t now = clock_ns();
  if (!handle_ok(&event_class, e) || e->handle.generation != generation) return;
  pthread_mutex_lock(&e->lock);
  if (e->stream == s && e->seq <= seq) {
    e->time = now;
    e->time_seq = seq;
  }
  pthread_mutex_unlock(&e->lock);
}

hipError_t event_record(event *e, stream *s) {
  if (e->shared) {
    struct op op = {.kind = OP_MARK, .mark = {e->shared, atomic_fetch_add(&e->shared->recorded, 1) + 1}};
    return stream_submit(s, &op, NULL);
  }
  struct op op = {.kind = OP_RECORD, .record = {e, e->handle.generation}};
  pthread_mutex_lock(&e->lock);
  e->capture = 0;
  /* The worker cannot stamp the event before seq is set: it takes the event's lock. */
  uint64_t seq = 0;
  hipError_t error = stream_submit(s, &op, &seq);
  if (error == hipSuccess) {
    e->stream = s;
    e->seq = seq;
  }
  pthread_mutex_unlock(&e->lock);
  return error;
}

hipError_t event_wait(stream *s, event *e) {
  if (e->shared) {
    struct op op = {.kind = OP_MARK_WAIT, .mark = {e->shared, atomic_load(&e->shared->recorded)}};
    return stream_submit(s, &op, NULL);
  }
  pthread_mutex_lock(&e->lock);
  struct op op = {.kind = OP_WAIT, .wait = {e->stream, e->seq}};
  pthread_mutex_unlock(&e->lock);
  if (!op.wait.stream || stream_reached(op.wait.stream, op.wait.seq)) return device_error(s->device);
  return stream_submit(s, &op, NULL);
}

hipError_t hipEventRecordWithFlags(hipEvent_t e, hipStream_t handle, unsigned flags) {
  ENTER();
  stream *s = stream_resolve(handle);
  if (!s || !handle_ok(&event_class, e)) return done(hipErrorInvalidHandle);
  if (flags > 1) return done(hipErrorInvalidValue);
  if (e->device != s->device) return done(hipErrorInvalidHandle);
  hipError_t error = device_error(s->device);
  if (error != hipSuccess) return done(error);
  return done(s->capture ? capture_record(s, e) : event_record(e, s));
}

hipError_t hipEventRecord(hipEvent_t e, hipStream_t handle) { return hipEventRecordWithFlags(e, handle, 0); }

/* The last stream in which the event was recorded; NULL: none. */
static hipError_t place(event *e, stream **s, uint64_t *seq) {
  if (!handle_ok(&event_class, e)) return hipErrorInvalidHandle;
  if (e->capture) return capture_event_asked(e);
  pthread_mutex_lock(&e->lock);
  *s = e->stream;
  *seq = e->seq;
  pthread_mutex_unlock(&e->lock);
  return hipSuccess;
}

hipError_t hipEventQuery(hipEvent_t e) {
  ENTER();
  stream *s;
  uint64_t seq;
  hipError_t error = place(e, &s, &seq);
  if (error == hipSuccess) error = capture_allows();
  if (error == hipSuccess) error = device_error(e->device);
  if (error == hipSuccess && s && !stream_reached(s, seq)) error = hipErrorNotReady;
  if (error == hipSuccess && e->shared && !shared_event_reached(e->shared, atomic_load(&e->shared->recorded)))
    error = hipErrorNotReady;
  return done(error);
}

hipError_t hipEventSynchronize(hipEvent_t e) {
  ENTER();
  MAY_WAIT();
  stream *s;
  uint64_t seq;
  hipError_t error = place(e, &s, &seq);
  if (error == hipSuccess) error = capture_allows();
  if (error != hipSuccess) return done(error);
  if (s) stream_wait(s, seq);
  if (e->shared) shared_event_wait(e->shared, atomic_load(&e->shared->recorded));
  return done(device_error(e->device));
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop) {
  ENTER();
  if (!ms) return done(hipErrorInvalidValue);
  event *both[2] = {start, stop};
  stream *streams[2];
  uint64_t times[2], seq[2];
  for (int k = 0; k < 2; k++) {
    hipError_t error = place(both[k], &streams[k], &seq[k]);
    if (error != hipSuccess) return done(error);
    if (both[k]->flags & DISABLE_TIMING || !streams[k]) return done(hipErrorInvalidHandle);
  }
  for (int k = 0; k < 2; k++) {
    if (!stream_reached(streams[k], seq[k])) return done(hipErrorNotReady);
    pthread_mutex_lock(&both[k]->lock);
    times[k] = both[k]->time;
    pthread_mutex_unlock(&both[k]->lock);
  }
  hipError_t error = device_error(start->device);
  if (error != hipSuccess) return done(error);
  *ms = (float)((double)(int64_t)(times[1] - times[0]) * 1e-6);
  return hipSuccess;
}
