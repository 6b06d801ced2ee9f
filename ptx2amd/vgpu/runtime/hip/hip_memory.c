/* Allocation, and queries about pointers. Device pointers are host pointers. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "chunk.h"
#include "hip_state.h"

#define LARGE ((size_t)64 << 20)   /* allocations of at least this size check the machine's free memory first */

static uint64_t host_available(void) {
  FILE *f = fopen("/proc/meminfo", "re");
  char line[128];
  unsigned long long kib = 0;
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
  if (f) fclose(f);
  return kib ? kib * 1024 : UINT64_MAX;
}

static uint64_t device_free(const struct device *d) {
  uint64_t used = 0, available = host_available();
  for (int k = 0; k < hip_device_count; k++) used += mem_in_use(k);   /* all share the machine's memory */
  uint64_t left = used < d->total_memory ? d->total_memory - used : 0;
  return left < available ? left : available;
}

static hipError_t allocate(void **ptr, size_t size, uint32_t kind, unsigned flags) {
  struct device *d = device_current();
  if (!ptr) return hipErrorInvalidValue;
  *ptr = NULL;
  hipError_t error = capture_allows();
  if (error != hipSuccess || !size) return error;
  error = device_error(d);
  if (error != hipSuccess) return error;
  if (size >= LARGE && size > device_free(d)) return hipErrorOutOfMemory;
  struct mem_block *block = mem_alloc(size, kind, d->ordinal);
  if (!block) return hipErrorOutOfMemory;
  block->api_flags = flags;
  block->context = context_current() ? context_current() : d->primary;
  *ptr = (void *)block->base;
  return hipSuccess;
}

hipError_t hipMalloc(void **ptr, size_t size) {
  ENTER();
  return done(allocate(ptr, size, MEM_DEVICE, 0));
}

hipError_t hipExtMallocWithFlags(void **ptr, size_t size, unsigned flags) {
  ENTER();
  if (flags > 0x3) return done(hipErrorInvalidValue);
  return done(allocate(ptr, size, flags ? MEM_DEVICE | MEM_FINE : MEM_DEVICE, flags));   /* fine-grained, signals, uncached */
}

static hipError_t pitched(void **ptr, size_t *pitch, size_t width, size_t height) {
  if (!ptr || !pitch) return hipErrorInvalidValue;
  size_t row = (width + 255) & ~(size_t)255, size = size_times(row, height);
  if (row < width || size == SIZE_MAX) return hipErrorOutOfMemory;
  *pitch = row;
  return allocate(ptr, size, MEM_DEVICE, 0);
}

hipError_t hipMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height) {
  ENTER();
  return done(pitched(ptr, pitch, width, height));
}

hipError_t hipMemAllocPitch(hipDeviceptr_t *ptr, size_t *pitch, size_t width, size_t height, unsigned element) {
  ENTER();
  if ((element != 4 && element != 8 && element != 16) || !width || !height) return done(hipErrorInvalidValue);
  return done(pitched(ptr, pitch, width, height));
}

hipError_t hipMallocManaged(void **ptr, size_t size, unsigned flags) {
  ENTER();
  if (!size || (flags != 1 && flags != 2)) return done(hipErrorInvalidValue);
  return done(allocate(ptr, size, MEM_MANAGED, flags));
}

hipError_t hipHostMalloc(void **ptr, size_t size, unsigned flags) {
  enum { NON_COHERENT = 1u << 31 };
  ENTER();
  return done(allocate(ptr, size, flags & NON_COHERENT ? MEM_HOST | MEM_COARSE : MEM_HOST, flags));
}
hipError_t hipHostAlloc(void **ptr, size_t size, unsigned flags) { return hipHostMalloc(ptr, size, flags); }
hipError_t hipMallocHost(void **ptr, size_t size) { return hipHostMalloc(ptr, size, 0); }
hipError_t hipMemAllocHost(void **ptr, size_t size) { return hipHostMalloc(ptr, size, 0); }

