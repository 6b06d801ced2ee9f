"""Fills."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuMemsetD8", 2000, "CUdeviceptr_v1 dstDevice, unsigned char uc, unsigned int N"),
    Function("cuMemsetD8_v2", 3020,
        "CUdeviceptr dstDevice, unsigned char uc, size_t N", ptds=7000,
        call="hipMemsetD8(dstDevice, uc, N)",
        ranges="dstDevice:N"),
    Function("cuMemsetD16", 2000, "CUdeviceptr_v1 dstDevice, unsigned short us, unsigned int N"),
    Function("cuMemsetD16_v2", 3020,
        "CUdeviceptr dstDevice, unsigned short us, size_t N", ptds=7000,
        call="hipMemsetD16(dstDevice, us, N)",
        ranges="dstDevice:N*2"),
    Function("cuMemsetD32", 2000, "CUdeviceptr_v1 dstDevice, unsigned int ui, unsigned int N"),
    Function("cuMemsetD32_v2", 3020,
        "CUdeviceptr dstDevice, unsigned int ui, size_t N", ptds=7000,
        call="hipMemsetD32(dstDevice, ui, N)",
        ranges="dstDevice:N*4"),
    Function("cuMemsetD2D8", 2000,
        "CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned char uc, unsigned int Width, unsigned "
        "int Height"),
    Function("cuMemsetD2D8_v2", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height", ptds=7000,
        ours=True),
    Function("cuMemsetD2D16", 2000,
        "CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned short us, unsigned int Width, unsigned "
        "int Height"),
    Function("cuMemsetD2D16_v2", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height", ptds=7000,
        ours=True),
    Function("cuMemsetD2D32", 2000,
        "CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned int ui, unsigned int Width, unsigned "
        "int Height"),
    Function("cuMemsetD2D32_v2", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height", ptds=7000,
        ours=True),
    Function("cuMemsetD8Async", 3020,
        "CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream", ptsz=7000,
        call="hipMemsetD8Async(dstDevice, uc, N, hStream)",
        ranges="dstDevice:N", context="hStream"),
    Function("cuMemsetD16Async", 3020,
        "CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream", ptsz=7000,
        call="hipMemsetD16Async(dstDevice, us, N, hStream)",
        ranges="dstDevice:N*2", context="hStream"),
    Function("cuMemsetD32Async", 3020,
        "CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream", ptsz=7000,
        call="hipMemsetD32Async(dstDevice, ui, N, hStream)",
        ranges="dstDevice:N*4", context="hStream"),
    Function("cuMemsetD2D8Async", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height, CUstream "
        "hStream", ptsz=7000,
        ours=True, context="hStream"),
    Function("cuMemsetD2D16Async", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height, CUstream "
        "hStream", ptsz=7000,
        ours=True, context="hStream"),
    Function("cuMemsetD2D32Async", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height, CUstream "
        "hStream", ptsz=7000,
        ours=True, context="hStream"),
]
