/* cuGetProcAddress: by name, version and default-stream flag. */
#include <string.h>

#include "proc_table.h"
#include "shim.h"

enum { FLAG_PER_THREAD = 2 }; /* of the flags, which NVIDIA's driver does not check */
enum { FOUND = 0, SYMBOL_NOT_FOUND = 1, VERSION_NOT_SUFFICIENT = 2 };

static int first_of(const char *name) {
  int low = 0, high = proc_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (strcmp(proc_table[middle].name, name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The newest variant that exists in the requested version; the per-thread variant if it exists and is requested. */
static void *look_up(const char *name, int version, bool per_thread, int *status) {
  const struct proc *best = NULL;
  bool known = false;
  for (int i = first_of(name); i < proc_count && !strcmp(proc_table[i].name, name); i++) {
    const struct proc *p = &proc_table[i];
    known = true;
    if (p->since > version || (p->per_thread && !per_thread)) continue;
    if (!best || p->per_thread > best->per_thread || (p->per_thread == best->per_thread && p->since >= best->since))
      best = p;
  }
  *status = best ? FOUND : known ? VERSION_NOT_SUFFICIENT : SYMBOL_NOT_FOUND;
  return best ? best->function : NULL;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolFound) {
  if (!symbol || !pfn) return CUDA_ERROR_INVALID_VALUE;
  int status;
  *pfn = look_up(symbol, driverVersion, (flags & FLAG_PER_THREAD) != 0, &status);
  /* From CUDA 12.0 on, cuGetProcAddress names _v2; callers of the first version request 11.x. */
  if (symbolFound) *symbolFound = status;
  return status == FOUND || symbolFound ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, pfn, driverVersion, flags, NULL);
}
