/* Where graphs and nodes have come to with the graphs that moved into others (graph_move.h). A parent that moves on takes
 * what moved into it along: then a handle leads through several clones, one after the other. */
#include "graph_move.h"

#include <stdlib.h>

#include "conditional.h"

/* A graph and its clone, node by node. The graph that moved is HIP's to destroy, graphs in it go with it. */
struct move {
  struct move *next;
  CUgraph then, now;
  bool moved;
  size_t count;
  CUgraphNode *nodes_then, *nodes_now;
};

_Atomic int graph_moves;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct move *moves;

/* ---- handles ---- */

/* One clone on, or back; NULL: there is none. Under the lock. */
static void *step(const void *handle, bool on) {
  for (const struct move *m = moves; m; m = m->next) {
    CUgraphNode *from = on ? m->nodes_then : m->nodes_now, *to = on ? m->nodes_now : m->nodes_then;
    if (handle == (on ? m->then : m->now)) return on ? m->now : m->then;
    for (size_t i = 0; i < m->count; i++)
      if (from[i] == handle) return to[i];
  }
  return NULL;
}

static void *to_the_end(const void *handle, bool on) {
  pthread_mutex_lock(&lock);
  for (const void *next = handle; next; next = step(handle, on)) handle = next;
  pthread_mutex_unlock(&lock);
  return (void *)handle;
}

void *moved_now(const void *handle) { return to_the_end(handle, true); }
void *moved_then(const void *handle) { return to_the_end(handle, false); }

const CUgraphNode *moved_nodes(const CUgraphNode *nodes, size_t count) {
  CUgraphNode *now = malloc(count * sizeof *now);
  for (size_t i = 0; now && i < count; i++) now[i] = moved_now(nodes[i]);
  return now;
}

void nodes_done(const CUgraphNode *theirs, const CUgraphNode *now) {
  if (now != theirs) free((void *)now);
}

bool graph_is_moved(CUgraph graph) {
  const struct move *m = NULL;
  if (!graph_moves) return false;
  pthread_mutex_lock(&lock);
  do {
    m = moves;
    while (m && m->now != graph) m = m->next;
    if (m) graph = m->then;
  } while (m && !m->moved);
  pthread_mutex_unlock(&lock);
  return m != NULL;
}

/* ---- moving ---- */

static void free_moves(struct move *m) {
  for (struct move *next; m; m = next) {
    next = m->next;
    free(m->nodes_then);
    free(m->nodes_now);
    free(m);
  }
}

/* Pairs a graph's nodes with its clone's, which are in the same order, and so on in the graphs in it. */
static CUresult pair_up(CUgraph then, CUgraph now, bool moved, struct move **list) {
  struct move *m = calloc(1, sizeof *m);
  size_t count;
  if (!m) return CUDA_ERROR_OUT_OF_MEMORY;
  *m = (struct move){.next = *list, .then = then, .now = now, .moved = moved};
  *list = m;
  m->nodes_then = graph_nodes(then, &m->count);
  m->nodes_now = graph_nodes(now, &count);
  if (count != m->count) {
    m->count = 0;
    return CUDA_ERROR_UNKNOWN;
  }
  for (size_t i = 0; i < count; i++) {
    CUgraph inner = graph_child(m->nodes_then[i]), copy = graph_child(m->nodes_now[i]);
    CUresult result = !inner != !copy ? CUDA_ERROR_UNKNOWN : inner ? pair_up(inner, copy, false, list) : CUDA_SUCCESS;
    if (result) return result;
  }
  return CUDA_SUCCESS;
}

static void take_over(struct move *list) {
  struct move *last = list;
  for (struct move *m = list; m; m = m->next) {
    graph_renamed(m->then, m->now);
    for (size_t i = 0; i < m->count; i++) graph_renamed(m->nodes_then[i], m->nodes_now[i]);
    graph_moves++;
    last = m;
  }
  pthread_mutex_lock(&lock);
  last->next = moves;
  moves = list;
  pthread_mutex_unlock(&lock);
}

static bool holds(CUgraph graph, CUgraph sought) {
  size_t count;
  CUgraphNode *nodes = graph_nodes(graph, &count);
  bool found = graph == sought;
  for (size_t i = 0; i < count && !found; i++) {
    CUgraph child = graph_child(nodes[i]);
    found = child && holds(child, sought);
  }
  free(nodes);
  return found;
}

CUresult graph_move(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUgraph child) {
  struct move *list = NULL;
  CUgraph clone = NULL;
  if (!graph_known(child) || is_body(child) || graph_is_moved(child) || holds(child, graph)) return CUDA_ERROR_INVALID_VALUE;
  if (has_conditionals(child)) return CUDA_ERROR_NOT_SUPPORTED;
  int error = hip.GraphAddChildGraphNode(node, graph, dependencies, count, child);
  if (error) return hip_error(error);
  CUresult result = from_hip(hip.GraphChildGraphNodeGetGraph(*node, &clone));
  if (!result) result = pair_up(child, clone, true, &list);
  if (result) {
    free_moves(list);
    hip.GraphDestroyNode(*node);
    return result;
  }
  graph_left(child);
  take_over(list);
  return CUDA_SUCCESS;
}

/* ---- ends ---- */

/* Takes one away that is meant; without the lock, as user objects' functions may run, its graph is destroyed then. */
static bool drop_one(bool (*meant)(const struct move *, const void *), const void *what) {
  pthread_mutex_lock(&lock);
  struct move **at = &moves, *m;
  while ((m = *at) && !meant(m, what)) at = &m->next;
  if (m) *at = m->next;
  pthread_mutex_unlock(&lock);
  if (!m) return false;
  m->next = NULL;
  graph_moves--;
  if (m->moved) graph_end(m->then);
  free_moves(m);
  return true;
}

static bool is_now(const struct move *m, const void *graph) { return m->now == graph; }
static bool is_lost(const struct move *m, const void *unused) {
  size_t count = 0;
  return (void)unused, hip.GraphGetNodes(m->now, NULL, &count) != 0;
}

static void drop_child(CUgraph child) {
  graph_moves_drop(child);
  drop_one(is_now, child);
}

void graph_moves_drop(CUgraph graph) {
  size_t count;
  if (!graph_moves) return;
  CUgraphNode *nodes = graph_nodes(graph, &count);
  for (size_t i = 0; i < count; i++) {
    CUgraph child = graph_child(nodes[i]);
    if (child) drop_child(child);
  }
  free(nodes);
}

/* The node that this one is in the place of, which is so no more. */
static CUgraphNode take_name(CUgraphNode node) {
  CUgraphNode then = NULL;
  pthread_mutex_lock(&lock);
  for (struct move *m = moves; m && !then; m = m->next) {
    for (size_t i = 0; i < m->count && !then; i++) {
      if (m->nodes_now[i] != node) continue;
      then = m->nodes_then[i];
      m->nodes_then[i] = m->nodes_then[--m->count];
      m->nodes_now[i] = m->nodes_now[m->count];
    }
  }
  pthread_mutex_unlock(&lock);
  return then;
}

int graph_node_end(CUgraphNode node) {
  if (!graph_moves) return hip.GraphDestroyNode(node);
  CUgraph child = graph_child(node);
  if (child) drop_child(child);
  CUgraphNode name = take_name(node);
  int error = hip.GraphDestroyNode(node);
  return name && !error ? graph_node_end(name) : error;
}

void graph_moves_sweep(void) {
  if (!graph_moves) return;
  while (drop_one(is_lost, NULL)) {}
}
