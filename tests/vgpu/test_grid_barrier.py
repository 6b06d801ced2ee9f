"""The barrier with which the waves of a grid wait for each other (GWS), as the device libraries of HIP use it.

Protects: grid synchronisation on chips whose device libraries use these instructions: gfx9 up to gfx90a, gfx10.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.vgpu.hip_gpu import opened
from tests.vgpu.hipcc import compile_hip

BLOCKS, ROUNDS = 20, 5
SOURCE = r"""
GLOBAL void ring(u32 *data, u32 rounds) {
  u32 last = GX - 1;
  asm volatile("s_mov_b32 m0, 0\n v_mov_b32 v2, %0\n ds_gws_init v2 gds" ::"v"(last) : "v2");
  for (u32 k = 0; k < rounds; k++) {
    u32 *from = data + k * GX, *to = from + GX;
    u32 next = __atomic_load_n(&from[(BX + 1) % GX], __ATOMIC_RELAXED);
    if (TX == 0) __atomic_store_n(&to[BX], next + 1, __ATOMIC_RELAXED);
    asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n v_mov_b32 v2, %0\n ds_gws_barrier v2 gds"
                 ::"v"(last) : "v2", "memory");
  }
}
"""


@pytest.mark.parametrize("arch", ("gfx900", "gfx90a", "gfx1030"))
def test_every_block_sees_what_the_others_wrote(arch: str) -> None:
    """In each round a block takes its neighbour's number of the round before."""
    for gpu in opened(arch):
        start = np.zeros((ROUNDS + 1, BLOCKS), np.uint32)
        start[0] = np.arange(BLOCKS) * 100
        data = gpu.buffer(start)
        kernel, ffi = gpu.load(compile_hip(SOURCE, arch)).kernel("ring"), gpu.library.ffi
        values = ffi.new("uint64_t *", data.address), ffi.new("uint32_t *", ROUNDS)
        params = ffi.new("void *[]", values)
        shape = (BLOCKS, 1, 1, 32, 1, 1)  # a wave each: the barrier counts waves
        gpu.library.hipModuleLaunchCooperativeKernel(kernel.handle, *shape, 0, ffi.NULL, params)
        gpu.synchronize()
        for k in range(ROUNDS):
            start[k + 1] = np.roll(start[k], -1) + 1
        assert (data.numpy().reshape(start.shape) == start).all()
