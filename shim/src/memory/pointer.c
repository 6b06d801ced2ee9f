/* What is known of a pointer: attributes, from hipPointerGetAttributes, and where its pages are. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim.h"

enum pointer_kind { POINTER_UNKNOWN, POINTER_HOST, POINTER_DEVICE, POINTER_MANAGED };

/* The numbers of memory types changed with HIP 6. */
static enum pointer_kind kind_of(const hipPointerAttribute_t *p) {
  if (p->isManaged) return POINTER_MANAGED;
  int host = hip_version >= 600 ? 1 : 0, managed = hip_version >= 600 ? 3 : 4;
  if (hip_version >= 600 && p->type == 0) return POINTER_UNKNOWN;
  return (int)p->type == host ? POINTER_HOST : (int)p->type == managed ? POINTER_MANAGED : POINTER_DEVICE;
}

static enum pointer_kind inspect(CUdeviceptr ptr, hipPointerAttribute_t *p) {
  memset(p, 0, sizeof *p);
  return hip_answers(hip.PointerGetAttributes(p, (void *)ptr)) ? kind_of(p) : POINTER_UNKNOWN;
}

bool pointer_is_pinned(const void *p) {
  hipPointerAttribute_t attributes;
  return inspect((CUdeviceptr)p, &attributes) == POINTER_HOST;
}

static size_t size_of(CUpointer_attribute a) {
  switch (a) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return 8;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: case 21: return 4;
    default: return 4;
  }
}

/* Whose memory it is, nobody remembers: the current context's, where that can be. */
static struct context *context_of(const hipPointerAttribute_t *p) {
  struct context *c = context_current();
  return device_ok(p->device) && (!c || c->device != p->device) ? primary_context(p->device) : c;
}

/* The value of an attribute of a known pointer; false when it has none. */
static bool value_of(CUpointer_attribute a, CUdeviceptr ptr, const hipPointerAttribute_t *p, enum pointer_kind kind,
                     uint64_t *value) {
  CUdeviceptr base = 0;
  size_t size = 0;
  bool range = hip_answers(hip.MemGetAddressRange((void **)&base, &size, (void *)ptr));
  switch (a) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *value = (uintptr_t)context_of(p); return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *value = kind == POINTER_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *value = kind == POINTER_HOST ? (uintptr_t)p->devicePointer : ptr;
      return *value != 0;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *value = kind == POINTER_HOST ? (uintptr_t)p->hostPointer : ptr;
      return kind != POINTER_DEVICE;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *value = kind == POINTER_MANAGED; return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *value = (uint32_t)p->device; return true;
    case CU_POINTER_ATTRIBUTE_MAPPED: *value = 1; return true;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: *value = 3; return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      *value = range ? base : ptr;
      return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *value = size; return range;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: case 21: *value = 0; return true;
    default: return false;
  }
}

/* Neither form needs a current context: the runtime library asks before it makes one. */
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  hipPointerAttribute_t p;
  uint64_t value = 0;
  if (!data || attribute < 1 || attribute > 22 || attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
    return CUDA_ERROR_INVALID_VALUE;
  enum pointer_kind kind = inspect(ptr, &p);
  if (kind == POINTER_UNKNOWN || !value_of(attribute, ptr, &p, kind, &value)) return CUDA_ERROR_INVALID_VALUE;
  memcpy(data, &value, size_of(attribute));
  return CUDA_SUCCESS;
}

/* It may be the host's. */
static uint64_t of_unknown(CUpointer_attribute a, CUdeviceptr ptr) {
  return a == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? (uint64_t)-2 : a == CU_POINTER_ATTRIBUTE_HOST_POINTER ? ptr : 0;
}

/* Unlike the single form it succeeds for any pointer: what is unknown reads as zero. */
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr) {
  hipPointerAttribute_t p;
  if (!attributes || !data || !numAttributes) return CUDA_ERROR_INVALID_VALUE;
  enum pointer_kind kind = inspect(ptr, &p);
  for (unsigned i = 0; i < numAttributes; i++) {
    uint64_t value = 0;
    if (attributes[i] < 1 || attributes[i] > 22 || !data[i]) return CUDA_ERROR_INVALID_VALUE;
    if (kind == POINTER_UNKNOWN) value = of_unknown(attributes[i], ptr);
    else if (!value_of(attributes[i], ptr, &p, kind, &value)) value = 0;
    memcpy(data[i], &value, size_of(attributes[i]));
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  hipPointerAttribute_t p;
  if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || inspect(ptr, &p) == POINTER_UNKNOWN)
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS; /* copies are ordered that way anyway */
}

/* ---- where pages are ---- */

/* Every device can share managed memory with the processor while both use it. */
static bool all_share(void) {
  enum { CONCURRENT_MANAGED_ACCESS = 89 };
  for (int device = 0, value; device < device_count; device++)
    if (cuDeviceGetAttribute(&value, CONCURRENT_MANAGED_ACCESS, device) || !value) return false;
  return true;
}

/* The software GPU's memory is the processor's: pages are there or nowhere. The most frequent answer of a region. */
static CUresult location_of(CUdeviceptr at, size_t size, size_t step, CUmemLocation *location) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), there = 0, asked = 0;
  for (size_t done = 0; done < size; done += step < size - done ? step : size - done, asked++) {
    unsigned char state;
    if (mincore((void *)((at + done) & ~(page - 1)), 1, &state)) return CUDA_ERROR_INVALID_VALUE;
    there += state & 1;
  }
  *location = (CUmemLocation){2 * there >= asked ? hipMemLocationTypeHost : hipMemLocationTypeNone, 0};
  return CUDA_SUCCESS;
}

CUresult cuMemGetLocationInfo(CUdeviceptr ptr, size_t size, size_t summaryGranularity, size_t samplingGranularity,
                              CUmemLocation *location_out) {
  static int said;
  hipPointerAttribute_t p;
  if (!ptr || !location_out || !summaryGranularity || summaryGranularity > size || samplingGranularity > summaryGranularity)
    return CUDA_ERROR_INVALID_VALUE;
  if (!all_share()) return CUDA_ERROR_NOT_SUPPORTED;
  enum pointer_kind kind = inspect(ptr, &p);
  bool there = kind == POINTER_MANAGED ? allocation_holds(ptr, size) : kind == POINTER_UNKNOWN && range_mapped(ptr, size);
  if (!there) return CUDA_ERROR_INVALID_VALUE;
  if (!hip_is_software) return refuse(&said, "cuMemGetLocationInfo with AMD's library, which does not tell where pages are,");
  size_t step = samplingGranularity ? samplingGranularity : (size_t)sysconf(_SC_PAGESIZE);
  for (size_t done = 0, part; done < size; done += part) {
    part = size - done < summaryGranularity ? size - done : summaryGranularity;
    CUresult result = location_of(ptr + done, part, step, location_out++);
    if (result) return result;
  }
  return CUDA_SUCCESS;
}
