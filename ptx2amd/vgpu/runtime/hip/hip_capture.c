/* Stream capture: operations become graph nodes instead of being queued. */
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

struct capture {
  struct capture *next;
  unsigned long long id;
  hipGraph_t graph;
  stream *origin;                 /* NULL: it was destroyed, and nothing can end the capture any more */
  hipStreamCaptureMode mode;
  pthread_t thread;
  bool invalid;
  bool foreign;                   /* a graph of the program */
  hipGraphNode_t *left;           /* last nodes of streams that were destroyed */
  size_t left_count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures;
static _Atomic int capturing;     /* how many of them */
static unsigned long long last_id;
static __thread hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;

static struct capture *by_id(unsigned long long id) {
  for (struct capture *c = captures; c; c = c->next)
    if (c->id == id) return c;
  return NULL;
}

static bool set_nodes(hipGraphNode_t **to, size_t *to_count, const hipGraphNode_t *nodes, size_t count) {
  hipGraphNode_t *copy = malloc((count + 1) * sizeof *copy);
  if (!copy) return false;
  if (count) memcpy(copy, nodes, count * sizeof *copy);
  free(*to);
  *to = copy;
  *to_count = count;
  return true;
}

static bool join_nodes(hipGraphNode_t **to, size_t *to_count, const hipGraphNode_t *nodes, size_t count) {
  hipGraphNode_t *all = malloc((*to_count + count + 1) * sizeof *all);
  if (!all) return false;
  if (*to_count) memcpy(all, *to, *to_count * sizeof *all);
  size_t n = *to_count;
  for (size_t k = 0; k < count; k++) {
    size_t at = 0;
    while (at < n && all[at] != nodes[k]) at++;
    if (at == n) all[n++] = nodes[k];
  }
  free(*to);
  *to = all;
  *to_count = n;
  return true;
}

hipError_t capture_forbids(stream *s) {
  pthread_mutex_lock(&lock);
  struct capture *c = s->capture;
  if (c) c->invalid = true;
  pthread_mutex_unlock(&lock);
  return hipErrorStreamCaptureUnsupported;
}

/* Whether the capture forbids this thread to call functions that it could not record. */
static bool prohibits(const struct capture *c) {
  if (!c->origin || c->mode == hipStreamCaptureModeRelaxed || thread_mode == hipStreamCaptureModeRelaxed) return false;
  bool everywhere = c->mode == hipStreamCaptureModeGlobal && thread_mode == hipStreamCaptureModeGlobal;
  return everywhere || pthread_equal(c->thread, pthread_self());
}

hipError_t capture_allows(void) {
  hipError_t error = hipSuccess;
  pthread_mutex_lock(&lock);
  for (struct capture *c = captures; c; c = c->next) {
    if (!prohibits(c)) continue;
    c->invalid = true;
    error = hipErrorStreamCaptureUnsupported;
  }
  pthread_mutex_unlock(&lock);
  return error;
}

/* The host waits for the whole device: no capture survives that. */
hipError_t capture_waits(struct device *d) {
  hipError_t error = hipSuccess;
  if (thread_mode == hipStreamCaptureModeRelaxed) return error;
  pthread_mutex_lock(&lock);
  for (struct capture *c = captures; c; c = c->next) {
    if (!c->origin || c->origin->device != d) continue;
    c->invalid = true;
    error = hipErrorStreamCaptureUnsupported;
  }
  pthread_mutex_unlock(&lock);
  return error;
}

/* Work of the null stream would wait for what blocking streams capture. Asking for the null stream's state spoils nothing. */
hipError_t capture_implicit(const stream *queue, bool asks) {
  hipError_t error = hipSuccess;
  struct device *d = queue->device;
  if (__builtin_expect(!atomic_load_explicit(&capturing, memory_order_relaxed), 1)) return error;
  if (queue != d->null_stream || thread_mode == hipStreamCaptureModeRelaxed) return error;
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&d->lock);
  for (stream *s = d->streams; s; s = s->next) {
    if (!s->capture || s->flags & NON_BLOCKING) continue;
    if (!asks) ((struct capture *)s->capture)->invalid = true;
    error = hipErrorStreamCaptureImplicit;
  }
  pthread_mutex_unlock(&d->lock);
  pthread_mutex_unlock(&lock);
  return error;
}

