/* Memory without an address: handles of the runtime's virtual memory, which it exports as files, imports into libdrm,
 * and maps at reserved addresses. Each is a memory file; a buffer of libdrm is an open one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose.h"
#include "kfd.h"

enum { TYPE_KMS = 1, TYPE_DMA_BUF = 2 };   /* enum amdgpu_bo_handle_type */
enum { VA_MAP = 1, VA_UNMAP = 2 };
enum { COMMAND_GEM_MMAP = 1 };

/* Allocations and imports of the runtime; handles start at BUFFER_HANDLE. */
struct memory {
  struct memory *next;
  struct gpu *gpu;
  uint64_t handle, size;
  bool counted;                  /* in the GPU's use */
  int fd;
};

/* libdrm's handle of a buffer. */
struct buffer {
  struct buffer *next;
  struct gpu *gpu;
  uint32_t id;
  int fd;
  uint64_t size;
  void *seen;                    /* the CPU's mapping (amdgpu_bo_cpu_map) */
};
struct import_result { struct buffer *buffer; uint64_t size; };
union gem_mmap { struct { uint32_t handle, pad; } in; struct { uint64_t offset; } out; };

static struct memory *memories;
static uint64_t last_handle = BUFFER_HANDLE;
static struct buffer *buffers;
static uint32_t last_id;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct buffer *known(const void *handle, uint32_t id) {
  struct buffer *b = buffers;
  while (b && b != handle && b->id != id) b = b->next;
  return b;
}

static struct buffer *buffer_of(const void *handle) {
  pthread_mutex_lock(&lock);
  struct buffer *b = handle ? known(handle, 0) : NULL;
  pthread_mutex_unlock(&lock);
  return b;
}

int buffer_file(uint64_t offset) {
  pthread_mutex_lock(&lock);
  const struct buffer *b = known(NULL, KFD_MMAP_BUFFER_ID(offset));
  int fd = b ? b->fd : -1;
  pthread_mutex_unlock(&lock);
  return fd;
}

/* --- libdrm_amdgpu's functions --- */

API int amdgpu_bo_import(void *device, uint32_t type, uint32_t shared, struct import_result *out) {
  REAL(amdgpu_bo_import);
  if (!gpu_is_ours(device)) return real(device, type, shared, out);
  uint64_t size = type == TYPE_DMA_BUF ? memfile_size((int)shared) : 0;
  struct buffer *b = size ? calloc(1, sizeof *b) : NULL;
  if (!b) return size ? -ENOMEM : -EINVAL;
  *b = (struct buffer){.gpu = device, .fd = fcntl((int)shared, F_DUPFD_CLOEXEC, 3), .size = size};
  if (b->fd < 0) return free(b), -errno;
  pthread_mutex_lock(&lock);
  b->id = ++last_id;
  b->next = buffers;
  buffers = b;
  pthread_mutex_unlock(&lock);
  *out = (struct import_result){b, size};
  return 0;
}

API int amdgpu_bo_export(struct buffer *buffer, uint32_t type, uint32_t *shared) {
  REAL(amdgpu_bo_export);
  const struct buffer *b = buffer_of(buffer);
  if (!b) return real ? real(buffer, type, shared) : -EINVAL;
  if (type == TYPE_KMS) *shared = b->id;
  else if (type == TYPE_DMA_BUF) *shared = (uint32_t)fcntl(b->fd, F_DUPFD_CLOEXEC, 3);
  else return -EINVAL;
  return 0;
}

API int amdgpu_bo_va_op(struct buffer *buffer, uint64_t offset, uint64_t size, uint64_t address, uint64_t flags,
                        uint32_t operation) {
  REAL(amdgpu_bo_va_op);
  const struct buffer *b = buffer_of(buffer);
  if (!b) return real ? real(buffer, offset, size, address, flags, operation) : -EINVAL;
  if (operation == VA_UNMAP) return memory_unmap(address, size);
  if (operation != VA_MAP || offset > b->size || size > b->size - offset) return -EINVAL;
  return memory_map(b->gpu, address, size, b->fd, offset);
}

API int amdgpu_bo_cpu_map(struct buffer *buffer, void **address) {
  REAL(amdgpu_bo_cpu_map);
  struct buffer *b = buffer_of(buffer);
  if (!b) return real ? real(buffer, address) : -EINVAL;
  if (!b->seen) b->seen = mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
  if (b->seen == MAP_FAILED) return b->seen = NULL, -ENOMEM;
  *address = b->seen;
  return 0;
}

