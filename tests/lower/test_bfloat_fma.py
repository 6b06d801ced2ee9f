"""fma of bf16 is rounded once: also where the exact result lies next to the middle between two bf16."""

from __future__ import annotations

import random
import struct

import pytest

from tests.lower.device import Program
from tests.reference.numbers import add, decode, encode, mul

COUNT = 8192
NAN = 0x7FFF


def text(flush: bool) -> str:
    """Each thread: fma of three numbers. flush: f32 operations of the kernel flush denormals."""
    other = "mul.ftz.f32 %f, %f, %f; add.ftz.f32 %f, %f, %f;" if flush else ""
    return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .b64 %in, %out; .reg .b32 %t, %n; .reg .b16 %a, %b, %c; .reg .f32 %f;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %ctaid.x; mov.u32 %n, %tid.x; mad.lo.u32 %t, %t, 256, %n;
mad.wide.u32 %in, %t, 8, %in; mad.wide.u32 %out, %t, 8, %out;
ld.global.b16 %a, [%in]; ld.global.b16 %b, [%in+2]; ld.global.b16 %c, [%in+4];
cvt.rn.f32.u32 %f, %t; {other} st.global.f32 [%out+4], %f;
fma.rn.bf16 %a, %a, %b, %c; st.global.b16 [%out], %a; ret; }}"""


def operands(source: random.Random) -> tuple[int, int, int]:
    """Any three, or a product of nine bits, half way between two bf16, and a summand far below it or near it."""
    if source.random() < 0.2:
        return source.randrange(1 << 16), source.randrange(1 << 16), source.randrange(1 << 16)
    first, second = source.randrange(1, 254), source.randrange(1, 254)
    a = first << 7 | source.randrange(0, 128, 8)
    b = second << 7 | source.randrange(0, 128, 8)
    exponent = min(max(first + second - 127 - source.choice((0, 3, 7, 8, 9, 16, 17, 25, 40, 90)), 0), 254)
    c = exponent << 7 | source.choice((0, 1, 64, 127, source.randrange(128)))
    signs = source.choices((0, 0x8000), k=3)
    return a | signs[0], b | signs[1], c | signs[2]


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_one_rounding(arch: str, flush: bool) -> None:
    source = random.Random(f"{arch} {flush}")
    cases = [operands(source) for _ in range(COUNT)]
    memory = b"".join(struct.pack("<4H", *case, 0) for case in cases)
    _, out = Program(text(flush), arch).run("k", 256, [memory, 8 * COUNT], grid=COUNT // 256)
    ties = 0
    for (a, b, c), (found, _) in zip(cases, struct.iter_unpack("<H6s", out), strict=True):
        exact = add(mul(decode(a, "bf16"), decode(b, "bf16")), decode(c, "bf16"))
        expected = encode(exact, "bf16")
        assert found == (NAN if expected is None else expected), (hex(a), hex(b), hex(c))
        twice = encode(exact, "f32")
        ties += twice is not None and encode(decode(twice, "f32"), "bf16") != expected
    assert ties > 50, "two roundings would have made a difference"
