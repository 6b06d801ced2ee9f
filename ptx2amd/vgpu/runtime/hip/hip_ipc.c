/* Interprocess memory and events. A handle contains the path of the creating process's file in /proc. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hip_state.h"

#define MEMORY_MAGIC 0x6d656d2d75706776ull
#define EVENT_MAGIC 0x7665652d75706776ull

struct name {
  uint64_t magic;
  int32_t process, fd;
  uint64_t inode, length, offset, size;
  uint64_t pool;                /* its identity; 0: memory of no pool, and events */
};
_Static_assert(sizeof(struct name) <= sizeof(hipIpcMemHandle_t), "fits");

/* Opens the file of a handle; -1: its process has ended, or its number belongs to another process. */
static int open_named(const struct name *n) {
  char path[64];
  struct stat about;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", n->process, n->fd);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return -1;
  if (!fstat(fd, &about) && about.st_ino == n->inode) return fd;
  close(fd);
  return -1;
}

static struct name name_of(uint64_t magic, int fd) {
  struct stat about = {0};
  fstat(fd, &about);
  return (struct name){.magic = magic, .process = getpid(), .fd = fd, .inode = about.st_ino};
}

/* ---- memory ---- */

struct import {
  struct import *next;
  uint64_t inode, pool;
  char *mapping;
  size_t length;
  struct mem_block *block;
  int references;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct import *imports;

static hipError_t export(void *handle, void *ptr, bool of_pool) {
  struct mem_file file;
  struct mem_block block;
  if (!handle || !ptr || !mem_find((uint64_t)ptr, &block)) return hipErrorInvalidValue;
  uint64_t pool = of_pool ? pool_identity(&block) : 0;
  if (of_pool && !pool) return hipErrorInvalidValue;
  hipError_t error = device_synchronize(&hip_devices[block.device]);
  if (error != hipSuccess) return error;
  if (!mem_share((uint64_t)ptr, &file)) return hipErrorInvalidValue;
  struct name n = name_of(MEMORY_MAGIC, file.fd);
  n.length = file.length;
  n.offset = file.offset;
  n.size = file.size;
  n.pool = pool;
  memset(handle, 0, sizeof(hipIpcMemHandle_t));
  memcpy(handle, &n, sizeof n);
  return hipSuccess;
}

/* Under the lock. */
static struct import *map(const struct name *n) {
  struct import *i = calloc(1, sizeof *i);
  int fd = i ? open_named(n) : -1;
  void *p = fd < 0 ? MAP_FAILED : mmap(NULL, n->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0) close(fd);
  if (p != MAP_FAILED) {
    *i = (struct import){imports, n->inode, n->pool, p, n->length, NULL, 0};
    i->block = mem_adopt(i->mapping + n->offset, n->size, MEM_VIRTUAL, device_current()->ordinal);
    if (i->block && n->pool) i->block->owner = i, i->block->api_flags = OF_IMPORT;
    if (i->block) return imports = i;
    munmap(p, n->length);
  }
  free(i);
  return NULL;
}

static hipError_t import(void **ptr, const void *handle, const pool *p) {
  struct name n;
  memcpy(&n, handle, sizeof n);
  if (!ptr || n.magic != MEMORY_MAGIC || !range_within(n.offset, n.size, 0, n.length)) return hipErrorInvalidValue;
  if (p ? !pool_imports(p, n.pool) : n.pool != 0) return hipErrorInvalidValue;
  if (n.process == getpid()) return hipErrorInvalidContext;
  pthread_mutex_lock(&lock);
  struct import *i = imports;
  while (i && (i->inode != n.inode || i->pool != n.pool || i->block->base != (uint64_t)i->mapping + n.offset)) i = i->next;
  if (!i) i = map(&n);
  if (i) {
    i->references++;
    *ptr = (void *)i->block->base;
  }
  pthread_mutex_unlock(&lock);
  return i ? hipSuccess : hipErrorMapFailed;
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *ptr) {
  ENTER();
  return done(export(handle, ptr, false));
}

hipError_t hipIpcOpenMemHandle(void **ptr, hipIpcMemHandle_t handle, unsigned flags) {
  ENTER();
  if (flags & ~1u) return done(hipErrorInvalidValue);
  return done(import(ptr, &handle, NULL));
}

/* Under the lock. False: there is none. */
static bool drop_reference(uint64_t base, bool of_pool) {
  struct import **p = &imports;
  while (*p && ((*p)->block->base != base || ((*p)->pool != 0) != of_pool)) p = &(*p)->next;
  struct import *i = *p;
  if (!i) return false;
  if (--i->references) return true;
  *p = i->next;
  mem_release(i->block);
  munmap(i->mapping, i->length);
  free(i);
  return true;
}

hipError_t hipIpcCloseMemHandle(void *ptr) {
  ENTER();
  MAY_WAIT();
  device_synchronize(device_current());
  pthread_mutex_lock(&lock);
  bool dropped = drop_reference((uint64_t)ptr, false);
  pthread_mutex_unlock(&lock);
  return done(dropped ? hipSuccess : hipErrorInvalidValue);
}

void imported_free(struct mem_block *block) {
  pthread_mutex_lock(&lock);
  drop_reference(block->base, true);
  pthread_mutex_unlock(&lock);
}

/* ---- pools: their pointers are exported like other memory, and freed like memory of a pool ---- */

hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData *data, void *ptr) {
  ENTER();
  return done(export(data, ptr, true));
}

