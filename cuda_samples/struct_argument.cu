// Structs passed by value: mixed alignment, an array member indexed at run time, many arguments.
#include <vector>
#include "sample.h"

struct Shape {
  char tag;
  double scale;
  short shift[6];
  struct {
    float weight;
    long long bias;
  } inner;
  int *where;
};

__host__ __device__ inline double value(const Shape &s, int i) {
  return s.tag + s.scale * i + s.shift[i % 6] + s.inner.weight * 2 + s.inner.bias;
}

__global__ void apply(char first, Shape shape, double *out, short n, Shape other) {
  int i = threadIdx.x;
  if (i >= n) return;
  out[i] = value(shape, i) + value(other, i + 1) + first;
  shape.where[i] = other.shift[i % 6];
}

int main() {
  const int n = 70;
  std::vector<double> out(n), want(n);
  std::vector<int> where(n), want_where(n);
  double *dout;
  int *dwhere;
  CHECK(cudaMalloc(&dout, n * 8));
  CHECK(cudaMalloc(&dwhere, n * 4));
  Shape shape = {'x', 0.5, {1, -2, 3, -4, 5, -6}, {1.25f, 1ll << 40}, dwhere};
  Shape other = {'y', 0.25, {10, 20, 30, 40, 50, 60}, {-3.5f, -7}, nullptr};
  for (int i = 0; i < n; i++) want[i] = value(shape, i) + value(other, i + 1) + 'f', want_where[i] = other.shift[i % 6];
  apply<<<1, 96>>>('f', shape, dout, (short)n, other);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(out.data(), dout, n * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(where.data(), dwhere, n * 4, cudaMemcpyDeviceToHost));
  expect_equal(out.data(), want.data(), n, "out");
  expect_equal(where.data(), want_where.data(), n, "where");
  return pass();
}
