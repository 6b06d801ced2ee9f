/* Virtual memory: reservations, allocations without an address, mappings. AMD's library takes any address for a
 * reservation and any handle for an allocation, so that the program's are kept. */
#include "virtual.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "shim.h"

struct range { CUdeviceptr at; size_t size; };
/* Disjoint, in the order of their addresses. */
struct ranges { struct range *of; size_t count, room; };

static struct ranges reserved, mapped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- under the lock ---- */

/* The number of ranges that begin before or at it. */
static size_t begun(const struct ranges *r, CUdeviceptr at) {
  size_t low = 0, high = r->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (r->of[middle].at <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The range that holds `at`. */
static const struct range *holding(const struct ranges *r, CUdeviceptr at) {
  size_t k = begun(r, at);
  return k && range_within(at, 1, r->of[k - 1].at, r->of[k - 1].size) ? &r->of[k - 1] : NULL;
}

/* All of it, in ranges that touch. */
static bool covered(const struct ranges *r, CUdeviceptr at, size_t size) {
  for (const struct range *part; (part = holding(r, at));) {
    size_t left = part->size - (at - part->at);
    if (left >= size) return true;
    at += left;
    size -= left;
  }
  return false;
}

static bool put(struct ranges *r, CUdeviceptr at, size_t size) {
  if (r->count == r->room) {
    size_t room = r->room ? 2 * r->room : 16;
    struct range *more = realloc(r->of, room * sizeof *more);
    if (!more) return false;
    r->of = more;
    r->room = room;
  }
  size_t k = begun(r, at);
  memmove(r->of + k + 1, r->of + k, (r->count++ - k) * sizeof *r->of);
  r->of[k] = (struct range){at, size};
  return true;
}

/* Those that lie in it. */
static void take(struct ranges *r, CUdeviceptr at, size_t size) {
  size_t kept = 0;
  for (size_t k = 0; k < r->count; k++)
    if (!range_within(r->of[k].at, r->of[k].size, at, size)) r->of[kept++] = r->of[k];
  r->count = kept;
}

/* ---- with the lock ---- */

static bool is_reserved(CUdeviceptr at, size_t size, bool whole) {
  pthread_mutex_lock(&lock);
  const struct range *r = holding(&reserved, at);
  bool found = r && (whole ? r->at == at && r->size == size : range_within(at, size, r->at, r->size));
  pthread_mutex_unlock(&lock);
  return found;
}

static bool is_mapped(CUdeviceptr at, size_t size) {
  pthread_mutex_lock(&lock);
  bool found = covered(&mapped, at, size);
  pthread_mutex_unlock(&lock);
  return found;
}

bool virtual_is_empty(CUdeviceptr at, size_t size) { return is_reserved(at, 1, false) && !is_mapped(at, size); }

/* Puts a range into a list, where HIP was successful. */
static CUresult keep(int error, struct ranges *to, CUdeviceptr at, size_t size) {
  if (error) return hip_error(error);
  pthread_mutex_lock(&lock);
  bool done = put(to, at, size);
  pthread_mutex_unlock(&lock);
  return done ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult leave(int error, struct ranges *from, CUdeviceptr at, size_t size) {
  if (error) return hip_error(error);
  pthread_mutex_lock(&lock);
  take(from, at, size);
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

/* HIP 5 has the functions, which do not work there, and says so. */
static bool supported(void) {
  int value = 0;
  return !hip.DeviceGetAttribute(&value, hipDeviceAttributeVirtualMemoryManagementSupported, 0) && value;
}

/* ---- addresses ---- */

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) {
  static int said;
  enum { PAGE_BYTES = 4096 };
  if (!supported()) return refuse(&said, "cuMemAddressReserve with this version of HIP");
  if (!ptr || !size || size % PAGE_BYTES || addr % PAGE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  if (size >> 47) return CUDA_ERROR_OUT_OF_MEMORY;
  int error = hip.MemAddressReserve((void **)ptr, size, alignment, (void *)addr, flags);
  return keep(error, &reserved, *ptr, size);
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
  if (!is_reserved(ptr, size, true)) return CUDA_ERROR_INVALID_VALUE;
  return leave(hip.MemAddressFree((void *)ptr, size), &reserved, ptr, size);
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (offset) return CUDA_ERROR_NOT_SUPPORTED;
  if (!is_reserved(ptr, size, false)) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.MemMap((void *)ptr, size, offset, (hipMemGenericAllocationHandle_t)handle, flags);
  return keep(error, &mapped, ptr, size);
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
  if (!size || !is_mapped(ptr, size)) return CUDA_ERROR_INVALID_VALUE;
  return leave(hip.MemUnmap((void *)ptr, size), &mapped, ptr, size);
}

/* None, read, or read and write, by a device. */
static bool access_wrong(const CUmemAccessDesc *d) {
  return d->location.type != hipMemLocationTypeDevice || (d->flags != hipMemAccessFlagsProtNone &&
         d->flags != hipMemAccessFlagsProtRead && d->flags != hipMemAccessFlagsProtReadWrite);
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count) {
  if (!size || !is_mapped(ptr, size) || (count && !desc)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++)
    if (access_wrong(&desc[i]) || !device_ok(desc[i].location.id)) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.MemSetAccess((void *)ptr, size, desc, count));
}

/* ---- allocations ---- */

/* Each of these references has to be released. */
static CUresult referenced(int error, const CUmemGenericAllocationHandle *handle) {
  if (!error) live_add(LIVE_ALLOCATION, (const void *)*handle);
  return from_hip(error);
}

/* Handles of Windows. */
bool handle_type_wrong(int types) {
  enum { WIN32 = 2, WIN32_KMT = 4 };
  return (types & (WIN32 | WIN32_KMT)) != 0;
}

/* Whatever is allocated. */
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
  const hipMemAllocationProp any = {.type = hipMemAllocationTypePinned, .location.type = hipMemLocationTypeDevice};
  if (!granularity || !prop) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.MemGetAllocationGranularity(granularity, &any, (hipMemAllocationGranularity_flags)option));
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
  if (!handle || (prop && handle_type_wrong((int)prop->requestedHandleType))) return CUDA_ERROR_INVALID_VALUE;
  return referenced(hip.MemCreate((hipMemGenericAllocationHandle_t *)handle, size, prop, flags), handle);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  return referenced(hip.MemRetainAllocationHandle((hipMemGenericAllocationHandle_t *)handle, addr), handle);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                        CUmemAllocationHandleType shHandleType) {
  enum { BY_VALUE = 700 }; /* older ones want the descriptor's address */
  int descriptor = (int)(intptr_t)osHandle;
  bool is_file = shHandleType == hipMemHandleTypePosixFileDescriptor;
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  if (is_file && fcntl(descriptor, F_GETFD) < 0) return CUDA_ERROR_UNKNOWN; /* as NVIDIA's driver says it */
  int error = hip.MemImportFromShareableHandle((hipMemGenericAllocationHandle_t *)handle,
                                               is_file && hip_version < BY_VALUE ? &descriptor : osHandle,
                                               (hipMemAllocationHandleType)shHandleType);
  return referenced(error, handle);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  int error = hip.MemRelease((hipMemGenericAllocationHandle_t)handle);
  if (!error) live_drop(LIVE_ALLOCATION, (const void *)handle);
  return from_hip(error);
}
