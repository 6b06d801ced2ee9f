// Ballot and vote: keep the elements that satisfy a predicate, in order within each warp, with one
// atomic per warp; votes are taken inside divergent code too.
#include <algorithm>
#include <vector>
#include "sample.h"

__global__ void compact(const int *in, int n, int *out, int *count, int *votes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  bool keep = i < n && in[i] % 3 == 0;
  unsigned kept = __ballot_sync(0xffffffffu, keep);
  int base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(kept));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = in[i];
  if (lane < 20) {  // a partial warp votes by itself
    unsigned part = __activemask();
    int vote = (__any_sync(part, keep) ? 1 : 0) | (__all_sync(part, i < n) ? 2 : 0) | (__popc(part) << 2);
    if (i < n) votes[i] = vote;
  }
}

int main() {
  const int n = 1000, threads = 128, blocks = (n + threads - 1) / threads;
  Random random(5);
  std::vector<int> in(n), out(n), want, votes(n), want_votes(n, -1);
  for (int &x : in) x = (int)(random.next() % 1000);
  for (int i = 0; i < n; i++)
    if (in[i] % 3 == 0) want.push_back(in[i]);
  for (int i = 0; i < n; i++) {
    if (i % 32 >= 20) continue;
    int warp = i / 32 * 32;
    bool any = false, all = true;
    for (int k = warp; k < warp + 20; k++) {
      any |= k < n && in[k] % 3 == 0;
      all &= k < n;
    }
    want_votes[i] = (any ? 1 : 0) | (all ? 2 : 0) | 20 << 2;
  }
  int *din, *dout, *dcount, *dvotes, count = 0;
  CHECK(cudaMalloc(&din, n * 4));
  CHECK(cudaMalloc(&dout, n * 4));
  CHECK(cudaMalloc(&dcount, 4));
  CHECK(cudaMalloc(&dvotes, n * 4));
  CHECK(cudaMemcpy(din, in.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(dcount, 0, 4));
  CHECK(cudaMemset(dvotes, 0xff, n * 4));
  compact<<<blocks, threads>>>(din, n, dout, dcount, dvotes);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&count, dcount, 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(out.data(), dout, n * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(votes.data(), dvotes, n * 4, cudaMemcpyDeviceToHost));
  int want_count = (int)want.size();
  expect_equal(&count, &want_count, 1, "count");
  std::sort(out.begin(), out.begin() + count);  // warps finish in any order
  std::sort(want.begin(), want.end());
  expect_equal(out.data(), want.data(), count, "out");
  expect_equal(votes.data(), want_votes.data(), n, "votes");
  return pass();
}
