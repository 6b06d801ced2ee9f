/* Executable graphs: the operations of a graph and its child graphs in an order that respects the edges. A launch
 * enqueues them in the stream one after the other. */
#include <stdlib.h>
#include <string.h>

#include "hip_graph.h"

#define AUTO_FREE 1u              /* flag: a launch reuses the memory that the previous one left allocated */

struct step {
  hipGraphNode_t node;            /* the node that it came from; only compared */
  struct op op;
  bool enabled;
};

struct hipGraphExec {
  struct handle handle;
  pthread_mutex_t lock;
  bool prepared;
  unsigned long long flags;
  struct step *steps;
  size_t count;
  struct user_hold *holds;
};
struct handle_class exec_class = HANDLE_CLASS(struct hipGraphExec, 1 << 16);

struct plan {
  struct step *steps;
  size_t count, room;
  hipGraphNode_t bad;
  struct user_hold *holds;
};

static void plan_free(struct plan *p) {
  for (size_t k = 0; k < p->count; k++)
    op_drop(&p->steps[k].op);
  free(p->steps);
  user_holds_drop(&p->holds);
}

static hipError_t plan_put(struct plan *p, hipGraphNode_t node) {
  if (p->count == p->room) {
    size_t room = p->room ? 2 * p->room : 32;
    struct step *more = realloc(p->steps, room * sizeof *more);
    if (!more) return hipErrorOutOfMemory;
    p->steps = more;
    p->room = room;
  }
  struct op op = node->op;
  if (op.kind == OP_KERNEL) {
    const function *f = op.launch.function;
    if (!handle_ok(&function_class, f) || f->handle.generation != op.launch.generation) return hipErrorInvalidHandle;
    op.launch.args = kernarg_keep(op.launch.args, f->kernel->kernarg_size);
    if (!op.launch.args) return hipErrorOutOfMemory;
  }
  op_hold(&op);
  p->steps[p->count++] = (struct step){node, op, true};
  return hipSuccess;
}

static hipError_t plan_graph(struct plan *p, hipGraph_t graph);

static hipError_t plan_node(struct plan *p, hipGraphNode_t node) {
  node->mark = true;
  hipError_t error = hipSuccess;
  if (node->op.kind == OP_GRAPH) error = plan_graph(p, node->op.graph);
  else if (node->op.kind != OP_EMPTY) error = plan_put(p, node);
  if (error != hipSuccess && !p->bad) p->bad = node;
  return error;
}

/* Repeated passes over the nodes, taking those whose dependencies have been taken: one pass if they were added in
 * order. */
static hipError_t plan_graph(struct plan *p, hipGraph_t graph) {
  if (user_holds_copy(&p->holds, graph->holds) != hipSuccess) return hipErrorOutOfMemory;
  for (size_t k = 0; k < graph->count; k++) graph->nodes[k]->mark = false;
  for (size_t left = graph->count; left > 0;) {
    size_t before = left;
    for (size_t k = 0; k < graph->count; k++) {
      hipGraphNode_t node = graph->nodes[k];
      bool ready = !node->mark;
      for (size_t n = 0; ready && n < node->depend_count; n++) ready = node->depends[n]->mark;
      if (!ready) continue;
      hipError_t error = plan_node(p, node);
      if (error != hipSuccess) return error;
      left--;
    }
    if (left == before) return hipErrorInvalidValue;   /* a cycle */
  }
  return hipSuccess;
}

static hipError_t instantiate(hipGraphExec_t *exec, hipGraph_t graph, unsigned long long flags, hipGraphNode_t *bad) {
  if (bad) *bad = NULL;
  if (!exec || !handle_ok(&graph_class, graph) || flags & ~0xfull) return hipErrorInvalidValue;
  struct plan p = {0};
  hipError_t error = plan_graph(&p, graph);
  hipGraphExec_t e = error == hipSuccess ? handle_new(&exec_class) : NULL;
  if (!e) {
    if (bad) *bad = p.bad;
    plan_free(&p);
    return error == hipSuccess ? hipErrorOutOfMemory : error;
  }
  if (!e->prepared) pthread_mutex_init(&e->lock, NULL);
  e->prepared = true;
  e->flags = flags;
  e->steps = p.steps;
  e->count = p.count;
  e->holds = p.holds;
  *exec = e;
  return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *error, char *log, size_t size) {
  ENTER();
  if (log && size) *log = 0;
  return done(instantiate(exec, graph, 0, error));
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph, unsigned long long flags) {
  ENTER();
  return done(instantiate(exec, graph, flags, NULL));
}

hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *exec, hipGraph_t graph, hipGraphInstantiateParams *params) {
  ENTER();
  if (!params) return done(hipErrorInvalidValue);
  hipError_t error = instantiate(exec, graph, params->flags, &params->errNode_out);
  params->result_out = error == hipSuccess ? 0 : 1;
  return done(error);
}

