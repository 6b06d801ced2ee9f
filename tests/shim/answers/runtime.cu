// What the runtime API answers: a question per name, each in a process of its own. Without arguments: the names.
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <map>
#include <string>

#define SAY(call) printf("%s | ", cudaGetErrorName(call))
#define LAST() printf("last %s | ", cudaGetErrorName(cudaGetLastError()))
#define PEEK() printf("peek %s | ", cudaGetErrorName(cudaPeekAtLastError()))
#define SYNC() printf("sync %s | ", cudaGetErrorName(cudaDeviceSynchronize()))

__device__ int counter = 5;
__constant__ int table[16];
__managed__ int shared_counter = 3;
__global__ void fine(int *p) { if (p) p[threadIdx.x] = counter; }
__global__ void store(int *p) { *p = 1; }
__global__ void trapping() { __trap(); }
__global__ void asserting(int n) { assert(n < 3); }
__global__ void printing(int n) { printf("%d %5.2f %s %c %llx %%\n", n, n * 0.5, "text", 'a' + n, 0x123456789abcdefull); }
__global__ void returns(int *out) { *out = printf("abc %d\n", 7); }
__global__ void allocating(size_t n, unsigned long long *out) { void *p = malloc(n); *out = (unsigned long long)p; }
__global__ void __launch_bounds__(64) bounded(int *p) { if (p) *p = 1; }
__global__ void __launch_bounds__(256, 4) crowded(int *p) { if (p) *p = 1; }
__global__ void pooled(int *p) { __shared__ int pool[12288]; pool[threadIdx.x] = 1; __syncthreads(); if (p) *p = pool[0]; }
__global__ void dynamic(int *p) { extern __shared__ int pool[]; pool[threadIdx.x] = 1; __syncthreads(); if (p) *p = pool[0]; }
__global__ void together(int *p) { cooperative_groups::this_grid().sync(); if (p) *p = 1; }
__global__ void printing_much() { printf("%d\n", (int)(blockIdx.x * blockDim.x + threadIdx.x)); }
__global__ void formats() {
  printf("[%d][%i][%u][%o][%x][%X][%5d][%-5d][%05d][%+d][% d][%#x][%ld][%lld][%hd][%hhd]\n", -3, 4, 5u, 8, 255, 255, 42, 42, 42, 42, 42,
         255, 1l << 40, 1ll << 41, (short)7, (char)8);
  printf("[%f][%e][%g][%a][%10.3f][%-10.3f][%.0f][%G][%E]\n", 1.5, 12345.678, 0.0001, 1.0, 3.14159, 3.14159, 2.5, 1e20, 1e-20);
  printf("[%c][%s][%10s][%-10s][%.2s][%p][%%]\n", 'x', "abc", "abc", "abc", "abc", (void *)0x1234);
  printf("[%*d][%.*f]\n", 6, 42, 2, 3.14159);
  printf("[%f][%f][%f][%d]\n", 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0 * 0, 1 << 31);
  printf("no newline");
  printf("\n");
  printf("");
  printf("[%z][%q]\n", 1, 2);
}

static void attributes(const void *f) {
  cudaFuncAttributes a;
  memset(&a, 0x55, sizeof a);
  SAY(cudaFuncGetAttributes(&a, f));
  printf("%zu %zu %zu %d %d %d | ", a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock,
         a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout);
}

