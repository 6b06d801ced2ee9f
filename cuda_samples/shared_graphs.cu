// Graphs of kernels with more shared memory than many AMD chips have: nodes that are read, changed and run again
// with other sizes, captured launches, a captured cooperative grid, updates of whole graphs.
#include <cooperative_groups.h>
#include <vector>
#include "sample.h"

namespace cg = cooperative_groups;

static __device__ unsigned shared_bytes() {
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}

// Reverses rows of n elements and adds `more`; the last element of a row is the size of the shared memory.
__global__ void reverse(const int *in, int *out, int n, int more) {
  extern __shared__ int row[];
  int *turned = row + shared_bytes() / sizeof(int) - n;  // the end of it
  for (int i = threadIdx.x; i < n; i += blockDim.x) turned[n - 1 - i] = in[blockIdx.x * n + i] + more;
  __syncthreads();
  for (int i = threadIdx.x; i < n - 1; i += blockDim.x) out[blockIdx.x * n + i] = turned[i];
  if (threadIdx.x == 0) out[blockIdx.x * n + n - 1] = (int)shared_bytes();
}

// Each block keeps its part of the data in shared memory while it takes from its neighbour.
__global__ void rotate(int *data, int n, int turns) {
  extern __shared__ int part[];
  cg::grid_group grid = cg::this_grid();
  int *mine = data + blockIdx.x * n, *next = data + (blockIdx.x + 1) % gridDim.x * n;
  for (int turn = 0; turn < turns; turn++) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) part[i] = next[i] + 1;
    grid.sync();
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = part[i];
    grid.sync();
  }
}

enum { BLOCKS = 6, N = 9000, ALL = BLOCKS * N, SMALL = 40000, BIG = 150000, BIGGER = 200000 };

static int *in, *out;
static std::vector<int> data(ALL), got(ALL);

static std::vector<int> reversed(const std::vector<int> &from, int more, int bytes) {
  std::vector<int> to(ALL);
  for (int i = 0; i < ALL; i++) to[i] = i % N == N - 1 ? bytes : from[i / N * N + N - 1 - i % N] + more;
  return to;
}

static void expect_out(const std::vector<int> &want, const char *what) {
  CHECK(cudaMemcpy(got.data(), out, ALL * sizeof(int), cudaMemcpyDeviceToHost));
  expect_equal(got.data(), want.data(), ALL, what);
}

static void expect(bool good, const char *what) {
  if (!good) {
    std::printf("FAIL %s\n", what);
    std::exit(1);
  }
}

static void run(cudaGraphExec_t exec, cudaStream_t stream) {
  CHECK(cudaMemsetAsync(out, 0, ALL * sizeof(int), stream));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
}

static void nodes(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  int n = N, more = 5;
  void *arguments[] = {&in, &out, &n, &more};
  cudaKernelNodeParams p = {(void *)reverse, BLOCKS, 96, BIG, arguments, nullptr}, found = {};
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  CHECK(cudaGraphKernelNodeGetParams(node, &found));
  expect(found.func == (void *)reverse && found.sharedMemBytes == BIG, "kernel and size of a node");
  expect(found.gridDim.x == BLOCKS && found.blockDim.x == 96 && found.blockDim.y == 1, "shape of a node");
  expect(*(int *)found.kernelParams[2] == N && *(int *)found.kernelParams[3] == 5, "arguments of a node");
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  run(exec, stream);
  expect_out(reversed(data, 5, BIG), "node");

  void *others[] = {found.kernelParams[0], found.kernelParams[1], found.kernelParams[2], &more};
  more = 6;
  found.kernelParams = others;
  CHECK(cudaGraphKernelNodeSetParams(node, &found));  // what was read, with one argument changed
  CHECK(cudaGraphKernelNodeGetParams(node, &found));
  expect(found.sharedMemBytes == BIG && *(int *)found.kernelParams[3] == 6, "changed node");
  cudaGraphExec_t second;
  CHECK(cudaGraphInstantiate(&second, graph, 0));
  run(second, stream);
  expect_out(reversed(data, 6, BIG), "changed node");

  for (int bytes : {SMALL, BIGGER, SMALL}) {  // from memory in the chip to memory beyond it, and back
    more++;
    p.sharedMemBytes = bytes;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &p));
    run(exec, stream);
    expect_out(reversed(data, more, bytes), "node of an executable graph");
  }
  CHECK(cudaGraphKernelNodeSetParams(node, &p));
  CHECK(cudaGraphKernelNodeGetParams(node, &found));
  expect(found.sharedMemBytes == SMALL, "size of a node that no longer needs more");
  CHECK(cudaGraphExecDestroy(second));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

static cudaGraph_t captured(cudaStream_t stream, int more, int bytes) {
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  reverse<<<BLOCKS, 128, bytes, stream>>>(in, out, N, more);
  reverse<<<BLOCKS, 64, SMALL, stream>>>(out, in, N, more);
  reverse<<<BLOCKS, 32, bytes, stream>>>(in, out, N, more);
  CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

static void captures(cudaStream_t stream) {
  cudaGraphExec_t exec;
  cudaGraph_t graph = captured(stream, 3, BIG), other = captured(stream, 4, BIGGER);
  cudaGraphNode_t nodes[3];
  size_t count = 3;
  CHECK(cudaGraphGetNodes(graph, nodes, &count));
  expect(count == 3, "nodes of a captured graph");
  size_t bytes = 0;
  for (cudaGraphNode_t node : nodes) {
    cudaKernelNodeParams p = {};
    CHECK(cudaGraphKernelNodeGetParams(node, &p));
    expect(p.func == (void *)reverse && *(int *)p.kernelParams[3] == 3, "arguments of a captured node");
    bytes += p.sharedMemBytes;
  }
  expect(bytes == 2 * BIG + SMALL, "sizes of captured nodes");
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int update = 0; update < 2; update++) {
    CHECK(cudaMemcpy(in, data.data(), ALL * sizeof(int), cudaMemcpyHostToDevice));
    run(exec, stream);
    const int more = update ? 4 : 3, bytes = update ? BIGGER : BIG;
    std::vector<int> want = reversed(reversed(reversed(data, more, bytes), more, SMALL), more, bytes);
    expect_out(want, update ? "updated graph" : "captured graph");
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, other, &info));
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(other));
}

static void cooperative(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int n = N, turns = 2;
  void *arguments[] = {&out, &n, &turns};
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaLaunchCooperativeKernel((void *)rotate, BLOCKS, 128, arguments, BIG, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaMemcpy(out, data.data(), ALL * sizeof(int), cudaMemcpyHostToDevice));
  for (int launch = 0; launch < 3; launch++) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::vector<int> want(ALL);
  for (int i = 0; i < ALL; i++) want[i] = data[(i + 6 * N) % ALL] + 6;
  expect_out(want, "cooperative graph");
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  Random random(31);
  for (int &x : data) x = (int)(random.next() >> 8);
  CHECK(cudaMalloc(&in, ALL * sizeof(int)));
  CHECK(cudaMalloc(&out, ALL * sizeof(int)));
  CHECK(cudaMemcpy(in, data.data(), ALL * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, BIGGER));
  CHECK(cudaFuncSetAttribute(rotate, cudaFuncAttributeMaxDynamicSharedMemorySize, BIG));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  nodes(stream);
  captures(stream);
  cooperative(stream);
  return pass();
}
