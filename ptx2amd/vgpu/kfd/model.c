/* AMD's interface for models of GPUs (ROCm 7): with HSA_MODEL_LIB, libhsakmt answers the driver's requests itself, and gives
 * memory and queues to this library. Nothing is preloaded then. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kfd.h"

enum { MAJOR = 0, MINOR = 4 };   /* of the interface */

/* Addresses are relative to an aperture that starts at 0 for GPUs; the same memory is at the same address for the CPU. */
struct model_queue_info {
  uint64_t ring, write_pointer, read_pointer, *doorbell;
  uint32_t size, type;
};
typedef void set_event(void *data, unsigned event);

struct model_functions {
  uint32_t major, minor;
  struct gpu *(*create)(void);
  void (*destroy)(struct gpu *);
  void (*set_aperture)(struct gpu *, void *base, uint64_t size);
  void (*allocated)(struct gpu *, void *address, uint64_t size, uint32_t flags);
  void (*freed)(struct gpu *, void *address, uint64_t size);
  void (*set_notify)(struct gpu *, void (*)(void *), void *data);
  void (*set_wait)(struct gpu *, void (*)(void *, uint64_t address, uint64_t age), void *data);
  void *(*register_queue)(struct gpu *, const struct model_queue_info *);
  void (*set_set_event)(struct gpu *, set_event *, void *data);
  void (*destroy_queue)(struct gpu *, void *queue);
};

static set_event *setter;
static void *setter_data;

bool model_sets_event(uint32_t id) {
  if (setter) setter(setter_data, id);
  return setter;
}

/* libhsakmt makes them in the order of the topology. */
static struct gpu *create(void) {
  static unsigned made;
  return made < gpu_count ? &gpus[made++] : NULL;
}

static void destroy(struct gpu *g) { (void)g; }
static void set_aperture(struct gpu *g, void *base, uint64_t size) { (void)g, (void)base, (void)size; }
static void set_notify(struct gpu *g, void (*call)(void *), void *data) { (void)g, (void)call, (void)data; }
static void set_wait(struct gpu *g, void (*call)(void *, uint64_t, uint64_t), void *data) { (void)g, (void)call, (void)data; }

static void set_set_event(struct gpu *g, set_event *call, void *data) {
  (void)g;
  setter = call;
  setter_data = data;
}

/* libhsakmt maps it. */
static void allocated(struct gpu *g, void *address, uint64_t size, uint32_t flags) {
  if (flags & (KFD_MEMORY_DOORBELL | KFD_MEMORY_MMIO)) return;
  uint64_t va = (uint64_t)address;
  struct kfd_alloc_memory a = {.va = va, .size = size, .mmap_offset = va, .gpu_id = g->id, .flags = flags | KFD_MEMORY_USERPTR};
  if (memory_alloc(&a)) complain("no memory to register %llu bytes", (unsigned long long)size);
}

static void freed(struct gpu *g, void *address, uint64_t size) {
  (void)g, (void)size;
  memory_free(memory_handle((uint64_t)address));
}

static void *register_queue(struct gpu *g, const struct model_queue_info *info) {
  struct kfd_create_queue a = {.ring = info->ring, .write_pointer = info->write_pointer, .read_pointer = info->read_pointer,
                               .ring_size = info->size, .gpu_id = g->id, .type = info->type};
  if (queue_create(&a)) return NULL;
  return (void *)(uintptr_t)a.queue_id;
}

static void destroy_queue(struct gpu *g, void *queue) {
  (void)g;
  queue_destroy((uint32_t)(uintptr_t)queue);
}

/* --- the topology, which libhsakmt reads from a folder --- */

static bool write_file(const char *path, const char *text) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool made = !mkdir(path, 0777) || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  FILE *file = fopen(path, "w");
  return file && fputs(text, file) >= 0 && !fclose(file);
}

API const struct model_functions *get_hsakmt_model_functions(void) {
  static const struct model_functions functions = {
      MAJOR, MINOR, create, destroy, set_aperture, allocated, freed, set_notify, set_wait, register_queue, set_set_event,
      destroy_queue};
  const char *folder = getenv("HSA_MODEL_TOPOLOGY");
  if (!kfd_active()) complain("HSA_MODEL_LIB: PTX2AMD_DEVICE has to be kfd or kfd:ARCH");
  else if (folder && !topology_copy(folder, write_file)) complain("cannot write %s: %s", folder, strerror(errno));
  return &functions;
}
