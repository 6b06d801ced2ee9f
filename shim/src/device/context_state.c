/* What a context remembers: flags, limits, preferences. AMD GPUs have no use for most of it. */
#include "module.h"
#include "shim.h"

CUresult cuCtxGetFlags(unsigned int *flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = thread_state.current->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags) {
  if (flags & ~0xffu) return CUDA_ERROR_INVALID_VALUE;
  thread_state.current->flags = flags;
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

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  if (limit < 0 || limit > 10) return CUDA_ERROR_INVALID_VALUE;
  if (limit >= CU_LIMITS) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  const struct device *d = &devices[thread_state.current->device];
  if (limit == CU_LIMIT_MALLOC_HEAP_SIZE && (d->heap || value > HEAP_MOST)) return CUDA_ERROR_INVALID_VALUE;
  thread_state.current->limits[limit] = value;
  if (limit == CU_LIMIT_STACK_SIZE) stack_prepare(thread_state.current->device);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit) {
  if (!pvalue || limit < 0 || limit > 10) return CUDA_ERROR_INVALID_VALUE;
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
  *pConfig = thread_state.current->shared_config;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  if (config < 0 || config > 2) return CUDA_ERROR_INVALID_VALUE;
  thread_state.current->shared_config = config;
  return CUDA_SUCCESS;
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
