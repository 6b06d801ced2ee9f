/* cuInit and the driver's version. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "checkpoint.h"
#include "deferred.h"
#include "entry.h"
#include "shim.h"

bool initialised;
static bool forked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A forked child cannot use the parent's GPU state: as in CUDA, its calls return NOT_INITIALIZED. */
static void in_child(void) {
  if (initialised) forked = true;
  if (initialised) checkpoint_in_child();
  initialised = false;
  entry_state |= ENTRY_CLOSED;
  thread_state.current = NULL;
  thread_state.depth = 0;
}

/* AMD's library was loaded before this handler was registered, so its own exit handlers run next. Programs that unload
 * modules after this point would call a library that has been torn down; their calls fail instead. */
static void at_exit(void) {
  entry_closed = CUDA_ERROR_DEINITIALIZED;
  __atomic_or_fetch(&entry_state, ENTRY_CLOSED, __ATOMIC_SEQ_CST);
}

static CUresult initialise(void) {
  settings_check(SETTING_READER_DRIVER | SETTING_READER_TRANSLATOR, 0, true, say);
  if (!hip_load()) return CUDA_ERROR_NO_DEVICE;
  CUresult result = devices_find();
  if (result) return result;
  pthread_atfork(NULL, NULL, in_child);
  lines_init();
  if (!hip_is_software) atexit(at_exit);
  checkpoint_offer();
  __atomic_store_n(&initialised, true, __ATOMIC_RELEASE);
  __atomic_and_fetch(&entry_state, ~ENTRY_CLOSED, __ATOMIC_RELEASE);
  return CUDA_SUCCESS;
}

CUresult cuInit(unsigned int Flags) {
  static CUresult failed;
  if (Flags) return CUDA_ERROR_INVALID_VALUE;
  if (forked) return CUDA_ERROR_NOT_INITIALIZED;
  if (__atomic_load_n(&initialised, __ATOMIC_ACQUIRE)) return CUDA_SUCCESS;
  pthread_mutex_lock(&lock);
  CUresult result = initialised ? CUDA_SUCCESS : failed;
  if (!initialised && !failed) result = failed = initialise();
  pthread_mutex_unlock(&lock);
  return result;
}

CUresult cuDriverGetVersion(int *driverVersion) {
  if (!driverVersion) return CUDA_ERROR_INVALID_VALUE;
  *driverVersion = (int)setting_number(SETTING_DRIVER_VERSION);
  return CUDA_SUCCESS;
}