hipError_t hipMemPoolImportPointer(void **ptr, hipMemPool_t p, hipMemPoolPtrExportData *data) {
  ENTER();
  if (!data || !p) return done(hipErrorInvalidValue);
  return done(import(ptr, data, p));
}

/* ---- events ---- */

static struct shared_event *map_event(int fd) {
  void *p = mmap(NULL, sizeof(struct shared_event), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return p == MAP_FAILED ? NULL : p;
}

struct shared_event *shared_event_new(int *fd) {
  *fd = memfd_create("vgpu event", MFD_CLOEXEC);
  struct shared_event *e = *fd < 0 || ftruncate(*fd, sizeof *e) ? NULL : map_event(*fd);
  if (!e && *fd >= 0) close(*fd);
  return e;
}

void shared_event_free(struct shared_event *e, int fd) {
  munmap(e, sizeof *e);
  if (fd >= 0) close(fd);
}

void shared_event_wait(struct shared_event *e, uint64_t seq) {
  for (unsigned round = 0; !shared_event_reached(e, seq); round++)
    nanosleep(&(struct timespec){.tv_nsec = round < 100 ? 1000 : 50000}, NULL);
}

hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t e) {
  ENTER();
  if (!handle_ok(&event_class, e)) return done(hipErrorInvalidHandle);
  if (!handle || !e->shared || e->shared_fd < 0) return done(hipErrorInvalidValue);
  struct name n = name_of(EVENT_MAGIC, e->shared_fd);
  memset(handle, 0, sizeof *handle);
  memcpy(handle, &n, sizeof n);
  return hipSuccess;
}

hipError_t hipIpcOpenEventHandle(hipEvent_t *handle, hipIpcEventHandle_t given) {
  ENTER();
  struct name n;
  memcpy(&n, &given, sizeof n);
  if (!handle || n.magic != EVENT_MAGIC) return done(hipErrorInvalidValue);
  if (n.process == getpid()) return done(hipErrorInvalidContext);
  int fd = open_named(&n);
  struct shared_event *shared = fd < 0 ? NULL : map_event(fd);
  if (fd >= 0) close(fd);
  if (!shared) return done(hipErrorMapFailed);
  hipError_t error = event_new(handle, 2 /* no timing */);
  if (error != hipSuccess) {
    shared_event_free(shared, -1);
    return done(error);
  }
  (*handle)->shared = shared;
  (*handle)->shared_fd = -1;
  return hipSuccess;
}
