// Faults while blocks hold slots of shared memory beyond LDS: after a reset all slots are there again. Arguments: none.
#include <cstdio>

enum { BYTES = 150000, THREADS = 64 };

// Of a cooperative launch, so that every slot is taken when the fault comes.
__global__ void use(int *out, int fault) {
  extern __shared__ int words[];
  words[threadIdx.x] = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&out[gridDim.x], 1);
    while (*(volatile int *)&out[gridDim.x] < (int)gridDim.x) __nanosleep(100);
    out[blockIdx.x] = words[1] + words[blockDim.x - 1];
    if (fault == 1 && blockIdx.x == 3) __trap();
    if (fault == 2 && blockIdx.x == 5) *(int *)0x3fffffff00000ll = 1;
    while (fault) __nanosleep(100);
  }
  __syncthreads();
}

int main() {
  for (int turn = 0; turn < 2; turn++)
    for (int fault = 0; fault < 3; fault++) {
      int *out, processors = 0, blocks = 0, last = 0;
      cudaFuncSetAttribute(use, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use, THREADS, BYTES);
      blocks *= processors;
      cudaMalloc(&out, (blocks + 1) * sizeof(int));
      cudaMemset(out, 0, (blocks + 1) * sizeof(int));
      void *arguments[] = {&out, &fault};
      cudaLaunchCooperativeKernel((void *)use, blocks, THREADS, arguments, BYTES, nullptr);
      cudaError_t status = cudaDeviceSynchronize();
      if (status == cudaSuccess) status = cudaMemcpy(&last, out + blocks - 1, sizeof last, cudaMemcpyDeviceToHost);
      std::printf("%s %d\n", cudaGetErrorName(status), fault ? last : last - 2 * (blocks - 1));
      cudaDeviceReset();
    }
}
