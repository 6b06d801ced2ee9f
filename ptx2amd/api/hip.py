"""The HIP functions that the shim calls: name -> C parameter list.

Types are what the ABI needs: handles, enumerations and pointers to structures are `void *`, `unsigned int` and
`void *`; device addresses are `uint64_t` where HIP says hipDeviceptr_t. A function that a HIP library lacks
answers hipErrorNotSupported. NEWER says which came after HIP 5.2, the oldest library that we know, and what is done
without them.
"""

from __future__ import annotations

import re

from ptx2amd.api import generate
from ptx2amd.api.spec import NOTE

FUNCTIONS = {
    "hipDestroyExternalMemory": "void *extMem",
    "hipDestroyExternalSemaphore": "void *extSem",
    "hipDeviceCanAccessPeer": "void *canAccessPeer, int deviceId, int peerDeviceId",
    "hipDeviceDisablePeerAccess": "int peerDeviceId",
    "hipDeviceEnablePeerAccess": "int peerDeviceId, unsigned int flags",
    "hipDeviceGetAttribute": "void *pi, unsigned int attr, int deviceId",
    "hipDeviceGetDefaultMemPool": "void *mem_pool, int device",
    "hipDeviceGetGraphMemAttribute": "int device, unsigned int attr, void *value",
    "hipDeviceGetMemPool": "void *mem_pool, int device",
    "hipDeviceGetName": "void *name, int len, int device",
    "hipDeviceGetP2PAttribute": "void *value, unsigned int attr, int srcDevice, int dstDevice",
    "hipDeviceGetStreamPriorityRange": "void *leastPriority, void *greatestPriority",
    "hipDeviceGetUuid": "void *uuid, int device",
    "hipDeviceGraphMemTrim": "int device",
    "hipDeviceReset": "void",
    "hipDeviceSetGraphMemAttribute": "int device, unsigned int attr, void *value",
    "hipDeviceSetLimit": "unsigned int limit, size_t value",
    "hipDeviceSetMemPool": "int device, void *mem_pool",
    "hipDeviceSynchronize": "void",
    "hipDeviceTotalMem": "void *bytes, int device",
    "hipDrvGraphAddMemcpyNode":
        "void *phGraphNode, void *hGraph, void *dependencies, size_t numDependencies, void *copyParams, void "
        "*ctx",
    "hipDrvGraphExecMemcpyNodeSetParams": "void *hGraphExec, void *hNode, void *copyParams, void *ctx",
    "hipDrvGraphMemcpyNodeGetParams": "void *node, void *nodeParams",
    "hipDrvGraphMemcpyNodeSetParams": "void *hNode, void *nodeParams",
    "hipEventCreateWithFlags": "void *event, unsigned int flags",
    "hipEventDestroy": "void *event",
    "hipEventElapsedTime": "void *ms, void *start, void *stop",
    "hipEventQuery": "void *event",
    "hipEventRecord": "void *event, void *stream",
    "hipEventSynchronize": "void *event",
    "hipExtStreamCreateWithCUMask": "void *stream, uint32_t cuMaskSize, void *cuMask",
    "hipExternalMemoryGetMappedBuffer": "void *devPtr, void *extMem, void *bufferDesc",
    "hipFree": "void *ptr",
    "hipFreeAsync": "void *dev_ptr, void *stream",
    "hipGLGetDevices": "void *count, void *devices, unsigned int room, unsigned int list",
    "hipGetDeviceCount": "void *count",
    "hipGetDeviceProperties": "void *prop, int deviceId",
    "hipGetDevicePropertiesR0600": "void *prop, int deviceId",
    "hipGraphAddBatchMemOpNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *pNodeParams",
    "hipGraphAddChildGraphNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *childGraph",
    "hipGraphAddDependencies": "void *graph, void *from, void *to, size_t numDependencies",
    "hipGraphAddEmptyNode": "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies",
    "hipGraphAddEventRecordNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *event",
    "hipGraphAddEventWaitNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *event",
    "hipGraphAddExternalSemaphoresSignalNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *pNodeParams",
    "hipGraphAddExternalSemaphoresWaitNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *pNodeParams",
    "hipGraphAddHostNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *pNodeParams",
    "hipGraphAddKernelNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *pNodeParams",
    "hipGraphAddMemAllocNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *pNodeParams",
    "hipGraphAddMemFreeNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *dev_ptr",
    "hipGraphAddMemcpyNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *pCopyParams",
    "hipGraphAddMemsetNode":
        "void *pGraphNode, void *graph, void *pDependencies, size_t numDependencies, void *pMemsetParams",
    "hipGraphBatchMemOpNodeGetParams": "void *node, void *pNodeParams",
    "hipGraphBatchMemOpNodeSetParams": "void *node, void *pNodeParams",
    "hipGraphChildGraphNodeGetGraph": "void *node, void *pGraph",
    "hipGraphClone": "void *pGraphClone, void *originalGraph",
    "hipGraphCreate": "void *pGraph, unsigned int flags",
    "hipGraphDebugDotPrint": "void *graph, void *path, unsigned int flags",
    "hipGraphDestroy": "void *graph",
    "hipGraphDestroyNode": "void *node",
    "hipGraphEventRecordNodeGetEvent": "void *node, void *event_out",
    "hipGraphEventRecordNodeSetEvent": "void *node, void *event",
    "hipGraphEventWaitNodeGetEvent": "void *node, void *event_out",
    "hipGraphEventWaitNodeSetEvent": "void *node, void *event",
    "hipGraphExecBatchMemOpNodeSetParams": "void *hGraphExec, void *node, void *pNodeParams",
    "hipGraphExecChildGraphNodeSetParams": "void *hGraphExec, void *node, void *childGraph",
    "hipGraphExecDestroy": "void *graphExec",
    "hipGraphExecEventRecordNodeSetEvent": "void *hGraphExec, void *hNode, void *event",
    "hipGraphExecEventWaitNodeSetEvent": "void *hGraphExec, void *hNode, void *event",
    "hipGraphExecExternalSemaphoresSignalNodeSetParams": "void *hGraphExec, void *node, void *pNodeParams",
    "hipGraphExecExternalSemaphoresWaitNodeSetParams": "void *hGraphExec, void *node, void *pNodeParams",
    "hipGraphExecGetFlags": "void *graphExec, void *flags",
    "hipGraphExecHostNodeSetParams": "void *hGraphExec, void *node, void *pNodeParams",
    "hipGraphExecKernelNodeSetParams": "void *hGraphExec, void *node, void *pNodeParams",
    "hipGraphExecMemcpyNodeSetParams": "void *hGraphExec, void *node, void *pNodeParams",
    "hipGraphExecMemsetNodeSetParams": "void *hGraphExec, void *node, void *pNodeParams",
    "hipGraphExecUpdate": "void *hGraphExec, void *hGraph, void *hErrorNode_out, void *updateResult_out",
    "hipGraphExternalSemaphoresSignalNodeGetParams": "void *node, void *pNodeParams",
    "hipGraphExternalSemaphoresSignalNodeSetParams": "void *node, void *pNodeParams",
    "hipGraphExternalSemaphoresWaitNodeGetParams": "void *node, void *pNodeParams",
    "hipGraphExternalSemaphoresWaitNodeSetParams": "void *node, void *pNodeParams",
    "hipGraphGetEdges": "void *graph, void *from, void *to, void *numEdges",
    "hipGraphGetNodes": "void *graph, void *nodes, void *numNodes",
    "hipGraphGetRootNodes": "void *graph, void *pRootNodes, void *pNumRootNodes",
    "hipGraphHostNodeGetParams": "void *node, void *pNodeParams",
    "hipGraphHostNodeSetParams": "void *node, void *pNodeParams",
    "hipGraphInstantiate": "void *pGraphExec, void *graph, void *pErrorNode, void *pLogBuffer, size_t bufferSize",
    "hipGraphInstantiateWithFlags": "void *pGraphExec, void *graph, uint64_t flags",
    "hipGraphKernelNodeGetParams": "void *node, void *pNodeParams",
    "hipGraphKernelNodeSetParams": "void *node, void *pNodeParams",
    "hipGraphLaunch": "void *graphExec, void *stream",
    "hipGraphMemAllocNodeGetParams": "void *node, void *pNodeParams",
    "hipGraphMemFreeNodeGetParams": "void *node, void *dev_ptr",
    "hipGraphMemcpyNodeSetParams": "void *node, void *pNodeParams",
    "hipGraphMemsetNodeGetParams": "void *node, void *pNodeParams",
    "hipGraphMemsetNodeSetParams": "void *node, void *pNodeParams",
    "hipGraphNodeFindInClone": "void *pNode, void *originalNode, void *clonedGraph",
    "hipGraphNodeGetDependencies": "void *node, void *pDependencies, void *pNumDependencies",
    "hipGraphNodeGetDependentNodes": "void *node, void *pDependentNodes, void *pNumDependentNodes",
    "hipGraphNodeGetEnabled": "void *hGraphExec, void *hNode, void *isEnabled",
    "hipGraphNodeGetType": "void *node, void *pType",
    "hipGraphNodeSetEnabled": "void *hGraphExec, void *hNode, unsigned int isEnabled",
    "hipGraphReleaseUserObject": "void *graph, void *object, unsigned int count",
    "hipGraphRemoveDependencies": "void *graph, void *from, void *to, size_t numDependencies",
    "hipGraphRetainUserObject": "void *graph, void *object, unsigned int count, unsigned int flags",
    "hipGraphUpload": "void *graphExec, void *stream",
    "hipGraphicsGLRegisterBuffer": "void *resource, unsigned int buffer, unsigned int flags",
    "hipGraphicsGLRegisterImage": "void *resource, unsigned int image, unsigned int target, unsigned int flags",
    "hipGraphicsMapResources": "int count, void *resources, void *stream",
    "hipGraphicsResourceGetMappedPointer": "void *devPtr, void *size, void *resource",
    "hipGraphicsSubResourceGetMappedArray":
        "void *array, void *resource, unsigned int arrayIndex, unsigned int mipLevel",
    "hipGraphicsUnmapResources": "int count, void *resources, void *stream",
    "hipGraphicsUnregisterResource": "void *resource",
    "hipHostFree": "void *ptr",
    "hipHostGetDevicePointer": "void *devPtr, void *hstPtr, unsigned int flags",
    "hipHostGetFlags": "void *flagsPtr, void *hostPtr",
    "hipHostMalloc": "void *ptr, size_t size, unsigned int flags",
    "hipHostRegister": "void *hostPtr, size_t sizeBytes, unsigned int flags",
    "hipHostUnregister": "void *hostPtr",
    "hipImportExternalMemory": "void *extMem_out, void *memHandleDesc",
    "hipImportExternalSemaphore": "void *extSem_out, void *semHandleDesc",
    "hipInit": "unsigned int flags",
    "hipIpcCloseMemHandle": "void *devPtr",
    "hipIpcGetEventHandle": "void *handle, void *event",
    "hipIpcGetMemHandle": "void *handle, void *devPtr",
    "hipIpcOpenEventHandle": "void *event, CUipcEventHandle handle",
    "hipIpcOpenMemHandle": "void *devPtr, CUipcMemHandle handle, unsigned int flags",
    "hipLaunchHostFunc": "void *stream, void *fn, void *userData",
    "hipMalloc": "void *ptr, size_t size",
    "hipMallocAsync": "void *dev_ptr, size_t size, void *stream",
    "hipMallocFromPoolAsync": "void *dev_ptr, size_t size, void *mem_pool, void *stream",
    "hipMallocManaged": "void *dev_ptr, size_t size, unsigned int flags",
    "hipMemAddressFree": "void *devPtr, size_t size",
    "hipMemAddressReserve": "void *ptr, size_t size, size_t alignment, void *addr, uint64_t flags",
    "hipMemAdvise": "void *dev_ptr, size_t count, unsigned int advice, int device",
    "hipMemAllocPitch":
        "void *dptr, void *pitch, size_t widthInBytes, size_t height, unsigned int elementSizeBytes",
    "hipMemCreate": "void *handle, size_t size, void *prop, uint64_t flags",
    "hipMemExportToShareableHandle": "void *shareableHandle, void *handle, unsigned int handleType, uint64_t flags",
    "hipMemGetAccess": "void *flags, void *location, void *ptr",
    "hipMemGetAddressRange": "void *pbase, void *psize, uint64_t dptr",
    "hipMemGetAllocationGranularity": "void *granularity, void *prop, unsigned int option",
    "hipMemGetAllocationPropertiesFromHandle": "void *prop, void *handle",
    "hipMemGetHandleForAddressRange":
        "void *handle, uint64_t dptr, size_t size, unsigned int handleType, uint64_t flags",
    "hipMemGetInfo": "void *free, void *total",
    "hipMemImportFromShareableHandle": "void *handle, void *osHandle, unsigned int shHandleType",
    "hipMemMap": "void *ptr, size_t size, size_t offset, void *handle, uint64_t flags",
    "hipMemPoolCreate": "void *mem_pool, void *pool_props",
    "hipMemPoolDestroy": "void *mem_pool",
    "hipMemPoolExportPointer": "void *export_data, void *dev_ptr",
    "hipMemPoolExportToShareableHandle":
        "void *shared_handle, void *mem_pool, unsigned int handle_type, unsigned int flags",
    "hipMemPoolGetAccess": "void *flags, void *mem_pool, void *location",
    "hipMemPoolGetAttribute": "void *mem_pool, unsigned int attr, void *value",
    "hipMemPoolImportFromShareableHandle":
        "void *mem_pool, void *shared_handle, unsigned int handle_type, unsigned int flags",
    "hipMemPoolImportPointer": "void *dev_ptr, void *mem_pool, void *export_data",
    "hipMemPoolSetAccess": "void *mem_pool, void *desc_list, size_t count",
    "hipMemPoolSetAttribute": "void *mem_pool, unsigned int attr, void *value",
    "hipMemPoolTrimTo": "void *mem_pool, size_t min_bytes_to_hold",
    "hipMemPrefetchAsync": "void *dev_ptr, size_t count, int device, void *stream",
    "hipMemRangeGetAttribute": "void *data, size_t data_size, unsigned int attribute, void *dev_ptr, size_t count",
    "hipMemRangeGetAttributes":
        "void *data, void *data_sizes, void *attributes, size_t num_attributes, void *dev_ptr, size_t count",
    "hipMemRelease": "void *handle",
    "hipMemRetainAllocationHandle": "void *handle, void *addr",
    "hipMemSetAccess": "void *ptr, size_t size, void *desc, size_t count",
    "hipMemUnmap": "void *ptr, size_t size",
    "hipMemcpy": "void *dst, void *src, size_t sizeBytes, unsigned int kind",
    "hipMemcpy2D":
        "void *dst, size_t dpitch, void *src, size_t spitch, size_t width, size_t height, unsigned int kind",
    "hipMemcpy2DAsync":
        "void *dst, size_t dpitch, void *src, size_t spitch, size_t width, size_t height, unsigned int kind, "
        "void *stream",
    "hipMemcpyAsync": "void *dst, void *src, size_t sizeBytes, unsigned int kind, void *stream",
    "hipMemcpyDtoD": "uint64_t dst, uint64_t src, size_t sizeBytes",
    "hipMemcpyDtoDAsync": "uint64_t dst, uint64_t src, size_t sizeBytes, void *stream",
    "hipMemcpyDtoH": "void *dst, uint64_t src, size_t sizeBytes",
    "hipMemcpyDtoHAsync": "void *dst, uint64_t src, size_t sizeBytes, void *stream",
    "hipMemcpyHtoD": "uint64_t dst, void *src, size_t sizeBytes",
    "hipMemcpyHtoDAsync": "uint64_t dst, void *src, size_t sizeBytes, void *stream",
    "hipMemsetD16": "uint64_t dest, unsigned short value, size_t count",
    "hipMemsetD16Async": "uint64_t dest, unsigned short value, size_t count, void *stream",
    "hipMemsetD32": "uint64_t dest, int value, size_t count",
    "hipMemsetD32Async": "uint64_t dst, int value, size_t count, void *stream",
    "hipMemsetD8": "uint64_t dest, unsigned char value, size_t count",
    "hipMemsetD8Async": "uint64_t dest, unsigned char value, size_t count, void *stream",
    "hipModuleGetFunction": "void *function, void *module, void *kname",
    "hipModuleGetGlobal": "void *dptr, void *bytes, void *hmod, void *name",
    "hipModuleLaunchCooperativeKernel":
        "void *f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int "
        "blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, void "
        "*stream, void *kernelParams",
    "hipModuleLaunchKernel":
        "void *f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int "
        "blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, void "
        "*stream, void *kernelParams, void *extra",
    "hipModuleLoadData": "void *module, void *image",
    "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor":
        "void *numBlocks, void *f, int blockSize, size_t dynSharedMemPerBlk",
    "hipModuleUnload": "void *module",
    "hipPointerGetAttributes": "void *attributes, void *ptr",
    "hipSetDevice": "int deviceId",
    "hipSignalExternalSemaphoresAsync":
        "void *extSemArray, void *paramsArray, unsigned int numExtSems, void *stream",
    "hipStreamAddCallback": "void *stream, void *callback, void *userData, unsigned int flags",
    "hipStreamAttachMemAsync": "void *stream, void *dev_ptr, size_t length, unsigned int flags",
    "hipStreamBatchMemOp": "void *stream, unsigned int count, void *paramArray, unsigned int flags",
    "hipStreamBeginCapture": "void *stream, unsigned int mode",
    "hipStreamBeginCaptureToGraph":
        "void *stream, void *graph, void *dependencies, void *dependencyData, size_t numDependencies, "
        "unsigned int mode",
    "hipStreamCreateWithFlags": "void *stream, unsigned int flags",
    "hipStreamCreateWithPriority": "void *stream, unsigned int flags, int priority",
    "hipStreamDestroy": "void *stream",
    "hipStreamEndCapture": "void *stream, void *pGraph",
    "hipStreamGetCaptureInfo_v2":
        "void *stream, void *captureStatus_out, void *id_out, void *graph_out, void *dependencies_out, void "
        "*numDependencies_out",
    "hipStreamIsCapturing": "void *stream, void *pCaptureStatus",
    "hipStreamQuery": "void *stream",
    "hipStreamSynchronize": "void *stream",
    "hipStreamUpdateCaptureDependencies":
        "void *stream, void *dependencies, size_t numDependencies, unsigned int flags",
    "hipStreamWaitEvent": "void *stream, void *event, unsigned int flags",
    "hipStreamWaitValue32": "void *stream, void *ptr, uint32_t value, unsigned int flags, uint32_t mask",
    "hipStreamWaitValue64": "void *stream, void *ptr, uint64_t value, unsigned int flags, uint64_t mask",
    "hipStreamWriteValue32": "void *stream, void *ptr, uint32_t value, unsigned int flags",
    "hipStreamWriteValue64": "void *stream, void *ptr, uint64_t value, unsigned int flags",
    "hipThreadExchangeStreamCaptureMode": "void *mode",
    "hipUserObjectCreate":
        "void *object_out, void *ptr, void *destroy, unsigned int initialRefcount, unsigned int flags",
    "hipUserObjectRelease": "void *object, unsigned int count",
    "hipUserObjectRetain": "void *object, unsigned int count",
    "hipWaitExternalSemaphoresAsync": "void *extSemArray, void *paramsArray, unsigned int numExtSems, void *stream",
}

