/* Kernel launches and occupancy. */
#include <string.h>

#include "hip_state.h"
#include "hostcall.h"

#define MAX_BLOCK 1024u

/* Keys of a launch's `extra` list. */
enum { LAUNCH_END_CUDA = 0, LAUNCH_BUFFER = 1, LAUNCH_BUFFER_SIZE = 2, LAUNCH_END = 3 };

static bool extra_buffer(void **extra, const void **buffer, size_t *size) {
  *buffer = NULL;
  *size = SIZE_MAX;
  for (int k = 0; k < 8; k += 2) {
    switch ((uintptr_t)extra[k]) {
      case LAUNCH_END_CUDA:
      case LAUNCH_END: return *buffer && *size != SIZE_MAX;
      case LAUNCH_BUFFER: *buffer = extra[k + 1]; break;
      case LAUNCH_BUFFER_SIZE:
        if (!extra[k + 1]) return false;
        *size = *(size_t *)extra[k + 1];
        break;
      default: return false;
    }
  }
  return false;
}

/* A word of the hidden arguments. */
static uint64_t hidden_value(const struct kernel_arg *arg, const struct launch *l) {
  const uint32_t *grid = l->grid, *block = l->block, *last = l->last_block;
  switch (arg->kind) {
    case ARG_BLOCK_COUNT_X:
    case ARG_BLOCK_COUNT_Y:
    case ARG_BLOCK_COUNT_Z: {     /* number of complete workgroups */
      int d = (int)arg->kind - ARG_BLOCK_COUNT_X;
      return grid[d] - (last[d] ? 1 : 0);
    }
    case ARG_GROUP_SIZE_X:
    case ARG_GROUP_SIZE_Y:
    case ARG_GROUP_SIZE_Z: return block[arg->kind - ARG_GROUP_SIZE_X];
    case ARG_REMAINDER_X:
    case ARG_REMAINDER_Y:
    case ARG_REMAINDER_Z: return last[arg->kind - ARG_REMAINDER_X];
    case ARG_GRID_DIMS: return grid[2] > 1 || block[2] > 1 ? 3 : grid[1] > 1 || block[1] > 1 ? 2 : 1;
    case ARG_DYNAMIC_LDS_SIZE: return l->shared;
    case ARG_PRIVATE_BASE: return PRIVATE_APERTURE;
    case ARG_SHARED_BASE: return SHARED_APERTURE;
    case ARG_HOSTCALL_BUFFER: return hostcall_buffer();
    case ARG_HEAP: return device_heap(l->function->device);
    default: return 0;
  }
}

/* Memory behind the arguments in which the blocks of a cooperative launch count each other, in the format of the device
 * libraries of ROCm 5 to 7. */
struct grid_sync {
  uint64_t between_grids;
  uint32_t grid, grids;           /* for launches on several devices, which are not supported */
  uint64_t threads_before, threads;
  uint32_t counters[2];
  uint32_t blocks, pad;
};
static size_t grid_sync_at(const struct kernel_info *k) { return (k->kernarg_size + 15u) & ~(size_t)15; }

struct kernarg *launch_args_new(const struct launch *l) {
  const struct kernel_info *k = l->function->kernel;
  return kernarg_new(l->cooperative ? grid_sync_at(k) + sizeof(struct grid_sync) : k->kernarg_size);
}

void launch_args_bind(const struct launch *l) {
  const struct kernel_info *k = l->function->kernel;
  if (!l->cooperative) return;
  struct grid_sync *sync = (struct grid_sync *)(l->args->address + grid_sync_at(k));
  *sync = (struct grid_sync){.blocks = l->grid[0] * l->grid[1] * l->grid[2], .grids = 1};
  uint64_t address = (uint64_t)sync;
  for (uint32_t n = k->explicit_count; n < k->arg_count; n++)
    if (k->args[n].kind == ARG_GRID_SYNC && k->args[n].size == sizeof address)
      memcpy((char *)l->args->address + k->args[n].offset, &address, sizeof address);
}

static void fill_hidden(uint8_t *args, const struct kernel_info *k, const struct launch *l) {
  for (uint32_t n = k->explicit_count; n < k->arg_count; n++) {
    const struct kernel_arg *arg = &k->args[n];
    uint64_t value = hidden_value(arg, l);
    if (value) memcpy(args + arg->offset, &value, arg->size < sizeof value ? arg->size : sizeof value);
  }
  launch_args_bind(l);
}