/* The host asks for an event that was recorded in a capture. */
hipError_t capture_event_asked(const event *e) {
  pthread_mutex_lock(&lock);
  struct capture *c = by_id(e->capture);
  bool active = c && !c->invalid;
  if (active) c->invalid = true;
  pthread_mutex_unlock(&lock);
  return active ? hipErrorCapturedEvent : hipErrorInvalidValue;
}

/* Called when a stream is destroyed: a capture may lose streams that joined it, once they have been joined back. */
void capture_loses(stream *s) {
  pthread_mutex_lock(&lock);
  struct capture *c = s->capture;
  if (c && (c->origin == s || !join_nodes(&c->left, &c->left_count, s->tail_nodes, s->tail_count))) c->invalid = true;
  if (c && c->origin == s) c->origin = NULL;
  pthread_mutex_unlock(&lock);
}

/* The kernel arguments of a node live as long as the node. */
static hipError_t keep(struct op *op) {
  if (op->kind != OP_KERNEL) return hipSuccess;
  struct kernarg *args = kernarg_keep(op->launch.args, op->launch.function->kernel->kernarg_size);
  if (!args) return hipErrorOutOfMemory;
  kernarg_release(op->launch.args);
  op->launch.args = args;
  return hipSuccess;
}

/* Takes ownership of the operation's resources only on success. */
hipError_t capture_op(stream *s, const struct op *given) {
  struct op op = *given;
  hipGraphNode_t node;
  pthread_mutex_lock(&lock);
  struct capture *c = s->capture;
  hipError_t error = !c ? hipErrorIllegalState : c->invalid ? hipErrorStreamCaptureInvalidated : keep(&op);
  if (error == hipSuccess) {
    op_hold(&op);                 /* graph_add takes over one reference, even if it fails */
    error = graph_add(&node, c->graph, s->tail_nodes, s->tail_count, &op);
    if (error == hipSuccess && op.kind != OP_KERNEL) op_drop(&op);
    if (error != hipSuccess) c->invalid = true;
    else if (!set_nodes(&s->tail_nodes, &s->tail_count, &node, 1)) error = hipErrorOutOfMemory;
  }
  pthread_mutex_unlock(&lock);
  return error;
}

hipError_t capture_record(stream *s, event *e) {
  hipError_t error = hipSuccess;
  pthread_mutex_lock(&lock);
  struct capture *c = s->capture;
  if (!c || c->invalid) error = hipErrorStreamCaptureInvalidated;
  else if (!set_nodes(&e->nodes, &e->node_count, s->tail_nodes, s->tail_count)) error = hipErrorOutOfMemory;
  else e->capture = c->id;
  pthread_mutex_unlock(&lock);
  return error;
}

hipError_t capture_wait(stream *s, event *e) {
  hipError_t error = hipSuccess;
  pthread_mutex_lock(&lock);
  struct capture *theirs = e->capture ? by_id(e->capture) : NULL, *ours = s->capture;
  if (!theirs) {
    if (ours) ours->invalid = true;
    error = ours ? hipErrorStreamCaptureIsolation : hipErrorInvalidValue;
  } else if (ours && ours != theirs) {
    ours->invalid = theirs->invalid = true;
    error = hipErrorStreamCaptureMerge;
  } else if (s == s->device->null_stream) {
    theirs->invalid = true;
    error = hipErrorStreamCaptureImplicit;
  } else {
    if (!ours) s->tail_count = 0;
    if (!join_nodes(&s->tail_nodes, &s->tail_count, e->nodes, e->node_count)) error = hipErrorOutOfMemory;
    else atomic_store(&s->capture, theirs);
  }
  pthread_mutex_unlock(&lock);
  return error;
}

