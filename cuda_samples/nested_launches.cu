// Launches from kernels (dynamic parallelism): a sum by recursion, order within a block's default stream and in streams,
// tail launches, copies and fills, and errors.
// link: -rdc=true -lcudadevrt
#include "sample.h"

// Adds the numbers 0 ... n - 1 by halves: what each kernel launches is complete when the kernel is.
__global__ void add_up(unsigned long long *sum, int first, int n) {
  if (n <= 100) {
    unsigned long long own = 0;
    for (int k = 0; k < n; k++) own += first + k;
    atomicAdd(sum, own);
    return;
  }
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  add_up<<<1, 1>>>(sum, first, n / 2);
  add_up<<<1, 1, 0, other>>>(sum, first + n / 2, n - n / 2);
  cudaStreamDestroy(other);
}

struct Log {
  int count;
  int entries[64];
};

__global__ void note(Log *log, char what) { log->entries[log->count++] = what; }

__global__ void note_and_launch(Log *log, char before, char after) {
  note<<<1, 1>>>(log, before);
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, after);
}

// The tail comes last, whenever it was launched; the second kernel of a stream waits for what the first one launches.
__global__ void in_order(Log *log) {
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 'y');
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 'z');
  note<<<1, 1>>>(log, 'a');
  note_and_launch<<<1, 1>>>(log, 'b', 'c');
  note<<<1, 1>>>(log, 'd');
}

// Launches itself again in its tail, more often than kernels nest.
__global__ void count_down(int *counter, int n) {
  ++*counter;
  if (n > 1) count_down<<<1, 1, 0, cudaStreamTailLaunch>>>(counter, n - 1);
}

