"""Launches."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuLaunchKernel", 4000,
        "CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int "
        "blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream "
        "hStream, void **kernelParams, void **extra", ptsz=7000,
        ours=True, context="hStream"),
    Function("cuLaunchKernelEx", 11060,
        "stream(hStream) const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra", ptsz=11060,
        ours=True, context="config"),
    Function("cuLaunchCooperativeKernel", 9000,
        "CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int "
        "blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream "
        "hStream, void **kernelParams", ptsz=9000,
        ours=True, context="hStream"),
    Function("cuLaunchCooperativeKernelMultiDevice", 9000,
        "CUDA_LAUNCH_PARAMS *launchParamsList, unsigned int numDevices, unsigned int flags",
        ours=True, context="any"),
    Function("cuLaunchHostFunc", 10000, "CUstream hStream, CUhostFn fn, void *userData", ptsz=10000, ours=True,
        context="hStream"),
    Function("cuLaunchHostFunc_v2", 13010,
        "CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode", ptsz=13010,
        c="cuLaunchHostFunc(hStream, fn, userData)", context="hStream"),
    Function("cuLaunch", 2000, "CUfunction f", ours=True),
    Function("cuLaunchGrid", 2000, "CUfunction f, int grid_width, int grid_height", ours=True),
    Function("cuLaunchGridAsync", 2000,
        "CUfunction f, int grid_width, int grid_height, CUstream hStream",
        ours=True, context="hStream"),
]
