/* What a graph with conditional nodes is executed as: HIP graphs and conditional nodes, one after the other
 * (conditional.h). A node's level is how many conditional nodes a path that leads to it has at most. The nodes of a
 * level are one part, a HIP graph: a clone without all others, or the graph itself where those are all there are. Then
 * come the level's conditional nodes. */
#include <stdlib.h>
#include <string.h>

#include "conditional.h"
#include "graph_end.h"

struct listing {
  CUgraph graph;
  CUgraphNode *nodes, *sorted;
  size_t *sorted_at, count;
  CUgraphNode *from, *to;
  size_t edges;
  struct conditional **conditional;
  unsigned *level, levels;
};

struct work { struct plan *plan; size_t room; unsigned long long flags; struct outcome *why; };

/* ---- nodes, edges, levels ---- */

static int compare_nodes(const void *a, const void *b) {
  uintptr_t x = (uintptr_t)*(const CUgraphNode *)a, y = (uintptr_t)*(const CUgraphNode *)b;
  return x < y ? -1 : x > y;
}

struct numbered { CUgraphNode node; size_t at; };

static bool sort_nodes(struct listing *l) {
  struct numbered *all = malloc((l->count + 1) * sizeof *all);
  l->sorted = malloc((l->count + 1) * sizeof *l->sorted);
  l->sorted_at = malloc((l->count + 1) * sizeof *l->sorted_at);
  bool ok = all && l->sorted && l->sorted_at;
  for (size_t i = 0; ok && i < l->count; i++) all[i] = (struct numbered){l->nodes[i], i};
  if (ok) qsort(all, l->count, sizeof *all, compare_nodes);
  for (size_t i = 0; ok && i < l->count; i++) {
    l->sorted[i] = all[i].node;
    l->sorted_at[i] = all[i].at;
  }
  free(all);
  return ok;
}

static size_t number_of(const struct listing *l, CUgraphNode node) {
  const CUgraphNode *found = bsearch(&node, l->sorted, l->count, sizeof node, compare_nodes);
  return found ? l->sorted_at[found - l->sorted] : l->count;
}

static CUresult list_edges(struct listing *l) {
  int error = hip.GraphGetEdges(l->graph, NULL, NULL, &l->edges);
  l->from = malloc((l->edges + 1) * sizeof *l->from);
  l->to = malloc((l->edges + 1) * sizeof *l->to);
  if (!l->from || !l->to) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!error && l->edges) error = hip.GraphGetEdges(l->graph, l->from, l->to, &l->edges);
  return from_hip(error);
}

/* Levels grow along edges until nothing changes; more rounds than nodes: a cycle. */
static CUresult find_levels(struct listing *l) {
  bool moved = true;
  for (size_t round = 0; moved; round++) {
    if (round > l->count) return CUDA_ERROR_INVALID_VALUE;
    moved = false;
    for (size_t i = 0; i < l->edges; i++) {
      size_t from = number_of(l, l->from[i]), to = number_of(l, l->to[i]);
      if (from == l->count || to == l->count) return CUDA_ERROR_INVALID_VALUE;
      unsigned level = l->level[from] + (l->conditional[from] != NULL);
      if (l->level[to] >= level) continue;
      l->level[to] = level;
      moved = true;
    }
  }
  for (size_t i = 0; i < l->count; i++)
    if (l->level[i] >= l->levels) l->levels = l->level[i] + 1;
  return CUDA_SUCCESS;
}

static CUresult listing_make(struct listing *l, CUgraph graph) {
  *l = (struct listing){.graph = graph};
  int error = hip.GraphGetNodes(graph, NULL, &l->count);
  if (error) return hip_error(error);
  l->nodes = malloc((l->count + 1) * sizeof *l->nodes);
  l->conditional = calloc(l->count + 1, sizeof *l->conditional);
  l->level = calloc(l->count + 1, sizeof *l->level);
  if (!l->nodes || !l->conditional || !l->level) return CUDA_ERROR_OUT_OF_MEMORY;
  if (l->count && (error = hip.GraphGetNodes(graph, l->nodes, &l->count))) return hip_error(error);
  if (!sort_nodes(l)) return CUDA_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < l->count; i++) l->conditional[i] = conditional_of(l->nodes[i]);
  CUresult result = list_edges(l);
  return result ? result : find_levels(l);
}

static void listing_drop(struct listing *l) {
  free(l->nodes);
  free(l->sorted);
  free(l->sorted_at);
  free(l->from);
  free(l->to);
  free(l->conditional);
  free(l->level);
}