API int amdgpu_bo_free(struct buffer *buffer) {
  REAL(amdgpu_bo_free);
  if (!buffer_of(buffer)) return real ? real(buffer) : -EINVAL;
  pthread_mutex_lock(&lock);
  struct buffer **at = &buffers;
  while (*at != buffer) at = &(*at)->next;
  *at = buffer->next;
  pthread_mutex_unlock(&lock);
  if (buffer->seen) munmap(buffer->seen, buffer->size);
  close(buffer->fd);
  free(buffer);
  return 0;
}

/* struct amdgpu_bo_info: the request that it was allocated with is not kept. */
struct buffer_info {
  uint64_t size, alignment;
  uint32_t heap;
  uint64_t flags;
  struct buffer_metadata metadata;
};

API int amdgpu_bo_query_info(struct buffer *buffer, struct buffer_info *info) {
  REAL(amdgpu_bo_query_info);
  const struct buffer *b = buffer_of(buffer);
  if (!b) return real ? real(buffer, info) : -EINVAL;
  info->size = b->size;
  return memfile_metadata(b->fd, &info->metadata) ? 0 : -EINVAL;
}

API int amdgpu_bo_set_metadata(struct buffer *buffer, struct buffer_metadata *metadata) {
  REAL(amdgpu_bo_set_metadata);
  const struct buffer *b = buffer_of(buffer);
  if (!b) return real ? real(buffer, metadata) : -EINVAL;
  return memfile_set_metadata(b->fd, metadata) ? 0 : -EINVAL;
}

/* The offset of a buffer in the render node's file. */
API int drmCommandWriteRead(int fd, unsigned long command, void *data, unsigned long size) {
  REAL(drmCommandWriteRead);
  if (!render_gpu(fd)) return real ? real(fd, command, data, size) : -ENODEV;
  union gem_mmap *a = data;
  if (command != COMMAND_GEM_MMAP || size < sizeof *a || buffer_file(KFD_MMAP_BUFFER(a->in.handle)) < 0) return -EINVAL;
  a->out.offset = KFD_MMAP_BUFFER(a->in.handle);
  return 0;
}

/* --- requests --- */

/* Takes ownership of the descriptor. */
static int keep(struct gpu *g, uint64_t size, int fd, bool counted, uint64_t *handle) {
  struct memory *m = fd < 0 ? NULL : malloc(sizeof *m);
  if (!m) return fd < 0 ? -errno : (close(fd), -ENOMEM);
  if (counted) g->in_use += size;
  pthread_mutex_lock(&lock);
  *m = (struct memory){.next = memories, .gpu = g, .handle = ++last_handle, .size = size, .counted = counted, .fd = fd};
  memories = m;
  pthread_mutex_unlock(&lock);
  *handle = m->handle;
  return 0;
}

int buffer_alloc(struct gpu *g, struct kfd_alloc_memory *a) {
  return keep(g, a->size, memfile_new(a->size), a->flags & KFD_MEMORY_VRAM, &a->handle);
}

int buffer_free(uint64_t handle) {
  pthread_mutex_lock(&lock);
  struct memory **at = &memories;
  while (*at && (*at)->handle != handle) at = &(*at)->next;
  struct memory *m = *at;
  if (m) *at = m->next;
  pthread_mutex_unlock(&lock);
  if (!m) return -EINVAL;
  if (m->counted) m->gpu->in_use -= m->size;
  close(m->fd);
  free(m);
  return 0;
}

int buffer_export(struct kfd_export_buffer *a) {
  if (!(a->handle & BUFFER_HANDLE)) {
    uint64_t size;
    int file = memory_file(a->handle, &size), copy = file < 0 ? file : fcntl(file, F_DUPFD_CLOEXEC, 3);
    a->fd = (uint32_t)copy;
    return file < 0 ? file : copy < 0 ? -errno : 0;
  }
  pthread_mutex_lock(&lock);
  struct memory *m = memories;
  while (m && m->handle != a->handle) m = m->next;
  int fd = m ? fcntl(m->fd, F_DUPFD_CLOEXEC, 3) : -1;
  pthread_mutex_unlock(&lock);
  a->fd = (uint32_t)fd;
  return !m ? -EINVAL : fd < 0 ? -errno : 0;
}

int buffer_about(struct kfd_buffer_info *a) {
  a->size = memfile_size((int)a->fd);
  a->metadata_size = 0;
  a->gpu_id = gpus[0].id;
  a->flags = KFD_MEMORY_VRAM;
  return a->size ? 0 : -EINVAL;
}

int buffer_import(struct kfd_import_buffer *a) {
  struct gpu *g = gpu_by_id(a->gpu_id);
  uint64_t size = memfile_size((int)a->fd);
  if (!g || !size) return -EINVAL;
  if (a->va) return memory_import(g, a->va, size, (int)a->fd, &a->handle);
  return keep(g, size, fcntl((int)a->fd, F_DUPFD_CLOEXEC, 3), false, &a->handle);
}
