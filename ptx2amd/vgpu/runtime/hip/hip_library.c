/* Libraries and their kernels are modules and functions. */
#include "hip_state.h"

hipError_t hipLibraryLoadData(hipLibrary_t *library, const void *code, hipJitOption *options, void **values,
                              unsigned count, hipLibraryOption *libraryOptions, void **libraryValues,
                              unsigned libraryCount) {
  (void)options, (void)values, (void)count, (void)libraryOptions, (void)libraryValues, (void)libraryCount;
  return hipModuleLoadData((hipModule_t *)library, code);
}
hipError_t hipLibraryUnload(hipLibrary_t library) { return hipModuleUnload((hipModule_t)library); }
hipError_t hipLibraryGetKernel(hipKernel_t *kernel, hipLibrary_t library, const char *name) {
  return hipModuleGetFunction((hipFunction_t *)kernel, (hipModule_t)library, name);
}
hipError_t hipLibraryGetKernelCount(unsigned *count, hipLibrary_t library) {
  return hipModuleGetFunctionCount(count, (hipModule_t)library);
}

hipError_t hipLibraryLoadFromFile(hipLibrary_t *library, const char *path, hipJitOption *options, void **values,
                                  unsigned count, hipLibraryOption *libraryOptions, void **libraryValues,
                                  unsigned libraryCount) {
  (void)options, (void)values, (void)count, (void)libraryOptions, (void)libraryValues, (void)libraryCount;
  return hipModuleLoad((hipModule_t *)library, path);
}

hipError_t hipLibraryEnumerateKernels(hipKernel_t *kernels, unsigned count, hipLibrary_t library) {
  ENTER();
  hipModule_t m = (hipModule_t)library;
  if (!kernels) return done(hipErrorInvalidValue);
  if (!handle_ok(&module_class, m)) return done(hipErrorInvalidHandle);
  hipError_t error = hipSuccess;
  for (unsigned k = 0; k < count && k < image_kernel_count(m->image) && error == hipSuccess; k++)
    error = module_function((function **)&kernels[k], m, image_kernel_at(m->image, k)->name);
  return done(error);
}

hipError_t hipKernelGetName(const char **name, hipKernel_t kernel) {
  ENTER();
  if (!name) return done(hipErrorInvalidValue);
  *name = hipKernelNameRef((hipFunction_t)kernel);
  return done(*name ? hipSuccess : hipErrorInvalidHandle);
}

hipError_t hipKernelGetLibrary(hipLibrary_t *library, hipKernel_t kernel) {
  ENTER();
  const function *f = (const function *)kernel;
  if (!library) return done(hipErrorInvalidValue);
  if (!handle_ok(&function_class, f)) return done(hipErrorInvalidHandle);
  *library = (hipLibrary_t)f->module;
  return hipSuccess;
}
