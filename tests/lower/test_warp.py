"""Shuffles, votes, match, redux, elect and activemask do what PTX says: in all warp mappings, under divergence,
with partial member masks, in blocks of all shapes, after threads have exited. See docs/support/warp.md."""

from __future__ import annotations

import struct

import pytest

from tests.lower import warp_matrix, warp_programs
from tests.lower.device import ARCHS, MAPPINGS, Program, program


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


RANKS = (
    warp_programs.HEAD
    + """.visible .entry k(.param .u64 out) {
.reg .b32 %t, %m, %lt, %x, %y, %b; .reg .b64 %out; .reg .pred %p;
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %lt, %lanemask_lt; mad.wide.u32 %out, %t, 8, %out;
mul.lo.u32 %m, %t, 0x9E3779B1; and.b32 %x, %m, %lt; popc.b32 %x, %x; st.global.u32 [%out], %x;
and.b32 %b, %t, 4; setp.eq.u32 %p, %b, 0; @%p bra E;
activemask.b32 %b; and.b32 %y, %lt, %b; popc.b32 %y, %y; st.global.u32 [%out+4], %y; E: ret; }
"""
)


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


# what makes a condition, of which every lane reads the same registers -> whether lanes part
OWN = {
    "elect": "elect.sync %r2|%p, -1;",
    "elect of a function": "call.uni (%r2), chosen, (); setp.ne.u32 %p, %r2, 0;",
    "local memory": "ld.local.u32 %r5, [depot+4]; setp.eq.u32 %p, %r5, 0;",
    "local memory by a generic address": "ld.u32 %r5, [%g+4]; setp.eq.u32 %p, %r5, 0;",
    "predicate of shfl": "shfl.sync.up.b32 %r5|%p, %n, 1, 0, -1;",
    "ldmatrix": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [tile]; setp.lt.u32 %p, %r5, 2;",
    "movmatrix": "movmatrix.sync.aligned.m8n8.trans.b16 %r5, %n; setp.eq.u32 %p, %r5, 0;",
    "wmma.load": "wmma.load.c.sync.aligned.row.m8n8k32.shared.s32 {%r5,%r6}, [tile]; setp.lt.u32 %p, %r5, 9;",
    "carry": "add.cc.u32 %r6, %lane, -1; addc.u32 %r5, 0, 0; setp.eq.u32 %p, %r5, 0;",
    "float": "mov.u32 %r5, %tid.x; cvt.rn.f32.u32 %r6, %r5; setp.lt.f32 %p, %r6, 0f41200000;",
    "component of a vector": ".reg .v2 .b32 %v; mov.u32 %v.r, %lane; mov.u32 %r5, %v.x; setp.eq.u32 %p, %r5, 0;",
    "atomic": "atom.shared.add.u32 %r5, [tile], 1; setp.eq.u32 %p, %r5, 0;",
    "parameter of a function": "",
}
VOTES = """.version 8.8
.target sm_90
.address_size 64
.func (.reg .b32 %d) chosen() { .reg .pred %p; .reg .b32 %r; elect.sync %r|%p, -1; selp.b32 %d, 1, 0, %p; ret; }
.func (.reg .b32 %d) voted(.reg .b32 %a) {
  .shared .b32 own; .reg .pred %p, %t; setp.eq.u32 %t, 0, 0; setp.eq.u32 %p, %a, 0; @%p bra A;
  vote.sync.ballot.b32 %d, %t, -1; bra E;
  A: vote.sync.ballot.b32 %d, %t, -1;
  E: ret;
}
.visible .entry k(.param .u64 out, .param .u32 n) {
  .reg .pred %p, %t; .reg .b32 %r<9>, %lane, %n; .reg .b64 %o, %s, %w, %g; .local .align 8 .b8 depot[16];
  .shared .align 128 .b8 tile[256];
  ld.param.u64 %o, [out]; ld.param.u32 %n, [n]; mov.u32 %lane, %laneid; mad.wide.u32 %o, %lane, 4, %o;
  setp.eq.u32 %t, 0, 0; cvta.local.u64 %g, depot; st.local.u32 [depot+4], %lane;
  mul.wide.u32 %w, %lane, 4; mov.u64 %s, tile; add.u64 %s, %s, %w; st.shared.u32 [%s], %lane; cvta.local.u64 %g, depot;
  mov.u32 %r3, 0; bar.sync 0; BODY
  st.global.u32 [%o], %r3; ret;
}
"""
BRANCH = "@%p bra A; vote.sync.ballot.b32 %r3, %t, -1; bra E; A: vote.sync.ballot.b32 %r3, %t, -1; E:"


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", OWN)
def test_votes_on_both_sides_of_a_branch(name: str, arch: str) -> None:
    """All lanes vote, also where the branch asks for something that differs though no operand does."""
    text = f"{OWN[name]} {BRANCH}" if OWN[name] else "call.uni (%r3), voted, (%lane);"
    [out] = Program(VOTES.replace("BODY", text), arch).run("k", 32, [128], [struct.pack("<I", 0x10000)])
    assert out == b"\xff" * 128
