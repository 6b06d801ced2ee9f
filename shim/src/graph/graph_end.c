/* Executable graphs end behind their launches (graph_end.h). */
#include "graph_end.h"

#include "conditional.h"
#include "graph_move.h"

#include <stdlib.h>

enum { BUCKETS = 256 };

/* An executable graph, and the streams in which it was launched. */
struct launched {
  struct job job; /* to destroy it */
  struct launched *next;
  CUgraphExec exec;
  hipStream_t *streams;
  size_t count, room;
  _Atomic size_t waiting; /* for so many streams to come past the launches; and 1 for the caller */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct launched *table[BUCKETS], *ending;
static void destroy(struct line *line, struct job *job, int error);
static struct line line = {.last = &line.first, .run = destroy};

/* ---- under the lock ---- */

static struct launched **bucket(CUgraphExec exec) { return &table[(uintptr_t)exec / 16 % BUCKETS]; }

static struct launched **find(struct launched **list, CUgraphExec exec) {
  while (*list && (*list)->exec != exec) list = &(*list)->next;
  return list;
}

/* Out of memory: the graph does not wait for this stream when it ends. */
static void put_stream(struct launched *l, hipStream_t stream) {
  for (size_t i = 0; i < l->count; i++)
    if (l->streams[i] == stream) return;
  if (l->count == l->room) {
    size_t room = 2 * l->room + 1;
    hipStream_t *more = realloc(l->streams, room * sizeof *more);
    if (!more) return;
    l->streams = more;
    l->room = room;
  }
  l->streams[l->count++] = stream;
}

static struct launched *note(CUgraphExec exec) {
  struct launched **at = find(bucket(exec), exec);
  if (!*at) *at = calloc(1, sizeof **at);
  if (*at) (*at)->exec = exec;
  return *at;
}

/* ---- calls ---- */

void graph_exec_made(CUgraphExec exec) {
  pthread_mutex_lock(&lock);
  note(exec);
  pthread_mutex_unlock(&lock);
}

bool graph_exec_live(CUgraphExec exec) {
  pthread_mutex_lock(&lock);
  bool live = *find(bucket(exec), exec);
  pthread_mutex_unlock(&lock);
  return live || conditional_exec(exec);
}

int graph_exec_launch(CUgraphExec exec, hipStream_t stream) {
  int error = hip.GraphLaunch(exec, stream);
  if (error) return error;
  pthread_mutex_lock(&lock);
  struct launched *l = note(exec);
  if (l) put_stream(l, stream);
  pthread_mutex_unlock(&lock);
  return 0;
}

static void destroy(struct line *of, struct job *job, int error) {
  struct launched *l = (struct launched *)job;
  (void)of;
  (void)error;
  pthread_mutex_lock(&lock);
  struct launched **at = find(&ending, l->exec);
  *at = l->next;
  pthread_mutex_unlock(&lock);
  if (!lines_ending) hip.GraphExecDestroy(l->exec);
  free(l->streams);
}

static void come_past(void *of) {
  struct launched *l = of;
  if (atomic_fetch_sub(&l->waiting, 1) == 1) line_do(&line, &l->job);
}

/* A function of the host in each of the streams: they run in the thread in question, in the stream's order. Streams that
 * are captured, or refuse, are not waited for. */
static void wait_for_streams(struct launched *l) {
  hipStreamCaptureMode mode = capture_relax();
  l->waiting = l->count + 1;
  for (size_t i = 0; i < l->count; i++) {
    hipStreamCaptureStatus capturing = hipStreamCaptureStatusNone;
    int error = hip.StreamIsCapturing(l->streams[i], &capturing);
    if (!error && !capturing) error = hip.LaunchHostFunc(l->streams[i], come_past, l);
    if (error || capturing) atomic_fetch_sub(&l->waiting, 1);
  }
  capture_return(mode);
  come_past(l);
}

int graph_exec_end(CUgraphExec exec) {
  pthread_mutex_lock(&lock);
  struct launched **at = find(bucket(exec), exec), *l = *at;
  bool ended = !l && *find(&ending, exec);
  if (l) {
    *at = l->next;
    l->next = ending;
    ending = l;
  }
  pthread_mutex_unlock(&lock);
  if (ended) return HIP_INVALID_VALUE;
  if (!l) return hip.GraphExecDestroy(exec);
  wait_for_streams(l);
  return 0;
}

void graph_stream_ended(hipStream_t stream) {
  pthread_mutex_lock(&lock);
  for (size_t b = 0; b < BUCKETS; b++)
    for (struct launched *l = table[b]; l; l = l->next)
      for (size_t i = l->count; i-- > 0;)
        if (l->streams[i] == stream) l->streams[i] = l->streams[--l->count];
  pthread_mutex_unlock(&lock);
}
