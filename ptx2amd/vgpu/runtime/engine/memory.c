/* The registry of allocations: a sorted array under a sequence lock. Writers hold a mutex; readers search without a
 * lock and repeat if a writer was active meanwhile. Outgrown arrays are kept, because a late reader may still use one
 * (they grow by doubling, so together they are never larger than the current one). */
#define _GNU_SOURCE
#include "memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chunk.h"
#include "tools.h"

struct entry {
  _Atomic uint64_t lo, hi;
  _Atomic uint32_t flags;
  struct block *block;   /* read under the lock only */
};

enum backing { BACKING_NONE, BACKING_HEAP, BACKING_MAP, BACKING_CHUNK };

struct block {
  struct mem_block pub;
  enum backing backing;
  bool shown;
  uint64_t mapped;       /* bytes of the backing */
  uint64_t zone;         /* memcheck: unused bytes before and after */
  int shared;            /* file that other processes map, plus 1; 0: none (chunks have their own) */
  struct block *next;    /* list of blocks whose memory waits for the last dispatch to end */
};

#define PAGE 4096u
#define LARGE (1u << 20)      /* mappings with own addresses begin here */
#define HUGE_PAGE (2u << 20)
#define HISTORY 64            /* freed ranges remembered for fault reports */
#define QUARANTINE (256u << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t sequence;   /* odd: a writer is active */
static struct entry *_Atomic entries;
static _Atomic uint64_t count;
static uint64_t capacity;
static uint64_t last_id;
static uint64_t in_use[64];
static atomic_int dispatches;
static struct block *waiting;
static struct { uint64_t lo, hi; uint32_t flags; } history[HISTORY];
static unsigned history_next;

#define GET(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define SET(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)

