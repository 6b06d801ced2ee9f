"""Unified addressing: advice, prefetch, pointer attributes."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuPointerGetAttribute", 4000,
        "void *data, CUpointer_attribute attribute, CUdeviceptr ptr",
        ours=True, context="none"),
    Function("cuMemPrefetchAsync", 8000,
        "CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream", ptsz=8000,
        ours=True, context="hStream"),
    Function("cuMemPrefetchAsync_v2", 12020,
        "CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags, CUstream hStream", ptsz=12020,
        ours=True, context="hStream"),
    Function("cuMemAdvise", 8000,
        "CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device",
        ours=True),
    Function("cuMemAdvise_v2", 12020,
        "CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location",
        ours=True),
    Function("cuMemPrefetchBatchAsync", 13000,
        "CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs, size_t "
        "*prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, CUstream hStream", ptsz=13000,
        ours=True, context="hStream"),
    Function("cuMemDiscardBatchAsync", 13000,
        "CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned long long flags, CUstream hStream", ptsz=13000,
        ours=True, context="hStream"),
    Function("cuMemDiscardAndPrefetchBatchAsync", 13000,
        "CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs, size_t "
        "*prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags, CUstream hStream", ptsz=13000,
        ours=True, context="hStream"),
    Function("cuMemRangeGetAttribute", 8000,
        "void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr, size_t count",
        ours=True),
    Function("cuMemRangeGetAttributes", 8000,
        "out void **data, size_t *dataSizes, CUmem_range_attribute *attributes, size_t numAttributes, CUdeviceptr "
        "devPtr, size_t count",
        ours=True),
    Function("cuPointerSetAttribute", 6000,
        "const void *value, CUpointer_attribute attribute, CUdeviceptr ptr",
        ours=True, context="any"),
    Function("cuPointerGetAttributes", 7000,
        "unsigned int numAttributes, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr",
        ours=True, context="none"),
    Function("cuMemGetLocationInfo", 13040,
        "CUdeviceptr ptr, size_t size, size_t summaryGranularity, size_t samplingGranularity, "
        "CUmemLocation *location_out", ours=True, context="any"),
]
