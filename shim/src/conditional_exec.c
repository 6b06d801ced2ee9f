/* Executable graphs with conditional nodes (conditional.h). A launch makes its stream wait for the graph's gate, a
 * number that counts launches; a thread of the graph's own, which is there while launches are, executes them one after
 * the other in a stream of its own, reads what kernels have set, and opens the gate. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "conditional.h"

enum { NON_BLOCKING = 1, BLOCKING_EVENT_WITHOUT_TIME = 3, GREATER_OR_EQUAL = 0 };

struct launch { struct launch *next; void *event; struct plan *plan; uint64_t number; };

struct exec {
  struct exec *next;
  CUgraph graph; /* NULL: that is gone */
  struct plan *plan;
  unsigned long long flags;
  int device;
  void *stream;
  struct cell *gate;
  uint64_t launched, done;
  struct launch *first, **last;
  bool working, ended;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static struct exec *execs;
static _Atomic int exec_count, workers;
static _Atomic bool ending;

struct exec *conditional_exec(CUgraphExec handle) {
  if (!exec_count) return NULL;
  pthread_mutex_lock(&lock);
  struct exec *e = execs;
  while (e && e != (struct exec *)handle) e = e->next;
  pthread_mutex_unlock(&lock);
  return e;
}

static bool instantiated(CUgraph graph) {
  pthread_mutex_lock(&lock);
  const struct exec *e = execs;
  while (e && e->graph != graph) e = e->next;
  pthread_mutex_unlock(&lock);
  return e != NULL;
}

void conditional_forget(CUgraph graph) {
  if (!exec_count) return;
  pthread_mutex_lock(&lock);
  for (struct exec *e = execs; e; e = e->next)
    if (e->graph == graph) e->graph = NULL;
  pthread_mutex_unlock(&lock);
}

unsigned long long conditional_flags(const struct exec *e) { return e->flags; }

/* ---- the thread ---- */

static int run_steps(struct exec *e, const struct steps *s);

static const struct steps *chosen(const struct step *s) {
  uint32_t value = (uint32_t)__atomic_load_n(s->condition->cell->host, __ATOMIC_ACQUIRE);
  if (s->type == CU_GRAPH_COND_TYPE_SWITCH) return value < s->size ? &s->bodies[value] : NULL;
  return value ? &s->bodies[0] : s->size == 2 ? &s->bodies[1] : NULL;
}

static int run_choice(struct exec *e, const struct step *s) {
  const struct steps *body;
  int error;
  do {
    error = hip.StreamSynchronize(e->stream);
    body = chosen(s);
    if (!error && body) error = run_steps(e, body);
  } while (!error && body && s->type == CU_GRAPH_COND_TYPE_WHILE && !ending);
  return error;
}

static int run_steps(struct exec *e, const struct steps *s) {
  int error = 0;
  for (size_t i = 0; i < s->count && !error && !ending; i++) {
    const struct step *step = &s->steps[i];
    error = step->condition ? run_choice(e, step) : hip.GraphLaunch(step->part, e->stream);
  }
  return error;
}

static void run(struct exec *e, const struct launch *l) {
  int error = ending ? 0 : hip.EventSynchronize(l->event);
  if (!error) plan_begin(&l->plan->main);
  if (!error) error = run_steps(e, &l->plan->main);
  if (!error && !ending) error = hip.StreamSynchronize(e->stream);
  if (error) say("a graph with conditional nodes ended early (HIP error %d)", error);
}

static void free_exec(struct exec *e) {
  plan_drop(e->plan);
  if (e->stream) hip.StreamDestroy(e->stream);
  if (e->gate) cell_free(CELL_GATE, e->gate);
  free(e);
}

/* What is left when the process ends stays undone; its gates open, as functions may wait for streams at exit. */
static void *work(void *of) {
  struct exec *e = of;
  hip.SetDevice(e->device);
  pthread_mutex_lock(&lock);
  for (struct launch *l; (l = e->first);) {
    pthread_mutex_unlock(&lock);
    run(e, l);
    plan_drop(l->plan);
    hip.EventDestroy(l->event);
    pthread_mutex_lock(&lock);
    e->first = l->next;
    if (!e->first) e->last = &e->first;
    e->done = l->number;
    __atomic_store_n(e->gate->host, l->number, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&moved);
    free(l);
  }
  e->working = false;
  workers--;
  pthread_cond_broadcast(&moved);
  bool over = e->ended;
  pthread_mutex_unlock(&lock);
  if (over) free_exec(e);
  return NULL;
}

/* No call may reach a HIP library that is being taken down; but a kernel that does not end must not hold the process. */
static void at_exit(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec++;
  pthread_mutex_lock(&lock);
  ending = true;
  while (workers && pthread_cond_timedwait(&moved, &lock, &until) != ETIMEDOUT) {}
  pthread_mutex_unlock(&lock);
}

static void register_exit(void) { atexit(at_exit); }

/* Signals are for the program's own threads. */
static bool start_thread(struct exec *e) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  sigset_t all, before;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_once(&once, register_exit);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  int error = pthread_create(&thread, &attributes, work, e);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return !error;
}

/* ---- calls ---- */

