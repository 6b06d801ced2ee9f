"""Multicast objects, logical endpoints, fabric: no device has them."""

from shim.api.row import Row

ROWS = [
    Row("cuFabricCpyBatchAsync", 13050,
        "size_t numOps, CUDA_FABRIC_COPY_BATCH_OP *opList, unsigned long long flags, CUstream hStream",
        ptsz=13050, required=("opList",), absent="fabric"),
    Row("cuMulticastCreate", 12010,
        "CUmemGenericAllocationHandle *mcHandle, const CUmulticastObjectProp *prop",
        required=("prop",), absent="multicast"),
    Row("cuMulticastAddDevice", 12010, "CUmemGenericAllocationHandle mcHandle, CUdevice dev", absent="multicast"),
    Row("cuMulticastBindMem", 12010,
        "CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUmemGenericAllocationHandle memHandle, "
        "size_t memOffset, size_t size, unsigned long long flags", absent="multicast"),
    Row("cuMulticastBindMem_v2", 13010,
        "CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, "
        "CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size, unsigned long long flags",
        absent="multicast"),
    Row("cuMulticastBindAddr", 12010,
        "CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr, size_t size, unsigned "
        "long long flags", absent="multicast"),
    Row("cuMulticastBindAddr_v2", 13010,
        "CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, CUdeviceptr memptr, size_t "
        "size, unsigned long long flags", absent="multicast"),
    Row("cuMulticastUnbind", 12010,
        "CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, size_t size", absent="multicast"),
    Row("cuMulticastGetGranularity", 12010,
        "size_t *granularity, const CUmulticastObjectProp *prop, CUmulticastGranularity_flags option",
        required=("prop",), absent="multicast"),
    Row("cuLogicalEndpointIdReserve", 13030, "CUlogicalEndpointId *leId, cuuint32_t count",
        absent="logical endpoints"),
    Row("cuLogicalEndpointIdRelease", 13030, "CUlogicalEndpointId leId, cuuint32_t count",
        absent="logical endpoints"),
    Row("cuLogicalEndpointCreate", 13030, "CUlogicalEndpointId leId, const CUlogicalEndpointProp *prop",
        required=("prop",), absent="logical endpoints"),
    Row("cuLogicalEndpointAddDevice", 13030, "CUlogicalEndpointId leId, CUdevice dev", absent="logical endpoints"),
    Row("cuLogicalEndpointDestroy", 13030, "CUlogicalEndpointId leId", absent="logical endpoints"),
    Row("cuLogicalEndpointBindAddr", 13030,
        "CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, void *ptr, cuuint64_t size, unsigned "
        "long long flags", required=("ptr",), absent="logical endpoints"),
    Row("cuLogicalEndpointBindMem", 13030,
        "CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, CUmemGenericAllocationHandle "
        "memHandle, cuuint64_t memOffset, cuuint64_t size, unsigned long long flags", absent="logical endpoints"),
    Row("cuLogicalEndpointUnbind", 13030,
        "CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, cuuint64_t size", absent="logical endpoints"),
    Row("cuLogicalEndpointExport", 13030,
        "void *handle, const CUlogicalEndpointId leId, CUlogicalEndpointIpcHandleType handleType",
        required=("handle",), absent="logical endpoints"),
    Row("cuLogicalEndpointImport", 13030,
        "CUlogicalEndpointId leId, const void *handle, CUlogicalEndpointIpcHandleType handleType",
        required=("handle",), absent="logical endpoints"),
    Row("cuLogicalEndpointGetLimits", 13030,
        "cuuint64_t *bindAlignment, cuuint64_t *maxSize, const CUlogicalEndpointProp *prop",
        required=("maxSize", "prop"), absent="logical endpoints"),
    Row("cuLogicalEndpointQuery", 13030, "CUlogicalEndpointId leId, cuuint32_t count, int *queryStatus",
        required=("queryStatus",), absent="logical endpoints"),
    Row("cuDeviceGetFabricClusterUuid", 13040, "CUuuid *uuid, CUdevice dev", absent="fabric"),
    Row("cuDeviceGetCliqueCount", 13040, "size_t *count, CUdevice dev", absent="fabric"),
    Row("cuDeviceGetCliqueInfo", 13040, "CUcliqueInfo *cliqueInfo, size_t *count, CUdevice dev",
        required=("count",), absent="fabric"),
]
