/* Stream-ordered allocation: pools keep freed memory up to a threshold. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hip_state.h"
#include "tools.h"

struct ihipMemPoolHandle_t {
  struct handle handle;
  struct device *device;
  hipMemPoolProps props;
  pthread_mutex_t lock;
  bool prepared;
  struct mem_block **kept;        /* freed blocks, inaccessible to kernels */
  size_t kept_count, kept_room;
  uint64_t kept_bytes, used, used_high, reserved_high;
  uint64_t threshold;
  int reuse[3];                   /* the three reuse attributes: stored only */
  int file;                       /* its handle for other processes; -1: it was not exported */
  uint64_t identity;              /* that file's inode */
  bool imported;
};
struct handle_class pool_class = HANDLE_CLASS(struct ihipMemPoolHandle_t, 4096);

#define FREEING 0x80000000u       /* in api_flags: hipFreeAsync is pending */

static pool *pool_new(struct device *d, const hipMemPoolProps *props) {
  pool *p = handle_new(&pool_class);
  if (!p) return NULL;
  if (!p->prepared) pthread_mutex_init(&p->lock, NULL);
  p->prepared = true;
  p->device = d;
  p->props = *props;
  p->kept_count = 0;
  p->kept_bytes = p->used = p->used_high = p->reserved_high = p->threshold = 0;
  for (int k = 0; k < 3; k++) p->reuse[k] = 1;
  p->file = -1;
  p->imported = false;
  return p;
}

bool pool_init(struct device *d) {
  hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
                           .location = {hipMemLocationTypeDevice, d->ordinal}};
  d->default_pool = pool_new(d, &props);
  atomic_store(&d->current_pool, d->default_pool);
  return d->default_pool != NULL;
}

/* Under the lock: releases kept blocks until at most keep bytes are left. */
static void trim(pool *p, uint64_t keep) {
  while (p->kept_count && p->kept_bytes > keep) {
    struct mem_block *block = p->kept[--p->kept_count];
    p->kept_bytes -= block->capacity;
    mem_release(block);
  }
}

void pool_give_back(struct mem_block *block) {
  if (block->api_flags & OF_GRAPH) {
    graph_memory_free(block);
    return;
  }
  if (block->api_flags & OF_IMPORT) {
    block->api_flags &= ~FREEING;   /* it may have been imported twice */
    imported_free(block);
    return;
  }
  pool *p = block->owner;
  if (!handle_ok(&pool_class, p)) {   /* the pool was destroyed first */
    mem_release(block);
    return;
  }
  mem_hide(block);
  pthread_mutex_lock(&p->lock);
  p->used -= block->size;
  bool keep = !tools()->memcheck;   /* freed blocks are not handed out again */
  if (keep && p->kept_count == p->kept_room) {
    size_t room = p->kept_room ? 2 * p->kept_room : 64;
    void *more = realloc(p->kept, room * sizeof *p->kept);
    keep = more != NULL;
    if (keep) {
      p->kept = more;
      p->kept_room = room;
    }
  }
  if (keep) {
    p->kept[p->kept_count++] = block;
    p->kept_bytes += block->capacity;
    trim(p, p->threshold);
  } else {
    mem_release(block);
  }
  pthread_mutex_unlock(&p->lock);
}

/* The best-fitting kept block, if it wastes less than half. */
static struct mem_block *take_kept(pool *p, uint64_t size) {
  size_t best = SIZE_MAX;
  for (size_t k = 0; k < p->kept_count; k++) {
    uint64_t capacity = p->kept[k]->capacity;
    if (capacity >= size && capacity / 2 <= size && (best == SIZE_MAX || capacity < p->kept[best]->capacity)) best = k;
  }
  if (best == SIZE_MAX) return NULL;
  struct mem_block *block = p->kept[best];
  p->kept[best] = p->kept[--p->kept_count];
  p->kept_bytes -= block->capacity;
  return block;
}

