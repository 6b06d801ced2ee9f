// malloc, free, new and delete in kernels: memory that outlives the kernel, blocks of many sizes that do not
// overlap, exhaustion, and use again after it.
#include "sample.h"

struct Node {
  int value;
  Node *next;
};

// Every thread makes a list of its own; a later kernel adds it up and frees it.
__global__ void make_lists(Node **heads, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Node *head = nullptr;
  for (int k = 0; k < length; k++) head = new Node{i * k, head};
  heads[i] = head;
}

__global__ void add_lists(Node **heads, int *sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (Node *node = heads[i]; node;) {
    Node *next = node->next;
    sum += node->value;
    delete node;
    node = next;
  }
  sums[i] = sum;
}

// Blocks of different sizes, filled, checked and freed in changing order, while all other threads do the same.
__global__ void churn(int *faults, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = i * 2654435761u + 12345;
  unsigned *kept[4] = {};
  unsigned words[4] = {};
  for (int round = 0; round < rounds; round++) {
    state = state * 1664525u + 1013904223u;
    int slot = state >> 30;
    if (kept[slot]) {
      for (unsigned k = 0; k < words[slot]; k++) faults[i] += kept[slot][k] != (unsigned)i * 64 + slot;
      free(kept[slot]);
      kept[slot] = nullptr;
    }
    words[slot] = (state >> 8) % 60;
    kept[slot] = (unsigned *)malloc(words[slot] * 4);
    if (!kept[slot]) words[slot] = 0;
    if ((unsigned long long)kept[slot] % 16) faults[i]++;
    for (unsigned k = 0; k < words[slot]; k++) kept[slot][k] = (unsigned)i * 64 + slot;
  }
  for (int slot = 0; slot < 4; slot++) {
    for (unsigned k = 0; k < words[slot]; k++) faults[i] += kept[slot][k] != (unsigned)i * 64 + slot;
    free(kept[slot]);
  }
}

__global__ void exhaust(int *given, size_t size) {
  void *blocks[64];
  int n = 0;
  while (n < 64 && (blocks[n] = malloc(size))) n++;
  *given = n;
  for (int k = 0; k < n; k++) free(blocks[k]);
}

int main() {
  const int threads = 256;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
  Node **heads;
  int *numbers, want[threads];
  CHECK(cudaMalloc(&heads, threads * sizeof *heads));
  CHECK(cudaMallocManaged(&numbers, sizeof want));
  for (int repeat = 0; repeat < 3; repeat++) {
    make_lists<<<4, threads / 4>>>(heads, 40);
    add_lists<<<2, threads / 2>>>(heads, numbers);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < threads; i++) want[i] = i * 780;
    expect_equal(numbers, want, threads, "sums of lists");
  }
  CHECK(cudaMemset(numbers, 0, sizeof want));
  churn<<<4, threads / 4>>>(numbers, 60);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < threads; i++) want[i] = 0;
  expect_equal(numbers, want, threads, "words of other blocks");
  int first = 0;
  for (int repeat = 0; repeat < 2; repeat++) {
    exhaust<<<1, 1>>>(numbers, 100000);
    CHECK(cudaDeviceSynchronize());
    if (repeat == 0) first = numbers[0];
    if (numbers[0] < 20 || numbers[0] > 42 || numbers[0] != first) {
      std::printf("FAIL %d blocks of 100000 bytes of a heap of 4 MiB\n", numbers[0]);
      return 1;
    }
  }
  exhaust<<<1, 1>>>(numbers, (size_t)64 << 20);
  CHECK(cudaDeviceSynchronize());
  if (numbers[0]) return std::printf("FAIL a block larger than the heap\n"), 1;
  return pass();
}
