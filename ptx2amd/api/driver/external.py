"""External memory and semaphores."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuImportExternalMemory", 10000,
        "out CUexternalMemory *extMem_out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc",
        ours=True),
    Function("cuExternalMemoryGetMappedBuffer", 10000,
        "out CUdeviceptr *devPtr, CUexternalMemory extMem, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc",
        call="hipExternalMemoryGetMappedBuffer(devPtr, extMem, bufferDesc)", context="any"),
    Function("cuExternalMemoryGetMappedMipmappedArray", 10000,
        "out CUmipmappedArray *mipmap, CUexternalMemory extMem, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC "
        "*mipmapDesc", ours=True, context="any"),
    Function("cuDestroyExternalMemory", 10000, "CUexternalMemory extMem", ours=True, context="any"),
    Function("cuImportExternalSemaphore", 10000,
        "out CUexternalSemaphore *extSem_out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc",
        call="hipImportExternalSemaphore(extSem_out, semHandleDesc)"),
    Function("cuSignalExternalSemaphoresAsync", 10000,
        "const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray, "
        "unsigned int numExtSems, CUstream stream", ptsz=10000,
        ours=True, context="stream"),
    Function("cuWaitExternalSemaphoresAsync", 10000,
        "const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray, "
        "unsigned int numExtSems, CUstream stream", ptsz=10000,
        ours=True, context="stream"),
    Function("cuDestroyExternalSemaphore", 10000,
        "CUexternalSemaphore extSem",
        call="hipDestroyExternalSemaphore(extSem)", context="any"),
]
