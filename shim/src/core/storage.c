/* Context-local storage: an undocumented table in which runtime libraries keep their per-context state. They look it up
 * before nearly every call, so lookups take no lock: entries are only added or emptied. */
#include <stdlib.h>

#include "shim.h"

enum { CHUNK = 32 };
typedef void (*destructor)(CUcontext context, void *key, void *value);

struct entry { void *key, *value; destructor drop; };
struct storage {
  struct entry entries[CHUNK];
  struct storage *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct context *which(CUcontext handle) {
  if (!handle) return thread_state.current;
  return handle_ok(HANDLE_CONTEXT, handle) ? (struct context *)handle : NULL;
}

static struct entry *find(struct context *c, const void *key) {
  for (struct storage *s = __atomic_load_n(&c->storage, __ATOMIC_ACQUIRE); s;
       s = __atomic_load_n(&s->next, __ATOMIC_ACQUIRE))
    for (int i = 0; i < CHUNK; i++)
      if (__atomic_load_n(&s->entries[i].key, __ATOMIC_ACQUIRE) == key) return &s->entries[i];
  return NULL;
}

static CUresult put(CUcontext handle, void *key, void *value, destructor drop) {
  struct context *c = which(handle);
  if (!c) return CUDA_ERROR_INVALID_CONTEXT;
  if (!key) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
  struct entry *e = find(c, key);
  if (!e && !(e = find(c, NULL))) {
    struct storage *s = calloc(1, sizeof *s), **end = &c->storage;
    while (*end) end = &(*end)->next;
    if (s) {
      e = s->entries;
      __atomic_store_n(end, s, __ATOMIC_RELEASE);
    }
  }
  if (e) {
    e->drop = drop;
    __atomic_store_n(&e->value, value, __ATOMIC_RELEASE);
    __atomic_store_n(&e->key, key, __ATOMIC_RELEASE);
    result = CUDA_SUCCESS;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static CUresult drop_key(CUcontext handle, void *key) {
  struct context *c = which(handle);
  if (!c) return CUDA_ERROR_INVALID_CONTEXT;
  pthread_mutex_lock(&lock);
  struct entry *e = key ? find(c, key) : NULL;
  if (e) __atomic_store_n(&e->key, NULL, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult get(void **value, CUcontext handle, void *key) {
  thread_state.by_runtime = true;
  struct context *c = which(handle);
  if (UNLIKELY(!c)) return CUDA_ERROR_INVALID_CONTEXT;
  struct entry *e = key ? find(c, key) : NULL;
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  *value = __atomic_load_n(&e->value, __ATOMIC_ACQUIRE);
  return CUDA_SUCCESS;
}

void storage_drop(struct context *c) {
  for (struct storage *s = c->storage; s; s = s->next)
    for (int i = 0; i < CHUNK; i++) {
      struct entry e = s->entries[i];
      __atomic_store_n(&s->entries[i].key, NULL, __ATOMIC_RELEASE);
      if (e.key && e.drop) e.drop((CUcontext)c, e.key, e.value);
    }
}

const void *const storage_table[] = {(void *)put, (void *)drop_key, (void *)get, NULL};
