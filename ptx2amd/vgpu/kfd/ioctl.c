/* Requests to /dev/kfd. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "kfd.h"

enum { VERSION_MAJOR = 1, VERSION_MINOR = 15 /* events have ages; memory is exported and imported */ };

/* Where LDS and scratch lie in flat addresses: the engine's. */
#define LDS_APERTURE 0x1000000000000ull
#define SCRATCH_APERTURE 0x2000000000000ull
#define APERTURE_SIZE 0x100000000ull
#define VM_BASE 0x1000000ull
#define VM_LIMIT 0x7fffffffffffull

uint64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
uint64_t ticks(void) { return nanoseconds() / (1000000000 / TICKS_PER_SECOND); }

static int clock_counters(struct kfd_clock_counters *a) {
  uint64_t now = nanoseconds();
  a->gpu = now / (1000000000 / TICKS_PER_SECOND);
  a->cpu = a->system = now;
  a->system_frequency = 1000000000;
  return 0;
}

static int apertures(struct kfd_get_apertures *a) {
  struct kfd_apertures *to = (struct kfd_apertures *)a->array;
  for (unsigned k = 0; k < gpu_count && k < a->count; k++)
    to[k] = (struct kfd_apertures){
        LDS_APERTURE, LDS_APERTURE + APERTURE_SIZE - 1, SCRATCH_APERTURE, SCRATCH_APERTURE + APERTURE_SIZE - 1,
        VM_BASE, VM_LIMIT, gpus[k].id, 0};
  a->count = gpu_count;
  return 0;
}

static int tile_config(struct kfd_tile_config *a) {
  a->n_tiles = a->n_macro_tiles = a->banks = a->ranks = 0;
  a->gb_addr_config = 0x24000042;
  return 0;
}

static int xnack_mode(struct kfd_xnack_mode *a) {
  if (a->enabled > 0) return -EPERM;
  a->enabled = 0;
  return 0;
}

static int available_memory(struct kfd_available_memory *a) {
  const struct gpu *g = gpu_by_id(a->gpu_id);
  if (!g) return -EINVAL;
  uint64_t total = gpu_memory(), used = g->in_use;
  a->available = used < total ? total - used : 0;
  return 0;
}

static int all_mapped(struct kfd_map_memory *a) {
  a->n_success = a->n_devices;
  return 0;
}

int kfd_request(unsigned request, void *a) {
  switch ((enum kfd_request)request) {
    case KFD_GET_VERSION: *(struct kfd_version *)a = (struct kfd_version){VERSION_MAJOR, VERSION_MINOR}; return 0;
    case KFD_CREATE_QUEUE: return queue_create(a);
    case KFD_DESTROY_QUEUE: return queue_destroy(((struct kfd_queue_id *)a)->queue_id);
    case KFD_UPDATE_QUEUE: return queue_update(a);
    case KFD_ALLOC_QUEUE_GWS: return queue_cooperate(a);
    case KFD_GET_CLOCK_COUNTERS: return clock_counters(a);
    case KFD_CREATE_EVENT: return event_create(a);
    case KFD_DESTROY_EVENT: return event_destroy(((struct kfd_event_id *)a)->event_id);
    case KFD_SET_EVENT: return event_set(((struct kfd_event_id *)a)->event_id);
    case KFD_RESET_EVENT: return event_reset(((struct kfd_event_id *)a)->event_id);
    case KFD_WAIT_EVENTS: return event_wait(a);
    case KFD_GET_TILE_CONFIG: return tile_config(a);
    case KFD_GET_PROCESS_APERTURES_NEW: return apertures(a);
    case KFD_ALLOC_MEMORY: return memory_alloc(a);
    case KFD_FREE_MEMORY: return memory_free(((struct kfd_free_memory *)a)->handle);
    case KFD_BUFFER_INFO: return buffer_about(a);
    case KFD_IMPORT_BUFFER: return buffer_import(a);
    case KFD_EXPORT_BUFFER: return buffer_export(a);
    case KFD_IPC_EXPORT: return ipc_export(a);
    case KFD_IPC_IMPORT: return ipc_import(a);
    case KFD_MAP_MEMORY:
    case KFD_UNMAP_MEMORY: return all_mapped(a);
    case KFD_SVM: return svm_request(a);
    case KFD_SET_XNACK_MODE: return xnack_mode(a);
    case KFD_AVAILABLE_MEMORY: return available_memory(a);
    case KFD_SET_MEMORY_POLICY:   /* not modelled: caches, scratch backing, trap handlers, CU masks */
    case KFD_SET_SCRATCH_BACKING_VA:
    case KFD_SET_TRAP_HANDLER:
    case KFD_ACQUIRE_VM:
    case KFD_SET_CU_MASK: return 0;
  }
  return -EINVAL;
}

/* Memory exists since its allocation. A doorbell page is memory that is never read: queues poll their write indices. */
void *kfd_map(void *address, size_t size, int protection, off_t offset) {
  if (KFD_MMAP_IS_BUFFER(offset)) return memory_show(address, size, protection, buffer_file((uint64_t)offset));
  if (!KFD_MMAP_IS_DOORBELL(offset) && address) return address;
  int fixed = address ? MAP_FIXED : 0;
  return mmap(address, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
}
