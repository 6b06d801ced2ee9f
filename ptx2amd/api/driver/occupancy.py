"""Occupancy."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050,
        "out int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize",
        c="cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, "
          "dynamicSMemSize, 0)"),
    Function("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 7000,
        "out int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize, unsigned int flags",
        ours=True),
    Function("cuOccupancyMaxPotentialBlockSize", 6050,
        "out int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize, "
        "size_t dynamicSMemSize, int blockSizeLimit",
        c="cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, "
          "blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, 0)"),
    Function("cuOccupancyMaxPotentialBlockSizeWithFlags", 7000,
        "out int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize, "
        "size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags",
        ours=True),
    Function("cuOccupancyAvailableDynamicSMemPerBlock", 10020,
        "out size_t *dynamicSmemSize, CUfunction func, int numBlocks, int blockSize",
        ours=True),
    Function("cuOccupancyMaxPotentialClusterSize", 11070,
        "out int *clusterSize, CUfunction func, const CUlaunchConfig *config",
        ours=True),
    Function("cuOccupancyMaxActiveClusters", 11070,
        "out int *numClusters, CUfunction func, const CUlaunchConfig *config",
        ours=True),
]
