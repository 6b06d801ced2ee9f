/* Libraries and kernels: modules that belong to no context. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "module.h"

enum { BINARY_IS_PRESERVED = 1 };

static struct module *library_checked(const void *handle) { return module_checked(handle); }

/* Why nothing can be taken from a library. One of machine code loads, as the runtime library loads once and takes what
 * it gets: each kernel that a program starts then ends with this error. */
static CUresult nothing_in(const struct module *m) {
  return !m ? CUDA_ERROR_INVALID_HANDLE : m->no_image ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
                           unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!library || !code || (numJitOptions && (!jitOptions || !jitOptionsValues)) ||
      (numLibraryOptions && !libraryOptions))
    return CUDA_ERROR_INVALID_VALUE;
  bool preserved = false;
  for (unsigned i = 0; libraryOptions && i < numLibraryOptions; i++)
    if (libraryOptions[i] == BINARY_IS_PRESERVED && libraryOptionValues && libraryOptionValues[i]) preserved = true;
  struct jit jit;
  struct module *m = NULL;
  jit_read(&jit, numJitOptions, jitOptions, jitOptionsValues);
  CUresult result = module_load(code, 0, true, preserved, &jit, &m);
  jit_done(&jit);
  if (!result) *library = (CUlibrary)m;
  return result;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                               void **libraryOptionValues, unsigned int numLibraryOptions) {
  (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!library || !fileName || (numJitOptions && (!jitOptions || !jitOptionsValues))) return CUDA_ERROR_INVALID_VALUE;
  struct jit jit;
  struct module *m = NULL;
  void *data = NULL;
  size_t size = 0;
  CUresult result = read_file(fileName, &data, &size);
  if (result) return result;
  jit_read(&jit, numJitOptions, jitOptions, jitOptionsValues);
  result = module_load(data, size, true, false, &jit, &m);
  jit_done(&jit);
  free(data);
  if (!result) *library = (CUlibrary)m;
  return result;
}

CUresult cuLibraryUnload(CUlibrary library) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  struct module *m = library_checked(library);
  if (!m || !m->library) return CUDA_ERROR_INVALID_HANDLE;
  hipStreamCaptureMode mode = capture_relax();
  hip.DeviceSynchronize(); /* its kernels may be running */
  capture_return(mode);
  printf_drain(thread_state.current ? thread_state.current->device : 0);
  module_drop(m);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name) {
  struct module *m = library_checked(library);
  if (nothing_in(m)) return nothing_in(m);
  if (!pKernel || !name) return CUDA_ERROR_INVALID_VALUE;
  struct kernel *k = module_kernel(m, name);
  if (!k) return CUDA_ERROR_NOT_FOUND;
  *pKernel = (CUkernel)k;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library) {
  struct module *m = library_checked(library);
  if (nothing_in(m)) return nothing_in(m);
  if (!pMod) return CUDA_ERROR_INVALID_VALUE;
  *pMod = (CUmodule)m;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib) {
  return cuModuleGetFunctionCount(count, (CUmodule)lib);
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib) {
  return cuModuleEnumerateFunctions((CUfunction *)kernels, numKernels, (CUmodule)lib);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name) {
  struct module *m = library_checked(library);
  return m && m->no_image ? nothing_in(m) : cuModuleGetGlobal_v2(dptr, bytes, (CUmodule)library, name);
}

CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name) {
  struct module *m = library_checked(library);
  if (nothing_in(m)) return nothing_in(m);
  if (!name || !*name) return CUDA_ERROR_INVALID_VALUE;
  struct index_variable *v = module_variable(m, name);
  if (!v || v->space != SPACE_MANAGED) return CUDA_ERROR_NOT_FOUND;
  uint64_t segment; /* asked for at start-up, before there is a context */
  CUresult result = module_segment(m, thread_state.current ? thread_state.current->device : 0, &segment);
  if (result) return result;
  if (dptr) *dptr = segment + v->offset;
  if (bytes) *bytes = v->size;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol) {
  if (!library_checked(library)) return CUDA_ERROR_INVALID_HANDLE;
  (void)fptr, (void)symbol; /* of any name */
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel) {
  struct kernel *k = kernel_checked(kernel);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!pFunc) return CUDA_ERROR_INVALID_VALUE;
  *pFunc = (CUfunction)k;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel) {
  struct kernel *k = kernel_checked(kernel);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!pLib) return CUDA_ERROR_INVALID_VALUE;
  *pLib = (CUlibrary)k->module;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
  return cuKernelGetLibrary((CUlibrary *)hmod, (CUkernel)hfunc);
}