/* ---- places ---- */

/* What a node is and what lies before it, as a number: the same in graphs of one shape. */
static void put_shapes(const struct listing *l, struct place *places, size_t first) {
  const uint64_t start = 0xcbf29ce484222325ull, prime = 0x100000001b3ull;
  for (size_t i = 0; i < l->count; i++) places[i].shape = (start ^ first) * prime;
  for (size_t i = 0; i < l->edges; i++) {
    uint64_t *shape = &places[number_of(l, l->to[i])].shape;
    *shape = (*shape ^ (number_of(l, l->from[i]) + 1)) * prime;
  }
}

/* Bodies take what the manual says. */
static bool allowed(unsigned type, bool body) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: case CU_GRAPH_NODE_TYPE_MEMCPY: case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH: case CU_GRAPH_NODE_TYPE_EMPTY: case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return true;
    default: return !body;
  }
}

/* A child graph in a body, all the way down. */
static CUresult check_child(CUgraph child, bool body) {
  static int said;
  if (has_conditionals(child)) return refuse(&said, "a conditional node in a child graph");
  size_t count;
  CUresult result = CUDA_SUCCESS;
  CUgraphNode *nodes = body ? graph_nodes(child, &count) : NULL;
  for (size_t i = 0; nodes && i < count && !result; i++) {
    CUgraphNodeType type;
    result = cuGraphNodeGetType(nodes[i], &type);
    CUgraph next = result ? NULL : graph_child(nodes[i]);
    if (!result && !allowed((unsigned)type, true)) result = CUDA_ERROR_NOT_SUPPORTED;
    if (!result && next) result = check_child(next, true);
  }
  free(nodes);
  return result;
}

static CUresult put_places(struct work *w, struct listing *l, bool body) {
  struct plan *p = w->plan;
  if (p->place_count + l->count > w->room) {
    size_t room = 2 * w->room + l->count;
    struct place *more = realloc(p->places, room * sizeof *more);
    if (!more) return CUDA_ERROR_OUT_OF_MEMORY;
    p->places = more;
    w->room = room;
  }
  for (size_t i = 0; i < l->count; i++) {
    CUgraphNodeType type;
    CUresult result = cuGraphNodeGetType(l->nodes[i], &type);
    CUgraph child = result ? NULL : graph_child(l->nodes[i]);
    if (!result && !allowed((unsigned)type, body)) result = CUDA_ERROR_NOT_SUPPORTED;
    if (!result && child) result = check_child(child, body);
    if (result) {
      w->why->node = l->nodes[i];
      return result;
    }
    const struct conditional *c = l->conditional[i];
    p->places[p->place_count + i] = (struct place){.node = l->nodes[i], .inside = l->nodes[i], .type = (unsigned)type,
                                                   .choice = c ? c->type : 0, .bodies = c ? c->size : 0};
  }
  put_shapes(l, p->places + p->place_count, p->place_count);
  return CUDA_SUCCESS;
}

/* ---- steps ---- */

static bool in_part(const struct listing *l, size_t i, unsigned level) {
  return !l->conditional[i] && l->level[i] == level;
}

/* The graph without the nodes of other parts. */
static CUresult clone_part(struct work *w, const struct listing *l, size_t first, unsigned level, CUgraph *clone) {
  int error = hip.GraphClone(clone, l->graph);
  for (size_t i = 0; i < l->count && !error; i++) {
    CUgraphNode copy = NULL;
    error = hip.GraphNodeFindInClone(&copy, l->nodes[i], *clone);
    if (!error && in_part(l, i, level)) w->plan->places[first + i].inside = copy;
    else if (!error) error = hip.GraphDestroyNode(copy);
  }
  return from_hip(error);
}

static CUresult make_part(struct work *w, const struct listing *l, size_t first, unsigned level, struct steps *out) {
  size_t in = 0, plain = 0;
  for (size_t i = 0; i < l->count; i++) {
    plain += !l->conditional[i];
    in += in_part(l, i, level);
  }
  if (!in) return CUDA_SUCCESS;
  struct step *s = &out->steps[out->count++];
  CUresult result = in == plain ? CUDA_SUCCESS : clone_part(w, l, first, level, &s->clone);
  if (result) return result;
  int error = hip.GraphInstantiateWithFlags(&s->part, s->clone ? s->clone : l->graph, w->flags);
  for (size_t i = 0; i < l->count && !error; i++)
    if (in_part(l, i, level)) w->plan->places[first + i].part = s->part;
  return from_hip(error);
}

