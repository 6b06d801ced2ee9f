/* Modules, functions, device variables. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hip_state.h"

struct handle_class module_class = HANDLE_CLASS(struct ihipModule_t, 1 << 18);
struct handle_class function_class = HANDLE_CLASS(struct ihipModuleSymbol_t, 1 << 20);

hipError_t module_load(hipModule_t *handle, struct device *d, const void *data, size_t size, const char *from) {
  hipError_t error = device_error(d);
  if (error != hipSuccess) return error;
  struct image *image = NULL;
  char why[1024];
  error = (hipError_t)image_load(d, data, size, &image, why, sizeof why);
  if (error != hipSuccess) {
    complain("cannot load %s%s: %s", from ? "code of " : "the module", from ? from : "", why);
    return error;
  }
  struct ihipModule_t *m = handle_new(&module_class);
  if (!m) {
    image_unload(image);
    return hipErrorOutOfMemory;
  }
  if (!m->prepared) pthread_mutex_init(&m->lock, NULL);
  m->prepared = true;
  m->device = d;
  m->image = image;
  m->functions = NULL;
  *handle = m;
  return hipSuccess;
}

static hipError_t load(hipModule_t *handle, const void *data, size_t size, const char *from) {
  return done(handle ? module_load(handle, device_current(), data, size, from) : hipErrorInvalidValue);
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  ENTER();
  return load(module, image, 0, NULL);
}

hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned count, hipJitOption *options,
                               void **values) {
  (void)count, (void)options, (void)values;   /* nothing is compiled here */
  return hipModuleLoadData(module, image);
}

/* clang's wrapper: { u32 magic "HIPF", u32 version, const void *binary, void *unused } */
hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *image) {
  ENTER();
  const struct { uint32_t magic, version; const void *binary; } *wrapper = image;
  if (!image) return done(hipErrorInvalidValue);
  return load(module, wrapper->magic == 0x48495046 ? wrapper->binary : image, 0, NULL);
}

hipError_t hipModuleLoad(hipModule_t *module, const char *path) {
  ENTER();
  if (!module || !path) return done(hipErrorInvalidValue);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st)) {
    if (fd >= 0) close(fd);
    complain("cannot open the module file %s", path);
    return done(hipErrorFileNotFound);
  }
  char *data = malloc((size_t)st.st_size + 1);
  size_t size = 0;
  while (data && size < (size_t)st.st_size) {
    ssize_t n = read(fd, data + size, (size_t)st.st_size - size);
    if (n <= 0) break;
    size += (size_t)n;
  }
  close(fd);
  hipError_t error = !data ? done(hipErrorOutOfMemory)
                     : size < 4 ? done(hipErrorInvalidImage) : load(module, data, size, path);
  free(data);
  return error;
}

hipError_t hipModuleUnload(hipModule_t m) {
  ENTER();
  MAY_WAIT();
  if (!handle_ok(&module_class, m)) return done(hipErrorInvalidHandle);
  hipError_t error = device_synchronize(m->device);
  handle_free(&module_class, m);
  for (function *f = m->functions, *next; f; f = next) {
    next = f->next;
    handle_free(&function_class, f);
  }
  m->functions = NULL;
  image_unload(m->image);
  m->image = NULL;
  return done(error);
}

