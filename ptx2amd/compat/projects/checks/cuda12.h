// Functions of the runtime API with the parameters that they had up to CUDA 12, for sources that are older than 13.
#pragma once
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000
inline cudaMemLocation cuda12_location(int device) {
    cudaMemLocation found = {};
    found.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    found.id = device == cudaCpuDeviceId ? 0 : device;
    return found;
}

inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device, cudaStream_t stream = 0) {
    return cudaMemPrefetchAsync(pointer, size, cuda12_location(device), 0, stream);
}

inline cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(pointer, size, advice, cuda12_location(device));
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            size_t count) {
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
#endif
