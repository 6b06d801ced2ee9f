// Graphs that decide on the GPU what comes next: a loop until a sequence settles, a branch with two sides, a switch,
// a loop in a loop, with copies and fills in the bodies, built from nodes and from captured launches.
#include <vector>
#include "sample.h"

enum { N = 96 };

// One round of Collatz for every element; goes on while one is not 1 yet.
__global__ void collatz(unsigned *x, unsigned *rounds, cudaGraphConditionalHandle more) {
  const unsigned old = x[threadIdx.x];
  if (old != 1) {
    x[threadIdx.x] = old % 2 ? 3 * old + 1 : old / 2;
    rounds[threadIdx.x]++;
  }
  const int left = __syncthreads_or(old > 2);
  if (threadIdx.x == 0) cudaGraphSetConditional(more, left);
}

__global__ void decide(const unsigned *what, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, *what); }

__global__ void add(unsigned *x, unsigned value) { x[threadIdx.x] += value; }

// Counts down *left and says whether it was above 0.
__global__ void count_down(unsigned *left, cudaGraphConditionalHandle handle) {
  const unsigned n = *left;
  if (n) *left = n - 1;
  cudaGraphSetConditional(handle, n > 0);
}

static unsigned *x, *y, *control;
static std::vector<unsigned> got(N);

static void expect_all(const unsigned *from, const std::vector<unsigned> &want, const char *what) {
  CHECK(cudaMemcpy(got.data(), from, N * sizeof(unsigned), cudaMemcpyDeviceToHost));
  expect_equal(got.data(), want.data(), N, what);
}

static void set(unsigned *at, unsigned value) { CHECK(cudaMemcpy(at, &value, sizeof value, cudaMemcpyHostToDevice)); }

template <typename... Values>
static cudaGraphNode_t kernel(cudaGraph_t graph, const std::vector<cudaGraphNode_t> &after, void *function, int threads,
                              Values... values) {
  void *arguments[] = {&values...};
  cudaGraphNode_t node;
  cudaKernelNodeParams p = {function, 1, (unsigned)threads, 0, arguments, nullptr};
  CHECK(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &p));
  return node;
}

struct Choice {
  cudaGraphNode_t node;
  cudaGraph_t *bodies;
};

static Choice choice(cudaGraph_t graph, const std::vector<cudaGraphNode_t> &after, cudaGraphConditionalHandle handle,
                     cudaGraphConditionalNodeType type, unsigned size) {
  Choice made;
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
#if CUDART_VERSION >= 13000
  CHECK(cudaGraphAddNode(&made.node, graph, after.data(), nullptr, after.size(), &p));
#else
  CHECK(cudaGraphAddNode(&made.node, graph, after.data(), after.size(), &p));
#endif
  made.bodies = p.conditional.phGraph_out;
  return made;
}

static void launch(cudaGraph_t graph, cudaStream_t stream) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaGraphExecDestroy(exec));  // ends when the launch has
  CHECK(cudaStreamSynchronize(stream));
}

