/* Device properties and attributes. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "hip_state.h"

#define MAX_THREADS_PER_BLOCK 1024
#define MAX_GRID_X INT_MAX
#define MAX_GRID_YZ 65535       /* within CUDA's and HIP's limits; the packet's 32 bits of work-items are checked at
                                 * launch */
#define CONSTANT_BYTES INT_MAX  /* constant memory is plain memory */
#define REGISTERS 65536
#define WALL_CLOCK_KHZ 100000

static int threads_per_processor(const struct device *d) {
  return d->chip->simds * d->chip->waves_per_simd * d->arch->default_wave;
}

static int registers_per_processor(const struct device *d) {
  return d->chip->simds * d->chip->vgprs_per_simd * d->arch->default_wave;
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *p, int device) {
  ENTER();
  struct device *d = device_at(device);
  if (!p) return done(hipErrorInvalidValue);
  if (!d) return done(hipErrorInvalidDevice);
  const struct chip *chip = d->chip;
  const struct arch *arch = d->arch;
  memset(p, 0, sizeof *p);
  snprintf(p->name, sizeof p->name, "%s", chip->name);
  snprintf(p->gcnArchName, sizeof p->gcnArchName, "%s", chip->target);
  p->uuid = d->uuid;
  p->totalGlobalMem = d->total_memory;
  p->sharedMemPerBlock = p->sharedMemPerBlockOptin = arch->lds_bytes;
  p->sharedMemPerMultiprocessor = p->maxSharedMemoryPerMultiProcessor = arch->lds_bytes;
  p->regsPerBlock = REGISTERS;
  p->regsPerMultiprocessor = registers_per_processor(d);
  p->warpSize = arch->default_wave;
  p->memPitch = INT_MAX;
  p->maxThreadsPerBlock = MAX_THREADS_PER_BLOCK;
  for (int k = 0; k < 3; k++) p->maxThreadsDim[k] = MAX_THREADS_PER_BLOCK;
  p->maxGridSize[0] = MAX_GRID_X;
  p->maxGridSize[1] = p->maxGridSize[2] = MAX_GRID_YZ;
  p->clockRate = chip->clock_khz;
  p->clockInstructionRate = WALL_CLOCK_KHZ;
  p->totalConstMem = CONSTANT_BYTES;
  p->major = chip->major;
  p->minor = chip->minor;
  p->textureAlignment = p->texturePitchAlignment = p->surfaceAlignment = 256;
  p->deviceOverlap = 1;
  p->asyncEngineCount = 2;
  p->multiProcessorCount = (int)arch->compute_units;
  p->canMapHostMemory = 1;
  p->concurrentKernels = 1;
  p->pciDomainID = 0x7a2a;
  p->pciBusID = 1 + device;
  p->unifiedAddressing = 1;
  p->memoryClockRate = chip->memory_clock_khz;
  p->memoryBusWidth = chip->memory_bus_bits;
  p->l2CacheSize = chip->l2_bytes;
  p->maxThreadsPerMultiProcessor = threads_per_processor(d);
  p->streamPrioritiesSupported = 1;
  p->globalL1CacheSupported = p->localL1CacheSupported = 1;
  p->managedMemory = p->concurrentManagedAccess = p->directManagedMemAccessFromHost = 1;
  p->hostNativeAtomicSupported = 1;
  p->singleToDoublePrecisionPerfRatio = arch->default_wave == 64 ? 2 : 32;
  p->canUseHostPointerForRegisteredMem = p->hostRegisterSupported = 1;
  p->cooperativeLaunch = 1;
  p->maxBlocksPerMultiProcessor = chip->simds * chip->waves_per_simd;
  p->memoryPoolsSupported = 1;
  p->memoryPoolSupportedHandleTypes = hipMemHandleTypePosixFileDescriptor;
  p->isLargeBar = 1;
  p->arch = (hipDeviceArch_t){
      .hasGlobalInt32Atomics = 1, .hasGlobalFloatAtomicExch = 1, .hasSharedInt32Atomics = 1,
      .hasSharedFloatAtomicExch = 1, .hasFloatAtomicAdd = 1, .hasGlobalInt64Atomics = 1, .hasSharedInt64Atomics = 1,
      .hasDoubles = 1, .hasWarpVote = 1, .hasWarpBallot = 1, .hasWarpShuffle = 1, .hasThreadFenceSystem = 1,
      .hasSyncThreadsExt = 1, .has3dGrid = 1,
  };
  return hipSuccess;
}

