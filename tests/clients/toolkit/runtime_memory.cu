/* The runtime API's memory functions: what a copy, a pool, a mapped page or a symbol holds afterwards. */
#include "check.h"

#include <cstring>
#include <vector>

__global__ void add(int *p, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += value;
}

__constant__ int table[4];
__device__ int counter = 7;
__device__ int series[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__managed__ int shared_word = 5;

__global__ void use_symbols(int *out) {
  out[threadIdx.x] = table[threadIdx.x] * 10 + series[threadIdx.x];
  if (!threadIdx.x) counter += 1, shared_word *= 2;
}

static void symbols() {
  int values[4] = {4, 3, 2, 1}, out[4], *p = device<int>(4), count = 0;
  DO(cudaMemcpyToSymbol(table, values, sizeof values));
  DO(cudaMemcpyToSymbol(series, values, 2 * sizeof(int), 2 * sizeof(int)));
  use_symbols<<<1, 4>>>(p);
  DO(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
  EXPECT(out[0] == 41 && out[1] == 32 && out[2] == 24 && out[3] == 13);
  DO(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  EXPECT(count == 8 && shared_word == 10);
  void *address = nullptr;
  size_t size = 0;
  DO(cudaGetSymbolAddress(&address, series));
  DO(cudaGetSymbolSize(&size, series));
  EXPECT(size == 32);
  add<<<1, 8>>>(static_cast<int *>(address), 8, 100);
  int all[8];
  DO(cudaMemcpyFromSymbol(all, series, sizeof all));
  EXPECT(all[0] == 101 && all[2] == 104 && all[7] == 108);
  EXPECT(cudaGetSymbolAddress(&address, &count) == cudaErrorInvalidSymbol);
  cudaGetLastError();
  DO(cudaFree(p));
}

static void pitched() {
  const int width = 37, height = 11;
  std::vector<int> in(width * height), out(width * height, -1);
  for (int i = 0; i < width * height; i++) in[i] = i;
  int *p = nullptr;
  size_t pitch = 0;
  DO(cudaMallocPitch(reinterpret_cast<void **>(&p), &pitch, width * sizeof(int), height));
  EXPECT(pitch >= width * sizeof(int) && pitch % 32 == 0);
  DO(cudaMemset2D(p, pitch, 0xff, width * sizeof(int), height));
  DO(cudaMemcpy2D(p, pitch, in.data(), width * sizeof(int), width * sizeof(int), height - 1, cudaMemcpyHostToDevice));
  DO(cudaMemcpy2D(out.data(), width * sizeof(int), p, pitch, width * sizeof(int), height, cudaMemcpyDeviceToHost));
  EXPECT(!memcmp(in.data(), out.data(), width * (height - 1) * sizeof(int)) && out[width * height - 1] == -1);
  EXPECT(cudaMemcpy2D(p, 4, in.data(), 8, 8, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
  cudaGetLastError();
  DO(cudaFree(p));
}

static void volume() {
  cudaExtent extent = make_cudaExtent(12 * sizeof(short), 5, 4);
  cudaPitchedPtr at;
  DO(cudaMalloc3D(&at, extent));
  DO(cudaMemset3D(at, 0x11, extent));
  std::vector<short> in(12 * 5 * 4), out(12 * 5 * 4);
  for (size_t i = 0; i < in.size(); i++) in[i] = static_cast<short>(i);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), 12 * sizeof(short), 12, 5);
  copy.dstPtr = at;
  copy.dstPos = make_cudaPos(0, 0, 1);
  copy.extent = make_cudaExtent(12 * sizeof(short), 5, 3);
  copy.kind = cudaMemcpyHostToDevice;
  DO(cudaMemcpy3D(&copy));
  cudaMemcpy3DParms back = {};
  back.srcPtr = at;
  back.dstPtr = make_cudaPitchedPtr(out.data(), 12 * sizeof(short), 12, 5);
  back.extent = extent;
  back.kind = cudaMemcpyDeviceToHost;
  DO(cudaMemcpy3DAsync(&back, cudaStreamPerThread));
  DO(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT(out[0] == 0x1111 && out[59] == 0x1111 && out[60] == 0 && out[239] == 179);
  DO(cudaFree(at.ptr));
}

static void arrays() {
  cudaArray_t array = nullptr;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>(), got;
  DO(cudaMallocArray(&array, &format, 8, 4));
  float2 in[32], out[32];
  for (int i = 0; i < 32; i++) in[i] = make_float2(i, -i);
  DO(cudaMemcpy2DToArray(array, 0, 0, in, 8 * sizeof(float2), 8 * sizeof(float2), 4, cudaMemcpyHostToDevice));
  DO(cudaMemcpy2DFromArray(out, 4 * sizeof(float2), array, 2 * sizeof(float2), 1, 4 * sizeof(float2), 2,
                           cudaMemcpyDeviceToHost));
  EXPECT(out[0].x == 10 && out[3].y == -13 && out[4].x == 18);
  cudaExtent extent;
  unsigned flags;
  DO(cudaArrayGetInfo(&got, &extent, &flags, array));
  EXPECT(got.x == 32 && got.y == 32 && got.z == 0 && extent.width == 8 && extent.height == 4 && extent.depth == 0);
  DO(cudaFreeArray(array));
}

static void pinned() {
  int *host = nullptr, *seen = nullptr;
  DO(cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable));
  for (int i = 0; i < 64; i++) host[i] = i;
  DO(cudaHostGetDevicePointer(&seen, host, 0));
  add<<<1, 64>>>(seen, 64, 5);
  DO(cudaDeviceSynchronize());
  EXPECT(host[0] == 5 && host[63] == 68);
  unsigned flags = 0;
  DO(cudaHostGetFlags(&flags, host));
  EXPECT(flags & cudaHostAllocMapped);
  cudaPointerAttributes attributes;
  DO(cudaPointerGetAttributes(&attributes, host));
  EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == host);
  DO(cudaFreeHost(host));
}

static void registered() {
  std::vector<int> own(5000, 1);
  int *seen = nullptr;
  DO(cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterMapped));
  EXPECT(cudaHostRegister(own.data(), 64, 0) == cudaErrorHostMemoryAlreadyRegistered);
  cudaGetLastError();
  DO(cudaHostGetDevicePointer(&seen, own.data(), 0));
  add<<<20, 256>>>(seen, 5000, 2);
  DO(cudaDeviceSynchronize());
  EXPECT(own[0] == 3 && own[4999] == 3);
  DO(cudaHostUnregister(own.data()));
  EXPECT(cudaHostUnregister(own.data()) == cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
}

static void managed() {
  int *p = nullptr;
  DO(cudaMallocManaged(&p, 1000 * sizeof(int)));
  for (int i = 0; i < 1000; i++) p[i] = i;
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  (void)here;
#if CUDART_VERSION >= 13000
  DO(cudaMemAdvise(p, 4000, cudaMemAdviseSetReadMostly, here));
  DO(cudaMemPrefetchAsync(p, 4000, here, 0));
#else
  DO(cudaMemAdvise(p, 4000, cudaMemAdviseSetReadMostly, 0));
  DO(cudaMemPrefetchAsync(p, 4000, 0));
#endif
  add<<<4, 256>>>(p, 1000, 1);
  DO(cudaDeviceSynchronize());
  EXPECT(p[0] == 1 && p[999] == 1000);
  cudaPointerAttributes attributes;
  DO(cudaPointerGetAttributes(&attributes, p + 3));
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == p + 3);
  DO(cudaFree(p));
}

static void pools() {
  cudaStream_t stream;
  cudaMemPool_t pool;
  int *p = nullptr, out[16];
  DO(cudaStreamCreate(&stream));
  DO(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = ~0ull, used = 0;
  DO(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  DO(cudaMallocAsync(&p, 1 << 20, stream));
  DO(cudaMemsetAsync(p, 0, 64, stream));
  add<<<1, 16, 0, stream>>>(p, 16, 9);
  DO(cudaMemcpyAsync(out, p, sizeof out, cudaMemcpyDeviceToHost, stream));
  DO(cudaStreamSynchronize(stream));
  EXPECT(out[15] == 9);
  DO(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used >= 1 << 20);
  DO(cudaFreeAsync(p, stream));
  DO(cudaStreamSynchronize(stream));
  DO(cudaMemPoolTrimTo(pool, 0));
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own;
  DO(cudaMemPoolCreate(&own, &props));
  DO(cudaMallocFromPoolAsync(reinterpret_cast<void **>(&p), 4096, own, stream));
  DO(cudaFreeAsync(p, stream));
  DO(cudaStreamSynchronize(stream));
  DO(cudaMemPoolDestroy(own));
  DO(cudaStreamDestroy(stream));
}

static void errors() {
  int *p = device<int>(4), word;
  EXPECT(cudaMemcpy(&word, nullptr, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaSuccess);
  void *much = nullptr;
  EXPECT(cudaMalloc(&much, size_t(1) << 60) == cudaErrorMemoryAllocation && !much);
  cudaGetLastError();
  size_t free_bytes, total;
  DO(cudaMemGetInfo(&free_bytes, &total));
  EXPECT(free_bytes <= total && total > (size_t(1) << 28));
  DO(cudaFree(nullptr));
  DO(cudaFree(p));
  EXPECT(cudaFree(p) == cudaErrorInvalidValue);
  cudaGetLastError();
}

int main() {
  run("symbols", symbols);
  run("pitched copies", pitched);
  run("3-D copies", volume);
  run("arrays", arrays);
  run("pinned and mapped memory", pinned);
  run("registered host memory", registered);
  run("managed memory", managed);
  run("memory pools", pools);
  run("error codes of memory functions", errors);
  return failures;
}
