/* Memory for malloc in kernels. The device libraries keep slabs of 2 MiB with blocks of one size each, and request
 * slabs and large blocks; free finds a block's slab by its address. */
#include "hip_state.h"
#include "hostcall.h"

enum { BOOKS = 128 << 10, PAGE = 4096, SLAB = 2 << 20 };

uint64_t device_heap(struct device *d) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct mem_block *books[MAX_DEVICES];
  pthread_mutex_lock(&lock);
  struct mem_block **own = &books[d->ordinal];
  if (!*own && (*own = mem_alloc(BOOKS, MEM_RUNTIME, d->ordinal))) {
    (*own)->internal = true;
    __builtin_memset((void *)(*own)->base, 0, BOOKS);
  }
  pthread_mutex_unlock(&lock);
  return *own ? (*own)->base : 0;
}

static uint64_t allocate(uint64_t size) {
  uint64_t alignment = size == SLAB ? SLAB : PAGE;
  if (size > UINT64_MAX - 2 * alignment) return 0;
  struct mem_block *block = mem_alloc(size + alignment, MEM_RUNTIME, 0);
  if (!block) return 0;
  block->internal = true;
  return (block->base + alignment - 1) & ~(alignment - 1);
}

void hostcall_memory(uint64_t slot[8]) {
  struct mem_block found;
  if (!slot[0]) slot[0] = slot[1] ? allocate(slot[1]) : 0;
  else if (mem_find(slot[0], &found)) mem_release(mem_at(found.base));
  else complain("free in a kernel: no allocation at 0x%llx", (unsigned long long)slot[0]);
}
