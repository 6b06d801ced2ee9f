// What HIP programs use, a part each; `features PART` prints "ok", or what is wrong.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                      \
  do {                                                                                   \
    hipError_t error_ = (call);                                                          \
    if (error_ != hipSuccess) return printf("%s: %s\n", #call, hipGetErrorName(error_)), 1; \
  } while (0)
#define EXPECT(condition) \
  do {                    \
    if (!(condition)) return printf("line %d: %s\n", __LINE__, #condition), 1; \
  } while (0)

template <class T>
struct Buffer {  // managed memory
  T *p = nullptr;
  explicit Buffer(size_t n) {
    if (hipMallocManaged(&p, n * sizeof(T)) == hipSuccess) memset(p, 0, n * sizeof(T));
  }
  ~Buffer() { (void)hipFree(p); }
  operator T *() { return p; }
};

__constant__ float factor = 2;
__device__ int counter = 5;
__managed__ int managed = 7;
__managed__ float table[100] = {1, 2, 3};

template <class T>
__global__ void axpy(T a, const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * static_cast<T>(factor) * x[i] + y[i], atomicAdd(&counter, 1);
}

template <class T>
static int axpy_of() {
  const int n = 1000;
  Buffer<T> x(n), y(n);
  for (int i = 0; i < n; i++) x[i] = T(i), y[i] = T(1);
  int before, after;
  CHECK(hipMemcpyFromSymbol(&before, static_cast<const void *>(&counter), sizeof before, 0, hipMemcpyDeviceToHost));
  axpy<T><<<(n + 255) / 256, 256>>>(T(3), x, y, n);
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpyFromSymbol(&after, static_cast<const void *>(&counter), sizeof after, 0, hipMemcpyDeviceToHost));
  EXPECT(after - before == n);
  for (int i = 0; i < n; i++) EXPECT(float(y[i]) == 3.0f * 4 * i + 1);
  return 0;
}

__global__ void put_sizes(unsigned *to) { *to = gridDim.x * 100 + blockDim.x; }

static int by_configuration() {
  unsigned *to, got = 0;
  CHECK(hipMalloc(&to, sizeof *to));
  void *arguments[] = {&to};
  hipLaunchConfig_t how = {};
  how.gridDim = dim3(3), how.blockDim = dim3(32);
  CHECK(hipLaunchKernelExC(&how, reinterpret_cast<const void *>(put_sizes), arguments));
  CHECK(hipMemcpy(&got, to, sizeof got, hipMemcpyDeviceToHost));
  EXPECT(got == 332);
  EXPECT(hipLaunchKernelExC(nullptr, reinterpret_cast<const void *>(put_sizes), arguments) == hipErrorInvalidValue);
  CHECK(hipFree(to));
  return 0;
}

static int launches() {
  float four = 4;
  CHECK(hipMemcpyToSymbol(static_cast<const void *>(&factor), &four, sizeof four, 0, hipMemcpyHostToDevice));
  return axpy_of<float>() || axpy_of<double>() || axpy_of<int>() || by_configuration();
}

__global__ void use_managed() { managed += 1, table[threadIdx.x] += managed; }

static int managed_variables() {
  EXPECT(managed == 7 && table[2] == 3 && table[99] == 0);
  managed = 10;
  use_managed<<<1, 1>>>();
  CHECK(hipDeviceSynchronize());
  EXPECT(managed == 11 && table[0] == 12 && table[1] == 2);
  void *address;
  CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(managed)));
  EXPECT(address == &managed);
  return 0;
}

__global__ void shared_sum(const int *in, int *out, int n) {
  extern __shared__ int part[];
  part[threadIdx.x] = threadIdx.x < n ? in[threadIdx.x] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  int wave = 0;
  for (int lane = 0; lane < warpSize; lane++) wave += __shfl(lane < n ? part[0] : 0, lane) == part[0];
  int active = __popcll(__ballot(1));
  if (threadIdx.x == 0) out[0] = part[0], out[1] = wave, out[2] = active;
}

static int shared_memory() {
  const int n = 512;
  Buffer<int> in(n), out(3);
  std::iota(in.p, in.p + n, 1);
  shared_sum<<<1, n, n * sizeof(int)>>>(in, out, n);
  CHECK(hipDeviceSynchronize());
  hipDeviceProp_t about;
  CHECK(hipGetDeviceProperties(&about, 0));
  EXPECT(out[0] == n * (n + 1) / 2 && out[1] == about.warpSize && out[2] == about.warpSize);
  return 0;
}

static int attributes() {
  hipFuncAttributes about;
  CHECK(hipFuncGetAttributes(&about, reinterpret_cast<const void *>(shared_sum)));
  EXPECT(about.maxThreadsPerBlock == 1024 && about.numRegs > 0);
  CHECK(hipFuncSetAttribute(reinterpret_cast<const void *>(shared_sum), hipFuncAttributeMaxDynamicSharedMemorySize, 8192));
  int blocks, grid, block;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared_sum, 256, 1024));
  CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, shared_sum, 0, 0));
  EXPECT(blocks > 0 && grid > 0 && block > 0);
  return 0;
}

