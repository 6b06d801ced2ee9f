"""The C types of the driver API: the declarations of the generated header, as text that cffi also reads."""

from __future__ import annotations

from ptx2amd.api.spec import Types


def _words(text: str) -> list[str]:
    return text.split()


_HANDLES = _words("""
CUarray CUasyncCallback CUasyncCallbackHandle CUcheckpointOperationHandle CUcontext CUcoredumpCallbackHandle
CUcoredumpStatusCallback CUdevResourceDesc CUevent CUexternalMemory CUexternalSemaphore CUfunction CUgraph
CUgraphExec CUgraphNode CUgraphRecaptureCallback CUgraphicsResource CUgreenCtx CUkernel CUlibrary CUlinkState
CUlogsCallback CUlogsCallbackHandle CUmemoryPool CUmipmappedArray CUmodule CUstream CUsurfref CUtexref
CUuserObject EGLImageKHR EGLStreamKHR EGLSyncKHR HGPUNV CUeglStreamConnection VdpGetProcAddress
""")

_ENUMS = _words("""
CUresult CUGLDeviceList CUaddress_mode CUarray_format CUcoredumpSettings CUdevResourceType CUdevice_P2PAttribute
CUdevice_attribute CUexecAffinityType CUfilter_mode CUresourcetype CUflushGPUDirectRDMAWritesScope
CUflushGPUDirectRDMAWritesTarget CUfunc_cache CUfunction_attribute CUgraphMem_attribute CUjitInputType
CUkernelNodeAttrID CUlimit CUlogicalEndpointIpcHandleType CUmemAllocationGranularity_flags
CUmemAllocationHandleType CUmemAllocationType CUmemPool_attribute CUmemRangeHandleType CUmem_advise
CUmem_range_attribute CUmulticastGranularity_flags CUoutput_mode CUpointer_attribute CUsharedconfig
CUstreamAttrID CUstreamCaptureMode CUtensorMapAllocClass CUtensorMapDataType CUtensorMapFloatOOBfill
CUtensorMapIm2ColWideMode CUtensorMapInterleave CUtensorMapL2promotion CUtensorMapSwizzle CUatomicOperation
CUdriverProcAddressQueryResult CUfunctionLoadingState CUgraphExecUpdateResult CUgraphNodeType CUjit_option
CUlibraryOption CUmemAccess_flags CUmoduleLoadingMode CUprocessState CUstreamCaptureStatus CUmemorytype
CUlaunchAttributeID CUgraphInstantiateResult CUdevice EGLint
""")

_SCALARS = {
    "uint32_t": "cuuint32_t CUdeviceptr_v1 CUlogicalEndpointId CUlogIterator GLenum GLuint VdpDevice"
                " VdpOutputSurface VdpVideoSurface",
    "unsigned long long": "cuuint64_t CUdeviceptr CUmemGenericAllocationHandle CUtexObject CUsurfObject"
                          " CUgraphConditionalHandle",
}

_OPAQUE = _words("""
CUDA_ARRAY_MEMORY_REQUIREMENTS CUDA_ARRAY_SPARSE_PROPERTIES
CUDA_BATCH_MEM_OP_NODE_PARAMS CUDA_EXTERNAL_MEMORY_BUFFER_DESC CUDA_EXTERNAL_MEMORY_HANDLE_DESC
CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC
CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
CUDA_EXT_SEM_WAIT_NODE_PARAMS CUDA_FABRIC_COPY_BATCH_OP CUDA_HOST_NODE_PARAMS
CUDA_MEM_ALLOC_NODE_PARAMS
CUarrayMapInfo CUcliqueInfo CUctxCreateParams
CUexecAffinityParam CUgraphEdgeData CUkernelNodeAttrValue CUlogicalEndpointProp CUmemAccessDesc
CUmemAllocationProp CUmemDecompressParams CUmemPoolProps CUmemPoolPtrExportData
CUmulticastObjectProp CUstreamAttrValue CUstreamCigCaptureParams CUtensorMap
""")

