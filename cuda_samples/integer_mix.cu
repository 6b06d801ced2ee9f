// Integer instructions that compilers lower into something else: 64-bit division, mulhi, clz, popc,
// bit fields, byte permutes, funnel shifts, saturation, 24-bit multiplies.
#include <vector>
#include "sample.h"

__host__ __device__ inline unsigned reverse_bits(unsigned x) {
#ifdef __CUDA_ARCH__
  return __brev(x);
#else
  unsigned r = 0;
  for (int k = 0; k < 32; k++) r |= (x >> k & 1) << (31 - k);
  return r;
#endif
}

constexpr int RESULTS = 16;

__global__ void mix(const long long *a, const long long *b, unsigned long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long x = a[i], y = b[i];
  unsigned long long ux = x, uy = y;
  unsigned lo = (unsigned)ux, hi = (unsigned)(ux >> 32), field;
  unsigned long long *r = out + (size_t)i * RESULTS;
  r[0] = x / y;
  r[1] = x % y;
  r[2] = ux / uy;
  r[3] = ux % uy;
  r[4] = __umul64hi(ux, uy);
  r[5] = __mul64hi(x, y);
  r[6] = __clzll(x);
  r[7] = __popcll(x);
  r[8] = __umulhi(lo, hi);
  r[9] = (unsigned)__mulhi((int)lo, (int)hi);
  r[10] = reverse_bits(lo);
  asm("bfe.u32 %0, %1, 5, 11;" : "=r"(field) : "r"(lo));
  r[11] = field;
  asm("bfi.b32 %0, %1, %2, 7, 9;" : "=r"(field) : "r"(lo), "r"(hi));
  r[12] = field;
  r[13] = __byte_perm(lo, hi, 0x4163);
  r[14] = __funnelshift_l(lo, hi, lo & 31);
  r[15] = (unsigned)((int)lo / ((int)hi | 1)) ^ (lo % (hi | 1));
}

int main() {
  const int n = 500;
  Random random(8);
  std::vector<long long> a(n), b(n);
  std::vector<unsigned long long> got((size_t)n * RESULTS), want((size_t)n * RESULTS);
  for (int i = 0; i < n; i++) {
    a[i] = (long long)((unsigned long long)random.next() << 32 | random.next()) >> random.next() % 63;
    b[i] = (long long)((unsigned long long)random.next() << 32 | random.next()) >> random.next() % 63;
    if (b[i] == 0 || b[i] == -1) b[i] = 3;
    long long x = a[i], y = b[i];
    unsigned long long ux = x, uy = y, *r = want.data() + (size_t)i * RESULTS;
    unsigned lo = (unsigned)ux, hi = (unsigned)(ux >> 32);
    r[0] = x / y, r[1] = x % y, r[2] = ux / uy, r[3] = ux % uy;
    r[4] = (unsigned long long)((unsigned __int128)ux * uy >> 64);
    r[5] = (unsigned long long)((__int128)x * y >> 64);
    r[6] = x ? __builtin_clzll(ux) : 64, r[7] = __builtin_popcountll(ux);
    r[8] = (unsigned long long)lo * hi >> 32;
    r[9] = (unsigned)((long long)(int)lo * (int)hi >> 32);
    r[10] = reverse_bits(lo);
    r[11] = lo >> 5 & 0x7ff;
    r[12] = (hi & ~(0x1ffu << 7)) | (lo & 0x1ff) << 7;
    unsigned long long both = (unsigned long long)hi << 32 | lo;
    unsigned selector = 0x4163, permuted = 0;
    for (int k = 0; k < 4; k++) permuted |= (unsigned)(both >> (selector >> 4 * k & 7) * 8 & 0xff) << 8 * k;
    r[13] = permuted;
    unsigned shift = lo & 31;
    r[14] = shift ? hi << shift | lo >> (32 - shift) : hi;
    int divisor = (int)hi | 1;
    r[15] = (unsigned)((lo == 0x80000000u && divisor == -1) ? (int)lo : (int)lo / divisor) ^ (lo % (hi | 1));
  }
  long long *da, *db;
  unsigned long long *dout;
  CHECK(cudaMalloc(&da, n * 8));
  CHECK(cudaMalloc(&db, n * 8));
  CHECK(cudaMalloc(&dout, got.size() * 8));
  CHECK(cudaMemcpy(da, a.data(), n * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), n * 8, cudaMemcpyHostToDevice));
  mix<<<(n + 95) / 96, 96>>>(da, db, dout, n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(got.data(), dout, got.size() * 8, cudaMemcpyDeviceToHost));
  expect_equal(got.data(), want.data(), got.size(), "result");
  return pass();
}