// A captured body, executed until every element has come to 1.
static void loop(cudaStream_t stream) {
  std::vector<unsigned> start(N), rounds(N, 0);
  for (int i = 0; i < N; i++) {
    start[i] = i + 1;
    for (unsigned v = start[i]; v != 1; v = v % 2 ? 3 * v + 1 : v / 2) rounds[i]++;
  }
  CHECK(cudaMemcpy(x, start.data(), N * sizeof(unsigned), cudaMemcpyHostToDevice));
  cudaGraph_t graph;
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t clear;
  cudaMemsetParams fill = {y, 0, 0, sizeof(unsigned), N, 1};
  CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
  Choice made = choice(graph, {clear}, handle, cudaGraphCondTypeWhile, 1);
  CHECK(cudaStreamBeginCaptureToGraph(stream, made.bodies[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  collatz<<<1, N, 0, stream>>>(x, y, handle);
  CHECK(cudaStreamEndCapture(stream, nullptr));
  launch(graph, stream);
  expect_all(x, std::vector<unsigned>(N, 1), "loop");
  expect_all(y, rounds, "rounds of the loop");
  CHECK(cudaGraphDestroy(graph));
}

// What the control word says: 0 the other side, else the first; and body 0, 1, 2 or none.
static void branches(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphConditionalHandle sides, cases;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphConditionalHandleCreate(&sides, graph));
  CHECK(cudaGraphConditionalHandleCreate(&cases, graph));
  cudaGraphNode_t first = kernel(graph, {}, (void *)decide, 1, control, sides);
  Choice either = choice(graph, {first}, sides, cudaGraphCondTypeIf, 2);
  kernel(either.bodies[0], {}, (void *)add, N, x, 1u);
  kernel(either.bodies[1], {}, (void *)add, N, x, 2u);
  cudaGraphNode_t second = kernel(graph, {either.node}, (void *)decide, 1, control, cases);
  Choice one = choice(graph, {second}, cases, cudaGraphCondTypeSwitch, 3);
  for (unsigned n = 0; n < 3; n++) kernel(one.bodies[n], {}, (void *)add, N, x, 10 * (n + 1));
  kernel(graph, {one.node}, (void *)add, N, x, 100u);
  const unsigned want[] = {112, 121, 131, 101};
  for (unsigned n = 0; n < 4; n++) {
    CHECK(cudaMemset(x, 0, N * sizeof(unsigned)));
    set(control, n);
    launch(graph, stream);
    expect_all(x, std::vector<unsigned>(N, want[n]), "branches");
  }
  CHECK(cudaGraphDestroy(graph));
}

// control[0] times: two rounds of the inner loop, a copy of what they made, and 1 more.
static void nested(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphConditionalHandle outer, inner;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphConditionalHandleCreate(&outer, graph));
  cudaGraphNode_t first = kernel(graph, {}, (void *)count_down, 1, control, outer);
  Choice loops = choice(graph, {first}, outer, cudaGraphCondTypeWhile, 1);
  cudaGraph_t body = loops.bodies[0];
  CHECK(cudaGraphConditionalHandleCreate(&inner, body));
  cudaGraphNode_t reset, copied;
  cudaMemsetParams two = {control + 1, 0, 2, sizeof(unsigned), 1, 1};
  CHECK(cudaGraphAddMemsetNode(&reset, body, nullptr, 0, &two));
  cudaGraphNode_t begin = kernel(body, {reset}, (void *)count_down, 1, control + 1, inner);
  Choice deep = choice(body, {begin}, inner, cudaGraphCondTypeWhile, 1);
  cudaGraphNode_t more = kernel(deep.bodies[0], {}, (void *)add, N, x, 5u);
  kernel(deep.bodies[0], {more}, (void *)count_down, 1, control + 1, inner);
  CHECK(cudaGraphAddMemcpyNode1D(&copied, body, &deep.node, 1, y, x, N * sizeof(unsigned), cudaMemcpyDeviceToDevice));
  cudaGraphNode_t one = kernel(body, {copied}, (void *)add, N, x, 1u);
  kernel(body, {one}, (void *)count_down, 1, control, outer);
  for (unsigned times : {0u, 1u, 7u}) {
    CHECK(cudaMemset(x, 0, N * sizeof(unsigned)));
    CHECK(cudaMemset(y, 0, N * sizeof(unsigned)));
    set(control, times);
    launch(graph, stream);
    expect_all(x, std::vector<unsigned>(N, 11 * times), "nested loops");
    expect_all(y, std::vector<unsigned>(N, times ? 11 * times - 1 : 0), "copy in a loop");
  }
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  CHECK(cudaMalloc(&x, N * sizeof(unsigned)));
  CHECK(cudaMalloc(&y, N * sizeof(unsigned)));
  CHECK(cudaMalloc(&control, 2 * sizeof(unsigned)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  loop(stream);
  branches(stream);
  nested(stream);
  return pass();
}
