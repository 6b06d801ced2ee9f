// Types and operations: integers of all widths, half precision, atomics, warp operations, matrices, async copies.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include <cuda/atomic>
namespace cg = cooperative_groups;

template <class T, int N>
__global__ void mixed(T *a, const T *__restrict__ b, T c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = 0;
#pragma unroll
  for (int k = 0; k < N; k++) sum = T(sum * b[i + k] + c);
  a[i] = sum / (c + T(1));
}
template __global__ void mixed<signed char, 3>(signed char *, const signed char *, signed char);
template __global__ void mixed<unsigned short, 5>(unsigned short *, const unsigned short *, unsigned short);
template __global__ void mixed<int, 2>(int *, const int *, int);
template __global__ void mixed<unsigned long long, 2>(unsigned long long *, const unsigned long long *, unsigned long long);
template __global__ void mixed<float, 7>(float *, const float *, float);
template __global__ void mixed<double, 4>(double *, const double *, double);

__global__ void halves(__half2 *a, __nv_bfloat162 *b, float *f, __nv_fp8_e4m3 *q) {
  int i = threadIdx.x;
  a[i] = __hfma2(a[i], a[i + 1], __float2half2_rn(f[i]));
  b[i] = __hmax2(b[i], __float22bfloat162_rn(make_float2(f[i], f[i + 1])));
  f[i] = __half2float(hexp(a[i].x)) + __bfloat162float(b[i].y) + (a[i].x < a[i].y ? 1.f : __low2float(b[i]));
  q[i] = __nv_fp8_e4m3(f[i]);
}

__global__ void synchronise(int *a, float *f, double *d, unsigned long long *u) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int v = cg::reduce(tile, a[threadIdx.x], cg::plus<int>());
  v += __shfl_down_sync(~0u, v, 3) + __popc(__ballot_sync(~0u, v > 3)) + __reduce_max_sync(~0u, unsigned(v));
  v += __match_any_sync(~0u, v) + __any_sync(~0u, v == 2) + __activemask();
  atomicAdd(a, v);
  atomicCAS(u, 1ull, 2ull);
  atomicMax(a + 1, v);
  atomicAdd(f, 1.5f);
  atomicAdd(d, 2.5);
  atomicInc((unsigned *)a + 3, 17);
  atomicExch_block(a + 4, v);
  cuda::atomic_ref<int, cuda::thread_scope_device> r(a[7]);
  r.fetch_add(v, cuda::std::memory_order_acq_rel);
  while (r.load(cuda::std::memory_order_acquire) < 3) __nanosleep(20);
  if (__syncthreads_or(v)) __threadfence_system();
  block.sync();
}

__global__ void tensor(const half *a, const half *b, float *c) {
  using namespace nvcuda::wmma;
  __shared__ alignas(16) half s[16 * 16];
  __pipeline_memcpy_async(s + threadIdx.x * 8, a + threadIdx.x * 8, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  fragment<matrix_a, 16, 16, 16, half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.f);
  load_matrix_sync(fa, s, 16);
  load_matrix_sync(fb, b, 16);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, 16, mem_row_major);
}

__global__ void bits(unsigned *a, unsigned long long *u, float *f, double *d) {
  int i = threadIdx.x;
  a[i] = __byte_perm(a[i], a[i + 1], 0x3210) + __brev(a[i]) + __clz(a[i]) + __ffs(a[i]) + __umulhi(a[i], 77) + __sad(1, 2, a[i]);
  a[i] += __funnelshift_l(a[i], a[i + 1], 7) + __vadd4(a[i], 0x01020304) + __dp4a(a[i], a[i + 1], 3u);
  u[i] = u[i] / 7 + u[i] % (a[i] | 1) + __umul64hi(u[i], 12345) + __popcll(u[i]) + __brevll(u[i]);
  f[i] = __fmaf_rz(f[i], 3, 1) + __frcp_rn(f[i]) + sqrtf(f[i]) + sinf(f[i]) + __expf(f[i]) + rsqrtf(f[i]) + fminf(f[i], 1) + __saturatef(f[i]);
  f[i] += __int2float_rd(a[i]) + __float2int_ru(f[i]) + rintf(f[i]) + truncf(f[i]) + floorf(f[i]) + powf(f[i], 1.7f) + erff(f[i]);
  d[i] = __dadd_ru(d[i], 1) + sqrt(d[i]) + exp(d[i]) + sin(d[i]) + __ddiv_rd(d[i], 3) + fma(d[i], d[i], 1.0) + cbrt(d[i]);
}
