/* A graph as Graphviz' dot language. */
#include <stdio.h>

#include "hip_graph.h"

static const char *kind_of(const struct op *op) {
  switch (op->kind) {
    case OP_KERNEL: return "kernel";
    case OP_COPY: return "memcpy";
    case OP_FILL: return "memset";
    case OP_HOST: return "host";
    case OP_GRAPH: return "graph";
    case OP_RECORD: return "event record";
    case OP_EVENT_WAIT: return "event wait";
    case OP_ALLOC: return "alloc";
    case OP_DEALLOC: return "free";
    case OP_BATCH: return "batch";
    case OP_WAIT_VALUE: return "wait value";
    case OP_WRITE_VALUE: return "write value";
    default: return "empty";
  }
}

static void print_node(FILE *f, const struct hipGraphNode *node, size_t number) {
  const struct launch *l = &node->op.launch;
  fprintf(f, "    \"%p\" [label=\"%zu: %s", (const void *)node, number, kind_of(&node->op));
  if (node->op.kind == OP_KERNEL && handle_ok(&function_class, l->function) &&
      l->function->handle.generation == l->generation)
    fprintf(f, "\\n%s\\n(%u,%u,%u) x (%u,%u,%u), %u", l->function->kernel->name, l->grid[0], l->grid[1], l->grid[2],
            l->block[0], l->block[1], l->block[2], l->shared);
  fprintf(f, "\"];\n");
  for (size_t n = 0; n < node->depend_count; n++)
    fprintf(f, "    \"%p\" -> \"%p\";\n", (const void *)node->depends[n], (const void *)node);
}

static void print_graph(FILE *f, hipGraph_t graph) {
  fprintf(f, "  subgraph \"cluster_%p\" {\n", (void *)graph);
  for (size_t k = 0; k < graph->count; k++) {
    print_node(f, graph->nodes[k], k);
    if (graph->nodes[k]->op.kind == OP_GRAPH) print_graph(f, graph->nodes[k]->op.graph);
  }
  fprintf(f, "  }\n");
}

hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, unsigned flags) {
  ENTER();
  (void)flags;                    /* no further details */
  if (!path || !handle_ok(&graph_class, graph)) return done(hipErrorInvalidValue);
  FILE *f = fopen(path, "we");
  if (!f) return done(hipErrorOperatingSystem);
  fprintf(f, "digraph dot {\n");
  print_graph(f, graph);
  fprintf(f, "}\n");
  return done(fclose(f) ? hipErrorOperatingSystem : hipSuccess);
}
