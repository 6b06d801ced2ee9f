/* Occupancy: HIP's answer for the code object, else CUDA's limits. */
#include "module.h"

enum { THREADS = 2048, BLOCKS = 32, WARP = 32, MAX_BLOCK = 1024 };

static CUresult active_blocks(struct kernel *k, int device, int block, size_t dynamic, int *blocks) {
  struct kernel_code *code;
  *blocks = 0;
  if ((size_t)k->static_shared + dynamic > (size_t)most_shared(device)) return CUDA_SUCCESS;
  CUresult result = kernel_code_for(k, device, dynamic, &code);
  if (result) return result;
  int threads = (block + WARP - 1) / WARP * WARP * (int)code->spread;
  dynamic = launch_lds(code, device, (unsigned)dynamic);
  size_t shared = (size_t)code->static_shared + dynamic;
  if (code->max_threads && block > code->max_threads) {
    *blocks = 0;
    return CUDA_SUCCESS;
  }
  if (!hip.ModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, code->function, block * (int)code->spread, dynamic)) {
    if (*blocks > BLOCKS) *blocks = BLOCKS;
    *blocks = resident_slots(code, *blocks);
    return CUDA_SUCCESS;
  }
  int most = THREADS / threads;
  if (most > BLOCKS) most = BLOCKS;
  if (shared && (size_t)devices[device].lds / shared < (size_t)most) most = (int)((size_t)devices[device].lds / shared);
  *blocks = resident_slots(code, most);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned int flags) {
  struct kernel *k = kernel_checked(func);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!numBlocks || blockSize <= 0 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  if (blockSize > MAX_BLOCK) {
    *numBlocks = 0;
    return CUDA_SUCCESS;
  }
  return active_blocks(k, thread_state.current->device, blockSize, dynamicSMemSize, numBlocks);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags) {
  struct kernel *k = kernel_checked(func);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!minGridSize || !blockSize || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  int device = thread_state.current->device, best = 0, best_block = 0, best_blocks = 0;
  int limit = blockSizeLimit > 0 && blockSizeLimit < MAX_BLOCK ? blockSizeLimit : MAX_BLOCK;
  for (int block = limit; block > 0; block = block % WARP ? block / WARP * WARP : block - WARP) {
    size_t dynamic = blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(block) : dynamicSMemSize;
    int blocks = 0;
    CUresult result = active_blocks(k, device, block, dynamic, &blocks);
    if (result) return result;
    if (blocks * block > best) best = blocks * block, best_block = block, best_blocks = blocks;
  }
  *blockSize = best_block;
  *minGridSize = best_blocks * devices[device].multiprocessors;
  return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks,
                                                 int blockSize) {
  struct kernel *k = kernel_checked(func);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0) return CUDA_ERROR_INVALID_VALUE;
  size_t each = (size_t)(devices[thread_state.current->device].lds / numBlocks) & ~(size_t)511;
  *dynamicSmemSize = each > (size_t)k->static_shared ? each - (size_t)k->static_shared : 0;
  return CUDA_SUCCESS;
}

/* Clusters are of one block. */
CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config) {
  if (!kernel_checked(func)) return CUDA_ERROR_INVALID_HANDLE;
  if (!clusterSize || !config) return CUDA_ERROR_INVALID_VALUE;
  *clusterSize = 1;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config) {
  if (!kernel_checked(func)) return CUDA_ERROR_INVALID_HANDLE;
  if (!numClusters || !config) return CUDA_ERROR_INVALID_VALUE;
  int blocks = 0;
  CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, func, (int)(config->blockDimX * config->blockDimY * config->blockDimZ), config->sharedMemBytes);
  *numClusters = blocks * devices[thread_state.current->device].multiprocessors;
  return result;
}
