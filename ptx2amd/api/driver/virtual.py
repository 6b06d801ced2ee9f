"""Virtual memory management."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuMemAddressReserve", 10020,
        "out CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, unsigned long long flags",
        ours=True, context="none"),
    Function("cuMemAddressFree", 10020,
        "CUdeviceptr ptr, size_t size",
        ours=True, context="none"),
    Function("cuMemCreate", 10020,
        "out CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop, unsigned long "
        "long flags",
        ours=True, context="none"),
    Function("cuMemRelease", 10020,
        "CUmemGenericAllocationHandle handle",
        ours=True, context="none"),
    Function("cuMemMap", 10020,
        "CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long "
        "long flags",
        ours=True, context="none"),
    Function("cuMemUnmap", 10020, "CUdeviceptr ptr, size_t size",
        ours=True, context="none"),
    Function("cuMemSetAccess", 10020,
        "CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count",
        ours=True, context="none"),
    Function("cuMemGetAccess", 10020,
        "out unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr",
        call="hipMemGetAccess(flags, location, ptr)", context="none"),
    Function("cuMemExportToShareableHandle", 10020,
        "out void *shareableHandle, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType handleType, "
        "unsigned long long flags",
        call="hipMemExportToShareableHandle(shareableHandle, handle, handleType, flags)", context="none"),
    Function("cuMemImportFromShareableHandle", 10020,
        "out CUmemGenericAllocationHandle *handle, void *osHandle, CUmemAllocationHandleType shHandleType",
        ours=True, context="none"),
    Function("cuMemGetAllocationGranularity", 10020,
        "out size_t *granularity, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option",
        ours=True, context="none"),
    Function("cuMemGetAllocationPropertiesFromHandle", 10020,
        "out CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle",
        call="hipMemGetAllocationPropertiesFromHandle(prop, handle)", context="none"),
    Function("cuMemRetainAllocationHandle", 11000,
        "out CUmemGenericAllocationHandle *handle, void *addr",
        ours=True, context="none"),
    Function("cuMemGetHandleForAddressRange", 11070,
        "out void *handle, CUdeviceptr dptr, size_t size, CUmemRangeHandleType handleType, unsigned long long "
        "flags",
        call="hipMemGetHandleForAddressRange(handle, dptr, size, handleType, flags)",
        ranges="dptr:size"),
]
