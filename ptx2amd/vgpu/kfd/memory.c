/* Memory allocated by the runtime, which has reserved the addresses; pages are mapped there and registered with the
 * engine. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kfd.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation **sorted;   /* by address */
static size_t count, capacity;
static uint64_t last_handle;
static _Atomic unsigned files;       /* open, of allocations */

/* Under the lock: the number of allocations that begin at or below the address. */
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

/* The memory file of an allocation, which other processes can map; -1 where the program may need its descriptors more: then
 * the memory is this process's alone. */
static int new_file(uint64_t size) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) || files >= limit.rlim_cur / 2) return -1;
  int fd = memfile_new(size);
  files += fd >= 0;
  return fd;
}

static void close_file(struct allocation *m) {
  if (m->fd < 0) return;
  close(m->fd);
  files--;
}

static void discard(struct allocation *m) {
  code_forget(m->va, m->size);
  if (m->block) engine->release(m->block);
  if (m->flags & KFD_MEMORY_VRAM) m->gpu->in_use -= m->size;
  close_file(m);
  free(m);
}

/* Under the lock. Unmapping of the program's own memory is not observed: a new mapping at its address replaces it. */
static void drop_stale(uint64_t va, uint64_t size) {
  for (size_t at = upper(va + size - 1); at && sorted[at - 1]->va + sorted[at - 1]->size > va; at--) {
    struct allocation *m = sorted[at - 1];
    if (m->flags) return;
    take_out(at - 1);
    discard(m);
  }
}

static bool show(void *address, uint64_t size, int protection, int fd, uint64_t offset) {
  return mmap(address, size, protection, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) != MAP_FAILED;
}

static bool mapped(struct allocation *m) {
  enum { PROTECTION = PROT_READ | PROT_WRITE, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE };
  if ((m->fd = new_file(m->size)) >= 0) return show((void *)m->va, m->size, PROTECTION, m->fd, 0);
  return mmap((void *)m->va, m->size, PROTECTION, FLAGS, -1, 0) != MAP_FAILED;
}

/* Registers the pages for kernels. False: they overlap another allocation. */
static bool shown(struct allocation *m, unsigned kind) {
  m->block = engine->adopt((void *)m->va, m->size, kind, m->gpu ? (int)m->gpu->node - 1 : -1);
  return m->block;
}

/* What the memory is for the engine. */
static uint32_t kind_of(uint32_t flags) {
  uint32_t grain = flags & (KFD_MEMORY_COHERENT | KFD_MEMORY_UNCACHED) ? MEM_FINE : MEM_COARSE;
  return (flags & KFD_MEMORY_USERPTR ? MEM_REGISTERED : MEM_VIRTUAL) | grain;
}

int memory_alloc(struct kfd_alloc_memory *a) {
  struct gpu *g = gpu_by_id(a->gpu_id);
  if (!g || !a->size) return -EINVAL;
  bool user = a->flags & KFD_MEMORY_USERPTR, special = a->flags & (KFD_MEMORY_DOORBELL | KFD_MEMORY_MMIO);
  if (user && a->mmap_offset != a->va) return -EINVAL;   /* an alias: not needed where SVM is available */
  if (a->flags & KFD_MEMORY_VRAM && g->in_use + a->size > gpu_memory()) return -ENOMEM;
  if (!a->va) return buffer_alloc(g, a);
  struct allocation *m = calloc(1, sizeof *m);
  if (!m) return -ENOMEM;
  *m = (struct allocation){.va = a->va, .size = a->size, .flags = a->flags, .gpu = g, .fd = -1};
  pthread_mutex_lock(&lock);
  drop_stale(m->va, m->size);
  bool ok = (user || mapped(m)) && (special || shown(m, kind_of(a->flags))) && insert(m);
  pthread_mutex_unlock(&lock);
  if (!ok) {
    if (m->block) engine->release(m->block);
    close_file(m);
    free(m);
    return -ENOMEM;
  }
  if (m->flags & KFD_MEMORY_VRAM) g->in_use += m->size;
  a->handle = m->handle;
  if (!user) a->mmap_offset = m->handle << 12;   /* unique, and below the bits that give the kind of mapping */
  return 0;
}

uint64_t memory_handle(uint64_t va) {
  pthread_mutex_lock(&lock);
  const struct allocation *m = around(va);
  uint64_t handle = m && m->va == va ? m->handle : 0;
  pthread_mutex_unlock(&lock);
  return handle;
}

