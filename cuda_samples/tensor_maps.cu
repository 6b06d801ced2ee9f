// Tensor copies: a matrix multiplication whose tiles come by cp.async.bulk.tensor through tensor maps that the host
// encodes (a tile beyond the edge is filled with zeros), with a full and an empty barrier for each of two stages.
// link: -arch=compute_90
// mapping: padded
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda/barrier>
#include <vector>
#include "sample.h"

enum { M = 72, N = 56, K = 100, TILE = 16 };
namespace ptx = cuda::ptx;

__global__ void matmul(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) float as[2][TILE][TILE], bs[2][TILE][TILE];
  __shared__ uint64_t full[2], empty[2];
  int x = threadIdx.x % TILE, y = threadIdx.x / TILE, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  constexpr int threads = TILE * TILE, steps = (K + TILE - 1) / TILE;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; s++) ptx::mbarrier_init(&full[s], 1), ptx::mbarrier_init(&empty[s], threads);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x >= threads) {  // one warp brings the tiles
    for (int k = 0; threadIdx.x == threads && k < steps; k++) {
      int s = k % 2, from_a[2] = {k * TILE, row}, from_b[2] = {column, k * TILE};
      while (!ptx::mbarrier_try_wait_parity(&empty[s], (k / 2 + 1) % 2)) {}
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 2 * sizeof as[s]);
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, as[s], &a, from_a, &full[s]);
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, bs[s], &b, from_b, &full[s]);
    }
    return;
  }
  float sum = 0;
  for (int k = 0; k < steps; k++) {
    int s = k % 2;
    while (!ptx::mbarrier_try_wait_parity(&full[s], k / 2 % 2)) {}
    for (int i = 0; i < TILE; i++) sum += as[s][y][i] * bs[s][i][x];
    ptx::mbarrier_arrive(&empty[s]);
  }
  if (row + y < M && column + x < N) c[(row + y) * N + column + x] = sum;
#endif
}

static CUtensorMap map_of(float *data, uint64_t rows, uint64_t columns) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode;
  cudaDriverEntryPointQueryResult found;
  if (!encode) CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, 0, &found));
  alignas(64) CUtensorMap map;
  cuuint64_t sizes[2] = {columns, rows}, strides[1] = {columns * sizeof(float)};
  cuuint32_t box[2] = {TILE, TILE}, steps[2] = {1, 1};
  CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, sizes, strides, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::printf("FAIL cuTensorMapEncodeTiled: %d\n", result), std::exit(1);
  return map;
}

int main() {
  std::vector<float> a(M * K), b(K * N), c(M * N);
  for (int i = 0; i < M * K; i++) a[i] = (float)(i % 13 - 6);
  for (int i = 0; i < K * N; i++) b[i] = (float)(i % 11 - 5);
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, a.size() * 4));
  CHECK(cudaMalloc(&db, b.size() * 4));
  CHECK(cudaMalloc(&dc, c.size() * 4));
  CHECK(cudaMemcpy(da, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
  matmul<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), TILE * TILE + 32>>>(map_of(da, M, K), map_of(db, K, N), dc);
  CHECK(cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
  std::vector<float> want(M * N);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++) want[i * N + j] += a[i * K + k] * b[k * N + j];
  expect_equal(c.data(), want.data(), c.size(), "c");
  return pass();
}
