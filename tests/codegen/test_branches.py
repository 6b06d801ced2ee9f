"""Branches on two conditions: the same lanes go the same way, without an instruction that inverts the
mask."""

from __future__ import annotations

import struct
from itertools import product
from math import inf, nan

import pytest

from ptx2amd import hip
from ptx2amd.codegen import branches
from ptx2amd.codegen.workarounds import rewritten
from ptx2amd.translate import translate

NUMBERS = [0.0, -0.0, 1.0, -2.5, inf, nan]
PAIRS = [*product(NUMBERS, NUMBERS), *[(1.0, 2.0)] * 28]  # two for each of 64 lanes
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def kernel(relation: str, kind: str, how: str = "xor") -> str:
    """Lane i exchanges its two numbers unless: i is even, xor (or, and) their relation holds."""
    return f"""{HEAD}.visible .entry k(.param .u64 a) {{ .reg .b64 %a<4>; .reg .b32 %r<9>; .reg .pred %p<4>;
    mov.u32 %r0, %tid.x; mul.wide.u32 %a1, %r0, 8; ld.param.u64 %a0, [a]; add.u64 %a2, %a0, %a1;
    ld.global.b32 %r1, [%a2]; ld.global.b32 %r2, [%a2+4]; and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0;
    setp.{relation}.{kind} %p2, %r1, %r2; {how}.pred %p3, %p1, %p2; @%p3 bra DONE;
    st.global.b32 [%a2], %r2; st.global.b32 [%a2+4], %r1;
    DONE: ret; }}"""


def expected(relation: str, is_float: bool, how: str) -> bytes:
    out = []
    for lane, pair in enumerate(PAIRS):
        a, b = pair if is_float else struct.unpack("<2i", struct.pack("<2f", *pair))
        holds = {
            "lt": a < b, "gt": a > b, "ge": a >= b, "eq": a == b, "ne": a != b and a == a and b == b, "geu": not a < b,
            "ltu": not a >= b,
        }[relation]  # fmt: skip
        even = lane % 2 == 0
        stays = {"xor": even != holds, "or": even or holds, "and": even and holds}[how]
        out += pair if stays else pair[::-1]
    return struct.pack(f"<{len(out)}f", *out)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("how", ["xor", "or", "and"])
@pytest.mark.parametrize(
    ("relation", "kind"),
    [
        ("lt", "s32"),
        ("ge", "s32"),
        ("eq", "s32"),
        ("lt", "f32"),
        ("gt", "f32"),
        ("ne", "f32"),
        ("geu", "f32"),
        ("ltu", "f32"),
    ],
)
def test_lanes_go_where_they_should(arch: str, how: str, relation: str, kind: str) -> None:
    [result] = translate(kernel(relation, kind, how), archs=[arch], mode="module")
    gpu = hip.open(f"vgpu:{arch}")
    buffer = gpu.buffer(struct.pack("<128f", *(x for pair in PAIRS for x in pair)))
    gpu.load(result.code).kernel("k").launch(1, 64, [buffer])
    gpu.synchronize()
    assert buffer.bytes() == expected(relation, kind == "f32", how)


@pytest.mark.parametrize("kind", ["s32", "f32"])
def test_no_mask_is_inverted(kind: str) -> None:
    assembly = translate(kernel("lt", kind), archs=["gfx942"], mode="module", emit="asm")[0].code.decode()
    assert "s_and_saveexec_b64" in assembly and ", -1" not in assembly


IR = """define void @k(i32 %a, i32 %b, ptr addrspace(1) %p) {{
entry:
  %x = icmp slt i32 %a, %b
  %y = icmp eq i32 %a, 0
  %z = {both} i1 %x, %y
{more}  br i1 %z, label %{first}, label %{second}

body:
  store i32 1, ptr addrspace(1) %p, align 4
  br label %out

out:
  ret void
}}
"""


@pytest.mark.parametrize(("both", "other"), [("xor", "xor"), ("or", "and"), ("and", "or")])
def test_which_branches(both: str, other: str) -> None:
    """Only those past the other block, and of conditions that nothing else uses."""
    text = IR.format(both=both, more="", first="out", second="body")
    new = rewritten(text, [branches.rewrite])
    assert "%ptx2amd.not.x = icmp sge i32 %a, %b" in new and "br i1 %z, label %body, label %out" in new
    second = "%y" if both == "xor" else "%ptx2amd.not.y"
    assert f"%z = {other} i1 %ptx2amd.not.x, {second}" in new
    other_way = IR.format(both=both, more="", first="body", second="out")
    twice = IR.format(both=both, more="  %w = zext i1 %z to i32\n", first="out", second="body")
    for text in (other_way, twice):
        assert rewritten(text, [branches.rewrite]) is text