bool mem_spans(const void *ptr, size_t size, bool device) {
  struct mem_block block;
  uint64_t at = (uint64_t)ptr;
  if (!size) return true;
  if (!ptr || !range_fits(at, size, 1)) return false;
  for (;;) {
    if (!mem_find(at, &block)) return !device && !chunk_reserved(at) && !vmm_reserved(at);
    if (range_within(at, size, block.base, block.size)) return true;
    enum mem_kind kind = MEM_KIND(block.flags);
    if (kind == MEM_VIRTUAL) device = true;   /* adjacent mappings form one range */
    else if (kind != MEM_REGISTERED || device) return false;
    uint64_t next = block.base + block.size;
    size -= next - at;
    at = next;
  }
}

/* Freeing waits for everything that may still use the memory. As with AMD's, hipFree and hipHostFree take memory of the
 * host, of a device, and managed memory alike; RCCL depends on it. */
static hipError_t release(void *ptr) {
  hipError_t error = capture_allows();
  if (error != hipSuccess || !ptr) return error;
  MAY_WAIT();
  struct mem_block *block = mem_at((uint64_t)ptr);
  enum mem_kind kind = block ? MEM_KIND(block->flags) : 0;
  bool imported = block && block->api_flags & OF_IMPORT, external = kind == MEM_VIRTUAL && block->owner && !imported;
  if (kind != MEM_HOST && kind != MEM_DEVICE && kind != MEM_MANAGED && !external && !imported) return hipErrorInvalidValue;
  error = device_synchronize(&hip_devices[block->device]);
  for (int k = 0; k < hip_device_count; k++)
    if (k != block->device) device_synchronize(&hip_devices[k]);
  if (mem_at((uint64_t)ptr) != block) return hipErrorInvalidValue;   /* hipFreeAsync was on its way */
  if (external) return external_buffer_free(block) ? error : hipErrorInvalidValue;
  if (block->owner) pool_give_back(block);
  else mem_release(block);
  return error;
}

hipError_t hipFree(void *ptr) {
  ENTER();
  return done(release(ptr));
}

hipError_t hipHostFree(void *ptr) {
  ENTER();
  return done(release(ptr));
}
hipError_t hipFreeHost(void *ptr) { return hipHostFree(ptr); }

hipError_t hipHostRegister(void *ptr, size_t size, unsigned flags) {
  ENTER();
  if (!ptr || !size || !range_mapped((uint64_t)ptr, size)) return done(hipErrorInvalidValue);
  struct device *d = device_current();
  enum { COARSE_GRAINED = 8 };
  uint32_t kind = flags & COARSE_GRAINED ? MEM_REGISTERED | MEM_COARSE : MEM_REGISTERED;
  struct mem_block *block = mem_adopt(ptr, size, kind, d->ordinal);
  if (!block) return done(hipErrorHostMemoryAlreadyRegistered);
  block->api_flags = flags;
  block->context = context_current() ? context_current() : d->primary;
  return hipSuccess;
}

hipError_t hipHostUnregister(void *ptr) {
  ENTER();
  MAY_WAIT();
  struct mem_block *block = mem_at((uint64_t)ptr);
  if (!block || MEM_KIND(block->flags) != MEM_REGISTERED) return done(hipErrorHostMemoryNotRegistered);
  hipError_t error = device_synchronize(&hip_devices[block->device]);
  mem_release(block);
  return done(error);
}

static bool is_host(const struct mem_block *block) {
  enum mem_kind kind = MEM_KIND(block->flags);
  return kind == MEM_HOST || kind == MEM_REGISTERED || kind == MEM_MANAGED;
}

hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned flags) {
  ENTER();
  struct mem_block block;
  if (!device || flags) return done(hipErrorInvalidValue);
  *device = NULL;
  if (!host || !mem_find((uint64_t)host, &block) || !is_host(&block)) return done(hipErrorInvalidValue);
  *device = host;
  return hipSuccess;
}

hipError_t hipHostGetFlags(unsigned *flags, void *host) {
  ENTER();
  struct mem_block block;
  if (!flags || !host || !mem_find((uint64_t)host, &block) || !is_host(&block)) return done(hipErrorInvalidValue);
  *flags = block.api_flags;
  return hipSuccess;
}

hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total) {
  ENTER();
  struct device *d = device_current();
  if (free_bytes) *free_bytes = device_free(d);
  if (total) *total = d->total_memory;
  return hipSuccess;
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *size, hipDeviceptr_t ptr) {
  ENTER();
  struct mem_block block;
  if (!ptr) return done(hipErrorInvalidValue);
  if (!mem_find((uint64_t)ptr, &block)) return done(hipErrorNotFound);
  if (base) *base = (void *)block.base;
  if (size) *size = block.size;
  return hipSuccess;
}