/* Index of the first entry that begins above addr. */
static uint64_t upper(struct entry *table, uint64_t n, uint64_t addr) {
  uint64_t lo = 0, hi = n;
  while (lo < hi) {
    uint64_t mid = (lo + hi) / 2;
    if (GET(table[mid].lo) <= addr) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

bool mem_range(uint64_t addr, uint64_t *lo, uint64_t *hi, uint32_t *flags) {
  for (;;) {
    uint64_t before = atomic_load_explicit(&sequence, memory_order_acquire);
    if (before & 1) {
      __builtin_ia32_pause();
      continue;
    }
    struct entry *table = GET(entries);
    uint64_t n = GET(count), at = upper(table, n, addr), end = 0;
    bool found = false;
    if (at > 0) {
      *lo = GET(table[at - 1].lo);
      *hi = end = GET(table[at - 1].hi);
      *flags = GET(table[at - 1].flags);
      found = addr < end;
    }
    if (!found && chunk_mapped(addr)) {
      uint64_t chunk = addr & ~(CHUNK - 1), next = at < n ? GET(table[at].lo) : UINT64_MAX;
      *lo = end > chunk ? end : chunk;
      *hi = next < chunk + CHUNK ? next : chunk + CHUNK;
      *flags = MEM_DEVICE;
      found = true;
    }
    atomic_thread_fence(memory_order_acquire);
    if (GET(sequence) == before) return found;
  }
}

static void copy_entry(struct entry *to, struct entry *from) {
  SET(to->lo, GET(from->lo));
  SET(to->hi, GET(from->hi));
  SET(to->flags, GET(from->flags));
  to->block = from->block;
}

static void write_begin(void) {
  SET(sequence, GET(sequence) + 1);
  atomic_thread_fence(memory_order_release);
}

static void write_end(void) {
  atomic_store_explicit(&sequence, GET(sequence) + 1, memory_order_release);
}

/* Under the lock. False: overlaps an entry, or out of memory. */
static bool insert(struct block *b) {
  struct entry *table = GET(entries);
  uint64_t n = GET(count);
  uint64_t unit = b->backing == BACKING_CHUNK ? CHUNK_ALIGN : 4; /* end of the accessible bytes */
  uint64_t lo = b->pub.base, hi = b->pub.base + ((b->pub.size + unit - 1) & ~(unit - 1));
  uint64_t at = upper(table, n, lo);
  if (at > 0 && GET(table[at - 1].hi) > lo && table[at - 1].block->pub.base + table[at - 1].block->pub.size > lo)
    return false;
  if (at < n && GET(table[at].lo) < b->pub.base + b->pub.size) return false;
  struct entry *fresh = table;
  if (n == capacity) {
    uint64_t more = capacity ? 2 * capacity : 256;
    fresh = calloc(more, sizeof *fresh);
    if (!fresh) return false;
    for (uint64_t k = 0; k < n; k++) copy_entry(&fresh[k], &table[k]);
    capacity = more;
  }
  write_begin();
  SET(entries, fresh);
  for (uint64_t k = n; k > at; k--) copy_entry(&fresh[k], &fresh[k - 1]);
  SET(fresh[at].lo, lo);
  SET(fresh[at].hi, hi);
  SET(fresh[at].flags, b->pub.flags | (unit == 4 ? (uint32_t)(hi - lo - b->pub.size) << 24 : 0));
  fresh[at].block = b;
  SET(count, n + 1);
  write_end();
  b->shown = true;
  return true;
}

static bool counted(const struct block *b) {
  enum mem_kind kind = MEM_KIND(b->pub.flags);
  return (kind == MEM_DEVICE || kind == MEM_MANAGED) && b->pub.device >= 0 && b->pub.device < 64;
}

/* Under the lock. */
static void erase(struct block *b) {
  if (!b->shown) return;
  struct entry *table = GET(entries);
  uint64_t n = GET(count), at = upper(table, n, b->pub.base) - 1;
  write_begin();
  for (uint64_t k = at; k + 1 < n; k++) copy_entry(&table[k], &table[k + 1]);
  SET(count, n - 1);
  write_end();
  b->shown = false;
}

/* Under the lock: ranges that fault reports describe as "freed". */
static void remember(const struct block *b) {
  if (!b->shown || MEM_KIND(b->pub.flags) == MEM_KERNARG) return;
  history[history_next].lo = b->pub.base;
  history[history_next].hi = b->pub.base + b->pub.size;
  history[history_next].flags = b->pub.flags;
  history_next = (history_next + 1) % HISTORY;
}

/* Memcheck: red zones separate neighbours, so that an overrun hits no other allocation. */
static uint64_t red_zone(uint64_t size) {
  if (!tools()->memcheck) return 0;
  uint64_t zone = (size / 8 + 1024) & ~UINT64_C(255);
  return zone < LARGE ? zone : LARGE;
}

/* Device memory has pages of its own, so that it can be shared with another process. */
static bool get_plain(struct block *b, uint64_t size, bool pages) {
  uint64_t unit = pages ? PAGE : 256, rounded = (size + unit - 1) & ~(unit - 1);
  if (rounded < size) return false;
  if (rounded < LARGE) {
    void *p = NULL;
    if (posix_memalign(&p, unit, rounded)) return false;
    b->backing = BACKING_HEAP;
    b->mapped = rounded;
    b->pub.base = (uint64_t)p;
    return true;
  }
  uint64_t whole = (size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
  if (whole < size || whole + HUGE_PAGE < whole) return false;
  char *p = mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return false;
  char *aligned = (char *)(((uint64_t)p + HUGE_PAGE - 1) & ~(uint64_t)(HUGE_PAGE - 1));
  if (aligned > p) munmap(p, (size_t)(aligned - p));
  if (p + HUGE_PAGE > aligned) munmap(aligned + whole, (size_t)(p + HUGE_PAGE - aligned));
  madvise(aligned, whole, MADV_HUGEPAGE);
  b->backing = BACKING_MAP;
  b->mapped = whole;
  b->pub.base = (uint64_t)aligned;
  return true;
}

/* Device memory, and other kinds that programs use like it. */
static bool get_chunk(struct block *b, uint64_t size, enum mem_kind kind) {
  if (tools()->memcheck || (kind != MEM_DEVICE && kind != MEM_MANAGED && kind != MEM_HOST)) return false;
  b->pub.base = chunk_get(size, &b->mapped);
  b->backing = BACKING_CHUNK;
  return b->pub.base;
}

static bool get_pages(struct block *b, uint64_t size, enum mem_kind kind) {
  if (get_chunk(b, size, kind)) return true;
  uint64_t zone = red_zone(size);
  if (size + 2 * zone < size || !get_plain(b, size + 2 * zone, kind == MEM_DEVICE)) return false;
  b->zone = zone;
  b->pub.base += zone;
  return true;
}

static void drop(struct block *b) {
  void *base = (void *)(b->pub.base - b->zone);
  if (b->shared) {   /* the heap receives pages that no other process maps */
    mmap(base, b->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    close(b->shared - 1);
  }
  if (b->backing == BACKING_HEAP) free(base);
  else if (b->backing == BACKING_MAP) munmap(base, b->mapped);
  else if (b->backing == BACKING_CHUNK) chunk_put(b->pub.base, b->mapped);
  free(b);
}

/* Under the lock. Memory that the system just returned cannot be registered host memory any more: the program freed it
 * without unregistering it. */
static bool forget_stale(const struct block *b) {
  struct entry *table = GET(entries);
  uint64_t at = upper(table, GET(count), b->pub.base + b->pub.size - 1);
  struct block *other = at ? table[at - 1].block : NULL;
  if (!other || MEM_KIND(other->pub.flags) != MEM_REGISTERED || other->pub.base + other->pub.size <= b->pub.base)
    return false;
  erase(other);
  free(other);
  return true;
}

static struct block *enter(struct block *b, uint64_t size, uint32_t flags, int device) {
  b->pub.size = b->pub.capacity = size;
  b->pub.flags = flags;
  b->pub.device = device;
  pthread_mutex_lock(&lock);
  b->pub.id = ++last_id;
  bool ok = insert(b);
  while (!ok && b->backing != BACKING_NONE && forget_stale(b)) ok = insert(b);
  if (ok && counted(b)) in_use[device] += size;
  pthread_mutex_unlock(&lock);
  if (ok) return b;
  drop(b);
  return NULL;
}

struct mem_block *mem_alloc(uint64_t size, uint32_t flags, int device) {
  enum mem_kind kind = MEM_KIND(flags);
  struct block *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  if (!get_pages(b, size, kind)) {
    free(b);
    return NULL;
  }
  if (!enter(b, size, flags, device)) return NULL;
  if (kind == MEM_DEVICE) shadow_mark(b->pub.base, size, true);
  return &b->pub;
}

struct mem_block *mem_adopt(void *base, uint64_t size, uint32_t flags, int device) {
  if (!base || !size || (uint64_t)base + size < (uint64_t)base) return NULL;
  struct block *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->pub.base = (uint64_t)base;
  return (struct mem_block *)enter(b, size, flags, device);
}

/* Under the lock. Memcheck: freed memory stays unused for a while, so that late accesses hit no other allocation.
 * Returns the oldest block if the total is large, or NULL. */
static struct block *quarantine(struct block *b) {
  static struct block *oldest, *newest;
  static uint64_t bytes;
  shadow_mark(b->pub.base, b->pub.capacity, false);
  b->next = NULL;
  if (newest) newest->next = b;
  else oldest = b;
  newest = b;
  bytes += b->pub.capacity + 2 * b->zone;
  if (bytes <= QUARANTINE) return NULL;
  b = oldest;
  oldest = b->next;
  if (!oldest) newest = NULL;
  bytes -= b->pub.capacity + 2 * b->zone;
  return b;
}

void mem_release(struct mem_block *block) {
  struct block *b = (struct block *)block;
  pthread_mutex_lock(&lock);
  if (counted(b)) in_use[b->pub.device] -= b->pub.capacity;
  remember(b);
  erase(b);
  atomic_thread_fence(memory_order_seq_cst);   /* erase before the check; mem_enter() increments its counter before it
                                                * looks up */
  if (tools()->memcheck && b->backing != BACKING_NONE) b = quarantine(b);
  bool wait = b && atomic_load(&dispatches) > 0;
  if (wait) {
    b->next = waiting;
    waiting = b;
  }
  pthread_mutex_unlock(&lock);
  if (b && !wait) drop(b);
}

void mem_hide(struct mem_block *block) {
  pthread_mutex_lock(&lock);
  remember((struct block *)block);
  erase((struct block *)block);
  pthread_mutex_unlock(&lock);
}

void mem_show(struct mem_block *block, uint64_t size) {
  struct block *b = (struct block *)block;
  pthread_mutex_lock(&lock);
  erase(b);
  b->pub.size = size;
  b->pub.id = ++last_id;
  insert(b);
  if (MEM_KIND(b->pub.flags) == MEM_DEVICE) shadow_mark(b->pub.base, size, true);
  pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static struct block *around(uint64_t addr) {
  struct entry *table = GET(entries);
  uint64_t at = upper(table, GET(count), addr);
  if (at == 0) return NULL;
  struct block *b = table[at - 1].block;
  return addr < b->pub.base + b->pub.size ? b : NULL;
}

bool mem_find(uint64_t addr, struct mem_block *copy) {
  pthread_mutex_lock(&lock);
  struct block *b = around(addr);
  if (b && copy) *copy = b->pub;
  pthread_mutex_unlock(&lock);
  return b != NULL;
}

struct mem_block *mem_at(uint64_t addr) {
  pthread_mutex_lock(&lock);
  struct block *b = around(addr);
  pthread_mutex_unlock(&lock);
  return b && b->pub.base == addr ? &b->pub : NULL;
}

/* Under the lock. */
static bool share(struct block *b, struct mem_file *file) {
  *file = (struct mem_file){-1, b->mapped, b->zone, b->pub.base, b->pub.size};
  if (b->backing == BACKING_CHUNK) {
    file->fd = chunk_share(b->pub.base, b->mapped, &file->offset, &file->length);
  } else if (b->backing != BACKING_NONE) {
    if (!b->shared) b->shared = pages_to_file((void *)(b->pub.base - b->zone), b->mapped) + 1;
    file->fd = b->shared - 1;
  }
  return file->fd >= 0;
}

bool mem_share(uint64_t addr, struct mem_file *file) {
  pthread_mutex_lock(&lock);
  struct block *b = around(addr);
  bool ok = b && MEM_KIND(b->pub.flags) == MEM_DEVICE && share(b, file);
  pthread_mutex_unlock(&lock);
  return ok;
}

void mem_enter(void) { atomic_fetch_add(&dispatches, 1); }

void mem_leave(void) {
  if (atomic_fetch_sub(&dispatches, 1) > 1) return;
  pthread_mutex_lock(&lock);
  struct block *list = NULL;
  /* A dispatch that began after the blocks were removed cannot find them, so it does not matter here. */
  if (atomic_load(&dispatches) == 0) {
    list = waiting;
    waiting = NULL;
  }
  pthread_mutex_unlock(&lock);
  while (list) {
    struct block *next = list->next;
    drop(list);
    list = next;
  }
}

uint64_t mem_in_use(int device) {
  if (device < 0 || device >= 64) return 0;
  pthread_mutex_lock(&lock);
  uint64_t bytes = in_use[device];
  pthread_mutex_unlock(&lock);
  return bytes;
}

void mem_each(int device, void (*fn)(struct mem_block *block, void *data), void *data) {
  pthread_mutex_lock(&lock);
  struct entry *table = GET(entries);
  for (uint64_t k = 0, n = GET(count); k < n; k++)
    if (table[k].block->pub.device == device) fn(&table[k].block->pub, data);
  pthread_mutex_unlock(&lock);
}

static const char *kind_name(uint32_t flags) {
  switch (MEM_KIND(flags)) {
    case MEM_DEVICE: return "device allocation";
    case MEM_HOST: return "pinned host allocation";
    case MEM_MANAGED: return "managed allocation";
    case MEM_REGISTERED: return "registered host range";
    case MEM_CODE: return "code of a module";
    case MEM_GLOBAL: return "variables of a module";
    case MEM_KERNARG: return "kernel arguments";
    case MEM_VIRTUAL: return "mapped memory";
    case MEM_SCRATCH: return "scratch memory";
    case MEM_RUNTIME: return "heap of kernels";
  }
  return "allocation";
}

const char *mem_describe(uint64_t addr, char *buf, size_t size) {
  const uint64_t near = 4u << 20;
  pthread_mutex_lock(&lock);
  struct block *b = around(addr);
  if (b) {
    snprintf(buf, size, "inside the %llu-byte %s%s at 0x%llx", (unsigned long long)b->pub.size,
             b->pub.flags & MEM_READONLY ? "read-only " : "", kind_name(b->pub.flags), (unsigned long long)b->pub.base);
    goto done;
  }
  for (unsigned k = 1; k <= HISTORY; k++) {
    unsigned at = (history_next + HISTORY - k) % HISTORY;
    if (addr >= history[at].lo && addr < history[at].hi) {
      snprintf(buf, size, "inside the %llu-byte %s at 0x%llx that was freed",
               (unsigned long long)(history[at].hi - history[at].lo), kind_name(history[at].flags),
               (unsigned long long)history[at].lo);
      goto done;
    }
  }
  struct entry *table = GET(entries);
  uint64_t n = GET(count), at = upper(table, n, addr);
  struct block *below = at > 0 ? table[at - 1].block : NULL, *above = at < n ? table[at].block : NULL;
  uint64_t past = below ? addr - (below->pub.base + below->pub.size) : UINT64_MAX;
  uint64_t before = above ? above->pub.base - addr : UINT64_MAX;
  if (past <= before && past < near)
    snprintf(buf, size, "%llu bytes past the end of the %llu-byte %s at 0x%llx", (unsigned long long)past,
             (unsigned long long)below->pub.size, kind_name(below->pub.flags), (unsigned long long)below->pub.base);
  else if (before < near)
    snprintf(buf, size, "%llu bytes before the %llu-byte %s at 0x%llx", (unsigned long long)before,
             (unsigned long long)above->pub.size, kind_name(above->pub.flags), (unsigned long long)above->pub.base);
  else
    snprintf(buf, size, "no allocation near");
done:
  pthread_mutex_unlock(&lock);
  return buf;
}
