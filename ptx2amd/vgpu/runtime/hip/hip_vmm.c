/* Virtual memory management: address ranges are reserved, memory objects (memfd) are mapped into them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hip_state.h"

#define GRANULARITY ((size_t)2 << 20)

struct ihipMemGenericAllocationHandle {
  struct handle handle;
  int fd;
  size_t size;
  int references;                 /* references by handles and mappings */
  hipMemAllocationProp prop;
};
static struct handle_class object_class = HANDLE_CLASS(struct ihipMemGenericAllocationHandle, 1 << 16);
typedef struct ihipMemGenericAllocationHandle object;

struct range {
  struct range *next;
  char *base;
  size_t size;
};
struct mapping {
  struct mapping *next;
  char *base;
  size_t size, offset;
  object *object;
  struct mem_block *block;        /* NULL: no access yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
static struct mapping *mappings;

static bool aligned(size_t size) { return size && size % GRANULARITY == 0; }

static bool lies_in(const char *part, size_t size, const char *whole, size_t length) {
  return range_within((uintptr_t)part, size, (uintptr_t)whole, length);
}

hipError_t hipMemGetAllocationGranularity(size_t *granularity, const hipMemAllocationProp *prop,
                                          hipMemAllocationGranularity_flags option) {
  ENTER();
  if (!granularity || !prop || option > hipMemAllocationGranularityRecommended) return done(hipErrorInvalidValue);
  if (prop->type != hipMemAllocationTypePinned || prop->location.type != hipMemLocationTypeDevice)
    return done(hipErrorInvalidValue);
  *granularity = GRANULARITY;
  return hipSuccess;
}

hipError_t hipMemAddressReserve(void **ptr, size_t size, size_t alignment, void *address, unsigned long long flags) {
  ENTER();
  (void)address;                  /* a hint only */
  if (!ptr || !aligned(size) || flags || (alignment & (alignment - 1))) return done(hipErrorInvalidValue);
  if (alignment < GRANULARITY) alignment = GRANULARITY;
  struct range *r = malloc(sizeof *r);
  if (!r || size + alignment < size) goto failed;
  char *p = mmap(NULL, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) goto failed;
  r->base = (char *)(((uintptr_t)p + alignment - 1) & ~(alignment - 1));
  r->size = size;
  if (r->base > p) munmap(p, (size_t)(r->base - p));
  if (p + alignment > r->base) munmap(r->base + size, (size_t)(p + alignment - r->base));
  pthread_mutex_lock(&lock);
  r->next = ranges;
  ranges = r;
  pthread_mutex_unlock(&lock);
  *ptr = r->base;
  return hipSuccess;
failed:
  free(r);
  return done(hipErrorOutOfMemory);
}

hipError_t hipMemAddressFree(void *ptr, size_t size) {
  ENTER();
  hipError_t error = hipErrorInvalidValue;
  pthread_mutex_lock(&lock);
  for (struct mapping *m = mappings; m; m = m->next)
    if (lies_in(m->base, 1, ptr, size)) goto out;   /* still mapped */
  for (struct range **p = &ranges; *p; p = &(*p)->next) {
    struct range *r = *p;
    if (r->base != ptr || r->size != size) continue;
    *p = r->next;
    munmap(r->base, r->size);
    free(r);
    error = hipSuccess;
    break;
  }
out:
  pthread_mutex_unlock(&lock);
  return done(error);
}

bool vmm_reserved(uint64_t addr) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (const struct range *r = ranges; r && !found; r = r->next) found = range_within(addr, 1, (uintptr_t)r->base, r->size);
  pthread_mutex_unlock(&lock);
  return found;
}

