/* A HIP library for the shim's tests: one device, host memory, kernels that only leave a record of their launch. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIP __attribute__((visibility("default"))) int

enum { INVALID = 1, NOT_FOUND = 500, NOT_TOGETHER = 702 };

struct launch { void *function; unsigned grid[3], block[3], shared; void *stream; size_t size; char bytes[4096]; };
__attribute__((visibility("default"))) struct launch stub_last;
__attribute__((visibility("default"))) int stub_launches, stub_fail, stub_loads;
static char environment[64];

HIP hipInit(unsigned f) { (void)f; return 0; }
HIP hipRuntimeGetVersion(int *v) { *v = getenv("STUB_VERSION") ? atoi(getenv("STUB_VERSION")) : 70000000; return 0; }
HIP hipGraphNodeGetType(void *node, int *type) { *type = (int)(intptr_t)node; return 0; } /* a node is its type */
HIP hipMemGetAllocationGranularity(size_t *n, void *of, unsigned o) { (void)of, (void)o; *n = 4096; return 0; }
HIP hipGetDeviceCount(int *n) { *n = getenv("STUB_NO_DEVICE") ? 0 : 1; return 0; }
HIP hipSetDevice(int d) { return d ? INVALID : 0; }
HIP hipDeviceGetName(char *name, int n, int d) { (void)d; snprintf(name, (size_t)n, "Stub"); return 0; }
HIP hipDeviceTotalMem(size_t *n, int d) { (void)d; *n = (size_t)8 << 30; return 0; }
HIP hipMemGetInfo(size_t *f, size_t *t) { *f = (size_t)4 << 30; *t = (size_t)8 << 30; return 0; }
HIP hipGetDevicePropertiesR0600(char *p, int d) { (void)d; strcpy(p + 1160, "gfx942:sramecc+:xnack-"); return 0; }
HIP hipDeviceSynchronize(void) { return stub_fail; }
HIP hipMalloc(void **p, size_t n) { *p = n && n < (size_t)1 << 34 ? calloc(1, n) : NULL; return *p ? 0 : 2; }
HIP hipFree(void *p) { free(p); return 0; }
HIP hipHostMalloc(void **p, size_t n, unsigned f) { (void)f; *p = calloc(1, n); return *p ? 0 : 2; }
HIP hipHostFree(void *p) { free(p); return 0; }
HIP hipHostGetDevicePointer(void **d, void *h, unsigned f) { (void)f; *d = h; return 0; }
HIP hipMemcpyHtoD(uint64_t d, void *s, size_t n) { memcpy((void *)d, s, n); return 0; }
HIP hipMemcpyHtoDAsync(uint64_t d, void *s, size_t n, void *stream) { (void)stream; memcpy((void *)d, s, n); return 0; }
HIP hipMemcpyDtoH(void *d, uint64_t s, size_t n) { memcpy(d, (void *)s, n); return 0; }
HIP hipMemcpyDtoD(uint64_t d, uint64_t s, size_t n) { memcpy((void *)d, (void *)s, n); return 0; }
HIP hipMemcpy2D(char *d, size_t dp, const char *s, size_t sp, size_t w, size_t h, unsigned kind) {
  (void)kind;
  for (; h--; d += dp, s += sp) memcpy(d, s, w);
  return 0;
}
HIP hipMemsetD8(uint64_t d, unsigned char v, size_t n) { memset((void *)d, v, n); return 0; }
HIP hipMemsetD8Async(uint64_t d, unsigned char v, size_t n, void *s) { (void)s; memset((void *)d, v, n); return 0; }
HIP hipMemsetD16Async(uint64_t d, unsigned short v, size_t n, void *s) {
  (void)s;
  for (size_t i = 0; i < n; i++) ((unsigned short *)d)[i] = v;
  return 0;
}
HIP hipMemsetD32Async(uint64_t d, int v, size_t n, void *s) {
  (void)s;
  for (size_t i = 0; i < n; i++) ((int *)d)[i] = v;
  return 0;
}
/* Allocations of 1 MiB below 2^40; those above are unknown. */
HIP hipMemGetAddressRange(uint64_t *base, size_t *size, uint64_t address) {
  *base = address & ~(uint64_t)0xFFFFF;
  *size = 0x100000;
  return address >> 40 ? INVALID : 0;
}
/* HIP 5's parameters, 136 bytes each: what was signalled, and with which flags. */
unsigned long long stub_signalled[8];
unsigned stub_signals, stub_signal_flags;
HIP hipSignalExternalSemaphoresAsync(void **semaphores, const char *parameters, unsigned count, void *stream) {
  (void)semaphores, (void)stream;
  for (unsigned i = 0; i < count && stub_signals < 8; i++, parameters += 136) {
    memcpy(&stub_signalled[stub_signals++], parameters, 8);
    memcpy(&stub_signal_flags, parameters + 64, 4);
  }
  return 0;
}
HIP hipStreamCreateWithFlags(void **s, unsigned f) { (void)f; *s = malloc(1); return 0; }
HIP hipStreamDestroy(void *s) { free(s); return 0; }
HIP hipStreamSynchronize(void *s) { (void)s; return stub_fail; }
HIP hipStreamAddCallback(void *s, void (*f)(void *, int, void *), void *data, unsigned flags) {
  (void)flags;
  f(s, 0, data);
  return 0;
}
HIP hipEventCreateWithFlags(void **e, unsigned f) { (void)f; *e = malloc(1); return 0; }
HIP hipEventDestroy(void *e) { free(e); return 0; }
HIP hipEventRecord(void *e, void *s) { (void)e, (void)s; return 0; }
HIP hipEventQuery(void *e) { (void)e; return 600; }
HIP hipModuleLoadData(void **m, const void *image) {
  *m = malloc(8);
  __atomic_add_fetch(&stub_loads, 1, __ATOMIC_RELAXED);
  return memcmp(image, "\x7f" "ELF", 4) ? 200 : 0;
}
HIP hipModuleUnload(void *m) { free(m); return 0; }
HIP hipModuleGetFunction(void **f, void *m, const char *name) { (void)name; *f = m; return 0; }
HIP hipModuleGetGlobal(void **p, size_t *n, void *m, const char *name) {
  (void)m;
  *p = environment;
  *n = sizeof environment;
  return !strcmp(name, "__ptx2amd_env") ? 0 : NOT_FOUND;
}
/* Launches return when stub_together of them are under way (0: at once); false: the others have not come. */
__attribute__((visibility("default"))) int stub_together, stub_under_way, stub_captures, stub_questions;
static bool together(void) {
  __atomic_add_fetch(&stub_under_way, 1, __ATOMIC_SEQ_CST);
  for (int ms = 0; __atomic_load_n(&stub_under_way, __ATOMIC_SEQ_CST) < stub_together; ms++)
    if (ms == 5000) return false;
    else usleep(1000);
  return true;
}
HIP hipStreamBeginCapture(void *stream, int mode) { (void)stream, (void)mode; stub_captures++; return stub_fail; }
HIP hipStreamIsCapturing(void *stream, int *status) { (void)stream; stub_questions++; *status = stub_captures; return 0; }
HIP hipStreamEndCapture(void *stream, void **graph) { (void)stream; stub_captures = 0; *graph = NULL; return 0; }
HIP hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **extra) {
  (void)params;
  stub_last = (struct launch){f, {gx, gy, gz}, {bx, by, bz}, shared, stream, extra ? *(size_t *)extra[3] : 0, {0}};
  if (extra) memcpy(stub_last.bytes, extra[1], stub_last.size);
  stub_launches++;
  return together() ? stub_fail : NOT_TOGETHER;
}
/* Of a kernel with a parameter of 4 bytes and the two words of the launch. */
HIP hipModuleLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared, void *stream, void **params) {
  stub_last = (struct launch){f, {gx, gy, gz}, {bx, by, bz}, shared, stream, 0, {0}};
  memcpy(stub_last.bytes, params[0], 4);
  if (params[1] && params[2]) memcpy(stub_last.bytes + 8, params[1], 8), memcpy(stub_last.bytes + 16, params[2], 8);
  stub_launches++;
  return together() ? stub_fail : NOT_TOGETHER;
}
__attribute__((visibility("default"))) uint64_t stub_environment(int i) {
  uint64_t v;
  memcpy(&v, environment + 8 * i, 8);
  return v;
}
