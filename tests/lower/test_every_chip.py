"""Every chip that the software GPU can be runs a kernel with shuffles, shared memory and a barrier."""

from __future__ import annotations

import struct

import pytest

from ptx2amd.target import chips
from tests.lower.device import Program

REVERSED = """.version 8.0
.target sm_80
.address_size 64
.visible .entry reversed(.param .u64 p) {
  .reg .b32 %t, %v;
  .reg .b64 %a, %o;
  .shared .align 4 .b8 block[512];
  ld.param.u64 %a, [p];
  cvta.to.global.u64 %a, %a;
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4;
  add.u64 %a, %a, %o;
  ld.global.u32 %v, [%a];
  shfl.sync.bfly.b32 %v, %v, 31, 31, 0xffffffff;
  mov.u64 %o, block;
  mul.lo.u32 %t, %t, 4;
  xor.b32 %t, %t, 128;
  .reg .b64 %s;
  cvt.u64.u32 %s, %t;
  add.u64 %s, %s, %o;
  st.shared.u32 [%s], %v;
  bar.sync 0;
  xor.b32 %t, %t, 128;
  cvt.u64.u32 %s, %t;
  add.u64 %s, %s, %o;
  ld.shared.u32 %v, [%s];
  st.global.u32 [%a], %v;
  ret;
}
"""


@pytest.mark.parametrize("name", chips.devices())
def test_every_chip_of_the_software_gpu_runs(name: str) -> None:
    """Each warp's values come reversed, and warps change places with their neighbours."""
    threads = 128
    [out] = Program(REVERSED, name).run("reversed", threads, [struct.pack(f"{threads}I", *range(threads))])
    assert list(struct.unpack(f"{threads}I", out)) == [k ^ 32 ^ 31 for k in range(threads)]