static hipError_t pack(struct launch *l, const struct kernel_info *k, void **params, void **extra) {
  l->args = launch_args_new(l);
  if (!l->args) return hipErrorOutOfMemory;
  uint8_t *args = (uint8_t *)l->args->address;
  memset(args, 0, k->kernarg_size);
  if (extra && !params) {
    const void *buffer;
    size_t size;
    if (!extra_buffer(extra, &buffer, &size)) return hipErrorInvalidValue;
    /* It may be longer than the segment: Tensile rounds it up. */
    memcpy(args, buffer, size < k->explicit_size ? size : k->explicit_size);
  } else {
    if ((k->explicit_count && !params) || (!k->has_args && k->kernarg_size)) return hipErrorInvalidValue;
    for (uint32_t n = 0; n < k->explicit_count; n++) {
      if (!params[n]) return hipErrorInvalidValue;
      memcpy(args + k->args[n].offset, params[n], k->args[n].size);
    }
  }
  fill_hidden(args, k, l);
  return hipSuccess;
}

static hipError_t check(const function *f, const unsigned grid[3], const unsigned block[3], unsigned shared) {
  const struct kernel_info *k = f->kernel;
  uint64_t threads = 1;
  for (int d = 0; d < 3; d++) {
    if (!grid[d] || !block[d]) return hipErrorInvalidValue;
    if (block[d] > MAX_BLOCK || (uint64_t)grid[d] * block[d] > UINT32_MAX) return hipErrorInvalidConfiguration;
    if (k->required_block[d] && k->required_block[d] != block[d]) return hipErrorInvalidConfiguration;
    threads *= block[d];
  }
  if (threads > MAX_BLOCK) return hipErrorInvalidConfiguration;
  if (threads > k->max_flat) {
    complain("a block of %llu threads is too large for kernel %s, compiled for at most %u",
             (unsigned long long)threads, k->name, k->max_flat);
    return hipErrorLaunchOutOfResources;
  }
  if ((uint64_t)k->group_size + shared > f->device->arch->lds_bytes) return hipErrorLaunchOutOfResources;
  if (!occupancy(f, (unsigned)threads, shared)) {
    complain("a block of %llu threads with %u registers each, of kernel %s, does not fit a multiprocessor",
             (unsigned long long)threads, k->vgprs, k->name);
    return hipErrorLaunchOutOfResources;
  }
  return hipSuccess;
}

hipError_t launch_prepare(struct launch *l, function *f, const unsigned grid[3], const unsigned block[3],
                          unsigned shared, void **params, void **extra) {
  if (!handle_ok(&function_class, f)) return hipErrorInvalidHandle;
  hipError_t error = check(f, grid, block, shared);
  if (error != hipSuccess) return error;
  l->function = f;
  l->generation = f->handle.generation;
  for (int d = 0; d < 3; d++) {
    l->grid[d] = grid[d];
    l->block[d] = block[d];
  }
  l->shared = shared;
  error = pack(l, f->kernel, params, extra);
  if (error != hipSuccess) {
    kernarg_release(l->args);
    l->args = NULL;
  }
  return error;
}

hipError_t launch_submit(struct op *op, function *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                         hipStream_t handle, void **params, void **extra) {
  stream *s = stream_resolve(handle);
  if (!s || !handle_ok(&function_class, f)) return done(hipErrorInvalidHandle);
  if (f->device != s->device) return done(hipErrorInvalidHandle);
  hipError_t error = device_error(s->device);
  if (error == hipSuccess) error = launch_prepare(&op->launch, f, grid, block, shared, params, extra);
  if (error != hipSuccess) return done(error);
  error = stream_submit(s, op, NULL);
  if (error != hipSuccess) kernarg_release(op->launch.args);
  return done(error);
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                 unsigned blockY, unsigned blockZ, unsigned shared, hipStream_t stream,
                                 void **params, void **extra) {
  ENTER();
  struct op op = {.kind = OP_KERNEL};
  return launch_submit(&op, f, (unsigned[]){gridX, gridY, gridZ}, (unsigned[]){blockX, blockY, blockZ}, shared, stream,
                params, extra);
}

/* All workgroups of a cooperative launch must be resident at once, according to the chip's occupancy; the engine itself
 * can run any number concurrently. */
static hipError_t cooperative_fits(const function *f, const unsigned grid[3], const unsigned block[3],
                                   unsigned shared) {
  if (!handle_ok(&function_class, f)) return hipErrorInvalidHandle;
  uint64_t threads = (uint64_t)block[0] * block[1] * block[2], blocks = (uint64_t)grid[0] * grid[1] * grid[2];
  if (!threads || threads > MAX_BLOCK) return hipErrorInvalidConfiguration;
  uint64_t limit = (uint64_t)occupancy(f, (unsigned)threads, shared) * f->device->arch->compute_units;
  return blocks > limit ? hipErrorCooperativeLaunchTooLarge : hipSuccess;
}

