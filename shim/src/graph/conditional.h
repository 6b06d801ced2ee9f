/* Conditional nodes of graphs. HIP's graphs have none: an empty node holds the place in them, so that edges and
 * captures are HIP's; what the node is, is known here (conditional.c). To execute a graph that has some, what lies
 * between them becomes HIP graphs (conditional_plan.c), which a thread launches one after the other, as the values
 * that kernels have set say (conditional_exec.c). */
#ifndef SHIM_CONDITIONAL_H
#define SHIM_CONDITIONAL_H
#include "deferred.h"

/* A conditional handle: a number is the address of its cell for kernels. The graph and each plan hold it. */
struct condition {
  struct condition *next;
  CUgraph graph;              /* NULL: that is gone, plans hold it */
  struct context *context;
  struct cell *cell;
  unsigned value, flags;      /* what a launch of the graph begins with */
  bool used;                  /* by a node */
  _Atomic int references;
};
void condition_drop(struct condition *c);
bool condition_unused(CUgraph graph); /* the graph has one that is no node's */

struct conditional {
  struct conditional *next;
  CUgraphNode node;
  CUgraph graph, *bodies;
  struct condition *condition;
  unsigned type, size;
};
extern _Atomic int conditional_count; /* of handles; with none, there are no nodes */
struct conditional *conditional_of(CUgraphNode node); /* NULL: another type of node */
bool has_conditionals(CUgraph graph);                 /* it, or a child graph in it */
bool is_body(CUgraph graph);
CUresult conditional_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                         CUgraphNodeParams *p);
void conditional_get(const struct conditional *c, CUgraphNodeParams *p);
void conditionals_drop(CUgraph graph); /* the graph goes */
void conditional_drop(CUgraphNode node);
void conditionals_sweep(void);         /* a capture failed, and took its graph with it */

/* ---- conditional_plan.c ---- */

/* A HIP graph to launch, or a conditional node. */
struct step {
  CUgraphExec part;
  CUgraph clone; /* that the part was made from, where it is not a graph of the program */
  struct condition *condition;
  unsigned type, size;
  struct steps *bodies;
};
struct steps { struct step *steps; size_t count; };

/* Where a node of the graph has come to: `inside` names it in `part`. The rest is what an update must not change. */
struct place { CUgraphNode node, inside; CUgraphExec part; unsigned type, choice, bodies; uint64_t shape; };

struct plan {
  _Atomic int references;
  struct steps main;
  struct place *places;
  size_t place_count;
};
struct outcome { CUgraphInstantiateResult result; CUgraphNode node; };
CUresult plan_make(CUgraph graph, unsigned long long flags, struct plan **plan, struct outcome *why);
void plan_drop(struct plan *p);
/* Whether the new one may take the old one's place; it then answers to the old one's nodes. */
CUgraphExecUpdateResult plan_replaces(struct plan *new, const struct plan *old, CUgraphNode *node);
void plan_begin(const struct steps *s); /* sets the conditions as at a launch's start */

/* ---- conditional_exec.c ---- */
struct exec;
struct exec *conditional_exec(CUgraphExec handle); /* NULL: HIP's */
CUresult conditional_instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags, struct outcome *why);
CUresult conditional_launch(struct exec *e, CUstream stream);
CUresult conditional_update(struct exec *e, CUgraph graph, CUgraphExecUpdateResultInfo *info);
unsigned long long conditional_flags(const struct exec *e);
void conditional_forget(CUgraph graph); /* it goes, what was instantiated stays */
bool conditional_destroy(CUgraphExec handle); /* false: HIP's */
#endif
