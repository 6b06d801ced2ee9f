/* Live handles, in a table of chains. */
#include "live.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { BUCKETS = 256 };
struct entry { struct entry *next; const void *handle; enum live_kind kind; unsigned references; };

static struct entry *table[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct entry **find(enum live_kind kind, const void *handle) {
  struct entry **at = &table[(uintptr_t)handle / 16 % BUCKETS];
  while (*at && ((*at)->handle != handle || (*at)->kind != kind)) at = &(*at)->next;
  return at;
}

void live_add(enum live_kind kind, const void *handle) {
  pthread_mutex_lock(&lock);
  struct entry **at = find(kind, handle);
  if (!*at && (*at = calloc(1, sizeof **at))) (*at)->handle = handle, (*at)->kind = kind;
  if (*at) (*at)->references++;
  pthread_mutex_unlock(&lock);
}

bool live_drop(enum live_kind kind, const void *handle) {
  pthread_mutex_lock(&lock);
  struct entry **at = find(kind, handle), *e = *at;
  if (e && !--e->references) {
    *at = e->next;
    free(e);
  }
  pthread_mutex_unlock(&lock);
  return e;
}

bool live(enum live_kind kind, const void *handle) {
  pthread_mutex_lock(&lock);
  bool found = *find(kind, handle);
  pthread_mutex_unlock(&lock);
  return found;
}