static CUresult make_steps(struct work *w, CUgraph graph, struct steps *out, bool body);

static CUresult make_choice(struct work *w, const struct conditional *c, struct steps *out) {
  struct step *s = &out->steps[out->count++];
  CUresult result = CUDA_SUCCESS;
  s->bodies = calloc(c->size, sizeof *s->bodies);
  if (!s->bodies) return CUDA_ERROR_OUT_OF_MEMORY;
  s->condition = c->condition;
  s->condition->references++;
  s->type = c->type;
  s->size = c->size;
  for (unsigned i = 0; i < c->size && !result; i++) result = make_steps(w, c->bodies[i], &s->bodies[i], true);
  return result;
}

static CUresult make_steps(struct work *w, CUgraph graph, struct steps *out, bool body) {
  struct listing l;
  size_t first = w->plan->place_count, most = 0;
  CUresult result = listing_make(&l, graph);
  if (result) w->why->result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  if (!result) result = put_places(w, &l, body);
  if (!result) w->plan->place_count += l.count;
  if (!result && condition_unused(graph)) {
    w->why->result = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
    result = CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t i = 0; !result && i < l.count; i++) most += l.conditional[i] != NULL;
  out->steps = result ? NULL : calloc(l.levels + most + 1, sizeof *out->steps);
  if (!result && !out->steps) result = CUDA_ERROR_OUT_OF_MEMORY;
  for (unsigned level = 0; level < l.levels && !result; level++) {
    result = make_part(w, &l, first, level, out);
    for (size_t i = 0; i < l.count && !result; i++)
      if (l.conditional[i] && l.level[i] == level) result = make_choice(w, l.conditional[i], out);
  }
  listing_drop(&l);
  return result;
}

static void drop_steps(struct steps *s) {
  for (size_t i = 0; i < s->count; i++) {
    struct step *step = &s->steps[i];
    if (step->part) graph_exec_end(step->part);
    if (step->clone) hip.GraphDestroy(step->clone);
    for (unsigned k = 0; step->bodies && k < step->size; k++) drop_steps(&step->bodies[k]);
    free(step->bodies);
    if (step->condition) condition_drop(step->condition);
  }
  free(s->steps);
}

/* ---- plans ---- */

CUresult plan_make(CUgraph graph, unsigned long long flags, struct plan **plan, struct outcome *why) {
  struct plan *p = calloc(1, sizeof *p);
  if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
  p->references = 1;
  *why = (struct outcome){CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
  struct work w = {p, 0, flags, why};
  CUresult result = make_steps(&w, graph, &p->main, false);
  if (result) {
    plan_drop(p);
    return result;
  }
  why->result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  *plan = p;
  return CUDA_SUCCESS;
}

void plan_drop(struct plan *p) {
  if (atomic_fetch_sub(&p->references, 1) > 1) return;
  drop_steps(&p->main);
  free(p->places);
  free(p);
}

static CUgraphExecUpdateResult compare(const struct place *now, const struct place *then) {
  if (now->type != then->type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (now->choice != then->choice || now->bodies != then->bodies) return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  return now->shape == then->shape ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
}

CUgraphExecUpdateResult plan_replaces(struct plan *new, const struct plan *old, CUgraphNode *node) {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  *node = NULL;
  for (size_t i = 0; i < new->place_count && i < old->place_count; i++) {
    result = compare(&new->places[i], &old->places[i]);
    if (result) *node = new->places[i].node;
    if (result) return result;
  }
  if (new->place_count != old->place_count) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (size_t i = 0; i < new->place_count; i++) {
    const struct place *now = &new->places[i], *then = &old->places[i];
    unsigned enabled = 1;
    if (then->part && !hip.GraphNodeGetEnabled(then->part, then->inside, &enabled) && !enabled)
      hip.GraphNodeSetEnabled(now->part, now->inside, 0);
    new->places[i].node = then->node;
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

void plan_begin(const struct steps *s) {
  for (size_t i = 0; i < s->count; i++) {
    const struct step *step = &s->steps[i];
    if (!step->condition) continue;
    if (step->condition->flags) __atomic_store_n(step->condition->cell->host, step->condition->value, __ATOMIC_RELEASE);
    for (unsigned k = 0; k < step->size; k++) plan_begin(&step->bodies[k]);
  }
}
