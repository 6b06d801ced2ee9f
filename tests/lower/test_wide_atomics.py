"""128-bit atomic operations: nothing is lost or torn, between lanes, warps and blocks, in global and shared memory."""

from __future__ import annotations

import struct

import pytest

from tests.lower.device import MAPPINGS, program

THREADS, BLOCKS, ROUNDS = 96, 3, 2
ONE = (3 << 64) | 1  # both halves count


def text(space: str, local: bool) -> str:
    """count(cells, seen): every thread adds ONE to its cell (one of two) by compare-and-swap, ROUNDS times, and
    exchanges the third cell for its own number in both halves; what it got goes to seen, after a strong load of the
    cell. Cells in shared memory are copied out."""
    head, base, clear, back = "", "ld.param.u64 %cell, [cells];", "", ""
    if local:
        head, base = ".shared .align 16 .b8 sh[48];", "mov.u32 %s, sh; cvt.u64.u32 %cell, %s;"
        part = "setp.lt.u32 %p, %t, 6; shl.b32 %i, %t, 3; cvt.u64.u32 %lo, %i; add.u32 %s, %s, %i;"
        clear = f"{part} @%p st.shared.u64 [%s], 0; bar.sync 0; mov.u32 %s, sh;"
        back = f"bar.sync 0; ld.param.u64 %g, [cells]; {part} add.u64 %g, %g, %lo;"
        back += "@%p ld.shared.u64 %hi, [%s]; @%p st.global.u64 [%g], %hi;"
    return f"""
.version 8.4\n.target sm_90\n.address_size 64
.visible .entry count(.param .u64 cells, .param .u64 seen) {{
    {head} .reg .b64 %cell, %mine, %out, %lo, %hi, %a, %b, %g; .reg .b128 %old, %new, %was;
    .reg .b32 %t, %n, %k, %s, %i; .reg .pred %p, %q;
    mov.u32 %t, %tid.x; mov.u32 %k, %ctaid.x; mad.lo.u32 %n, %k, {THREADS}, %t; {base} {clear}
    and.b32 %i, %t, 1; mul.wide.u32 %mine, %i, 16; add.u64 %mine, %mine, %cell; mov.u32 %k, 0;
AGAIN: ld.relaxed.gpu.{space}.b128 %old, [%mine];
RETRY: mov.b128 {{%lo, %hi}}, %old; add.u64 %lo, %lo, 1; add.u64 %hi, %hi, 3; mov.b128 %new, {{%lo, %hi}};
    atom.acq_rel.gpu.{space}.cas.b128 %was, [%mine], %old, %new;
    mov.b128 {{%lo, %hi}}, %old; mov.b128 {{%a, %b}}, %was; setp.eq.u64 %p, %lo, %a; setp.eq.and.u64 %q, %hi, %b, %p;
    mov.b128 %old, %was; @!%q bra RETRY;
    add.u32 %k, %k, 1; setp.lt.u32 %p, %k, {ROUNDS}; @%p bra AGAIN;
    cvt.u64.u32 %lo, %n; add.u64 %lo, %lo, 1; mov.b128 %new, {{%lo, %lo}};
    atom.{space}.exch.b128 %was, [%cell+32], %new; ld.volatile.{space}.b128 %old, [%cell+32];
    ld.param.u64 %out, [seen]; mul.wide.u32 %g, %n, 32; add.u64 %out, %out, %g;
    mov.b128 {{%a, %b}}, %was; st.global.v2.u64 [%out], {{%a, %b}};
    mov.b128 {{%a, %b}}, %old; st.global.v2.u64 [%out+16], {{%a, %b}};
    {back}
    ret; }}
"""


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("space", ["global", "shared"])
def test_counters(space: str, arch: str) -> None:
    blocks = BLOCKS if space == "global" else 1
    total = blocks * THREADS
    cells, seen = program(text(space, space == "shared"), arch).run("count", THREADS, [48, 32 * total], grid=blocks)
    for k in (0, 1):
        assert int.from_bytes(cells[16 * k : 16 * k + 16], "little") == ROUNDS * total // 2 * ONE
    pairs = list(struct.iter_unpack("<QQQQ", seen))
    assert all(a == b and c == d for a, b, c, d in pairs)
    last = struct.unpack_from("<Q", cells, 32)[0]
    assert sorted([a for a, *_ in pairs] + [last]) == list(range(total + 1))  # each number is taken out once