int memory_free(uint64_t handle) {
  if (handle & BUFFER_HANDLE) return buffer_free(handle);
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

/* Whether all pages of the range are mapped. */
static bool all_there(uint64_t start, uint64_t size) {
  enum { PAGE = 4096, STEP = 1 << 14 };
  unsigned char resident[STEP];
  uint64_t first = start & ~(uint64_t)(PAGE - 1), end = start + size;
  if (end < start || end > 1ull << 47) return false;
  for (uint64_t at = first; at < end; at += (uint64_t)STEP * PAGE) {
    uint64_t length = end - at < (uint64_t)STEP * PAGE ? end - at : (uint64_t)STEP * PAGE;
    if (mincore((void *)at, length, resident)) return false;
  }
  return true;
}

/* The parts that no allocation covers yet. */
bool memory_adopt(uint64_t start, uint64_t size) {
  if (!all_there(start, size)) return false;
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
    else *m = (struct allocation){.va = at, .size = until - at, .fd = -1};
    if (m && !((ok = shown(m, MEM_REGISTERED)) && insert(m))) free(m);
    at = until;
  }
  pthread_mutex_unlock(&lock);
  return ok;
}

/* --- memory files --- */

int memory_file(uint64_t handle, uint64_t *size) {
  int fd = -EINVAL;
  pthread_mutex_lock(&lock);
  for (size_t at = 0; at < count && fd < 0; at++) {
    if (sorted[at]->handle != handle) continue;
    if (sorted[at]->fd < 0) break;
    fd = sorted[at]->fd;
    *size = sorted[at]->size;
  }
  pthread_mutex_unlock(&lock);
  return fd;
}

/* Flags other than VRAM: the memory was counted when it was allocated. */
static int put(struct gpu *g, uint64_t va, uint64_t size, int fd, uint64_t offset, uint64_t *handle) {
  struct allocation *m = calloc(1, sizeof *m);
  if (!m) return -ENOMEM;
  *m = (struct allocation){.va = va, .size = size, .flags = KFD_MEMORY_GTT, .gpu = g, .fd = -1};
  pthread_mutex_lock(&lock);
  drop_stale(va, size);
  bool ok = show((void *)va, size, PROT_READ | PROT_WRITE, fd, offset) && shown(m, MEM_VIRTUAL) && insert(m);
  pthread_mutex_unlock(&lock);
  if (ok && handle) *handle = m->handle;
  if (ok) return 0;
  if (m->block) engine->release(m->block);
  free(m);
  return -ENOMEM;
}

int memory_import(struct gpu *g, uint64_t va, uint64_t size, int fd, uint64_t *handle) {
  return put(g, va, size, fd, 0, handle);
}

int memory_map(struct gpu *g, uint64_t va, uint64_t size, int fd, uint64_t offset) {
  pthread_mutex_lock(&lock);
  struct allocation *m = around(va);
  bool again = m && m->flags && m->va == va && m->size == size;   /* another GPU has it: addresses are shared by all
                                                                   * GPUs */
  if (again) m->users++;
  pthread_mutex_unlock(&lock);
  return again ? 0 : put(g, va, size, fd, offset, NULL);
}

/* The runtime keeps the addresses reserved. */
int memory_unmap(uint64_t va, uint64_t size) {
  pthread_mutex_lock(&lock);
  struct allocation *m = around(va);
  bool there = m && m->flags && m->va == va && m->size == size, last = there && !m->users;
  if (there && !last) m->users--;
  if (last) take_out(upper(va) - 1);
  pthread_mutex_unlock(&lock);
  if (!there) return -EINVAL;
  if (!last) return 0;
  if (!m->seen) mmap((void *)va, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  discard(m);
  return 0;
}

void *memory_show(void *address, uint64_t size, int protection, int fd) {
  if (fd < 0) return errno = EINVAL, MAP_FAILED;
  pthread_mutex_lock(&lock);
  struct allocation *m = around((uint64_t)address);
  if (m && m->va == (uint64_t)address && m->size == size) m->seen = true;   /* mapped for GPUs: all may read, write and
                                                                             * execute */
  bool there = m && m->seen, ok = there || show(address, size, protection, fd, 0);
  pthread_mutex_unlock(&lock);
  return ok ? address : MAP_FAILED;
}
