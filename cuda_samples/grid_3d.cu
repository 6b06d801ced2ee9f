// A 3-D grid with a 3-D block whose size is no multiple of the warp size: every index, every block size.
#include <vector>
#include "sample.h"

__global__ void fill(unsigned *out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  unsigned linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  unsigned wrong = lane != linear % 32;
  out[(z * ny + y) * nx + x] = (x * 73856093u) ^ (y * 19349663u) ^ (z * 83492791u) ^ (gridDim.x << 8) ^
                               (gridDim.y << 4) ^ gridDim.z ^ (wrong << 31);
}

int main() {
  const int nx = 37, ny = 23, nz = 11;
  dim3 blocks[] = {{7, 3, 5}, {32, 2, 1}, {1, 1, 33}, {5, 5, 5}, {96, 1, 1}, {1, 1000, 1}};
  unsigned *dout;
  CHECK(cudaMalloc(&dout, nx * ny * nz * sizeof(unsigned)));
  for (dim3 block : blocks) {
    dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y, (nz + block.z - 1) / block.z);
    if (block.z > 64) continue;
    std::vector<unsigned> out(nx * ny * nz), want(nx * ny * nz);
    for (int z = 0; z < nz; z++)
      for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++)
          want[(z * ny + y) * nx + x] = (x * 73856093u) ^ (y * 19349663u) ^ (z * 83492791u) ^ (grid.x << 8) ^
                                        (grid.y << 4) ^ grid.z;
    CHECK(cudaMemset(dout, 0xee, nx * ny * nz * sizeof(unsigned)));
    fill<<<grid, block>>>(dout, nx, ny, nz);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(out.data(), dout, nx * ny * nz * sizeof(unsigned), cudaMemcpyDeviceToHost));
    expect_equal(out.data(), want.data(), nx * ny * nz, "out");
  }
  return pass();
}
