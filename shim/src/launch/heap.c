/* Memory that kernels need beside what the program gives them: the heap of device-side malloc, made when the first
 * kernel that uses it is loaded, and the stack of kernels whose depth of calls is not known. */
#include "deferred.h"
#include "interface_heap.h"

enum { STACK_FACTOR = 4, STACK_LEAST = 8192, STACK_MOST = 131056 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int clear(int device, uint64_t heap, uint64_t size) {
  const struct heap_header header = {.size = size, .used = sizeof header};
  return upload(device, heap, &header, sizeof header);
}

static size_t limit(enum cuda_limit which, size_t otherwise) {
  struct context *c = thread_state.current;
  return c ? c->limits[which] : otherwise;
}

CUresult heap_prepare(int device) {
  struct device *d = &devices[device];
  void *memory = NULL;
  int error = 0;
  pthread_mutex_lock(&lock);
  if (!d->heap) {
    size_t size = limit(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)8 << 20);
    if (size < 2 * sizeof(struct heap_header)) size = 2 * sizeof(struct heap_header);
    error = hip.Malloc(&memory, size);
    if (!error) hip_internal(memory);
    if (!error && (error = clear(device, (uint64_t)(uintptr_t)memory, size))) hip.Free(memory);
    if (!error) d->heap = (uint64_t)(uintptr_t)memory, d->heap_size = size;
  }
  pthread_mutex_unlock(&lock);
  return from_hip(error);
}

void heap_reset(int device) {
  struct device *d = &devices[device];
  if (d->heap) clear(device, d->heap, d->heap_size);
}

/* Frames are larger than on NVIDIA GPUs, whose sizes programs have in mind. */
void stack_prepare(int device) {
  struct device *d = &devices[device];
  size_t size = STACK_FACTOR * limit(CU_LIMIT_STACK_SIZE, 1024);
  if (size < STACK_LEAST) size = STACK_LEAST;
  if (size > STACK_MOST) size = STACK_MOST;
  pthread_mutex_lock(&lock);
  if (d->stack_size != size && !hip.DeviceSetLimit(0, size)) d->stack_size = size;
  pthread_mutex_unlock(&lock);
}