static int graphs() {
  const int n = 256;
  Buffer<float> x(n), y(n);
  for (int i = 0; i < n; i++) x[i] = i;
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t ready;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  axpy<float><<<1, n, 0, stream>>>(1, x, y, n);
  CHECK(hipStreamEndCapture(stream, &graph));
  float *px = x, *py = y, a = 10;
  int count = n;
  void *args[] = {&a, &px, &py, &count};
  hipKernelNodeParams params = {};
  params.func = reinterpret_cast<void *>(axpy<float>);
  params.gridDim = dim3(1), params.blockDim = dim3(n), params.kernelParams = args;
  hipGraphNode_t first, second;
  size_t one = 1;
  CHECK(hipGraphGetNodes(graph, &first, &one));
  CHECK(hipGraphAddKernelNode(&second, graph, &first, 1, &params));
  CHECK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  for (int k = 0; k < 3; k++) CHECK(hipGraphLaunch(ready, stream));
  CHECK(hipStreamSynchronize(stream));
  for (int i = 0; i < n; i++) EXPECT(y[i] == 3 * 11 * 2 * i);
  CHECK(hipGraphExecDestroy(ready));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
  return 0;
}

__global__ void grid_sum(int *data, int *out, int n) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  if (i < n) data[i] = i + 1;
  grid.sync();
  for (int half = n / 2; half > 0; half /= 2) {
    if (i < half) data[i] += data[i + half];
    grid.sync();
  }
  if (i == 0) *out = grid.is_valid() ? data[0] : -1;
}

static int grid_sync() {
  int n = 1024;
  Buffer<int> data(n), out(1);
  int *pdata = data, *pout = out;
  void *args[] = {&pdata, &pout, &n};
  for (int k = 0; k < 3; k++) {
    CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void *>(grid_sum), dim3(8), dim3(128), args, 0, 0));
    CHECK(hipDeviceSynchronize());
    EXPECT(out[0] == n * (n + 1) / 2);
    out[0] = 0;
  }
  return 0;
}

__global__ void allocate(int **out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = 1 + i % 50;
  int *p = static_cast<int *>(malloc(n * sizeof(int)));
  for (int k = 0; p && k < n; k++) p[k] = i;
  out[i] = p;
}
__global__ void release(int **in, int *bad) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = 1 + i % 50;
  for (int k = 0; k < n; k++)
    if (!in[i] || in[i][k] != i) atomicAdd(bad, 1);
  free(in[i]);
}
__global__ void large(int *bad) {
  char *p = static_cast<char *>(malloc(100000)), *q = new char[50000];
  if (!p || !q) atomicAdd(bad, 1);
  else p[99999] = q[49999] = 1;
  free(p);
  delete[] q;
}

static int device_heap() {
  const int n = 2048;
  Buffer<int *> pointers(n);
  Buffer<int> bad(1);
  for (int k = 0; k < 3; k++) allocate<<<n / 256, 256>>>(pointers), release<<<n / 256, 256>>>(pointers, bad);
  large<<<2, 64>>>(bad);
  CHECK(hipDeviceSynchronize());
  EXPECT(bad[0] == 0);
  return 0;
}

__global__ void say(const char *who, double d) {
  if (threadIdx.x > 1) return;
  printf("%s %d of %u|%5.2f|%*d|%-6s|%c|%p|%lld|%hhu|100%%|%.*f|%#x\n", who, threadIdx.x, blockDim.x, d, 6, -5, "abc", 'x',
         reinterpret_cast<void *>(0x1234), -1LL << 40, 300, 3, 1.0 / 3, 255u);
}
__global__ void count_lines(int *total) { atomicAdd(total, printf("%d\n", int(blockIdx.x * blockDim.x + threadIdx.x))); }

static int printing() {
  Buffer<char> who(100);
  Buffer<int> total(1);
  strcpy(who, "a name that does not fit one part of a message, nor two of them, as parts are seven words");
  say<<<1, 64>>>(who, 1.5);
  CHECK(hipDeviceSynchronize());
  for (int k = 0; k < 2; k++) {
    char line[200];
    snprintf(line, sizeof line, "%s %d of %u|%5.2f|%*d|%-6s|%c|%p|%lld|%hhu|100%%|%.*f|%#x\n", who.p, k, 64u, 1.5, 6, -5,
             "abc", 'x', reinterpret_cast<void *>(0x1234), -1LL << 40, static_cast<unsigned char>(300), 3, 1.0 / 3, 255u);
    printf("expected: %s", line);
  }
  count_lines<<<10, 100>>>(total);
  CHECK(hipDeviceSynchronize());
  EXPECT(total[0] == 10 * 2 + 90 * 3 + 900 * 4);
  return 0;
}

__global__ void asserting(int x) { assert(x == 1 && "said so"); }

static int failed_assert() {
  asserting<<<1, 64>>>(1);
  CHECK(hipDeviceSynchronize());
  asserting<<<1, 64>>>(2);
  EXPECT(hipDeviceSynchronize() != hipSuccess);
  return 0;
}

__global__ void beyond(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = 1;
}
__global__ void racing(int *out) {
  __shared__ int s[128];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[127 - threadIdx.x];
}

static int mistakes() {
  float *y;
  CHECK(hipMalloc(&y, 400));
  racing<<<1, 128>>>(reinterpret_cast<int *>(Buffer<int>(128).p));
  CHECK(hipDeviceSynchronize());
  beyond<<<1, 128>>>(y, 100);
  printf("%s\n", hipGetErrorName(hipDeviceSynchronize()));
  return 0;
}

static const struct {
  const char *name;
  int (*run)();
} parts[] = {
    {"launches", launches},       {"managed_variables", managed_variables},
    {"shared_memory", shared_memory}, {"attributes", attributes},
    {"graphs", graphs},           {"grid_sync", grid_sync},
    {"device_heap", device_heap}, {"printing", printing},
    {"failed_assert", failed_assert}, {"mistakes", mistakes},
};

int main(int argc, char **argv) {
  for (auto &part : parts)
    if (argc == 2 && !strcmp(part.name, argv[1])) {
      if (part.run()) return 1;
      puts("ok");
      return 0;
    }
  return puts("features PART"), 2;
}