/* Takes ownership of the descriptor. */
static hipError_t object_new(object **handle, int fd, size_t size, const hipMemAllocationProp *prop) {
  object *o = handle_new(&object_class);
  if (!o) {
    close(fd);
    return done(hipErrorOutOfMemory);
  }
  o->fd = fd;
  o->size = size;
  o->references = 1;
  o->prop = *prop;
  *handle = o;
  return hipSuccess;
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t size, const hipMemAllocationProp *prop,
                        unsigned long long flags) {
  ENTER();
  if (!handle || !aligned(size) || !prop || flags || prop->type != hipMemAllocationTypePinned ||
      prop->location.type != hipMemLocationTypeDevice)
    return done(hipErrorInvalidValue);
  struct device *d = device_at(prop->location.id);
  if (!d) return done(hipErrorInvalidDevice);
  if (size > d->total_memory) return done(hipErrorOutOfMemory);
  if (prop->requestedHandleType & ~hipMemHandleTypePosixFileDescriptor) return done(hipErrorNotSupported);
  int fd = memfd_create("vgpu", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, (off_t)size)) {
    if (fd >= 0) close(fd);
    return done(hipErrorOutOfMemory);
  }
  return object_new(handle, fd, size, prop);
}

hipError_t hipMemExportToShareableHandle(void *out, hipMemGenericAllocationHandle_t o, hipMemAllocationHandleType type,
                                         unsigned long long flags) {
  ENTER();
  if (!out || flags || !handle_ok(&object_class, o)) return done(hipErrorInvalidValue);
  if (type != hipMemHandleTypePosixFileDescriptor) return done(hipErrorNotSupported);
  if (!(o->prop.requestedHandleType & type)) return done(hipErrorInvalidValue);
  int fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return done(hipErrorOutOfMemory);
  *(int *)out = fd;
  return hipSuccess;
}

/* The descriptor itself replaces the pointer as the handle; the caller keeps its ownership. */
hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *handle, void *in,
                                           hipMemAllocationHandleType type) {
  ENTER();
  if (!handle) return done(hipErrorInvalidValue);
  if (type != hipMemHandleTypePosixFileDescriptor) return done(hipErrorNotSupported);
  struct stat about;
  int fd = fcntl((int)(intptr_t)in, F_DUPFD_CLOEXEC, 0);
  if (fd < 0 || fstat(fd, &about) || !aligned((size_t)about.st_size)) {
    if (fd >= 0) close(fd);
    return done(hipErrorInvalidValue);
  }
  hipMemAllocationProp prop = {.type = hipMemAllocationTypePinned, .requestedHandleType = type,
                               .location = {hipMemLocationTypeDevice, device_current()->ordinal}};
  return object_new(handle, fd, (size_t)about.st_size, &prop);
}

