// Mandelbrot: loops whose trip count differs from lane to lane.
#include <cmath>
#include <vector>
#include "sample.h"

__host__ __device__ inline int escape(float cx, float cy, int limit) {
  float x = 0, y = 0;
  int n = 0;
  while (n < limit) {
    float xx = x * x, yy = y * y;
    if (xx + yy > 4.0f) break;
    float t = fmaf(2.0f * x, y, cy);
    x = (xx - yy) + cx;
    y = t;
    n++;
  }
  return n;
}

__global__ void mandelbrot(int *out, int width, int height, int limit) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  out[py * width + px] = escape(-2.0f + px * 0.03125f, -1.0f + py * 0.03125f, limit);
}

int main() {
  const int width = 96, height = 64, limit = 200;
  std::vector<int> out(width * height), want(width * height);
  int *dout;
  CHECK(cudaMalloc(&dout, out.size() * sizeof(int)));
  mandelbrot<<<dim3((width + 12) / 13, (height + 6) / 7), dim3(13, 7)>>>(dout, width, height, limit);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(out.data(), dout, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
  // The host compiler may fuse differently: points on the border may differ, the picture may not.
  int different = 0;
  for (int py = 0; py < height; py++)
    for (int px = 0; px < width; px++) {
      want[py * width + px] = escape(-2.0f + px * 0.03125f, -1.0f + py * 0.03125f, limit);
      different += out[py * width + px] != want[py * width + px];
    }
  if (different > width * height / 50) {
    std::printf("FAIL %d of %d points differ\n", different, width * height);
    return 1;
  }
  return pass();
}
