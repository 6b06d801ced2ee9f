"""Matrix instructions of the software GPU: 1024^3 GEMMs against rocjitsu's published time, and loading.

The peer's FP8 GEMM takes 1.48 s with 4 threads; ours is given as CPU seconds (best of three) and as a quarter of them,
what 4 threads need. The kernels are compiled by clang, the one in the wheel ziglang, to MFMA and WMMA, and read their
operands from memory for each instruction.
"""

from __future__ import annotations

import time

import numpy as np

from ptx2amd import hip
from tests.vgpu.hipcc import compile_hip

THREADS, PEER = 4, 1.48
SIZE = 1024
SOURCE = r"""
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef float float8_ __attribute__((ext_vector_type(8)));
#define KERNEL extern "C" __attribute__((global)) void
#define PLACE int lane = __builtin_amdgcn_workitem_id_x(), row = __builtin_amdgcn_workgroup_id_y() * 16, \
                  col = __builtin_amdgcn_workgroup_id_x() * 16
#ifdef __gfx942__
KERNEL f16(const _Float16 *a, const _Float16 *b, float *c, int n) {
  PLACE;
  float4_ sum = {0, 0, 0, 0};
  for (int k = lane / 16 * 4; k < n; k += 16)
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(*(const half4 *)(a + (row + lane % 16) * n + k),
                                                *(const half4 *)(b + (col + lane % 16) * n + k), sum, 0, 0, 0);
  for (int j = 0; j < 4; j++) c[(row + lane / 16 * 4 + j) * n + col + lane % 16] = sum[j];
}
KERNEL fp8(const char *a, const char *b, float *c, int n) {
  PLACE;
  float4_ sum = {0, 0, 0, 0};
  for (int k = lane / 16 * 8; k < n; k += 32)
    sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(*(const long *)(a + (row + lane % 16) * n + k),
                                                     *(const long *)(b + (col + lane % 16) * n + k), sum, 0, 0, 0);
  for (int j = 0; j < 4; j++) c[(row + lane / 16 * 4 + j) * n + col + lane % 16] = sum[j];
}
#else
KERNEL f16(const _Float16 *a, const _Float16 *b, float *c, int n) {
  PLACE;
  float8_ sum = {0};
  for (int k = 0; k < n; k += 16)
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(*(const half16 *)(a + (row + lane % 16) * n + k),
                                                     *(const half16 *)(b + (col + lane % 16) * n + k), sum);
  for (int j = 0; j < 8; j++) c[(row + j * 2 + lane / 16) * n + col + lane % 16] = sum[j];
}
#endif
"""
CASES = (("gfx942", "fp8", 64), ("gfx942", "f16", 64), ("gfx1100", "f16", 32))


def fp8(codes: np.ndarray) -> np.ndarray:
    """The values of normal numbers of gfx942's 8 bits: exponents above 8, 3 bits of fraction."""
    return np.ldexp(1 + (codes & 7) / 8, (codes >> 3).astype(int) - 8)


def main() -> None:
    rng = np.random.default_rng(0)
    for arch, name, lanes in CASES:
        gpu, code = hip.open(f"vgpu:{arch}"), compile_hip(SOURCE, arch, 5, "-O3")
        begin = time.process_time()
        kernel = gpu.load(code).kernel(name)
        loading = time.process_time() - begin
        a, b = (rng.standard_normal((SIZE, SIZE)).astype(np.float16) for _ in range(2))
        if name == "fp8":
            a, b = (rng.integers(0x30, 0x48, (SIZE, SIZE), np.uint8) for _ in range(2))
        c = gpu.buffer(np.zeros((SIZE, SIZE), np.float32))
        arguments, used = [gpu.buffer(a), gpu.buffer(b), c, SIZE], []
        for _ in range(3):
            begin = time.process_time()
            kernel.launch((SIZE // 16, SIZE // 16), (lanes, 1), arguments)
            gpu.synchronize()
            used.append(time.process_time() - begin)
        left, right = (fp8(m) if name == "fp8" else m.astype(np.float64) for m in (a, b))
        assert np.allclose(c.numpy(), left @ right.T, rtol=1e-5, atol=1e-2)
        ours = min(used) / THREADS
        print(f"{arch}: {name} GEMM {min(used):.2f} CPU seconds: {ours:.2f} s with {THREADS} threads, "
              f"{PEER / ours:.1f} x as fast as rocjitsu's {PEER} s; loaded in {loading * 1e3:.2f} ms")  # fmt: skip
