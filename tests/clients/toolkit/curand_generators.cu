/* cuRAND's device generators against the same code compiled for the host. */
#define QUALIFIERS static inline __host__ __device__
#define HOST_HAVE_ERFCINVF
#include <curand_kernel.h>

#include "check.h"

#include <cmath>
#include <vector>

enum { THREADS = 192, DRAWS = 40 };

template <class S> __host__ __device__ void start(S *s, int thread) { curand_init(1234ull, thread, 3 * thread, s); }
template <> __host__ __device__ void start(curandStateSobol32_t *s, int thread) {
  unsigned directions[32];
  for (int i = 0; i < 32; i++) directions[i] = (2654435761u * (i + 1) | 1u) << (31 - i);
  curand_init(directions, thread, s);
}

template <class S> __host__ __device__ void draw(int thread, unsigned *bits, float *uniform, float *normal, double *wide) {
  S s;
  start(&s, thread);
  for (int i = 0; i < DRAWS; i++) {
    int at = thread * DRAWS + i;
    bits[at] = curand(&s);
    uniform[at] = curand_uniform(&s);
    normal[at] = curand_normal(&s);
    wide[at] = curand_uniform_double(&s);
  }
}

template <class S> __global__ void kernel(unsigned *bits, float *uniform, float *normal, double *wide) {
  draw<S>(blockIdx.x * blockDim.x + threadIdx.x, bits, uniform, normal, wide);
}

template <class S> void generator() {
  const int n = THREADS * DRAWS;
  unsigned *bits = device<unsigned>(n);
  float *uniform = device<float>(n), *normal = device<float>(n);
  double *wide = device<double>(n);
  kernel<S><<<2, THREADS / 2>>>(bits, uniform, normal, wide);
  std::vector<unsigned> b(n), wb(n);
  std::vector<float> u(n), wu(n), m(n), wm(n);
  std::vector<double> d(n), wd(n);
  DO(cudaMemcpy(b.data(), bits, n * 4, cudaMemcpyDeviceToHost));
  DO(cudaMemcpy(u.data(), uniform, n * 4, cudaMemcpyDeviceToHost));
  DO(cudaMemcpy(m.data(), normal, n * 4, cudaMemcpyDeviceToHost));
  DO(cudaMemcpy(d.data(), wide, n * 8, cudaMemcpyDeviceToHost));
  for (int t = 0; t < THREADS; t++) draw<S>(t, wb.data(), wu.data(), wm.data(), wd.data());
  EXPECT(b == wb);
  EXPECT(u == wu && d == wd);
  float worst = 0;
  for (int i = 0; i < n; i++) worst = std::max(worst, std::fabs(m[i] - wm[i]));
  EXPECT(worst < 1e-5f);
  cudaFree(bits), cudaFree(uniform), cudaFree(normal), cudaFree(wide);
}

__global__ void known(uint4 *out) {
  curandStatePhilox4_32_10_t s;
  curand_init(0, 0, 0, &s);
  *out = curand4(&s);
}

/* Random123's published answer for key and counter zero. */
static void philox() {
  uint4 *p = device<uint4>(1), out;
  known<<<1, 1>>>(p);
  DO(cudaMemcpy(&out, p, sizeof out, cudaMemcpyDeviceToHost));
  EXPECT(out.x == 0x6627e8d5 && out.y == 0xe169c58d && out.z == 0xbc57ac4c && out.w == 0x9b00dbd8);
  cudaFree(p);
}

__global__ void deviates(double *sums, unsigned *poisson, double lambda) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t s;
  curand_init(99, i, 0, &s);
  double2 pair = curand_normal2_double(&s);
  float4 four = curand_normal4(&s);
  sums[2 * i] = (pair.x + pair.y + four.x + four.y + four.z + four.w) / 6;
  sums[2 * i + 1] = (pair.x * pair.x + pair.y * pair.y + four.x * four.x + four.y * four.y + four.z * four.z + four.w * four.w) / 6;
  poisson[i] = curand_poisson(&s, lambda);
}

static void distributions() {
  const int n = 1 << 14;
  double *sums = device<double>(2 * n), lambdas[] = {0.7, 12, 90, 5000};
  unsigned *counts = device<unsigned>(n);
  std::vector<double> s(2 * n);
  std::vector<unsigned> c(n);
  for (double lambda : lambdas) {
    deviates<<<n / 128, 128>>>(sums, counts, lambda);
    DO(cudaMemcpy(s.data(), sums, 2 * n * sizeof(double), cudaMemcpyDeviceToHost));
    DO(cudaMemcpy(c.data(), counts, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    double mean = 0, square = 0, events = 0, spread = 0;
    for (int i = 0; i < n; i++) mean += s[2 * i] / n, square += s[2 * i + 1] / n, events += double(c[i]) / n;
    for (int i = 0; i < n; i++) spread += (c[i] - events) * (c[i] - events) / n;
    EXPECT(std::fabs(mean) < 0.015 && std::fabs(square - 1) < 0.03);
    EXPECT(std::fabs(events - lambda) < 5 * std::sqrt(lambda / n) && std::fabs(spread / lambda - 1) < 0.08);
  }
  cudaFree(sums), cudaFree(counts);
}

int main() {
  run("XORWOW", generator<curandStateXORWOW_t>);
  run("Philox 4x32", generator<curandStatePhilox4_32_10_t>);
  run("MRG32k3a", generator<curandStateMRG32k3a_t>);
  run("Sobol 32", generator<curandStateSobol32_t>);
  run("Philox' known answer", philox);
  run("normal and Poisson deviates", distributions);
  return failures;
}
