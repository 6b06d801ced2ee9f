/* A program as a CUDA compiler would make it, for any version of the runtime: it registers a fatbin and a kernel, launches
 * it, and uses what most programs use. Usage: runtime_program LIBCUDART FATBIN. Prints one line per step. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { unsigned x, y, z; } dim3;
struct wrapper { int magic, version; const void *data; void *unused; };
static void *library;

static void *symbol(const char *name) {
  void *found = dlsym(library, name);
  if (!found) printf("%s is missing\n", name), exit(1);
  return found;
}
#define CALL(name, types, ...) ((int (*) types)symbol(#name))(__VA_ARGS__)
#define STEP(name, types, ...) printf(#name " %d\n", CALL(name, types, __VA_ARGS__))

static void stub(void) {}

int main(int argc, char **argv) {
  if (argc != 3 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))) return printf("%s\n", dlerror()), 1;
  static char image[1 << 16];
  FILE *f = fopen(argv[2], "rb");
  if (!f || !fread(image, 1, sizeof image, f)) return 1;
  fclose(f);
  static struct wrapper wrapper = {0x466243B1, 1, image, NULL};
  void **handle = ((void **(*)(void *))symbol("__cudaRegisterFatBinary"))(&wrapper);
  CALL(__cudaRegisterFunction, (void **, const void *, char *, const char *, int, void *, void *, void *, void *, int *),
       handle, (const void *)stub, "fill", "fill", -1, NULL, NULL, NULL, NULL, NULL);
  if (dlsym(library, "__cudaRegisterFatBinaryEnd")) CALL(__cudaRegisterFatBinaryEnd, (void **), handle);
  int version = 0, devices = 0, *memory = NULL, got[100], n = 100;
  STEP(cudaRuntimeGetVersion, (int *), &version);
  printf("version %d\n", version);
  STEP(cudaGetDeviceCount, (int *), &devices);
  STEP(cudaSetDevice, (int), 0);
  STEP(cudaGetDevice, (int *), &devices);
  STEP(cudaMalloc, (int **, size_t), &memory, sizeof got);
  void *arguments[] = {&memory, &n}, *stream = NULL, *begin = NULL, *end = NULL;
  STEP(cudaStreamCreate, (void **), &stream);
  STEP(cudaEventCreate, (void **), &begin);
  STEP(cudaEventCreate, (void **), &end);
  STEP(cudaEventRecord, (void *, void *), begin, stream);
  STEP(cudaLaunchKernel, (const void *, dim3, dim3, void **, size_t, void *), (const void *)stub, (dim3){2, 1, 1},
       (dim3){64, 1, 1}, arguments, 0, stream);
  STEP(cudaEventRecord, (void *, void *), end, stream);
  STEP(cudaEventSynchronize, (void *), end);
  float ms = -1;
  STEP(cudaEventElapsedTime, (float *, void *, void *), &ms, begin, end);
  STEP(cudaMemcpy, (void *, const void *, size_t, int), got, memory, sizeof got, 2);
  int bad = ms < 0;
  for (int i = 0; i < n; i++) bad += got[i] != 3 * i;
  printf("wrong %d\n", bad);
  STEP(cudaStreamDestroy, (void *), stream);
  STEP(cudaFree, (void *), memory);
  STEP(cudaGetLastError, (void));
  STEP(cudaDeviceReset, (void));
  STEP(cudaGetDevice, (int *), &devices);
  STEP(cudaMalloc, (int **, size_t), &memory, sizeof got);
  STEP(cudaLaunchKernel, (const void *, dim3, dim3, void **, size_t, void *), (const void *)stub, (dim3){2, 1, 1},
       (dim3){64, 1, 1}, arguments, 0, NULL);
  STEP(cudaDeviceSynchronize, (void));
  CALL(__cudaUnregisterFatBinary, (void **), handle);
  return bad;
}