hipError_t hipMemPtrGetInfo(void *ptr, size_t *size) {
  ENTER();
  struct mem_block block;
  if (!size) return done(hipErrorInvalidValue);
  *size = 0;
  if (!ptr) return hipSuccess;
  if (!mem_find((uint64_t)ptr, &block)) return done(hipErrorInvalidValue);
  *size = block.size;
  return hipSuccess;
}

static hipMemoryType type_of(const struct mem_block *block) {
  switch (MEM_KIND(block->flags)) {
    case MEM_HOST:
    case MEM_REGISTERED: return hipMemoryTypeHost;
    case MEM_MANAGED: return hipMemoryTypeManaged;
    default: return hipMemoryTypeDevice;
  }
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *a, const void *ptr) {
  ENTER();
  struct mem_block block;
  if (!a || !ptr) return done(hipErrorInvalidValue);
  memset(a, 0, sizeof *a);
  a->device = -2;                 /* HIP's result for unknown memory */
  if (!mem_find((uint64_t)ptr, &block)) return hipSuccess;
  a->type = type_of(&block);
  a->device = block.device;
  a->devicePointer = (void *)ptr;
  a->hostPointer = is_host(&block) ? (void *)ptr : NULL;
  a->isManaged = a->type == hipMemoryTypeManaged;
  a->allocationFlags = block.api_flags;
  return hipSuccess;
}

/* One attribute; *known: the pointer is known. Unknown pointers read as zero (device: -2). */
static hipError_t attribute_of(void *data, hipPointer_attribute attribute, uint64_t address) {
  struct mem_block block = {0};
  bool known = mem_find(address, &block);
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_CONTEXT: *(void **)data = block.context; break;
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *(unsigned *)data = !known ? 0 : type_of(&block) == hipMemoryTypeHost ? hipMemoryTypeHost : hipMemoryTypeDevice;
      break;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: *(uint64_t *)data = known ? address : 0; break;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER: *(uint64_t *)data = known && is_host(&block) ? address : 0; break;
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(int *)data = 0; break;
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)data = block.id; break;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data = known && MEM_KIND(block.flags) == MEM_MANAGED; break;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = known ? block.device : -2; break;
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: *(unsigned *)data = 0; break;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(uint64_t *)data = block.base; break;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = block.size; break;
    case HIP_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)data = known; break;
    case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *(unsigned long long *)data = 0; break;
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: *(unsigned *)data = known ? hipMemAccessFlagsProtReadWrite : 0; break;
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *(void **)data = known && handle_ok(&pool_class, block.owner) ? block.owner : NULL;
      break;
    default: return hipErrorInvalidValue;
  }
  return hipSuccess;
}

hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t ptr) {
  ENTER();
  if (!data || !ptr || !mem_find((uint64_t)ptr, NULL)) return done(hipErrorInvalidValue);
  return done(attribute_of(data, attribute, (uint64_t)ptr));
}

hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute *attributes, void **data,
                                      hipDeviceptr_t ptr) {
  ENTER();
  if (!count || !attributes || !data) return done(hipErrorInvalidValue);
  for (unsigned k = 0; k < count; k++) {
    hipError_t error = data[k] ? attribute_of(data[k], attributes[k], (uint64_t)ptr) : hipErrorInvalidValue;
    if (error != hipSuccess) return done(error);
  }
  return hipSuccess;
}

hipError_t hipPointerSetAttribute(const void *value, hipPointer_attribute attribute, hipDeviceptr_t ptr) {
  ENTER();
  if (!value || attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS || !mem_find((uint64_t)ptr, NULL))
    return done(hipErrorInvalidValue);
  return hipSuccess;
}

/* For our management library: bytes that this process has allocated on a device. */
__attribute__((visibility("default"))) uint64_t ptx2amd_vgpu_in_use(int device) { return mem_in_use(device); }

/* The shim's own memory, which programs cannot free: not a leak. */
__attribute__((visibility("default"))) void ptx2amd_vgpu_internal(void *ptr) {
  struct mem_block *block = mem_at((uint64_t)ptr);
  if (block) block->internal = true;
}
