"""External memory and semaphores."""

from shim.api.row import Row

ROWS = [
    Row("cuImportExternalMemory", 10000,
        "CUexternalMemory *extMem_out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc",
        hip="hipImportExternalMemory((void **)extMem_out, memHandleDesc)", context="any"),
    Row("cuExternalMemoryGetMappedBuffer", 10000,
        "CUdeviceptr *devPtr, CUexternalMemory extMem, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc",
        hip="hipExternalMemoryGetMappedBuffer((void **)devPtr, extMem, bufferDesc)", context="any"),
    Row("cuExternalMemoryGetMappedMipmappedArray", 10000,
        "CUmipmappedArray *mipmap, CUexternalMemory extMem, const "
        "CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *mipmapDesc", ours=True, context="any"),
    Row("cuDestroyExternalMemory", 10000, "CUexternalMemory extMem", hip="hipDestroyExternalMemory(extMem)",
        context="any"),
    Row("cuImportExternalSemaphore", 10000,
        "CUexternalSemaphore *extSem_out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc",
        hip="hipImportExternalSemaphore((void **)extSem_out, semHandleDesc)", context="any"),
    Row("cuSignalExternalSemaphoresAsync", 10000,
        "const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray, "
        "unsigned int numExtSems, CUstream stream", ptsz=10000,
        hip="hipSignalExternalSemaphoresAsync(extSemArray, paramsArray, numExtSems, stream)", context="stream"),
    Row("cuWaitExternalSemaphoresAsync", 10000,
        "const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray, "
        "unsigned int numExtSems, CUstream stream", ptsz=10000,
        hip="hipWaitExternalSemaphoresAsync(extSemArray, paramsArray, numExtSems, stream)", context="stream"),
    Row("cuDestroyExternalSemaphore", 10000,
        "CUexternalSemaphore extSem",
        hip="hipDestroyExternalSemaphore(extSem)", context="any"),
]
