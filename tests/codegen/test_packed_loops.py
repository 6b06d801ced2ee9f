"""Pairs of floats that go round a loop with several entries.

Protects: both halves of each pair. LLVM 22 packs two f32 into one value, and loses a half of it on chips with
packed arithmetic.
"""

from __future__ import annotations

import numpy as np
import pytest

from ptx2amd import hip
from ptx2amd.translate import translate

F = np.float32
LANES, ROUNDS = 64, 20
NEXT = "add.u32 %n, %n, 1; setp.gt.u32 %q, %n, 20; @%q bra END;"
PTX = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {{
  .reg .f32 %a, %b, %c, %d; .reg .b64 %out, %in; .reg .b32 %t, %n, %m; .reg .pred %p, %q;
  ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; mov.u32 %t, %tid.x; mov.u32 %n, 0;
  mad.wide.u32 %out, %t, 16, %out; mad.wide.u32 %in, %t, 16, %in;
  ld.global.f32 %a, [%in]; ld.global.f32 %b, [%in+4]; ld.global.f32 %c, [%in+8]; ld.global.f32 %d, [%in+12];
A:
  {NEXT}
  add.rn.f32 %a, %a, 1.0; add.rn.f32 %b, %b, 1.5; mul.rn.f32 %c, %d, 1.0; mul.rn.f32 %d, %c, 1.5;
  add.u32 %m, %t, %n; and.b32 %m, %m, 1; setp.ne.u32 %p, %m, 0; @%p bra C;
B:
  {NEXT}
  add.rn.f32 %a, %a, 2.0; add.rn.f32 %b, %b, 1.0; mul.rn.f32 %c, %a, 1.5; mul.rn.f32 %d, %b, -1.0;
  fma.rn.f32 %a, %a, 1.0, %b; fma.rn.f32 %b, %b, 0.25, %a;
  add.u32 %m, %t, %n; and.b32 %m, %m, 4; setp.ne.u32 %p, %m, 0; @%p bra A;
C:
  {NEXT}
  mul.rn.f32 %a, %a, -1.0; mul.rn.f32 %b, %b, 0.25;
  add.u32 %m, %t, %n; and.b32 %m, %m, 2; setp.ne.u32 %p, %m, 0; @%p bra B;
  bra C;
END:
  st.global.f32 [%out], %a; st.global.f32 [%out+4], %b; st.global.f32 [%out+8], %c; st.global.f32 [%out+12], %d;
  ret;
}}
"""


def sum_of(product: tuple[np.float32, float], other: np.float32) -> np.float32:
    """A fused multiply-add."""
    return F(np.float64(product[0]) * np.float64(product[1]) + np.float64(other))


def expected(lane: int, a: np.float32, b: np.float32, c: np.float32, d: np.float32) -> list[np.float32]:
    block = "A"
    for n in range(1, ROUNDS + 1):
        m = lane + n
        if block == "A":
            a, b, c = F(a + F(1)), F(b + F(1.5)), d
            d = F(c * F(1.5))
            block = "C" if m & 1 else "B"
        elif block == "B":
            a, b = F(a + F(2)), F(b + F(1))
            c, d = F(a * F(1.5)), F(-b)
            a = F(a + b)
            b = sum_of((b, 0.25), a)
            block = "A" if m & 4 else "C"
        else:
            a, b = F(-a), F(b * F(0.25))
            block = "B" if m & 2 else "C"
    return [a, b, c, d]


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1100"])
def test_both_halves_go_round(arch: str) -> None:
    given = (np.arange(4 * LANES) % 13 - 6).astype(F).reshape(LANES, 4)
    gpu = hip.open(f"vgpu:{arch}")
    out, start = gpu.buffer(np.zeros(4 * LANES, F)), gpu.buffer(given.reshape(-1))
    gpu.load(translate(PTX, "loop.ptx", [arch])[0].code).kernel("k").launch(1, LANES, [out, start])
    found = out.numpy(F).reshape(LANES, 4)
    assert found.tolist() == [[float(x) for x in expected(lane, *given[lane])] for lane in range(LANES)]
