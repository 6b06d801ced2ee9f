/* Graph nodes by kind: their operations, and access to their parameters. */
#include <stdlib.h>
#include <string.h>

#include "hip_graph.h"

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type) {
  ENTER();
  if (!type || !handle_ok(&node_class, node)) return done(hipErrorInvalidValue);
  switch (node->op.kind) {
    case OP_KERNEL: *type = hipGraphNodeTypeKernel; break;
    case OP_COPY: *type = hipGraphNodeTypeMemcpy; break;
    case OP_FILL: *type = hipGraphNodeTypeMemset; break;
    case OP_HOST: *type = hipGraphNodeTypeHost; break;
    case OP_GRAPH: *type = hipGraphNodeTypeGraph; break;
    case OP_RECORD: *type = hipGraphNodeTypeEventRecord; break;
    case OP_EVENT_WAIT: *type = hipGraphNodeTypeWaitEvent; break;
    case OP_ALLOC: *type = hipGraphNodeTypeMemAlloc; break;
    case OP_DEALLOC: *type = hipGraphNodeTypeMemFree; break;
    case OP_BATCH: *type = node->op.batch->type; break;
    case OP_WAIT_VALUE:
    case OP_WRITE_VALUE: *type = hipGraphNodeTypeBatchMemOp; break;
    default: *type = hipGraphNodeTypeEmpty;
  }
  return hipSuccess;
}

/* From node parameters to operations, whose resources belong to the caller. */

hipError_t graph_kernel_op(const hipKernelNodeParams *p, struct op *op) {
  if (!p) return hipErrorInvalidValue;
  function *f;
  *op = (struct op){.kind = OP_KERNEL};
  hipError_t error = function_of(p->func, device_current(), &f);
  if (error != hipSuccess) return error;
  const unsigned grid[] = {p->gridDim.x, p->gridDim.y, p->gridDim.z};
  const unsigned block[] = {p->blockDim.x, p->blockDim.y, p->blockDim.z};
  error = launch_prepare(&op->launch, f, grid, block, p->sharedMemBytes, p->kernelParams, p->extra);
  if (error != hipSuccess) return error;
  struct kernarg *args = op->launch.args;
  op->launch.args = kernarg_keep(args, op->launch.function->kernel->kernarg_size);
  kernarg_release(args);
  return op->launch.args ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t graph_fill_op(const hipMemsetParams *p, struct op *op) {
  if (!p) return hipErrorInvalidValue;
  *op = (struct op){.kind = OP_FILL, .fill = {p->dst, p->pitch, p->width, p->height, p->elementSize, p->value}};
  return fill_check(&op->fill);
}

hipError_t graph_copy_op(const HIP_MEMCPY3D *p, struct op *op) {
  int devices;
  if (!p) return hipErrorInvalidValue;
  *op = (struct op){.kind = OP_COPY};
  hipError_t error = copy_of_3d(p, &op->copy, &devices);
  return error == hipSuccess ? copy_learn(&op->copy, devices) : error;
}

hipError_t graph_host_op(const hipHostNodeParams *p, struct op *op) {
  if (!p || !p->fn) return hipErrorInvalidValue;
  *op = (struct op){.kind = OP_HOST, .host = {p->fn, p->userData}};
  return hipSuccess;
}

static hipError_t add(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends, size_t count,
                      hipError_t error, const struct op *op) {
  return done(error == hipSuccess ? graph_add(node, graph, depends, count, op) : error);
}

#define ADD_NODE(name, params_type, make)                                                                       \
  hipError_t name(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends, size_t count,         \
                  const params_type *params) {                                                                 \
    ENTER();                                                                                                   \
    struct op op;                                                                                              \
    if (!node || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);                           \
    hipError_t error = make(params, &op);                                                                      \
    return add(node, graph, depends, count, error, &op);                                                       \
  }
ADD_NODE(hipGraphAddKernelNode, hipKernelNodeParams, graph_kernel_op)
ADD_NODE(hipGraphAddMemsetNode, hipMemsetParams, graph_fill_op)
ADD_NODE(hipGraphAddHostNode, hipHostNodeParams, graph_host_op)

hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends,
                                    size_t count, const hipMemsetParams *params, hipCtx_t ctx) {
  (void)ctx;
  return hipGraphAddMemsetNode(node, graph, depends, count, params);
}

hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends,
                                    size_t count, const HIP_MEMCPY3D *params, hipCtx_t ctx) {
  ENTER();
  (void)ctx;
  struct op op;
  if (!node || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);
  hipError_t error = graph_copy_op(params, &op);
  if (error == hipSuccess) error = graph_add(node, graph, depends, count, &op);
  if (error == hipSuccess) (*node)->copy_params = *params;
  return done(error);
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends, size_t count,
                                 const hipMemcpy3DParms *params) {
  ENTER();
  struct op op = {.kind = OP_COPY};
  int devices;
  if (!node || !handle_ok(&graph_class, graph) || !params) return done(hipErrorInvalidValue);
  hipError_t error = copy_of_parms(params, &op.copy, &devices);
  if (error == hipSuccess) error = copy_learn(&op.copy, devices);
  return add(node, graph, depends, count, error, &op);
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends,
                                   size_t count, void *dst, const void *src, size_t size, hipMemcpyKind kind) {
  ENTER();
  (void)kind;
  if (!node || !handle_ok(&graph_class, graph) || !dst || !src) return done(hipErrorInvalidValue);
  struct op op = {.kind = OP_COPY, .copy = {.dst = dst, .src = src, .dst_pitch = size, .src_pitch = size,
                                            .width = size, .height = 1, .depth = 1}};
  return add(node, graph, depends, count, copy_learn(&op.copy, 0), &op);
}

static hipError_t add_event(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends, size_t count,
                            hipEvent_t e, enum op_kind kind) {
  if (!node || !handle_ok(&graph_class, graph) || !handle_ok(&event_class, e)) return done(hipErrorInvalidValue);
  struct op op = {.kind = kind, .record = {e, e->handle.generation}};
  return done(graph_add(node, graph, depends, count, &op));
}

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends,
                                      size_t count, hipEvent_t e) {
  ENTER();
  return add_event(node, graph, depends, count, e, OP_RECORD);
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends,
                                    size_t count, hipEvent_t e) {
  ENTER();
  return add_event(node, graph, depends, count, e, OP_EVENT_WAIT);
}

/* Setting and getting */

static hipError_t event_of(hipGraphNode_t node, enum op_kind kind, hipEvent_t *e) {
  if (!e || !handle_ok(&node_class, node) || node->op.kind != kind) return done(hipErrorInvalidValue);
  *e = node->op.record.event;
  return hipSuccess;
}

static hipError_t set_event(hipGraphNode_t node, enum op_kind kind, hipEvent_t e) {
  if (!handle_ok(&event_class, e)) return done(hipErrorInvalidHandle);
  if (!handle_ok(&node_class, node) || node->op.kind != kind) return done(hipErrorInvalidValue);
  node->op = (struct op){.kind = kind, .record = {e, e->handle.generation}};
  return hipSuccess;
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *e) {
  ENTER();
  return event_of(node, OP_RECORD, e);
}
hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *e) {
  ENTER();
  return event_of(node, OP_EVENT_WAIT, e);
}
hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t e) {
  ENTER();
  return set_event(node, OP_RECORD, e);
}
hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t e) {
  ENTER();
  return set_event(node, OP_EVENT_WAIT, e);
}

/* A new operation of the same kind for a node; *op may be taken over. */
static hipError_t replace(hipGraphNode_t node, enum op_kind kind, hipError_t error, struct op *op) {
  if (error != hipSuccess) return done(error);
  if (node->op.kind != kind) error = hipErrorInvalidValue;
  if (kind == OP_KERNEL) kernarg_release(error == hipSuccess ? node->op.launch.args : op->launch.args);
  if (error == hipSuccess) node->op = *op;
  return done(error);
}