/* Rounded up, so that similar sizes can reuse it. */
static struct mem_block *new_block(pool *p, uint64_t size) {
  uint64_t granule = size < 65536 ? 512 : 65536, room = (size + granule - 1) / granule * granule;
  struct mem_block *block = mem_alloc(room, MEM_DEVICE, p->device->ordinal);
  if (!block) return NULL;
  block->owner = p;
  mem_show(block, size);
  return block;
}

/* A captured allocation belongs to the graph. */
static hipError_t allocate_in_graph(void **ptr, size_t size, pool *p, stream *s) {
  hipMemAllocNodeParams params = {.poolProps = p->props, .bytesize = size};
  struct op op;
  hipError_t error = graph_memory_op(&params, &op);
  if (error != hipSuccess) return error;
  *ptr = params.dptr;
  error = stream_submit(s, &op, NULL);
  if (error != hipSuccess) op_drop(&op);
  return error;
}

static hipError_t free_in_graph(void *ptr, stream *s) {
  struct op op;
  if (graph_free_op(ptr, &op) != hipSuccess) return capture_forbids(s);   /* memory of another kind */
  hipError_t error = stream_submit(s, &op, NULL);
  if (error != hipSuccess) op_drop(&op);
  return error;
}

static hipError_t allocate(void **ptr, size_t size, pool *p, hipStream_t handle) {
  stream *s = stream_resolve(handle);
  if (!ptr) return done(hipErrorInvalidValue);
  if (!s) return done(hipErrorInvalidHandle);
  *ptr = NULL;
  if (!p) p = atomic_load(&s->device->current_pool);
  if (!handle_ok(&pool_class, p) || p->imported) return done(hipErrorInvalidValue);
  if (s->capture) return done(allocate_in_graph(ptr, size, p, s));
  if (!size) return hipSuccess;
  hipError_t error = device_error(s->device);
  if (error != hipSuccess) return done(error);
  if (size > p->device->total_memory || (p->props.maxSize && p->used + size > p->props.maxSize))
    return done(hipErrorOutOfMemory);
  pthread_mutex_lock(&p->lock);
  struct mem_block *block = take_kept(p, size);
  if (block) mem_show(block, size);
  else block = new_block(p, size);
  if (block) {
    block->api_flags = 0;
    block->context = context_current() ? context_current() : p->device->primary;
    p->used += size;
    if (p->used > p->used_high) p->used_high = p->used;
    if (p->used + p->kept_bytes > p->reserved_high) p->reserved_high = p->used + p->kept_bytes;
    *ptr = (void *)block->base;
  }
  pthread_mutex_unlock(&p->lock);
  return done(block ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t hipMallocAsync(void **ptr, size_t size, hipStream_t stream) {
  ENTER();
  return allocate(ptr, size, NULL, stream);
}

hipError_t hipMallocFromPoolAsync(void **ptr, size_t size, hipMemPool_t p, hipStream_t stream) {
  ENTER();
  return p ? allocate(ptr, size, p, stream) : done(hipErrorInvalidValue);
}

hipError_t hipFreeAsync(void *ptr, hipStream_t handle) {
  ENTER();
  stream *s = stream_resolve(handle);
  if (!s) return done(hipErrorInvalidHandle);
  if (!ptr) return hipSuccess;
  if (s->capture) return done(free_in_graph(ptr, s));
  struct mem_block *block = mem_at((uint64_t)ptr);
  bool imported = block && block->api_flags & OF_IMPORT;
  if (!block || (MEM_KIND(block->flags) != MEM_DEVICE && !imported) || block->api_flags & FREEING)
    return done(hipErrorInvalidValue);
  if (!block->owner) return hipFree(ptr);   /* from hipMalloc: allowed, and synchronous */
  block->api_flags |= FREEING;
  struct op op = {.kind = OP_FREE, .block = block};
  return done(stream_submit(s, &op, NULL));
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *p, int device) {
  ENTER();
  if (!p) return done(hipErrorInvalidValue);
  if (!device_at(device)) return done(hipErrorInvalidDevice);
  *p = hip_devices[device].default_pool;
  return hipSuccess;
}

hipError_t hipDeviceGetMemPool(hipMemPool_t *p, int device) {
  ENTER();
  if (!p) return done(hipErrorInvalidValue);
  if (!device_at(device)) return done(hipErrorInvalidDevice);
  *p = atomic_load(&hip_devices[device].current_pool);
  return hipSuccess;
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t p) {
  ENTER();
  if (!device_at(device)) return done(hipErrorInvalidDevice);
  if (!handle_ok(&pool_class, p) || p->device->ordinal != device) return done(hipErrorInvalidValue);
  atomic_store(&hip_devices[device].current_pool, p);
  return hipSuccess;
}

hipError_t hipMemPoolCreate(hipMemPool_t *p, const hipMemPoolProps *props) {
  ENTER();
  if (!p || !props || props->allocType != hipMemAllocationTypePinned) return done(hipErrorInvalidValue);
  if (props->handleTypes & ~hipMemHandleTypePosixFileDescriptor) return done(hipErrorNotSupported);
  if (props->location.type != hipMemLocationTypeDevice) return done(hipErrorInvalidValue);
  struct device *d = device_at(props->location.id);
  if (!d) return done(hipErrorInvalidValue);
  *p = pool_new(d, props);
  return done(*p ? hipSuccess : hipErrorOutOfMemory);
}

hipError_t hipMemPoolDestroy(hipMemPool_t p) {
  ENTER();
  if (!handle_ok(&pool_class, p) || p == p->device->default_pool) return done(hipErrorInvalidValue);
  pool *current = p;
  atomic_compare_exchange_strong(&p->device->current_pool, &current, p->device->default_pool);
  pthread_mutex_lock(&p->lock);
  trim(p, 0);
  if (p->file >= 0) close(p->file);
  p->file = -1;
  pthread_mutex_unlock(&p->lock);
  handle_free(&pool_class, p);
  return hipSuccess;
}

/* ---- between processes: a pool's handle is a file that identifies it; its pointers are exported one by one (hip_ipc.c) ---- */

struct pool_file { uint64_t magic; int32_t device, reserved; };
#define POOL_MAGIC 0x6c6f6f702d757067ull

static bool exportable(const pool *p) { return p->props.handleTypes & hipMemHandleTypePosixFileDescriptor; }

/* Under the lock. */
static bool make_file(pool *p) {
  struct pool_file content = {POOL_MAGIC, p->device->ordinal, 0};
  struct stat about;
  if (p->file >= 0) return true;
  int fd = memfd_create("vgpu pool", MFD_CLOEXEC);
  if (fd < 0) return false;
  if (write(fd, &content, sizeof content) != sizeof content || fstat(fd, &about)) return close(fd), false;
  p->file = fd;
  p->identity = about.st_ino;
  return true;
}

uint64_t pool_identity(const struct mem_block *block) {
  pool *p = block->owner;
  if (block->api_flags & (OF_GRAPH | OF_IMPORT) || !handle_ok(&pool_class, p) || !exportable(p)) return 0;
  pthread_mutex_lock(&p->lock);
  uint64_t identity = make_file(p) ? p->identity : 0;
  pthread_mutex_unlock(&p->lock);
  return identity;
}

bool pool_imports(const pool *p, uint64_t identity) {
  return handle_ok(&pool_class, p) && p->imported && p->identity == identity;
}

hipError_t hipMemPoolExportToShareableHandle(void *out, hipMemPool_t p, hipMemAllocationHandleType type,
                                             unsigned flags) {
  ENTER();
  if (!out || flags || !handle_ok(&pool_class, p) || !(p->props.handleTypes & type) || p->imported)
    return done(hipErrorInvalidValue);
  pthread_mutex_lock(&p->lock);
  int fd = make_file(p) ? fcntl(p->file, F_DUPFD_CLOEXEC, 0) : -1;
  pthread_mutex_unlock(&p->lock);
  if (fd < 0) return done(hipErrorOutOfMemory);
  *(int *)out = fd;
  return hipSuccess;
}

hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t *p, void *in, hipMemAllocationHandleType type,
                                               unsigned flags) {
  ENTER();
  int fd = (int)(intptr_t)in;
  struct pool_file content;
  struct stat about;
  if (!p || flags || type != hipMemHandleTypePosixFileDescriptor || fstat(fd, &about) || !S_ISREG(about.st_mode) ||
      pread(fd, &content, sizeof content, 0) != sizeof content || content.magic != POOL_MAGIC)
    return done(hipErrorInvalidValue);
  struct device *d = device_at(content.device);
  if (!d) return done(hipErrorInvalidDevice);
  hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, d->ordinal}};
  *p = pool_new(d, &props);
  if (!*p) return done(hipErrorOutOfMemory);
  (*p)->imported = true;
  (*p)->identity = about.st_ino;
  return hipSuccess;
}

