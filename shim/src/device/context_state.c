/* What a context remembers: flags, limits, preferences. AMD GPUs have no use for most of it. */
#include "module.h"
#include "shim.h"

enum { SCHEDULING = 7, MAP_HOST = 8, KEEP_LOCAL_MEMORY = 0x10, SYNCHRONOUS = 0x80,
       CHANGEABLE = SCHEDULING | KEEP_LOCAL_MEMORY | SYNCHRONOUS, FOUR_BYTE_BANKS = 1 };

/* At most one way of waiting. */
bool context_flags_ok(unsigned flags) {
  unsigned scheduling = flags & SCHEDULING;
  return !(flags & ~0xffu) && !(scheduling & (scheduling - 1));
}

CUresult cuCtxGetFlags(unsigned int *flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  const struct context *c = thread_state.current;
  *flags = c->flags | (c->primary ? MAP_HOST : 0u);
  return CUDA_SUCCESS;
}

/* Flags of what a context maps or dumps are accepted, and remain as they were when it was made. */
CUresult cuCtxSetFlags(unsigned int flags) {
  if (!context_flags_ok(flags)) return CUDA_ERROR_INVALID_VALUE;
  thread_state.current->flags = flags & CHANGEABLE;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  struct context *c = ctx ? context_checked(ctx) : context_current();
  if (!c) return ctx ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
  if (!ctxId) return CUDA_ERROR_INVALID_VALUE;
  *ctxId = c->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  if (ctx ? !context_checked(ctx) : !context_current()) return CUDA_ERROR_INVALID_CONTEXT;
  *version = CONTEXT_API_VERSION;
  return CUDA_SUCCESS;
}

/* As NVIDIA's driver rounds them. */
static size_t rounded_limit(CUlimit limit, size_t value) {
  enum { STACK_UNIT = 16, HEAP_LEAST = 4 << 20, HEAP_UNIT = 64 << 10, FIFO_LEAST = 512 << 10 };
  const size_t fifo_most = (size_t)1 << 31;
  switch (limit) {
    case CU_LIMIT_STACK_SIZE: return (value + STACK_UNIT - 1) / STACK_UNIT * STACK_UNIT;
    case CU_LIMIT_PRINTF_FIFO_SIZE: return value < FIFO_LEAST ? FIFO_LEAST : value > fifo_most ? fifo_most : value;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      return value < HEAP_LEAST ? HEAP_LEAST : (value + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT;
    default: return value;
  }
}

static bool limit_fits(CUlimit limit, size_t value) {
  enum { STACK_END = 512 << 10, FETCH_MOST = 128 };
  switch (limit) {
    case CU_LIMIT_STACK_SIZE: return value < STACK_END;
    case CU_LIMIT_MALLOC_HEAP_SIZE: return value <= HEAP_MOST;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: return value <= FETCH_MOST;
    default: return true;
  }
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  if (limit < 0 || limit >= CU_LIMIT_END) return CUDA_ERROR_INVALID_VALUE;
  if (limit >= CU_LIMITS) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  const struct device *d = &devices[thread_state.current->device];
  if (!limit_fits(limit, value) || (limit == CU_LIMIT_MALLOC_HEAP_SIZE && d->heap)) return CUDA_ERROR_INVALID_VALUE;
  thread_state.current->limits[limit] = rounded_limit(limit, value);
  if (limit == CU_LIMIT_STACK_SIZE) stack_prepare(thread_state.current->device);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit) {
  if (!pvalue || limit < 0 || limit >= CU_LIMIT_END) return CUDA_ERROR_INVALID_VALUE;
  if (limit == CU_LIMIT_CIG_ENABLED) { /* cuBLAS asks; contexts here belong to no graphics queue */
    *pvalue = 0;
    return CUDA_SUCCESS;
  }
  if (limit >= CU_LIMITS) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *pvalue = thread_state.current->limits[limit];
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig) {
  if (!pconfig) return CUDA_ERROR_INVALID_VALUE;
  *pconfig = thread_state.current->cache_config;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  if (config < 0 || config > 3) return CUDA_ERROR_INVALID_VALUE;
  thread_state.current->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig) {
  if (!pConfig) return CUDA_ERROR_INVALID_VALUE;
  *pConfig = FOUR_BYTE_BANKS;
  return CUDA_SUCCESS;
}

/* Accepted, and without effect since Maxwell. */
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return config < 0 || config > 2 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority) {
  int least = 0, greatest = 0;
  CUresult result = from_hip(hip.DeviceGetStreamPriorityRange(&least, &greatest));
  if (leastPriority) *leastPriority = least;
  if (greatestPriority) *greatestPriority = greatest;
  return result;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type) {
  if (!pExecAffinity || type) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}
