// Recursive device functions with local arrays: quicksort, mutual recursion, Ackermann's function.
#include "sample.h"

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }

__device__ __noinline__ void quicksort(int *x, int n) {
  if (n < 2) return;
  int pivot = x[n / 2], below = 0, above = n - 1;
  while (below <= above) {
    while (x[below] < pivot) below++;
    while (x[above] > pivot) above--;
    if (below <= above) {
      int other = x[below];
      x[below++] = x[above], x[above--] = other;
    }
  }
  quicksort(x, above + 1);
  quicksort(x + below, n - below);
}

// Sums all ways to write `n` as ordered sums of 1, 2 and 3, each way remembered in a local array.
__device__ __noinline__ int ways(const int *path, int length, int n) {
  int own[12], total = 0;
  for (int k = 0; k < length; k++) own[k] = path[k];
  if (n == 0) {
    for (int k = 0; k < length; k++) total += own[k] * (k + 1);
    return total;
  }
  for (int step = 1; step <= 3 && step <= n; step++) {
    own[length] = step;
    total += ways(own, length + 1, n - step);
  }
  return total;
}

__global__ void numbers(int *ackermanns, int *parities, int *sums) {
  int i = threadIdx.x, nothing[1];
  ackermanns[i] = ackermann(i % 3, i % 5);
  parities[i] = even(i % 20);
  sums[i] = ways(nothing, 0, i % 7);
}

__global__ void sort(int *x) {
  int own[24];
  for (int k = 0; k < 24; k++) own[k] = x[threadIdx.x * 24 + k];
  quicksort(own, 24);
  for (int k = 0; k < 24; k++) x[threadIdx.x * 24 + k] = own[k];
}

static int host_ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? host_ackermann(m - 1, 1) : host_ackermann(m - 1, host_ackermann(m, n - 1));
}

static int host_ways(const int *path, int length, int n) {
  int own[12], total = 0;
  for (int k = 0; k < length; k++) own[k] = path[k];
  for (int k = 0; k < length && n == 0; k++) total += own[k] * (k + 1);
  for (int step = 1; step <= 3 && step <= n; step++) {
    own[length] = step;
    total += host_ways(own, length + 1, n - step);
  }
  return total;
}

int main() {
  const int threads = 96;
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  int *results, *x, want[3 * threads], nothing[1];
  CHECK(cudaMallocManaged(&results, sizeof want));
  CHECK(cudaMallocManaged(&x, threads * 24 * sizeof(int)));
  numbers<<<1, threads>>>(results, results + threads, results + 2 * threads);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < threads; i++) {
    want[i] = host_ackermann(i % 3, i % 5);
    want[threads + i] = i % 20 % 2 == 0;
    want[2 * threads + i] = host_ways(nothing, 0, i % 7);
  }
  expect_equal(results, want, 3 * threads, "recursive function");
  Random random(7);
  long long before = 0, after = 0;
  for (int k = 0; k < threads * 24; k++) before += x[k] = random.next() % 1000;
  sort<<<1, threads>>>(x);
  CHECK(cudaDeviceSynchronize());
  for (int k = 0; k < threads * 24; k++) {
    after += x[k];
    if (k % 24 && x[k - 1] > x[k]) return std::printf("FAIL not sorted at %d\n", k), 1;
  }
  if (before != after) return std::printf("FAIL the numbers changed\n"), 1;
  return pass();
}
