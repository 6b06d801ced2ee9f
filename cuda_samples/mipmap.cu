// A mipmap of a picture: each level is made from the one before by a surface write, and levels between are read by
// level of detail and by gradients.
#include <cmath>
#include <vector>
#include "sample.h"

enum { W = 16, LEVELS = 5 };

__global__ void halve(cudaTextureObject_t from, cudaSurfaceObject_t to, int size) {
  int x = threadIdx.x, y = threadIdx.y;
  float mean = tex2D<float>(from, (x + 0.5f) / size, (y + 0.5f) / size);  // between four texels
  surf2Dwrite(mean, to, x * (int)sizeof(float), y);
}

__global__ void look(cudaTextureObject_t picture, float *found) {
  float at = threadIdx.x / 31.0f;
  found[threadIdx.x] = tex2DLod<float>(picture, 0.5f, 0.5f, 4 * at);
  found[32 + threadIdx.x] = tex2DGrad<float>(picture, at, 0.25f, make_float2(2.0f / W, 0), make_float2(0, 1.0f / W));
}

static cudaTextureObject_t texture(const cudaResourceDesc &resource, cudaTextureFilterMode between) {
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.mipmapFilterMode = between;
  how.normalizedCoords = 1;
  how.maxMipmapLevelClamp = LEVELS - 1;
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
  return object;
}

int main() {
  cudaMipmappedArray_t all;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocMipmappedArray(&all, &format, make_cudaExtent(W, W, 0), LEVELS));
  std::vector<float> picture(W * W);
  double mean = 0;
  for (int i = 0; i < W * W; i++) mean += picture[i] = (float)(i % W * 3 + i / W * 5 % 7);
  mean /= W * W;
  cudaArray_t level;
  CHECK(cudaGetMipmappedArrayLevel(&level, all, 0));
  CHECK(cudaMemcpy2DToArray(level, 0, 0, picture.data(), W * 4, W * 4, W, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  for (int k = 1; k < LEVELS; k++) {
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = level;
    cudaTextureObject_t from = texture(resource, cudaFilterModePoint);
    cudaSurfaceObject_t to;
    CHECK(cudaGetMipmappedArrayLevel(&level, all, k));
    resource.res.array.array = level;
    CHECK(cudaCreateSurfaceObject(&to, &resource));
    halve<<<1, dim3(W >> k, W >> k)>>>(from, to, W >> k);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroyTextureObject(from));
    CHECK(cudaDestroySurfaceObject(to));
  }
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = all;
  cudaTextureObject_t object = texture(resource, cudaFilterModeLinear);
  float *out, found[64];
  CHECK(cudaMalloc(&out, sizeof found));
  look<<<1, 32>>>(object, out);
  CHECK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
  // The last level is one texel, the mean of all; a gradient of two texels leads to the level below the picture,
  // where y = 0.25 lies between its rows 1 and 2, x = 0 in its first column.
  double below = 0;
  for (int y = 2; y < 6; y++)
    for (int x = 0; x < 2; x++) below += picture[y * W + x] / 8.0;
  bool good = std::fabs(found[31] - mean) < 1e-3 && std::fabs(found[32] - below) < 1e-3;
  if (!good) std::printf("FAIL levels: %g and %g, want %g and %g\n", found[31], found[32], mean, below), std::exit(1);
  CHECK(cudaDestroyTextureObject(object));
  CHECK(cudaFreeMipmappedArray(all));
  return pass();
}
