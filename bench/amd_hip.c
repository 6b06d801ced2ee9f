/* amd_hip LIBRARY CODE_OBJECT: prints the microseconds of a launch of `empty` with a wait for it, and of a copy of 4 bytes
 * to the device; the best of several rounds. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FUNCTIONS(X) \
  X(hipInit) X(hipMalloc) X(hipMemcpy) X(hipModuleLoad) X(hipModuleGetFunction) X(hipModuleLaunchKernel) X(hipDeviceSynchronize)
#define DECLARE(name) static int (*name)();
FUNCTIONS(DECLARE)
#define CHECK(call) \
  do { \
    int error = (call); \
    if (error) exit((fprintf(stderr, "line %d: HIP error %d\n", __LINE__, error), 1)); \
  } while (0)

enum { ROUNDS = 20, CALLS = 100 };
static void *kernel, *memory;

static void launch(void) {
  CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
  CHECK(hipDeviceSynchronize());
}
static void copy(void) {
  int word = 7;
  CHECK(hipMemcpy(memory, &word, (size_t)4, 1));
}

static double microseconds(void (*call)(void)) {
  double best = 1e9;
  for (int round = 0; round < ROUNDS; round++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int k = 0; k < CALLS; k++) call();
    clock_gettime(CLOCK_MONOTONIC, &b);
    double us = ((double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3) / CALLS;
    if (us < best) best = us;
  }
  return best;
}

int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *module;
  if (argc < 3 || !library) return fprintf(stderr, "%s\n", dlerror()), 1;
#define FIND(name) name = (int (*)())dlsym(library, #name);
  FUNCTIONS(FIND)
  CHECK(hipInit(0));
  CHECK(hipMalloc(&memory, (size_t)4));
  CHECK(hipModuleLoad(&module, argv[2]));
  CHECK(hipModuleGetFunction(&kernel, module, "empty"));
  double first = microseconds(launch);
  printf("%.1f %.1f\n", first, microseconds(copy));
  return 0;
}
