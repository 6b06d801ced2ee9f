"""Virtual memory management."""

from shim.api.row import Row

ROWS = [
    Row("cuMemAddressReserve", 10020,
        "CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, unsigned long long flags",
        hip="hipMemAddressReserve((void **)ptr, size, alignment, (void *)addr, flags)", context=False),
    Row("cuMemAddressFree", 10020,
        "CUdeviceptr ptr, size_t size",
        hip="hipMemAddressFree((void *)ptr, size)", context=False),
    Row("cuMemCreate", 10020,
        "CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop, unsigned long "
        "long flags",
        hip="hipMemCreate((void **)handle, size, prop, flags)", context=False),
    Row("cuMemRelease", 10020,
        "CUmemGenericAllocationHandle handle",
        hip="hipMemRelease((void *)handle)", context=False),
    Row("cuMemMap", 10020,
        "CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long "
        "long flags",
        hip="hipMemMap((void *)ptr, size, offset, (void *)handle, flags)", context=False),
    Row("cuMemUnmap", 10020, "CUdeviceptr ptr, size_t size", hip="hipMemUnmap((void *)ptr, size)", context=False),
    Row("cuMemSetAccess", 10020,
        "CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count",
        hip="hipMemSetAccess((void *)ptr, size, desc, count)", context=False),
    Row("cuMemGetAccess", 10020,
        "unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr",
        hip="hipMemGetAccess(flags, location, (void *)ptr)", context=False),
    Row("cuMemExportToShareableHandle", 10020,
        "void *shareableHandle, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType handleType, "
        "unsigned long long flags",
        hip="hipMemExportToShareableHandle(shareableHandle, (void *)handle, (int)handleType, flags)", context=False),
    Row("cuMemImportFromShareableHandle", 10020,
        "CUmemGenericAllocationHandle *handle, void *osHandle, CUmemAllocationHandleType shHandleType",
        hip="hipMemImportFromShareableHandle((void **)handle, osHandle, (int)shHandleType)", context=False),
    Row("cuMemGetAllocationGranularity", 10020,
        "size_t *granularity, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option",
        hip="hipMemGetAllocationGranularity(granularity, prop, (int)option)", context=False),
    Row("cuMemGetAllocationPropertiesFromHandle", 10020,
        "CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle",
        hip="hipMemGetAllocationPropertiesFromHandle(prop, (void *)handle)", context=False),
    Row("cuMemRetainAllocationHandle", 11000,
        "CUmemGenericAllocationHandle *handle, void *addr",
        hip="hipMemRetainAllocationHandle((void **)handle, addr)", context=False),
    Row("cuMemGetHandleForAddressRange", 11070,
        "void *handle, CUdeviceptr dptr, size_t size, CUmemRangeHandleType handleType, unsigned long long "
        "flags",
        hip="hipMemGetHandleForAddressRange(handle, dptr, size, (int)handleType, flags)"),
]
