"""Allocation."""

from shim.api.row import Row

ROWS = [
    Row("cuMemGetInfo", 2000, "unsigned int *free, unsigned int *total"),
    Row("cuMemGetInfo_v2", 3020, "size_t *free, size_t *total", required=("total",), hip="hipMemGetInfo(free, total)"),
    Row("cuMemAlloc", 2000, "CUdeviceptr_v1 *dptr, unsigned int bytesize"),
    Row("cuMemAlloc_v2", 3020,
        "CUdeviceptr *dptr, size_t bytesize", ours=True),
    Row("cuMemAllocPitch", 2000,
        "CUdeviceptr_v1 *dptr, unsigned int *pPitch, unsigned int WidthInBytes, unsigned int Height, "
        "unsigned int ElementSizeBytes"),
    Row("cuMemAllocPitch_v2", 3020,
        "CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height, unsigned int "
        "ElementSizeBytes",
        hip="hipMemAllocPitch(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes)"),
    Row("cuMemFree", 2000, "CUdeviceptr_v1 dptr"),
    Row("cuMemFree_v2", 3020, "CUdeviceptr dptr", ours=True, context="any"),
    Row("cuMemGetAddressRange", 2000, "CUdeviceptr_v1 *pbase, unsigned int *psize, CUdeviceptr_v1 dptr"),
    Row("cuMemGetAddressRange_v2", 3020, "CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr", ours=True),
    Row("cuMemAllocHost", 2000, "void **pp, unsigned int bytesize", c="cuMemAllocHost_v2(pp, bytesize)"),
    Row("cuMemAllocHost_v2", 3020, "void **pp, size_t bytesize", hip="hipHostMalloc(pp, bytesize, 0)"),
    Row("cuMemFreeHost", 2000, "void *p", hip="hipHostFree(p)", context="any"),
    Row("cuMemHostAlloc", 2020,
        "void **pp, size_t bytesize, unsigned int Flags", ours=True),
    Row("cuMemHostGetDevicePointer", 2020, "CUdeviceptr_v1 *pdptr, void *p, unsigned int Flags"),
    Row("cuMemHostGetDevicePointer_v2", 3020,
        "CUdeviceptr *pdptr, void *p, unsigned int Flags",
        hip="hipHostGetDevicePointer((void **)pdptr, p, Flags)", context="any"),
    Row("cuMemHostGetFlags", 2030, "unsigned int *pFlags, void *p", hip="hipHostGetFlags(pFlags, p)", context="any"),
    Row("cuMemAllocManaged", 6000,
        "CUdeviceptr *dptr, size_t bytesize, unsigned int flags",
        hip="hipMallocManaged((void **)dptr, bytesize, flags)"),
    Row("cuMemHostRegister", 4000,
        "void *p, size_t bytesize, unsigned int Flags",
        c="cuMemHostRegister_v2(p, bytesize, Flags)"),
    Row("cuMemHostRegister_v2", 6050,
        "void *p, size_t bytesize, unsigned int Flags",
        hip="hipHostRegister(p, bytesize, Flags)",
        ranges="p:bytesize"),
    Row("cuMemHostUnregister", 4000, "void *p", hip="hipHostUnregister(p)", context="any"),
]
