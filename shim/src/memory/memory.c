/* Memory: what is not one HIP call. */
#include <string.h>

#include "shim.h"
#include "virtual.h"

enum { CPU_DEVICE = -1 };

bool allocation_holds(CUdeviceptr at, size_t size) {
  CUdeviceptr begin = 0;
  size_t whole = 0;
  if (!range_fits(at, size, 1)) return false;
  if (!hip_answers(hip.MemGetAddressRange((void **)&begin, &whole, (void *)at)) || range_within(at, size, begin, whole)) return true;
  CUmemLocation location = {.type = hipMemLocationTypeDevice};
  unsigned long long flags;
  return hip_answers(hip.MemGetAccess(&flags, &location, (void *)at)); /* a mapping: those that touch are one range */
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
  return dptr && bytesize ? from_hip(hip.Malloc((void **)dptr, bytesize)) : CUDA_ERROR_INVALID_VALUE;
}

/* HIP 5's own refuses chips that have no image instructions. */
CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes) {
  enum { PITCH = 256 };
  size_t pitch = (WidthInBytes + PITCH - 1) & ~(size_t)(PITCH - 1), size;
  bool element = ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16;
  if (!dptr || !pPitch || !element || !WidthInBytes || !Height) return CUDA_ERROR_INVALID_VALUE;
  if (pitch < WidthInBytes || __builtin_mul_overflow(pitch, Height, &size)) return CUDA_ERROR_OUT_OF_MEMORY;
  *pPitch = pitch;
  return from_hip(hip.Malloc((void **)dptr, size));
}

/* Flags: 1 portable, 2 mapped, 4 write-combined, with the same numbers in HIP. */
CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
  return pp && !(Flags & ~7u) ? from_hip(hip.HostMalloc(pp, bytesize, Flags)) : CUDA_ERROR_INVALID_VALUE;
}

/* All host memory is mapped; that a device only reads it is not remembered. */
CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p) {
  enum { MAPPED = 2, REMEMBERED = 5 };
  CUresult result = from_hip(hip.HostGetFlags(pFlags, p));
  if (!result) *pFlags = (*pFlags & REMEMBERED) | MAPPED;
  return result;
}