static std::map<std::string, void (*)()> questions = {
    {"sticky: invalid value", [] { SAY(cudaMalloc(nullptr, 4)); PEEK(); PEEK(); LAST(); LAST(); }},
    {"sticky: out of memory", [] { void *p; SAY(cudaMalloc(&p, 1ull << 60)); LAST(); SAY(cudaMalloc(&p, 64)); PEEK(); LAST(); }},
    {"sticky: a success between", [] { void *p; SAY(cudaMalloc(nullptr, 4)); SAY(cudaMalloc(&p, 64)); PEEK(); LAST(); PEEK(); }},
    {"sticky: not ready", [] { cudaEvent_t e; SAY(cudaEventCreate(&e)); SAY(cudaEventQuery(e)); LAST(); }},
    {"sticky: launch configuration", [] { fine<<<1, 2048>>>(nullptr); PEEK(); SYNC(); LAST(); LAST(); fine<<<0, 1>>>(nullptr); LAST();
       fine<<<1, 1, 1 << 20>>>(nullptr); LAST(); fine<<<dim3(1, 65536), 1>>>(nullptr); LAST(); fine<<<1, dim3(1, 1, 65)>>>(nullptr); LAST();
       fine<<<1, 0>>>(nullptr); LAST(); SYNC(); }},
    {"sticky: illegal address", [] { store<<<1, 1>>>((int *)16); LAST(); SYNC(); SYNC(); LAST(); LAST(); PEEK(); void *p; SAY(cudaMalloc(&p, 4));
       fine<<<1, 1>>>(nullptr); LAST(); SAY(cudaDeviceReset()); LAST(); SAY(cudaMalloc(&p, 4)); SYNC(); }},
    {"sticky: trap", [] { trapping<<<1, 1>>>(); LAST(); SYNC(); LAST(); int n; SAY(cudaGetDeviceCount(&n)); SAY(cudaDeviceReset()); SYNC(); }},
    {"sticky: assert", [] { asserting<<<1, 1>>>(3); LAST(); SYNC(); LAST(); SYNC(); SAY(cudaDeviceReset()); SYNC(); }},
    {"assert: two blocks", [] { asserting<<<2, 2>>>(7); SYNC(); }},
    {"misaligned", [] { char *p; SAY(cudaMalloc(&p, 64)); store<<<1, 1>>>((int *)(p + 1)); SYNC(); SAY(cudaMemset(p, 0, 4)); SAY(cudaFree(p)); LAST(); }},
    {"null handles", [] { SAY(cudaStreamSynchronize((cudaStream_t)0)); SAY(cudaEventQuery(nullptr)); SAY(cudaEventDestroy(nullptr)); LAST();
       SAY(cudaStreamDestroy(nullptr)); SAY(cudaFree(nullptr)); SAY(cudaFreeHost(nullptr)); SAY(cudaFreeArray(nullptr));
       SAY(cudaGraphDestroy(nullptr)); SAY(cudaGraphExecDestroy(nullptr)); SAY(cudaDestroyTextureObject(0)); SAY(cudaDestroySurfaceObject(0)); LAST(); }},
    {"free of other pointers", [] { int x; char *p; SAY(cudaMalloc(&p, 64)); SAY(cudaFree(&x)); SAY(cudaFree(p + 1)); SAY(cudaFreeHost(&x)); SAY(cudaFreeHost(p));
       SAY(cudaFree((void *)16)); SAY(cudaFree(p)); SAY(cudaFree(p)); LAST(); LAST(); }},
    {"copies", [] { char h[64]; char *p; SAY(cudaMalloc(&p, 64)); SAY(cudaMemcpy(p, h, 64, cudaMemcpyHostToDevice)); SAY(cudaMemcpy(h, p, 64, cudaMemcpyHostToDevice));
       SAY(cudaMemcpy(p, h, 64, cudaMemcpyDeviceToHost)); SAY(cudaMemcpy(h, p, 64, cudaMemcpyDefault)); SAY(cudaMemcpy(h, h + 32, 16, cudaMemcpyDeviceToDevice));
       SAY(cudaMemcpy(p, p + 32, 32, cudaMemcpyHostToHost)); SAY(cudaMemcpy(p, h, 64, (cudaMemcpyKind)9)); SAY(cudaMemcpy(p, h, 0, cudaMemcpyHostToDevice));
       SAY(cudaMemcpy(nullptr, h, 0, cudaMemcpyHostToDevice)); SAY(cudaMemcpy(nullptr, h, 4, cudaMemcpyHostToDevice)); SAY(cudaMemcpy(p, h, 1ull << 40, cudaMemcpyHostToDevice)); LAST(); }},
    {"copies beyond the end", [] { char *h = new char[1 << 23]; char *p; SAY(cudaMalloc(&p, 64)); SAY(cudaMemcpy(h, p, 1 << 23, cudaMemcpyDeviceToHost)); SYNC(); LAST(); }},
    {"2d copies", [] { char h[256]; char *p; SAY(cudaMalloc(&p, 256)); SAY(cudaMemcpy2D(p, 16, h, 16, 16, 4, cudaMemcpyHostToDevice)); SAY(cudaMemcpy2D(p, 8, h, 16, 16, 4, cudaMemcpyHostToDevice));
       SAY(cudaMemcpy2D(p, 16, h, 8, 16, 4, cudaMemcpyHostToDevice)); SAY(cudaMemcpy2D(p, 1ull << 33, h, 16, 16, 4, cudaMemcpyHostToDevice)); SAY(cudaMemcpy2D(p, 16, h, 16, 0, 4, cudaMemcpyHostToDevice)); LAST(); }},
    {"symbols", [] { int x = 0; void *p; size_t n; SAY(cudaMemcpyToSymbol(counter, &x, 4)); SAY(cudaMemcpyToSymbol(counter, &x, 8)); SAY(cudaMemcpyToSymbol(table, &x, 4, 60)); SAY(cudaMemcpyToSymbol(table, &x, 4, 61));
       SAY(cudaGetSymbolAddress(&p, counter)); SAY(cudaGetSymbolSize(&n, table)); printf("%zu | ", n); SAY(cudaGetSymbolAddress(&p, (const void *)&x)); SAY(cudaGetSymbolSize(&n, (const void *)nullptr)); LAST(); }},
    {"functions", [] { attributes((const void *)fine); attributes((const void *)bounded); attributes((const void *)crowded); attributes((const void *)pooled); attributes((const void *)dynamic);
       attributes(nullptr); LAST(); }},
    {"function attributes set", [] { for (int a = 0; a < 17; a++) for (int v : {-2, -1, 0, 1, 49152, 65536, 232448, 232449}) { printf("%d %d ", a, v); SAY(cudaFuncSetAttribute((const void *)dynamic, (cudaFuncAttribute)a, v)); } }},
    {"dynamic memory", [] { dynamic<<<1, 1, 49152>>>(nullptr); LAST(); dynamic<<<1, 1, 49153>>>(nullptr); LAST(); SAY(cudaFuncSetAttribute((const void *)dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
       dynamic<<<1, 1, 65536>>>(nullptr); LAST(); dynamic<<<1, 1, 65537>>>(nullptr); LAST(); pooled<<<1, 1, 1>>>(nullptr); LAST(); SYNC(); }},
    {"bounds", [] { bounded<<<1, 64>>>(nullptr); LAST(); bounded<<<1, 65>>>(nullptr); LAST(); crowded<<<1, 257>>>(nullptr); LAST(); SYNC(); }},
    {"occupancy", [] { int n = -7, g, b; for (int t : {-1, 0, 1, 32, 64, 65, 1024, 1025}) { n = -7; SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, bounded, t, 0)); printf("%d | ", n); }
       SAY(cudaOccupancyMaxPotentialBlockSize(&g, &b, bounded)); printf("%d | ", b); SAY(cudaOccupancyMaxPotentialBlockSize(&g, &b, fine, 0, 100)); printf("%d | ", b);
       SAY(cudaOccupancyMaxPotentialBlockSize(&g, &b, fine, 1 << 20)); printf("%d | ", b); SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)nullptr, 32, 0)); LAST(); }},
    {"printf", [] { printing<<<1, 3>>>(1); SYNC(); int *p, n = 0; cudaMalloc(&p, 4); returns<<<1, 1>>>(p); SYNC(); cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost); printf("%d | ", n); }},
    {"printf formats", [] { formats<<<1, 1>>>(); SYNC(); }},
    {"printf overflow", [] { SAY(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4096)); size_t n; SAY(cudaDeviceGetLimit(&n, cudaLimitPrintfFifoSize)); printf("%zu | ", n); fflush(stdout); printing_much<<<1024, 1024>>>(); SYNC(); }},
    {"printf at exit", [] { printing<<<1, 1>>>(1); }},
    {"heap", [] { unsigned long long *p, v; cudaMalloc(&p, 8); for (size_t n : {size_t(0), size_t(1), size_t(1) << 20, size_t(8) << 20, size_t(1) << 40}) { allocating<<<1, 1>>>(n, p); SYNC(); cudaMemcpy(&v, p, 8, cudaMemcpyDeviceToHost); printf("%d | ", v != 0); }
       SAY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 26)); LAST(); }},
    {"limits", [] { for (int k = 0; k < 8; k++) { size_t n = 7; SAY(cudaDeviceGetLimit(&n, (cudaLimit)k)); printf("%zu | ", n); SAY(cudaDeviceSetLimit((cudaLimit)k, 4096)); cudaDeviceGetLimit(&n, (cudaLimit)k); printf("%zu | ", n); } LAST(); }},
    {"cooperative", [] { int *p = nullptr; void *a[] = {&p}; SAY(cudaLaunchCooperativeKernel((const void *)together, dim3(1), dim3(32), a)); SYNC();
       SAY(cudaLaunchCooperativeKernel((const void *)together, dim3(1 << 20), dim3(1024), a)); LAST(); LAST(); SYNC();
       together<<<1, 32>>>(nullptr); LAST(); SYNC(); }},
    {"cooperative: ordinary launch of many blocks", [] { together<<<2, 32>>>(nullptr); LAST(); SYNC(); }},
    {"devices", [] { int n; SAY(cudaGetDevice(&n)); SAY(cudaSetDevice(99)); SAY(cudaSetDevice(-1)); LAST(); SAY(cudaDeviceGetAttribute(&n, (cudaDeviceAttr)9999, 0)); SAY(cudaDeviceGetAttribute(&n, cudaDevAttrMaxThreadsPerBlock, 7));
       SAY(cudaDeviceCanAccessPeer(&n, 0, 0)); SAY(cudaDeviceEnablePeerAccess(0, 0)); SAY(cudaDeviceDisablePeerAccess(0)); cudaDeviceProp q; SAY(cudaGetDeviceProperties(&q, 5)); SAY(cudaSetDeviceFlags(99999)); SAY(cudaSetDeviceFlags(cudaDeviceScheduleSpin)); unsigned f; SAY(cudaGetDeviceFlags(&f)); printf("%u | ", f);
       SAY(cudaSetDeviceFlags(cudaDeviceScheduleYield)); SAY(cudaGetDeviceFlags(&f)); printf("%u | ", f); LAST(); }},
    {"pointers", [] { int x; void *p, *h; int *m; cudaMalloc(&p, 64); cudaMallocHost(&h, 64); cudaMallocManaged(&m, 64); int g; for (void *q : {p, h, (void *)m, (void *)&x, (void *)0, (void *)16, (void *)((char *)p + 4)}) {
       cudaPointerAttributes a; memset(&a, 0x55, sizeof a); SAY(cudaPointerGetAttributes(&a, q)); printf("%d %d %d %d | ", a.type, a.device, a.devicePointer == q, a.hostPointer == q); } (void)g; LAST(); }},
    {"events", [] { cudaEvent_t a, b, c; float t = -1; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventCreateWithFlags(&c, cudaEventDisableTiming); SAY(cudaEventElapsedTime(&t, a, b)); SAY(cudaEventRecord(a)); SAY(cudaEventElapsedTime(&t, a, b)); SAY(cudaEventRecord(b)); SAY(cudaEventRecord(c)); SAY(cudaEventSynchronize(b));
       SAY(cudaEventElapsedTime(&t, a, b)); SAY(cudaEventElapsedTime(&t, a, c)); SAY(cudaEventDestroy(a)); SAY(cudaEventQuery(b)); LAST(); }},
    {"capture", [] { cudaStream_t s; cudaGraph_t g = nullptr; cudaStreamCreate(&s); SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); void *p; SAY(cudaMalloc(&p, 4)); SAY(cudaStreamEndCapture(s, &g)); printf("%d | ", g != nullptr); LAST(); LAST();
       SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); fine<<<1, 1>>>(nullptr); LAST(); SAY(cudaStreamEndCapture(s, &g)); SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); SAY(cudaMalloc(&p, 4)); fine<<<1, 1, 0, s>>>(nullptr); LAST(); SAY(cudaStreamEndCapture(s, &g)); size_t n; SAY(cudaGraphGetNodes(g, nullptr, &n)); printf("%zu | ", n);
       SAY(cudaStreamEndCapture(s, &g)); SAY(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal)); SAY(cudaDeviceSynchronize()); LAST(); }},
    {"reset", [] { void *p; SAY(cudaMalloc(&p, 64)); SAY(cudaDeviceReset()); SAY(cudaFree(p)); SAY(cudaMemset(p, 0, 4)); SYNC(); LAST(); int v = 0; SAY(cudaMemcpyFromSymbol(&v, counter, 4)); printf("%d | ", v); }},
    {"managed variable", [] { printf("%d | ", shared_counter); shared_counter = 9; SYNC(); int v = 0; SAY(cudaMemcpyFromSymbol(&v, shared_counter, 4)); printf("%d | ", v); }},
    {"errors", [] { for (int k : {0, 1, 2, 3, 4, 98, 100, 101, 200, 201, 209, 218, 222, 400, 500, 600, 700, 701, 710, 716, 719, 720, 801, 900, 901, 906, 999, 12345}) printf("%d %s: %s | ", k, cudaGetErrorName((cudaError_t)k), cudaGetErrorString((cudaError_t)k)); }},
    {"arrays", [] { cudaArray_t a; cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(); SAY(cudaMallocArray(&a, &f, 0, 0)); SAY(cudaMallocArray(&a, &f, 64, 64)); cudaChannelFormatDesc d; cudaExtent e; unsigned g; SAY(cudaArrayGetInfo(&d, &e, &g, a)); printf("%zu %zu %zu %u | ", e.width, e.height, e.depth, g);
       char h[64]; SAY(cudaMemcpy2DToArray(a, 0, 0, h, 64, 64, 1, cudaMemcpyHostToDevice)); SAY(cudaMemcpy2DToArray(a, 250, 0, h, 64, 64, 1, cudaMemcpyHostToDevice)); SAY(cudaFreeArray(a)); f.x = 24; SAY(cudaMallocArray(&a, &f, 64, 64)); LAST(); }},
    {"pools", [] { cudaMemPool_t p; SAY(cudaDeviceGetDefaultMemPool(&p, 0)); void *a; SAY(cudaMallocAsync(&a, 0, 0)); SAY(cudaMallocAsync(&a, 64, 0)); SAY(cudaFree(a)); SAY(cudaFreeAsync(a, 0)); SAY(cudaMallocAsync(&a, 64, 0)); SAY(cudaFreeAsync(a, 0)); SAY(cudaFree(a)); SAY(cudaMallocAsync(&a, 1ull << 60, 0)); LAST(); }},
    {"host memory", [] { void *p; SAY(cudaHostAlloc(&p, 64, 99)); SAY(cudaHostAlloc(&p, 0, 0)); SAY(cudaMallocHost(&p, 64)); unsigned f; SAY(cudaHostGetFlags(&f, p)); printf("%u | ", f); static char s[8192]; SAY(cudaHostRegister(s, 8192, 0)); SAY(cudaHostRegister(s, 8192, 0)); SAY(cudaHostUnregister(s)); SAY(cudaHostUnregister(s)); SAY(cudaFreeHost(s)); void *d; SAY(cudaHostGetDevicePointer(&d, s, 0)); SAY(cudaHostGetDevicePointer(&d, p, 1)); LAST(); }},
};

int main(int count, char **names) {
  if (count < 2) {
    for (auto &[name, question] : questions) printf("%s\n", name.c_str());
    return 0;
  }
  questions.at(names[1])();
  printf("\n");
  fflush(stdout);
  return 0;
}
