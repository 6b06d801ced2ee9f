"""Interprocess memory and external objects."""

from ptx2amd.api.hip.row import REFUSED, Function

ROWS = [
    Function("hipIpcGetMemHandle", 402, "hipIpcMemHandle_t *handle, void *ptr", shim=True),
    Function("hipIpcOpenMemHandle", 402, "void **ptr, hipIpcMemHandle_t handle, unsigned flags", shim=True),
    Function("hipIpcCloseMemHandle", 402, "void *ptr", shim=True),
    Function("hipIpcGetEventHandle", 402, "hipIpcEventHandle_t *handle, hipEvent_t event", shim=True),
    Function("hipIpcOpenEventHandle", 402, "hipEvent_t *event, hipIpcEventHandle_t handle", shim=True),
    Function("hipMemExportToShareableHandle", 501,
        "void *out, hipMemGenericAllocationHandle_t handle, hipMemAllocationHandleType type, unsigned long long "
        "flags", shim=True),
    Function("hipMemImportFromShareableHandle", 501,
        "hipMemGenericAllocationHandle_t *handle, void *in, hipMemAllocationHandleType type", shim=True),
    Function("hipImportExternalMemory", 403,
        "hipExternalMemory_t *memory, const hipExternalMemoryHandleDesc *desc", shim=True),
    Function("hipExternalMemoryGetMappedBuffer", 403,
        "void **ptr, hipExternalMemory_t memory, const hipExternalMemoryBufferDesc *desc", shim=True),
    Function("hipDestroyExternalMemory", 403, "hipExternalMemory_t memory", shim=True),
    Function("hipImportExternalSemaphore", 403,
        "hipExternalSemaphore_t *semaphore, const hipExternalSemaphoreHandleDesc *desc", shim=True),
    Function("hipSignalExternalSemaphoresAsync", 403,
        "const hipExternalSemaphore_t *semaphores, const hipExternalSemaphoreSignalParams *params, unsigned count, "
        "hipStream_t stream", shim=True),
    Function("hipWaitExternalSemaphoresAsync", 403,
        "const hipExternalSemaphore_t *semaphores, const hipExternalSemaphoreWaitParams *params, unsigned count, "
        "hipStream_t stream", shim=True),
    Function("hipDestroyExternalSemaphore", 403, "hipExternalSemaphore_t semaphore", shim=True),
    Function("hipMemGetHandleForAddressRange", 700,
        "void *handle, hipDeviceptr_t dptr, size_t size, hipMemRangeHandleType handleType, unsigned long long "
        "flags", node="6.5", before=REFUSED, shim=True, ours=False),
]
