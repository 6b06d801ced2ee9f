/* Arenas of handles. Slots are reused in the order in which they were freed, and only when many are free, so
 * that a stale handle stays recognisable for a long time. */
#define _GNU_SOURCE
#include "handle.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { KEEP_FREE = 256 };

struct arena arenas[HANDLE_KINDS] = {
    [HANDLE_CONTEXT] = {.slot = SLOT_CONTEXT}, [HANDLE_MODULE] = {.slot = SLOT_MODULE},
    [HANDLE_KERNEL] = {.slot = SLOT_KERNEL},   [HANDLE_STREAM] = {.slot = SLOT_STREAM},
    [HANDLE_EVENT] = {.slot = SLOT_EVENT},     [HANDLE_LINK] = {.slot = SLOT_LINK},
    [HANDLE_ARRAY] = {.slot = SLOT_ARRAY},     [HANDLE_REFERENCE] = {.slot = SLOT_REFERENCE},
    [HANDLE_PART] = {.slot = SLOT_PART},       [HANDLE_MIPMAP] = {.slot = SLOT_MIPMAP},
};

static const uint32_t capacity[HANDLE_KINDS] = {
    [HANDLE_CONTEXT] = 1 << 13, [HANDLE_MODULE] = 1 << 17, [HANDLE_KERNEL] = 1 << 20, [HANDLE_STREAM] = 1 << 18,
    [HANDLE_EVENT] = 1 << 20,   [HANDLE_LINK] = 1 << 14, [HANDLE_ARRAY] = 1 << 18, [HANDLE_REFERENCE] = 1 << 14,
    [HANDLE_PART] = 1 << 14,    [HANDLE_MIPMAP] = 1 << 16,
};

static struct free_list { uint32_t first, last, count; } free_lists[HANDLE_KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct handle *slot_at(const struct arena *a, uint32_t number) {
  return (struct handle *)(a->base + (uintptr_t)number * a->slot);
}

static struct handle *fresh(enum handle_kind kind) {
  struct arena *a = &arenas[kind];
  if (!a->base) {
    void *p = mmap(NULL, (size_t)capacity[kind] * a->slot, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    __atomic_store_n(&a->base, (uintptr_t)p, __ATOMIC_RELAXED);
  }
  if (a->span / a->slot >= capacity[kind]) return NULL;
  struct handle *h = slot_at(a, (uint32_t)(a->span / a->slot));
  __atomic_store_n(&a->span, a->span + a->slot, __ATOMIC_RELEASE);
  return h;
}

static struct handle *reuse(enum handle_kind kind) {
  struct free_list *list = &free_lists[kind];
  if (!list->count) return NULL;
  struct handle *h = slot_at(&arenas[kind], list->first - 1);
  list->first = h->next_free;
  list->count--;
  memset(h, 0, arenas[kind].slot);
  return h;
}

void *handle_new(enum handle_kind kind) {
  pthread_mutex_lock(&lock);
  struct handle *h = free_lists[kind].count > KEEP_FREE ? reuse(kind) : NULL;
  if (!h) h = fresh(kind);
  if (!h) h = reuse(kind);
  if (h) __atomic_store_n(&h->live, HANDLE_LIVE, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  return h;
}

bool handle_claim(void *object) {
  uint32_t live = HANDLE_LIVE;
  return __atomic_compare_exchange_n(&((struct handle *)object)->live, &live, HANDLE_ENDING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

bool handle_free(enum handle_kind kind, void *object) {
  struct handle *h = object;
  struct free_list *list = &free_lists[kind];
  uint32_t number = (uint32_t)(((uintptr_t)object - arenas[kind].base) / arenas[kind].slot) + 1;
  if (__atomic_load_n(&h->live, __ATOMIC_ACQUIRE) != HANDLE_ENDING && !handle_claim(object)) return false;
  pthread_mutex_lock(&lock);
  __atomic_store_n(&h->live, HANDLE_FREE, __ATOMIC_RELEASE);
  h->next_free = 0;
  if (list->count++) slot_at(&arenas[kind], list->last - 1)->next_free = number;
  else list->first = number;
  list->last = number;
  pthread_mutex_unlock(&lock);
  return true;
}

void *handle_next(enum handle_kind kind, const void *after) {
  const struct arena *a = &arenas[kind];
  uintptr_t span = __atomic_load_n(&a->span, __ATOMIC_ACQUIRE), base = __atomic_load_n(&a->base, __ATOMIC_RELAXED);
  for (uintptr_t p = after ? (uintptr_t)after + a->slot : base; p < base + span; p += a->slot)
    if (__atomic_load_n(&((const struct handle *)p)->live, __ATOMIC_ACQUIRE) == HANDLE_LIVE) return (void *)p;
  return NULL;
}
