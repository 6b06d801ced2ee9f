/* Graphs: generic nodes by type, edges with data. */
#include <stdlib.h>

#include "conditional.h"
#include "graph_move.h"
#include "module.h"

static CUresult add_child(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                          const CUgraphNodeParams *p) {
  CUgraph child = handle_now(p->graph.graph);
  switch (p->graph.ownership) {
    case CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE: return cuGraphAddChildGraphNode(node, graph, dependencies, count, child);
    case CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE: return graph_move(node, graph, dependencies, count, child);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

static CUresult add_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                         CUgraphNodeParams *p) {
  static int said;
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return conditional_add(node, graph, dependencies, count, p);
    case CU_GRAPH_NODE_TYPE_KERNEL: return cuGraphAddKernelNode_v2(node, graph, dependencies, count, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return cuGraphAddMemsetNode(node, graph, dependencies, count, &p->memset, NULL);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphAddMemcpyNode(node, graph, dependencies, count, &p->memcpy.copyParams, NULL);
    case CU_GRAPH_NODE_TYPE_HOST:
      return cuGraphAddHostNode(node, graph, dependencies, count, (const CUDA_HOST_NODE_PARAMS *)&p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH: return add_child(node, graph, dependencies, count, p);
    case CU_GRAPH_NODE_TYPE_EMPTY: return cuGraphAddEmptyNode(node, graph, dependencies, count);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return cuGraphAddEventWaitNode(node, graph, dependencies, count, p->event.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return cuGraphAddEventRecordNode(node, graph, dependencies, count, p->event.event);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return cuGraphAddMemFreeNode(node, graph, dependencies, count, p->free.dptr);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return cuGraphAddMemAllocNode(node, graph, dependencies, count, (void *)p->words);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return cuGraphAddExternalSemaphoresSignalNode(node, graph, dependencies, count, (void *)p->words);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return cuGraphAddExternalSemaphoresWaitNode(node, graph, dependencies, count, (void *)p->words);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return cuGraphAddBatchMemOpNode(node, graph, dependencies, count, (void *)p->words);
    default: return refuse(&said, "cuGraphAddNode with this type of node");
  }
}

CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                        size_t numDependencies, CUgraphNodeParams *nodeParams) {
  if (!phGraphNode || !nodeParams) return CUDA_ERROR_INVALID_VALUE;
  return add_node(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *dependencyData, size_t numDependencies,
                           CUgraphNodeParams *nodeParams) {
  (void)dependencyData; /* edges are full dependencies: stronger than any port */
  return cuGraphAddNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

CUresult cuGraphAddNode_v3(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *dependencyData, size_t numDependencies,
                           CUgraphNodeParams *nodeParams) {
  return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);
}

/* Memory that a graph allocates has one address: a clone would have the same. */
static bool has_memory(CUgraph graph) {
  size_t count;
  bool found = false;
  CUgraphNode *nodes = graph_nodes(graph, &count);
  for (size_t i = 0; i < count && !found; i++) {
    CUgraphNodeType type;
    CUgraph child = graph_child(nodes[i]);
    found = child ? has_memory(child) : !cuGraphNodeGetType(nodes[i], &type) &&
                                            (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE);
  }
  free(nodes);
  return found;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies, CUgraph childGraph) {
  if (!phGraphNode || childGraph == hGraph || graph_is_moved(childGraph)) return CUDA_ERROR_INVALID_VALUE;
  if (has_conditionals(childGraph) || has_memory(childGraph)) return CUDA_ERROR_NOT_SUPPORTED;
  return from_hip(hip.GraphAddChildGraphNode(phGraphNode, hGraph, dependencies, numDependencies, childGraph));
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
  static int said;
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams *p = nodeParams;
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return cuGraphKernelNodeSetParams_v2(hNode, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMSET: return cuGraphMemsetNodeSetParams(hNode, &p->memset);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return cuGraphMemcpyNodeSetParams(hNode, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_HOST: return cuGraphHostNodeSetParams(hNode, (void *)p->words);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cuGraphEventRecordNodeSetEvent(hNode, p->event.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphEventWaitNodeSetEvent(hNode, p->event.event);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return cuGraphExternalSemaphoresSignalNodeSetParams(hNode, (void *)p->words);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return cuGraphExternalSemaphoresWaitNodeSetParams(hNode, (void *)p->words);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return cuGraphBatchMemOpNodeSetParams(hNode, (void *)p->words);
    default: return refuse(&said, "cuGraphNodeSetParams with this type of node");
  }
}

/* What the node has been given; pointers lead to memory of the node. */
CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
  static int said;
  CUgraphNodeParams found = {0}, *p = &found;
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuGraphNodeGetType(hNode, &p->type);
  if (result) return result;
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: result = cuGraphKernelNodeGetParams_v2(hNode, &p->kernel); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: result = cuGraphMemsetNodeGetParams(hNode, &p->memset); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      p->memcpy.copyCtx = (CUcontext)thread_state.current;
      result = cuGraphMemcpyNodeGetParams(hNode, &p->memcpy.copyParams);
      break;
    case CU_GRAPH_NODE_TYPE_HOST: result = cuGraphHostNodeGetParams(hNode, (CUDA_HOST_NODE_PARAMS *)&p->host); break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      result = cuGraphChildGraphNodeGetGraph(hNode, &p->graph.graph);
      graph_then(&p->graph.graph);
      p->graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID;
      break;
    case CU_GRAPH_NODE_TYPE_EMPTY: break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: result = cuGraphEventWaitNodeGetEvent(hNode, &p->event.event); break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: result = cuGraphEventRecordNodeGetEvent(hNode, &p->event.event); break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: result = cuGraphMemFreeNodeGetParams(hNode, &p->free.dptr); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: result = cuGraphMemAllocNodeGetParams(hNode, (void *)p->words); break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: conditional_get(conditional_of(hNode), p); break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      result = cuGraphExternalSemaphoresSignalNodeGetParams(hNode, (void *)p->words);
      break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      result = cuGraphExternalSemaphoresWaitNodeGetParams(hNode, (void *)p->words);
      break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: result = cuGraphBatchMemOpNodeGetParams(hNode, (void *)p->words); break;
    default: return refuse(&said, "cuGraphNodeGetParams with this type of node");
  }
  if (!result) *nodeParams = found;
  return result;
}

CUresult cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
  return cuGraphNodeSetParams(hNode, nodeParams);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
  static int said;
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams *p = nodeParams;
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return cuGraphExecKernelNodeSetParams_v2(hGraphExec, hNode, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMSET: return cuGraphExecMemsetNodeSetParams(hGraphExec, hNode, &p->memset, NULL);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphExecMemcpyNodeSetParams(hGraphExec, hNode, &p->memcpy.copyParams, NULL);
    case CU_GRAPH_NODE_TYPE_HOST: return cuGraphExecHostNodeSetParams(hGraphExec, hNode, (void *)p->words);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return cuGraphExecChildGraphNodeSetParams(hGraphExec, hNode, handle_now(p->graph.graph));
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cuGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, p->event.event);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, p->event.event);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return cuGraphExecExternalSemaphoresSignalNodeSetParams(hGraphExec, hNode, (void *)p->words);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return cuGraphExecExternalSemaphoresWaitNodeSetParams(hGraphExec, hNode, (void *)p->words);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return cuGraphExecBatchMemOpNodeSetParams(hGraphExec, hNode, (void *)p->words);
    default: return refuse(&said, "cuGraphExecNodeSetParams with this type of node");
  }
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type) {
  if (!type) return CUDA_ERROR_INVALID_VALUE;
  if (conditional_of(hNode)) {
    *type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    return CUDA_SUCCESS;
  }
  hipGraphNodeType found = 0;
  int error = hip.GraphNodeGetType(hNode, &found);
  if (error) return hip_error(error);
  if (hip_version < 503) { /* counted from 1, and no nodes of semaphores and memory before those of copies */
    *type = found <= 8 ? found - 1 : CU_GRAPH_NODE_TYPE_MEMCPY;
    return CUDA_SUCCESS;
  }
  /* HIP has two more kinds of copies in between. */
  *type = found == 12 || found == 13 ? CU_GRAPH_NODE_TYPE_MEMCPY : found == 14 ? CU_GRAPH_NODE_TYPE_BATCH_MEM_OP : found;
  return CUDA_SUCCESS;
}

/* Edges have no data: every one is a full dependency. */
static void no_edge_data(CUgraphEdgeData *data, const size_t *count, bool listed) {
  char *bytes = (char *)data;
  for (size_t i = 0; bytes && listed && count && i < *count * 8; i++) bytes[i] = 0;
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
                            size_t *numEdges) {
  CUresult result = cuGraphGetEdges(hGraph, from, to, numEdges);
  if (!result) no_edge_data(edgeData, numEdges, from != NULL);
  return result;
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
                                       size_t *numDependencies) {
  CUresult result = cuGraphNodeGetDependencies(hNode, dependencies, numDependencies);
  if (!result) no_edge_data(edgeData, numDependencies, dependencies != NULL);
  return result;
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,
                                         size_t *numDependentNodes) {
  CUresult result = cuGraphNodeGetDependentNodes(hNode, dependentNodes, numDependentNodes);
  if (!result) no_edge_data(edgeData, numDependentNodes, dependentNodes != NULL);
  return result;
}