/* For our libnvidia-ml: memory of a device without a context, and of it what this process has (0: not known). */
__attribute__((visibility("default"))) int ptx2amd_memory_info(size_t *left, size_t *own, int device) {
  if (!initialised || !device_ok(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (hip.SetDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  size_t total;
  int error = hip.MemGetInfo(left, &total);
  *own = hip_in_use ? hip_in_use(device) : 0;
  if (thread_state.hip_device != device) hip.SetDevice(thread_state.hip_device);
  return from_hip(error);
}

/* AMD's library registers memory twice. */
CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags) {
  enum { FLAGS = 15 };
  if (!range_fits((uintptr_t)p, bytesize, 1) || Flags & ~(unsigned)FLAGS) return CUDA_ERROR_INVALID_VALUE;
  if (!hip_is_software && pointer_is_pinned(p)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  return from_hip(hip.HostRegister(p, bytesize, Flags));
}

/* A side of a copy that lies in one allocation, or in mappings; or in the program's own memory. */
static bool side_there(CUdeviceptr at, size_t size) {
  CUdeviceptr begin = 0;
  size_t whole = 0;
  if (virtual_is_empty(at, size)) return false;
  return hip_answers(hip.MemGetAddressRange((void **)&begin, &whole, (void *)at)) ? allocation_holds(at, size) : range_mapped(at, size);
}

bool copy_sides_there(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return !size || (side_there(to, size) && side_there(from, size));
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  size_t left, all;
  CUresult result = from_hip(hip.MemGetInfo(&left, &all));
  if (!result && free) *free = left;
  if (!result && total) *total = all;
  return result;
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
  uint64_t base = dptr;
  size_t size;
  if (dptr && pointer_is_pinned((void *)dptr)) return CUDA_ERROR_INVALID_VALUE; /* cuMemFreeHost is for it */
  if (!hip_is_software && hip_answers(hip.MemGetAddressRange((void **)&base, &size, (void *)dptr)) && base != dptr)
    return CUDA_ERROR_INVALID_VALUE; /* AMD's library frees the whole allocation */
  CUresult result = from_hip(hip.Free((void *)dptr));
  return result == CUDA_ERROR_INVALID_HANDLE ? CUDA_ERROR_INVALID_VALUE : result;
}

/* HIP frees any memory. */
CUresult cuMemFreeHost(void *p) {
  return p && !pointer_is_pinned(p) ? CUDA_ERROR_INVALID_VALUE : from_hip(hip.HostFree(p));
}

/* CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, which HIP 5 has as 0 and takes alone. */
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags) {
  hipIpcMemHandle_t there;
  _Static_assert(sizeof there == sizeof handle, "one layout");
  if (!pdptr || Flags & ~1u) return CUDA_ERROR_INVALID_VALUE;
  memcpy(&there, &handle, sizeof there);
  return from_hip(hip.IpcOpenMemHandle((void **)pdptr, there, hip_version >= 600 ? Flags : 0));
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
  CUdeviceptr base = 0;
  size_t size = 0;
  int error = hip.MemGetAddressRange((void **)&base, &size, (void *)dptr);
  if (error) return error == HIP_NOT_SUPPORTED ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_NOT_FOUND;
  if (pbase) *pbase = base;
  if (psize) *psize = size;
  return CUDA_SUCCESS;
}

/* ---- managed memory: advice and prefetch are hints; a HIP library without them loses nothing ---- */

static CUresult hint(int error) { return error == HIP_NOT_SUPPORTED ? CUDA_SUCCESS : from_hip(error); }

static bool hip_location(CUmemLocation location, int *device) {
  *device = location.type == hipMemLocationTypeDevice ? location.id : CPU_DEVICE;
  return location.type >= hipMemLocationTypeDevice && location.type <= 4 &&
         (location.type != hipMemLocationTypeDevice || device_ok(location.id));
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
  if (!devPtr || !count || !range_fits(devPtr, count, 1) || advice < 1 || advice > 6) return CUDA_ERROR_INVALID_VALUE;
  enum { SET_READ_MOSTLY = 1, UNSET_READ_MOSTLY, UNSET_PREFERRED_LOCATION = 4 };
  if (advice == SET_READ_MOSTLY || advice == UNSET_READ_MOSTLY || advice == UNSET_PREFERRED_LOCATION) device = 0; /* ignored */
  if (device != CPU_DEVICE && !device_ok(device)) return CUDA_ERROR_INVALID_DEVICE;
  return hint(hip.MemAdvise((void *)devPtr, count, (unsigned)advice, device));
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location) {
  int device;
  if (!hip_location(location, &device)) return CUDA_ERROR_INVALID_VALUE;
  return cuMemAdvise(devPtr, count, advice, device);
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (!devPtr || !count || !range_fits(devPtr, count, 1)) return CUDA_ERROR_INVALID_VALUE;
  if (dstDevice != CPU_DEVICE && !device_ok(dstDevice)) return CUDA_ERROR_INVALID_DEVICE;
  return hint(hip.MemPrefetchAsync((void *)devPtr, count, dstDevice, stream));
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream hStream) {
  int device;
  if (flags || !hip_location(location, &device)) return CUDA_ERROR_INVALID_VALUE;
  return cuMemPrefetchAsync(devPtr, count, device, hStream);
}

enum { PREFERRED_LOCATION = 2, LAST_PREFETCH_LOCATION = 4, PREFERRED_LOCATION_TYPE, PREFERRED_LOCATION_ID,
       LAST_PREFETCH_LOCATION_TYPE, LAST_PREFETCH_LOCATION_ID };

/* The type or the number of a location, which HIP knows as one number. */
static CUresult part_of_location(int *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr at, size_t count) {
  enum { INVALID = 0, DEVICE = 1, HOST = 2, NOWHERE = -2 };
  bool type = attribute == PREFERRED_LOCATION_TYPE || attribute == LAST_PREFETCH_LOCATION_TYPE;
  unsigned whole = attribute <= PREFERRED_LOCATION_ID ? PREFERRED_LOCATION : LAST_PREFETCH_LOCATION;
  if (!data || size != sizeof *data) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = from_hip(hip.MemRangeGetAttribute(data, size, (hipMemRangeAttribute)whole, (void *)at, count));
  if (!result && type) *data = *data == NOWHERE ? INVALID : *data == CPU_DEVICE ? HOST : DEVICE;
  return result;
}

CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
                                size_t count) {
  if (!allocation_holds(devPtr, count)) return CUDA_ERROR_INVALID_VALUE;
  if (attribute >= PREFERRED_LOCATION_TYPE && attribute <= LAST_PREFETCH_LOCATION_ID)
    return part_of_location(data, dataSize, attribute, devPtr, count);
  return from_hip(hip.MemRangeGetAttribute(data, dataSize, (hipMemRangeAttribute)attribute, (void *)devPtr, count));
}

/* AMD's own takes no attributes. */
CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes, size_t numAttributes,
                                 CUdeviceptr devPtr, size_t count) {
  if (!data || !dataSizes || !attributes || !numAttributes) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < numAttributes && !result; i++)
    result = cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
  return result;
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,
                                 size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                 CUstream hStream) {
  (void)prefetchLocs, (void)prefetchLocIdxs;
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (!dptrs || !sizes || !count || numPrefetchLocs > count || flags) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < count && !result; i++) {
    int read_mostly;
    result = range_fits(dptrs[i], sizes[i], 1)
                 ? hint(hip.MemRangeGetAttribute(&read_mostly, sizeof read_mostly, 1, (void *)dptrs[i], sizes[i]))
                 : CUDA_ERROR_INVALID_VALUE;
  }
  return result;
}

/* Discarding allows the contents to be lost; keeping them is allowed too. */
CUresult cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned long long flags,
                                CUstream hStream) {
  return cuMemPrefetchBatchAsync(dptrs, sizes, count, NULL, NULL, 0, flags, hStream);
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
                                           CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                           size_t numPrefetchLocs, unsigned long long flags, CUstream hStream) {
  return cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream);
}
