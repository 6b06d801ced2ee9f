/* Types of the HIP API: functions and launches, interprocess objects, graphs. Written so that cffi can read it
 * (hip_types.h). */
#ifndef PTX2AMD_VGPU_HIP_TYPES_LAUNCH_H
#define PTX2AMD_VGPU_HIP_TYPES_LAUNCH_H

/* Functions and launches */

typedef enum hipFunction_attribute {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
  HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
  HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
  HIP_FUNC_ATTRIBUTE_NUM_REGS,
  HIP_FUNC_ATTRIBUTE_PTX_VERSION,
  HIP_FUNC_ATTRIBUTE_BINARY_VERSION,
  HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA,
  HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
  HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
} hipFunction_attribute;
typedef enum hipFuncAttribute {
  hipFuncAttributeMaxDynamicSharedMemorySize = 8, hipFuncAttributePreferredSharedMemoryCarveout = 9,
} hipFuncAttribute;
typedef struct hipFuncAttributes {
  int binaryVersion;
  int cacheModeCA;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxDynamicSharedSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int preferredShmemCarveout;
  int ptxVersion;
  size_t sharedSizeBytes;
} hipFuncAttributes;

typedef unsigned hipJitOption;
typedef unsigned hipLibraryOption;

typedef union hipLaunchAttributeValue {
  char pad[64];
  int cooperative;
  int priority;
} hipLaunchAttributeValue;
typedef struct hipLaunchAttribute {
  unsigned id;                    /* 2: cooperative, 8: priority */
  char pad[4];
  hipLaunchAttributeValue val;
} hipLaunchAttribute;
typedef struct HIP_LAUNCH_CONFIG {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  hipStream_t hStream;
  hipLaunchAttribute *attrs;
  unsigned numAttrs;
} HIP_LAUNCH_CONFIG;
typedef struct hipLaunchConfig_st {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  hipStream_t stream;
  hipLaunchAttribute *attrs;
  unsigned numAttrs;
} hipLaunchConfig_t;

typedef void (*hipHostFn_t)(void *userData);
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void *userData);

/* Interprocess memory and external objects */

typedef struct hipIpcMemHandle_t { char reserved[64]; } hipIpcMemHandle_t;
typedef struct hipIpcEventHandle_t { char reserved[64]; } hipIpcEventHandle_t;
typedef struct hipMemPoolPtrExportData { unsigned char reserved[64]; } hipMemPoolPtrExportData;
typedef struct ihipExternalMemory *hipExternalMemory_t;
typedef struct ihipExternalSemaphore *hipExternalSemaphore_t;
typedef enum hipExternalHandleType { hipExternalHandleTypeOpaqueFd = 1 } hipExternalHandleType;
typedef struct hipExternalMemoryHandleDesc {
  hipExternalHandleType type;
  union { int fd; void *words[2]; } handle;
  unsigned long long size;
  unsigned flags, reserved[16];
} hipExternalMemoryHandleDesc;
typedef struct hipExternalMemoryBufferDesc {
  unsigned long long offset, size;
  unsigned flags, reserved[16];
} hipExternalMemoryBufferDesc;
typedef struct hipExternalSemaphoreHandleDesc {
  hipExternalHandleType type;
  union { int fd; void *words[2]; } handle;
  unsigned flags, reserved[16];
} hipExternalSemaphoreHandleDesc;
typedef struct hipExternalSemaphoreParams {   /* for signal and for wait: 144 bytes */
  unsigned long long fence, nvSciSync, words[7];
  unsigned flags, reserved[16];
} hipExternalSemaphoreParams;
typedef hipExternalSemaphoreParams hipExternalSemaphoreSignalParams;
typedef hipExternalSemaphoreParams hipExternalSemaphoreWaitParams;
typedef struct hipExternalSemaphoreNodeParams {
  hipExternalSemaphore_t *extSemArray;
  const hipExternalSemaphoreParams *paramsArray;
  unsigned numExtSems;
} hipExternalSemaphoreNodeParams;
typedef hipExternalSemaphoreNodeParams hipExternalSemaphoreSignalNodeParams;
typedef hipExternalSemaphoreNodeParams hipExternalSemaphoreWaitNodeParams;

