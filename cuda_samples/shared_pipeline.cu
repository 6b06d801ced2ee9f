// A tiled matrix product with 96 KiB and more of shared memory, as programs for NVIDIA's server chips have it: a
// pipeline of asynchronous copies (cp.async), ldmatrix and tensor-core instructions. C = A * B with A row-major and B
// column-major, blocks of 128 x 128 by 4 warps, K in steps of 64.
// link: -gencode arch=compute_80,code=compute_80
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <vector>
#include "sample.h"

enum { TILE = 128, STEP = 64, PITCH = STEP + 8, WARPS = 4 };
enum { STAGE = 2 * TILE * PITCH };  // of halves: a tile of A and one of B

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void copy_stage(half *to, const half *a, const half *b, int k) {
  for (int i = threadIdx.x; i < TILE * STEP / 8; i += blockDim.x) {
    int row = i / (STEP / 8), at = i % (STEP / 8) * 8;
    __pipeline_memcpy_async(to + row * PITCH + at, a + row * k + at, 16);
    __pipeline_memcpy_async(to + TILE * PITCH + row * PITCH + at, b + row * k + at, 16);
  }
}

template <int STAGES>
__global__ void multiply(const half *a, const half *b, float *c, int n, int k) {
  extern __shared__ __align__(16) half stages[];
  a += (size_t)blockIdx.y * TILE * k, b += (size_t)blockIdx.x * TILE * k;
  const int steps = k / STEP, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sums[2][16][4] = {};
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < steps) copy_stage(stages + s * STAGE, a + s * STEP, b + s * STEP, k);
    __pipeline_commit();
  }
  for (int s = 0; s < steps; s++) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    int ahead = s + STAGES - 1;
    if (ahead < steps) copy_stage(stages + ahead % STAGES * STAGE, a + ahead * STEP, b + ahead * STEP, k);
    __pipeline_commit();
    const half *ta = stages + s % STAGES * STAGE, *tb = ta + TILE * PITCH;
    for (int kk = 0; kk < STEP; kk += 16) {
      unsigned fa[2][4], fb[2];
      for (int m = 0; m < 2; m++)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[m][0]), "=r"(fa[m][1]), "=r"(fa[m][2]), "=r"(fa[m][3])
                     : "r"(shared_address(ta + (warp * 32 + m * 16 + lane % 16) * PITCH + kk + lane / 16 * 8)));
      for (int nn = 0; nn < 16; nn++) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(fb[0]), "=r"(fb[1])
                     : "r"(shared_address(tb + (nn * 8 + lane % 8) * PITCH + kk + lane / 8 % 2 * 8)));
        for (int m = 0; m < 2; m++) {
          float *d = sums[m][nn];
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                       "{%8, %9}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                       : "r"(fa[m][0]), "r"(fa[m][1]), "r"(fa[m][2]), "r"(fa[m][3]), "r"(fb[0]), "r"(fb[1]));
        }
      }
    }
  }
  for (int m = 0; m < 2; m++)
    for (int nn = 0; nn < 16; nn++)
      for (int i = 0; i < 4; i++) {
        int row = blockIdx.y * TILE + warp * 32 + m * 16 + lane / 4 + i / 2 * 8;
        c[(size_t)row * n + blockIdx.x * TILE + nn * 8 + lane % 4 * 2 + i % 2] = sums[m][nn][i];
      }
}

template <int STAGES>
static void product(int m, int n, int k) {
  Random random(41);
  std::vector<half> a((size_t)m * k), b((size_t)n * k);
  std::vector<float> want((size_t)m * n), got(want.size());
  for (half &x : a) x = (float)(int)(random.next() % 9) - 4;  // small integers: sums are exact
  for (half &x : b) x = (float)(int)(random.next() % 9) - 4;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int at = 0; at < k; at++) sum += __half2float(a[(size_t)i * k + at]) * __half2float(b[(size_t)j * k + at]);
      want[(size_t)i * n + j] = sum;
    }
  half *da, *db;
  float *dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(half)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(half)));
  CHECK(cudaMalloc(&dc, got.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice));
  int bytes = STAGES * STAGE * (int)sizeof(half);
  CHECK(cudaFuncSetAttribute(multiply<STAGES>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  multiply<STAGES><<<dim3(n / TILE, m / TILE), WARPS * 32, bytes>>>(da, db, dc, n, k);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(got.data(), dc, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
  expect_equal(got.data(), want.data(), want.size(), "product");
}

int main() {
  product<3>(256, 128, 192);  // 108 KiB
  product<6>(128, 128, 448);  // 216 KiB
  return pass();
}
