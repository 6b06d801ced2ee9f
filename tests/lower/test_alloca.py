"""Stacks whose size only the run knows: `alloca`, `stacksave`, `stackrestore`.

Protects: that a lane gets its own bytes (LLVM 22 gives the wave's address where scratch is not flat) and returns them,
and no more than it asks for (LLVM 22 gives as many for each lane of the wave where scratch is flat).
"""

from __future__ import annotations

import numpy as np
import pytest

from ptx2amd import hip
from ptx2amd.translate import translate

PTX = """.version 7.3
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
  .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %q;
  .local .align 8 .b8 own[16];
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  st.local.u32 [own+8], %r2;
  mul.wide.u32 %rd2, %r1, 4;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
ROUND:
  stacksave.u64 %rd8;
  alloca.u64 %rd3, %rd2, 8;
  mov.u32 %r3, 0;
  mov.u64 %rd4, %rd3;
FILL:
  mad.lo.u32 %r4, %r3, %r2, %r6;
  st.local.u32 [%rd4], %r4;
  add.u64 %rd4, %rd4, 4;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %q, %r3, %r1;
  @%q bra FILL;
  ld.local.u32 %r5, [%rd3+12];
  add.u32 %r7, %r7, %r5;
  stackrestore.u64 %rd8;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %q, %r6, 20;
  @%q bra ROUND;
  ld.local.u32 %r5, [own+8];
  add.u32 %r7, %r7, %r5;
  mul.wide.u32 %rd6, %r2, 4;
  add.u64 %rd7, %rd1, %rd6;
  st.global.u32 [%rd7], %r7;
  ret;
}
"""


@pytest.mark.parametrize("arch", ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"])
def test_stack_of_unknown_size(arch: str) -> None:
    """20 rounds of 200 bytes fit into 1 KiB only when they are given back."""
    gpu = hip.open(f"vgpu:{arch}")
    out = gpu.buffer(np.zeros(64, np.uint32))
    gpu.load(translate(PTX, "alloca.ptx", [arch])[0].code).kernel("k").launch(1, 64, [out, 50])
    assert out.numpy(np.uint32).tolist() == [20 * 3 * t + 190 + t for t in range(64)]


TWO = """.version 7.3
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
  .reg .b64 %rd<5>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; cvt.u64.u32 %rd2, %r1;
  alloca.u64 %rd3, %rd2, 8; alloca.u64 %rd4, %rd2, 8;
  st.local.u32 [%rd3], %r2; st.local.u32 [%rd4], %r1;
  sub.u64 %rd3, %rd4, %rd3; mad.wide.u32 %rd1, %r2, 8, %rd1; st.global.u64 [%rd1], %rd3;
  ret;
}
"""


@pytest.mark.parametrize("arch", ["gfx900", "gfx942", "gfx1030", "gfx1100", "gfx1200"])
def test_a_stack_grows_by_what_is_asked_for(arch: str) -> None:
    """The distance of two arrays of 200 bytes: 16 bytes of each lane of a wave are the least by which it grows."""
    gpu = hip.open(f"vgpu:{arch}")
    out = gpu.buffer(np.zeros(64, np.int64))
    gpu.load(translate(TWO, "alloca.ptx", [arch])[0].code).kernel("k").launch(1, 64, [out, 200])
    [distance] = {abs(int(bytes_)) for bytes_ in out.numpy(np.int64)}
    assert 200 <= distance <= 16 * 64
