/* Thrust's algorithms on the device against the same ones of the standard library or Thrust on the host. */
#include "check.h"

#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/complex.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/gather.h>
#include <thrust/sequence.h>
#include <thrust/reverse.h>
#include <thrust/remove.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/shuffle.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

static const int N = 20011;

template <class T> std::vector<T> numbers(unsigned seed, int range, int n = N) {
  std::vector<T> v(n);
  for (auto &x : v) seed = seed * 1664525u + 1013904223u, x = static_cast<T>(static_cast<int>(seed >> 8) % range - range / 3);
  return v;
}

template <class T> std::vector<T> back(const thrust::device_vector<T> &d) {
  std::vector<T> v(d.size());
  thrust::copy(d.begin(), d.end(), v.begin());
  return v;
}

template <class T> void sorts() {
  auto keys = numbers<T>(1, 1 << 20);
  std::vector<int> values(N);
  std::iota(values.begin(), values.end(), 0);
  thrust::device_vector<T> k(keys), s(keys);
  thrust::device_vector<int> v(values);
  thrust::sort(s.begin(), s.end(), thrust::greater<T>());
  thrust::stable_sort_by_key(k.begin(), k.end(), v.begin());
  std::stable_sort(values.begin(), values.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  EXPECT(back(v) == values);
  std::sort(keys.begin(), keys.end(), std::greater<T>());
  EXPECT(back(s) == keys);
}

struct pair_less {
  __host__ __device__ bool operator()(int2 a, int2 b) const { return a.x != b.x ? a.x < b.x : a.y < b.y; }
};

static void merge_sort() {
  auto raw = numbers<int>(3, 300);
  std::vector<int2> h(N);
  for (int i = 0; i < N; i++) h[i] = make_int2(raw[i], (i * 7919) % N);
  thrust::device_vector<int2> d(h);
  thrust::sort(d.begin(), d.end(), pair_less());
  std::sort(h.begin(), h.end(), pair_less());
  auto got = back(d);
  EXPECT(std::equal(got.begin(), got.end(), h.begin(), [](int2 a, int2 b) { return a.x == b.x && a.y == b.y; }));
}

static void scans() {
  auto h = numbers<int>(5, 100);
  thrust::device_vector<int> d(h), out(N);
  std::vector<int> want(N);
  thrust::inclusive_scan(d.begin(), d.end(), out.begin());
  std::partial_sum(h.begin(), h.end(), want.begin());
  EXPECT(back(out) == want);
  thrust::exclusive_scan(d.begin(), d.end(), out.begin(), 100, thrust::maximum<int>());
  for (int i = 0, m = 100; i < N; i++) want[i] = m, m = std::max(m, h[i]);
  EXPECT(back(out) == want);
  auto keys = numbers<int>(6, 4);
  thrust::device_vector<int> k(keys);
  thrust::inclusive_scan_by_key(k.begin(), k.end(), d.begin(), out.begin());
  for (int i = 0; i < N; i++) want[i] = h[i] + (i && keys[i] == keys[i - 1] ? want[i - 1] : 0);
  EXPECT(back(out) == want);
  thrust::adjacent_difference(d.begin(), d.end(), out.begin());
  std::adjacent_difference(h.begin(), h.end(), want.begin());
  EXPECT(back(out) == want);
}

static void reductions() {
  auto h = numbers<int>(7, 1000);
  thrust::device_vector<int> d(h);
  EXPECT(thrust::reduce(d.begin(), d.end()) == std::accumulate(h.begin(), h.end(), 0));
  EXPECT(thrust::count(d.begin(), d.end(), 5) == std::count(h.begin(), h.end(), 5));
  EXPECT(thrust::max_element(d.begin(), d.end()) - d.begin() == std::max_element(h.begin(), h.end()) - h.begin());
  auto both = thrust::minmax_element(d.begin(), d.end());
  EXPECT(*both.first == *std::min_element(h.begin(), h.end()));
  long long want = 0, got = thrust::transform_reduce(d.begin(), d.end(), [] __host__ __device__(int x) -> long long { return 1ll * x * x; },
                                                     0ll, thrust::plus<long long>());
  for (int x : h) want += 1ll * x * x;
  EXPECT(got == want);
  EXPECT(thrust::inner_product(d.begin(), d.end() - 1, d.begin() + 1, 0) ==
         std::inner_product(h.begin(), h.end() - 1, h.begin() + 1, 0));
  auto keys = numbers<short>(8, 3);
  thrust::device_vector<short> k(keys), ko(N);
  thrust::device_vector<int> vo(N);
  auto end = thrust::reduce_by_key(k.begin(), k.end(), d.begin(), ko.begin(), vo.begin());
  std::vector<short> wk;
  std::vector<int> wv;
  for (int i = 0; i < N; i++)
    if (i && keys[i] == keys[i - 1]) wv.back() += h[i];
    else wk.push_back(keys[i]), wv.push_back(h[i]);
  ko.resize(end.first - ko.begin()), vo.resize(end.second - vo.begin());
  EXPECT(back(ko) == wk && back(vo) == wv);
  thrust::device_vector<thrust::complex<double>> z(1000, thrust::complex<double>(1, 2));
  auto sum = thrust::reduce(z.begin(), z.end(), thrust::complex<double>(0, 0));
  EXPECT(sum.real() == 1000 && sum.imag() == 2000);
}

struct even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

static void selections() {
  auto h = numbers<int>(9, 50);
  thrust::device_vector<int> d(h), out(N);
  auto end = thrust::copy_if(d.begin(), d.end(), out.begin(), even());
  std::vector<int> want;
  std::copy_if(h.begin(), h.end(), std::back_inserter(want), even());
  out.resize(end - out.begin());
  EXPECT(back(out) == want);
  thrust::device_vector<int> p(h);
  auto middle = thrust::stable_partition(p.begin(), p.end(), even());
  auto wp = h;
  auto wmiddle = std::stable_partition(wp.begin(), wp.end(), even());
  EXPECT(back(p) == wp && middle - p.begin() == wmiddle - wp.begin());
  thrust::device_vector<int> u(h);
  u.erase(thrust::unique(u.begin(), u.end()), u.end());
  auto wu = h;
  wu.erase(std::unique(wu.begin(), wu.end()), wu.end());
  EXPECT(back(u) == wu);
  thrust::device_vector<int> r(h);
  r.erase(thrust::remove(r.begin(), r.end(), 3), r.end());
  auto wr = h;
  wr.erase(std::remove(wr.begin(), wr.end(), 3), wr.end());
  EXPECT(back(r) == wr);
  thrust::device_vector<int> order(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(N));
  thrust::shuffle(order.begin(), order.end(), thrust::default_random_engine(7));
  auto shuffled = back(order);
  EXPECT(!std::is_sorted(shuffled.begin(), shuffled.end()));
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT(shuffled[0] == 0 && shuffled[N - 1] == N - 1 && std::unique(shuffled.begin(), shuffled.end()) == shuffled.end());
}

static void sets() {
  auto a = numbers<int>(10, 3000), b = numbers<int>(11, 3000, N / 2);
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  thrust::device_vector<int> da(a), db(b), out(2 * N);
  std::vector<int> want(2 * N);
#define SET_OPERATION(name)                                                                          \
  {                                                                                                  \
    auto end = thrust::name(da.begin(), da.end(), db.begin(), db.end(), out.begin());                \
    auto wend = std::name(a.begin(), a.end(), b.begin(), b.end(), want.begin());                     \
    auto got = back(out);                                                                            \
    EXPECT(end - out.begin() == wend - want.begin() && std::equal(want.begin(), wend, got.begin())); \
  }
  SET_OPERATION(merge)
  SET_OPERATION(set_union)
  SET_OPERATION(set_intersection)
  SET_OPERATION(set_difference)
  SET_OPERATION(set_symmetric_difference)
  thrust::device_vector<int> places(b.size());
  thrust::lower_bound(da.begin(), da.end(), db.begin(), db.end(), places.begin());
  std::vector<int> wplaces;
  for (int x : b) wplaces.push_back(std::lower_bound(a.begin(), a.end(), x) - a.begin());
  EXPECT(back(places) == wplaces);
}

static void iterators() {
  auto h = numbers<int>(12, 1000);
  thrust::device_vector<int> d(h), e(N), map(N);
  thrust::sequence(map.begin(), map.end());
  thrust::reverse(map.begin(), map.end());
  thrust::gather(map.begin(), map.end(), d.begin(), e.begin());
  std::reverse(h.begin(), h.end());
  EXPECT(back(e) == h);
  thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(d.begin(), e.begin())),
                   thrust::make_zip_iterator(thrust::make_tuple(d.end(), e.end())),
                   [] __device__(thrust::tuple<int &, int &> t) { thrust::get<0>(t) = thrust::get<0>(t) * 2 - thrust::get<1>(t); });
  auto got = back(d);
  EXPECT(got[0] == h[N - 1] * 2 - h[0] && got[N - 1] == h[0] * 2 - h[N - 1]);
}

int main() {
  run("radix sort: int", sorts<int>);
  run("radix sort: double", sorts<double>);
  run("radix sort: unsigned char", sorts<unsigned char>);
  run("merge sort", merge_sort);
  run("scans", scans);
  run("reductions", reductions);
  run("selections", selections);
  run("merges and sets", sets);
  run("iterators", iterators);
  return failures;
}
