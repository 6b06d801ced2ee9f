/* Functions for programs of older HIP versions: other layouts, other names. */
#define _GNU_SOURCE
#include <string.h>

#include "hip_state.h"

#define EXPORT __attribute__((visibility("default")))
hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t *prop, int device);
hipError_t hipChooseDeviceR0000(int *device, const hipDeviceProp_t *prop);

/* HIP 5's properties of a device. */
struct hipDeviceProp_t {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, memoryClockRate;
  int memoryBusWidth;
  size_t totalConstMem;
  int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, computeMode, clockInstructionRate;
  hipDeviceArch_t arch;
  int concurrentKernels, pciDomainID, pciBusID, pciDeviceID;
  size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard, canMapHostMemory, gcnArch;
  char gcnArchName[256];
  int integrated, cooperativeLaunch, cooperativeMultiDeviceLaunch, maxTexture1DLinear, maxTexture1D, maxTexture2D[2];
  int maxTexture3D[3];
  unsigned *hdpMemFlushCntl, *hdpRegFlushCntl;
  size_t memPitch, textureAlignment, texturePitchAlignment;
  int kernelExecTimeoutEnabled, ECCEnabled, tccDriver, cooperativeMultiDeviceUnmatchedFunc;
  int cooperativeMultiDeviceUnmatchedGridDim, cooperativeMultiDeviceUnmatchedBlockDim;
  int cooperativeMultiDeviceUnmatchedSharedMem, isLargeBar, asicRevision, managedMemory;
  int directManagedMemAccessFromHost, concurrentManagedAccess, pageableMemoryAccess;
  int pageableMemoryAccessUsesHostPageTables;
};
#define AT(field, offset) (__builtin_offsetof(struct hipDeviceProp_t, field) == (offset))
_Static_assert(AT(arch, 356) && AT(gcnArchName, 396) && AT(hdpMemFlushCntl, 696) && AT(memPitch, 712) &&
               AT(pageableMemoryAccessUsesHostPageTables, 788), "as in HIP 5's headers");

/* Fields with the same name and type in both. */
#define SAME(F)                                                                                              \
  F(totalGlobalMem) F(sharedMemPerBlock) F(regsPerBlock) F(warpSize) F(maxThreadsPerBlock) F(clockRate)      \
  F(memoryClockRate) F(memoryBusWidth) F(totalConstMem) F(major) F(minor) F(multiProcessorCount)             \
  F(l2CacheSize) F(maxThreadsPerMultiProcessor) F(computeMode) F(clockInstructionRate) F(arch)               \
  F(concurrentKernels) F(pciDomainID) F(pciBusID) F(pciDeviceID) F(maxSharedMemoryPerMultiProcessor)         \
  F(isMultiGpuBoard) F(canMapHostMemory) F(integrated) F(cooperativeLaunch) F(cooperativeMultiDeviceLaunch)  \
  F(maxTexture1DLinear) F(maxTexture1D) F(memPitch) F(textureAlignment) F(texturePitchAlignment)             \
  F(kernelExecTimeoutEnabled) F(ECCEnabled) F(tccDriver) F(isLargeBar) F(asicRevision) F(managedMemory)      \
  F(directManagedMemAccessFromHost) F(concurrentManagedAccess) F(pageableMemoryAccess)                       \
  F(pageableMemoryAccessUsesHostPageTables)

EXPORT hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t *p, int device) {
  hipDeviceProp_tR0600 now;
  if (!p) return done(hipErrorInvalidValue);
  hipError_t error = hipGetDevicePropertiesR0600(&now, device);
  if (error != hipSuccess) return error;
  memset(p, 0, sizeof *p);
  memcpy(p->name, now.name, sizeof p->name);
  memcpy(p->gcnArchName, now.gcnArchName, sizeof p->gcnArchName);
  memcpy(p->maxThreadsDim, now.maxThreadsDim, sizeof p->maxThreadsDim);
  memcpy(p->maxGridSize, now.maxGridSize, sizeof p->maxGridSize);
  memcpy(p->maxTexture2D, now.maxTexture2D, sizeof p->maxTexture2D);
  memcpy(p->maxTexture3D, now.maxTexture3D, sizeof p->maxTexture3D);
#define F(field) p->field = now.field;
  SAME(F)
#undef F
  return hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t *p, int device) { return hipGetDevicePropertiesR0000(p, device); }

/* All devices match equally well: returns the first. */
hipError_t hipChooseDeviceR0600(int *device, const hipDeviceProp_tR0600 *p) {
  ENTER();
  if (!device || !p) return done(hipErrorInvalidValue);
  if (!hip_device_count) return done(hipErrorNoDevice);
  *device = 0;
  return hipSuccess;
}
EXPORT hipError_t hipChooseDeviceR0000(int *device, const hipDeviceProp_t *p) {
  return hipChooseDeviceR0600(device, (const hipDeviceProp_tR0600 *)p);
}
hipError_t hipChooseDevice(int *device, const hipDeviceProp_t *p) { return hipChooseDeviceR0000(device, p); }

/* ROCm 5's libraries call the launch function by its C++ name; the older form lacks the flags. */
EXPORT hipError_t ext_launch(hipFunction_t f, uint32_t globalX, uint32_t globalY, uint32_t globalZ, uint32_t localX,
                             uint32_t localY, uint32_t localZ, size_t shared, hipStream_t stream, void **params,
                             void **extra, hipEvent_t start, hipEvent_t stop, uint32_t flags)
    __asm__("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j");
EXPORT hipError_t hcc_launch(hipFunction_t f, uint32_t globalX, uint32_t globalY, uint32_t globalZ, uint32_t localX,
                             uint32_t localY, uint32_t localZ, size_t shared, hipStream_t stream, void **params,
                             void **extra, hipEvent_t start, hipEvent_t stop)
    __asm__("_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_");
EXPORT hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalX, uint32_t globalY, uint32_t globalZ,
                                           uint32_t localX, uint32_t localY, uint32_t localZ, size_t shared,
                                           hipStream_t stream, void **params, void **extra, hipEvent_t start,
                                           hipEvent_t stop);

hipError_t ext_launch(hipFunction_t f, uint32_t globalX, uint32_t globalY, uint32_t globalZ, uint32_t localX,
                      uint32_t localY, uint32_t localZ, size_t shared, hipStream_t stream, void **params, void **extra,
                      hipEvent_t start, hipEvent_t stop, uint32_t flags) {
  return hipExtModuleLaunchKernel(f, globalX, globalY, globalZ, localX, localY, localZ, shared, stream, params, extra,
                                  start, stop, flags);
}
hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalX, uint32_t globalY, uint32_t globalZ,
                                    uint32_t localX, uint32_t localY, uint32_t localZ, size_t shared,
                                    hipStream_t stream, void **params, void **extra, hipEvent_t start, hipEvent_t stop) {
  return ext_launch(f, globalX, globalY, globalZ, localX, localY, localZ, shared, stream, params, extra, start, stop, 0);
}
hipError_t hcc_launch(hipFunction_t f, uint32_t globalX, uint32_t globalY, uint32_t globalZ, uint32_t localX,
                      uint32_t localY, uint32_t localZ, size_t shared, hipStream_t stream, void **params, void **extra,
                      hipEvent_t start, hipEvent_t stop) {
  return ext_launch(f, globalX, globalY, globalZ, localX, localY, localZ, shared, stream, params, extra, start, stop, 0);
}
