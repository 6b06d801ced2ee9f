"""Devices."""

from shim.api.row import Row

ROWS = [
    Row("cuDeviceGet", 2000, "CUdevice *device, int ordinal", ours=True),
    Row("cuDeviceGetCount", 2000, "int *count", ours=True),
    Row("cuDeviceGetName", 2000, "char *name, int len, CUdevice dev", ours=True),
    Row("cuDeviceGetUuid", 9020, "CUuuid *uuid, CUdevice dev", c="cuDeviceGetUuid_v2(uuid, dev)"),
    Row("cuDeviceGetUuid_v2", 11040, "CUuuid *uuid, CUdevice dev", ours=True),
    Row("cuDeviceGetLuid", 10000, "char *luid, unsigned int *deviceNodeMask, CUdevice dev", ours=True),
    Row("cuDeviceTotalMem", 2000, "unsigned int *bytes, CUdevice dev", ours=True),
    Row("cuDeviceTotalMem_v2", 3020, "size_t *bytes, CUdevice dev", ours=True),
    Row("cuDeviceGetTexture1DLinearMaxWidth", 11010,
        "size_t *maxWidthInElements, CUarray_format format, unsigned int numChannels, CUdevice dev",
        c="device_texture_1d_width(maxWidthInElements, format, numChannels, dev)"),
    Row("cuDeviceGetAttribute", 2000, "int *pi, CUdevice_attribute attrib, CUdevice dev", ours=True),
    Row("cuDeviceGetHostAtomicCapabilities", 13000,
        "unsigned int *capabilities, const CUatomicOperation *operations, unsigned int count, CUdevice dev",
        ours=True),
    Row("cuDeviceGetNvSciSyncAttributes", 10020, "void *nvSciSyncAttrList, CUdevice dev, int flags",
        required=("nvSciSyncAttrList",), absent="NvSciSync"),
    Row("cuDeviceSetMemPool", 11020, "CUdevice dev, CUmemoryPool pool", ours=True),
    Row("cuDeviceGetMemPool", 11020, "CUmemoryPool *pool, CUdevice dev", ours=True),
    Row("cuDeviceGetDefaultMemPool", 11020, "CUmemoryPool *pool_out, CUdevice dev", ours=True),
    Row("cuDeviceGetProperties", 2000, "CUdevprop *prop, CUdevice dev", ours=True),
    Row("cuDeviceComputeCapability", 2000, "int *major, int *minor, CUdevice dev", ours=True),
    Row("cuDeviceGetExecAffinitySupport", 11040, "int *pi, CUexecAffinityType type, CUdevice dev", ours=True),
    Row("cuDeviceGetByPCIBusId", 4010, "CUdevice *dev, const char *pciBusId", ours=True),
    Row("cuDeviceGetPCIBusId", 4010, "char *pciBusId, int len, CUdevice dev", ours=True),
    Row("cuFlushGPUDirectRDMAWrites", 11030,
        "CUflushGPUDirectRDMAWritesTarget target, CUflushGPUDirectRDMAWritesScope scope",
        c="context_required()"),
]
