/* User objects: objects of the program that live as long as a graph needs them. A reference-counted object with a
 * destructor; graphs, their clones and executables hold references. */
#include <stdlib.h>

#include "hip_state.h"

struct hipUserObject {
  struct handle handle;
  void *data;
  void (*destroy)(void *);
  _Atomic unsigned count;
};
static struct handle_class object_class = HANDLE_CLASS(struct hipUserObject, 1 << 20);

enum { NO_DESTRUCTOR_SYNC = 1, MOVE = 1, COUNT_MAX = 0x7fffffff };

static void release(struct hipUserObject *o, unsigned count) {
  if (atomic_fetch_sub(&o->count, count) != count) return;
  void (*destroy)(void *) = o->destroy;
  void *data = o->data;
  handle_free(&object_class, o);
  destroy(data);
}

hipError_t hipUserObjectCreate(hipUserObject_t *out, void *data, void (*destroy)(void *), unsigned count, unsigned flags) {
  ENTER();
  if (!out || !destroy || !count || count > COUNT_MAX || flags != NO_DESTRUCTOR_SYNC) return done(hipErrorInvalidValue);
  struct hipUserObject *o = handle_new(&object_class);
  if (!o) return done(hipErrorOutOfMemory);
  o->data = data;
  o->destroy = destroy;
  atomic_store(&o->count, count);
  *out = o;
  return hipSuccess;
}

hipError_t hipUserObjectRetain(hipUserObject_t o, unsigned count) {
  ENTER();
  if (!handle_ok(&object_class, o) || !count || count > COUNT_MAX) return done(hipErrorInvalidValue);
  atomic_fetch_add(&o->count, count);
  return hipSuccess;
}

hipError_t hipUserObjectRelease(hipUserObject_t o, unsigned count) {
  ENTER();
  if (!handle_ok(&object_class, o) || !count || count > atomic_load(&o->count)) return done(hipErrorInvalidValue);
  release(o, count);
  return hipSuccess;
}

static struct user_hold *hold_of(struct user_hold **list, hipUserObject_t o) {
  struct user_hold *hold = *list;
  while (hold && hold->object != o) hold = hold->next;
  if (hold) return hold;
  hold = calloc(1, sizeof *hold);
  if (!hold) return NULL;
  *hold = (struct user_hold){o, 0, *list};
  return *list = hold;
}

hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t o, unsigned count, unsigned flags) {
  ENTER();
  if (!handle_ok(&graph_class, graph) || !handle_ok(&object_class, o) || !count || count > COUNT_MAX || flags & ~(unsigned)MOVE)
    return done(hipErrorInvalidValue);
  struct user_hold *hold = hold_of(&graph->holds, o);
  if (!hold) return done(hipErrorOutOfMemory);
  hold->count += count;
  if (!(flags & MOVE)) atomic_fetch_add(&o->count, count);
  return hipSuccess;
}

hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t o, unsigned count) {
  ENTER();
  if (!handle_ok(&graph_class, graph) || !handle_ok(&object_class, o) || !count) return done(hipErrorInvalidValue);
  for (struct user_hold *hold = graph->holds; hold; hold = hold->next)
    if (hold->object == o && hold->count >= count) {
      hold->count -= count;
      release(o, count);
      return hipSuccess;
    }
  return done(hipErrorInvalidValue);
}

hipError_t user_holds_copy(struct user_hold **to, const struct user_hold *from) {
  for (; from; from = from->next) {
    if (!from->count) continue;
    struct user_hold *hold = hold_of(to, from->object);
    if (!hold) return hipErrorOutOfMemory;
    hold->count += from->count;
    atomic_fetch_add(&from->object->count, from->count);
  }
  return hipSuccess;
}

void user_holds_drop(struct user_hold **list) {
  while (*list) {
    struct user_hold *hold = *list;
    *list = hold->next;
    if (hold->count) release(hold->object, hold->count);
    free(hold);
  }
}