typedef enum hipStreamBatchMemOpType {
  hipStreamMemOpWaitValue32 = 1,
  hipStreamMemOpWriteValue32 = 2,
  hipStreamMemOpFlushRemoteWrites = 3,
  hipStreamMemOpWaitValue64 = 4,
  hipStreamMemOpWriteValue64 = 5,
  hipStreamMemOpBarrier = 6,
} hipStreamBatchMemOpType;
typedef union hipStreamBatchMemOpParams {
  hipStreamBatchMemOpType operation;
  struct { hipStreamBatchMemOpType operation; void *address; uint64_t value64; unsigned flags; void *alias; } value;
  uint64_t pad[6];
} hipStreamBatchMemOpParams;
typedef struct hipBatchMemOpNodeParams {
  hipCtx_t ctx;
  unsigned count;
  hipStreamBatchMemOpParams *paramArray;
  unsigned flags;
} hipBatchMemOpNodeParams;

/* Graphs */

typedef struct hipMemAllocNodeParams {
  hipMemPoolProps poolProps;
  const hipMemAccessDesc *accessDescs;
  size_t accessDescCount, bytesize;
  void *dptr;
} hipMemAllocNodeParams;
typedef enum hipGraphMemAttributeType {
  hipGraphMemAttrUsedMemCurrent = 0, hipGraphMemAttrUsedMemHigh, hipGraphMemAttrReservedMemCurrent,
  hipGraphMemAttrReservedMemHigh,
} hipGraphMemAttributeType;

typedef enum hipGraphNodeType {
  hipGraphNodeTypeKernel = 0,
  hipGraphNodeTypeMemcpy,
  hipGraphNodeTypeMemset,
  hipGraphNodeTypeHost,
  hipGraphNodeTypeGraph,
  hipGraphNodeTypeEmpty,
  hipGraphNodeTypeWaitEvent,
  hipGraphNodeTypeEventRecord,
  hipGraphNodeTypeExtSemaphoreSignal = 8,
  hipGraphNodeTypeExtSemaphoreWait = 9,
  hipGraphNodeTypeMemAlloc = 10,
  hipGraphNodeTypeMemFree = 11,
  hipGraphNodeTypeBatchMemOp = 14,
} hipGraphNodeType;

typedef struct hipKernelNodeParams {
  dim3 blockDim;
  void **extra;
  void *func;
  dim3 gridDim;
  void **kernelParams;
  unsigned sharedMemBytes;
} hipKernelNodeParams;
typedef struct hipMemsetParams {
  void *dst;
  unsigned elementSize;           /* 1, 2 or 4 */
  size_t height, pitch;
  unsigned value;
  size_t width;                   /* elements */
} hipMemsetParams;
typedef struct hipHostNodeParams { hipHostFn_t fn; void *userData; } hipHostNodeParams;
typedef struct hipGraphInstantiateParams {
  hipGraphNode_t errNode_out;
  unsigned long long flags;
  unsigned result_out;
  hipStream_t uploadStream;
} hipGraphInstantiateParams;
typedef enum hipGraphExecUpdateResult {
  hipGraphExecUpdateSuccess = 0,
  hipGraphExecUpdateError,
  hipGraphExecUpdateErrorTopologyChanged,
  hipGraphExecUpdateErrorNodeTypeChanged,
  hipGraphExecUpdateErrorFunctionChanged,
  hipGraphExecUpdateErrorParametersChanged,
  hipGraphExecUpdateErrorNotSupported,
} hipGraphExecUpdateResult;
typedef struct hipGraphEdgeData { unsigned char from_port, reserved[5], to_port, type; } hipGraphEdgeData;
typedef enum hipStreamCaptureMode {
  hipStreamCaptureModeGlobal = 0, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed,
} hipStreamCaptureMode;
typedef enum hipStreamCaptureStatus {
  hipStreamCaptureStatusNone = 0, hipStreamCaptureStatusActive, hipStreamCaptureStatusInvalidated,
} hipStreamCaptureStatus;
#endif