hipError_t hipGraphExecDestroy(hipGraphExec_t e) {
  ENTER();
  if (!handle_ok(&exec_class, e)) return done(hipErrorInvalidValue);
  struct plan p = {.steps = e->steps, .count = e->count, .holds = e->holds};
  if (p.holds) hipDeviceSynchronize();   /* its launches may use them */
  handle_free(&exec_class, e);
  plan_free(&p);                  /* launches hold copies */
  return hipSuccess;
}

hipError_t hipGraphExecGetFlags(hipGraphExec_t e, unsigned long long *flags) {
  ENTER();
  if (!flags || !handle_ok(&exec_class, e)) return done(hipErrorInvalidValue);
  *flags = e->flags;
  return hipSuccess;
}

hipError_t hipGraphUpload(hipGraphExec_t e, hipStream_t stream) {
  ENTER();
  if (!handle_ok(&exec_class, e)) return done(hipErrorInvalidValue);
  return done(stream_resolve(stream) ? hipSuccess : hipErrorInvalidHandle);
}

static hipError_t launch_kernel(stream *s, const struct op *kept) {
  const function *f = kept->launch.function;
  if (!handle_ok(&function_class, f) || f->handle.generation != kept->launch.generation) return hipErrorInvalidHandle;
  struct op op = *kept;
  size_t size = f->kernel->kernarg_size;
  op.launch.args = launch_args_new(&op.launch);
  if (!op.launch.args) return hipErrorOutOfMemory;
  memcpy((void *)op.launch.args->address, (const void *)kept->launch.args->address, size);
  launch_args_bind(&op.launch);
  hipError_t error = stream_submit(s, &op, NULL);
  if (error != hipSuccess) kernarg_release(op.launch.args);
  return error;
}

static hipError_t launch_step(stream *s, const struct op *op, bool again) {
  switch (op->kind) {
    case OP_KERNEL: return launch_kernel(s, op);
    case OP_RECORD:
    case OP_EVENT_WAIT: {
      event *e = op->record.event;
      if (!handle_ok(&event_class, e) || e->handle.generation != op->record.generation) return hipErrorInvalidHandle;
      if (op->kind == OP_RECORD) return s->capture ? capture_record(s, e) : event_record(e, s);
      return s->capture || e->capture ? capture_wait(s, e) : event_wait(s, e);
    }
    case OP_ALLOC:
    case OP_DEALLOC: return graph_memory_launch(op, again);
    default: {
      op_hold(op);
      hipError_t error = stream_submit(s, op, NULL);
      if (error != hipSuccess) op_drop(op);
      return error;
    }
  }
}

hipError_t hipGraphLaunch(hipGraphExec_t e, hipStream_t handle) {
  ENTER();
  stream *s = stream_resolve(handle);
  if (!s) return done(hipErrorInvalidHandle);
  if (!handle_ok(&exec_class, e)) return done(hipErrorInvalidValue);
  hipError_t error = device_error(s->device);
  pthread_mutex_lock(&e->lock);
  for (size_t k = 0; error == hipSuccess && k < e->count; k++)
    if (e->steps[k].enabled) error = launch_step(s, &e->steps[k].op, e->flags & AUTO_FREE);
  pthread_mutex_unlock(&e->lock);
  return done(error);
}

/* Updates of an executable graph: visible to later launches. */

static struct step *find_step(hipGraphExec_t e, hipGraphNode_t node) {
  for (size_t k = 0; k < e->count; k++)
    if (e->steps[k].node == node) return &e->steps[k];
  return NULL;
}

hipError_t graph_exec_set(hipGraphExec_t e, hipGraphNode_t node, enum op_kind kind, hipError_t error, struct op *op) {
  if (error != hipSuccess) return done(error);
  struct step *step = NULL;
  if (handle_ok(&exec_class, e)) {
    pthread_mutex_lock(&e->lock);
    step = find_step(e, node);
    if (step && (step->op.kind != kind || (kind == OP_BATCH && step->op.batch->type != op->batch->type))) step = NULL;
    if (step) {
      struct op old = step->op;
      step->op = *op;
      *op = old;                  /* released below, like a new one that was not used */
    }
    pthread_mutex_unlock(&e->lock);
  }
  op_drop(op);
  return done(step ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, const hipKernelNodeParams *params) {
  ENTER();
  struct op op;
  hipError_t error = graph_kernel_op(params, &op);
  return graph_exec_set(e, node, OP_KERNEL, error, &op);
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, const hipMemsetParams *params) {
  ENTER();
  struct op op;
  hipError_t error = graph_fill_op(params, &op);
  return graph_exec_set(e, node, OP_FILL, error, &op);
}

hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, const hipMemsetParams *params,
                                              hipCtx_t ctx) {
  (void)ctx;
  return hipGraphExecMemsetNodeSetParams(e, node, params);
}

hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, const HIP_MEMCPY3D *params,
                                              hipCtx_t ctx) {
  ENTER();
  (void)ctx;
  struct op op;
  hipError_t error = graph_copy_op(params, &op);
  return graph_exec_set(e, node, OP_COPY, error, &op);
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, const hipHostNodeParams *params) {
  ENTER();
  struct op op;
  hipError_t error = graph_host_op(params, &op);
  return graph_exec_set(e, node, OP_HOST, error, &op);
}

