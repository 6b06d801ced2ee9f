// Texture and surface objects: a 2-D array of floats enlarged with linear filtering and written to a surface,
// byte pixels of pitched memory read as numbers between 0 and 1, a table in linear memory, layers, and a volume.
#include <algorithm>
#include <cmath>
#include <vector>
#include "sample.h"

enum { W = 24, H = 16, SCALE = 3, LAYERS = 4 };

__global__ void enlarge(cudaTextureObject_t from, cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float v = tex2D<float>(from, (x + 0.5f) / width, (y + 0.5f) / height);
  surf2Dwrite(v, to, x * (int)sizeof(float), y, cudaBoundaryModeZero);  // threads beyond the edge write nothing
}

__global__ void luminance(cudaTextureObject_t pixels, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float4 p = tex2D<float4>(pixels, x + 0.5f, y + 0.5f);
  out[y * width + x] = 0.25f * p.x + 0.5f * p.y + 0.25f * p.z;
}

__global__ void lookup(cudaTextureObject_t table, cudaTextureObject_t stack, cudaTextureObject_t volume, const int *at,
                       int *found, float *layered, float *solid, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  found[i] = tex1Dfetch<int>(table, at[i]);
  layered[i] = tex2DLayered<float>(stack, i % W + 0.5f, i / W % H + 0.5f, i % LAYERS);
  solid[i] = tex3D<float>(volume, i % W + 0.5f, i / W % H + 0.5f, i % LAYERS + 1.0f);
}

static cudaTextureObject_t texture(cudaResourceDesc resource, cudaTextureFilterMode filter, cudaTextureReadMode read,
                                   bool normalized) {
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
  how.filterMode = filter;
  how.readMode = read;
  how.normalizedCoords = normalized;
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
  return object;
}

static cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

static cudaArray_t stacked(const std::vector<float> &data, unsigned flags) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(W, H, LAYERS), flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr((void *)data.data(), W * sizeof(float), W, H);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(W, H, LAYERS);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

static float pixel(const std::vector<float> &image, int x, int y) {
  return image[std::min(std::max(y, 0), H - 1) * W + std::min(std::max(x, 0), W - 1)];
}

