/* Cost of calls through the shim against the HIP calls beneath. Usage: launch [KERNEL.hsaco LIBHIP]; libcuda.so.1 comes from
 * the loader's path, and may be NVIDIA's: without LIBHIP it is measured alone. Prints "NAME below through" in ns per call; below is 0 where HIP has no such call. Then the same for
 * launches by several threads, each on its own stream, in launches per second of all of them. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 200, ROUNDS = 200 };

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }\n";
static void *cuda, *hip;

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) fprintf(stderr, "%s not found\n", name), exit(1);
  return found;
}

static void check(int status, const char *what) {
  if (status) fprintf(stderr, "%s: error %d\n", what, status), exit(1);
}
#define CU(name, types, ...) check(((int (*) types)symbol(cuda, #name))(__VA_ARGS__), #name)
#define HIP(name, types, ...) check(((int (*) types)symbol(hip, #name))(__VA_ARGS__), #name)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

/* What a call works on, on one side. */
struct side { void *function, *event, *key, *context, *stream; uint64_t memory; char host[64]; int (*synchronize)(void); };
typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static int launch(void *f, struct side *s) { return ((launch_fn)f)(s->function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL); }
static int launch_on_stream(void *f, struct side *s) {
  return ((launch_fn)f)(s->function, 1, 1, 1, 32, 1, 1, 0, s->stream, NULL, NULL);
}
static int copy_to(void *f, struct side *s) { return ((int (*)(uint64_t, void *, size_t))f)(s->memory, s->host, 64); }
static int copy_back(void *f, struct side *s) { return ((int (*)(void *, uint64_t, size_t))f)(s->host, s->memory, 64); }
static int record(void *f, struct side *s) { return ((int (*)(void *, void *))f)(s->event, NULL); }
static int query(void *f, struct side *s) { return ((int (*)(void *))f)(s->event); }
static int attribute(void *f, struct side *s) {
  int value;
  (void)s;
  return ((int (*)(int *, int, int))f)(&value, 16 /* of either: a number that is known */, 0);
}
static int current(void *f, struct side *s) { return ((int (*)(void **))f)(&s->context); }
static int storage(void *f, struct side *s) {
  void *value;
  return ((int (*)(void **, void *, void *))f)(&value, NULL, s->key);
}

static const struct row {
  const char *name, *below, *through;
  int (*call)(void *, struct side *);
} rows[] = {
    {"launch", "hipModuleLaunchKernel", "cuLaunchKernel", launch},
    {"launch on a stream", "hipModuleLaunchKernel", "cuLaunchKernel", launch_on_stream},
    {"copy to device, 64 bytes", "hipMemcpyHtoD", "cuMemcpyHtoD_v2", copy_to},
    {"copy back, 64 bytes", "hipMemcpyDtoH", "cuMemcpyDtoH_v2", copy_back},
    {"event record", "hipEventRecord", "cuEventRecord", record},
    {"event query", "hipEventQuery", "cuEventQuery", query},
    {"device attribute", "hipDeviceGetAttribute", "cuDeviceGetAttribute", attribute},
    {"current context", NULL, "cuCtxGetCurrent", current},
    {"context-local storage", NULL, NULL, storage},
};

/* ns per call: the fastest batch, with the queue empty at its start. */
static double measure(const struct row *row, void *function, struct side *s) {
  double best = 1e18;
  for (int round = 0; round < ROUNDS; round++) {
    check(s->synchronize(), "synchronize");
    double begin = now();
    for (int k = 0; k < BATCH; k++) check(row->call(function, s), row->name);
    double spent = (now() - begin) / BATCH;
    if (spent < best) best = spent;
  }
  check(s->synchronize(), "synchronize");
  return best;
}

/* A thread that launches; all begin together. */
struct launcher {
  launch_fn launch;
  void *function, *stream, *context;
  int (*enter)(void *), (*wait)(void *);
  double begin, end;
};
enum { MOST_THREADS = 32, LAUNCHES = 2000, REPEATS = 10, NON_BLOCKING = 1 /* a stream, to both */ };
static pthread_barrier_t start;

static void *launches(void *data) {
  struct launcher *l = data;
  if (l->enter) check(l->enter(l->context), "context");
  pthread_barrier_wait(&start);
  l->begin = now();
  for (int k = 0; k < LAUNCHES; k++)
    check(l->launch(l->function, 1, 1, 1, 32, 1, 1, 0, l->stream, NULL, NULL), "launch");
  check(l->wait(l->stream), "synchronize");
  l->end = now();
  return NULL;
}

