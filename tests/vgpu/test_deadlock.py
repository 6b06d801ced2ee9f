"""Dispatches that can never end, and long ones that look like it.

Protects: a hang becomes hipErrorLaunchTimeOut with a report; a kernel that waits for the host, for another block, or
that only computes for long is left alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from tests import ROOT
from tests.vgpu.hipcc import ARCHS

KERNELS = r"""
GLOBAL void flag_never_set(volatile u32 *flag) { while (!*flag) {} flag[1] = 1; }
GLOBAL void lock_never_freed(u32 *lock) { while (__hip_atomic_exchange(lock, 1u, 5, 4)) __builtin_amdgcn_s_sleep(1); }
GLOBAL void some_wait(volatile u32 *flag) {
  if (TX >= 128) { while (!*flag) __builtin_amdgcn_s_sleep(2); }
  barrier();
  flag[1] = 1;
}
GLOBAL void forever() { for (;;) {} }
GLOBAL void ping_pong(volatile u32 *turn, u32 ticks) {
  u64 begin = __builtin_readsteadycounter();
  for (;;) {
    u32 now;
    while ((now = *turn) < 1u << 31 && now % 2 != BX) {}
    barrier();
    if (now >= 1u << 31) return;
    if (TX == 0) *turn = BX == 0 && __builtin_readsteadycounter() - begin > ticks ? 1u << 31 : (now + 1) % (1u << 30);
    barrier();
  }
}
GLOBAL void count(u32 *p, u32 rounds) {
  u32 v = p[0];
  for (u32 k = 0; k < rounds; k++) v = v * 1664525u + 1013904223u;
  p[0] = v;
}
"""


def run(arch: str, program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, as the limits are read once; `gpu`, `kernel(name)` and `word` (2 dwords, 0) are there."""
    head = f"""
    import time
    import numpy as np
    from tests.vgpu.hipcc import compile_hip
    from ptx2amd import hip
    from tests.vgpu.test_deadlock import KERNELS
    gpu = hip.open("vgpu:{arch}")
    kernel = gpu.load(compile_hip(KERNELS, {arch!r}, 5)).kernel
    word = gpu.buffer(np.zeros(2, np.uint32))
    """
    source = textwrap.dedent(head) + textwrap.dedent(program)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PTX2AMD_VGPU_DEADLOCK": "0.5",
        "PTX2AMD_VGPU_THREADS": "2",
        **variables,
    }
    command = [sys.executable, "-c", source]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    "name, grid, block", [("flag_never_set", 3, 64), ("lock_never_freed", 3, 64), ("some_wait", 1, 256)]
)
def test_polling(arch: str, name: str, grid: int, block: int) -> None:
    done = run(arch, f"kernel({name!r}).launch({grid}, {block}, [word]); gpu.synchronize()")
    assert "hipErrorLaunchTimeOut" in done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("ptx2amd vgpu: deadlock")]
    assert name in line and "nothing changed for 0.5 s" in line and "8-byte device allocation" in line
    if name == "some_wait":
        waves = 128 // (64 if arch == "gfx942" else 32)  # of each kind
        assert f": {waves} waves wait at a barrier, {waves} poll" in line and " 0 blocks have not begun" in line


def test_empty_loop() -> None:
    done = run("gfx942", "kernel('forever').launch(1, 64, []); gpu.synchronize()")
    assert "deadlock: kernel forever" in done.stderr and "hipErrorLaunchTimeOut" in done.stderr


def test_waiting_for_the_host() -> None:
    """The flag lies in pinned memory, so only the program knows when it comes."""
    done = run("gfx942", """
        page = np.zeros(1024, np.uint32)
        gpu.library.hipHostRegister(gpu.library.ffi.cast("void *", page.ctypes.data), page.nbytes, 0)
        kernel("flag_never_set").launch(1, 64, [page.ctypes.data])
        time.sleep(1.5)
        page[0] = 1
        gpu.synchronize()
        print("flag", page[1])
    """)  # fmt: skip
    assert done.stdout == "flag 1\n", done.stderr


def test_long_kernels() -> None:
    """Blocks that poll each other's progress, and one that computes, for longer than the limit (of 0.5 s), however
    fast they are."""
    done = run("gfx942", """
        begin = time.perf_counter()
        kernel("ping_pong").launch(2, 64, [word, 120_000_000])
        gpu.synchronize()
        assert time.perf_counter() - begin > 1.2
        begin = time.perf_counter()
        while time.perf_counter() - begin < 1.2:
            kernel("count").launch(1, 64, [word, 20_000_000])
            gpu.synchronize()
        print("done")
    """)  # fmt: skip
    assert done.stdout == "done\n", done.stderr


def test_time_limit() -> None:
    done = run(
        "gfx942", "kernel('count').launch(1, 64, [word, 1 << 31]); gpu.synchronize()", PTX2AMD_VGPU_TIMEOUT="0.3"
    )
    assert "ran longer than PTX2AMD_VGPU_TIMEOUT (0.3 s)" in done.stderr and "hipErrorLaunchTimeOut" in done.stderr
