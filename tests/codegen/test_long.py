"""Kernels so long that LLVM does without some of its passes: what they compute stays the same.

Protects: huge kernels (cuDF's arithmetic has 70 thousand lines of PTX), for which those passes take minutes.
"""

from __future__ import annotations

import struct

import pytest

from ptx2amd.codegen import llvm
from ptx2amd.translate import translate
from tests.vgpu.hip_gpu import opened

# Each thread takes one of four ways in each of ten rounds, and adds what its neighbour has in shared memory.
WAYS = ("mul.lo.u32 %x, %x, 3;", "xor.b32 %x, %x, %i;", "div.u32 %x, %x, 7;", "add.u32 %x, %x, 99;")
THREADS, ROUNDS = 64, 10
TEXT = f""".version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .b32 %t, %x, %i, %w, %y; .reg .b64 %o, %s, %a; .reg .pred %p;
  .shared .align 4 .b32 values[{THREADS}];
  mov.u32 %t, %tid.x; mov.u32 %x, %t; mov.u32 %i, 0; mov.u64 %s, values; mul.wide.u32 %a, %t, 4; add.u64 %s, %s, %a;
LOOP:
  add.u32 %w, %t, %i; and.b32 %w, %w, 3;
  W: .branchtargets {", ".join(f"WAY{n}" for n in range(len(WAYS)))};
  brx.idx %w, W;
  {"".join(f"WAY{n}: {way} bra JOIN; " for n, way in enumerate(WAYS))}
JOIN:
  st.shared.u32 [%s], %x; bar.sync 0;
  xor.b64 %a, %s, 4; ld.shared.u32 %y, [%a]; add.u32 %x, %x, %y; bar.sync 0;
  add.u32 %i, %i, 1; setp.lt.u32 %p, %i, {ROUNDS}; @%p bra LOOP;
  ld.param.u64 %o, [out]; mul.wide.u32 %a, %t, 4; add.u64 %o, %o, %a; st.global.u32 [%o], %x; ret;
}}
"""


def expected() -> list[int]:
    values = list(range(THREADS))
    for i in range(ROUNDS):
        for t, x in enumerate(values):
            values[t] = (x * 3 & 0xFFFFFFFF, x ^ i, x // 7, x + 99 & 0xFFFFFFFF)[t + i & 3]
        values = [x + values[t ^ 1] & 0xFFFFFFFF for t, x in enumerate(values)]
    return values


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_long_code_computes_the_same(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    [short] = translate(TEXT, "long.ptx", [arch], mode="module", isolate="all")
    monkeypatch.setattr(llvm, "LONG_LINES", 1)
    [long] = translate(TEXT, "long.ptx", [arch], mode="module", isolate="all")
    assert long.ok and long.code != short.code
    for gpu in opened(arch):
        out = gpu.buffer(4 * THREADS)
        gpu.load(long.code).kernel("k").launch(1, THREADS, [out])
        assert list(struct.unpack(f"<{THREADS}I", out.bytes())) == expected()
