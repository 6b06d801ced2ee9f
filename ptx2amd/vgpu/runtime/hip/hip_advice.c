/* Advice on managed memory, and prefetches of it: kept for those who ask, without effect, as the memory never moves. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

enum { HOST = -1, NOWHERE = -2, HOST_BIT = MAX_DEVICES };
#define PAGE 4096ull   /* advice is for whole ones */

struct advice {
  bool read_mostly;
  int preferred, prefetched;   /* ordinals, HOST or NOWHERE */
  uint64_t accessed_by;        /* bits of ordinals, and HOST_BIT */
};
static const struct advice none = {false, NOWHERE, NOWHERE, 0};
_Static_assert(HOST_BIT < 64, "a bit for each device and the host");

/* The parts of allocations that differ from `none`, in the order of addresses, without overlaps. */
struct part {
  struct part *next;
  uint64_t from, to, block;   /* block: the allocation's id, which no later allocation has */
  struct advice advice;
};
static struct part *parts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct part *insert(struct part **at, uint64_t from, uint64_t to, uint64_t block, struct advice advice) {
  struct part *made = malloc(sizeof *made);
  if (!made) return NULL;
  *made = (struct part){*at, from, to, block, advice};
  return *at = made;
}

/* Removes what is left of freed allocations in a range, and makes parts begin and end at its ends. */
static bool cut(uint64_t from, uint64_t to, uint64_t block) {
  for (struct part **at = &parts, *p; (p = *at) && p->from < to;) {
    uint64_t middle = p->from < from ? from : to;
    if (p->to <= from) at = &p->next;
    else if (p->block != block) *at = p->next, free(p);
    else if (middle >= p->to) at = &p->next;
    else if (!insert(&p->next, middle, p->to, block, p->advice)) return false;
    else p->to = middle, at = &p->next;
  }
  return true;
}

/* Makes parts of the gaps between the parts of a range. */
static bool fill(uint64_t from, uint64_t to, uint64_t block) {
  for (struct part **at = &parts; from < to; at = &(*at)->next) {
    while (*at && (*at)->to <= from) at = &(*at)->next;
    uint64_t end = *at && (*at)->from < to ? (*at)->from : to;
    if (from < end && !insert(at, from, end, block, none)) return false;
    from = (*at)->to;
  }
  return true;
}

static uint64_t bit(int device) { return 1ull << (device == HOST ? (int)HOST_BIT : device); }

static void take(struct advice *a, hipMemoryAdvise advice, int device) {
  switch (advice) {
    case hipMemAdviseSetReadMostly: a->read_mostly = true; break;
    case hipMemAdviseUnsetReadMostly: a->read_mostly = false; break;
    case hipMemAdviseSetPreferredLocation: a->preferred = device; break;
    case hipMemAdviseUnsetPreferredLocation: a->preferred = NOWHERE; break;
    case hipMemAdviseSetAccessedBy: a->accessed_by |= bit(device); break;
    case hipMemAdviseUnsetAccessedBy: a->accessed_by &= ~bit(device); break;
    default: break;   /* grain */
  }
}

/* Managed memory, as whole pages of one allocation. */
struct range { uint64_t from, to, block; };

static bool managed(const void *ptr, size_t count, struct range *range) {
  struct mem_block block;
  uint64_t at = (uint64_t)ptr;
  if (!count || !mem_find(at, &block) || MEM_KIND(block.flags) != MEM_MANAGED ||
      !range_within(at, count, block.base, block.size))
    return false;
  uint64_t from = at & ~(PAGE - 1), to = (at + count + PAGE - 1) & ~(PAGE - 1), end = block.base + block.size;
  *range = (struct range){from > block.base ? from : block.base, to < end ? to : end, block.id};
  return true;
}

