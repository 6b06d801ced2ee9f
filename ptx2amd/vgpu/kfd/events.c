/* Events, with the driver's semantics: set() releases all current waiters, and the event stays set only if there were
 * none or if it is not auto-reset. A waiter may pass the age of the last set that it knows of: a later one ends the
 * wait at once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kfd.h"

enum { MAX_EVENTS = 4096 };

struct waiter {
  struct waiter *next;           /* of the same event */
  struct event *event;           /* NULL: the event was destroyed */
  pthread_cond_t *wake;
  bool released, aged;
};
struct event {
  bool live, set, auto_reset;
  uint32_t type;
  uint64_t age;
  struct waiter *waiters;
  struct kfd_event_data data;    /* of exceptions */
};
static struct event events[MAX_EVENTS];   /* id 0 is not used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct event *event_of(uint32_t id) { return id && id < MAX_EVENTS && events[id].live ? &events[id] : NULL; }

static void release_waiters(struct event *e) {
  for (struct waiter *w = e->waiters; w; w = w->next) {
    w->released = true;
    pthread_cond_signal(w->wake);
  }
}

static void set(struct event *e) {
  e->set = !e->auto_reset || !e->waiters;
  e->age++;
  release_waiters(e);
}

int event_create(struct kfd_create_event *a) {
  uint32_t id = 1;
  pthread_mutex_lock(&lock);
  while (id < MAX_EVENTS && events[id].live) id++;
  if (id < MAX_EVENTS) events[id] = (struct event){.live = true, .auto_reset = a->auto_reset, .type = a->type, .age = 1};
  pthread_mutex_unlock(&lock);
  if (id == MAX_EVENTS) return -ENOSPC;
  a->event_id = a->trigger = a->slot = id;
  if (a->type == KFD_EVENT_SIGNAL) a->page = KFD_MMAP_EVENTS;   /* the slots of the signals' mailboxes */
  return 0;
}

int event_destroy(uint32_t id) {
  pthread_mutex_lock(&lock);
  struct event *e = event_of(id);
  if (e) {
    release_waiters(e);
    for (struct waiter *w = e->waiters; w; w = w->next) w->event = NULL;
    e->live = false;
  }
  pthread_mutex_unlock(&lock);
  return e ? 0 : -EINVAL;
}

int event_set(uint32_t id) {
  if (model_sets_event(id)) return 0;
  pthread_mutex_lock(&lock);
  struct event *e = event_of(id);
  if (e) set(e);
  pthread_mutex_unlock(&lock);
  return e ? 0 : -EINVAL;
}

int event_reset(uint32_t id) {
  pthread_mutex_lock(&lock);
  struct event *e = event_of(id);
  if (e) e->set = false;
  pthread_mutex_unlock(&lock);
  return e ? 0 : -EINVAL;
}

bool event_raise(uint32_t type, const struct kfd_event_data *data) {
  bool any = false;
  pthread_mutex_lock(&lock);
  for (uint32_t id = 1; id < MAX_EVENTS; id++)
    if (events[id].live && events[id].type == type) {
      events[id].data = *data;
      set(&events[id]);
      any = true;
    }
  pthread_mutex_unlock(&lock);
  return any;
}

/* --- waiting --- */

/* Under the lock: an event that is already set satisfies the wait, and is consumed. */
static bool begin(struct waiter *w, const struct kfd_event_data *data, pthread_cond_t *wake) {
  struct event *e = event_of(data->event_id);
  *w = (struct waiter){.event = e, .wake = wake};
  if (!e) return false;
  w->aged = e->type == KFD_EVENT_SIGNAL && data->last_age;
  w->released = e->set || (w->aged && e->age != data->last_age);
  if (e->auto_reset) e->set = false;
  w->next = e->waiters;
  e->waiters = w;
  return true;
}

static void end(struct waiter *w, struct kfd_event_data *data) {
  struct event *e = w->event;
  if (!e) return;
  struct waiter **p = &e->waiters;
  while (*p != w) p = &(*p)->next;
  *p = w->next;
  if (!w->released) return;
  if (w->aged) data->last_age = e->age;
  else if (e->type == KFD_EVENT_MEMORY) data->memory = e->data.memory;
  else if (e->type == KFD_EVENT_HW_EXCEPTION) data->hw = e->data.hw;
}

static bool satisfied(const struct waiter *w, const struct kfd_wait_events *a) {
  uint32_t released = 0;
  for (uint32_t k = 0; k < a->count; k++) released += w[k].released;
  return a->all ? released == a->count : released > 0;
}

static struct timespec deadline(uint32_t milliseconds) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_sec += milliseconds / 1000;
  t.tv_nsec += milliseconds % 1000 * 1000000L;
  if (t.tv_nsec >= 1000000000L) t.tv_sec++, t.tv_nsec -= 1000000000L;
  return t;
}

static void wait(struct kfd_wait_events *a, struct waiter *w, pthread_cond_t *wake) {
  struct timespec until = deadline(a->timeout);
  int late = a->timeout ? 0 : ETIMEDOUT;
  while (!satisfied(w, a) && !late)
    late = a->timeout == UINT32_MAX ? pthread_cond_wait(wake, &lock) : pthread_cond_timedwait(wake, &lock, &until);
  a->result = satisfied(w, a) ? KFD_WAIT_COMPLETE : KFD_WAIT_TIMEOUT;
}

int event_wait(struct kfd_wait_events *a) {
  struct kfd_event_data *data = (struct kfd_event_data *)a->events;
  if (a->count > MAX_EVENTS) return -EINVAL;
  struct waiter few[8], *w = a->count <= 8 ? few : malloc(a->count * sizeof *w);
  if (!w) return -ENOMEM;
  pthread_cond_t wake;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&wake, &attributes);
  pthread_condattr_destroy(&attributes);
  uint32_t begun = 0;
  pthread_mutex_lock(&lock);
  while (begun < a->count && begin(&w[begun], &data[begun], &wake)) begun++;
  int error = begun < a->count ? -EINVAL : 0;
  if (!error) wait(a, w, &wake);
  for (uint32_t k = 0; k < begun; k++) {
    if (!w[k].event) error = -EIO;   /* destroyed meanwhile */
    end(&w[k], &data[k]);
  }
  pthread_mutex_unlock(&lock);
  pthread_cond_destroy(&wake);
  if (w != few) free(w);
  return error;
}