_REFUSED = "CUDA_ERROR_NOT_SUPPORTED"
LAID_OUT = f"{_REFUSED}, as the properties of memory were laid out otherwise"

#: Function -> the HIP version that it is taken from (100 * major + minor), and what is done where the library is older.
NEWER = {
    "hipDeviceGetGraphMemAttribute": (503, _REFUSED),
    "hipDeviceGraphMemTrim": (503, _REFUSED),
    "hipDeviceSetGraphMemAttribute": (503, _REFUSED),
    "hipDeviceSetLimit": (503, "the stack limit stays what it is"),
    "hipDrvGraphAddMemcpyNode": (600, "hipGraphAddMemcpyNode"),
    "hipDrvGraphExecMemcpyNodeSetParams": (604, "hipGraphExecMemcpyNodeSetParams"),
    "hipDrvGraphMemcpyNodeGetParams": (604, _REFUSED),
    "hipDrvGraphMemcpyNodeSetParams": (604, "hipGraphMemcpyNodeSetParams"),
    "hipGetDevicePropertiesR0600": (600, "hipGetDeviceProperties, in its older layout"),
    "hipGraphAddBatchMemOpNode": (604, _REFUSED),
    "hipGraphAddExternalSemaphoresSignalNode": (700, _REFUSED),
    "hipGraphAddExternalSemaphoresWaitNode": (700, _REFUSED),
    "hipGraphAddMemAllocNode": (505, _REFUSED),
    "hipGraphAddMemFreeNode": (505, _REFUSED),
    "hipGraphBatchMemOpNodeGetParams": (604, _REFUSED),
    "hipGraphBatchMemOpNodeSetParams": (604, _REFUSED),
    "hipGraphDebugDotPrint": (505, _REFUSED),
    "hipGraphExecBatchMemOpNodeSetParams": (604, _REFUSED),
    "hipGraphExecExternalSemaphoresSignalNodeSetParams": (700, _REFUSED),
    "hipGraphExecExternalSemaphoresWaitNodeSetParams": (700, _REFUSED),
    "hipGraphExecGetFlags": (604, "the flags read as 0"),
    "hipGraphExternalSemaphoresSignalNodeGetParams": (700, _REFUSED),
    "hipGraphExternalSemaphoresSignalNodeSetParams": (700, _REFUSED),
    "hipGraphExternalSemaphoresWaitNodeGetParams": (700, _REFUSED),
    "hipGraphExternalSemaphoresWaitNodeSetParams": (700, _REFUSED),
    "hipGraphMemAllocNodeGetParams": (505, _REFUSED),
    "hipGraphMemFreeNodeGetParams": (505, _REFUSED),
    "hipGraphNodeGetEnabled": (505, _REFUSED),
    "hipGraphNodeSetEnabled": (505, _REFUSED),
    "hipGraphReleaseUserObject": (503, _REFUSED),
    "hipGraphRetainUserObject": (503, _REFUSED),
    "hipGraphUpload": (503, "nothing: the first launch uploads"),
    "hipLaunchHostFunc": (503, "hipStreamAddCallback"),
    "hipMemCreate": (503, LAID_OUT),
    "hipMemGetAllocationGranularity": (503, LAID_OUT),
    "hipMemGetAllocationPropertiesFromHandle": (503, LAID_OUT),
    "hipMemGetHandleForAddressRange": (700, _REFUSED),
    "hipModuleLaunchCooperativeKernel": (505, _REFUSED),
    "hipStreamBatchMemOp": (604, "hipStreamWaitValue32 and its like, one after the other"),
    "hipStreamBeginCaptureToGraph": (602, _REFUSED),
    "hipUserObjectCreate": (503, _REFUSED),
    "hipUserObjectRelease": (503, _REFUSED),
    "hipUserObjectRetain": (503, _REFUSED),
}


