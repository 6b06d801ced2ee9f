/* CUB's device-wide, block and warp algorithms against plain loops on the host. */
#include "check.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <cub/cub.cuh>

static const int N = 30007;

static std::vector<int> numbers(unsigned seed, int range) {
  std::vector<int> v(N);
  for (auto &x : v) seed = seed * 1664525u + 1013904223u, x = static_cast<int>(seed >> 8) % range;
  return v;
}

template <class T> T *upload(const std::vector<T> &v) {
  T *p = device<T>(v.size());
  DO(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

template <class T> std::vector<T> download(const T *p, size_t n) {
  std::vector<T> v(n);
  DO(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}

/* CUB's two-phase calls: the first gives the size of the temporary storage. */
template <class F> void with_storage(F call) {
  size_t bytes = 0;
  DO(call(nullptr, bytes));
  void *storage = nullptr;
  DO(cudaMalloc(&storage, bytes + 1));
  DO(call(storage, bytes));
  DO(cudaFree(storage));
}

static void histograms() {
  auto h = numbers(1, 260);
  int *d = upload(h), *bins = device<int>(256);
  with_storage([&](void *s, size_t &b) { return cub::DeviceHistogram::HistogramEven(s, b, d, bins, 257, 0, 256, N); });
  std::vector<int> want(256);
  for (int x : h) want[std::min(x, 256) % 256] += x < 256;
  EXPECT(download(bins, 256) == want);
  cudaFree(d), cudaFree(bins);
}

static void segments() {
  auto h = numbers(2, 10000);
  std::vector<int> offsets;
  for (int at = 0, step = 1; at < N; at += step, step = (step * 5 + 3) % 700) offsets.push_back(at);
  offsets.push_back(N);
  int segments = static_cast<int>(offsets.size()) - 1;
  int *d = upload(h), *at = upload(offsets), *out = device<int>(N);
  with_storage([&](void *s, size_t &b) { return cub::DeviceSegmentedReduce::Sum(s, b, d, out, segments, at, at + 1); });
  auto sums = download(out, segments);
  bool right = true;
  for (int i = 0; i < segments; i++)
    right &= sums[i] == std::accumulate(h.begin() + offsets[i], h.begin() + offsets[i + 1], 0);
  EXPECT(right);
  with_storage([&](void *s, size_t &b) { return cub::DeviceSegmentedSort::SortKeys(s, b, d, out, N, segments, at, at + 1); });
  auto want = h;
  for (int i = 0; i < segments; i++) std::sort(want.begin() + offsets[i], want.begin() + offsets[i + 1]);
  EXPECT(download(out, N) == want);
  with_storage([&](void *s, size_t &b) {
    return cub::DeviceSegmentedRadixSort::SortKeysDescending(s, b, d, out, N, segments, at, at + 1);
  });
  for (int i = 0; i < segments; i++) std::reverse(want.begin() + offsets[i], want.begin() + offsets[i + 1]);
  EXPECT(download(out, N) == want);
  cudaFree(d), cudaFree(at), cudaFree(out);
}

static void runs() {
  auto h = numbers(3, 2);
  int *d = upload(h), *unique = device<int>(N), *counts = device<int>(N), *number = device<int>(1);
  with_storage([&](void *s, size_t &b) { return cub::DeviceRunLengthEncode::Encode(s, b, d, unique, counts, number, N); });
  std::vector<int> values, lengths;
  for (int i = 0; i < N; i++)
    if (i && h[i] == h[i - 1]) lengths.back()++;
    else values.push_back(h[i]), lengths.push_back(1);
  EXPECT(download(number, 1)[0] == static_cast<int>(values.size()));
  EXPECT(download(unique, values.size()) == values && download(counts, values.size()) == lengths);
  cudaFree(d), cudaFree(unique), cudaFree(counts), cudaFree(number);
}

static void selections() {
  auto h = numbers(4, 100);
  int *d = upload(h), *out = device<int>(N), *number = device<int>(1);
  auto small = [] __host__ __device__(int x) { return x < 37; };
  with_storage([&](void *s, size_t &b) { return cub::DeviceSelect::If(s, b, d, out, number, N, small); });
  std::vector<int> want;
  std::copy_if(h.begin(), h.end(), std::back_inserter(want), small);
  EXPECT(download(number, 1)[0] == static_cast<int>(want.size()) && download(out, want.size()) == want);
  with_storage([&](void *s, size_t &b) { return cub::DevicePartition::If(s, b, d, out, number, N, small); });
  auto got = download(out, N);
  EXPECT(std::equal(want.begin(), want.end(), got.begin()) && got[N - 1] == *std::find_if(h.begin(), h.end(), [](int x) { return x >= 37; }));
  cudaFree(d), cudaFree(out), cudaFree(number);
}

static void pairs() {
  auto h = numbers(5, 1 << 20);
  std::vector<double> values(h.begin(), h.end());
  int *k = upload(h), *ko = device<int>(N);
  double *v = upload(values), *vo = device<double>(N);
  with_storage([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortPairs(s, b, k, ko, v, vo, N, 4, 20); });
  std::vector<int> order(N);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return h[a] >> 4 < h[b] >> 4; });
  auto keys = download(ko, N);
  auto moved = download(vo, N);
  bool right = true;
  for (int i = 0; i < N; i++) right &= keys[i] == h[order[i]] && moved[i] == h[order[i]];
  EXPECT(right);
  cudaFree(k), cudaFree(ko), cudaFree(v), cudaFree(vo);
}

template <int THREADS, int ITEMS> __global__ void block_kernel(const int *in, int *sorted, int *scanned, int *sum, int *hist) {
  using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
  using Scan = cub::BlockScan<int, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
  using Raking = cub::BlockReduce<int, THREADS, cub::BLOCK_REDUCE_RAKING>;
  using Histogram = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 64, cub::BLOCK_HISTO_SORT>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
    typename Raking::TempStorage reduce;
    typename Histogram::TempStorage histogram;
  } t;
  int base = blockIdx.x * THREADS * ITEMS, items[ITEMS], scans[ITEMS];
  unsigned char bytes[ITEMS];
  Load(t.load).Load(in + base, items);
  for (int i = 0; i < ITEMS; i++) bytes[i] = items[i] & 63;
  __syncthreads();
  Scan(t.scan).InclusiveSum(items, scans);
  __syncthreads();
  Store(t.store).Store(scanned + base, scans);
  __syncthreads();
  int total = Raking(t.reduce).Sum(items);
  if (!threadIdx.x) sum[blockIdx.x] = total;
  __syncthreads();
  Histogram(t.histogram).Histogram(bytes, hist + 64 * blockIdx.x);
  __syncthreads();
  Sort(t.sort).Sort(items);
  __syncthreads();
  Store(t.store).Store(sorted + base, items);
}

