"""Stream-ordered memory."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipMallocAsync", 501, "void **ptr, size_t size, hipStream_t stream", shim=True),
    Function("hipMallocFromPoolAsync", 501,
        "void **ptr, size_t size, hipMemPool_t pool, hipStream_t stream", shim=True),
    Function("hipFreeAsync", 501, "void *ptr, hipStream_t stream", shim=True),
    Function("hipDeviceGetDefaultMemPool", 501, "hipMemPool_t *pool, int device", shim=True),
    Function("hipDeviceGetMemPool", 501, "hipMemPool_t *pool, int device", shim=True),
    Function("hipDeviceSetMemPool", 501, "int device, hipMemPool_t pool", shim=True),
    Function("hipMemPoolCreate", 501, "hipMemPool_t *pool, const hipMemPoolProps *props", shim=True),
    Function("hipMemPoolDestroy", 501, "hipMemPool_t pool", shim=True),
    Function("hipMemPoolTrimTo", 501, "hipMemPool_t pool, size_t keep", shim=True),
    Function("hipMemPoolSetAttribute", 501, "hipMemPool_t pool, hipMemPoolAttr attribute, void *value", shim=True),
    Function("hipMemPoolGetAttribute", 501, "hipMemPool_t pool, hipMemPoolAttr attribute, void *value", shim=True),
    Function("hipMemPoolSetAccess", 501, "hipMemPool_t pool, const hipMemAccessDesc *list, size_t count", shim=True),
    Function("hipMemPoolGetAccess", 501,
        "hipMemAccessFlags *flags, hipMemPool_t pool, hipMemLocation *location", shim=True),
    Function("hipMemPoolExportToShareableHandle", 501,
        "void *out, hipMemPool_t pool, hipMemAllocationHandleType type, unsigned flags", shim=True),
    Function("hipMemPoolImportFromShareableHandle", 501,
        "hipMemPool_t *pool, void *in, hipMemAllocationHandleType type, unsigned flags", shim=True),
    Function("hipMemPoolExportPointer", 501, "hipMemPoolPtrExportData *data, void *ptr", shim=True),
    Function("hipMemPoolImportPointer", 501,
        "void **ptr, hipMemPool_t pool, hipMemPoolPtrExportData *data", shim=True),
]