def texts() -> dict[str, str]:
    """The generated files: name -> text."""
    fields = "".join(f"  int (*{name[3:]})({_parameters(args)});\n" for name, args in FUNCTIONS.items())
    declared = (
        "/* The HIP library's functions; one that is missing answers hipErrorNotSupported. */\n"
        f"struct hip_table {{\n{fields}}};\nextern struct hip_table hip;\n"
        f"enum {{ HIP_FUNCTIONS = {len(FUNCTIONS)} }};\n"
        "/* In the table's order: the names, and the HIP version that each is taken from (503: 5.3; 0: any). */\n"
        "extern const char *const hip_names[HIP_FUNCTIONS];\nextern const short hip_since[HIP_FUNCTIONS];\n"
    )
    names = "".join(f'  "{name}",\n' for name in FUNCTIONS)
    since = "".join(f"  {NEWER[name][0] if name in NEWER else 0},\n" for name in FUNCTIONS)
    return {
        "hip_table.h": generate.header("hip_table.h", declared, ['"cuda_types.h"']),
        "hip_table.c": f'{NOTE}#include "hip_table.h"\nstruct hip_table hip;\n'
        f"const char *const hip_names[HIP_FUNCTIONS] = {{\n{names}}};\n"
        f"const short hip_since[HIP_FUNCTIONS] = {{\n{since}}};\n",
    }


def _parameters(args: str) -> str:
    return re.sub(r"(?<!const )void \*", "const void *", args)
