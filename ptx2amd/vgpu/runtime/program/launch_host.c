/* Launches and occupancy of kernels by their host functions. */
#include "hip_state.h"

/* The configuration in <<<>>>, until the kernel's host function reads it. Arguments of a launch may contain launches.
 * */
struct configuration { dim3 grid, block; size_t shared; hipStream_t stream; };
enum { DEPTH = 64, ARGUMENT_BYTES = 4096 };
static __thread struct configuration pushed[DEPTH];
static __thread int depth;
/* Arguments of hipSetupArgument, the interface before <<<>>>: a buffer. */
static __thread struct { char bytes[ARGUMENT_BYTES]; size_t size; } arguments;

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  if (depth == DEPTH) return done(hipErrorLaunchOutOfResources);
  pushed[depth++] = (struct configuration){grid, block, shared, stream};
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, hipStream_t *stream) {
  if (!depth) return done(hipErrorMissingConfiguration);
  struct configuration c = pushed[--depth];
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *stream = c.stream;
  return hipSuccess;
}

/* A launch uses its stream's device, whichever is current. */
static struct device *device_for(hipStream_t handle) {
  stream *s = stream_resolve(handle);
  return s ? s->device : NULL;
}

static hipError_t launch(struct op *op, const void *host, dim3 grid, dim3 block, void **args, void **extra,
                         size_t shared, hipStream_t stream) {
  struct device *d = device_for(stream);
  function *f;
  if (!d) return done(hipErrorInvalidHandle);
  if (shared > UINT32_MAX) return done(hipErrorInvalidValue);
  hipError_t error = function_of(host, d, &f);
  if (error != hipSuccess) return done(error);
  const unsigned grids[] = {grid.x, grid.y, grid.z}, blocks[] = {block.x, block.y, block.z};
  if (op->launch.cooperative) return launch_cooperative(f, grids, blocks, (unsigned)shared, stream, args, extra);
  return launch_submit(op, f, grids, blocks, (unsigned)shared, stream, args, extra);
}

hipError_t hipLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, hipStream_t stream) {
  ENTER();
  struct op op = {.kind = OP_KERNEL};
  return launch(&op, host, grid, block, args, NULL, shared, stream);
}

hipError_t hipLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **args, unsigned shared,
                                      hipStream_t stream) {
  ENTER();
  struct op op = {.kind = OP_KERNEL, .launch = {.cooperative = true}};
  return launch(&op, host, grid, block, args, NULL, shared, stream);
}

hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *c, const void *host, void **args) {
  ENTER();
  if (!c || (c->numAttrs && !c->attrs)) return done(hipErrorInvalidValue);
  struct op op = {.kind = OP_KERNEL, .launch = {.cooperative = wants_cooperation(c->attrs, c->numAttrs)}};
  return launch(&op, host, c->gridDim, c->blockDim, args, NULL, c->dynamicSmemBytes, c->stream);
}

hipError_t hipExtLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t shared, hipStream_t stream,
                              hipEvent_t start, hipEvent_t stop, int flags) {
  ENTER();
  (void)flags;
  hipError_t error = start ? hipEventRecord(start, stream) : hipSuccess;
  if (error == hipSuccess) error = hipLaunchKernel(host, grid, block, args, shared, stream);
  return error == hipSuccess && stop ? hipEventRecord(stop, stream) : error;
}

hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  arguments.size = 0;
  return __hipPushCallConfiguration(grid, block, shared, stream);
}

hipError_t hipSetupArgument(const void *argument, size_t size, size_t offset) {
  if (!depth) return done(hipErrorMissingConfiguration);
  if (!argument || offset > sizeof arguments.bytes || size > sizeof arguments.bytes - offset)
    return done(hipErrorInvalidValue);
  __builtin_memcpy(arguments.bytes + offset, argument, size);
  if (offset + size > arguments.size) arguments.size = offset + size;
  return hipSuccess;
}

hipError_t hipLaunchByPtr(const void *host) {
  ENTER();
  enum { BUFFER = 1, BUFFER_SIZE = 2, END = 3 };
  struct configuration c;
  hipError_t error = __hipPopCallConfiguration(&c.grid, &c.block, &c.shared, &c.stream);
  if (error != hipSuccess) return error;
  void *extra[] = {(void *)BUFFER, arguments.bytes, (void *)BUFFER_SIZE, &arguments.size, (void *)END};
  struct op op = {.kind = OP_KERNEL};
  return launch(&op, host, c.grid, c.block, NULL, extra, c.shared, c.stream);
}

hipError_t hipGetFuncBySymbol(hipFunction_t *f, const void *host) {
  ENTER();
  return done(f ? function_of(host, device_current(), f) : hipErrorInvalidValue);
}

/* The stream's device; the current one for the null stream and for unknown streams. */
int hipGetStreamDeviceId(hipStream_t handle) {
  if (hip_ready() != hipSuccess) return -1;
  struct device *d = device_for(handle);
  return d ? d->ordinal : device_current()->ordinal;
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int block, size_t shared) {
  ENTER();
  function *f;
  hipError_t error = function_of(host, device_current(), &f);
  return error == hipSuccess ? hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, block, shared)
                             : done(error);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int block,
                                                                 size_t shared, unsigned flags) {
  ENTER();
  if (flags > 1) return done(hipErrorInvalidValue);
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, block, shared);
}

hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *host, size_t shared, int limit) {
  ENTER();
  function *f;
  hipError_t error = function_of(host, device_current(), &f);
  return error == hipSuccess ? hipModuleOccupancyMaxPotentialBlockSize(grid, block, f, shared, limit) : done(error);
}
