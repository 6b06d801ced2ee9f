"""Launches and occupancy."""

from ptx2amd.api.hip.row import REFUSED, Function

ROWS = [
    Function("hipModuleLaunchKernel", 402,
        "hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, "
        "unsigned blockZ, unsigned shared, hipStream_t stream, void **params, void **extra", shim=True),
    Function("hipModuleLaunchCooperativeKernel", 505,
        "hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, "
        "unsigned blockZ, unsigned shared, hipStream_t stream, void **params", before=REFUSED, shim=True),
    Function("hipDrvLaunchKernelEx", 605,
        "const HIP_LAUNCH_CONFIG *config, hipFunction_t function, void **params, void **extra"),
    Function("hipExtModuleLaunchKernel", 600,
        "hipFunction_t function, uint32_t globalX, uint32_t globalY, uint32_t globalZ, uint32_t localX, uint32_t "
        "localY, uint32_t localZ, size_t shared, hipStream_t stream, void **params, void **extra, hipEvent_t "
        "start, hipEvent_t stop, uint32_t flags", node="4.2", public=False),
    Function("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", 402,
        "int *blocks, hipFunction_t function, int block, size_t shared", shim=True),
    Function("hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 402,
        "int *blocks, hipFunction_t function, int block, size_t shared, unsigned flags"),
    Function("hipModuleOccupancyMaxPotentialBlockSize", 402,
        "int *grid, int *block, hipFunction_t function, size_t shared, int limit"),
    Function("hipModuleOccupancyMaxPotentialBlockSizeWithFlags", 402,
        "int *grid, int *block, hipFunction_t function, size_t shared, int limit, unsigned flags"),
    Function("hipExtLaunchKernel", 402,
        "const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args, size_t sharedMemBytes, "
        "hipStream_t stream, hipEvent_t startEvent, hipEvent_t stopEvent, int flags"),
    Function("hipExtLaunchMultiKernelMultiDevice", 402,
        "hipLaunchParams *launchParamsList, int numDevices, unsigned flags", ours=False),
    Function("hipLaunchCooperativeKernel", 402,
        "const void *f, dim3 gridDim, dim3 blockDimX, void **kernelParams, unsigned sharedMemBytes, hipStream_t "
        "stream"),
    Function("hipLaunchCooperativeKernelMultiDevice", 402,
        "hipLaunchParams *launchParamsList, int numDevices, unsigned flags", ours=False),
    Function("hipLaunchKernel", 402,
        "const void *function_address, dim3 numBlocks, dim3 dimBlocks, void **args, size_t sharedMemBytes, "
        "hipStream_t stream"),
    Function("hipLaunchKernelExC", 605, "const hipLaunchConfig_t *config, const void *fPtr, void **args"),
    Function("hipModuleLaunchCooperativeKernelMultiDevice", 505,
        "hipFunctionLaunchParams *launchParamsList, unsigned numDevices, unsigned flags", ours=False),
    Function("hipOccupancyAvailableDynamicSMemPerBlock", 702,
        "size_t *dynamicSmemSize, const void *f, int numBlocks, int blockSize"),
    Function("hipOccupancyMaxActiveBlocksPerMultiprocessor", 402,
        "int *numBlocks, const void *f, int blockSize, size_t dynSharedMemPerBlk"),
    Function("hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 402,
        "int *numBlocks, const void *f, int blockSize, size_t dynSharedMemPerBlk, unsigned flags"),
    Function("hipOccupancyMaxPotentialBlockSize", 402,
        "int *gridSize, int *blockSize, const void *f, size_t dynSharedMemPerBlk, int blockSizeLimit"),
]