/* The capture's graph: a new one, or one of the program's. */
static hipError_t begin(hipStream_t handle, hipGraph_t into, const hipGraphNode_t *depends, size_t count,
                        hipStreamCaptureMode mode) {
  stream *s = stream_resolve(handle);
  if (!s) return hipErrorInvalidHandle;
  if (mode > hipStreamCaptureModeRelaxed) return hipErrorInvalidValue;
  if (s == s->device->null_stream) return hipErrorStreamCaptureUnsupported;
  struct capture *c = calloc(1, sizeof *c);
  hipGraph_t graph = !c ? NULL : into ? into : graph_new();
  if (!graph) {
    free(c);
    return hipErrorOutOfMemory;
  }
  hipError_t error = hipSuccess;
  pthread_mutex_lock(&lock);
  if (s->capture) error = hipErrorIllegalState;
  else if (!set_nodes(&s->tail_nodes, &s->tail_count, depends, count)) error = hipErrorOutOfMemory;
  else {
    *c = (struct capture){captures, ++last_id, graph, s, mode, pthread_self(), false, into != NULL, NULL, 0};
    captures = c;
    atomic_fetch_add(&capturing, 1);
    atomic_store(&s->capture, c);
  }
  pthread_mutex_unlock(&lock);
  if (error != hipSuccess) {
    free(c);
    if (!into) graph_free(graph);
  }
  return error;
}

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
  ENTER();
  return done(begin(handle, NULL, NULL, 0, mode));
}

hipError_t hipStreamBeginCaptureToGraph(hipStream_t handle, hipGraph_t graph, const hipGraphNode_t *depends,
                                        const hipGraphEdgeData *edges, size_t count, hipStreamCaptureMode mode) {
  ENTER();
  (void)edges;                    /* edges are full dependencies */
  if (!handle_ok(&graph_class, graph) || (count && !depends)) return done(hipErrorInvalidValue);
  for (size_t k = 0; k < count; k++)
    if (!handle_ok(&node_class, depends[k]) || depends[k]->graph != graph) return done(hipErrorInvalidValue);
  return done(begin(handle, graph, depends, count, mode));
}

/* All streams that joined have been joined back: their last nodes precede the origin's. Under the lock; ends the
 * capture of all its streams. */
static bool leave(struct capture *c) {
  struct device *d = c->origin->device;
  for (size_t k = 0; k < c->graph->count; k++) c->graph->nodes[k]->mark = false;
  for (size_t k = 0; k < c->origin->tail_count; k++) c->origin->tail_nodes[k]->mark = true;
  for (size_t k = c->graph->count; k-- > 0;) {   /* nodes are added after their dependencies */
    hipGraphNode_t node = c->graph->nodes[k];
    for (size_t n = 0; node->mark && n < node->depend_count; n++) node->depends[n]->mark = true;
  }
  bool joined = true;
  for (size_t k = 0; k < c->left_count; k++) joined = joined && c->left[k]->mark;
  free(c->left);
  pthread_mutex_lock(&d->lock);
  for (stream *s = d->streams; s; s = s->next) {
    if (s->capture != c) continue;
    for (size_t k = 0; k < s->tail_count; k++) joined = joined && s->tail_nodes[k]->mark;
    s->tail_count = 0;
    atomic_store(&s->capture, NULL);
  }
  pthread_mutex_unlock(&d->lock);
  for (struct capture **p = &captures; *p; p = &(*p)->next) {
    if (*p == c) {
      *p = c->next;
      atomic_fetch_sub(&capturing, 1);
      break;
    }
  }
  return joined;
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t *graph) {
  ENTER();
  stream *s = stream_resolve(handle);
  if (!s) return done(hipErrorInvalidHandle);
  if (!graph) return done(hipErrorInvalidValue);
  *graph = NULL;
  pthread_mutex_lock(&lock);
  struct capture *c = s->capture;
  hipError_t error = !c ? hipErrorIllegalState
                     : c->origin != s ? hipErrorStreamCaptureUnmatched
                     : c->mode != hipStreamCaptureModeRelaxed && !pthread_equal(c->thread, pthread_self())
                         ? hipErrorStreamCaptureWrongThread : hipSuccess;
  if (error == hipErrorStreamCaptureUnmatched) c->invalid = true;
  if (error == hipErrorStreamCaptureWrongThread) {
    leave(c);
  } else if (error == hipSuccess) {
    bool joined = leave(c);
    error = c->invalid ? hipErrorStreamCaptureInvalidated : joined ? hipSuccess : hipErrorStreamCaptureUnjoined;
  } else {
    c = NULL;
  }
  pthread_mutex_unlock(&lock);
  if (error == hipSuccess) *graph = c->graph;
  else if (c && !c->foreign) graph_free(c->graph);
  free(c);
  return done(error);
}

