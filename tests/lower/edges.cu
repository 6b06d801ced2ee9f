// CUDA's functions that nvcc makes of approximate instructions: one column a function. Read by test_cuda_edges.py.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void floats(const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i], b = y[i], *p = out + i * 10;
  p[0] = fmodf(a, b), p[1] = remainderf(a, b), p[2] = __fdividef(a, b), p[3] = a / b, p[4] = 1.f / a;
  p[5] = sqrtf(a), p[6] = rsqrtf(a), p[7] = exp2f(a), p[8] = log2f(a), p[9] = tanhf(a);
}

extern "C" __global__ void halves(const __half *x, const __half *y, __half *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[2 * i] = x[i] / y[i], out[2 * i + 1] = __h2div(__half2(x[i], y[i]), __half2(y[i], x[i])).y;
}

extern "C" __global__ void bfloats(const __nv_bfloat16 *x, const __nv_bfloat16 *y, __nv_bfloat16 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[2 * i] = x[i] / y[i], out[2 * i + 1] = __h2div(__nv_bfloat162(x[i], y[i]), __nv_bfloat162(y[i], x[i])).y;
}
