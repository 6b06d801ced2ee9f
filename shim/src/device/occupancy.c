/* Occupancy: what the chip's registers, waves and LDS leave, but no more than the reported attributes of a kernel and
 * a multiprocessor allow: programs compute with these numbers. */
#include "attributes.h"
#include "module.h"

enum { THREADS = 2048, BLOCKS = 32, WARP = 32, MAX_BLOCK = 1024 };
enum { PARTITIONS = 4, REGISTER_UNIT = 8 }; /* a warp's registers are of one of 4 parts, in units of 8 a thread */

static int at_most(int a, int b) { return a < b ? a : b; }

/* Warps that a multiprocessor has registers for. */
static int warps_for(int registers) {
  int each = (registers + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT * WARP;
  return each ? REGISTERS_PER_PROCESSOR / PARTITIONS / each * PARTITIONS : THREADS / WARP;
}

int most_threads(const struct kernel *k, const struct kernel_code *code) {
  int most = at_most(code->properties.max_threads ? code->properties.max_threads : MAX_BLOCK, warps_for(code->properties.registers) * WARP);
  return k->index.max_threads ? at_most(most, k->index.max_threads) : most;
}

/* Blocks of so many warps and so much shared memory, as programs compute them. A block of more warps than there are
 * registers for counts as one: how many there are is an estimate, and it can be launched. */
static int by_attributes(const struct kernel *k, const struct kernel_code *code, int device, int warps, size_t dynamic) {
  int threads = THREADS;
  cuDeviceGetAttribute(&threads, THREADS_PER_PROCESSOR, device);
  int most = at_most(BLOCKS, at_most(threads / WARP, warps_for(code->properties.registers)) / warps);
  size_t shared = (size_t)k->index.static_shared + dynamic, room = (size_t)devices[device].lds;
  if (shared && !code->properties.spilled && room / shared < (size_t)most) most = (int)(room / shared);
  return most ? most : 1;
}

CUresult active_blocks(struct kernel *k, int device, int block, size_t dynamic, int *blocks) {
  struct kernel_code *code;
  *blocks = 0;
  if (dynamic > (size_t)dynamic_limit(k)) return CUDA_SUCCESS;
  CUresult result = kernel_code_for(k, device, dynamic, &code);
  if (result) return result;
  if (code->properties.max_threads && block > code->properties.max_threads) return CUDA_SUCCESS;
  if (k->index.max_threads && block > k->index.max_threads) return CUDA_SUCCESS;
  unsigned lds = launch_lds(code, device, (unsigned)dynamic);
  int most = by_attributes(k, code, device, (block + WARP - 1) / WARP, dynamic);
  if (hip.ModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, code->function, block * (int)code->spread, lds))
    *blocks = most;
  *blocks = resident_slots(code, at_most(*blocks, most));
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
  if (!minGridSize || !blockSize || flags > 1 || blockSizeLimit < 0) return CUDA_ERROR_INVALID_VALUE;
  int device = thread_state.current->device, best = 0, best_block = 0, best_blocks = 0;
  struct kernel_code *code;
  CUresult known = kernel_code(k, device, &code);
  if (known) return known;
  int limit = most_threads(k, code);
  if (blockSizeLimit > 0) limit = at_most(limit, blockSizeLimit);
  for (int block = limit; block > 0; block = block % WARP ? block / WARP * WARP : block - WARP) {
    size_t dynamic = blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(block) : dynamicSMemSize;
    int blocks = 0;
    CUresult result = active_blocks(k, device, block, dynamic, &blocks);
    if (result) return result;
    if (blocks * block > best) best = blocks * block, best_block = block, best_blocks = blocks;
  }
  *blockSize = best_block;
  *minGridSize = best_blocks * devices[device].multiprocessors;
  return CUDA_SUCCESS; /* both 0: no block has room for so much shared memory */
}

/* The most in LDS with which so many blocks fit, a multiple of 16 bytes. */
static CUresult available(struct kernel *k, int device, int blocks, int block, size_t *dynamic) {
  enum { UNIT = 16 };
  int room = at_most(dynamic_limit(k), devices[device].lds - k->index.static_shared);
  size_t low = 0, high = (size_t)(room > 0 ? room : 0) / UNIT + 1;
  while (high - low > 1) { /* `low` fits, or is 0; `high` does not */
    size_t middle = low + (high - low) / 2;
    int found;
    CUresult result = active_blocks(k, device, block, middle * UNIT, &found);
    if (result) return result;
    if (found >= blocks) low = middle;
    else high = middle;
  }
  *dynamic = low * UNIT;
  if (low) return CUDA_SUCCESS;
  int found;
  CUresult result = active_blocks(k, device, block, 0, &found);
  return result || found >= blocks ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks,
                                                 int blockSize) {
  struct kernel *k = kernel_checked(func);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0 || blockSize > MAX_BLOCK) return CUDA_ERROR_INVALID_VALUE;
  return available(k, thread_state.current->device, numBlocks, blockSize, dynamicSmemSize);
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
