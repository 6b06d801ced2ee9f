"""Shuffles, votes, match, redux, elect and activemask do what PTX says: in all warp mappings, under divergence,
with partial member masks, in blocks of all shapes, after threads have exited. See docs/support/warp.md."""

from __future__ import annotations

import struct

import pytest
import warp_matrix
import warp_programs
from device import MAPPINGS, program


@pytest.mark.parametrize("exited", [False, True])
@pytest.mark.parametrize("shape", [(33,), (64,), (8, 4, 3)])
@pytest.mark.parametrize("arch", MAPPINGS)
def test_results(arch: str, shape: tuple[int, ...], exited: bool) -> None:
    assert not warp_matrix.run(arch, shape, exited)


@pytest.mark.slow
@pytest.mark.parametrize("exited", [False, True])
@pytest.mark.parametrize("shape", warp_matrix.SHAPES)
@pytest.mark.parametrize("arch", warp_matrix.MAPPINGS)
def test_the_whole_matrix(arch: str, shape: tuple[int, ...], exited: bool) -> None:
    if warp_matrix.allowed(arch, shape):
        assert not warp_matrix.run(arch, shape, exited, every=True)


def test_the_page_is_the_matrix() -> None:
    """docs/support/warp.md has all cells, and no failures."""
    assert warp_matrix.PAGE.read_text() == warp_matrix.page()


def test_the_reference_leaves_little_undefined() -> None:
    """Shuffles from inactive lanes are undefined; the comparison must not become empty by that."""
    data = warp_programs.inputs(64)
    words = [word for case in warp_programs.cases() for pair in warp_programs.expected(case, data) for word in pair]
    assert words.count(None) < len(words) / 20


RANKS = warp_programs.HEAD + """.visible .entry k(.param .u64 out) {
.reg .b32 %t, %m, %lt, %x, %y, %b; .reg .b64 %out; .reg .pred %p;
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %lt, %lanemask_lt; mad.wide.u32 %out, %t, 8, %out;
mul.lo.u32 %m, %t, 0x9E3779B1; and.b32 %x, %m, %lt; popc.b32 %x, %x; st.global.u32 [%out], %x;
and.b32 %b, %t, 4; setp.eq.u32 %p, %b, 0; @%p bra E;
activemask.b32 %b; and.b32 %y, %lt, %b; popc.b32 %y, %y; st.global.u32 [%out+4], %y; E: ret; }
"""


@pytest.mark.parametrize("arch", MAPPINGS)
def test_lanes_below(arch: str) -> None:
    """Of a mask that each lane has for itself, and of the active lanes."""
    for threads in (32, 61, 200):
        [out] = program(RANKS, arch).run("k", threads, [8 * threads])
        below = [(1 << t % 32) - 1 for t in range(threads)]
        warps = [range(t & ~31, min(threads, (t & ~31) + 32)) for t in range(threads)]
        active = [sum(1 << u % 32 for u in warp if u & 4) for warp in warps]
        own = [(t * 0x9E3779B1 & 0xFFFFFFFF & below[t]).bit_count() for t in range(threads)]
        rank = [(active[t] & below[t]).bit_count() if t & 4 else 0 for t in range(threads)]
        assert list(struct.iter_unpack("<2I", out)) == list(zip(own, rank, strict=True)), threads