template <int THREADS, int ITEMS> void blocks() {
  const int tile = THREADS * ITEMS, grid = 3;
  auto h = numbers(6, 5000);
  h.resize(grid * tile);
  int *d = upload(h), *sorted = device<int>(h.size()), *scanned = device<int>(h.size()), *sum = device<int>(grid);
  int *hist = device<int>(64 * grid);
  block_kernel<THREADS, ITEMS><<<grid, THREADS>>>(d, sorted, scanned, sum, hist);
  DO(cudaDeviceSynchronize());
  auto ws = h, wc = h;
  std::vector<int> wt, wh(64 * grid);
  for (int b = 0; b < grid; b++) {
    std::sort(ws.begin() + b * tile, ws.begin() + (b + 1) * tile);
    std::partial_sum(h.begin() + b * tile, h.begin() + (b + 1) * tile, wc.begin() + b * tile);
    wt.push_back(wc[(b + 1) * tile - 1]);
    for (int i = 0; i < tile; i++) wh[64 * b + (h[b * tile + i] & 63)]++;
  }
  EXPECT(download(sorted, h.size()) == ws);
  EXPECT(download(scanned, h.size()) == wc);
  EXPECT(download(sum, grid) == wt);
  EXPECT(download(hist, 64 * grid) == wh);
  cudaFree(d), cudaFree(sorted), cudaFree(scanned), cudaFree(sum), cudaFree(hist);
}

template <int LANES> __global__ void warp_kernel(const int *in, int *sums, int *scans, int *largest) {
  using Reduce = cub::WarpReduce<int, LANES>;
  using Scan = cub::WarpScan<int, LANES>;
  __shared__ typename Reduce::TempStorage reduce[128 / LANES];
  __shared__ typename Scan::TempStorage scan[128 / LANES];
  int group = threadIdx.x / LANES, x = in[threadIdx.x], total, before;
  int sum = Reduce(reduce[group]).Sum(x);
  if (threadIdx.x % LANES == 0) sums[group] = sum;
  Scan(scan[group]).ExclusiveSum(x, before, total);
  scans[threadIdx.x] = before;
  __syncwarp();
  int most = Reduce(reduce[group]).Reduce(x, cuda::maximum<>{}, LANES / 2 + 1);
  if (threadIdx.x % LANES == 0) largest[group] = most;
}

template <int LANES> void warps() {
  auto h = numbers(7, 1000);
  int *d = upload(h), *sums = device<int>(128), *scans = device<int>(128), *largest = device<int>(128);
  warp_kernel<LANES><<<1, 128>>>(d, sums, scans, largest);
  auto s = download(sums, 128 / LANES), e = download(scans, 128), m = download(largest, 128 / LANES);
  bool right = true;
  for (int g = 0; g < 128 / LANES; g++) {
    right &= s[g] == std::accumulate(h.begin() + g * LANES, h.begin() + (g + 1) * LANES, 0);
    right &= m[g] == *std::max_element(h.begin() + g * LANES, h.begin() + g * LANES + LANES / 2 + 1);
    for (int i = 0, sum = 0; i < LANES; sum += h[g * LANES + i++]) right &= e[g * LANES + i] == sum;
  }
  EXPECT(right);
  cudaFree(d), cudaFree(sums), cudaFree(scans), cudaFree(largest);
}

int main() {
  run("histogram", histograms);
  run("segmented reduce and sorts", segments);
  run("run-length encoding", runs);
  run("select and partition", selections);
  run("radix sort of pairs, some bits", pairs);
  run("block algorithms of 128 threads", blocks<128, 5>);
  run("block algorithms of 96 threads", blocks<96, 3>);
  run("warp algorithms of 32 lanes", warps<32>);
  run("warp algorithms of 8 lanes", warps<8>);
  return failures;
}
