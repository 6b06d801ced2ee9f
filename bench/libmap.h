/* What the measurements of libraries over ROCm's share. */
#ifndef BENCH_LIBMAP_H
#define BENCH_LIBMAP_H
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 100, CALLS = 20000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *need(void *from, const char *name) {
  void *found = from ? dlsym(from, name) : NULL;
  if (found) return found;
  fprintf(stderr, "%s: %s\n", name, dlerror());
  exit(1);
}

/* The first device's context is current from here on. */
static void enter(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context;
  int (*retain)(void **, int) = (int (*)(void **, int))need(cuda, "cuDevicePrimaryCtxRetain");
  if (((int (*)(unsigned))need(cuda, "cuInit"))(0) || retain(&context, 0)) exit(3);
  if (((int (*)(void *))need(cuda, "cuCtxSetCurrent"))(context)) exit(3);
}
#endif
