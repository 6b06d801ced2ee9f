/* Loads ROCm's library, and finds our libcuda, which the program has already loaded. */
#define _GNU_SOURCE
#include "libmap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct libmap_driver libmap_driver;
static bool there;

void libmap_say(const char *what, const char *why) {
  fprintf(stderr, "ptx2amd: %s: %s%s%s\n", libmap.name, what, *why ? ": " : "", why);
}

int libmap_refuse(int *said, const char *function, int answer) {
  if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED)) libmap_say(function, "not supported");
  return answer;
}

int libmap_property(int which, int major, int minor, int patch) {
  return which == 0 ? major : which == 1 ? minor : which == 2 ? patch : -1;
}

static bool load_driver(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const struct { const char *name; void *slot; } needed[] = {{"ptx2amd_hip_stream", &libmap_driver.stream},
      {"ptx2amd_keep_memory", &libmap_driver.keep_memory}, {"ptx2amd_chip", &libmap_driver.chip},
      {"cuStreamSynchronize", &libmap_driver.synchronize},
      {"cuMemAlloc_v2", &libmap_driver.allocate}, {"cuMemFree_v2", &libmap_driver.release},
      {"cuMemcpyHtoDAsync_v2", &libmap_driver.copy_in_async}, {"cuMemcpyDtoHAsync_v2", &libmap_driver.copy_out_async},
      {"cuMemcpyHtoD_v2", &libmap_driver.copy_in}, {"cuMemcpyDtoH_v2", &libmap_driver.copy_out},
      {"cuMemcpy2DUnaligned_v2", &libmap_driver.copy_2d}, {"cuDeviceGetCount", &libmap_driver.devices},
      {"cuDevicePrimaryCtxRetain", &libmap_driver.keep}, {"cuDevicePrimaryCtxRelease_v2", &libmap_driver.drop},
      {"cuCtxPushCurrent_v2", &libmap_driver.enter}, {"cuCtxPopCurrent_v2", &libmap_driver.leave},
      {"cuLibraryLoadData", &libmap_driver.load}, {"cuLibraryGetKernel", &libmap_driver.kernel},
      {"cuLaunchKernel", &libmap_driver.launch}, {"cuThreadExchangeStreamCaptureMode", &libmap_driver.capture_mode}};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    void *found = cuda ? dlsym(cuda, needed[i].name) : NULL;
    if (!found) {
      libmap_say("libcuda.so.1 is not ptx2amd's", cuda ? needed[i].name : dlerror());
      return false;
    }
    memcpy(needed[i].slot, &found, sizeof found);
  }
  return true;
}

int libmap_copy_2d(struct libmap_copy to, struct libmap_copy from, size_t width, size_t rows) {
  enum { UNIFIED = 4 };
  const struct { /* CUDA_MEMCPY2D */
    size_t source_x, source_y;
    int source_kind;
    const void *source_host;
    uint64_t source;
    void *source_array;
    size_t source_pitch, target_x, target_y;
    int target_kind;
    void *target_host;
    uint64_t target;
    void *target_array;
    size_t target_pitch, width, rows;
  } copy = {.source_kind = UNIFIED, .source = from.address, .source_pitch = from.pitch, .target_kind = UNIFIED,
            .target = to.address, .target_pitch = to.pitch, .width = width, .rows = rows};
  return width && rows ? libmap_driver.copy_2d(&copy) : 0;
}

bool libmap_open(const struct libmap *one) {
  void *library = NULL;
  char why[512] = "", what[512];
  for (const char *const *name = one->sonames; *name && !library; name++) {
    library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
    if (!library && !*why) snprintf(why, sizeof why, "%s", dlerror());
  }
  if (!library) {
    snprintf(what, sizeof what, "%s cannot be loaded; install the package %s, or put its folder on LD_LIBRARY_PATH, or "
             "take NVIDIA's library (ptx2amd run --libraries nvidia)", one->beneath, one->packages);
    libmap_say(what, why);
    return false;
  }
  if (one->same_names && !libmap_bind_own_functions(library)) {
    libmap_say("the calls of this library to its own functions cannot be bound", one->beneath);
    return false;
  }
  for (int i = 0; i < one->count; i++) {
    void *found = dlsym(library, one->functions[i]);
    one->slots[i] = found ? found : one->missing;
  }
  return true;
}

static void load(void) {
  there = load_driver() && libmap_open(&libmap);
  if (there) libmap_driver.keep_memory();
}

bool libmap_ready(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return there;
}
