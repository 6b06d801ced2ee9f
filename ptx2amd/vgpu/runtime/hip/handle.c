/* Slots for API handles. */
#define _GNU_SOURCE
#include "handle.h"

#include <sys/mman.h>

enum { KEEP_FREE = 64 };   /* so that a stale handle is recognised for a while */

void *handle_new(struct handle_class *c) {
  pthread_mutex_lock(&c->lock);
  char *base = atomic_load_explicit(&c->base, memory_order_relaxed);
  if (!base) {
    base = mmap(NULL, c->slot * c->limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
      pthread_mutex_unlock(&c->lock);
      return NULL;
    }
    c->last_free = &c->first_free;
    atomic_store_explicit(&c->base, base, memory_order_release);
  }
  struct handle *h = NULL;
  if (c->free_count <= KEEP_FREE && c->used < c->limit) h = (struct handle *)(base + c->slot * c->used++);
  else if ((h = c->first_free)) {
    c->first_free = h->next_free;
    if (!c->first_free) c->last_free = &c->first_free;
    c->free_count--;
  }
  pthread_mutex_unlock(&c->lock);
  if (!h) return NULL;
  h->generation++;
  atomic_store_explicit(&h->alive, 1, memory_order_release);
  return h;
}

void handle_free(struct handle_class *c, void *object) {
  struct handle *h = object;
  atomic_store_explicit(&h->alive, 0, memory_order_release);
  pthread_mutex_lock(&c->lock);
  h->next_free = NULL;
  *c->last_free = h;
  c->last_free = &h->next_free;
  c->free_count++;
  pthread_mutex_unlock(&c->lock);
}
