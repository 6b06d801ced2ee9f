/* Conditional nodes: handles, nodes and their bodies (conditional.h). */
#include <stdlib.h>

#include "conditional.h"

_Atomic int conditional_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct condition *conditions;
static struct conditional *conditionals;

/* ---- handles ---- */

static bool is_graph(CUgraph graph) {
  size_t count = 0;
  return graph && !hip.GraphGetNodes(graph, NULL, &count);
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph, CUcontext ctx,
                                        unsigned int defaultLaunchValue, unsigned int flags) {
  struct context *context = ctx ? context_checked(ctx) : thread_state.current;
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (!pHandle_out || flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT || !is_graph(hGraph))
    return CUDA_ERROR_INVALID_VALUE;
  struct condition *c = calloc(1, sizeof *c);
  struct cell *cell = c ? cell_new(CELL_CONDITION) : NULL;
  if (!cell) {
    free(c);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *cell->host = 0;
  *c = (struct condition){.graph = hGraph, .context = context, .cell = cell, .value = defaultLaunchValue, .flags = flags,
                          .references = 1};
  pthread_mutex_lock(&lock);
  c->next = conditions;
  conditions = c;
  conditional_count++;
  pthread_mutex_unlock(&lock);
  *pHandle_out = cell->device;
  return CUDA_SUCCESS;
}

void condition_drop(struct condition *c) {
  if (atomic_fetch_sub(&c->references, 1) > 1) return;
  cell_free(CELL_CONDITION, c->cell);
  free(c);
}

bool condition_unused(CUgraph graph) {
  bool found = false;
  if (!conditional_count) return false;
  pthread_mutex_lock(&lock);
  for (const struct condition *c = conditions; c && !found; c = c->next) found = c->graph == graph && !c->used;
  pthread_mutex_unlock(&lock);
  return found;
}

/* ---- nodes; under the lock ---- */

static struct conditional *node_of_body(CUgraph graph) {
  for (struct conditional *n = conditionals; n; n = n->next)
    for (unsigned i = 0; i < n->size; i++)
      if (n->bodies[i] == graph) return n;
  return NULL;
}

/* The handle, if it is for nodes of this graph: it was made for it, or for one that has it in a body. */
static struct condition *condition_for(CUgraph graph, CUgraphConditionalHandle handle) {
  struct condition *c = conditions;
  while (c && c->cell->device != handle) c = c->next;
  for (const struct conditional *n; c && c->graph != graph; graph = n->graph)
    if (!(n = node_of_body(graph))) return NULL;
  return c;
}

/* ---- nodes ---- */

struct conditional *conditional_of(CUgraphNode node) {
  if (!conditional_count) return NULL;
  pthread_mutex_lock(&lock);
  struct conditional *n = conditionals;
  while (n && n->node != node) n = n->next;
  pthread_mutex_unlock(&lock);
  return n;
}

bool is_body(CUgraph graph) {
  if (!conditional_count) return false;
  pthread_mutex_lock(&lock);
  bool found = node_of_body(graph) != NULL;
  pthread_mutex_unlock(&lock);
  return found;
}

bool has_conditionals(CUgraph graph) {
  bool found = false;
  if (!conditional_count) return false;
  pthread_mutex_lock(&lock);
  for (const struct conditional *n = conditionals; n && !found; n = n->next) found = n->graph == graph;
  pthread_mutex_unlock(&lock);
  size_t count;
  CUgraphNode *nodes = found ? NULL : graph_nodes(graph, &count);
  for (size_t i = 0; nodes && i < count && !found; i++) {
    CUgraph child = graph_child(nodes[i]);
    found = child && has_conditionals(child);
  }
  free(nodes);
  return found;
}

static void free_node(struct conditional *n) {
  for (unsigned i = 0; n->bodies && i < n->size; i++)
    if (n->bodies[i]) graph_end(n->bodies[i]);
  free(n->bodies);
  free(n);
}

static bool fits(unsigned type, unsigned size) {
  switch (type) {
    case CU_GRAPH_COND_TYPE_IF: return size == 1 || size == 2;
    case CU_GRAPH_COND_TYPE_WHILE: return size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH: return size > 0;
    default: return false;
  }
}

static int make_bodies(struct conditional *n) {
  n->bodies = calloc(n->size, sizeof *n->bodies);
  int error = n->bodies ? 0 : HIP_OUT_OF_MEMORY;
  for (unsigned i = 0; i < n->size && !error; i++) {
    error = hip.GraphCreate(&n->bodies[i], 0);
    if (!error) graph_made(n->bodies[i]);
  }
  return error;
}

CUresult conditional_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                         CUgraphNodeParams *p) {
  pthread_mutex_lock(&lock);
  struct condition *c = condition_for(graph, p->conditional.handle);
  pthread_mutex_unlock(&lock);
  if (!c || c->used || !fits((unsigned)p->conditional.type, p->conditional.size) ||
      (p->conditional.ctx && (struct context *)p->conditional.ctx != c->context))
    return CUDA_ERROR_INVALID_VALUE;
  struct conditional *n = calloc(1, sizeof *n);
  if (!n) return CUDA_ERROR_OUT_OF_MEMORY;
  n->type = (unsigned)p->conditional.type;
  n->size = p->conditional.size;
  int error = make_bodies(n);
  if (!error) error = hip.GraphAddEmptyNode(&n->node, graph, dependencies, count);
  if (error) {
    free_node(n);
    return hip_error(error);
  }
  n->graph = graph;
  n->condition = c;
  c->used = true;
  pthread_mutex_lock(&lock);
  n->next = conditionals;
  conditionals = n;
  pthread_mutex_unlock(&lock);
  *node = n->node;
  p->conditional.phGraph_out = n->bodies;
  return CUDA_SUCCESS;
}

