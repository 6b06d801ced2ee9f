"""Virtual memory management."""

from ptx2amd.api.hip.row import LAID_OUT, Function

ROWS = [
    Function("hipMemGetAllocationGranularity", 501,
        "size_t *granularity, const hipMemAllocationProp *prop, hipMemAllocationGranularity_flags option",
        taken=503, before=LAID_OUT, shim=True),
    Function("hipMemAddressReserve", 501,
        "void **ptr, size_t size, size_t alignment, void *address, unsigned long long flags", shim=True),
    Function("hipMemAddressFree", 501, "void *ptr, size_t size", shim=True),
    Function("hipMemCreate", 501,
        "hipMemGenericAllocationHandle_t *handle, size_t size, const hipMemAllocationProp *prop, unsigned long "
        "long flags", taken=503, before=LAID_OUT, shim=True),
    Function("hipMemRelease", 501, "hipMemGenericAllocationHandle_t handle", shim=True),
    Function("hipMemMap", 501,
        "void *ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle, unsigned long long flags",
        shim=True),
    Function("hipMemUnmap", 501, "void *ptr, size_t size", shim=True),
    Function("hipMemSetAccess", 501, "void *ptr, size_t size, const hipMemAccessDesc *desc, size_t count", shim=True),
    Function("hipMemGetAccess", 501,
        "unsigned long long *flags, const hipMemLocation *location, void *ptr", shim=True),
    Function("hipMemRetainAllocationHandle", 501, "hipMemGenericAllocationHandle_t *handle, void *ptr", shim=True),
    Function("hipMemGetAllocationPropertiesFromHandle", 501,
        "hipMemAllocationProp *prop, hipMemGenericAllocationHandle_t handle", taken=503, before=LAID_OUT, shim=True),
    Function("hipMemMapArrayAsync", 501,
        "hipArrayMapInfo *mapInfoList, unsigned count, hipStream_t stream", ours=False),
]