/* Attributes that equal a field of the properties: (attribute, field). */
#define FIELDS(F)                                                                      \
  F(EccEnabled, ECCEnabled) F(AccessPolicyMaxWindowSize, accessPolicyMaxWindowSize)    \
  F(AsyncEngineCount, asyncEngineCount) F(CanMapHostMemory, canMapHostMemory)          \
  F(CanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem)              \
  F(ClockRate, clockRate) F(ComputeMode, computeMode)                                  \
  F(ComputePreemptionSupported, computePreemptionSupported)                            \
  F(ConcurrentKernels, concurrentKernels) F(ConcurrentManagedAccess, concurrentManagedAccess) \
  F(CooperativeLaunch, cooperativeLaunch)                                              \
  F(CooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch)                        \
  F(DeviceOverlap, deviceOverlap)                                                      \
  F(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost)                    \
  F(GlobalL1CacheSupported, globalL1CacheSupported)                                    \
  F(HostNativeAtomicSupported, hostNativeAtomicSupported) F(Integrated, integrated)    \
  F(IsMultiGpuBoard, isMultiGpuBoard) F(KernelExecTimeout, kernelExecTimeoutEnabled)   \
  F(L2CacheSize, l2CacheSize) F(LocalL1CacheSupported, localL1CacheSupported)          \
  F(LuidDeviceNodeMask, luidDeviceNodeMask) F(ComputeCapabilityMajor, major)           \
  F(ManagedMemory, managedMemory) F(MaxBlocksPerMultiProcessor, maxBlocksPerMultiProcessor) \
  F(MaxBlockDimX, maxThreadsDim[0]) F(MaxBlockDimY, maxThreadsDim[1])                  \
  F(MaxBlockDimZ, maxThreadsDim[2]) F(MaxGridDimX, maxGridSize[0])                     \
  F(MaxGridDimY, maxGridSize[1]) F(MaxGridDimZ, maxGridSize[2])                        \
  F(MaxSurface1D, maxSurface1D) F(MaxSurface1DLayered, maxSurface1DLayered[0])         \
  F(MaxSurface2D, maxSurface2D[0]) F(MaxSurface2DLayered, maxSurface2DLayered[0])      \
  F(MaxSurface3D, maxSurface3D[0]) F(MaxSurfaceCubemap, maxSurfaceCubemap)             \
  F(MaxSurfaceCubemapLayered, maxSurfaceCubemapLayered[0])                             \
  F(MaxTexture1DWidth, maxTexture1D) F(MaxTexture1DLayered, maxTexture1DLayered[0])    \
  F(MaxTexture1DLinear, maxTexture1DLinear) F(MaxTexture1DMipmap, maxTexture1DMipmap)  \
  F(MaxTexture2DWidth, maxTexture2D[0]) F(MaxTexture2DHeight, maxTexture2D[1])         \
  F(MaxTexture2DGather, maxTexture2DGather[0]) F(MaxTexture2DLayered, maxTexture2DLayered[0]) \
  F(MaxTexture2DLinear, maxTexture2DLinear[0]) F(MaxTexture2DMipmap, maxTexture2DMipmap[0]) \
  F(MaxTexture3DWidth, maxTexture3D[0]) F(MaxTexture3DHeight, maxTexture3D[1])         \
  F(MaxTexture3DDepth, maxTexture3D[2]) F(MaxTexture3DAlt, maxTexture3DAlt[0])         \
  F(MaxTextureCubemap, maxTextureCubemap)                                              \
  F(MaxTextureCubemapLayered, maxTextureCubemapLayered[0])                             \
  F(MaxThreadsDim, maxThreadsDim[0]) F(MaxThreadsPerBlock, maxThreadsPerBlock)         \
  F(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor) F(MaxPitch, memPitch)    \
  F(MemoryBusWidth, memoryBusWidth) F(MemoryClockRate, memoryClockRate)                \
  F(ComputeCapabilityMinor, minor) F(MultiGpuBoardGroupID, multiGpuBoardGroupID)       \
  F(MultiprocessorCount, multiProcessorCount) F(PageableMemoryAccess, pageableMemoryAccess) \
  F(PageableMemoryAccessUsesHostPageTables, pageableMemoryAccessUsesHostPageTables)    \
  F(PciBusId, pciBusID) F(PciDeviceId, pciDeviceID) F(PciDomainId, pciDomainID)        \
  F(PersistingL2CacheMaxSize, persistingL2CacheMaxSize) F(MaxRegistersPerBlock, regsPerBlock) \
  F(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)                              \
  F(ReservedSharedMemPerBlock, reservedSharedMemPerBlock)                              \
  F(MaxSharedMemoryPerBlock, sharedMemPerBlock) F(SharedMemPerBlockOptin, sharedMemPerBlockOptin) \
  F(SharedMemPerMultiprocessor, sharedMemPerMultiprocessor)                            \
  F(SingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio)                \
  F(StreamPrioritiesSupported, streamPrioritiesSupported) F(SurfaceAlignment, surfaceAlignment) \
  F(TccDriver, tccDriver) F(TextureAlignment, textureAlignment)                        \
  F(TexturePitchAlignment, texturePitchAlignment) F(TotalConstantMemory, totalConstMem) \
  F(TotalGlobalMem, totalGlobalMem) F(UnifiedAddressing, unifiedAddressing) F(WarpSize, warpSize) \
  F(MemoryPoolsSupported, memoryPoolsSupported) F(HostRegisterSupported, hostRegisterSupported) \
  F(MemoryPoolSupportedHandleTypes, memoryPoolSupportedHandleTypes)                    \
  F(ClockInstructionRate, clockInstructionRate)                                        \
  F(MaxSharedMemoryPerMultiprocessor, maxSharedMemoryPerMultiProcessor)                \
  F(CooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedFunc)          \
  F(CooperativeMultiDeviceUnmatchedGridDim, cooperativeMultiDeviceUnmatchedGridDim)    \
  F(CooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedBlockDim)  \
  F(CooperativeMultiDeviceUnmatchedSharedMem, cooperativeMultiDeviceUnmatchedSharedMem) \
  F(IsLargeBar, isLargeBar) F(AsicRevision, asicRevision)                              \
  F(PhysicalMultiProcessorCount, multiProcessorCount)

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
  ENTER();
  struct device *d = device_at(device);
  if (!value) return done(hipErrorInvalidValue);
  if (!d) return done(hipErrorInvalidDevice);
  hipDeviceProp_tR0600 p;
  hipGetDevicePropertiesR0600(&p, device);
  unsigned long long v;
  switch (attribute) {
#define F(name, field) case hipDeviceAttribute##name: v = (unsigned long long)p.field; break;
    FIELDS(F)
#undef F
    case hipDeviceAttributeVirtualMemoryManagementSupported:
    case hipDeviceAttributeCanUseStreamWaitValue:
    case hipDeviceAttributeFineGrainSupport:
    case hipDeviceAttributeNumberOfXccs: v = 1; break;
    case hipDeviceAttributeImageSupport: v = 0; break;
    case hipDeviceAttributeWallClockRate: v = WALL_CLOCK_KHZ; break;
    case hipDeviceAttributeMaxAvailableVgprsPerThread: v = d->arch->unified_vgprs ? 512 : 256; break;
    case hipDeviceAttributePciChipId: v = (unsigned)d->chip->pci_device_id; break;
    /* Addresses of registers that flush what others wrote over PCIe, which there is nothing of. */
    case hipDeviceAttributeHdpMemFlushCntl:
    case hipDeviceAttributeHdpRegFlushCntl: memset(value, 0, sizeof(void *)); return done(hipSuccess);
    default: return done(hipErrorInvalidValue);
  }
  *value = v > INT_MAX ? INT_MAX : (int)v;
  return hipSuccess;
}
