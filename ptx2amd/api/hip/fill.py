"""Fills."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipMemset", 402, "void *dst, int value, size_t size"),
    Function("hipMemsetAsync", 402, "void *dst, int value, size_t size, hipStream_t stream"),
    Function("hipMemsetD8", 402, "hipDeviceptr_t dst, unsigned char value, size_t count", shim=True),
    Function("hipMemsetD16", 402, "hipDeviceptr_t dst, unsigned short value, size_t count", shim=True),
    Function("hipMemsetD32", 402, "hipDeviceptr_t dst, int value, size_t count", shim=True),
    Function("hipMemsetD8Async", 402,
        "hipDeviceptr_t dst, unsigned char value, size_t count, hipStream_t stream", shim=True),
    Function("hipMemsetD16Async", 402,
        "hipDeviceptr_t dst, unsigned short value, size_t count, hipStream_t stream", shim=True),
    Function("hipMemsetD32Async", 402, "hipDeviceptr_t dst, int value, size_t count, hipStream_t stream", shim=True),
    Function("hipMemset2D", 402, "void *dst, size_t pitch, int value, size_t width, size_t height"),
    Function("hipMemset2DAsync", 402,
        "void *dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream"),
    Function("hipMemsetD2D8", 701,
        "hipDeviceptr_t dst, size_t pitch, unsigned char value, size_t width, size_t height"),
    Function("hipMemsetD2D16", 701,
        "hipDeviceptr_t dst, size_t pitch, unsigned short value, size_t width, size_t height"),
    Function("hipMemsetD2D32", 701, "hipDeviceptr_t dst, size_t pitch, unsigned value, size_t width, size_t height"),
    Function("hipMemsetD2D8Async", 701,
        "hipDeviceptr_t dst, size_t pitch, unsigned char value, size_t width, size_t height, hipStream_t stream"),
    Function("hipMemsetD2D16Async", 701,
        "hipDeviceptr_t dst, size_t pitch, unsigned short value, size_t width, size_t height, hipStream_t stream"),
    Function("hipMemsetD2D32Async", 701,
        "hipDeviceptr_t dst, size_t pitch, unsigned value, size_t width, size_t height, hipStream_t stream"),
    Function("hipMemset3D", 402, "hipPitchedPtr pitchedDevPtr, int value, hipExtent extent"),
    Function("hipMemset3DAsync", 402,
        "hipPitchedPtr pitchedDevPtr, int value, hipExtent extent, hipStream_t stream"),
]