/* Launches per second by `count` threads, in one round. */
static double rate(struct launcher *all, int count) {
  pthread_t threads[MOST_THREADS];
  pthread_barrier_init(&start, NULL, (unsigned)count);
  for (int k = 0; k < count; k++) check(pthread_create(&threads[k], NULL, launches, &all[k]), "thread");
  double begin = 1e300, end = 0;
  for (int k = 0; k < count; k++) {
    pthread_join(threads[k], NULL);
    if (all[k].begin < begin) begin = all[k].begin;
    if (all[k].end > end) end = all[k].end;
  }
  pthread_barrier_destroy(&start);
  return 1e9 * count * LAUNCHES / (end - begin);
}

static void by_threads(const struct side *below, const struct side *through, void *context) {
  static struct launcher under[MOST_THREADS], over[MOST_THREADS];
  for (int k = 0; k < MOST_THREADS; k++) {
    if (hip) {
      under[k] = (struct launcher){.launch = (launch_fn)symbol(hip, "hipModuleLaunchKernel"), .function = below->function,
                                   .wait = (int (*)(void *))symbol(hip, "hipStreamSynchronize")};
      HIP(hipStreamCreateWithFlags, (void **, unsigned), &under[k].stream, NON_BLOCKING);
    }
    over[k] = (struct launcher){.launch = (launch_fn)symbol(cuda, "cuLaunchKernel"), .function = through->function,
                                .wait = (int (*)(void *))symbol(cuda, "cuStreamSynchronize"), .context = context,
                                .enter = (int (*)(void *))symbol(cuda, "cuCtxSetCurrent")};
    CU(cuStreamCreate, (void **, unsigned), &over[k].stream, NON_BLOCKING);
  }
  for (int count = 1; count <= MOST_THREADS; count *= count == 1 ? 2 : 4) {
    double best[2] = {0};   /* of rounds in turn: other load meets both sides */
    for (int round = 0; round < 2 * REPEATS; round++) {
      double found = !hip && round % 2 == 0 ? 0 : rate(round % 2 ? over : under, count);
      if (found > best[round % 2]) best[round % 2] = found;
    }
    printf("threads\t%d\t%.0f\t%.0f\n", count, best[0], best[1]);
  }
}

int main(int argc, char **argv) {
  static const unsigned char storage_id[16] = {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11,
                                               0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93};
  if (argc != 3 && argc != 1) return 2;
  cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (argc == 3) hip = dlopen(argv[2], RTLD_NOW);
  if (!cuda || (argc == 3 && !hip)) return fprintf(stderr, "%s\n", dlerror()), 1;
  static struct side below, through;
  void *context, *module, **table;
  CU(cuInit, (unsigned), 0);
  CU(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
  CU(cuCtxSetCurrent, (void *), context);
  CU(cuModuleLoadData, (void **, const void *), &module, ptx);
  CU(cuModuleGetFunction, (void **, void *, const char *), &through.function, module, "empty");
  CU(cuEventCreate, (void **, unsigned), &through.event, 0);
  CU(cuMemAlloc_v2, (uint64_t *, size_t), &through.memory, 64);
  CU(cuStreamCreate, (void **, unsigned), &through.stream, NON_BLOCKING);
  if (hip) {
    CU(cuGetExportTable, (void ***, const void *), &table, storage_id);
    through.key = &table;
    check(((int (*)(void *, void *, void *, void *))table[0])(NULL, through.key, &table, NULL), "storage");
  }
  through.synchronize = (int (*)(void))symbol(cuda, "cuCtxSynchronize");
  if (hip) {
    HIP(hipModuleLoad, (void **, const char *), &module, argv[1]);
    HIP(hipModuleGetFunction, (void **, void *, const char *), &below.function, module, "empty");
    HIP(hipEventCreateWithFlags, (void **, unsigned), &below.event, 0);
    HIP(hipMalloc, (uint64_t *, size_t), &below.memory, 64);
    HIP(hipStreamCreateWithFlags, (void **, unsigned), &below.stream, NON_BLOCKING);
    below.synchronize = (int (*)(void))symbol(hip, "hipDeviceSynchronize");
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct row *row = &rows[i];
    if (!hip && !row->through) continue;
    double hip_ns = hip && row->below ? measure(row, symbol(hip, row->below), &below) : 0;
    double cuda_ns = measure(row, row->through ? symbol(cuda, row->through) : table[2], &through);
    printf("%s\t%.1f\t%.1f\n", row->name, hip_ns, cuda_ns);
  }
  by_threads(&below, &through, context);
  return 0;
}
