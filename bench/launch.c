/* Cost of launching an empty kernel: cuLaunchKernel through the shim against hipModuleLaunchKernel beneath.
 * Usage: launch KERNEL.hsaco LIBHIP; libcuda.so.1 comes from the loader's path. Prints ns per launch of each. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 200, ROUNDS = 100 };

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }\n";

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) fprintf(stderr, "%s not found\n", name), exit(1);
  return found;
}

static void check(int status, const char *what) {
  if (status) fprintf(stderr, "%s: error %d\n", what, status), exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int (*sync_fn)(void);

/* ns per launch: the fastest batch, with the queue empty at its start. */
static double measure(launch_fn launch, sync_fn synchronize, void *function) {
  double best = 1e18;
  for (int round = 0; round < ROUNDS; round++) {
    check(synchronize(), "synchronize");
    double begin = now();
    for (int k = 0; k < BATCH; k++) check(launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "launch");
    double spent = (now() - begin) / BATCH;
    if (spent < best) best = spent;
  }
  check(synchronize(), "synchronize");
  return best;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  void *hip = dlopen(argv[2], RTLD_NOW);
  if (!cuda || !hip) return fprintf(stderr, "%s\n", dlerror()), 1;
  void *context, *module, *function, *hip_module, *hip_function;
  int device;
  check(((int (*)(unsigned))symbol(cuda, "cuInit"))(0), "cuInit");
  check(((int (*)(int *, int))symbol(cuda, "cuDeviceGet"))(&device, 0), "cuDeviceGet");
  check(((int (*)(void **, int))symbol(cuda, "cuDevicePrimaryCtxRetain"))(&context, device), "cuDevicePrimaryCtxRetain");
  check(((int (*)(void *))symbol(cuda, "cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
  check(((int (*)(void **, const void *))symbol(cuda, "cuModuleLoadData"))(&module, ptx), "cuModuleLoadData");
  check(((int (*)(void **, void *, const char *))symbol(cuda, "cuModuleGetFunction"))(&function, module, "empty"), "cuModuleGetFunction");
  check(((int (*)(void **, const char *))symbol(hip, "hipModuleLoad"))(&hip_module, argv[1]), "hipModuleLoad");
  check(((int (*)(void **, void *, const char *))symbol(hip, "hipModuleGetFunction"))(&hip_function, hip_module, "empty"), "hipModuleGetFunction");
  double below = measure((launch_fn)symbol(hip, "hipModuleLaunchKernel"), (sync_fn)symbol(hip, "hipDeviceSynchronize"), hip_function);
  double through = measure((launch_fn)symbol(cuda, "cuLaunchKernel"), (sync_fn)symbol(cuda, "cuCtxSynchronize"), function);
  printf("%.0f %.0f\n", below, through);
  return 0;
}
