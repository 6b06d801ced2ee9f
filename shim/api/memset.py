"""Fills."""

from shim.api.row import Row

ROWS = [
    Row("cuMemsetD8", 2000, "CUdeviceptr_v1 dstDevice, unsigned char uc, unsigned int N"),
    Row("cuMemsetD8_v2", 3020,
        "CUdeviceptr dstDevice, unsigned char uc, size_t N", ptds=7000,
        hip="hipMemsetD8(dstDevice, uc, N)",
        ranges="dstDevice:N"),
    Row("cuMemsetD16", 2000, "CUdeviceptr_v1 dstDevice, unsigned short us, unsigned int N"),
    Row("cuMemsetD16_v2", 3020,
        "CUdeviceptr dstDevice, unsigned short us, size_t N", ptds=7000,
        hip="hipMemsetD16(dstDevice, us, N)",
        ranges="dstDevice:N*2"),
    Row("cuMemsetD32", 2000, "CUdeviceptr_v1 dstDevice, unsigned int ui, unsigned int N"),
    Row("cuMemsetD32_v2", 3020,
        "CUdeviceptr dstDevice, unsigned int ui, size_t N", ptds=7000,
        hip="hipMemsetD32(dstDevice, (int)ui, N)",
        ranges="dstDevice:N*4"),
    Row("cuMemsetD2D8", 2000,
        "CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned char uc, unsigned int Width, unsigned "
        "int Height"),
    Row("cuMemsetD2D8_v2", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height", ptds=7000,
        ours=True),
    Row("cuMemsetD2D16", 2000,
        "CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned short us, unsigned int Width, unsigned "
        "int Height"),
    Row("cuMemsetD2D16_v2", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height", ptds=7000,
        ours=True),
    Row("cuMemsetD2D32", 2000,
        "CUdeviceptr_v1 dstDevice, unsigned int dstPitch, unsigned int ui, unsigned int Width, unsigned "
        "int Height"),
    Row("cuMemsetD2D32_v2", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height", ptds=7000,
        ours=True),
    Row("cuMemsetD8Async", 3020,
        "CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream", ptsz=7000,
        hip="hipMemsetD8Async(dstDevice, uc, N, hStream)",
        ranges="dstDevice:N", context="hStream"),
    Row("cuMemsetD16Async", 3020,
        "CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream", ptsz=7000,
        hip="hipMemsetD16Async(dstDevice, us, N, hStream)",
        ranges="dstDevice:N*2", context="hStream"),
    Row("cuMemsetD32Async", 3020,
        "CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream", ptsz=7000,
        hip="hipMemsetD32Async(dstDevice, (int)ui, N, hStream)",
        ranges="dstDevice:N*4", context="hStream"),
    Row("cuMemsetD2D8Async", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height, CUstream "
        "hStream", ptsz=7000,
        ours=True, context="hStream"),
    Row("cuMemsetD2D16Async", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height, CUstream "
        "hStream", ptsz=7000,
        ours=True, context="hStream"),
    Row("cuMemsetD2D32Async", 3020,
        "CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height, CUstream "
        "hStream", ptsz=7000,
        ours=True, context="hStream"),
]
