/* hipGetProcAddress: the library's own exports by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "hip_state.h"

hipError_t hipGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags,
                             hipDriverProcAddressQueryResult *status) {
  static const char renamed[] = "hipGetDeviceProperties";   /* the current layout under the plain name */
  (void)version;
  if (!symbol || !pfn || flags > 2) return done(hipErrorInvalidValue);
  if (!strcmp(symbol, renamed)) symbol = "hipGetDevicePropertiesR0600";
  *pfn = NULL;
  Dl_info own;
  void *library = dladdr((void *)&hipGetProcAddress, &own) ? dlopen(own.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : NULL;
  if (library) {
    if (!strncmp(symbol, "hip", 3)) *pfn = dlsym(library, symbol);
    dlclose(library);
  }
  if (status) *status = *pfn ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return done(*pfn ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipGetDriverEntryPoint(const char *symbol, void **pfn, unsigned long long flags,
                                  hipDriverEntryPointQueryResult *result) {
  unsigned status = hipDriverEntryPointSymbolNotFound;
  hipError_t error = hipGetProcAddress(symbol, pfn, 0, flags, &status);
  if (result) *result = (hipDriverEntryPointQueryResult)status;
  return error;
}