hipError_t module_function(function **out, hipModule_t m, const char *name) {
  const struct kernel_info *kernel = image_kernel(m->image, name);
  if (!kernel) return hipErrorNotFound;
  pthread_mutex_lock(&m->lock);
  function *f = m->functions;
  while (f && f->kernel != kernel) f = f->next;
  if (!f && (f = handle_new(&function_class))) {
    f->module = m;
    f->device = m->device;
    f->kernel = kernel;
    f->max_dynamic_shared = (int)m->device->arch->lds_bytes - (int)kernel->group_size;
    f->next = m->functions;
    m->functions = f;
  }
  pthread_mutex_unlock(&m->lock);
  *out = f;
  return f ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t hipModuleGetFunction(hipFunction_t *out, hipModule_t m, const char *name) {
  ENTER();
  if (!out || !name || !*name) return done(hipErrorInvalidValue);
  if (!handle_ok(&module_class, m)) return done(hipErrorInvalidHandle);
  *out = NULL;
  return done(module_function(out, m, name));
}

hipError_t hipModuleGetFunctionCount(unsigned *count, hipModule_t m) {
  ENTER();
  if (!count) return done(hipErrorInvalidValue);
  if (!handle_ok(&module_class, m)) return done(hipErrorInvalidHandle);
  *count = (unsigned)image_kernel_count(m->image);
  return hipSuccess;
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t *ptr, size_t *size, hipModule_t m, const char *name) {
  ENTER();
  if ((!ptr && !size) || !name) return done(hipErrorInvalidValue);
  if (!handle_ok(&module_class, m)) return done(hipErrorInvalidHandle);
  uint64_t address, bytes;
  if (!image_global(m->image, name, &address, &bytes)) return done(hipErrorNotFound);
  if (ptr) *ptr = (void *)address;
  if (size) *size = bytes;
  return hipSuccess;
}

/* Attributes of functions */

hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t f) {
  ENTER();
  if (!value) return done(hipErrorInvalidValue);
  if (!handle_ok(&function_class, f)) return done(hipErrorInvalidHandle);
  const struct kernel_info *k = f->kernel;
  const struct chip *chip = f->device->chip;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)k->max_flat; break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)k->group_size; break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = 0; break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)k->private_size; break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)k->vgprs; break;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION: *value = chip->major * 10 + chip->minor; break;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = f->max_dynamic_shared; break;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = 0; break;
    default: return done(hipErrorInvalidValue);
  }
  return hipSuccess;
}

hipError_t hipFuncGetAttributes(hipFuncAttributes *a, const void *handle) {
  ENTER();
  if (!a) return done(hipErrorInvalidValue);
  function *f;
  hipError_t error = function_of(handle, device_current(), &f);
  if (error != hipSuccess) return done(error);
  const struct kernel_info *k = f->kernel;
  memset(a, 0, sizeof *a);
  a->binaryVersion = a->ptxVersion = f->device->chip->major * 10 + f->device->chip->minor;
  a->localSizeBytes = k->private_size;
  a->maxDynamicSharedSizeBytes = f->max_dynamic_shared;
  a->maxThreadsPerBlock = (int)k->max_flat;
  a->numRegs = (int)k->vgprs;
  a->sharedSizeBytes = k->group_size;
  return hipSuccess;
}

hipError_t hipFuncSetAttribute(const void *handle, hipFuncAttribute attribute, int value) {
  ENTER();
  function *f;
  hipError_t error = function_of(handle, device_current(), &f);
  if (error != hipSuccess) return done(error);
  if (attribute == hipFuncAttributePreferredSharedMemoryCarveout) return hipSuccess;
  if (attribute != hipFuncAttributeMaxDynamicSharedMemorySize) return done(hipErrorInvalidValue);
  if (value < 0 || (uint64_t)value + f->kernel->group_size > f->device->arch->lds_bytes)
    return done(hipErrorInvalidValue);
  f->max_dynamic_shared = value;
  return hipSuccess;
}

hipError_t hipFuncSetCacheConfig(const void *handle, hipFuncCache_t config) {
  ENTER();
  function *f;
  hipError_t error = function_of(handle, device_current(), &f);
  return done(error == hipSuccess && config > hipFuncCachePreferEqual ? hipErrorInvalidValue : error);
}

hipError_t hipFuncSetSharedMemConfig(const void *handle, hipSharedMemConfig config) {
  ENTER();
  function *f;
  hipError_t error = function_of(handle, device_current(), &f);
  return done(error == hipSuccess && config > hipSharedMemBankSizeEightByte ? hipErrorInvalidValue : error);
}

const char *hipKernelNameRef(hipFunction_t f) { return handle_ok(&function_class, f) ? f->kernel->name : NULL; }
