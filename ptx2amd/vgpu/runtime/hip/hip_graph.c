/* Graphs: nodes and edges. A node holds a stream operation. */
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

struct handle_class graph_class = HANDLE_CLASS(struct ihipGraph, 1 << 16);
struct handle_class node_class = HANDLE_CLASS(struct hipGraphNode, 1 << 20);

hipGraph_t graph_new(void) {
  hipGraph_t g = handle_new(&graph_class);
  if (!g) return NULL;
  g->nodes = NULL;
  g->count = 0;
  g->owned = false;
  g->original = NULL;
  g->holds = NULL;
  return g;
}

static void node_free(hipGraphNode_t node) {
  op_drop(&node->op);
  if (node->op.kind == OP_GRAPH) graph_free(node->op.graph);
  free(node->depends);
  free(node->param_pointers);
  node->depends = NULL;
  node->param_pointers = NULL;
  handle_free(&node_class, node);
}

void graph_free(hipGraph_t g) {
  if (!g) return;
  for (size_t k = 0; k < g->count; k++) node_free(g->nodes[k]);
  free(g->nodes);
  g->nodes = NULL;
  g->count = 0;
  user_holds_drop(&g->holds);
  handle_free(&graph_class, g);
}

static bool in_graph(hipGraph_t g, hipGraphNode_t node) { return handle_ok(&node_class, node) && node->graph == g; }

hipError_t graph_add(hipGraphNode_t *out, hipGraph_t g, const hipGraphNode_t *depends, size_t count,
                     const struct op *op) {
  hipError_t error = hipErrorOutOfMemory;
  hipGraphNode_t node = handle_new(&node_class);
  if (!node) {
    op_drop(op);
    if (op->kind == OP_GRAPH) graph_free(op->graph);
    return error;
  }
  node->graph = g;
  node->op = *op;
  node->original = NULL;
  node->param_pointers = NULL;
  memset(&node->copy_params, 0, sizeof node->copy_params);
  node->depend_count = count;
  node->depends = malloc((count + 1) * sizeof *depends);
  if (!node->depends) goto failed;
  error = hipErrorInvalidValue;
  if (count && !depends) goto failed;
  for (size_t k = 0; k < count; k++) {
    if (!in_graph(g, depends[k])) goto failed;
    for (size_t n = 0; n < k; n++)
      if (depends[n] == depends[k]) goto failed;
    node->depends[k] = depends[k];
  }
  if ((g->count & (g->count - 1)) == 0) {   /* room for a power of two */
    hipGraphNode_t *more = realloc(g->nodes, (g->count ? 2 * g->count : 1) * sizeof *more);
    error = hipErrorOutOfMemory;
    if (!more) goto failed;
    g->nodes = more;
  }
  g->nodes[g->count++] = node;
  *out = node;
  return hipSuccess;
failed:
  node_free(node);
  return error;
}

hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags) {
  ENTER();
  if (!graph || flags) return done(hipErrorInvalidValue);
  *graph = graph_new();
  return done(*graph ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  ENTER();
  if (!handle_ok(&graph_class, graph) || graph->owned) return done(hipErrorInvalidValue);
  graph_free(graph);
  return hipSuccess;
}

static hipGraphNode_t clone_of(hipGraph_t clone, hipGraphNode_t original) {
  for (size_t k = 0; k < clone->count; k++)
    if (clone->nodes[k]->original == original) return clone->nodes[k];
  return NULL;
}

static hipGraph_t graph_clone(hipGraph_t graph) {
  hipGraph_t clone = graph_new();
  if (!clone) return NULL;
  clone->original = graph;
  if (user_holds_copy(&clone->holds, graph->holds) != hipSuccess) goto failed;
  for (size_t k = 0; k < graph->count; k++) {
    hipGraphNode_t from = graph->nodes[k], node;
    struct op op = from->op;
    if (op.kind == OP_KERNEL) {
      const function *f = op.launch.function;
      bool live = handle_ok(&function_class, f) && f->handle.generation == op.launch.generation;
      op.launch.args = live ? kernarg_keep(op.launch.args, f->kernel->kernarg_size) : NULL;
      if (!op.launch.args) goto failed;
    }
    op_hold(&op);
    if (op.kind == OP_GRAPH) {
      op.graph = graph_clone(op.graph);
      if (!op.graph) goto failed;
      op.graph->owned = true;
    }
    if (graph_add(&node, clone, NULL, 0, &op) != hipSuccess) goto failed;
    node->original = from;
    node->copy_params = from->copy_params;
  }
  for (size_t k = 0; k < graph->count; k++) {
    hipGraphNode_t from = graph->nodes[k], to = clone->nodes[k];
    free(to->depends);
    to->depends = malloc((from->depend_count + 1) * sizeof *to->depends);
    if (!to->depends) goto failed;
    to->depend_count = from->depend_count;
    for (size_t n = 0; n < from->depend_count; n++) to->depends[n] = clone_of(clone, from->depends[n]);
  }
  return clone;
failed:
  graph_free(clone);
  return NULL;
}

hipError_t hipGraphClone(hipGraph_t *clone, hipGraph_t graph) {
  ENTER();
  if (!clone || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);
  *clone = graph_clone(graph);
  return done(*clone ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t *node, hipGraphNode_t original, hipGraph_t clone) {
  ENTER();
  if (!node || !handle_ok(&node_class, original) || !handle_ok(&graph_class, clone)) return done(hipErrorInvalidValue);
  *node = clone_of(clone, original);
  return done(*node ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends, size_t count) {
  ENTER();
  if (!node || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);
  struct op op = {.kind = OP_EMPTY};
  return done(graph_add(node, graph, depends, count, &op));
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends,
                                     size_t count, hipGraph_t child) {
  ENTER();
  if (!node || !handle_ok(&graph_class, graph) || !handle_ok(&graph_class, child) || child == graph)
    return done(hipErrorInvalidValue);
  struct op op = {.kind = OP_GRAPH, .graph = graph_clone(child)};
  if (!op.graph) return done(hipErrorOutOfMemory);
  op.graph->owned = true;
  return done(graph_add(node, graph, depends, count, &op));
}

hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *graph) {
  ENTER();
  if (!graph || !handle_ok(&node_class, node) || node->op.kind != OP_GRAPH) return done(hipErrorInvalidValue);
  *graph = node->op.graph;
  return hipSuccess;
}

/* Edges */

static size_t find_dependency(hipGraphNode_t node, hipGraphNode_t on) {
  size_t k = 0;
  while (k < node->depend_count && node->depends[k] != on) k++;
  return k;
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                   size_t count) {
  ENTER();
  if (!handle_ok(&graph_class, graph) || (count && (!from || !to))) return done(hipErrorInvalidValue);
  for (size_t k = 0; k < count; k++)
    if (!in_graph(graph, from[k]) || !in_graph(graph, to[k]) || from[k] == to[k] ||
        find_dependency(to[k], from[k]) < to[k]->depend_count)
      return done(hipErrorInvalidValue);
  for (size_t k = 0; k < count; k++) {
    hipGraphNode_t *more = realloc(to[k]->depends, (to[k]->depend_count + 2) * sizeof *more);
    if (!more) return done(hipErrorOutOfMemory);
    to[k]->depends = more;
    more[to[k]->depend_count++] = from[k];
  }
  return hipSuccess;
}

static void remove_dependency(hipGraphNode_t node, hipGraphNode_t on) {
  size_t at = find_dependency(node, on);
  if (at < node->depend_count) node->depends[at] = node->depends[--node->depend_count];
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                      size_t count) {
  ENTER();
  if (!handle_ok(&graph_class, graph) || (count && (!from || !to))) return done(hipErrorInvalidValue);
  for (size_t k = 0; k < count; k++)
    if (!in_graph(graph, from[k]) || !in_graph(graph, to[k]) ||
        find_dependency(to[k], from[k]) == to[k]->depend_count)
      return done(hipErrorInvalidValue);
  for (size_t k = 0; k < count; k++) remove_dependency(to[k], from[k]);
  return hipSuccess;
}

hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  ENTER();
  if (!handle_ok(&node_class, node)) return done(hipErrorInvalidValue);
  hipGraph_t graph = node->graph;
  size_t at = 0;
  for (size_t k = 0; k < graph->count; k++) {
    if (graph->nodes[k] == node) continue;
    remove_dependency(graph->nodes[k], node);
    graph->nodes[at++] = graph->nodes[k];
  }
  /* Keeps the capacity a power of two. */
  hipGraphNode_t *nodes = malloc((at ? 2 * at : 1) * sizeof *nodes);
  if (nodes && at) memcpy(nodes, graph->nodes, at * sizeof *nodes);
  if (nodes) {
    free(graph->nodes);
    graph->nodes = nodes;
  }
  graph->count = at;
  node_free(node);
  return hipSuccess;
}

/* Queries return as many elements as fit in *count, then set it to that number; with a NULL array, to the total. */
struct list {
  size_t room, n;
  hipGraphNode_t *first, *second;
};

static void list_put(struct list *l, hipGraphNode_t a, hipGraphNode_t b) {
  if (l->first && l->n < l->room) {
    l->first[l->n] = a;
    if (l->second) l->second[l->n] = b;
  }
  l->n++;
}

static hipError_t list_end(struct list *l, size_t *count) {
  if (l->first) {
    for (size_t k = l->n; k < *count; k++) {
      l->first[k] = NULL;
      if (l->second) l->second[k] = NULL;
    }
  }
  *count = l->first && l->n > l->room ? l->room : l->n;
  return hipSuccess;
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  ENTER();
  if (!count || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);
  struct list l = {*count, 0, nodes, NULL};
  for (size_t k = 0; k < graph->count; k++) list_put(&l, graph->nodes[k], NULL);
  return list_end(&l, count);
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
  ENTER();
  if (!count || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);
  struct list l = {*count, 0, nodes, NULL};
  for (size_t k = 0; k < graph->count; k++)
    if (!graph->nodes[k]->depend_count) list_put(&l, graph->nodes[k], NULL);
  return list_end(&l, count);
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count) {
  ENTER();
  if (!count || !handle_ok(&graph_class, graph) || !from != !to) return done(hipErrorInvalidValue);
  struct list l = {*count, 0, from, to};
  for (size_t k = 0; k < graph->count; k++)
    for (size_t n = 0; n < graph->nodes[k]->depend_count; n++)
      list_put(&l, graph->nodes[k]->depends[n], graph->nodes[k]);
  return list_end(&l, count);
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *dependencies, size_t *count) {
  ENTER();
  if (!count || !handle_ok(&node_class, node)) return done(hipErrorInvalidValue);
  struct list l = {*count, 0, dependencies, NULL};
  for (size_t k = 0; k < node->depend_count; k++) list_put(&l, node->depends[k], NULL);
  return list_end(&l, count);
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *dependents, size_t *count) {
  ENTER();
  if (!count || !handle_ok(&node_class, node)) return done(hipErrorInvalidValue);
  struct list l = {*count, 0, dependents, NULL};
  hipGraph_t graph = node->graph;
  for (size_t k = 0; k < graph->count; k++)
    if (find_dependency(graph->nodes[k], node) < graph->nodes[k]->depend_count) list_put(&l, graph->nodes[k], NULL);
  return list_end(&l, count);
}
