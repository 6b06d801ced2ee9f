"""Out of range of LDS, reads give 0 and writes are dropped, as on chips: rocBLAS sends lanes beyond an edge there.
In code of our own translator, and under memcheck, such an access ends the launch.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.vgpu.hip_gpu import opened
from tests.vgpu.hipcc import ARCHS, compile_hip

FAR = 0xF00000
THREADS = 64
SOURCE = """
SHARED u32 cells[1024];
#define KERNEL(name, T)                                                                                      \\
  GLOBAL void name(const u32 *places, u32 *out) {                                                            \\
    for (u32 k = TX; k < 1024; k += 64) cells[k] = k;                                                        \\
    __builtin_amdgcn_s_barrier();                                                                            \\
    typedef __attribute__((address_space(3))) volatile T *shared;                                            \\
    shared place = (shared)(places[TX]);                                                                     \\
    T value = *place;                                                                                        \\
    *place = value + 1;                                                                                      \\
    *(T *)(out + 4 * TX) = value;                                                                            \\
    *(T *)(out + 256 + 4 * TX) = *place;                                                                     \\
  }
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
KERNEL(one, u32)
KERNEL(two, u32x2)
KERNEL(four, u32x4)
GLOBAL void atomic(const u32 *places, u32 *out) {
  for (u32 k = TX; k < 1024; k += 64) cells[k] = k;
  __builtin_amdgcn_s_barrier();
  typedef __attribute__((address_space(3))) u32 *shared;
  shared place = (shared)(places[TX]);
  out[4 * TX] = __hip_atomic_fetch_add(place, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  out[256 + 4 * TX] = *place;
}
"""
WIDTHS = {"one": 1, "two": 2, "four": 4, "atomic": 1}


@pytest.fixture(params=ARCHS)
def gpu(request: pytest.FixtureRequest) -> Iterator[hip.Gpu]:
    yield from opened(request.param)


def run(gpu: hip.Gpu, kernel: str, far: np.ndarray) -> np.ndarray:
    """Lane l at element 2 l, those in `far` beyond the end; what each read before and after it added 1."""
    places = np.where(far, FAR + 16 * np.arange(THREADS), 8 * WIDTHS[kernel] * np.arange(THREADS) % 4096)
    out = gpu.buffer(np.full(512, 77, np.uint32))
    module = gpu.load(compile_hip(SOURCE, gpu.arch))
    for _ in range(60):  # until blocks are translated
        module.kernel(kernel).launch(1, THREADS, [gpu.buffer(places.astype(np.uint32)), out])
    gpu.synchronize()
    return out.numpy().reshape(2, THREADS, 4)[:, :, : WIDTHS[kernel]]


@pytest.mark.parametrize("kernel", WIDTHS)
def test_as_on_chips(gpu: hip.Gpu, kernel: str) -> None:
    lane = np.arange(THREADS)
    for far in (lane % 3 == 1, lane < 0, lane >= 0, lane > 40):
        before, after = run(gpu, kernel, far)
        width = WIDTHS[kernel]
        start = (2 * width * lane % 1024)[:, None] + np.arange(width)
        assert (before == np.where(far[:, None], 0, start)).all()
        assert (after == np.where(far[:, None], 0, start + 1)).all()


def test_a_fault_under_memcheck() -> None:
    code = "import numpy as np\nfrom tests.vgpu import test_lds_out_of_range as t\nfrom ptx2amd import hip\n"
    code += "t.run(hip.open('vgpu:gfx942'), 'one', np.arange(64) == 5)"
    environment = {**os.environ, "PTX2AMD_MEMCHECK": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode and "LDS address out of range: kernel one" in done.stderr, done.stderr


def test_a_fault_in_translated_code(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    text = """.version 7.0
    .target sm_70
    .address_size 64
    .visible .entry k(.param .u64 out) {
      .reg .b32 %r<4>; .shared .b32 cells[4];
      mov.u32 %r1, cells; add.u32 %r1, %r1, 0xf00000; ld.volatile.shared.u32 %r2, [%r1]; ret; }"""
    kernel = gpu.load(translate(text, "far.ptx", [gpu.arch])[0].code).kernel("k")
    kernel.launch(1, 1, [gpu.buffer(16)])
    with pytest.raises(hip.HipError):
        gpu.synchronize()
    gpu.reset()
    assert "LDS address out of range: kernel k" in capfd.readouterr().err
