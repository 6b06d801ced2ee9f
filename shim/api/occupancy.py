"""Occupancy."""

from shim.api.row import Row

ROWS = [
    Row("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050,
        "int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize",
        c="cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, "
          "dynamicSMemSize, 0)", context="func"),
    Row("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 7000,
        "int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize, unsigned int flags",
        ours=True, context="func"),
    Row("cuOccupancyMaxPotentialBlockSize", 6050,
        "int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize, "
        "size_t dynamicSMemSize, int blockSizeLimit",
        c="cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, "
          "blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, 0)", context="func"),
    Row("cuOccupancyMaxPotentialBlockSizeWithFlags", 7000,
        "int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize, "
        "size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags",
        ours=True, context="func"),
    Row("cuOccupancyAvailableDynamicSMemPerBlock", 10020,
        "size_t *dynamicSmemSize, CUfunction func, int numBlocks, int blockSize",
        ours=True, context="func"),
    Row("cuOccupancyMaxPotentialClusterSize", 11070,
        "int *clusterSize, CUfunction func, const CUlaunchConfig *config",
        ours=True, context="func"),
    Row("cuOccupancyMaxActiveClusters", 11070,
        "int *numClusters, CUfunction func, const CUlaunchConfig *config",
        ours=True, context="func"),
]
