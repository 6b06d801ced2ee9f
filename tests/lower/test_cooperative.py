"""Cooperative launches: all blocks are there at once, however many."""

from __future__ import annotations

import struct

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate

# Each block adds 1 to the first word, waits until all have, then stores how many it saw. Twice, so that blocks
# which went on early would be seen.
MEET = """.version 8.0
.target sm_80
.address_size 64
.visible .entry meet(.param .u64 state, .param .u64 out) {
  .reg .b32 %r<12>; .reg .b64 %rd<6>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [state]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3; mov.u32 %r4, 0; mov.u32 %r5, 0;
AGAIN: add.u32 %r4, %r4, %r2; bar.sync 0; setp.ne.u32 %p1, %r3, 0; @%p1 bra MET;
  atom.add.acq_rel.gpu.global.u32 %r6, [%rd1], 1;
SPIN: ld.acquire.gpu.global.u32 %r7, [%rd1]; setp.lt.u32 %p2, %r7, %r4; @%p2 bra SPIN;
MET: bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 2; @%p3 bra AGAIN;
  @%p1 bra DONE; st.global.u32 [%rd2], %r7; DONE: ret; }
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("blocks", [3, 257, 700])
def test_all_blocks_meet(arch: str, blocks: int) -> None:
    [result] = translate(MEET, "meet.ptx", [arch])
    gpu = hip.open(f"vgpu:{arch}")
    kernel = gpu.load(result.code).kernel("meet")
    state, out = gpu.buffer(bytes(4)), gpu.buffer(bytes(4 * blocks))
    lib = gpu.activate()
    cells = [lib.ffi.new("uint64_t *", int(buffer)) for buffer in (state, out)]
    parameters = lib.ffi.new("void *[]", [lib.ffi.cast("void *", cell) for cell in cells])
    threads = 64 * (2 if result.kernels["meet"].mapping == "padded" else 1)
    lib.hipModuleLaunchCooperativeKernel(kernel.handle, blocks, 1, 1, threads, 1, 1, 0, lib.ffi.NULL, parameters)
    gpu.synchronize()
    assert state.bytes() == struct.pack("<I", 2 * blocks)
    assert list(struct.unpack(f"<{blocks}I", out.bytes())) == [2 * blocks] * blocks
