"""Software GPU speed: a 256x256x256 matmul and a vector add, against the figures of tinygrad's emulator.

The peer's figures (15 million multiply-adds and 1 million elements a second) are published ones; the goal is
200 times both. numpy on the same machine is printed for scale.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ptx2amd import hip
from ptx2amd.compat import toolkit
from ptx2amd.translate import translate

PEER = {"matmul": 15e6, "vector add": 1e6}
SOURCE = r"""
constexpr int TILE = 16;
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
  __shared__ float ta[TILE][TILE], tb[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += TILE) {
    ta[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int t = 0; t < TILE; t++) sum = fmaf(ta[threadIdx.y][t], tb[t][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""


def ptx_of(source: str) -> str:
    """Compile CUDA source to PTX with nvcc."""
    tools = toolkit.find()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cu"
        path.write_text(source)
        command = [tools.nvcc, *tools.flags, "-ptx", "-arch=compute_80", "-o", str(path.with_suffix(".ptx")), str(path)]
        subprocess.run(command, check=True)
        return path.with_suffix(".ptx").read_text()


def best(run: Callable[[], object], rounds: int = 5) -> float:
    """Seconds of the fastest of some rounds, after one to warm up."""
    run()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def rates(gpu: hip.Gpu, code: bytes, n: int = 256, elements: int = 1 << 22) -> dict[str, float]:
    """Multiply-adds a second of an n x n x n matmul, elements a second of a vector add; results are checked."""
    rng = np.random.default_rng(0)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    x, y = (rng.random(elements, dtype=np.float32) for _ in range(2))
    da, db, dc, dx, dy, dz = map(gpu.buffer, (a, b, np.zeros_like(a), x, y, np.zeros_like(x)))
    module = gpu.load(code)
    matmul, add = module.kernel("matmul"), module.kernel("add")

    def run_matmul() -> None:
        matmul.launch((n // 16, n // 16), (16, 16), [da, db, dc, n])
        gpu.synchronize()

    def run_add() -> None:
        add.launch(elements // 256, 256, [dx, dy, dz, elements])
        gpu.synchronize()

    found = {"matmul": n**3 / best(run_matmul), "vector add": elements / best(run_add)}
    assert np.allclose(dc.numpy(), a @ b, rtol=1e-4) and np.array_equal(dz.numpy(), x + y)
    return found


def main() -> None:
    ptx = ptx_of(SOURCE)
    for arch in ("gfx942", "gfx1100"):
        code = translate(ptx, "bench.ptx", [arch], mode="module")[0].code
        for name, rate in rates(hip.open(f"vgpu:{arch}"), code).items():
            times = rate / PEER[name]
            print(f"{arch}: {name:10} {rate / 1e6:8.0f} million/s, {times:6.1f} x the peer's figure (goal 200)")
    a, x = np.ones((256, 256), np.float32), np.ones(1 << 22, np.float32)
    matmul, add = 256**3 / best(lambda: a @ a), len(x) / best(lambda: x + x)
    print(f"numpy: matmul {matmul / 1e6:.0f} million/s, vector add {add / 1e6:.0f} million/s")