/* Under the lock. */
static void unreference(object *o) {
  if (--o->references > 0) return;
  close(o->fd);
  handle_free(&object_class, o);
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t o) {
  ENTER();
  pthread_mutex_lock(&lock);
  bool ok = handle_ok(&object_class, o);
  if (ok) unreference(o);
  pthread_mutex_unlock(&lock);
  return done(ok ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipMemMap(void *ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t o,
                     unsigned long long flags) {
  ENTER();
  char *base = ptr;
  if (!aligned(size) || (uintptr_t)ptr % GRANULARITY || flags) return done(hipErrorInvalidValue);
  hipError_t error = hipErrorInvalidValue;
  struct mapping *m = calloc(1, sizeof *m);
  if (!m) return done(hipErrorOutOfMemory);
  pthread_mutex_lock(&lock);
  if (!handle_ok(&object_class, o) || offset || size > o->size) goto out;   /* HIP: the offset must be 0 */
  bool reserved = false;
  for (struct range *r = ranges; r; r = r->next)
    reserved = reserved || lies_in(base, size, r->base, r->size);
  for (struct mapping *n = mappings; n; n = n->next)
    if (base < n->base + n->size && n->base < base + size) reserved = false;
  if (!reserved) goto out;
  *m = (struct mapping){.next = mappings, .base = base, .size = size, .offset = offset, .object = o};
  o->references++;
  mappings = m;
  m = NULL;
  error = hipSuccess;
out:
  pthread_mutex_unlock(&lock);
  free(m);
  return done(error);
}

/* Under the lock. */
static void no_access(struct mapping *m) {
  if (!m->block) return;
  mem_release(m->block);
  m->block = NULL;
  mmap(m->base, m->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* The mappings in [ptr, ptr + size) must fill it exactly. */
static bool covers(const char *ptr, size_t size) {
  size_t found = 0;
  for (struct mapping *m = mappings; m; m = m->next)
    if (lies_in(m->base, m->size, ptr, size)) found += m->size;
  return size && found == size;
}

hipError_t hipMemUnmap(void *ptr, size_t size) {
  ENTER();
  MAY_WAIT();
  hipError_t error = device_synchronize(device_current());
  pthread_mutex_lock(&lock);
  if (!covers(ptr, size)) error = hipErrorInvalidValue;
  else {
    for (struct mapping **p = &mappings; *p;) {
      struct mapping *m = *p;
      if (!lies_in(m->base, m->size, ptr, size)) {
        p = &m->next;
        continue;
      }
      no_access(m);
      unreference(m->object);
      *p = m->next;
      free(m);
    }
  }
  pthread_mutex_unlock(&lock);
  return done(error);
}

static hipError_t give_access(struct mapping *m, hipMemAccessFlags flags) {
  if (flags == hipMemAccessFlagsProtNone) {
    no_access(m);
    return hipSuccess;
  }
  if (!m->block) {
    void *p = mmap(m->base, m->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m->object->fd, (off_t)m->offset);
    if (p == MAP_FAILED) return hipErrorOutOfMemory;
  } else {
    mem_release(m->block);
  }
  uint32_t kind = flags == hipMemAccessFlagsProtRead ? MEM_VIRTUAL | MEM_READONLY : MEM_VIRTUAL;
  m->block = mem_adopt(m->base, m->size, kind, m->object->prop.location.id);
  return m->block ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t hipMemSetAccess(void *ptr, size_t size, const hipMemAccessDesc *desc, size_t count) {
  ENTER();
  if (!ptr || !desc || !count) return done(hipErrorInvalidValue);
  hipMemAccessFlags flags = hipMemAccessFlagsProtNone;
  for (size_t k = 0; k < count; k++) {
    if (desc[k].location.type == hipMemLocationTypeDevice && !device_at(desc[k].location.id))
      return done(hipErrorInvalidDevice);
    if (desc[k].flags > flags) flags = desc[k].flags;   /* all devices share one view */
  }
  pthread_mutex_lock(&lock);
  hipError_t error = covers(ptr, size) ? hipSuccess : hipErrorInvalidValue;
  for (struct mapping *m = mappings; m && error == hipSuccess; m = m->next)
    if (lies_in(m->base, m->size, ptr, size)) error = give_access(m, flags);
  pthread_mutex_unlock(&lock);
  return done(error);
}

static struct mapping *mapping_at(const char *ptr) {
  for (struct mapping *m = mappings; m; m = m->next)
    if (ptr >= m->base && ptr < m->base + m->size) return m;
  return NULL;
}

hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location, void *ptr) {
  ENTER();
  if (!flags || !location) return done(hipErrorInvalidValue);
  pthread_mutex_lock(&lock);
  struct mapping *m = mapping_at(ptr);
  if (m) {
    *flags = !m->block ? hipMemAccessFlagsProtNone
             : m->block->flags & MEM_READONLY ? hipMemAccessFlagsProtRead : hipMemAccessFlagsProtReadWrite;
  }
  pthread_mutex_unlock(&lock);
  return done(m ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle, void *ptr) {
  ENTER();
  if (!handle) return done(hipErrorInvalidValue);
  pthread_mutex_lock(&lock);
  struct mapping *m = mapping_at(ptr);
  if (m) {
    m->object->references++;
    *handle = m->object;
  }
  pthread_mutex_unlock(&lock);
  return done(m ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *prop, hipMemGenericAllocationHandle_t o) {
  ENTER();
  if (!prop || !handle_ok(&object_class, o)) return done(hipErrorInvalidValue);
  *prop = o->prop;
  return hipSuccess;
}