/* prefetch: to the device, instead of an advice. */
static hipError_t advise(struct range range, bool prefetch, hipMemoryAdvise advice, int device) {
  pthread_mutex_lock(&lock);
  bool done = cut(range.from, range.to, range.block) && fill(range.from, range.to, range.block);
  for (struct part *p = parts; done && p && p->from < range.to; p = p->next) {
    if (p->from < range.from) continue;
    if (prefetch) p->advice.prefetched = device;
    else take(&p->advice, advice, device);
  }
  pthread_mutex_unlock(&lock);
  return done ? hipSuccess : hipErrorOutOfMemory;
}

/* What holds for all of a range. */
static struct advice all(struct range range) {
  struct advice found = none;
  uint64_t at = range.from;
  pthread_mutex_lock(&lock);
  for (struct part *p = parts; p && p->from < range.to && at < range.to; p = p->next) {
    if (p->to <= at || p->block != range.block) continue;
    if (p->from > at) break;
    if (at == range.from) found = p->advice;
    found.read_mostly &= p->advice.read_mostly;
    found.accessed_by &= p->advice.accessed_by;
    if (found.preferred != p->advice.preferred) found.preferred = NOWHERE;
    if (found.prefetched != p->advice.prefetched) found.prefetched = NOWHERE;
    at = p->to;
  }
  pthread_mutex_unlock(&lock);
  return at < range.to ? none : found;   /* a gap */
}

hipError_t hipMemAdvise(const void *ptr, size_t count, hipMemoryAdvise advice, int device) {
  ENTER();
  struct range range;
  bool known = (advice >= hipMemAdviseSetReadMostly && advice <= hipMemAdviseUnsetAccessedBy) ||
               advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain;
  if (!known || !managed(ptr, count, &range)) return done(hipErrorInvalidValue);
  if (device != HOST && !device_at(device)) return done(hipErrorInvalidDevice);
  return done(advise(range, false, advice, device));
}

hipError_t hipMemPrefetchAsync(const void *ptr, size_t count, int device, hipStream_t handle) {
  ENTER();
  struct range range;
  stream *s = stream_resolve(handle);
  if (!s) return done(hipErrorInvalidHandle);
  if (!managed(ptr, count, &range)) return done(hipErrorInvalidValue);
  if (device != HOST && !device_at(device)) return done(hipErrorInvalidDevice);
  hipError_t error = device_error(s->device);
  return done(error != hipSuccess ? error : advise(range, true, 0, device));
}

/* As many as there is room for; the rest is no device. */
static void list(uint64_t devices, int *out, size_t room) {
  for (size_t k = 0; k < room; k++) {
    out[k] = NOWHERE;
    if (!devices) continue;
    int lowest = __builtin_ctzll(devices);
    out[k] = lowest == HOST_BIT ? HOST : lowest;
    devices &= devices - 1;
  }
}

hipError_t hipMemRangeGetAttribute(void *data, size_t size, hipMemRangeAttribute attribute, const void *ptr,
                                   size_t count) {
  ENTER();
  struct range range;
  if (!data || !size || size % 4 || !managed(ptr, count, &range)) return done(hipErrorInvalidValue);
  if (size != 4 && attribute != hipMemRangeAttributeAccessedBy) return done(hipErrorInvalidValue);
  struct advice found = all(range);
  switch (attribute) {
    case hipMemRangeAttributeReadMostly: *(int *)data = found.read_mostly; break;
    case hipMemRangeAttributePreferredLocation: *(int *)data = found.preferred; break;
    case hipMemRangeAttributeLastPrefetchLocation: *(int *)data = found.prefetched; break;
    case hipMemRangeAttributeAccessedBy: list(found.accessed_by, data, size / 4); break;
    case hipMemRangeAttributeCoherencyMode: *(int *)data = 0; break;
    default: return done(hipErrorInvalidValue);
  }
  return hipSuccess;
}

hipError_t hipMemRangeGetAttributes(void **data, size_t *sizes, hipMemRangeAttribute *attributes, size_t n,
                                    const void *ptr, size_t count) {
  ENTER();
  if (!data || !sizes || !attributes || !n) return done(hipErrorInvalidValue);
  for (size_t k = 0; k < n; k++) {
    hipError_t error = hipMemRangeGetAttribute(data[k], sizes[k], attributes[k], ptr, count);
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}
