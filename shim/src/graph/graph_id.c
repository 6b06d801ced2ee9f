/* Numbers of graphs and nodes, and which graph a node is in. HIP tells neither: the graphs that the program has are kept
 * here, numbers are handed out when they are asked for, and go with what they name. HIP's drawing (cuGraphDebugDotPrint)
 * has numbers of its own. */
#include <stdlib.h>

#include "conditional.h"
#include "graph_end.h"
#include "graph_move.h"

enum { CAPTURED = 1 }; /* of a graph: a stream is captured into it, and it is nobody's yet */
struct entry { const void *object; unsigned id; };
struct list { struct entry *entries; size_t count, room; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list graphs;       /* that the program made, and has to destroy; and bodies of conditional nodes */
static struct list graph_ids;    /* of graphs and executable graphs */
static struct list node_ids;

/* ---- lists, under the lock ---- */

static struct entry *find(const struct list *l, const void *object) {
  for (size_t i = l->count; i-- > 0;)
    if (l->entries[i].object == object) return &l->entries[i];
  return NULL;
}

static struct entry *add(struct list *l, const void *object, unsigned id) {
  if (l->count == l->room) {
    size_t room = l->room ? 2 * l->room : 16;
    struct entry *more = realloc(l->entries, room * sizeof *more);
    if (!more) return NULL;
    l->entries = more;
    l->room = room;
  }
  l->entries[l->count] = (struct entry){object, id};
  return &l->entries[l->count++];
}

static void drop(struct list *l, const void *object) {
  struct entry *e = find(l, object);
  if (e) *e = l->entries[--l->count];
}

/* ---- walks through HIP ---- */

CUgraphNode *graph_nodes(CUgraph graph, size_t *count) {
  *count = 0;
  if (hip.GraphGetNodes(graph, NULL, count) || !*count) return NULL;
  CUgraphNode *nodes = malloc(*count * sizeof *nodes);
  if (nodes && !hip.GraphGetNodes(graph, nodes, count)) return nodes;
  free(nodes);
  *count = 0;
  return NULL;
}

CUgraph graph_child(CUgraphNode node) {
  CUgraphNodeType type;
  CUgraph child = NULL;
  if (cuGraphNodeGetType(node, &type) || type != CU_GRAPH_NODE_TYPE_GRAPH) return NULL;
  return hip.GraphChildGraphNodeGetGraph(node, &child) ? NULL : child;
}

/* The graph that has the node: this one, or one in it. */
static CUgraph holder(CUgraph graph, CUgraphNode node) {
  size_t count;
  CUgraph found = NULL;
  CUgraphNode *nodes = graph_nodes(graph, &count);
  for (size_t i = 0; i < count && !found; i++)
    if (nodes[i] == node) found = graph;
  for (size_t i = 0; i < count && !found; i++) {
    CUgraph child = graph_child(nodes[i]);
    if (child) found = holder(child, node);
  }
  free(nodes);
  return found;
}

/* A child graph in it, all the way down. */
static bool has_child(CUgraph graph, CUgraph wanted) {
  size_t count;
  bool found = false;
  CUgraphNode *nodes = graph_nodes(graph, &count);
  for (size_t i = 0; i < count && !found; i++) {
    CUgraph child = graph_child(nodes[i]);
    found = child && (child == wanted || has_child(child, wanted));
  }
  free(nodes);
  return found;
}

static void forget_graph(CUgraph graph);
static void forget_node(CUgraphNode node) {
  CUgraph child = graph_child(node);
  drop(&node_ids, node);
  if (child) forget_graph(child);
}

static void forget_graph(CUgraph graph) {
  size_t count;
  CUgraphNode *nodes = graph_nodes(graph, &count);
  for (size_t i = 0; i < count; i++) forget_node(nodes[i]);
  free(nodes);
  drop(&graph_ids, graph);
}

/* ---- what comes and goes ---- */

void graph_made(CUgraph graph) {
  if (graph_is_moved(graph)) return; /* captured into: its parent has it */
  pthread_mutex_lock(&lock);
  drop(&graphs, graph);
  add(&graphs, graph, 0); /* out of memory: its nodes will be said to be in no graph */
  pthread_mutex_unlock(&lock);
}

void graph_captured(CUgraph graph) {
  pthread_mutex_lock(&lock);
  if (!find(&graphs, graph)) add(&graphs, graph, CAPTURED);
  pthread_mutex_unlock(&lock);
}

bool graph_known(CUgraph graph) {
  pthread_mutex_lock(&lock);
  const struct entry *e = find(&graphs, graph);
  bool known = e && e->id != CAPTURED;
  pthread_mutex_unlock(&lock);
  return known || graph_is_moved(graph);
}

bool graph_live(CUgraph graph) {
  if (graph_is_moved(graph) || handle_now(graph) != graph) return true;
  pthread_mutex_lock(&lock);
  bool found = find(&graphs, graph);
  for (size_t i = graphs.count; i-- > 0 && !found;) found = has_child((CUgraph)graphs.entries[i].object, graph);
  pthread_mutex_unlock(&lock);
  return found;
}

void graph_left(CUgraph graph) {
  pthread_mutex_lock(&lock);
  drop(&graphs, graph);
  pthread_mutex_unlock(&lock);
}

void graph_renamed(const void *then, const void *now) {
  pthread_mutex_lock(&lock);
  struct entry *e = find(&graph_ids, then);
  if (!e) e = find(&node_ids, then);
  if (e) e->object = now;
  pthread_mutex_unlock(&lock);
}

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags) {
  if (!phGraph) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.GraphCreate(phGraph, flags);
  if (!error) graph_made(*phGraph);
  return from_hip(error);
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph) {
  if (!phGraphClone) return CUDA_ERROR_INVALID_VALUE;
  if (has_conditionals(originalGraph)) return CUDA_ERROR_NOT_SUPPORTED;
  int error = hip.GraphClone(phGraphClone, originalGraph);
  if (!error) graph_made(*phGraphClone);
  return from_hip(error);
}

