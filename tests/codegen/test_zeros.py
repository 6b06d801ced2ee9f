"""Pairs of 16-bit floats, one the constant -0.0: LLVM 22 loses its sign without our work-around."""

from __future__ import annotations

import re
import struct

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.codegen.rewriting import rewritten

TEXT = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) { .reg .b64 %l; .reg .b32 %r<20>; .reg .b16 %h<9>; .reg .f32 %f<9>; .reg .pred %p;
ld.param.u64 %l, [a]; ld.global.f32 %f1, [%l]; ld.global.b16 %h1, [%l+4]; ld.global.b32 %r9, [%l+4];
cvt.rn.f16x2.f32 %r1, 0f80000000, %f1; st.global.b32 [%l+8], %r1;
cvt.rn.satfinite.f16x2.f32 %r2, 0f80000000, %f1; st.global.b32 [%l+12], %r2;
mov.b32 %r3, {%h1, 0x8000}; neg.f16x2 %r3, %r3; st.global.b32 [%l+16], %r3;
mov.b16 %h2, 0x8000; mov.b32 %r4, {%h1, %h2}; mul.f16x2 %r4, %r4, %r9; st.global.b32 [%l+20], %r4;
mov.b32 {%h3, %h4}, %r9; mov.b32 %r5, {%h3, 0x8000}; max.f16x2 %r5, %r5, %r9; st.global.b32 [%l+24], %r5;
cvt.rn.f16.f32 %h5, %f1; st.global.v4.b16 [%l+32], {%h5, 0x8000, %h1, 0x8000};
setp.gt.f32 %p, %f1, 0f00000000; selp.b16 %h6, %h5, 0x8000, %p; mov.b32 %r6, {%h5, %h6}; abs.f16x2 %r7, %r6;
st.global.b32 [%l+40], %r6; st.global.b32 [%l+44], %r7;
cvt.rn.f16x2.f32 %r8, %f1, 0f80000000; st.global.b32 [%l+48], %r8; ret; }
"""


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_minus_zero_stays(arch: str) -> None:
    [result] = translate(TEXT, archs=[arch], mode="module")
    gpu = hip.open(f"vgpu:{arch}")
    buffer = gpu.buffer(struct.pack("<fHH", 1.0, 0x3C00, 0xBC00) + bytes(44))
    lanes = 2 if result.kernels["k"].mapping == "padded" else 1
    gpu.load(result.code).kernel("k").launch(1, lanes, [buffer])
    gpu.synchronize()
    words = struct.unpack("<11I", buffer.bytes()[8:])
    wanted = (0x80003C00, 0x80003C00, 0x0000BC00, 0x00003C00, 0x80003C00, 0)
    assert words[:6] == wanted
    assert words[6:] == (0x80003C00, 0x80003C00, 0x3C003C00, 0x3C003C00, 0x3C008000)


PAIRS = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) { .reg .b64 %a, %t; .reg .b32 %r<9>; .reg .b16 %h<9>; .reg .f32 %f<9>;
mov.u32 %r1, %tid.x; mul.wide.u32 %t, %r1, 16; ld.param.u64 %a, [a]; add.u64 %a, %a, %t;
ld.global.b32 %r2, [%a]; mov.b32 {%h1, %h2}, %r2; mov.b32 %f1, %r2; mov.b16 %h3, 0x8000;
"""


@pytest.mark.parametrize("kind", ["f16x2", "bf16x2"])
def test_pairs(kind: str) -> None:
    """Either half of a word beside a -0.0, in either order, multiplied by one; and a conversion."""
    one = {"f16x2": 0x3C00, "bf16x2": 0x3F80}[kind]
    pairs = [("%h1", "%h3"), ("%h2", "%h3"), ("%h3", "%h1"), ("%h3", "%h2")]
    text = PAIRS + "".join(
        f"mov.b32 %r3, {{{low}, {high}}}; mul.{kind} %r3, %r3, %r2; st.global.b32 [%a+{4 * i}], %r3;\n"
        for i, (low, high) in enumerate(pairs)
    )
    convert = PAIRS + f"cvt.rn.{kind}.f32 %r3, %f1, 0f80000000; cvt.rn.{kind}.f32 %r4, 0f80000000, %f1;\n"
    convert += "st.global.v2.b32 [%a], {%r3, %r4};\n"
    for arch in ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"):
        for source, word, wanted in (
            (text, one << 16 | one, (one | 0x80000000, one | 0x80000000, one << 16 | 0x8000, one << 16 | 0x8000)),
            (convert, 0x3F800000, (one << 16 | 0x8000, one | 0x80000000)),
        ):
            [result] = translate(source + "ret; }\n", archs=[arch], mode="module")
            gpu = hip.open(f"vgpu:{arch}")
            buffer = gpu.buffer(struct.pack("<4I", word, 0, 0, 0))
            gpu.load(result.code).kernel("k").launch(1, 1, [buffer])
            gpu.synchronize()
            found = struct.unpack("<4I", buffer.bytes())[: len(wanted)]
            assert found == wanted, (arch, [hex(v) for v in found])


def test_text() -> None:
    other = "  %1 = fmul <2 x half> %0, splat (half 0xH8000)\n"
    assert rewritten("zeros", other) is other and rewritten("zeros", "  ret void\n") == "  ret void\n"
    for element, constant in (("half", "0xH8000"), ("bfloat", "0xR8000"), ("i16", "-32768")):
        for place in (0, 1):
            text = rewritten("zeros", f"  %1 = insertelement <2 x {element}> %0, {element} {constant}, i64 {place}\n")
            name = "%ptx2amd.zero.1" if element == "i16" else "%ptx2amd.zero.2"
            assert f"{element} {name}, i64 {place}" in text and 'asm "", "=v,0"(i32 32768)' in text
    for vector in ("<half poison, half 0xH8000>", "splat (half 0xH8000)"):
        text = rewritten("zeros", f"  %1 = insertelement <2 x half> {vector}, half %0, i64 0\n")
        assert re.search(r"insertelement <2 x half> %ptx2amd.zero.[37], half %0, i64 0", text) and "0xH8000" not in text
    mixed = "  %1 = shufflevector <2 x i16> %0, <2 x i16> <i16 poison, i16 -32768>, <2 x i32> <i32 0, i32 3>\n"
    assert "<2 x i16> %ptx2amd.zero.2, <2 x i32>" in rewritten("zeros", mixed)
