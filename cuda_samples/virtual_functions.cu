// Addresses of functions in memory: virtual functions of objects that one kernel makes and others use, tables of
// function pointers, and function pointers that pass through the host.
#include "sample.h"

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
  __device__ virtual ~Shape() {}
};

struct Square : Shape {
  float side;
  __device__ explicit Square(float side) : side(side) {}
  __device__ float area() const override { return side * side; }
  __device__ int corners() const override { return 4; }
};

struct Disc : Shape {
  float radius;
  __device__ explicit Disc(float radius) : radius(radius) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};

struct Prism : Square {
  float height;
  __device__ Prism(float side, float height) : Square(side), height(height) {}
  __device__ float area() const override { return 2 * Square::area() + 4 * side * height; }
  __device__ int corners() const override { return 2 * Square::corners(); }
};

__global__ void make(Shape **shapes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i % 3 == 0) shapes[i] = new Square(i);
  else if (i % 3 == 1) shapes[i] = new Disc(i);
  else shapes[i] = new Prism(i, 2);
}

__global__ void measure(Shape *const *shapes, float *area, int *corners, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  area[i] = shapes[i]->area();
  corners[i] = shapes[i]->corners();
}

__global__ void drop(Shape **shapes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) delete shapes[i];
}

typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int power(int a, int b) { return b ? a * power(a, b - 1) : 1; }
__device__ Operation operations[3] = {add, multiply, power};
__device__ Operation last = multiply;

__global__ void by_table(const int *x, int *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = operations[i % 3](x[i], 3);
}

__global__ void by_argument(const int *x, int *y, Operation f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = f(x[i], 5);
}

__global__ void replace() { last = power; }

static float expected_area(int i) {
  return i % 3 == 0 ? float(i) * i : i % 3 == 1 ? 3.0f * i * i : 2.0f * i * i + 8.0f * i;
}

int main() {
  const int n = 1000;
  Shape **shapes;
  float *area, want_area[n];
  int *corners, want_corners[n];
  CHECK(cudaMalloc(&shapes, n * sizeof *shapes));
  CHECK(cudaMallocManaged(&area, sizeof want_area));
  CHECK(cudaMallocManaged(&corners, sizeof want_corners));
  make<<<(n + 127) / 128, 128>>>(shapes, n);
  measure<<<(n + 127) / 128, 128>>>(shapes, area, corners, n);
  drop<<<(n + 127) / 128, 128>>>(shapes, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) {
    want_area[i] = expected_area(i);
    want_corners[i] = i % 3 == 0 ? 4 : i % 3 == 1 ? 0 : 8;
  }
  expect_equal(area, want_area, n, "area");
  expect_equal(corners, want_corners, n, "corners");

  int *x, *y, want[96];
  Operation of_device;
  CHECK(cudaMallocManaged(&x, sizeof want));
  CHECK(cudaMallocManaged(&y, sizeof want));
  for (int i = 0; i < 96; i++) x[i] = i % 7 - 3;
  by_table<<<3, 32>>>(x, y);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 96; i++) want[i] = i % 3 == 0 ? x[i] + 3 : i % 3 == 1 ? x[i] * 3 : x[i] * x[i] * x[i];
  expect_equal(y, want, 96, "by table");
  CHECK(cudaMemcpyFromSymbol(&of_device, last, sizeof of_device));
  by_argument<<<3, 32>>>(x, y, of_device);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 96; i++) want[i] = x[i] * 5;
  expect_equal(y, want, 96, "by argument");
  replace<<<1, 1>>>();
  CHECK(cudaMemcpyFromSymbol(&of_device, last, sizeof of_device));
  by_argument<<<3, 32>>>(x, y, of_device);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 96; i++) want[i] = x[i] * x[i] * x[i] * x[i] * x[i];
  expect_equal(y, want, 96, "replaced");
  return pass();
}
