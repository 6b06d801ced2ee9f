/* cuGetProcAddress: by name, version and default-stream flag. */
#include <string.h>

#include "proc_table.h"
#include "shim.h"

enum { FLAG_LEGACY = 1, FLAG_PER_THREAD = 2 };
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

/* The newest variant that exists in the requested version; of a function with per-thread variants one of these, if that is
 * requested, or none. */
static void *look_up(const char *name, int version, bool per_thread, int *status) {
  const struct proc *best = NULL;
  int first = first_of(name), end = first;
  bool both = false;
  for (; end < proc_count && !strcmp(proc_table[end].name, name); end++) both = both || proc_table[end].per_thread;
  for (const struct proc *p = proc_table + first; p < proc_table + end; p++)
    if (p->since <= version && p->per_thread == (per_thread && both) && (!best || p->since >= best->since)) best = p;
  bool known = end > first;
  *status = best ? FOUND : known ? VERSION_NOT_SUFFICIENT : SYMBOL_NOT_FOUND;
  return best ? best->function : NULL;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolFound) {
  if (!symbol || !pfn || flags & ~(cuuint64_t)(FLAG_LEGACY | FLAG_PER_THREAD)) return CUDA_ERROR_INVALID_VALUE;
  int status;
  *pfn = look_up(symbol, driverVersion, (flags & FLAG_PER_THREAD) != 0, &status);
  /* From CUDA 12.0 on, cuGetProcAddress names _v2; callers of the first version request 11.x. */
  if (symbolFound) *symbolFound = status;
  return status == FOUND || symbolFound ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, pfn, driverVersion, flags, NULL);
}