hipError_t hipMemPoolTrimTo(hipMemPool_t p, size_t keep) {
  ENTER();
  if (!handle_ok(&pool_class, p)) return done(hipErrorInvalidValue);
  pthread_mutex_lock(&p->lock);
  trim(p, keep > p->used ? keep - p->used : 0);
  pthread_mutex_unlock(&p->lock);
  return hipSuccess;
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t p, hipMemPoolAttr attribute, void *value) {
  ENTER();
  if (!handle_ok(&pool_class, p) || !value) return done(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  pthread_mutex_lock(&p->lock);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies: p->reuse[attribute - 1] = *(int *)value != 0; break;
    case hipMemPoolAttrReleaseThreshold:
      p->threshold = *(uint64_t *)value;
      trim(p, p->threshold);
      break;
    case hipMemPoolAttrReservedMemHigh:   /* may only be set to 0: starts a new measurement */
      if (*(uint64_t *)value) error = hipErrorInvalidValue;
      else p->reserved_high = p->used + p->kept_bytes;
      break;
    case hipMemPoolAttrUsedMemHigh:
      if (*(uint64_t *)value) error = hipErrorInvalidValue;
      else p->used_high = p->used;
      break;
    default: error = hipErrorInvalidValue;
  }
  pthread_mutex_unlock(&p->lock);
  return done(error);
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t p, hipMemPoolAttr attribute, void *value) {
  ENTER();
  if (!handle_ok(&pool_class, p) || !value) return done(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  pthread_mutex_lock(&p->lock);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies: *(int *)value = p->reuse[attribute - 1]; break;
    case hipMemPoolAttrReleaseThreshold: *(uint64_t *)value = p->threshold; break;
    case hipMemPoolAttrReservedMemCurrent: *(uint64_t *)value = p->used + p->kept_bytes; break;
    case hipMemPoolAttrReservedMemHigh: *(uint64_t *)value = p->reserved_high; break;
    case hipMemPoolAttrUsedMemCurrent: *(uint64_t *)value = p->used; break;
    case hipMemPoolAttrUsedMemHigh: *(uint64_t *)value = p->used_high; break;
    default: error = hipErrorInvalidValue;
  }
  pthread_mutex_unlock(&p->lock);
  return done(error);
}

/* Every device can access all memory: access can be granted, and only be revoked from peers. */
hipError_t hipMemPoolSetAccess(hipMemPool_t p, const hipMemAccessDesc *list, size_t count) {
  ENTER();
  if (!handle_ok(&pool_class, p) || (count && !list)) return done(hipErrorInvalidValue);
  for (size_t k = 0; k < count; k++) {
    if (list[k].location.type != hipMemLocationTypeDevice) return done(hipErrorInvalidValue);
    if (!device_at(list[k].location.id)) return done(hipErrorInvalidDevice);
    if (list[k].location.id == p->device->ordinal && list[k].flags == hipMemAccessFlagsProtNone)
      return done(hipErrorInvalidDevice);
  }
  return hipSuccess;
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t p, hipMemLocation *location) {
  ENTER();
  if (!handle_ok(&pool_class, p) || !flags || !location || location->type != hipMemLocationTypeDevice ||
      !device_at(location->id))
    return done(hipErrorInvalidValue);
  *flags = hipMemAccessFlagsProtReadWrite;
  return hipSuccess;
}