_STRUCTS = """
typedef struct CUuuid { unsigned char bytes[16]; } CUuuid;
typedef struct CUipcEventHandle { char reserved[64]; } CUipcEventHandle;
typedef struct CUipcMemHandle { char reserved[64]; } CUipcMemHandle;
typedef struct CUmemLocation { int type, id; } CUmemLocation;
typedef struct CUeglFrame { uint64_t words[16]; } CUeglFrame;
typedef void (*CUhostFn)(void *userData);
typedef void (*CUstreamCallback)(CUstream hStream, CUresult status, void *userData);
typedef size_t (*CUoccupancyB2DSize)(int blockSize);
typedef struct CUdevprop {
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], sharedMemPerBlock, totalConstantMemory;
  int SIMDWidth, memPitch, regsPerBlock, clockRate, textureAlign;
} CUdevprop;
typedef struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY; CUmemorytype srcMemoryType; const void *srcHost; CUdeviceptr srcDevice;
  CUarray srcArray; size_t srcPitch;
  size_t dstXInBytes, dstY; CUmemorytype dstMemoryType; void *dstHost; CUdeviceptr dstDevice;
  CUarray dstArray; size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;
typedef struct CUDA_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD; CUmemorytype srcMemoryType; const void *srcHost;
  CUdeviceptr srcDevice; CUarray srcArray; void *reserved0; size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD; CUmemorytype dstMemoryType; void *dstHost;
  CUdeviceptr dstDevice; CUarray dstArray; void *reserved1; size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;
typedef struct CUDA_MEMCPY3D_PEER {
  size_t srcXInBytes, srcY, srcZ, srcLOD; CUmemorytype srcMemoryType; const void *srcHost;
  CUdeviceptr srcDevice; CUarray srcArray; CUcontext srcContext; size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD; CUmemorytype dstMemoryType; void *dstHost;
  CUdeviceptr dstDevice; CUarray dstArray; CUcontext dstContext; size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER;
typedef struct CUDA_ARRAY_DESCRIPTOR {
  size_t Width, Height; CUarray_format Format; unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;
typedef struct CUDA_ARRAY3D_DESCRIPTOR {
  size_t Width, Height, Depth; CUarray_format Format; unsigned int NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;
typedef struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC {
  unsigned long long offset; CUDA_ARRAY3D_DESCRIPTOR arrayDesc; unsigned int numLevels, reserved[16];
} CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC;
typedef struct CUDA_RESOURCE_DESC {
  CUresourcetype resType;
  union {
    struct { CUarray hArray; } array;
    struct { CUmipmappedArray hMipmappedArray; } mipmap;
    struct { CUdeviceptr devPtr; CUarray_format format; unsigned int numChannels; size_t sizeInBytes; } linear;
    struct {
      CUdeviceptr devPtr; CUarray_format format; unsigned int numChannels; size_t width, height, pitchInBytes;
    } pitch2D;
    int reserved[32];
  } res;
  unsigned int flags;
} CUDA_RESOURCE_DESC;
typedef struct CUDA_TEXTURE_DESC {
  CUaddress_mode addressMode[3]; CUfilter_mode filterMode; unsigned int flags, maxAnisotropy;
  CUfilter_mode mipmapFilterMode; float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
  int reserved[12];
} CUDA_TEXTURE_DESC;
typedef struct CUDA_RESOURCE_VIEW_DESC {
  int format; size_t width, height, depth; unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
  unsigned int reserved[16];
} CUDA_RESOURCE_VIEW_DESC;
typedef struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func;
  unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  void **kernelParams, **extra;
  CUkernel kern;
  CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;
typedef struct CUDA_MEMSET_NODE_PARAMS {
  CUdeviceptr dst; size_t pitch; unsigned int value, elementSize; size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;
typedef struct CUDA_LAUNCH_PARAMS {
  CUfunction function;
  unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  void **kernelParams;
} CUDA_LAUNCH_PARAMS;
typedef struct CUlaunchAttribute {
  CUlaunchAttributeID id; char pad[4];
  union {
    char bytes[64]; int integer; unsigned int dim[3];
    struct { CUevent event; int flags, triggerAtBlockStart; } event;
  } value;
} CUlaunchAttribute;
typedef struct CUlaunchConfig {
  unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned int numAttrs;
} CUlaunchConfig;
typedef struct CUstreamBatchMemOpParams {
  int operation; CUdeviceptr address; uint64_t value; unsigned int flags; CUdeviceptr alias; uint64_t pad;
} CUstreamBatchMemOpParams;
typedef struct CUmemcpyAttributes {
  int srcAccessOrder; CUmemLocation srcLocHint, dstLocHint; unsigned int flags;
} CUmemcpyAttributes;
typedef struct CUmemcpy3DOperand {
  int type;
  union {
    struct { CUdeviceptr ptr; size_t rowLength, layerHeight; CUmemLocation locHint; } ptr;
    struct { CUarray array; size_t x, y, z; } array;
  } op;
} CUmemcpy3DOperand;
typedef struct CUDA_MEMCPY3D_BATCH_OP {
  CUmemcpy3DOperand src, dst; size_t width, height, depth; int srcAccessOrder; unsigned int flags;
} CUDA_MEMCPY3D_BATCH_OP;
typedef struct CUdevResource {
  CUdevResourceType type; uint32_t padding[23];
  union { struct { unsigned int smCount, minSmPartitionSize, smCoscheduledAlignment, flags; } sm; uint64_t words[6]; };
} CUdevResource;
typedef struct CU_DEV_SM_RESOURCE_GROUP_PARAMS {
  unsigned int smCount, coscheduledSmCount, preferredCoscheduledSmCount, flags, localityDomainId, reserved[11];
} CU_DEV_SM_RESOURCE_GROUP_PARAMS;
typedef struct CUgraphExecUpdateResultInfo {
  CUgraphExecUpdateResult result; CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo;
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS {
  unsigned long long flags; CUstream hUploadStream; CUgraphNode hErrNode_out;
  CUgraphInstantiateResult result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef struct CUcheckpointLockArgs { unsigned int timeoutMs, reserved0; uint64_t reserved1[7]; } CUcheckpointLockArgs;
typedef struct CUcheckpointCheckpointArgs {
  void *customStorageInfo_out; char reserved[56];
} CUcheckpointCheckpointArgs;
typedef struct CUcheckpointGpuPair { CUuuid oldUuid, newUuid; } CUcheckpointGpuPair;
typedef struct CUcheckpointRestoreArgs {
  CUcheckpointGpuPair *gpuPairs; unsigned int gpuPairsCount, padding0; void *customStorageInfo_out; char reserved[40];
} CUcheckpointRestoreArgs;
typedef struct CUcheckpointUnlockArgs { uint64_t reserved[8]; } CUcheckpointUnlockArgs;
typedef struct CUgraphNodeParams {
  CUgraphNodeType type; int reserved0[3];
  union {
    long long words[29]; CUDA_KERNEL_NODE_PARAMS kernel; CUDA_MEMSET_NODE_PARAMS memset;
    struct { int flags, reserved; CUcontext copyCtx; CUDA_MEMCPY3D copyParams; } memcpy;
    struct { CUhostFn fn; void *userData; } host;
    struct { CUgraph graph; int ownership; } graph;
    struct { CUevent event; } event;
    struct { CUdeviceptr dptr; } free;
    struct {
      CUgraphConditionalHandle handle; int type; unsigned int size; CUgraph *phGraph_out; CUcontext ctx;
    } conditional;
  };
  long long reserved2;
} CUgraphNodeParams;
"""

