/* Attributes and parameters of functions and kernels. */
#include "attributes.h"
#include "module.h"

static CUresult code_attribute(struct kernel *k, int device, int attribute, int *value) {
  struct kernel_code *code;
  CUresult result = kernel_code(k, device, &code);
  if (result) return result;
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS           ? code->properties.registers
           : attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES ? code->properties.local
                                                             : most_threads(k, code);
  return CUDA_SUCCESS;
}

/* Of the whole module: which of its constants a kernel uses is not known before it is translated. */
static int constant_bytes(const struct module *m) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < m->index.variable_count; i++) bytes += m->index.variables[i].space == SPACE_CONST ? m->index.variables[i].size : 0;
  return (int)bytes;
}

static CUresult get_attribute(struct kernel *k, int device, int attribute, int *value) {
  struct capability told = capability_for(NULL);
  int target = k->index.target ? k->index.target : told.major * 10 + told.minor;
  int fixed = k->index.static_shared;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return code_attribute(k, device, attribute, value);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = fixed; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = constant_bytes(k->module); break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = target; break; /* what the kernel was compiled for */
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = told.major * 10 + told.minor; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = dynamic_limit(k);
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = k->carveout - 1; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = k->large_clusters; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = k->cluster_policy; break;
    default:
      if (attribute < 0 || attribute > 17) return CUDA_ERROR_INVALID_VALUE;
      *value = 0;
  }
  return CUDA_SUCCESS;
}

static CUresult set_attribute(struct kernel *k, int device, int attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value > most_shared(device) - k->index.static_shared) return CUDA_ERROR_INVALID_VALUE;
      k->dynamic_limit = value + 1;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      k->carveout = value + 1;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      if (value < 0) return CUDA_ERROR_INVALID_VALUE;
      return value <= 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: k->large_clusters = value != 0; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      if (value < 0 || value > 2) return CUDA_ERROR_INVALID_VALUE;
      k->cluster_policy = value;
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult kernel_owner(CUfunction f, struct context **owner) {
  struct kernel *k = kernel_checked(f);
  return k ? module_owner((CUmodule)k->module, owner) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc) {
  struct kernel *k = kernel_checked(hfunc);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  return pi ? get_attribute(k, thread_state.current->device, attrib, pi) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  struct kernel *k = kernel_checked(hfunc);
  return k ? set_attribute(k, thread_state.current->device, attrib, value) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
  struct kernel *k = kernel_checked(kernel);
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
  return pi ? get_attribute(k, dev, attrib, pi) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
  struct kernel *k = kernel_checked(kernel);
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  return device_ok(dev) ? set_attribute(k, dev, attrib, val) : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult set_cache_config(const void *handle, CUfunc_cache config) {
  struct kernel *k = kernel_checked(handle);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (config < 0 || config > 3) return CUDA_ERROR_INVALID_VALUE;
  k->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
  return set_cache_config(hfunc, config);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
  return device_ok(dev) ? set_cache_config(kernel, config) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
  if (!kernel_checked(hfunc)) return CUDA_ERROR_INVALID_HANDLE;
  return config >= 0 && config <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuKernelGetName(const char **name, CUkernel hfunc) {
  struct kernel *k = kernel_checked(hfunc);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = k->name;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc) { return cuKernelGetName(name, (CUkernel)hfunc); }

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize) {
  struct kernel *k = kernel_checked(kernel);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!paramOffset || paramIndex >= k->index.param_count) return CUDA_ERROR_INVALID_VALUE;
  *paramOffset = k->index.params[paramIndex].offset;
  if (paramSize) *paramSize = k->index.params[paramIndex].size;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize) {
  return cuKernelGetParamInfo((CUkernel)func, paramIndex, paramOffset, paramSize);
}

CUresult cuKernelGetParamCount(CUkernel kernel, size_t *paramCount) {
  struct kernel *k = kernel_checked(kernel);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!paramCount) return CUDA_ERROR_INVALID_VALUE;
  *paramCount = k->index.param_count;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamCount(CUfunction func, size_t *paramCount) {
  return cuKernelGetParamCount((CUkernel)func, paramCount);
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
  struct kernel *k = kernel_checked(function);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  *state = k->code[0][thread_state.current->device] != NULL;
  return CUDA_SUCCESS;
}

CUresult function_load(CUfunction f) {
  struct kernel *k = kernel_checked(f);
  struct kernel_code *code;
  return k ? kernel_code(k, thread_state.current->device, &code) : CUDA_ERROR_INVALID_HANDLE;
}
