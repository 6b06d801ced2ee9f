// Locks as programs write them: a hash table with a list and a lock for each bucket (and several places that give it
// back), locks that functions take and give back, one inside another, and several by trying. Threads of a warp want
// the same locks at the same time.
#include <cooperative_groups.h>
#include <vector>
#include "sample.h"

namespace cg = cooperative_groups;

const int buckets = 7, accounts = 6, blocks = 3, threads = 96, n = blocks * threads, keys = 40;

struct Node {
  int key, count, next;
};

struct Table {
  int *locks;
  volatile int *heads, *used;
  volatile Node *nodes;
};

// Counts a key: in its node, or in a new one. `false`: it was there.
__device__ bool insert(Table t, int key) {
  int bucket = key % buckets;
  while (atomicCAS(&t.locks[bucket], 0, 1) != 0) {
  }
  __threadfence();
  for (int at = t.heads[bucket]; at >= 0; at = t.nodes[at].next)
    if (t.nodes[at].key == key) {
      t.nodes[at].count = t.nodes[at].count + 1;
      __threadfence();
      atomicExch(&t.locks[bucket], 0);
      return false;
    }
  int node = atomicAdd((int *)t.used, 1);
  t.nodes[node].key = key;
  t.nodes[node].count = 1;
  t.nodes[node].next = t.heads[bucket];
  __threadfence();
  t.heads[bucket] = node;
  __threadfence();
  atomicExch(&t.locks[bucket], 0);
  return true;
}

__global__ void fill(Table t, int *fresh) {
  int thread = blockIdx.x * threads + threadIdx.x;
  if (insert(t, thread * 13 % keys)) {
    cg::coalesced_group group = cg::coalesced_threads();  // one addition for all that are here
    if (group.thread_rank() == 0) atomicAdd(fresh, (int)group.size());
  }
}

__noinline__ __device__ void lock(int *l) {
  while (atomicCAS(l, 0, 1) != 0) __nanosleep(20);
  __threadfence();
}

__noinline__ __device__ void unlock(int *l) {
  __threadfence();
  *(volatile int *)l = 0;
}

__global__ void in_functions(int *l, volatile int *counter) {
  lock(l);
  *counter = *counter + 1;
  unlock(l);
  if (threadIdx.x % 3 == 0) {
    lock(l);
    *counter = *counter + 100;
    unlock(l);
  }
}

// Moves money between two accounts: the lower lock first, then the other.
__global__ void nested(int *locks, volatile int *money) {
  int thread = blockIdx.x * threads + threadIdx.x;
  int from = thread % accounts, to = (thread / accounts + from + 1) % accounts;
  if (from == to) return;
  int low = min(from, to), high = max(from, to);
  while (atomicCAS(&locks[low], 0, 1) != 0) {
  }
  while (atomicCAS(&locks[high], 0, 1) != 0) {
  }
  __threadfence();
  money[from] = money[from] - thread;
  money[to] = money[to] + thread;
  __threadfence();
  atomicExch(&locks[high], 0);
  atomicExch(&locks[low], 0);
}

// The same in any order: who does not get the second lock gives the first one back, and waits.
__global__ void tried(int *locks, volatile int *money) {
  int thread = blockIdx.x * threads + threadIdx.x;
  int from = thread % accounts, to = (thread / accounts + from + 1) % accounts;
  if (from == to) return;
  unsigned pause = 20 + thread % 32;
  while (true) {
    if (atomicCAS(&locks[from], 0, 1) == 0) {
      if (atomicCAS(&locks[to], 0, 1) == 0) break;
      atomicExch(&locks[from], 0);
    }
    __nanosleep(pause);
    if (pause < 1000) pause *= 2;
  }
  __threadfence();
  money[from] = money[from] - thread;
  money[to] = money[to] + thread;
  __threadfence();
  atomicExch(&locks[to], 0);
  atomicExch(&locks[from], 0);
}

// Hand over hand along a list: the next node's lock before this one is given back.
__global__ void along(int *locks, volatile int *visits) {
  while (atomicCAS(&locks[0], 0, 1) != 0) {
  }
  for (int at = 0; at < accounts; at++) {
    __threadfence();
    visits[at] = visits[at] + 1;
    if (at + 1 < accounts)
      while (atomicCAS(&locks[at + 1], 0, 1) != 0) {
      }
    __threadfence();
    atomicExch(&locks[at], 0);
  }
}

template <typename T>
T *zeros(size_t count) {
  T *made;
  CHECK(cudaMalloc(&made, count * sizeof(T)));
  CHECK(cudaMemset(made, 0, count * sizeof(T)));
  return made;
}

std::vector<int> read(const int *from, size_t count) {
  std::vector<int> found(count);
  CHECK(cudaMemcpy(found.data(), from, count * 4, cudaMemcpyDeviceToHost));
  return found;
}

int main() {
  Table t = {zeros<int>(buckets), zeros<int>(buckets), zeros<int>(1), zeros<Node>(keys)};
  CHECK(cudaMemset((void *)t.heads, 0xff, buckets * 4));
  int *fresh = zeros<int>(1);
  fill<<<blocks, threads>>>(t, fresh);
  CHECK(cudaDeviceSynchronize());
  std::vector<Node> nodes(keys);
  CHECK(cudaMemcpy(nodes.data(), (void *)t.nodes, keys * sizeof(Node), cudaMemcpyDeviceToHost));
  std::vector<int> got(keys, 0), want(keys, 0);
  for (const Node &node : nodes) got[node.key] += node.count;
  for (int thread = 0; thread < n; thread++) want[thread * 13 % keys]++;
  expect_equal(got.data(), want.data(), keys, "count of key");
  int all = keys;
  expect_equal(read(fresh, 1).data(), &all, 1, "new keys");

  int *counter = zeros<int>(1), sum = n + 100 * (n / 3);
  in_functions<<<blocks, threads>>>(zeros<int>(1), counter);
  CHECK(cudaDeviceSynchronize());
  expect_equal(read(counter, 1).data(), &sum, 1, "locks in functions");

  int *money = zeros<int>(accounts), *more = zeros<int>(accounts), *visits = zeros<int>(accounts);
  nested<<<blocks, threads>>>(zeros<int>(accounts), money);
  tried<<<blocks, threads>>>(zeros<int>(accounts), more);
  along<<<blocks, threads>>>(zeros<int>(accounts), visits);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<int> balance(accounts, 0), each(accounts, n);
  for (int thread = 0; thread < n; thread++) {
    int from = thread % accounts, to = (thread / accounts + from + 1) % accounts;
    balance[from] -= thread, balance[to] += thread;
  }
  expect_equal(read(money, accounts).data(), balance.data(), accounts, "account, nested");
  expect_equal(read(more, accounts).data(), balance.data(), accounts, "account, tried");
  expect_equal(read(visits, accounts).data(), each.data(), accounts, "visits");
  return pass();
}
