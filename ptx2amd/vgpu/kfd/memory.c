/* Memory that the runtime allocates. It has reserved the addresses; pages are mapped there and known to the engine. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kfd.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation **sorted;   /* by address */
static size_t count, capacity;
static uint64_t last_handle;

/* Under the lock: how many begin at or below the address. */
static size_t upper(uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (sorted[middle]->va <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

static struct allocation *around(uint64_t address) {
  size_t at = upper(address);
  return at && address - sorted[at - 1]->va < sorted[at - 1]->size ? sorted[at - 1] : NULL;
}

static bool insert(struct allocation *m) {
  if (count == capacity) {
    size_t more = capacity ? 2 * capacity : 256;
    struct allocation **grown = realloc(sorted, more * sizeof(struct allocation *));
    if (!grown) return false;
    sorted = grown;
    capacity = more;
  }
  size_t at = upper(m->va);
  memmove(sorted + at + 1, sorted + at, (count - at) * sizeof *sorted);
  sorted[at] = m;
  count++;
  m->handle = ++last_handle;
  return true;
}

static void take_out(size_t at) {
  memmove(sorted + at, sorted + at + 1, (count - at - 1) * sizeof *sorted);
  count--;
}

static void discard(struct allocation *m) {
  code_forget(m->va, m->size);
  if (m->block) engine->release(m->block);
  if (m->flags & KFD_MEMORY_VRAM) m->gpu->in_use -= m->size;
  free(m);
}

/* Under the lock. The program's own memory that was unmapped is not heard of: what is new at its address takes its place. */
static void drop_stale(uint64_t va, uint64_t size) {
  for (size_t at = upper(va + size - 1); at && sorted[at - 1]->va + sorted[at - 1]->size > va; at--) {
    struct allocation *m = sorted[at - 1];
    if (m->flags) return;
    take_out(at - 1);
    discard(m);
  }
}

static bool mapped(struct allocation *m) {
  enum { PROTECTION = PROT_READ | PROT_WRITE, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE };
  return mmap((void *)m->va, m->size, PROTECTION, FLAGS, -1, 0) != MAP_FAILED;
}

/* Kernels may touch it: False: there is something else. */
static bool shown(struct allocation *m, unsigned kind) {
  m->block = engine->adopt((void *)m->va, m->size, kind, m->gpu ? (int)m->gpu->node - 1 : -1);
  return m->block;
}

int memory_alloc(struct kfd_alloc_memory *a) {
  struct gpu *g = gpu_by_id(a->gpu_id);
  if (!g || !a->size || !a->va) return -EINVAL;
  bool user = a->flags & KFD_MEMORY_USERPTR, special = a->flags & (KFD_MEMORY_DOORBELL | KFD_MEMORY_MMIO);
  if (user && a->mmap_offset != a->va) return -EINVAL;   /* an alias: where there is SVM nobody asks for one */
  if (a->flags & KFD_MEMORY_VRAM && g->in_use + a->size > gpu_memory()) return -ENOMEM;
  struct allocation *m = calloc(1, sizeof *m);
  if (!m) return -ENOMEM;
  *m = (struct allocation){.va = a->va, .size = a->size, .flags = a->flags, .gpu = g};
  pthread_mutex_lock(&lock);
  drop_stale(m->va, m->size);
  bool ok = (user || mapped(m)) && (special || shown(m, user ? MEM_REGISTERED : MEM_VIRTUAL)) && insert(m);
  pthread_mutex_unlock(&lock);
  if (!ok) {
    if (m->block) engine->release(m->block);
    free(m);
    return -ENOMEM;
  }
  if (m->flags & KFD_MEMORY_VRAM) g->in_use += m->size;
  a->handle = m->handle;
  if (!user) a->mmap_offset = m->handle << 12;   /* unique, and below the bits that say what is mapped */
  return 0;
}

int memory_free(uint64_t handle) {
  pthread_mutex_lock(&lock);
  struct allocation *m = NULL;
  for (size_t at = 0; at < count && !m; at++)
    if (sorted[at]->handle == handle) {
      m = sorted[at];
      take_out(at);
    }
  pthread_mutex_unlock(&lock);
  if (!m) return -EINVAL;
  discard(m);
  return 0;
}

bool memory_find(uint64_t address, uint64_t *base, uint64_t *size) {
  pthread_mutex_lock(&lock);
  struct allocation *m = around(address);
  if (m) *base = m->va, *size = m->size;
  pthread_mutex_unlock(&lock);
  return m;
}

/* The parts that no allocation covers yet. */
bool memory_adopt(uint64_t start, uint64_t size) {
  bool ok = true;
  pthread_mutex_lock(&lock);
  for (uint64_t at = start, end = start + size; ok && at < end;) {
    struct allocation *there = around(at);
    if (there) {
      at = there->va + there->size;
      continue;
    }
    size_t next = upper(at);
    uint64_t until = next < count && sorted[next]->va < end ? sorted[next]->va : end;
    struct allocation *m = calloc(1, sizeof *m);
    if (!m) ok = false;
    else *m = (struct allocation){.va = at, .size = until - at};
    if (m && !((ok = shown(m, MEM_REGISTERED)) && insert(m))) free(m);
    at = until;
  }
  pthread_mutex_unlock(&lock);
  return ok;
}