static bool enlarges() {
  std::vector<float> image(W * H), large(W * SCALE * H * SCALE);
  for (int i = 0; i < W * H; i++) image[i] = (float)(i * 37 % 101);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t small, big;
  CHECK(cudaMallocArray(&small, &format, W, H));
  CHECK(cudaMallocArray(&big, &format, W * SCALE, H * SCALE, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpy2DToArray(small, 0, 0, image.data(), W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice));
  cudaTextureObject_t from = texture(of(small), cudaFilterModeLinear, cudaReadModeElementType, true);
  cudaResourceDesc target = of(big);
  cudaSurfaceObject_t to;
  CHECK(cudaCreateSurfaceObject(&to, &target));
  enlarge<<<dim3((W * SCALE + 31) / 32, (H * SCALE + 7) / 8), dim3(32, 8)>>>(from, to, W * SCALE, H * SCALE);
  CHECK(cudaMemcpy2DFromArray(large.data(), W * SCALE * sizeof(float), big, 0, 0, W * SCALE * sizeof(float), H * SCALE,
                              cudaMemcpyDeviceToHost));
  bool good = true;
  for (int y = 0; y < H * SCALE; y++)
    for (int x = 0; x < W * SCALE; x++) {
      float u = (x + 0.5f) / SCALE - 0.5f, v = (y + 0.5f) / SCALE - 0.5f;
      int i = (int)floorf(u), j = (int)floorf(v);
      float a = u - i, b = v - j;
      float want = (1 - b) * ((1 - a) * pixel(image, i, j) + a * pixel(image, i + 1, j)) +
                   b * ((1 - a) * pixel(image, i, j + 1) + a * pixel(image, i + 1, j + 1));
      good &= fabsf(large[y * W * SCALE + x] - want) < 101 / 128.0f;  // weights have 8 bits
    }
  CHECK(cudaDestroyTextureObject(from));
  CHECK(cudaDestroySurfaceObject(to));
  CHECK(cudaFreeArray(small));
  CHECK(cudaFreeArray(big));
  return good;
}

static bool shades() {
  std::vector<uchar4> pixels(W * H);
  for (int i = 0; i < W * H; i++) pixels[i] = make_uchar4(i & 255, i * 7 & 255, i * 13 & 255, 255);
  uchar4 *device;
  size_t pitch;
  CHECK(cudaMallocPitch(&device, &pitch, W * sizeof(uchar4), H));
  CHECK(cudaMemcpy2D(device, pitch, pixels.data(), W * sizeof(uchar4), W * sizeof(uchar4), H, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = device;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  resource.res.pitch2D.width = W;
  resource.res.pitch2D.height = H;
  resource.res.pitch2D.pitchInBytes = pitch;
  cudaTextureObject_t object = texture(resource, cudaFilterModePoint, cudaReadModeNormalizedFloat, false);
  float *out;
  CHECK(cudaMalloc(&out, W * H * sizeof(float)));
  luminance<<<dim3(1, H / 8), dim3(32, 8)>>>(object, out, W, H);
  std::vector<float> found(W * H);
  CHECK(cudaMemcpy(found.data(), out, W * H * sizeof(float), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int i = 0; i < W * H; i++) {
    uchar4 p = pixels[i];
    good &= fabsf(found[i] - (0.25f * p.x + 0.5f * p.y + 0.25f * p.z) / 255) < 1e-6f;
  }
  CHECK(cudaDestroyTextureObject(object));
  CHECK(cudaFree(device));
  CHECK(cudaFree(out));
  return good;
}

static bool looks_up() {
  const int n = W * H;
  std::vector<int> table(1000), at(n), found(n);
  std::vector<float> data(W * H * LAYERS), layered(n), solid(n);
  for (int i = 0; i < 1000; i++) table[i] = i * i - 500000;
  for (int i = 0; i < n; i++) at[i] = i * 31 % 1003 - 1;  // -1 and beyond 999 give 0
  for (size_t i = 0; i < data.size(); i++) data[i] = (float)(i * 29 % 97);
  int *device_table, *device_at, *device_found;
  float *device_layered, *device_solid;
  CHECK(cudaMalloc(&device_table, 1000 * sizeof(int)));
  for (int **p : {&device_at, &device_found}) CHECK(cudaMalloc(p, n * sizeof(int)));
  for (float **p : {&device_layered, &device_solid}) CHECK(cudaMalloc(p, n * sizeof(float)));
  CHECK(cudaMemcpy(device_table, table.data(), 1000 * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_at, at.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = device_table;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 1000 * sizeof(int);
  cudaArray_t layers = stacked(data, cudaArrayLayered), cube = stacked(data, 0);
  cudaTextureObject_t linear = texture(resource, cudaFilterModePoint, cudaReadModeElementType, false);
  cudaTextureObject_t stack = texture(of(layers), cudaFilterModePoint, cudaReadModeElementType, false);
  cudaTextureObject_t volume = texture(of(cube), cudaFilterModeLinear, cudaReadModeElementType, false);
  lookup<<<(n + 127) / 128, 128>>>(linear, stack, volume, device_at, device_found, device_layered, device_solid, n);
  CHECK(cudaMemcpy(found.data(), device_found, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(layered.data(), device_layered, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(solid.data(), device_solid, n * sizeof(float), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int i = 0; i < n; i++) {
    int layer = i % LAYERS, above = std::min(layer + 1, LAYERS - 1);
    good &= found[i] == (at[i] >= 0 && at[i] < 1000 ? table[at[i]] : 0);
    good &= layered[i] == data[layer * W * H + i];
    good &= solid[i] == 0.5f * (data[layer * W * H + i] + data[above * W * H + i]);
  }
  for (cudaTextureObject_t object : {linear, stack, volume}) CHECK(cudaDestroyTextureObject(object));
  CHECK(cudaFreeArray(layers));
  CHECK(cudaFreeArray(cube));
  for (void *p : {(void *)device_table, (void *)device_at, (void *)device_found, (void *)device_layered, (void *)device_solid})
    CHECK(cudaFree(p));
  return good;
}

int main() {
  bool large = enlarges(), shaded = shades(), looked = looks_up();
  printf("enlarged %d shaded %d looked up %d\n", large, shaded, looked);
  return large && shaded && looked ? pass() : 1;
}
