/* Child graphs that moved into their parent (CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE). HIP only clones: the graph that moved
 * stays, as a name, until the clone goes, so that the program's handles of it and of its nodes are nobody else's. The
 * public functions (entry.c) take handles for what has their place in the parent, and give them back as the program
 * knows them. Inside the library there are only handles of what is in the parent. */
#ifndef SHIM_GRAPH_MOVE_H
#define SHIM_GRAPH_MOVE_H
#include <stdbool.h>

#include "cuda_types.h"

/* Whether a handle that the program hands in is one. */
bool graph_live(CUgraph graph); /* it is known, captured into, or a child graph of one */
bool graph_exec_live(CUgraphExec exec);

extern _Atomic int graph_moves; /* graphs that are not where their handles say */

void *moved_now(const void *handle);  /* of a graph or a node: what HIP has in its place */
void *moved_then(const void *handle); /* the program's name for it */
const CUgraphNode *moved_nodes(const CUgraphNode *nodes, size_t count);
static inline void *handle_now(const void *handle) {
  return __builtin_expect(graph_moves, 0) ? moved_now(handle) : (void *)handle;
}
static inline void *handle_then(const void *handle) {
  return __builtin_expect(graph_moves, 0) ? moved_then(handle) : (void *)handle;
}

/* A list of the program's: itself, or a copy. Without memory NULL, which HIP refuses where nodes are counted. */
static inline const CUgraphNode *nodes_now(const CUgraphNode *nodes, size_t count) {
  return __builtin_expect(graph_moves, 0) && nodes && count ? moved_nodes(nodes, count) : nodes;
}
void nodes_done(const CUgraphNode *theirs, const CUgraphNode *now);
static inline void nodes_then(CUgraphNode *nodes, size_t count) {
  for (size_t i = 0; nodes && i < count; i++) nodes[i] = handle_then(nodes[i]);
}
static inline void graph_then(CUgraph *graph) {
  if (graph) *graph = handle_then(*graph);
}

CUresult graph_move(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUgraph child);
bool graph_is_moved(CUgraph graph);   /* or is in the place of one: the parent has it */
void graph_moves_drop(CUgraph graph); /* it goes, and with it those that moved into it */
int graph_node_end(CUgraphNode node); /* destroys it; a HIP error */
void graph_moves_sweep(void);         /* a capture failed, and took its graph with it */
#endif