/* Forgotten first, as HIP may give the handle to the next one at once; and destroyed without the lock, as functions of
 * the program may run then. */
int graph_end(CUgraph graph) {
  pthread_mutex_lock(&lock);
  bool known = find(&graphs, graph);
  if (known && graph_ids.count + node_ids.count) forget_graph(graph);
  drop(&graphs, graph);
  pthread_mutex_unlock(&lock);
  if (known) conditional_forget(graph);
  if (known) conditionals_drop(graph);
  graph_moves_drop(graph);
  return hip.GraphDestroy(graph);
}

CUresult cuGraphDestroy(CUgraph hGraph) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return is_body(hGraph) || graph_is_moved(hGraph) ? CUDA_ERROR_INVALID_VALUE : from_hip(graph_end(hGraph));
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
  pthread_mutex_lock(&lock);
  if (graph_ids.count + node_ids.count) forget_node(hNode);
  pthread_mutex_unlock(&lock);
  conditional_drop(hNode);
  return from_hip(graph_node_end(hNode));
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&lock);
  drop(&graph_ids, hGraphExec);
  pthread_mutex_unlock(&lock);
  return conditional_destroy(hGraphExec) ? CUDA_SUCCESS : from_hip(graph_exec_end(hGraphExec));
}

/* ---- questions ---- */

/* The number of what is known to be there; given at the first question. */
static CUresult number_of(struct list *ids, const void *object, unsigned *id) {
  static unsigned last;
  pthread_mutex_lock(&lock);
  struct entry *e = find(ids, object);
  if (!e) e = add(ids, object, ++last);
  if (e) *id = e->id;
  pthread_mutex_unlock(&lock);
  return e ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphGetId(CUgraph hGraph, unsigned int *graphId) {
  size_t count = 0;
  if (!graphId) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.GraphGetNodes(hGraph, NULL, &count);
  return error ? hip_error(error) : number_of(&graph_ids, hGraph, graphId);
}

CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int *graphId) {
  cuuint64_t flags;
  if (!graphId) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuGraphExecGetFlags(hGraphExec, &flags);
  return result ? result : number_of(&graph_ids, hGraphExec, graphId);
}

CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph *phGraph) {
  CUgraphNodeType type;
  if (!phGraph) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuGraphNodeGetType(hNode, &type);
  if (result) return result;
  CUgraph found = NULL;
  pthread_mutex_lock(&lock);
  for (size_t i = graphs.count; i-- > 0 && !found;) found = holder((CUgraph)graphs.entries[i].object, hNode);
  pthread_mutex_unlock(&lock);
  *phGraph = found;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int *nodeId) {
  CUgraphNodeType type;
  if (!nodeId) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuGraphNodeGetType(hNode, &type);
  return result ? result : number_of(&node_ids, hNode, nodeId);
}

/* The graph's number and the node's. */
CUresult cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long *toolsNodeId) {
  CUgraph graph;
  unsigned of_graph = 0, of_node = 0;
  if (!toolsNodeId) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuGraphNodeGetContainingGraph(hNode, &graph);
  if (!result) result = cuGraphGetId(graph, &of_graph);
  if (!result) result = cuGraphNodeGetLocalId(hNode, &of_node);
  if (!result) *toolsNodeId = (unsigned long long)of_graph << 32 | of_node;
  return result;
}
