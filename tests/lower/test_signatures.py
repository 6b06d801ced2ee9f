"""Signatures of the old ABI, with registers as parameters: vectors, several results, results of functions in which
threads exit; and a register plus a constant as a value."""

from __future__ import annotations

import struct

import pytest

from tests.lower.device import MAPPINGS, Program

TEXT = """.version 8.0
.target sm_80
.address_size 64
.func (.reg .v2 .u32 r) swap(.reg .v2 .u32 x) { mov.u32 r.x, x.g; mov.u32 r.y, x.x; ret; }
.func (.reg .u32 s, .reg .u64 d) both(.reg .u32 a, .reg .u32 b) {
  add.u32 s, a, b; sub.u32 a, a, b; cvt.u64.u32 d, a; ret; }
.func (.reg .u32 s, .reg .u32 d) leave(.reg .u32 a, .reg .pred q) { mov.u32 s, a; add.u32 d, a, 3; @q exit; ret; }
.visible .entry k(.param.u64 p) {
  .reg .b64 %rd<9>; .reg .u32 %r<9>; .reg .v2 .u32 v, w; .reg .pred q;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 32; add.u64 %rd1, %rd1, %rd2;
  mov.u32 v.x, %r1; add.u32 v.y, %r1, 100; call (w), swap, (v); st.global.v2.u32 [%rd1], {w.x, w.y};
  call (%r2, %rd3), both, (w.x, %r1); st.global.u32 [%rd1+8], %r2; st.global.u64 [%rd1+16], %rd3 + 1;
  setp.gt.u32 q, %r1, 5; call (%r4, %r5), leave, (%r1, q);
  add.u32 %r4, %r4 + 1000, %r5; st.global.u32 [%rd1+12], %r4; ret; }
"""


@pytest.mark.parametrize("arch", MAPPINGS)
def test_registers_as_parameters(arch: str) -> None:
    threads = 8
    [out] = Program(TEXT, arch).run("k", threads, [32 * threads])
    for tid in range(threads):
        left = 0 if tid > 5 else 2 * tid + 1003
        expected = struct.pack("<4IQ", tid + 100, tid, 2 * tid + 100, left, 101)
        assert out[32 * tid : 32 * tid + 24] == expected, tid