hipError_t launch_cooperative(function *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                                     hipStream_t stream, void **params, void **extra) {
  struct op op = {.kind = OP_KERNEL, .launch = {.cooperative = true}};
  hipError_t error = cooperative_fits(f, grid, block, shared);
  return error == hipSuccess ? launch_submit(&op, f, grid, block, shared, stream, params, extra) : done(error);
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gridX, unsigned gridY, unsigned gridZ,
                                            unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                                            hipStream_t stream, void **params) {
  ENTER();
  return launch_cooperative(f, (unsigned[]){gridX, gridY, gridZ}, (unsigned[]){blockX, blockY, blockZ}, shared,
                            stream, params, NULL);
}

bool wants_cooperation(const hipLaunchAttribute *attributes, unsigned count) {
  enum { COOPERATIVE = 2 };
  for (unsigned k = 0; k < count; k++)
    if (attributes[k].id == COOPERATIVE && attributes[k].val.cooperative) return true;
  return false;
}

hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *c, hipFunction_t f, void **params, void **extra) {
  ENTER();
  if (!c || (c->numAttrs && !c->attrs)) return done(hipErrorInvalidValue);
  const unsigned grid[] = {c->gridDimX, c->gridDimY, c->gridDimZ}, block[] = {c->blockDimX, c->blockDimY, c->blockDimZ};
  if (wants_cooperation(c->attrs, c->numAttrs)) return launch_cooperative(f, grid, block, c->sharedMemBytes, c->hStream, params, extra);
  struct op op = {.kind = OP_KERNEL};
  return launch_submit(&op, f, grid, block, c->sharedMemBytes, c->hStream, params, extra);
}

/* Sizes in work-items; the last workgroups may be smaller. */
hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalX, uint32_t globalY, uint32_t globalZ,
                                    uint32_t localX, uint32_t localY, uint32_t localZ, size_t shared,
                                    hipStream_t stream, void **params, void **extra, hipEvent_t start,
                                    hipEvent_t stop, uint32_t flags) {
  ENTER();
  (void)flags;
  const uint32_t global[] = {globalX, globalY, globalZ}, block[] = {localX, localY, localZ};
  if (!localX || !localY || !localZ || shared > UINT32_MAX) return done(hipErrorInvalidValue);
  struct op op = {.kind = OP_KERNEL};
  unsigned grid[3];
  for (int d = 0; d < 3; d++) {
    op.launch.last_block[d] = global[d] % block[d];
    grid[d] = global[d] / block[d] + (op.launch.last_block[d] ? 1 : 0);
  }
  hipError_t error = start ? hipEventRecord(start, stream) : hipSuccess;
  if (error == hipSuccess) error = launch_submit(&op, f, grid, block, (unsigned)shared, stream, params, extra);
  if (error == hipSuccess && stop) error = hipEventRecord(stop, stream);
  return error;
}

/* Occupancy */

int occupancy(const function *f, unsigned block, size_t shared) {
  const struct kernel_info *k = f->kernel;
  const struct arch *arch = f->device->arch;
  unsigned wave = k->wavefront ? k->wavefront : arch->default_wave;
  if (!block || block > k->max_flat || k->group_size + shared > arch->lds_bytes) return 0;
  int registers = (int)(k->vgprs > k->agprs ? k->vgprs : k->agprs), waves = (int)((block + wave - 1) / wave);
  return chip_blocks(f->device->chip, arch, wave, registers, waves, k->group_size + shared);
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t f, int block, size_t shared) {
  ENTER();
  if (!blocks || block <= 0) return done(hipErrorInvalidValue);
  if (!handle_ok(&function_class, f)) return done(hipErrorInvalidHandle);
  *blocks = occupancy(f, (unsigned)block, shared);
  return hipSuccess;
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, hipFunction_t f, int block,
                                                                       size_t shared, unsigned flags) {
  ENTER();
  if (flags > 1) return done(hipErrorInvalidValue);
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, block, shared);
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *block, hipFunction_t f, size_t shared, int limit) {
  ENTER();
  if (!grid || !block) return done(hipErrorInvalidValue);
  if (!handle_ok(&function_class, f)) return done(hipErrorInvalidHandle);
  unsigned wave = f->device->arch->default_wave, most = f->kernel->max_flat;
  if (limit > 0 && (unsigned)limit < most) most = (unsigned)limit;
  unsigned best = 0, best_threads = 0;
  int best_blocks = 0;
  for (unsigned size = most; size > 0; size = size > wave ? (size - 1) / wave * wave : 0) {
    int blocks = occupancy(f, size, shared);
    if ((unsigned)blocks * size <= best_threads) continue;
    best = size;
    best_blocks = blocks;
    best_threads = (unsigned)blocks * size;
  }
  *block = (int)best;
  *grid = best_blocks * (int)f->device->arch->compute_units;
  return done(best ? hipSuccess : hipErrorInvalidConfiguration);
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, hipFunction_t f, size_t shared,
                                                            int limit, unsigned flags) {
  ENTER();
  if (flags > 1) return done(hipErrorInvalidValue);
  return hipModuleOccupancyMaxPotentialBlockSize(grid, block, f, shared, limit);
}