CUresult conditional_instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags, struct outcome *why) {
  *why = (struct outcome){CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
  if (instantiated(graph)) return CUDA_ERROR_INVALID_VALUE; /* the conditions are one launch's at a time */
  struct exec *e = calloc(1, sizeof *e);
  if (!e) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = plan_make(graph, flags, &e->plan, why);
  if (result) {
    free(e);
    return result;
  }
  int least = 0, greatest = 0; /* of high priority: hardware queues that a waiting stream of the program is not in */
  hip.DeviceGetStreamPriorityRange(&least, &greatest);
  int error = hip.StreamCreateWithPriority(&e->stream, NON_BLOCKING, greatest);
  e->gate = error ? NULL : cell_new(CELL_GATE);
  if (!e->gate) {
    free_exec(e);
    return error ? hip_error(error) : CUDA_ERROR_OUT_OF_MEMORY;
  }
  e->graph = graph;
  e->flags = flags;
  e->device = thread_state.current->device;
  e->launched = e->done = *e->gate->host;
  e->last = &e->first;
  pthread_mutex_lock(&lock);
  e->next = execs;
  execs = e;
  exec_count++;
  pthread_mutex_unlock(&lock);
  *exec = (CUgraphExec)e;
  return CUDA_SUCCESS;
}

/* Hands the launch to the thread; without one, does its work here. */
static void hand_over(struct exec *e, struct launch *l) {
  pthread_mutex_lock(&lock);
  *e->last = l;
  e->last = &l->next;
  bool start = !e->working;
  if (start) workers++;
  e->working = true;
  pthread_mutex_unlock(&lock);
  if (start && !start_thread(e)) work(e);
}

static void await(struct exec *e, uint64_t number) {
  pthread_mutex_lock(&lock);
  while (e->done < number) pthread_cond_wait(&moved, &lock);
  pthread_mutex_unlock(&lock);
}

CUresult conditional_launch(struct exec *e, CUstream stream) {
  void *in;
  int capturing = 0, error;
  if (!stream_hip(stream, &in)) return CUDA_ERROR_INVALID_HANDLE;
  if (!hip.StreamIsCapturing(in, &capturing) && capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  struct launch *l = calloc(1, sizeof *l);
  if (!l) return CUDA_ERROR_OUT_OF_MEMORY;
  error = hip.EventCreateWithFlags(&l->event, BLOCKING_EVENT_WITHOUT_TIME);
  if (!error) error = hip.EventRecord(l->event, in);
  uint64_t number = l->number = e->launched + 1;
  int gated = error ? error : hip.StreamWaitValue64(in, (void *)e->gate->device, number, GREATER_OR_EQUAL, ~0ull);
  if (gated && gated != HIP_NOT_SUPPORTED) {
    if (l->event) hip.EventDestroy(l->event);
    free(l);
    return hip_error(gated);
  }
  e->launched = number;
  l->plan = e->plan;
  l->plan->references++;
  hand_over(e, l);
  if (gated) await(e, number); /* a device whose streams cannot wait: its caller does */
  return CUDA_SUCCESS;
}

CUresult conditional_update(struct exec *e, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
  struct plan *plan;
  struct outcome why;
  size_t count = 0;
  int error = hip.GraphGetNodes(graph, NULL, &count);
  if (error) return hip_error(error);
  CUresult result = plan_make(graph, e->flags, &plan, &why);
  *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR, .errorNode = why.node};
  if (result) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  info->result = plan_replaces(plan, e->plan, &info->errorNode);
  if (!info->result) {
    struct plan *old = e->plan;
    e->plan = plan;
    plan = old;
  }
  plan_drop(plan);
  return info->result ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS;
}

/* A node of a graph, all the way down, in a clone of it. */
static CUgraphNode counterpart(CUgraph graph, CUgraph clone, CUgraphNode node) {
  size_t count, copies;
  CUgraphNode found = NULL, *nodes = graph_nodes(graph, &count), *in_clone = graph_nodes(clone, &copies);
  for (size_t i = 0; i < count && i < copies && !found; i++) {
    CUgraph child = nodes[i] == node ? NULL : graph_child(nodes[i]), copy = child ? graph_child(in_clone[i]) : NULL;
    found = nodes[i] == node ? in_clone[i] : copy ? counterpart(child, copy, node) : NULL;
  }
  free(nodes);
  free(in_clone);
  return found;
}

/* What the node, or one in its child graph, is in the place's part. */
static CUgraphNode inside(const struct place *p, CUgraphNode node) {
  if (p->node == node) return p->inside;
  CUgraph child = p->type == CU_GRAPH_NODE_TYPE_GRAPH ? graph_child(p->node) : NULL, copy = child ? graph_child(p->inside) : NULL;
  return copy ? counterpart(child, copy, node) : NULL;
}

/* Launches go on with what they began with: their parts are not changed before they are done. */
bool graph_exec_part(CUgraphExec *exec, CUgraphNode *node) {
  struct exec *e = conditional_exec(*exec);
  if (!e) return true;
  for (size_t i = 0; i < e->plan->place_count; i++) {
    const struct place *p = &e->plan->places[i];
    CUgraphNode found = inside(p, *node);
    if (!found) continue;
    await(e, e->launched);
    *exec = p->part;
    *node = found;
    return p->part != NULL;
  }
  return false;
}

bool conditional_destroy(CUgraphExec handle) {
  struct exec *e = conditional_exec(handle);
  if (!e) return false;
  pthread_mutex_lock(&lock);
  struct exec **at = &execs;
  while (*at != e) at = &(*at)->next;
  *at = e->next;
  exec_count--;
  e->ended = true;
  bool now = !e->working;
  pthread_mutex_unlock(&lock);
  if (now) free_exec(e);
  return true;
}
