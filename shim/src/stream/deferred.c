/* Work of the host in the order of a stream (deferred.h). A job makes its stream wait for the line's gate, a number that
 * counts jobs; the line's thread does them, and opens the gate. */
#include "deferred.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "graph_end.h"

enum { PORTABLE = 1, CELLS = 512 };
enum { NON_BLOCKING = 1, BLOCKING_EVENT_WITHOUT_TIME = 3, GREATER_OR_EQUAL = 0 };

static pthread_mutex_t cells_lock = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static _Atomic int workers;
_Atomic bool lines_ending;

/* ---- cells ---- */

/* Never given back to HIP, which might wait for all streams then. A gate's count goes on where it is, as a stream may
 * not have looked at it yet when its line is gone; hence two lists. */
static struct cell *spare[2];

static struct cell *more_cells(void) {
  void *host = NULL;
  uint64_t seen;
  struct cell *cells = calloc(CELLS, sizeof *cells);
  if (!cells) return NULL;
  if (hip_mapped(CELLS * sizeof(uint64_t), PORTABLE, &host, &seen)) {
    free(cells);
    return NULL;
  }
  for (int i = 0; i < CELLS; i++) {
    uint64_t *at = (uint64_t *)host + i;
    *at = 0;
    cells[i] = (struct cell){at, seen + (uint64_t)i * sizeof *at, i + 1 < CELLS ? &cells[i + 1] : NULL};
  }
  return cells;
}

struct cell *cell_new(enum cell_kind kind) {
  pthread_mutex_lock(&cells_lock);
  hipStreamCaptureMode mode = capture_relax();
  if (!spare[kind]) spare[kind] = more_cells();
  capture_return(mode);
  struct cell *cell = spare[kind];
  if (cell) spare[kind] = cell->next;
  pthread_mutex_unlock(&cells_lock);
  return cell;
}

void cell_free(enum cell_kind kind, struct cell *cell) {
  pthread_mutex_lock(&cells_lock);
  cell->next = spare[kind];
  spare[kind] = cell;
  pthread_mutex_unlock(&cells_lock);
}

/* ---- lines ---- */

int line_open(struct line *l) {
  int least = 0, greatest = 0; /* of high priority: hardware queues that a waiting stream of the program is not in */
  hip.DeviceGetStreamPriorityRange(&least, &greatest);
  int error = hip.StreamCreateWithPriority(&l->stream, NON_BLOCKING, greatest);
  if (error) return error;
  l->gate = cell_new(CELL_GATE);
  if (!l->gate) return HIP_OUT_OF_MEMORY;
  l->given = l->done = *l->gate->host;
  l->last = &l->first;
  return 0;
}

void line_free(struct line *l) {
  if (l->stream) {
    graph_stream_ended(l->stream);
    hip.StreamDestroy(l->stream);
  }
  if (l->gate) cell_free(CELL_GATE, l->gate);
}

/* Under the lock. */
static void open_gate(struct line *l, const struct job *j) {
  l->done = j->number;
  if (l->gate) __atomic_store_n(l->gate->host, j->number, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&moved);
}

/* What is left when the process ends stays undone; its gates open, as functions may wait for streams at exit. */
static void *work(void *of) {
  struct line *l = of;
  hip.SetDevice(l->device);
  hipStreamCaptureMode mode = capture_relax(); /* what jobs prepare is in nobody's capture */
  pthread_mutex_lock(&lock);
  for (struct job *j; (j = l->first);) {
    pthread_mutex_unlock(&lock);
    l->run(l, j, lines_ending || !j->event ? 0 : hip.EventSynchronize(j->event));
    if (j->event) hip.EventDestroy(j->event);
    pthread_mutex_lock(&lock);
    l->first = j->next;
    if (!l->first) l->last = &l->first;
    open_gate(l, j);
    free(j);
  }
  l->working = false;
  bool over = l->closed;
  pthread_cond_broadcast(&moved);
  pthread_mutex_unlock(&lock);
  if (over) l->drop(l);
  capture_return(mode);
  pthread_mutex_lock(&lock);
  workers--; /* after the last call of HIP: the end of the process waits for it */
  pthread_cond_broadcast(&moved);
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* No call may reach a HIP library that is being taken down; but a kernel that does not end must not hold the process. */
static void at_exit(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 3;
  pthread_mutex_lock(&lock);
  lines_ending = true;
  while (workers && pthread_cond_timedwait(&moved, &lock, &until) != ETIMEDOUT) {}
  pthread_mutex_unlock(&lock);
}

void lines_init(void) { atexit(at_exit); }

/* Signals are for the program's own threads. */
static bool start_thread(struct line *l) {
  sigset_t all, before;
  pthread_attr_t attributes;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  int error = pthread_create(&thread, &attributes, work, l);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return !error;
}

/* Hands the job to the thread; without one, does its work here. HIP's own threads come here too, also while the process
 * ends: then nothing is begun any more. */
static void hand_over(struct line *l, struct job *j) {
  pthread_mutex_lock(&lock);
  if (lines_ending) {
    open_gate(l, j);
    pthread_mutex_unlock(&lock);
    return;
  }
  *l->last = j;
  l->last = &j->next;
  bool start = !l->working;
  if (start) workers++;
  l->working = true;
  pthread_mutex_unlock(&lock);
  if (start && !start_thread(l)) work(l);
}

void line_do(struct line *l, struct job *j) { hand_over(l, j); }

void line_await(struct line *l, uint64_t number) {
  pthread_mutex_lock(&lock);
  while (l->done < number) pthread_cond_wait(&moved, &lock);
  pthread_mutex_unlock(&lock);
}

int line_add(struct line *l, struct job *j, hipStream_t stream) {
  uint64_t number = j->number = l->given + 1;
  int error = hip.EventCreateWithFlags(&j->event, BLOCKING_EVENT_WITHOUT_TIME);
  if (!error) error = hip.EventRecord(j->event, stream);
  int gated = error ? error : hip.StreamWaitValue64(stream, (void *)l->gate->device, number, GREATER_OR_EQUAL, ~0ull);
  if (gated && gated != HIP_NOT_SUPPORTED) {
    if (j->event) hip.EventDestroy(j->event);
    return gated;
  }
  l->given = number;
  hand_over(l, j);
  if (gated) line_await(l, number);
  return 0;
}

void line_close(struct line *l) {
  pthread_mutex_lock(&lock);
  l->closed = true;
  bool now = !l->working;
  pthread_mutex_unlock(&lock);
  if (now) l->drop(l);
}

/* ---- copies ---- */

static hipStream_t upload_streams[MAX_DEVICES];

static int upload_stream(int device, hipStream_t *stream) {
  static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
  int error = 0;
  pthread_mutex_lock(&streams_lock);
  if (!upload_streams[device]) error = hip.StreamCreateWithFlags(&upload_streams[device], NON_BLOCKING);
  *stream = upload_streams[device];
  pthread_mutex_unlock(&streams_lock);
  return error;
}

int upload(int device, uint64_t to, const void *from, size_t size) {
  hipStream_t stream;
  int error = upload_stream(device, &stream);
  if (!error) error = hip.MemcpyHtoDAsync((void *)to, from, size, stream);
  return error ? error : stream_wait(stream);
}

int upload_zeros(int device, uint64_t to, size_t size) {
  hipStream_t stream;
  int error = upload_stream(device, &stream);
  if (!error) error = hip.MemsetD8Async((void *)to, 0, size, stream);
  return error ? error : stream_wait(stream);
}

void uploads_reset(int device) { upload_streams[device] = NULL; }