static hipError_t set_event(hipGraphExec_t e, hipGraphNode_t node, hipEvent_t event, enum op_kind kind) {
  if (!handle_ok(&event_class, event)) return done(hipErrorInvalidHandle);
  struct op op = {.kind = kind, .record = {event, event->handle.generation}};
  return graph_exec_set(e, node, kind, hipSuccess, &op);
}

hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t e, hipGraphNode_t node, hipEvent_t event) {
  ENTER();
  return set_event(e, node, event, OP_RECORD);
}

hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t e, hipGraphNode_t node, hipEvent_t event) {
  ENTER();
  return set_event(e, node, event, OP_EVENT_WAIT);
}

/* The child must have the same shape as the node's: its steps receive the new operations one by one. */
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t e, hipGraphNode_t node, hipGraph_t child) {
  ENTER();
  if (!handle_ok(&exec_class, e) || !handle_ok(&node_class, node) || node->op.kind != OP_GRAPH ||
      !handle_ok(&graph_class, child))
    return done(hipErrorInvalidValue);
  struct plan was = {0}, will = {0};
  hipError_t error = plan_graph(&was, node->op.graph);
  if (error == hipSuccess) error = plan_graph(&will, child);
  if (error == hipSuccess && was.count != will.count) error = hipErrorGraphExecUpdateFailure;
  for (size_t k = 0; error == hipSuccess && k < was.count; k++)
    if (was.steps[k].op.kind != will.steps[k].op.kind) error = hipErrorGraphExecUpdateFailure;
  for (size_t k = 0; error == hipSuccess && k < was.count; k++) {
    struct op op = will.steps[k].op;
    will.steps[k].op.kind = OP_EMPTY;   /* handed over */
    error = graph_exec_set(e, was.steps[k].node, op.kind, hipSuccess, &op);
  }
  plan_free(&was);
  plan_free(&will);
  return done(error);
}

/* The graph must have the same shape: the same kinds of operations in the same order. */
hipError_t hipGraphExecUpdate(hipGraphExec_t e, hipGraph_t graph, hipGraphNode_t *bad,
                              hipGraphExecUpdateResult *result) {
  ENTER();
  if (!handle_ok(&exec_class, e) || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);
  struct plan p = {0};
  hipGraphExecUpdateResult outcome = hipGraphExecUpdateSuccess;
  hipGraphNode_t where = NULL;
  hipError_t error = plan_graph(&p, graph);
  if (error != hipSuccess) {
    outcome = hipGraphExecUpdateError;
    where = p.bad;
  }
  pthread_mutex_lock(&e->lock);
  if (!outcome && p.count != e->count) outcome = hipGraphExecUpdateErrorTopologyChanged;
  for (size_t k = 0; !outcome && k < p.count; k++) {
    if (p.steps[k].op.kind == e->steps[k].op.kind) continue;
    outcome = hipGraphExecUpdateErrorNodeTypeChanged;
    where = p.steps[k].node;
  }
  if (!outcome) {
    for (size_t k = 0; k < p.count; k++) {
      /* Nodes of the first graph still identify the steps. */
      p.steps[k].node = e->steps[k].node;
      p.steps[k].enabled = e->steps[k].enabled;
    }
    struct step *steps = e->steps;
    e->steps = p.steps;
    p.steps = steps;
    struct user_hold *holds = e->holds;
    e->holds = p.holds;
    p.holds = holds;
  }
  pthread_mutex_unlock(&e->lock);
  plan_free(&p);
  if (bad) *bad = where;
  if (result) *result = outcome;
  return done(outcome ? hipErrorGraphExecUpdateFailure : hipSuccess);
}

static bool can_be_disabled(const struct step *s) {
  return s->op.kind == OP_KERNEL || s->op.kind == OP_COPY || s->op.kind == OP_FILL;
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t e, hipGraphNode_t node, unsigned enabled) {
  ENTER();
  if (!handle_ok(&exec_class, e)) return done(hipErrorInvalidValue);
  pthread_mutex_lock(&e->lock);
  struct step *step = find_step(e, node);
  bool ok = step && can_be_disabled(step);
  if (ok) step->enabled = enabled != 0;
  pthread_mutex_unlock(&e->lock);
  return done(ok ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipGraphNodeGetEnabled(hipGraphExec_t e, hipGraphNode_t node, unsigned *enabled) {
  ENTER();
  if (!enabled || !handle_ok(&exec_class, e)) return done(hipErrorInvalidValue);
  pthread_mutex_lock(&e->lock);
  struct step *step = find_step(e, node);
  bool ok = step && can_be_disabled(step);
  if (ok) *enabled = step->enabled;
  pthread_mutex_unlock(&e->lock);
  return done(ok ? hipSuccess : hipErrorInvalidValue);
}
