"""Overflow checks of 64-bit sums of products: LLVM 22 takes another carry for theirs without our work-around."""

from __future__ import annotations

import random
import struct

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.codegen.rewriting import rewritten

TEXT = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) { .reg .b64 %l<20>; .reg .b32 %r<20>; .reg .pred %p<4>;
ld.param.u64 %l1, [a]; mov.u32 %r0, %tid.x; mul.wide.u32 %l2, %r0, 64; add.u64 %l1, %l1, %l2;
ld.global.v2.b64 {%l3,%l4}, [%l1]; ld.global.b32 %r1, [%l1+16];
mul.lo.u64 %l5, %l3, %l4; cvt.u64.u32 %l6, %r1;
add.u64 %l7, %l5, %l6; setp.lt.u64 %p1, %l7, %l5; selp.b64 %l8, 1, 0, %p1; st.global.v2.b64 [%l1+24], {%l7,%l8};
add.u64 %l9, %l5, 100; setp.lt.u64 %p2, %l9, 100; selp.b64 %l10, 1, 0, %p2; st.global.b64 [%l1+40], %l10;
add.u64 %l11, %l5, 1; setp.eq.u64 %p3, %l11, 0; selp.b64 %l12, 7, %l11, %p3; st.global.b64 [%l1+48], %l12;
selp.b64 %l13, -1, %l7, %p1; st.global.b64 [%l1+56], %l13; ret; }
""".replace("st.global.v2.b64 [%l1+24], {%l7,%l8}", "st.global.b64 [%l1+24], %l7; st.global.b64 [%l1+32], %l8")
TOP = 1 << 64


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_sums_of_products(arch: str) -> None:
    draw = random.Random(1)
    rows = [(TOP - 1, 0x5555555555555555, 127), (TOP - 1, 1, 1)]
    while len(rows) < 64:
        a, b = (draw.choice((1, TOP - 1, 1 << 63, draw.getrandbits(64))) for _ in "ab")
        rows.append((a, b, draw.choice((0, 1, 127, 0xFFFFFFFF))))
    [result] = translate(TEXT, archs=[arch], mode="module")
    gpu = hip.open(f"vgpu:{arch}")
    buffer = gpu.buffer(b"".join(struct.pack("<8Q", *row, 0, 0, 0, 0, 0) for row in rows))
    gpu.load(result.code).kernel("k").launch(1, len(rows), [buffer])
    gpu.synchronize()
    for (a, b, c), found in zip(rows, struct.iter_unpack("<8Q", buffer.bytes()), strict=True):
        p = a * b % TOP
        carry = (p + c) // TOP
        wanted = ((p + c) % TOP, carry, (p + 100) // TOP, (p + 1) % TOP or 7, TOP - 1 if carry else p + c)
        assert found[3:] == wanted, (hex(a), hex(b), c)


def test_only_overflow_checks_are_touched() -> None:
    plain = "define void @f() {\n  %1 = add i64 %a, %b\n  %2 = icmp ult i64 %1, %c\n  ret void\n}\n"
    assert rewritten("overflow", plain) is plain
    check = plain.replace("%c", "%b")
    hidden = '  %ptx2amd.sum.1 = call i64 asm "", "=v,0"(i64 %1)\n'
    assert f"{hidden}  %2 = icmp ult i64 %ptx2amd.sum.1, %b" in rewritten("overflow", check)
    call = "  %3 = call i64 @llvm.uadd.sat.i64(i64 %1, i64 %b)"
    both = rewritten("overflow", plain.replace("  ret", f"{call}\n  ret"))
    assert "@llvm.uadd.sat.i64(i64 %ptx2amd.sum.1, i64 %ptx2amd.sum.2)" in both
