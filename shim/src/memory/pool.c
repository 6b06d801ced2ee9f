/* Memory pools. AMD's library takes any handle for one, so that those that the program has are kept (live.h). */
#include "live.h"
#include "shim.h"
#include "virtual.h"

/* Of a pool that the program was given. A device's own pools may be given often: they count once. */
static CUresult given(int error, const CUmemoryPool *pool) {
  if (!error && !live(LIVE_POOL, *pool)) live_add(LIVE_POOL, *pool);
  return from_hip(error);
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps) {
  if (!pool || (poolProps && handle_type_wrong((int)poolProps->handleTypes))) return CUDA_ERROR_INVALID_VALUE;
  return given(hip.MemPoolCreate(pool, poolProps), pool);
}

/* Read and write, or none; reading alone is not offered, and neither is access by the host. */
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
  for (size_t i = 0; map && i < count; i++) {
    if (map[i].location.type != hipMemLocationTypeDevice || map[i].flags == hipMemAccessFlagsProtRead)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (map[i].flags != hipMemAccessFlagsProtNone && map[i].flags != hipMemAccessFlagsProtReadWrite)
      return CUDA_ERROR_INVALID_VALUE;
  }
  return from_hip(hip.MemPoolSetAccess(pool, map, count));
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle, CUmemAllocationHandleType handleType,
                                            unsigned long long flags) {
  if (!pool_out) return CUDA_ERROR_INVALID_VALUE;
  return given(hip.MemPoolImportFromShareableHandle(pool_out, handle, (hipMemAllocationHandleType)handleType, (unsigned)flags), pool_out);
}

/* HIP 5 destroys a device's own pool. */
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  for (int device = 0; device < device_count; device++) {
    CUmemoryPool own;
    if (!hip.DeviceGetDefaultMemPool(&own, device) && own == pool) return CUDA_ERROR_INVALID_VALUE;
  }
  int error = hip.MemPoolDestroy(pool);
  if (!error) live_drop(LIVE_POOL, pool);
  return from_hip(error);
}

/* AMD's library answers "out of memory" to what no pool exported. */
CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData) {
  if (!ptr_out || !shareData) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = from_hip(hip.MemPoolImportPointer((void **)ptr_out, pool, shareData));
  return result == CUDA_ERROR_OUT_OF_MEMORY ? CUDA_ERROR_INVALID_VALUE : result;
}

/* ---- of a device ---- */

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev) {
  if (!device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
  if (!pool_out) return CUDA_ERROR_INVALID_VALUE;
  return given(hip.DeviceGetDefaultMemPool(pool_out, dev), pool_out);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
  if (!device_ok(dev) || !pool) return CUDA_ERROR_INVALID_VALUE;
  return given(hip.DeviceGetMemPool(pool, dev), pool);
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
  return device_ok(dev) ? from_hip(hip.DeviceSetMemPool(dev, pool)) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- by location ---- */

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type) {
  if (!pool_out || !location || type != 1) return CUDA_ERROR_INVALID_VALUE;
  if (location->type != hipMemLocationTypeDevice) return CUDA_ERROR_NOT_SUPPORTED;
  return cuDeviceGetDefaultMemPool(pool_out, location->id);
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
  if (!pool || !location || type != 1) return CUDA_ERROR_INVALID_VALUE;
  if (location->type != hipMemLocationTypeDevice) return CUDA_ERROR_NOT_SUPPORTED;
  return cuDeviceGetMemPool(pool, location->id);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool) {
  if (!pool || !location || type != 1) return CUDA_ERROR_INVALID_VALUE;
  if (location->type != hipMemLocationTypeDevice) return CUDA_ERROR_NOT_SUPPORTED;
  return cuDeviceSetMemPool(location->id, pool);
}
