/* A reserved region of address space, divided into chunks. Large allocations take a run of chunks; small ones a slot in
 * a chunk that is divided into slots of one size. The free lists are outside of the memory itself, where no kernel can
 * overwrite them. */
#define _GNU_SOURCE
#include "chunk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE (CHUNK / 2)     /* allocations of at least this size have their own chunks */
#define MAX_CHUNKS (1u << 19) /* 1 TiB */
#define MIN_CHUNKS (1u << 13)

/* A chunk of slots. */
struct slots {
  uint64_t base, size;        /* of a slot, bytes */
  struct slots *next;         /* with free slots, of the same size */
  unsigned class, total, n_free;
  uint16_t free[];            /* numbers of free slots */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t region;                          /* address; 0: the system returned none */
static uint64_t n_chunks, cursor;                /* cursor: where the search for free chunks begins */
static _Atomic unsigned char mapped[MAX_CHUNKS];
static struct slots *owner[MAX_CHUNKS];          /* of chunks of slots */
static int file[MAX_CHUNKS];                     /* length of the run that begins here, plus 1 */
static struct slots *available[64];              /* by slot size: classes of 512 x {1, 1.5} x 2^n */

static void reserve(void) {
  for (n_chunks = MAX_CHUNKS; n_chunks >= MIN_CHUNKS; n_chunks /= 2) {
    char *p = mmap(NULL, (n_chunks + 1) * CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    region = ((uint64_t)p + CHUNK - 1) & ~(CHUNK - 1);
    madvise((void *)region, n_chunks * CHUNK, MADV_DONTDUMP);
    return;
  }
  n_chunks = 0;
}

bool chunk_reserved(uint64_t address) { return address >= region && (address - region) / CHUNK < n_chunks; }

bool chunk_mapped(uint64_t address) {
  uint64_t at = (address - region) / CHUNK;
  return chunk_reserved(address) && atomic_load_explicit(&mapped[at], memory_order_relaxed);
}

/* Under the lock: the first of n free chunks in a row from `from` on, or n_chunks. */
static uint64_t free_run(uint64_t from, uint64_t n) {
  uint64_t run = 0;
  for (uint64_t k = from; k < n_chunks; k++) {
    run = mapped[k] ? 0 : run + 1;
    if (run == n) return k + 1 - n;
  }
  return n_chunks;
}

static void mark(uint64_t at, uint64_t n, bool is_mapped) {
  for (uint64_t k = at; k < at + n; k++) atomic_store_explicit(&mapped[k], is_mapped, memory_order_relaxed);
}

/* Under the lock: the address of n fresh chunks, or 0. */
static uint64_t map(uint64_t n) {
  uint64_t at = free_run(cursor, n);
  if (at == n_chunks) at = free_run(0, n);
  if (at == n_chunks) return 0;
  void *p = (void *)(region + at * CHUNK);
  if (mprotect(p, n * CHUNK, PROT_READ | PROT_WRITE)) return 0;
  if (n > 1) madvise(p, n * CHUNK, MADV_HUGEPAGE);
  mark(at, n, true);
  cursor = at + n;
  return (uint64_t)p;
}

/* Under the lock. */
static void unmap(uint64_t address, uint64_t n) {
  uint64_t at = (address - region) / CHUNK;
  mark(at, n, false);
  if (file[at]) close(file[at] - 1);
  file[at] = 0;
  mmap((void *)address, n * CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* The slot size for an allocation, and its class. */
static uint64_t slot_size(uint64_t size, unsigned *class) {
  uint64_t slot = CHUNK_ALIGN;
  for (*class = 0; slot < size; ++*class) slot = *class % 2 ? slot / 3 * 4 : slot / 2 * 3;
  return (slot + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1);
}

/* Under the lock: a chunk of free slots, or NULL. */
static struct slots *divide(uint64_t size, unsigned class) {
  unsigned total = (unsigned)((CHUNK - 2 * CHUNK_SLACK) / size);
  struct slots *s = calloc(1, sizeof *s + total * sizeof s->free[0]);
  if (!s) return NULL;
  s->base = map(1);
  if (!s->base) {
    free(s);
    return NULL;
  }
  s->size = size;
  s->class = class;
  s->total = s->n_free = total;
  for (unsigned k = 0; k < total; k++) s->free[k] = (uint16_t)(total - 1 - k);
  owner[(s->base - region) / CHUNK] = s;
  return s;
}

static uint64_t get_slot(uint64_t size, uint64_t *got) {
  unsigned class;
  *got = slot_size(size, &class);
  struct slots *s = available[class];
  if (!s && !(s = available[class] = divide(*got, class))) return 0;
  uint64_t address = s->base + CHUNK_SLACK + s->free[--s->n_free] * s->size;
  if (!s->n_free) available[class] = s->next;
  return address;
}

static void put_slot(struct slots *s, uint64_t address) {
  struct slots **first = &available[s->class];
  if (!s->n_free) {
    s->next = *first;
    *first = s;
  }
  s->free[s->n_free++] = (uint16_t)((address - s->base - CHUNK_SLACK) / s->size);
  if (s->n_free < s->total || (*first == s && !s->next)) return; /* keep one chunk of free slots */
  while (*first != s) first = &(*first)->next;
  *first = s->next;
  owner[(s->base - region) / CHUNK] = NULL;
  unmap(s->base, 1);
  free(s);
}

static uint64_t chunks_for(uint64_t size) { return (size + 2 * CHUNK_SLACK + CHUNK - 1) / CHUNK; }

uint64_t chunk_get(uint64_t size, uint64_t *got) {
  pthread_once(&once, reserve);
  if (!region || size > n_chunks * CHUNK) return 0;
  pthread_mutex_lock(&lock);
  uint64_t address = 0;
  if (size < LARGE) {
    address = get_slot(size, got);
  } else if ((address = map(chunks_for(size)))) {
    address += CHUNK_SLACK;
    *got = (size + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1);
  }
  pthread_mutex_unlock(&lock);
  return address;
}

void chunk_put(uint64_t address, uint64_t size) {
  pthread_mutex_lock(&lock);
  struct slots *s = owner[(address - region) / CHUNK];
  if (s) put_slot(s, address);
  else unmap(address - CHUNK_SLACK, chunks_for(size));
  pthread_mutex_unlock(&lock);
}

int pages_to_file(void *base, uint64_t bytes) {
  int fd = memfd_create("vgpu", MFD_CLOEXEC);
  if (fd < 0) return -1;
  bool moved = !ftruncate(fd, (off_t)bytes);
  for (uint64_t at = 0; moved && at < bytes;) {
    ssize_t n = pwrite(fd, (char *)base + at, bytes - at, (off_t)at);
    moved = n > 0;
    if (moved) at += (uint64_t)n;
  }
  if (moved && mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED) return fd;
  close(fd);
  return -1;
}

int chunk_share(uint64_t address, uint64_t size, uint64_t *offset, uint64_t *length) {
  pthread_mutex_lock(&lock);
  uint64_t at = (address - region) / CHUNK, base = region + at * CHUNK;
  *offset = address - base;
  *length = (owner[at] ? 1 : chunks_for(size)) * CHUNK;
  if (!file[at]) file[at] = pages_to_file((void *)base, *length) + 1;
  int fd = file[at] - 1;
  pthread_mutex_unlock(&lock);
  return fd;
}
