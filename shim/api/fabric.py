"""Multicast objects, logical endpoints, fabric."""

from shim.api.row import Row

ROWS = [
    Row("cuFabricCpyBatchAsync", 13050,
        "size_t numOps, CUDA_FABRIC_COPY_BATCH_OP *opList, unsigned long long flags, CUstream hStream", ptsz=13050),
    Row("cuMulticastCreate", 12010,
        "CUmemGenericAllocationHandle *mcHandle, const CUmulticastObjectProp *prop"),
    Row("cuMulticastAddDevice", 12010, "CUmemGenericAllocationHandle mcHandle, CUdevice dev"),
    Row("cuMulticastBindMem", 12010,
        "CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUmemGenericAllocationHandle memHandle, "
        "size_t memOffset, size_t size, unsigned long long flags"),
    Row("cuMulticastBindMem_v2", 13010,
        "CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, "
        "CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size, unsigned long long flags"),
    Row("cuMulticastBindAddr", 12010,
        "CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr, size_t size, unsigned "
        "long long flags"),
    Row("cuMulticastBindAddr_v2", 13010,
        "CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, CUdeviceptr memptr, size_t "
        "size, unsigned long long flags"),
    Row("cuMulticastUnbind", 12010,
        "CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, size_t size"),
    Row("cuMulticastGetGranularity", 12010,
        "size_t *granularity, const CUmulticastObjectProp *prop, CUmulticastGranularity_flags option"),
    Row("cuLogicalEndpointIdReserve", 13030, "CUlogicalEndpointId *leId, cuuint32_t count"),
    Row("cuLogicalEndpointIdRelease", 13030, "CUlogicalEndpointId leId, cuuint32_t count"),
    Row("cuLogicalEndpointCreate", 13030, "CUlogicalEndpointId leId, const CUlogicalEndpointProp *prop"),
    Row("cuLogicalEndpointAddDevice", 13030, "CUlogicalEndpointId leId, CUdevice dev"),
    Row("cuLogicalEndpointDestroy", 13030, "CUlogicalEndpointId leId"),
    Row("cuLogicalEndpointBindAddr", 13030,
        "CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, void *ptr, cuuint64_t size, unsigned "
        "long long flags"),
    Row("cuLogicalEndpointBindMem", 13030,
        "CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, CUmemGenericAllocationHandle "
        "memHandle, cuuint64_t memOffset, cuuint64_t size, unsigned long long flags"),
    Row("cuLogicalEndpointUnbind", 13030,
        "CUlogicalEndpointId leId, CUdevice dev, cuuint64_t offset, cuuint64_t size"),
    Row("cuLogicalEndpointExport", 13030,
        "void *handle, const CUlogicalEndpointId leId, CUlogicalEndpointIpcHandleType handleType"),
    Row("cuLogicalEndpointImport", 13030,
        "CUlogicalEndpointId leId, const void *handle, CUlogicalEndpointIpcHandleType handleType"),
    Row("cuLogicalEndpointGetLimits", 13030,
        "cuuint64_t *bindAlignment, cuuint64_t *maxSize, const CUlogicalEndpointProp *prop"),
    Row("cuLogicalEndpointQuery", 13030, "CUlogicalEndpointId leId, cuuint32_t count, int *queryStatus"),
    Row("cuDeviceGetFabricClusterUuid", 13040, "CUuuid *uuid, CUdevice dev"),
    Row("cuDeviceGetCliqueCount", 13040, "size_t *count, CUdevice dev"),
    Row("cuDeviceGetCliqueInfo", 13040, "CUcliqueInfo *cliqueInfo, size_t *count, CUdevice dev"),
]