#: CUDA objects and their HIP type: they are the same object, so the shim passes them on.
_SAME = {
    "CUexternalMemory": "hipExternalMemory_t",
    "CUexternalSemaphore": "hipExternalSemaphore_t",
    "CUgraph": "hipGraph_t",
    "CUgraphExec": "hipGraphExec_t",
    "CUgraphNode": "hipGraphNode_t",
    "CUgraphicsResource": "hipGraphicsResource_t",
    "CUmemoryPool": "hipMemPool_t",
    "CUuserObject": "hipUserObject_t",
    "CUstreamCaptureMode": "hipStreamCaptureMode",
    "CUstreamCaptureStatus": "hipStreamCaptureStatus",
    "CUgraphMem_attribute": "hipGraphMemAttributeType",
    "CUmemPool_attribute": "hipMemPoolAttr",
    "CUDA_BATCH_MEM_OP_NODE_PARAMS": "hipBatchMemOpNodeParams",
    "CUDA_EXTERNAL_MEMORY_BUFFER_DESC": "hipExternalMemoryBufferDesc",
    "CUDA_EXTERNAL_MEMORY_HANDLE_DESC": "hipExternalMemoryHandleDesc",
    "CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC": "hipExternalSemaphoreHandleDesc",
    "CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS": "hipExternalSemaphoreSignalParams",
    "CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS": "hipExternalSemaphoreWaitParams",
    "CUDA_EXT_SEM_SIGNAL_NODE_PARAMS": "hipExternalSemaphoreSignalNodeParams",
    "CUDA_EXT_SEM_WAIT_NODE_PARAMS": "hipExternalSemaphoreWaitNodeParams",
    "CUDA_HOST_NODE_PARAMS": "hipHostNodeParams",
    "CUDA_MEM_ALLOC_NODE_PARAMS": "hipMemAllocNodeParams",
    "CUgraphEdgeData": "hipGraphEdgeData",
    "CUipcEventHandle": "hipIpcEventHandle_t",
    "CUipcMemHandle": "hipIpcMemHandle_t",
    "CUmemAccessDesc": "hipMemAccessDesc",
    "CUmemAccess_flags": "hipMemAccessFlags",
    "CUmemAllocationProp": "hipMemAllocationProp",
    "CUmemLocation": "hipMemLocation",
    "CUmemPoolProps": "hipMemPoolProps",
    "CUmemPoolPtrExportData": "hipMemPoolPtrExportData",
}

TYPES = Types(
    handles=_HANDLES,
    enums=_ENUMS,
    scalars=_SCALARS,
    opaque=_OPAQUE,
    structs=_STRUCTS,
    same=_SAME,
    values=("CUipcEventHandle", "CUipcMemHandle", "CUmemLocation", "CUeglFrame"),
)
