/* The runtime API's streams, events, graphs, launches and queries. */
#include "check.h"

#include <atomic>
#include <cooperative_groups.h>
#include <cstring>
#include <thread>
#include <vector>

__global__ void add(int *p, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += value;
}

__global__ void spin(long long clocks, int *done) {
  long long begin = clock64();
  while (clock64() - begin < clocks);
  *done = 1;
}

static void ordering() {
  cudaStream_t a, b;
  cudaEvent_t event;
  int *p = device<int>(1024), out[1024];
  DO(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  int least, greatest;
  DO(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  DO(cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, greatest));
  DO(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (int i = 0; i < 10; i++) {
    add<<<4, 256, 0, a>>>(p, 1024, 1);
    DO(cudaEventRecord(event, a));
    DO(cudaStreamWaitEvent(b, event, 0));
    add<<<4, 256, 0, b>>>(p, 1024, 1);
    DO(cudaEventRecord(event, b));
    DO(cudaStreamWaitEvent(a, event, 0));
  }
  DO(cudaMemcpyAsync(out, p, sizeof out, cudaMemcpyDeviceToHost, a));
  DO(cudaStreamSynchronize(a));
  EXPECT(out[0] == 20 && out[1023] == 20);
  int priority;
  unsigned flags;
  DO(cudaStreamGetPriority(b, &priority));
  DO(cudaStreamGetFlags(b, &flags));
  EXPECT(priority == greatest && flags == cudaStreamNonBlocking);
  EXPECT(cudaStreamQuery(a) == cudaSuccess && cudaEventQuery(event) == cudaSuccess);
  DO(cudaStreamDestroy(a));
  DO(cudaStreamDestroy(b));
  DO(cudaEventDestroy(event));
  DO(cudaFree(p));
}

static void timing() {
  cudaEvent_t begin, end;
  int *done = device<int>(1);
  float ms = -1;
  DO(cudaEventCreate(&begin));
  DO(cudaEventCreate(&end));
  EXPECT(cudaEventElapsedTime(&ms, begin, end) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  DO(cudaEventRecord(begin));
  spin<<<1, 1>>>(100000, done);
  DO(cudaEventRecord(end));
  DO(cudaEventSynchronize(end));
  DO(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0 && ms < 60000);
  DO(cudaEventDestroy(begin));
  DO(cudaEventDestroy(end));
  DO(cudaFree(done));
}

static void callbacks() {
  static std::atomic<int> order{0}, first{0}, second{0};
  cudaStream_t stream;
  DO(cudaStreamCreate(&stream));
  int *p = device<int>(64);
  add<<<1, 64, 0, stream>>>(p, 64, 1);
  DO(cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t status, void *) { first = status == cudaSuccess ? ++order : -1; }, nullptr, 0));
  DO(cudaLaunchHostFunc(stream, [](void *out) { *static_cast<std::atomic<int> *>(out) = ++order; }, &second));
  DO(cudaStreamSynchronize(stream));
  EXPECT(first == 1 && second == 2);
  DO(cudaStreamDestroy(stream));
  DO(cudaFree(p));
}

static void capture() {
  cudaStream_t stream, fork;
  cudaEvent_t event, joined;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int *p = device<int>(64), *q = device<int>(64), out[64];
  DO(cudaStreamCreate(&stream));
  DO(cudaStreamCreate(&fork));
  DO(cudaEventCreate(&event));
  DO(cudaEventCreate(&joined));
  DO(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  DO(cudaMemsetAsync(p, 0, 256, stream));
  DO(cudaEventRecord(event, stream));
  DO(cudaStreamWaitEvent(fork, event, 0));
  add<<<1, 64, 0, fork>>>(q, 64, 3);
  add<<<1, 64, 0, stream>>>(p, 64, 2);
  DO(cudaEventRecord(joined, fork));
  DO(cudaStreamWaitEvent(stream, joined, 0));
  cudaStreamCaptureStatus status;
  DO(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  add<<<1, 64, 0, stream>>>(p, 64, 5);
  DO(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  DO(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 4);
  DO(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; i++) DO(cudaGraphLaunch(exec, stream));
  DO(cudaStreamSynchronize(stream));
  DO(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
  EXPECT(out[0] == 7 && out[63] == 7);
  DO(cudaMemcpy(out, q, sizeof out, cudaMemcpyDeviceToHost));
  EXPECT(out[0] == 9);
  DO(cudaGraphExecDestroy(exec));
  DO(cudaGraphDestroy(graph));
  DO(cudaStreamDestroy(stream));
  DO(cudaStreamDestroy(fork));
  DO(cudaFree(p));
  DO(cudaFree(q));
}

static void built_graph() {
  cudaGraph_t graph;
  cudaGraphNode_t fill, kernel, host;
  cudaGraphExec_t exec;
  int *p = device<int>(64), n = 64, value = 4, out[64];
  static int calls = 0;
  DO(cudaGraphCreate(&graph, 0));
  cudaMemsetParams set = {};
  set.dst = p, set.elementSize = 4, set.width = 64, set.height = 1, set.value = 10;
  DO(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
  void *arguments[] = {&p, &n, &value};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void *>(add), launch.gridDim = dim3(1), launch.blockDim = dim3(64);
  launch.kernelParams = arguments;
  DO(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  cudaHostNodeParams call = {[](void *counter) { ++*static_cast<int *>(counter); }, &calls};
  DO(cudaGraphAddHostNode(&host, graph, &kernel, 1, &call));
  DO(cudaGraphInstantiate(&exec, graph, 0));
  DO(cudaGraphLaunch(exec, 0));
  DO(cudaDeviceSynchronize());
  DO(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
  EXPECT(out[5] == 14 && calls == 1);
  value = 6;
  DO(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
  DO(cudaGraphLaunch(exec, 0));
  DO(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
  EXPECT(out[5] == 16 && calls == 2);
  DO(cudaGraphExecDestroy(exec));
  DO(cudaGraphDestroy(graph));
  DO(cudaFree(p));
}

__global__ void grid_sum(int *data, int *sum, int n) {
  auto grid = cooperative_groups::this_grid();
  for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) data[i] = 1;
  grid.sync();
  int own = 0;
  for (unsigned i = grid.thread_rank(); i < n; i += grid.size()) own += data[n - 1 - i];
  atomicAdd(sum, own);
}

static void launches() {
  int n = 10000, *data = device<int>(n), *sum = device<int>(1), out = 0, blocks = 0;
  DO(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, grid_sum, 128, 0));
  EXPECT(blocks > 0);
  void *arguments[] = {&data, &sum, &n};
  DO(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(grid_sum), dim3(8), dim3(128), arguments, 0, 0));
  DO(cudaMemcpy(&out, sum, 4, cudaMemcpyDeviceToHost));
  EXPECT(out == n);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(40), config.blockDim = dim3(256);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributePriority;
  config.attrs = &attribute, config.numAttrs = 1;
  DO(cudaLaunchKernelEx(&config, add, data, n, 4));
  DO(cudaMemcpy(&out, data + n - 1, 4, cudaMemcpyDeviceToHost));
  EXPECT(out == 5);
  add<<<1, 2048>>>(data, n, 1);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  add<<<0, 32>>>(data, n, 1);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  int grid, block;
  DO(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 0));
  EXPECT(block > 0 && block % 32 == 0 && grid > 0);
  DO(cudaFree(data));
  DO(cudaFree(sum));
}

extern __shared__ char dynamic[];
__global__ void big(int *out, int last) {
  dynamic[last] = 7;
  __syncthreads();
  *out = dynamic[last];
}

static void attributes() {
  cudaFuncAttributes got;
  DO(cudaFuncGetAttributes(&got, big));
  EXPECT(got.maxThreadsPerBlock == 1024 && got.sharedSizeBytes == 0 && got.ptxVersion >= 50);
  int most = 0, *p = device<int>(1), out = 0;
  DO(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT(most >= 48 * 1024);
  big<<<1, 1, 60000>>>(p, 59999);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);  // not without opting in
  DO(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  big<<<1, 1, 60000>>>(p, 59999);
  DO(cudaGetLastError());
  DO(cudaMemcpy(&out, p, 4, cudaMemcpyDeviceToHost));
  EXPECT(out == 7);
  DO(cudaFuncSetCacheConfig(big, cudaFuncCachePreferL1));
  DO(cudaFree(p));
}

static void properties() {
  cudaDeviceProp prop;
  int count = 0, driver = 0, runtime = 0;
  DO(cudaGetDeviceCount(&count));
  DO(cudaGetDeviceProperties(&prop, 0));
  EXPECT(count >= 1 && prop.warpSize == 32 && prop.maxThreadsPerBlock == 1024 && prop.multiProcessorCount > 0);
  EXPECT(prop.totalGlobalMem > 0 && prop.sharedMemPerBlock >= 49152 && prop.regsPerBlock > 0 && prop.major >= 5);
  EXPECT(prop.unifiedAddressing && prop.managedMemory && prop.maxThreadsDim[2] == 64 && strlen(prop.name) > 3);
  DO(cudaDriverGetVersion(&driver));
  DO(cudaRuntimeGetVersion(&runtime));
  EXPECT(driver >= runtime);
  char bus[32];
  int device = -1;
  DO(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  DO(cudaDeviceGetByPCIBusId(&device, bus));
  EXPECT(device == 0);
  EXPECT(cudaSetDevice(1000) == cudaErrorInvalidDevice);
  cudaGetLastError();
  size_t limit = 0;
  DO(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  DO(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT(limit >= 16 << 20);
}

static void threads() {
  std::vector<std::thread> all;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; t++)
    all.emplace_back([t, &right] {
      int *p, out[256];
      cudaMalloc(&p, sizeof out);
      cudaMemset(p, 0, sizeof out);
      for (int i = 0; i < 5; i++) add<<<1, 256, 0, cudaStreamPerThread>>>(p, 256, t);
      cudaMemcpyAsync(out, p, sizeof out, cudaMemcpyDeviceToHost, cudaStreamPerThread);
      right += cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess && out[255] == 5 * t;
      cudaFree(p);
    });
  for (auto &thread : all) thread.join();
  EXPECT(right == 8);
}

int main() {
  run("streams in order by events", ordering);
  run("event timing", timing);
  run("callbacks and host functions", callbacks);
  run("graph from a captured stream", capture);
  run("graph of nodes, updated", built_graph);
  run("cooperative and extended launches", launches);
  run("function attributes", attributes);
  run("device properties and limits", properties);
  run("host threads", threads);
  return failures;
}
