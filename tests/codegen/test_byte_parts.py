"""Table entries by the bytes of a register: one instruction for an offset where the chip has it, and the same offset
for every input. A masked shift copies single bits, so inputs with one bit prove it for all."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.codegen.rewriting import rewritten

LANES = 64
#: The sum of four entries of a table, one for each byte of the thread's word; the table is entries 0 to 255, times 3.
TEXT = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 out) {
.reg .u32 %r<20>; .reg .u64 %l<4>; .shared .align 4 .u32 t[256];
ld.param.u64 %l1, [words]; ld.param.u64 %l2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %l3, %r1, 4;
mov.u32 %r2, t; mad.lo.u32 %r3, %r1, 16, %r2;
mul.lo.u32 %r4, %r1, 12; st.shared.u32 [%r3], %r4; add.u32 %r4, %r4, 3; st.shared.u32 [%r3+4], %r4;
add.u32 %r4, %r4, 3; st.shared.u32 [%r3+8], %r4; add.u32 %r4, %r4, 3; st.shared.u32 [%r3+12], %r4;
bar.sync 0; add.u64 %l1, %l1, %l3; add.u64 %l2, %l2, %l3; ld.global.u32 %r5, [%l1];
shl.b32 %r6, %r5, 2; and.b32 %r6, %r6, 1020; add.u32 %r6, %r6, %r2; ld.shared.u32 %r10, [%r6];
shr.u32 %r7, %r5, 6; and.b32 %r7, %r7, 1020; add.u32 %r7, %r7, %r2; ld.shared.u32 %r11, [%r7];
bfe.u32 %r8, %r5, 16, 8; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, %r2; ld.shared.u32 %r12, [%r8];
shr.u32 %r9, %r5, 24; shl.b32 %r9, %r9, 2; add.u32 %r9, %r9, %r2; ld.shared.u32 %r13, [%r9];
mad.lo.u32 %r10, %r11, 7, %r10; mad.lo.u32 %r10, %r12, 49, %r10; mad.lo.u32 %r10, %r13, 343, %r10;
st.global.u32 [%l2], %r10; ret; }
"""


def sdwa(arch: str) -> int:
    [result] = translate(TEXT, archs=[arch], emit="asm")
    return result.code.decode().count("v_lshlrev_b32_sdwa")


@pytest.mark.parametrize("arch", ["gfx942", "gfx1030"])
def test_an_offset_is_one_instruction(arch: str) -> None:
    assert sdwa(arch) == 4


@pytest.mark.parametrize("arch", ["gfx942", "gfx1030", "gfx1100"])
def test_the_entries_are_right(arch: str) -> None:
    words = [(n * 0x9E3779B9 + 0x7F4A7C15) % 2**32 for n in range(LANES)]
    [result] = translate(TEXT, archs=[arch], mode="module")
    gpu = hip.open(f"vgpu:{arch}")
    inputs, out = gpu.buffer(struct.pack(f"<{LANES}I", *words)), gpu.buffer(bytes(4 * LANES))
    gpu.load(result.code).kernel("k").launch(1, LANES, [inputs, out])
    gpu.synchronize()
    expected = tuple(sum(3 * (word >> 8 * n & 255) * 7**n for n in range(4)) for word in words)
    assert struct.unpack(f"<{LANES}I", out.bytes()) == expected


_LINE = re.compile(r"  (%[\w.]+) = (shl|lshr|and) (?:nuw )?i32 (%[\w.]+), (\d+)$", re.M)


def value(ir: str, x: int) -> int:
    """What `%d` is in straight code."""
    values = {"%x": x}
    for name, how, operand, number in _LINE.findall(ir):
        a, n = values[operand], int(number)
        values[name] = {"shl": a << n & 0xFFFFFFFF, "lshr": a >> n, "and": a & n}[how]
    return values["%d"]


def masked_shifts() -> Iterator[tuple[str, bool]]:
    """IR, and whether its mask is of a whole byte or half that is shifted."""
    for how in ("shl", "lshr"):
        for by in range(1, 32):
            for bits in (1, 7, 8, 9, 15, 16, 17):
                for up in range(31 - bits):
                    start = up - by if how == "shl" else up + by
                    part = bits in (8, 16) and up > 0 and 0 <= start <= 32 - bits and start % bits == 0
                    yield f"  %s = {how} i32 %x, {by}\n  %d = and i32 %s, {((1 << bits) - 1) << up}\n  ret void\n", part


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_the_rewrite_is_exact(every: int) -> None:
    """All shifts of parts, and every so many of the others, which stay as they are."""
    changed = 0
    for ir, part in (shift for n, shift in enumerate(masked_shifts()) if shift[1] or n % every == 0):
        after = rewritten("byte_parts", ir)
        assert (after is not ir) == part, ir
        if part:
            changed += 1
            assert all(value(after, 1 << bit) == value(ir, 1 << bit) for bit in range(32)), ir
    assert changed > 60
    holes = "  %s = shl i32 %x, 2\n  %d = and i32 %s, 1012\n  ret void\n"
    assert rewritten("byte_parts", holes) is holes
