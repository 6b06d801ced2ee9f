/* What compiled HIP programs bring along and call: kernels and variables behind host symbols. Written so that cffi reads
 * it too. */
#ifndef PTX2AMD_VGPU_PROGRAM_H
#define PTX2AMD_VGPU_PROGRAM_H
#include "hip_types.h"
#include <stdbool.h>
#pragma GCC visibility push(default)

/* Ours: of the library with that major version's soname, which is in front of this one (vgpu/dropin). */
void ptx2amd_vgpu_stand_for(int major);
/* Says once that a function is not supported; hipErrorNotSupported. */
int ptx2amd_vgpu_not_supported(const char *function, bool *said);

/* Registration, from the constructors that the compiler puts into a program */
void **__hipRegisterFatBinary(const void *wrapper);
void __hipUnregisterFatBinary(void **binary);
void __hipRegisterFunction(void **binary, const void *host, char *device_name, const char *name, unsigned threads,
                           void *tid, void *bid, dim3 *block, dim3 *grid, int *wave_size);
void __hipRegisterVar(void **binary, void *host, char *host_name, char *name, int external, size_t size, int constant,
                      int global);
void __hipRegisterManagedVar(void *binary, void **pointer, void *initial, const char *name, size_t size,
                             unsigned alignment);
void __hipRegisterTexture(void **binary, void *host, char *host_name, char *name, int type, int normalized,
                          int external);
void __hipRegisterSurface(void **binary, void *host, char *host_name, char *name, int type, int external);

/* Launches by host function */
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared, hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, hipStream_t *stream);
hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared, hipStream_t stream);
hipError_t hipSetupArgument(const void *argument, size_t size, size_t offset);
hipError_t hipLaunchByPtr(const void *host);
hipError_t hipLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, hipStream_t stream);
hipError_t hipExtLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, hipStream_t stream,
                              hipEvent_t start, hipEvent_t stop, int flags);
hipError_t hipLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **args, unsigned shared,
                                      hipStream_t stream);
hipError_t hipGetFuncBySymbol(hipFunction_t *f, const void *host);
const char *hipKernelNameRefByPtr(const void *host, hipStream_t stream);
int hipGetStreamDeviceId(hipStream_t stream);
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int block, size_t shared);
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int block,
                                                                 size_t shared, unsigned flags);
hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *host, size_t shared, int limit);

/* Variables by host symbol */
hipError_t hipGetSymbolAddress(void **address, const void *symbol);
hipError_t hipGetSymbolSize(size_t *size, const void *symbol);
hipError_t hipMemcpyToSymbol(const void *symbol, const void *src, size_t size, size_t offset, hipMemcpyKind kind);
hipError_t hipMemcpyFromSymbol(void *dst, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind);
hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *src, size_t size, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream);
hipError_t hipMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream);

#pragma GCC visibility pop
#endif