__global__ void scale(double *x, short factor, int n) {
  extern __shared__ double own[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  own[threadIdx.x] = x[i];
  x[i] = own[threadIdx.x] * factor;
}

// Every block has a default stream of its own.
__global__ void parts(double *x, double *copy, int n) {
  double *from = x + blockIdx.x * n, *to = copy + blockIdx.x * n;
  if (threadIdx.x) return;
  cudaMemsetAsync(to, 0xff, n * sizeof(double), 0);
  scale<<<(n + 63) / 64, 64, 64 * sizeof(double)>>>(from, (short)(blockIdx.x + 2), n);
  cudaMemcpyAsync(to, from, (n - 1) * sizeof(double), cudaMemcpyDeviceToDevice, 0);
  scale<<<(n + 63) / 64, 64, 64 * sizeof(double)>>>(from, -1, n);
}

__global__ void wrong(int *errors) {
  int i = threadIdx.x, *own = errors + 4 * i;
  if (i & 1) scale<<<1, 2048>>>(nullptr, 1, 0);
  own[0] = cudaPeekAtLastError();
  own[1] = cudaGetLastError();
  own[2] = cudaGetLastError();
  scale<<<i & 1, 1>>>(nullptr, 1, 0);
  own[3] = cudaGetLastError();
}

__global__ void copy_in(int *to, const int *from, int *done) { to[threadIdx.x] = from[threadIdx.x], *done += 1; }

// What kernels may ask, memory of the device's heap, and events.
__global__ void ask(int *answers, int *square) {
  size_t limit;
  int *own, *answer = answers;
  cudaGetDevice(answer++);
  cudaGetDeviceCount(answer++);
  cudaDeviceGetAttribute(answer++, cudaDevAttrWarpSize, 0);
  *answer++ = cudaDeviceGetAttribute(answers, cudaDevAttrWarpSize, 99);
  cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
  *answer++ = (int)limit;
  *answer++ = cudaGetErrorString(cudaErrorInvalidValue)[0];
  *answer++ = cudaGetErrorName(cudaErrorInvalidValue)[9];
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(answer++, copy_in, 64, 0);  // at least one, if it fits at all
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(answer++, copy_in, 1025, 0);
  *answer++ = cudaOccupancyMaxActiveBlocksPerMultiprocessor(answers + 11, copy_in, 0, 0);
  *answer = 0;
  cudaMalloc(&own, 4 * sizeof(int));
  for (int k = 0; k < 4; k++) own[k] = 10 * k;
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaMemset2DAsync(square, 8 * sizeof(int), 1, 4 * sizeof(int), 8, stream);
  copy_in<<<1, 4, 0, stream>>>(square + 8, own, answer);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(0, event, 0);
  cudaMemcpy2DAsync(square + 36, 8 * sizeof(int), square, 8 * sizeof(int), 4 * sizeof(int), 4, cudaMemcpyDeviceToDevice, 0);
  cudaEventDestroy(event);
  cudaStreamDestroy(stream);
}

int main() {
  unsigned long long *sum;
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  *sum = 0;
  add_up<<<1, 1>>>(sum, 0, 3000);
  CHECK(cudaDeviceSynchronize());
  if (*sum != 3000ull * 2999 / 2) return std::printf("FAIL sum %llu\n", *sum), 1;

  Log *log;
  int *counter;
  CHECK(cudaMallocManaged(&log, sizeof *log));
  CHECK(cudaMallocManaged(&counter, sizeof *counter));
  log->count = *counter = 0;
  in_order<<<1, 1>>>(log);
  note<<<1, 1>>>(log, '.');  // in the host's stream: after all of that
  count_down<<<1, 1>>>(counter, 100);
  CHECK(cudaDeviceSynchronize());
  const int order[] = {'a', 'b', 'c', 'd', 'y', 'z', '.'}, hundred = 100;
  expect_equal(log->entries, order, 7, "order");
  expect_equal(counter, &hundred, 1, "launches in the tail");

  const int blocks = 3, n = 100;
  double *x, *copy, want[blocks * n];
  CHECK(cudaMallocManaged(&x, sizeof want));
  CHECK(cudaMallocManaged(&copy, sizeof want));
  for (int k = 0; k < blocks * n; k++) x[k] = k + 1, want[k] = -(k + 1) * (k / n + 2);
  parts<<<blocks, 32>>>(x, copy, n);
  CHECK(cudaDeviceSynchronize());
  expect_equal(x, want, blocks * n, "scaled");
  for (int k = 0; k < blocks * n; k++) {
    bool filled = k % n == n - 1, is_nan = copy[k] != copy[k];  // of all ones
    if (filled ? !is_nan : copy[k] != -want[k]) return std::printf("FAIL copy[%d]: %g\n", k, copy[k]), 1;
  }

  int *errors, want_errors[4 * 64];
  CHECK(cudaMallocManaged(&errors, sizeof want_errors));
  wrong<<<1, 64>>>(errors);
  CHECK(cudaDeviceSynchronize());
  for (int k = 0; k < 4 * 64; k++) {
    bool first = k % 4 < 2 && k / 4 % 2, last = k % 4 == 3 && k / 4 % 2 == 0;
    want_errors[k] = first || last ? cudaErrorInvalidConfiguration : cudaSuccess;
  }
  expect_equal(errors, want_errors, 4 * 64, "error");

  int *answers, *square, want_answers[] = {0, 1, 32, cudaErrorInvalidValue, 2048, 'i', 'I', 1, 0, cudaErrorInvalidValue, 1}, want_square[64];
  CHECK(cudaMallocManaged(&answers, sizeof want_answers + sizeof(int)));
  CHECK(cudaMallocManaged(&square, sizeof want_square));
  CHECK(cudaMemset(square, 0, sizeof want_square));
  ask<<<1, 1>>>(answers, square);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGetDeviceCount(want_answers + 1));
  for (int k = 0; k < 64; k++) {
    int x = k % 8, y = k / 8;
    bool inside = x < 4 || y >= 4;
    want_square[k] = !inside ? 0 : (x < 4 ? y : y - 4) == 1 ? 10 * (x % 4) : 0x01010101;
  }
  if (answers[7] > 1) answers[7] = 1;
  expect_equal(answers, want_answers, 11, "answer");
  expect_equal(square, want_square, 64, "square");
  return pass();
}
