/* Memory that graphs allocate and free. The address belongs to the graph from the creation of the node; a launch makes
 * the memory accessible; a free node, hipFree or hipFreeAsync ends that. */
#include <stdlib.h>

#include "hip_graph.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct usage { uint64_t used, used_high, reserved, reserved_high; } usages[MAX_DEVICES];

static void count(const struct graph_memory *m, int64_t used, int64_t reserved) {
  struct usage *u = &usages[m->block->device];
  pthread_mutex_lock(&lock);
  u->used += (uint64_t)(used * (int64_t)m->block->size);
  u->reserved += (uint64_t)(reserved * (int64_t)m->block->size);
  if (u->used > u->used_high) u->used_high = u->used;
  if (u->reserved > u->reserved_high) u->reserved_high = u->reserved;
  pthread_mutex_unlock(&lock);
}

hipError_t graph_memory_op(hipMemAllocNodeParams *p, struct op *op) {
  if (!p || !p->bytesize || p->poolProps.allocType != hipMemAllocationTypePinned || p->poolProps.handleTypes ||
      p->poolProps.location.type != hipMemLocationTypeDevice || (p->accessDescCount && !p->accessDescs))
    return hipErrorInvalidValue;
  struct device *d = device_at(p->poolProps.location.id);
  if (!d) return hipErrorInvalidDevice;
  struct graph_memory *m = calloc(1, sizeof *m);
  if (!m || p->bytesize > d->total_memory || !(m->block = mem_alloc(p->bytesize, MEM_DEVICE, d->ordinal))) {
    free(m);
    return hipErrorOutOfMemory;
  }
  m->references = 1;
  m->block->owner = m;
  m->block->api_flags = OF_GRAPH;
  m->block->context = context_current() ? context_current() : d->primary;
  p->dptr = (void *)m->block->base;
  m->params = *p;
  m->params.accessDescs = NULL;
  m->params.accessDescCount = 0;
  count(m, 0, 1);
  *op = (struct op){.kind = OP_ALLOC, .memory = m};
  return hipSuccess;
}

/* Frees memory of an allocation node, of this graph or of another one. */
hipError_t graph_free_op(void *ptr, struct op *op) {
  struct mem_block *block = ptr ? mem_at((uint64_t)ptr) : NULL;
  if (!block || !(block->api_flags & OF_GRAPH)) return hipErrorInvalidValue;
  *op = (struct op){.kind = OP_DEALLOC, .memory = block->owner};
  op_hold(op);
  return hipSuccess;
}

static void release(struct graph_memory *m) {
  count(m, 0, -1);
  mem_release(m->block);
  free(m);
}

void graph_memory_drop(struct graph_memory *m) {
  if (atomic_fetch_sub(&m->references, 1) == 1 && !m->live) release(m);
}

void graph_memory_free(struct mem_block *block) {
  struct graph_memory *m = block->owner;
  block->api_flags = OF_GRAPH;
  if (atomic_exchange(&m->live, false)) count(m, -1, 0);
  if (!m->references) release(m);
}

hipError_t graph_memory_launch(const struct op *op, bool again) {
  struct graph_memory *m = op->memory;
  if (op->kind == OP_DEALLOC) {
    if (atomic_exchange(&m->live, false)) count(m, -1, 0);
    return hipSuccess;
  }
  if (m->live) return again ? hipSuccess : hipErrorInvalidValue;   /* a launch while memory of the previous one is still
                                                                    * allocated */
  m->live = true;
  count(m, 1, 0);
  return hipSuccess;
}

/* ---- nodes ---- */

hipError_t hipGraphAddMemAllocNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends, size_t n,
                                   hipMemAllocNodeParams *params) {
  ENTER();
  struct op op;
  if (!node || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);
  hipError_t error = graph_memory_op(params, &op);
  return done(error == hipSuccess ? graph_add(node, graph, depends, n, &op) : error);
}

hipError_t hipGraphAddMemFreeNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends, size_t n,
                                  void *ptr) {
  ENTER();
  struct op op;
  if (!node || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);
  hipError_t error = graph_free_op(ptr, &op);
  return done(error == hipSuccess ? graph_add(node, graph, depends, n, &op) : error);
}

hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams *params) {
  ENTER();
  if (!params || !handle_ok(&node_class, node) || node->op.kind != OP_ALLOC) return done(hipErrorInvalidValue);
  *params = node->op.memory->params;
  return hipSuccess;
}

hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void *ptr) {
  ENTER();
  if (!ptr || !handle_ok(&node_class, node) || node->op.kind != OP_DEALLOC) return done(hipErrorInvalidValue);
  *(void **)ptr = (void *)node->op.memory->block->base;
  return hipSuccess;
}

/* ---- usage ---- */

hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void *value) {
  ENTER();
  if (!device_at(device)) return done(hipErrorInvalidDevice);
  if (!value || attribute > hipGraphMemAttrReservedMemHigh) return done(hipErrorInvalidValue);
  pthread_mutex_lock(&lock);
  const struct usage *u = &usages[device];
  const uint64_t values[] = {u->used, u->used_high, u->reserved, u->reserved_high};
  *(uint64_t *)value = values[attribute];
  pthread_mutex_unlock(&lock);
  return hipSuccess;
}

/* The high-water marks can be set to 0 to start a new measurement. */
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void *value) {
  ENTER();
  if (!device_at(device)) return done(hipErrorInvalidDevice);
  if (!value || *(uint64_t *)value || (attribute != hipGraphMemAttrUsedMemHigh && attribute != hipGraphMemAttrReservedMemHigh))
    return done(hipErrorInvalidValue);
  pthread_mutex_lock(&lock);
  struct usage *u = &usages[device];
  if (attribute == hipGraphMemAttrUsedMemHigh) u->used_high = u->used;
  else u->reserved_high = u->reserved;
  pthread_mutex_unlock(&lock);
  return hipSuccess;
}

/* Memory that no graph can use any more is given back at once; there is nothing left to trim. */
hipError_t hipDeviceGraphMemTrim(int device) {
  ENTER();
  return done(device_at(device) ? hipSuccess : hipErrorInvalidDevice);
}
