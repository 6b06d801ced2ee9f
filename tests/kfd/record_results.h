// Included before a CUDA program: what it copies from the device is appended to the file that RESULTS names.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace results {
inline cudaError_t keep(cudaError_t status, const void *bytes, size_t size) {
  FILE *file = status == cudaSuccess ? std::fopen(std::getenv("RESULTS"), "ab") : nullptr;
  if (status == cudaSuccess && (!file || std::fwrite(bytes, 1, size, file) != size || std::fclose(file))) std::abort();
  return status;
}

inline cudaError_t copy(void *to, const void *from, size_t size, cudaMemcpyKind kind) {
  cudaError_t status = cudaMemcpy(to, from, size, kind);
  return kind == cudaMemcpyDeviceToHost ? keep(status, to, size) : status;
}

inline cudaError_t copy_async(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  cudaError_t status = cudaMemcpyAsync(to, from, size, kind, stream);
  if (kind != cudaMemcpyDeviceToHost) return status;
  return keep(status == cudaSuccess ? cudaStreamSynchronize(stream) : status, to, size);
}

template <typename T>
cudaError_t copy_from(void *to, const T &symbol, size_t size) {
  return keep(cudaMemcpyFromSymbol(to, symbol, size), to, size);
}
}  // namespace results

#define cudaMemcpy results::copy
#define cudaMemcpyAsync results::copy_async
#define cudaMemcpyFromSymbol results::copy_from
