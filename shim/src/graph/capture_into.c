/* Captures into graphs that there are already (capture_into.h): a graph of its own is captured, and becomes a child graph
 * in the other one. */
#include "capture_into.h"

#include <stdlib.h>
#include <string.h>

#include "conditional.h"
#include "graph_move.h"

struct target {
  struct target *next;
  hipStream_t stream;
  CUgraph graph;
  size_t count;
  CUgraphNode after[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct target *targets;
static _Atomic int target_count;

static struct target *take(hipStream_t stream) {
  struct target *found = NULL;
  if (!target_count) return NULL;
  pthread_mutex_lock(&lock);
  for (struct target **at = &targets; *at; at = &(*at)->next)
    if ((*at)->stream == stream) {
      found = *at;
      *at = found->next;
      target_count--;
      break;
    }
  pthread_mutex_unlock(&lock);
  return found;
}

bool capture_has_target(hipStream_t stream) {
  if (!target_count) return false;
  pthread_mutex_lock(&lock);
  const struct target *t = targets;
  while (t && t->stream != stream) t = t->next;
  pthread_mutex_unlock(&lock);
  return t;
}

void capture_forget(hipStream_t stream) { free(take(stream)); }

static bool are_nodes_of(CUgraph graph, const CUgraphNode *wanted, size_t count) {
  size_t there, known = 0;
  CUgraphNode *nodes = count ? graph_nodes(graph, &there) : NULL;
  for (size_t i = 0; nodes && i < count; i++)
    for (size_t k = 0; k < there; k++)
      if (nodes[k] == wanted[i]) {
        known++;
        break;
      }
  free(nodes);
  return known == count;
}

static int begin(hipStream_t stream, CUgraph graph, const CUgraphNode *after, size_t count, CUstreamCaptureMode mode) {
  if ((count && !after) || !are_nodes_of(graph, after, count)) return HIP_INVALID_VALUE;
  struct target *t = malloc(sizeof *t + count * sizeof *after);
  if (!t) return HIP_OUT_OF_MEMORY;
  *t = (struct target){.stream = stream, .graph = graph, .count = count};
  if (count) memcpy(t->after, after, count * sizeof *after);
  int error = capture_began(hip.StreamBeginCapture(stream, mode));
  if (error) {
    free(t);
    return error;
  }
  pthread_mutex_lock(&lock);
  t->next = targets;
  targets = t;
  target_count++;
  pthread_mutex_unlock(&lock);
  return 0;
}

int capture_finish(hipStream_t stream, CUgraph *graph) {
  struct target *t = take(stream);
  if (!t) return 0;
  CUgraph captured = *graph;
  CUgraphNode node;
  size_t count = 0;
  int error = graph_live(t->graph) ? hip.GraphGetNodes(captured, NULL, &count) : HIP_INVALID_VALUE;
  if (!error && has_conditionals(captured)) error = HIP_NOT_SUPPORTED; /* only HIP's own nodes are copied */
  if (!error && count) error = hip.GraphAddChildGraphNode(&node, t->graph, t->after, t->count, captured);
  graph_left(captured); /* the child is a copy */
  hip.GraphDestroy(captured);
  *graph = error ? NULL : t->graph;
  free(t);
  return error;
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode) {
  enum { WITH_TARGETS = 602 };
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  int error = hip_version < WITH_TARGETS
                  ? begin(stream, hGraph, dependencies, numDependencies, mode)
                  : capture_began(hip.StreamBeginCaptureToGraph(stream, hGraph, dependencies, dependencyData,
                                                                numDependencies, mode));
  return with_children(from_hip(error));
}
