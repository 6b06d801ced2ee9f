/* The kernel driver's user interface (linux/kfd_ioctl.h, which needs libdrm's headers), as used by ROCm's thunk.
 * Structures grow at their ends from version to version, so requests are identified by their numbers alone. */
#ifndef PTX2AMD_KFD_ABI_H
#define PTX2AMD_KFD_ABI_H
#include <stdint.h>

enum kfd_request {
  KFD_GET_VERSION = 0x01, KFD_CREATE_QUEUE, KFD_DESTROY_QUEUE, KFD_SET_MEMORY_POLICY, KFD_GET_CLOCK_COUNTERS,
  KFD_UPDATE_QUEUE = 0x07, KFD_CREATE_EVENT, KFD_DESTROY_EVENT, KFD_SET_EVENT, KFD_RESET_EVENT, KFD_WAIT_EVENTS,
  KFD_SET_SCRATCH_BACKING_VA = 0x11, KFD_GET_TILE_CONFIG, KFD_SET_TRAP_HANDLER, KFD_GET_PROCESS_APERTURES_NEW,
  KFD_ACQUIRE_VM, KFD_ALLOC_MEMORY, KFD_FREE_MEMORY, KFD_MAP_MEMORY, KFD_UNMAP_MEMORY, KFD_SET_CU_MASK,
  KFD_BUFFER_INFO = 0x1c, KFD_IMPORT_BUFFER, KFD_ALLOC_QUEUE_GWS, KFD_SVM = 0x20, KFD_SET_XNACK_MODE,
  KFD_AVAILABLE_MEMORY = 0x23, KFD_EXPORT_BUFFER, KFD_IPC_IMPORT = 0x80, KFD_IPC_EXPORT,
};

struct kfd_version { uint32_t major, minor; };

enum { KFD_QUEUE_COMPUTE, KFD_QUEUE_SDMA, KFD_QUEUE_AQL, KFD_QUEUE_SDMA_XGMI, KFD_QUEUE_SDMA_BY_ENGINE };
struct kfd_create_queue {
  uint64_t ring, write_pointer, read_pointer, doorbell_offset;
  uint32_t ring_size, gpu_id, type, percentage, priority, queue_id;
};
struct kfd_queue_id { uint32_t queue_id, pad; };
struct kfd_update_queue { uint64_t ring; uint32_t queue_id, ring_size, percentage, priority; };
struct kfd_queue_gws { uint32_t queue_id, count, first, pad; };

struct kfd_clock_counters { uint64_t gpu, cpu, system, system_frequency; uint32_t gpu_id, pad; };

enum { KFD_EVENT_SIGNAL = 0, KFD_EVENT_HW_EXCEPTION = 3, KFD_EVENT_MEMORY = 8 };
struct kfd_create_event {
  uint64_t page;
  uint32_t trigger, type, auto_reset, node, event_id, slot;
};
struct kfd_event_id { uint32_t event_id, pad; };
struct kfd_memory_exception { uint32_t not_present, read_only, no_execute, imprecise; uint64_t va; uint32_t gpu_id, type; };
struct kfd_hw_exception { uint32_t reset_type, reset_cause, memory_lost, gpu_id; };
struct kfd_event_data {
  union {
    struct kfd_memory_exception memory;
    struct kfd_hw_exception hw;
    uint64_t last_age;
  };
  uint64_t extension;
  uint32_t event_id, pad;
};
enum { KFD_WAIT_COMPLETE, KFD_WAIT_TIMEOUT };
struct kfd_wait_events { uint64_t events; uint32_t count, all, timeout, result; };

struct kfd_tile_config { uint64_t tiles, macro_tiles; uint32_t n_tiles, n_macro_tiles, gpu_id, gb_addr_config, banks, ranks; };

struct kfd_apertures { uint64_t lds_base, lds_limit, scratch_base, scratch_limit, vm_base, vm_limit; uint32_t gpu_id, pad; };
struct kfd_get_apertures { uint64_t array; uint32_t count, pad; };

#define KFD_MEMORY_VRAM 0x1u
#define KFD_MEMORY_GTT 0x2u
#define KFD_MEMORY_USERPTR 0x4u
#define KFD_MEMORY_DOORBELL 0x8u
#define KFD_MEMORY_MMIO 0x10u
#define KFD_MEMORY_UNCACHED (1u << 25)
#define KFD_MEMORY_COHERENT (1u << 26)
struct kfd_alloc_memory { uint64_t va, size, handle, mmap_offset; uint32_t gpu_id, flags; };
struct kfd_free_memory { uint64_t handle; };
struct kfd_map_memory { uint64_t handle, devices; uint32_t n_devices, n_success; };
struct kfd_buffer_info { uint64_t size, metadata; uint32_t metadata_size, gpu_id, flags, fd; };
struct kfd_import_buffer { uint64_t va, handle; uint32_t gpu_id, fd; };
struct kfd_export_buffer { uint64_t handle; uint32_t flags, fd; };
struct kfd_ipc_export { uint64_t handle; uint32_t name[4], gpu_id, flags; };
struct kfd_ipc_import { uint64_t handle, va, mmap_offset; uint32_t name[4], gpu_id, flags; };
struct kfd_available_memory { uint64_t available; uint32_t gpu_id, pad; };

/* Offsets of mmap() on the driver's file: the kind of mapping, and its GPU. */
#define KFD_MMAP_EVENTS (2ull << 62)
#define KFD_MMAP_DOORBELL (3ull << 62)
#define KFD_MMAP_BUFFER(id) (1ull << 62 | (uint64_t)(id) << 12)   /* ours: the driver chooses its handles freely */
#define KFD_MMAP_IS_BUFFER(offset) ((uint64_t)(offset) >> 62 == 1)
#define KFD_MMAP_BUFFER_ID(offset) ((uint32_t)((uint64_t)(offset) >> 12))
#define KFD_MMAP_GPU(gpu_id) ((uint64_t)(gpu_id) << 46)
#define KFD_MMAP_IS_DOORBELL(offset) ((uint64_t)(offset) >> 62 == 3)

enum { KFD_SVM_SET, KFD_SVM_GET };
enum {
  KFD_SVM_PREFERRED_LOCATION, KFD_SVM_PREFETCH_LOCATION, KFD_SVM_ACCESS, KFD_SVM_ACCESS_IN_PLACE, KFD_SVM_NO_ACCESS,
  KFD_SVM_SET_FLAGS, KFD_SVM_CLEAR_FLAGS, KFD_SVM_GRANULARITY,
};
#define KFD_SVM_UNDEFINED 0xffffffffu   /* of a location */
struct kfd_svm { uint64_t start, size; uint32_t op, count; struct { uint32_t type, value; } attributes[]; };

struct kfd_xnack_mode { int32_t enabled; };
#endif
