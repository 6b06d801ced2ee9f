/* External memory and semaphores, imported by file descriptor: a file that can be mapped (memfd, shared memory), and an
 * eventfd. The meaning of a Vulkan driver's descriptors is private to that driver; one that cannot be mapped is
 * rejected. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hip_state.h"

struct buffer {
  struct buffer *next;
  struct mem_block *block;
};
struct ihipExternalMemory {
  struct handle handle;
  char *mapping;
  size_t size;
  struct buffer *buffers;
};
static struct handle_class memory_class = HANDLE_CLASS(struct ihipExternalMemory, 1 << 12);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The library owns the descriptor on success. */
hipError_t hipImportExternalMemory(hipExternalMemory_t *memory, const hipExternalMemoryHandleDesc *desc) {
  ENTER();
  struct stat about;
  if (!memory || !desc || !desc->size) return done(hipErrorInvalidValue);
  if (desc->type != hipExternalHandleTypeOpaqueFd) return done(hipErrorNotSupported);
  int fd = desc->handle.fd;
  if (fstat(fd, &about) || (unsigned long long)about.st_size < desc->size) return done(hipErrorInvalidValue);
  void *p = mmap(NULL, desc->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return done(hipErrorInvalidValue);
  hipExternalMemory_t m = handle_new(&memory_class);
  if (!m) {
    munmap(p, desc->size);
    return done(hipErrorOutOfMemory);
  }
  close(fd);
  m->mapping = p;
  m->size = desc->size;
  m->buffers = NULL;
  *memory = m;
  return hipSuccess;
}

hipError_t hipExternalMemoryGetMappedBuffer(void **ptr, hipExternalMemory_t m, const hipExternalMemoryBufferDesc *desc) {
  ENTER();
  if (!ptr || !desc || desc->flags || !handle_ok(&memory_class, m) || !desc->size || desc->offset > m->size ||
      desc->size > m->size - desc->offset)
    return done(hipErrorInvalidValue);
  struct buffer *b = malloc(sizeof *b);
  if (!b) return done(hipErrorOutOfMemory);
  b->block = mem_adopt(m->mapping + desc->offset, desc->size, MEM_VIRTUAL, device_current()->ordinal);
  if (!b->block) {   /* a part that overlaps a mapped one */
    free(b);
    return done(hipErrorInvalidValue);
  }
  b->block->owner = m;
  pthread_mutex_lock(&lock);
  b->next = m->buffers;
  m->buffers = b;
  pthread_mutex_unlock(&lock);
  *ptr = (void *)b->block->base;
  return hipSuccess;
}

bool external_buffer_free(const struct mem_block *block) {
  hipExternalMemory_t m = block->owner;
  if (!handle_ok(&memory_class, m)) return false;
  struct buffer *found = NULL;
  pthread_mutex_lock(&lock);
  for (struct buffer **b = &m->buffers; *b; b = &(*b)->next)
    if ((*b)->block == block) {
      found = *b;
      *b = found->next;
      break;
    }
  pthread_mutex_unlock(&lock);
  if (!found) return false;
  mem_release(found->block);
  free(found);
  return true;
}

hipError_t hipDestroyExternalMemory(hipExternalMemory_t m) {
  ENTER();
  MAY_WAIT();
  if (!handle_ok(&memory_class, m)) return done(hipErrorInvalidValue);
  device_synchronize(device_current());
  for (struct buffer *b = m->buffers, *next; b; b = next) {
    next = b->next;
    mem_release(b->block);
    free(b);
  }
  munmap(m->mapping, m->size);
  handle_free(&memory_class, m);
  return hipSuccess;
}

/* ---- semaphores ---- */

hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t *semaphore, const hipExternalSemaphoreHandleDesc *desc) {
  ENTER();
  if (!semaphore || !desc || desc->flags) return done(hipErrorInvalidValue);
  if (desc->type != hipExternalHandleTypeOpaqueFd) return done(hipErrorNotSupported);
  if (fcntl(desc->handle.fd, F_GETFD) < 0) return done(hipErrorInvalidValue);
  hipExternalSemaphore_t s = handle_new(&semaphore_class);
  if (!s) return done(hipErrorOutOfMemory);
  s->fd = desc->handle.fd;
  *semaphore = s;
  return hipSuccess;
}

hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t s) {
  ENTER();
  MAY_WAIT();
  if (!handle_ok(&semaphore_class, s)) return done(hipErrorInvalidValue);
  device_synchronize(device_current());
  close(s->fd);
  handle_free(&semaphore_class, s);
  return hipSuccess;
}
