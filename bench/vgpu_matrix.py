"""Matrix instructions of the software GPU: 1024^3 GEMMs against rocjitsu's published time, and loading.

The peer's 1.48 s with 4 threads are for FP8; ours are CPU seconds, so the goal is 4 * 1.48. Needs clang-19 (Debian)
for code objects with MFMA and WMMA. The naive kernel reads its operands from memory for each instruction.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from ptx2amd import hip

PEER = 4 * 1.48
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


def compiled(arch: str) -> bytes:
    """The kernels as a code object of Debian's clang-19."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "k.hip"), Path(folder, "k.hsaco")
        source.write_text(SOURCE)
        flags = ["--cuda-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O3"]
        command = ["clang-19", "-x", "hip", f"--offload-arch={arch}", *flags, str(source), "-o", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        return out.read_bytes()


def main() -> None:
    if not shutil.which("clang-19"):
        print("clang-19 is not installed (Debian: apt install clang-19)")
        return
    rng = np.random.default_rng(0)
    for arch, name, lanes in CASES:
        gpu, code = hip.open(f"vgpu:{arch}"), compiled(arch)
        begin = time.process_time()
        kernel = gpu.load(code).kernel(name)
        loading = time.process_time() - begin
        a, b = (rng.standard_normal((SIZE, SIZE)).astype(np.float16) for _ in range(2))
        if name == "fp8":
            a, b = (rng.integers(0x30, 0x48, (SIZE, SIZE), np.uint8) for _ in range(2))
        c = gpu.buffer(np.zeros((SIZE, SIZE), np.float32))
        begin = time.process_time()
        kernel.launch((SIZE // 16, SIZE // 16), (lanes, 1), [gpu.buffer(a), gpu.buffer(b), c, SIZE])
        gpu.synchronize()
        used = time.process_time() - begin
        if name == "f16":
            assert np.allclose(c.numpy(), a.astype(np.float32) @ b.astype(np.float32).T, atol=1e-2)
        ratio = f"{used:.2f} CPU seconds, {used / PEER:.2f} of rocjitsu's"
        print(f"{arch}: {name} GEMM {ratio}; loaded in {loading * 1e3:.2f} ms")