static hipStreamCaptureStatus status_of(stream *s, unsigned long long *id) {
  pthread_mutex_lock(&lock);
  struct capture *c = s->capture;
  hipStreamCaptureStatus status = !c ? hipStreamCaptureStatusNone
                                  : c->invalid ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive;
  if (id) *id = c ? c->id : 0;
  pthread_mutex_unlock(&lock);
  return status;
}

hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus *status) {
  ENTER();
  stream *s = stream_resolve(handle);
  if (!s) return done(hipErrorInvalidHandle);
  if (!status) return done(hipErrorInvalidValue);
  if (capture_implicit(s, true)) return done(hipErrorStreamCaptureImplicit);
  *status = status_of(s, NULL);
  return hipSuccess;
}

hipError_t hipStreamGetCaptureInfo(hipStream_t handle, hipStreamCaptureStatus *status, unsigned long long *id) {
  ENTER();
  stream *s = stream_resolve(handle);
  if (!s) return done(hipErrorInvalidHandle);
  if (!status) return done(hipErrorInvalidValue);
  if (capture_implicit(s, true)) return done(hipErrorStreamCaptureImplicit);
  *status = status_of(s, id);
  return hipSuccess;
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t handle, hipStreamCaptureStatus *status, unsigned long long *id,
                                      hipGraph_t *graph, const hipGraphNode_t **dependencies, size_t *count) {
  ENTER();
  stream *s = stream_resolve(handle);
  if (!s) return done(hipErrorInvalidHandle);
  if (!status) return done(hipErrorInvalidValue);
  if (capture_implicit(s, true)) return done(hipErrorStreamCaptureImplicit);
  *status = status_of(s, id);
  struct capture *c = s->capture;
  if (*status != hipStreamCaptureStatusActive || !c) return hipSuccess;
  if (graph) *graph = c->graph;
  if (dependencies) *dependencies = s->tail_nodes;
  if (count) *count = s->tail_count;
  return hipSuccess;
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t handle, hipGraphNode_t *dependencies, size_t count,
                                              unsigned flags) {
  enum { ADD = 0, SET = 1 };
  ENTER();
  stream *s = stream_resolve(handle);
  if (!s) return done(hipErrorInvalidHandle);
  if (flags > SET || (count && !dependencies)) return done(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  pthread_mutex_lock(&lock);
  struct capture *c = s->capture;
  if (!c) error = hipErrorIllegalState;
  else if (c->invalid) error = hipErrorStreamCaptureInvalidated;
  for (size_t k = 0; error == hipSuccess && k < count; k++)
    if (!handle_ok(&node_class, dependencies[k]) || dependencies[k]->graph != c->graph) error = hipErrorInvalidValue;
  if (error == hipSuccess) {
    bool ok = flags == SET ? set_nodes(&s->tail_nodes, &s->tail_count, dependencies, count)
                           : join_nodes(&s->tail_nodes, &s->tail_count, dependencies, count);
    if (!ok) error = hipErrorOutOfMemory;
  }
  pthread_mutex_unlock(&lock);
  return done(error);
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
  ENTER();
  if (!mode || *mode > hipStreamCaptureModeRelaxed) return done(hipErrorInvalidValue);
  hipStreamCaptureMode before = thread_mode;
  thread_mode = *mode;
  *mode = before;
  return hipSuccess;
}
