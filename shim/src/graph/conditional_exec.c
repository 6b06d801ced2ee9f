/* Executable graphs with conditional nodes (conditional.h). A launch is a job (deferred.h) of the graph's own line, which
 * executes the parts in a stream of its own, and reads what kernels have set. */
#include <stdlib.h>

#include "conditional.h"
#include "graph_end.h"

struct launch { struct job job; struct plan *plan; };

struct exec {
  struct line line;
  struct exec *next;
  CUgraph graph; /* NULL: that is gone */
  struct plan *plan;
  unsigned long long flags;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exec *execs;
static _Atomic int exec_count;

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
    error = stream_wait(e->line.stream);
    body = chosen(s);
    if (!error && body) error = run_steps(e, body);
  } while (!error && body && s->type == CU_GRAPH_COND_TYPE_WHILE && !lines_ending);
  return error;
}

static int run_steps(struct exec *e, const struct steps *s) {
  int error = 0;
  for (size_t i = 0; i < s->count && !error && !lines_ending; i++) {
    const struct step *step = &s->steps[i];
    error = step->condition ? run_choice(e, step) : graph_exec_launch(step->part, e->line.stream);
  }
  return error;
}

static void run(struct line *line, struct job *job, int error) {
  struct exec *e = (struct exec *)line;
  struct plan *plan = ((struct launch *)job)->plan;
  if (!error) plan_begin(&plan->main);
  if (!error) error = run_steps(e, &plan->main);
  if (!error && !lines_ending) error = stream_wait(line->stream);
  if (error) say("a graph with conditional nodes ended early (HIP error %d)", error);
  plan_drop(plan);
}

static void free_exec(struct line *line) {
  struct exec *e = (struct exec *)line;
  plan_drop(e->plan);
  line_free(line);
  free(e);
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
  e->line.device = thread_state.current->device;
  e->line.run = run;
  e->line.drop = free_exec;
  int error = line_open(&e->line);
  if (error) {
    free_exec(&e->line);
    return hip_error(error);
  }
  e->graph = graph;
  e->flags = flags;
  pthread_mutex_lock(&lock);
  e->next = execs;
  execs = e;
  exec_count++;
  pthread_mutex_unlock(&lock);
  *exec = (CUgraphExec)e;
  return CUDA_SUCCESS;
}

CUresult conditional_launch(struct exec *e, CUstream stream) {
  hipStream_t in;
  hipStreamCaptureStatus capturing = hipStreamCaptureStatusNone;
  int error;
  if (!stream_hip(stream, &in)) return CUDA_ERROR_INVALID_HANDLE;
  if (!hip.StreamIsCapturing(in, &capturing) && capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  struct launch *l = calloc(1, sizeof *l);
  if (!l) return CUDA_ERROR_OUT_OF_MEMORY;
  l->plan = e->plan;
  l->plan->references++;
  error = line_add(&e->line, &l->job, in);
  if (error) {
    plan_drop(l->plan);
    free(l);
  }
  return from_hip(error);
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
    line_await(&e->line, e->line.given);
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
  pthread_mutex_unlock(&lock);
  line_close(&e->line);
  return true;
}
