"""Scalar parameters are read before a kernel's first branch, all at once, also those that are used behind it."""

from __future__ import annotations

import re
import struct

import pytest

from ptx2amd.translate import translate
from tests.lower.device import program

ARCHS = ("gfx90a", "gfx942", "gfx942:padded", "gfx1030", "gfx1100", "gfx1201")
SCALE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 in, .param .u64 out, .param .f32 by, .param .u32 n) {
  .reg .b64 %i, %o, %d; .reg .b32 %t, %n; .reg .f32 %x, %y; .reg .pred %p;
  ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; setp.ge.u32 %p, %t, %n;
  @%p bra END;
  ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; ld.param.f32 %y, [by];
  mul.wide.u32 %d, %t, 4; add.u64 %i, %i, %d; add.u64 %o, %o, %d;
  ld.global.f32 %x, [%i]; mul.f32 %x, %x, %y; st.global.f32 [%o], %x;
END:
  ret;
}
"""


@pytest.mark.parametrize("arch", ARCHS)
def test_no_scalar_load_behind_the_branch(arch: str) -> None:
    arch, _, mapping = arch.partition(":")
    [result] = translate(SCALE, "scale.ptx", [arch], emit="asm", mapping=mapping)
    code = result.code.decode()
    before, _, behind = code[code.index("scale:") :].partition("s_cbranch_execz")
    assert "s_load_" in before and "s_endpgm" in behind
    assert not re.search(r"\ts_load_", behind[: behind.index("s_endpgm")])


@pytest.mark.parametrize("arch", ARCHS)
def test_results(arch: str) -> None:
    """Also where no thread, or not every one, goes on."""
    numbers = struct.pack("<64f", *range(64))
    for n in (0, 1, 40, 64):
        more = [struct.pack("<f", 3.0), struct.pack("<I", n)]
        _, out = program(SCALE, arch).run("scale", 64, [numbers, 256], more)
        assert struct.unpack("<64f", out)[:n] == tuple(3.0 * i for i in range(n))
        assert not any(out[4 * n :])


NUMBER = """.version 8.0
.target sm_80
.address_size 64
.visible .entry number(.param .u64 out) {
  .reg .b64 %o, %d; .reg .b32 %t, %n, %b;
  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %t, %b, %n, %t;
  mul.wide.u32 %d, %t, 4; add.u64 %o, %o, %d; st.global.u32 [%o], %t; ret;
}
"""


def test_the_size_of_blocks_needs_no_mask_on_rdna4() -> None:
    [result] = translate(NUMBER, "number.ptx", ["gfx1201"], emit="asm")
    code = result.code.decode()
    assert "s_load_u16" in code and "s_and_b32" not in code
    [out] = program(NUMBER, "gfx1201").run("number", 96, [4 * 96 * 3], grid=3)
    assert struct.unpack("<288I", out) == tuple(range(288))
