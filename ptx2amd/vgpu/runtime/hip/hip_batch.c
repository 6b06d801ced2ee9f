/* Several operations as one: batches of waits for values and writes of values, signals and waits of external
 * semaphores; in streams and as graph nodes. */
#include <stdlib.h>
#include <string.h>

#include "hip_graph.h"

struct handle_class semaphore_class = HANDLE_CLASS(struct ihipExternalSemaphore, 1 << 12);

static struct batch *batch_new(hipGraphNodeType type, size_t count, size_t handle_bytes, size_t param_bytes) {
  struct batch *b = calloc(1, sizeof *b + count * (sizeof *b->ops + handle_bytes + param_bytes));
  if (!b) return NULL;
  b->references = 1;
  b->type = type;
  b->count = count;
  b->handles = b->ops + count;
  b->params = (char *)b->handles + count * handle_bytes;
  return b;
}

static hipError_t value_op(const hipStreamBatchMemOpParams *p, struct op *op) {
  bool wide = p->operation == hipStreamMemOpWaitValue64 || p->operation == hipStreamMemOpWriteValue64;
  bool wait = p->operation == hipStreamMemOpWaitValue32 || p->operation == hipStreamMemOpWaitValue64;
  if (p->operation == hipStreamMemOpBarrier || p->operation == hipStreamMemOpFlushRemoteWrites) {
    *op = (struct op){.kind = OP_EMPTY};   /* streams execute in order, and memory is coherent */
    return hipSuccess;
  }
  if (p->operation < hipStreamMemOpWaitValue32 || p->operation > hipStreamMemOpBarrier) return hipErrorInvalidValue;
  size_t bytes = wide ? 8 : 4;
  if ((uint64_t)p->value.address % bytes || !mem_spans(p->value.address, bytes, true) || (wait && p->value.flags > 3))
    return hipErrorInvalidValue;
  uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
  *op = (struct op){.kind = wait ? OP_WAIT_VALUE : OP_WRITE_VALUE,
                    .value = {p->value.address, p->value.value64 & mask, mask, p->value.flags, wide}};
  return hipSuccess;
}

/* On success the batch belongs to the caller. */
static hipError_t value_batch(unsigned count, const hipStreamBatchMemOpParams *params, struct op *op) {
  if (!count || count > 256 || !params) return hipErrorInvalidValue;
  struct batch *b = batch_new(hipGraphNodeTypeBatchMemOp, count, 0, sizeof *params);
  if (!b) return hipErrorOutOfMemory;
  memcpy(b->params, params, count * sizeof *params);
  for (unsigned k = 0; k < count; k++) {
    hipError_t error = value_op(&params[k], &b->ops[k]);
    if (error == hipSuccess) continue;
    free(b);
    return error;
  }
  *op = (struct op){.kind = OP_BATCH, .batch = b};
  return hipSuccess;
}

static hipError_t semaphore_batch(const hipExternalSemaphore_t *semaphores, const hipExternalSemaphoreParams *params,
                                  unsigned count, bool wait, struct op *op) {
  if (!semaphores || !params || !count) return hipErrorInvalidValue;
  struct batch *b = batch_new(wait ? hipGraphNodeTypeExtSemaphoreWait : hipGraphNodeTypeExtSemaphoreSignal, count,
                              sizeof *semaphores, sizeof *params);
  if (!b) return hipErrorOutOfMemory;
  memcpy(b->handles, semaphores, count * sizeof *semaphores);
  memcpy(b->params, params, count * sizeof *params);
  for (unsigned k = 0; k < count; k++) {
    if (!handle_ok(&semaphore_class, semaphores[k])) {
      free(b);
      return hipErrorInvalidHandle;
    }
    b->ops[k] = (struct op){.kind = wait ? OP_AWAIT : OP_SIGNAL, .semaphore = {semaphores[k]->fd}};
  }
  *op = (struct op){.kind = OP_BATCH, .batch = b};
  return hipSuccess;
}

void op_hold(const struct op *op) {
  if (op->kind == OP_BATCH) atomic_fetch_add(&op->batch->references, 1);
  else if (op->kind == OP_ALLOC || op->kind == OP_DEALLOC) atomic_fetch_add(&op->memory->references, 1);
}

void op_drop(const struct op *op) {
  switch (op->kind) {
    case OP_KERNEL: kernarg_release(op->launch.args); break;
    case OP_BATCH:
      if (atomic_fetch_sub(&op->batch->references, 1) == 1) free(op->batch);
      break;
    case OP_ALLOC: case OP_DEALLOC: graph_memory_drop(op->memory); break;
    default: break;
  }
}

/* ---- streams ---- */

static hipError_t enqueue(hipStream_t handle, hipError_t error, struct op *op) {
  stream *s = stream_resolve(handle);
  if (error != hipSuccess) return done(error);
  error = s ? device_error(s->device) : hipErrorInvalidHandle;
  if (error == hipSuccess) error = stream_submit(s, op, NULL);
  if (error != hipSuccess) op_drop(op);
  return done(error);
}

hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned count, hipStreamBatchMemOpParams *params, unsigned flags) {
  ENTER();
  struct op op;
  if (flags) return done(hipErrorInvalidValue);
  hipError_t error = value_batch(count, params, &op);
  return enqueue(stream, error, &op);
}

hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t *semaphores,
                                            const hipExternalSemaphoreParams *params, unsigned count,
                                            hipStream_t stream) {
  ENTER();
  struct op op;
  hipError_t error = semaphore_batch(semaphores, params, count, false, &op);
  return enqueue(stream, error, &op);
}

hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t *semaphores,
                                          const hipExternalSemaphoreParams *params, unsigned count,
                                          hipStream_t stream) {
  ENTER();
  struct op op;
  hipError_t error = semaphore_batch(semaphores, params, count, true, &op);
  return enqueue(stream, error, &op);
}

/* ---- graph nodes ---- */

static hipError_t values_op(const hipBatchMemOpNodeParams *p, struct op *op) {
  return p && !p->flags ? value_batch(p->count, p->paramArray, op) : hipErrorInvalidValue;
}
static hipError_t signals_op(const hipExternalSemaphoreNodeParams *p, struct op *op) {
  return p ? semaphore_batch(p->extSemArray, p->paramsArray, p->numExtSems, false, op) : hipErrorInvalidValue;
}
static hipError_t waits_op(const hipExternalSemaphoreNodeParams *p, struct op *op) {
  return p ? semaphore_batch(p->extSemArray, p->paramsArray, p->numExtSems, true, op) : hipErrorInvalidValue;
}

static hipError_t add(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends, size_t count,
                      hipError_t error, struct op *op) {
  if (error != hipSuccess) return done(error);
  if (node && handle_ok(&graph_class, graph)) return done(graph_add(node, graph, depends, count, op));
  op_drop(op);
  return done(hipErrorInvalidValue);
}

static bool holds(hipGraphNode_t node, hipGraphNodeType type) {
  return handle_ok(&node_class, node) && node->op.kind == OP_BATCH && node->op.batch->type == type;
}

static hipError_t set(hipGraphNode_t node, hipError_t error, struct op *op) {
  if (error != hipSuccess) return done(error);
  bool ok = holds(node, op->batch->type);
  struct op old = *op;
  if (ok) {
    old = node->op;
    node->op = *op;
  }
  op_drop(&old);
  return done(ok ? hipSuccess : hipErrorInvalidValue);
}

/* The setter of a node takes its parameters as const or not, as HIP declares them. */
#define NODE(Name, Params, SetParams, make)                                                                           \
  hipError_t hipGraphAdd##Name##Node(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends,           \
                                     size_t count, const Params *params) {                                            \
    ENTER();                                                                                                          \
    struct op op;                                                                                                     \
    hipError_t error = make(params, &op);                                                                             \
    return add(node, graph, depends, count, error, &op);                                                              \
  }                                                                                                                   \
  hipError_t hipGraph##Name##NodeSetParams(hipGraphNode_t node, SetParams *params) {                                  \
    ENTER();                                                                                                          \
    struct op op;                                                                                                     \
    hipError_t error = make(params, &op);                                                                             \
    return set(node, error, &op);                                                                                     \
  }                                                                                                                   \
  hipError_t hipGraphExec##Name##NodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const Params *params) {      \
    ENTER();                                                                                                          \
    struct op op;                                                                                                     \
    hipError_t error = make(params, &op);                                                                             \
    return graph_exec_set(exec, node, OP_BATCH, error, &op);                                                          \
  }
NODE(BatchMemOp, hipBatchMemOpNodeParams, hipBatchMemOpNodeParams, values_op)
NODE(ExternalSemaphoresSignal, hipExternalSemaphoreNodeParams, const hipExternalSemaphoreNodeParams, signals_op)
NODE(ExternalSemaphoresWait, hipExternalSemaphoreNodeParams, const hipExternalSemaphoreNodeParams, waits_op)

/* The returned pointers are valid as long as the node keeps its parameters. */
hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t node, hipBatchMemOpNodeParams *params) {
  ENTER();
  if (!params || !holds(node, hipGraphNodeTypeBatchMemOp)) return done(hipErrorInvalidValue);
  const struct batch *b = node->op.batch;
  *params = (hipBatchMemOpNodeParams){.count = (unsigned)b->count, .paramArray = b->params};
  return hipSuccess;
}

static hipError_t semaphores_of(hipGraphNode_t node, hipGraphNodeType type, hipExternalSemaphoreNodeParams *params) {
  if (!params || !holds(node, type)) return done(hipErrorInvalidValue);
  const struct batch *b = node->op.batch;
  *params = (hipExternalSemaphoreNodeParams){b->handles, b->params, (unsigned)b->count};
  return hipSuccess;
}

hipError_t hipGraphExternalSemaphoresSignalNodeGetParams(hipGraphNode_t node, hipExternalSemaphoreNodeParams *params) {
  ENTER();
  return semaphores_of(node, hipGraphNodeTypeExtSemaphoreSignal, params);
}

hipError_t hipGraphExternalSemaphoresWaitNodeGetParams(hipGraphNode_t node, hipExternalSemaphoreNodeParams *params) {
  ENTER();
  return semaphores_of(node, hipGraphNodeTypeExtSemaphoreWait, params);
}
