/* What a program calls while it ends: from an atexit handler, a destructor, and, with an argument, a thread that goes on. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuCtxSetCurrent(void *);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemFree_v2(uint64_t);
int cuMemsetD8Async(uint64_t, unsigned char, size_t, void *);
int cuStreamCreate(void **, unsigned);
int cuStreamDestroy_v2(void *);
int cuEventCreate(void **, unsigned);
int cuEventRecord(void *, void *);
int cuEventDestroy_v2(void *);

enum { SIZE = 1 << 20 };
static uint64_t memory;
static void *stream, *event, *context;

static void late(const char *who) {
  int synchronize = cuCtxSynchronize(), fill = cuMemsetD8Async(memory, 1, SIZE, stream), release = cuMemFree_v2(memory);
  int end_stream = cuStreamDestroy_v2(stream), end_event = cuEventDestroy_v2(event);
  fprintf(stderr, "%s %d %d %d %d %d %d\n", who, synchronize, fill, release, end_stream, end_event,
          cuDevicePrimaryCtxRelease_v2(0));
}

static void at_exit(void) { late("atexit"); }
__attribute__((destructor)) static void at_end(void) { late("destructor"); }

static void *go_on(void *unused) {
  cuCtxSetCurrent(context);
  for (;;) {
    cuMemsetD8Async(memory, 2, SIZE, stream);
    cuCtxSynchronize();
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t thread;
  (void)argv;
  atexit(at_exit);
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuMemAlloc_v2(&memory, SIZE) ||
      cuStreamCreate(&stream, 1) || cuEventCreate(&event, 0))
    return 1;
  cuMemsetD8Async(memory, 1, SIZE, stream);
  cuEventRecord(event, stream);
  if (argc > 1) {
    pthread_create(&thread, NULL, go_on, NULL);
    usleep(50000);
  }
  return 0;
}
