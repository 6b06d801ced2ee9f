/* Detection of deadlocks and of waiting workgroups, called by the engine's threads while they run workgroups (watch.c). */
#ifndef PTX2AMD_VGPU_WATCH_H
#define PTX2AMD_VGPU_WATCH_H

#include "state.h"

struct snapshot;

/* One thread's view of its workgroups. */
struct watch {
  uint64_t next;       /* time of the next check; 0: not set */
  uint64_t changes;    /* total memory writes by the resident waves at the last check */
  bool progress;       /* a workgroup began or ended since then: set by the engine */
  bool stuck;          /* result of the last check */
  struct snapshot *snapshot;
};

void watch_begin(struct watch *watch, struct run *run);
void watch_end(struct watch *watch, struct run *run);
/* Called after each round over the resident workgroups. Raises the run's fault if nothing can continue. */
void watch_round(struct watch *watch, struct run *run, struct workgroup *const *groups, unsigned n);

/* Whether a workgroup waits in short loops for a change of memory: its turn is left out. */
bool watch_waits(struct watch *watch, struct workgroup *g);

/* Something outside of the dispatches in flight may change memory: copies, other dispatches. */
void watch_activity(void);
#endif
