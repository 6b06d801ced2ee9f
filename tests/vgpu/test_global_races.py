"""racecheck of global memory: kernels with one race each, found at its place; and ordered ones, which bring none."""

from __future__ import annotations

import pytest

from tests.vgpu.test_memcheck import ARCHS, ptx, run

#: body, and how the blocks are launched
RACES = {
    "two blocks write a word": ("mov.u32 %r4, %ctaid.x;\nst.global.u32 [%rd2], %r4; // here", "k(2, 1)"),
    "two warps write a word": ("st.global.u32 [%rd2], %r1; // here", "k(1, 64)"),
    "a block reads what another writes": ("""
      mov.u32 %r4, %ctaid.x;
      setp.ne.u32 %q1, %r4, 0;
      @%q1 bra READS;
      st.global.u32 [%rd4], %r1; // or here
      ret;
    READS:
      ld.global.u32 %r5, [%rd4]; // here
      st.global.u32 [%rd3], %r5;
    """, "k(2, 32)"),
    "a write over what others read": ("""
      xor.b32 %r4, %r2, 128;
      cvt.u64.u32 %rd5, %r4;
      add.s64 %rd6, %rd1, %rd5;
      ld.global.u32 %r5, [%rd6];
      st.global.u32 [%rd3], %r5; // here
    """, "k(1, 64)"),
}  # fmt: skip
ORDERED = {
    "a word for each thread": ("mov.u32 %r4, %ctaid.x;\nmad.lo.u32 %r4, %r4, 32, %r1;\nmul.wide.u32 %rd5, %r4, 4;\n"
                               "add.s64 %rd6, %rd2, %rd5;\nst.global.u32 [%rd6], %r4;", "k(3, 32)"),
    "a byte for each thread": ("mov.u32 %r4, %ctaid.x;\nmad.lo.u32 %r4, %r4, 33, %r1;\ncvt.u64.u32 %rd5, %r4;\n"
                               "add.s64 %rd6, %rd2, %rd5;\nst.global.u8 [%rd6], %r4;", "k(3, 33)"),
    "atomic operations": ("atom.global.add.u32 %r4, [%rd2], %r1;", "k(3, 64)"),
    "the same value": ("st.global.u32 [%rd2], 7;", "k(3, 64)"),
    "launches one after the other": ("st.global.u32 [%rd4], %r1;", "k(1, 64)\nk(1, 64)"),
    "a barrier": ("""
      st.global.u32 [%rd4], %r1;
      bar.sync 0;
      xor.b32 %r4, %r2, 128;
      cvt.u64.u32 %rd5, %r4;
      add.s64 %rd6, %rd2, %rd5;
      ld.global.u32 %r5, [%rd6];
      st.global.u32 [%rd3], %r5;
    """, "k(1, 64)"),
    "the last block reads what all have written": ("""
      mov.u32 %r4, %ctaid.x;
      mul.wide.u32 %rd5, %r4, 4;
      add.s64 %rd6, %rd2, %rd5;
      st.global.u32 [%rd6+64], %r4;
      membar.gl;
      atom.global.inc.u32 %r5, [%rd1], 1000000;  // from more than that: the first one begins anew
      setp.ne.u32 %q1, %r5, 6;
      @%q1 ret;
      membar.gl;
      ld.global.u32 %r6, [%rd2+64];
      st.global.u32 [%rd6+128], %r6;
    """, "k(8, 1)"),
    "a volatile flag": ("""
      mov.u32 %r4, %ctaid.x;
      setp.ne.u32 %q1, %r4, 0;
      @%q1 bra WAITS;
      st.global.u32 [%rd4], %r1;
      membar.gl;
      st.volatile.global.u32 [%rd2+380], 1;
      ret;
    WAITS:
      ld.volatile.global.u32 %r5, [%rd2+380];
      setp.ne.u32 %q1, %r5, 1;
      @%q1 bra WAITS;
      membar.gl;
      ld.global.u32 %r6, [%rd4];
      st.global.u32 [%rd3], %r6;
    """, "k(2, 1)"),
}  # fmt: skip


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", RACES)
def test_race(name: str, arch: str) -> None:
    body, host = RACES[name]
    text, _ = ptx(body)
    report = run(text, host, arch, PTX2AMD_RACECHECK="1")
    # The place of the later access: of two blocks, either may be.
    places = [f"PTX line {n} of bug.ptx" for n, line in enumerate(text.splitlines(), 1) if line.endswith(" here")]
    assert "race in global memory" in report and any(place in report for place in places), report
    assert "-byte device allocation" in report and "of block (" in report


@pytest.mark.parametrize(("name", "arch"), list(zip(ORDERED, ARCHS * 4, strict=True)))
def test_ordered(name: str, arch: str) -> None:
    body, host = ORDERED[name]
    report = run(ptx(body)[0], host, arch, PTX2AMD_RACECHECK="1")
    assert "racecheck: 0 errors" in report, report