void conditional_get(const struct conditional *c, CUgraphNodeParams *p) {
  p->conditional.handle = c->condition->cell->device;
  p->conditional.type = (int)c->type;
  p->conditional.size = c->size;
  p->conditional.phGraph_out = c->bodies;
  p->conditional.ctx = (CUcontext)c->condition->context;
}

/* ---- ends ---- */

static bool of_graph(const struct conditional *n, const void *graph) { return n->graph == graph; }
static bool of_node(const struct conditional *n, const void *node) { return n->node == node; }
static bool of_none(const struct conditional *n, const void *unused) { return (void)unused, !is_graph(n->graph); }

/* Takes those away that are meant, and then frees them without the lock: bodies have nodes of their own. */
static void drop_nodes(bool (*meant)(const struct conditional *, const void *), const void *what) {
  struct conditional *gone = NULL;
  pthread_mutex_lock(&lock);
  for (struct conditional **at = &conditionals, *n; (n = *at);) {
    if (!meant(n, what)) {
      at = &n->next;
      continue;
    }
    *at = n->next;
    n->next = gone;
    gone = n;
    n->condition->used = false;
  }
  pthread_mutex_unlock(&lock);
  for (struct conditional *n; (n = gone);) {
    gone = n->next;
    free_node(n);
  }
}

static bool lost(const struct condition *c, CUgraph graph) { return graph ? c->graph == graph : !is_graph(c->graph); }

/* Handles of a graph, or of all that are gone; what was instantiated goes on with them. */
static void drop_conditions(CUgraph graph) {
  struct condition *gone = NULL;
  pthread_mutex_lock(&lock);
  for (struct condition **at = &conditions, *c; (c = *at);) {
    if (!lost(c, graph)) {
      at = &c->next;
      continue;
    }
    *at = c->next;
    c->next = gone;
    gone = c;
    c->graph = NULL;
    conditional_count--;
  }
  pthread_mutex_unlock(&lock);
  for (struct condition *c; (c = gone);) {
    gone = c->next;
    condition_drop(c);
  }
}

void conditionals_drop(CUgraph graph) {
  if (!conditional_count) return;
  drop_nodes(of_graph, graph);
  drop_conditions(graph);
}

void conditional_drop(CUgraphNode node) {
  if (conditional_count) drop_nodes(of_node, node);
}

void conditionals_sweep(void) {
  if (!conditional_count) return;
  drop_nodes(of_none, NULL);
  drop_conditions(NULL);
}
