/* A HIP program that needs no headers: hip_program LIBRARY CODE_OBJECT. The kernel `add` adds two arrays. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(X) \
  X(hipInit) X(hipGetDeviceCount) X(hipDeviceGetName) X(hipMalloc) X(hipFree) X(hipMemcpy) X(hipMemset) X(hipModuleLoad) \
  X(hipModuleUnload) X(hipModuleGetFunction) X(hipModuleLaunchKernel) X(hipDeviceSynchronize)
#define DECLARE(name) static int (*name)();
FUNCTIONS(DECLARE)
#define CHECK(call) \
  do { \
    int error = (call); \
    if (error) exit((printf("line %d: HIP error %d\n", __LINE__, error), 1)); \
  } while (0)

enum { N = 1000, BYTES = N * 4, TO_DEVICE = 1, TO_HOST = 2 };

int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *a, *b, *c, *module, *add;
  if (argc < 3 || !library) return puts(dlerror()), 1;
#define FIND(name) name = (int (*)())dlsym(library, #name);
  FUNCTIONS(FIND)
  int count, n = N;
  char name[256];
  static float ones[N], twos[N], sums[N];
  CHECK(hipInit(0));
  CHECK(hipGetDeviceCount(&count));
  CHECK(hipDeviceGetName(name, 256, 0));
  printf("%d %s\n", count, name);
  for (int k = 0; k < N; k++) ones[k] = (float)k, twos[k] = 2 * (float)k;
  CHECK(hipMalloc(&a, (size_t)BYTES));
  CHECK(hipMalloc(&b, (size_t)BYTES));
  CHECK(hipMalloc(&c, (size_t)BYTES));
  CHECK(hipMemcpy(a, ones, (size_t)BYTES, TO_DEVICE));
  CHECK(hipMemcpy(b, twos, (size_t)BYTES, TO_DEVICE));
  CHECK(hipMemset(c, 0xff, (size_t)BYTES));
  CHECK(hipMemcpy(sums, c, (size_t)BYTES, TO_HOST));
  for (int k = 0; k < N; k++)
    if (((unsigned *)sums)[k] != 0xffffffffu) return printf("fill: word %d\n", k), 1;
  CHECK(hipModuleLoad(&module, argv[2]));
  CHECK(hipModuleGetFunction(&add, module, "add"));
  void *arguments[] = {&a, &b, &c, &n};
  CHECK(hipModuleLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(sums, c, (size_t)BYTES, TO_HOST));
  for (int k = 0; k < N; k++)
    if (sums[k] != 3 * (float)k) return printf("sum %d: %g\n", k, (double)sums[k]), 1;
  CHECK(hipModuleUnload(module));
  CHECK(hipFree(a));
  puts("PASS");
  return 0;
}
