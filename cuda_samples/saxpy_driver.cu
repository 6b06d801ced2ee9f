// The driver API alone: PTX text given to cuModuleLoadData, as run-time code generators do.
// link: -lcuda
#include <cuda.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CU(call)                                                          \
  do {                                                                    \
    CUresult status = (call);                                             \
    if (status != CUDA_SUCCESS) {                                         \
      const char *name = "?";                                             \
      cuGetErrorName(status, &name);                                      \
      std::printf("FAIL line %d: %s: %s\n", __LINE__, #call, name);       \
      return 1;                                                           \
    }                                                                     \
  } while (0)

static const char *const ptx = R"(
.version 7.0
.target sm_52
.address_size 64
.visible .entry saxpy(.param .u64 px, .param .u64 py, .param .f32 pa, .param .u32 pn)
{
  .reg .pred %p;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [px];
  ld.param.u64 %rd2, [py];
  ld.param.f32 %f1, [pa];
  ld.param.u32 %r1, [pn];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra DONE;
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.nc.f32 %f2, [%rd4];
  ld.global.f32 %f3, [%rd5];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%rd5], %f3;
DONE:
  ret;
}
)";

int main() {
  const unsigned n = 12345;
  float a = 2.5f;
  std::vector<float> x(n), y(n), got(n);
  for (unsigned i = 0; i < n; i++) x[i] = 0.25f * i, y[i] = 1000.0f - i;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction saxpy;
  CUdeviceptr dx, dy;
  CU(cuInit(0));
  CU(cuDeviceGet(&device, 0));
  CU(cuDevicePrimaryCtxRetain(&context, device));
  CU(cuCtxSetCurrent(context));
  CU(cuModuleLoadData(&module, ptx));
  CU(cuModuleGetFunction(&saxpy, module, "saxpy"));
  CU(cuMemAlloc(&dx, n * sizeof(float)));
  CU(cuMemAlloc(&dy, n * sizeof(float)));
  CU(cuMemcpyHtoD(dx, x.data(), n * sizeof(float)));
  CU(cuMemcpyHtoD(dy, y.data(), n * sizeof(float)));
  unsigned count = n;
  void *arguments[] = {&dx, &dy, &a, &count};
  CU(cuLaunchKernel(saxpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CU(cuMemcpyDtoH(got.data(), dy, n * sizeof(float)));
  for (unsigned i = 0; i < n; i++)
    if (got[i] != std::fma(a, x[i], y[i])) {
      std::printf("FAIL y[%u]: got %g, want %g\n", i, got[i], std::fma(a, x[i], y[i]));
      return 1;
    }
  CU(cuMemFree(dx));
  CU(cuMemFree(dy));
  CU(cuModuleUnload(module));
  CU(cuDevicePrimaryCtxRelease(device));
  std::printf("PASS\n");
  return 0;
}