#define SET_PARAMS(name, params_type, kind, make)                            \
  hipError_t name(hipGraphNode_t node, const params_type *params) {          \
    ENTER();                                                                 \
    struct op op;                                                            \
    if (!handle_ok(&node_class, node)) return done(hipErrorInvalidValue);    \
    hipError_t error = make(params, &op);                                    \
    return replace(node, kind, error, &op);                                  \
  }
SET_PARAMS(hipGraphKernelNodeSetParams, hipKernelNodeParams, OP_KERNEL, graph_kernel_op)
SET_PARAMS(hipGraphMemsetNodeSetParams, hipMemsetParams, OP_FILL, graph_fill_op)
SET_PARAMS(hipGraphHostNodeSetParams, hipHostNodeParams, OP_HOST, graph_host_op)

hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t node, const HIP_MEMCPY3D *params) {
  ENTER();
  struct op op;
  if (!handle_ok(&node_class, node)) return done(hipErrorInvalidValue);
  hipError_t error = replace(node, OP_COPY, graph_copy_op(params, &op), &op);
  if (error == hipSuccess) node->copy_params = *params;
  return error;
}

hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t node, HIP_MEMCPY3D *params) {
  ENTER();
  if (!params || !handle_ok(&node_class, node) || node->op.kind != OP_COPY) return done(hipErrorInvalidValue);
  if (node->copy_params.srcMemoryType) {
    *params = node->copy_params;
    return hipSuccess;
  }
  const struct copy *c = &node->op.copy;   /* captured, or created with other parameters */
  *params = (HIP_MEMCPY3D){
      .srcMemoryType = hipMemoryTypeUnified, .srcDevice = (void *)c->src, .srcPitch = c->src_pitch,
      .srcHeight = c->src_pitch && c->src_slice ? c->src_slice / c->src_pitch : c->height,
      .dstMemoryType = hipMemoryTypeUnified, .dstDevice = c->dst, .dstPitch = c->dst_pitch,
      .dstHeight = c->dst_pitch && c->dst_slice ? c->dst_slice / c->dst_pitch : c->height,
      .WidthInBytes = c->width, .Height = c->height, .Depth = c->depth,
  };
  return hipSuccess;
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *p) {
  ENTER();
  if (!p || !handle_ok(&node_class, node) || node->op.kind != OP_KERNEL) return done(hipErrorInvalidValue);
  const struct launch *l = &node->op.launch;
  if (!handle_ok(&function_class, l->function) || l->function->handle.generation != l->generation)
    return done(hipErrorInvalidHandle);
  const struct kernel_info *k = l->function->kernel;
  void **pointers = realloc(node->param_pointers, (k->explicit_count + 1) * sizeof *pointers);
  if (!pointers) return done(hipErrorOutOfMemory);
  node->param_pointers = pointers;
  for (uint32_t n = 0; n < k->explicit_count; n++) pointers[n] = (char *)l->args->address + k->args[n].offset;
  *p = (hipKernelNodeParams){
      .blockDim = {l->block[0], l->block[1], l->block[2]}, .func = l->function,
      .gridDim = {l->grid[0], l->grid[1], l->grid[2]}, .kernelParams = pointers, .sharedMemBytes = l->shared,
  };
  return hipSuccess;
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *p) {
  ENTER();
  if (!p || !handle_ok(&node_class, node) || node->op.kind != OP_FILL) return done(hipErrorInvalidValue);
  const struct fill *f = &node->op.fill;
  *p = (hipMemsetParams){f->dst, f->element, f->height, f->pitch, f->value, f->width};
  return hipSuccess;
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams *p) {
  ENTER();
  if (!p || !handle_ok(&node_class, node) || node->op.kind != OP_HOST) return done(hipErrorInvalidValue);
  *p = (hipHostNodeParams){node->op.host.fn, node->op.host.data};
  return hipSuccess;
}
