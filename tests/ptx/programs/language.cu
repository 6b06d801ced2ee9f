// C++ as nvcc translates it: calls, recursion, virtual functions, function pointers, switches, printf, inline
// assembly, textures, managed and constant variables, initialisers with addresses.
#include <cstdio>

struct Shape {
  virtual __device__ float area() const { return 0; }
  virtual __device__ ~Shape() {}
};
struct Circle : Shape {
  float r;
  __device__ explicit Circle(float r) : r(r) {}
  __device__ float area() const override { return 3.14159f * r * r; }
};
struct Box {
  char tag;
  double size[3];
  short half[5];
};

__constant__ float coefficients[4] = {1, 2.5f, -3, 1e-30f};
__constant__ Box box = {'x', {1, 2, 3}, {4, 5, 6, 7, 8}};
__device__ int counter = 5;
__device__ int *pointers[3] = {&counter, nullptr, &counter};
__device__ const char *words[] = {"one", "two"};
__device__ __managed__ int shared_with_host;
__device__ unsigned char bytes[7] = {1, 2, 3, 255};
__device__ double doubles[2] = {0.1, -1e300};
__device__ long long wide = -1;

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float half_of(float x) { return x / 2; }
__device__ __noinline__ Box swap_ends(Box b) { double t = b.size[0]; b.size[0] = b.size[2]; b.size[2] = t; return b; }
typedef float (*Unary)(float);
__device__ Unary table[2] = {twice, half_of};

__global__ void objects(float *out, int n) {
  Circle circle(n);
  Shape *shape = n & 1 ? &circle : new Circle(2);
  out[threadIdx.x] = shape->area() + table[n & 1](out[0]) + factorial(n);
  out[1] = swap_ends(box).size[n];
  printf("%d %f %s\n", n, out[0], words[n & 1]);
  shared_with_host += *pointers[n % 3] + bytes[n] + int(doubles[1]) + int(wide);
}

__global__ void branches(int *a, int n) {
  switch (n) {
    case 0: a[0] = 1; break;
    case 1: a[1] = 7; break;
    case 2: a[0] = 9; [[fallthrough]];
    case 3: a[5] = 2; break;
    case 4: a[6]++; break;
    case 9: a[7] = n; break;
    default: if (n < 0) __trap(); for (int i = 0; i < n; i++) if (a[i] == 3) continue; else if (a[i] > 100) break; else a[i] ^= i;
  }
  if (a[n] == 4) asm volatile("exit;");
}

__global__ void assembly(unsigned *a, int n) {
  unsigned x, y;
  asm("{ .reg .pred p; .reg .b32 t, u<3>; setp.ne.s32 p, %1, 0; @p add.u32 t, %1, 5; @!p mov.u32 t, 0; mov.b32 u2, t; mov.u32 %0, u2; }" : "=r"(x) : "r"(n));
  asm volatile("{\n\t.reg .u64 t1;\n\tcvta.to.global.u64 t1, %1;\n\tld.global.v2.u32 {%0, _}, [t1+8];\n\t}" : "=r"(y) : "l"(a));
  asm volatile("{ .reg .pred P1; LOOP_%=: setp.gt.u32 P1, %0, 3; @P1 bra DONE_%=; bra.uni DONE_%=; DONE_%=: }" ::"r"(x));
  asm volatile("bar.sync 1, %0; membar.gl; // a comment with } and \" in it" ::"r"(n & 32));
  a[threadIdx.x] = x + y;
}
