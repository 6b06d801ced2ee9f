"""Fault reports name the PTX line, the CUDA line, and CUDA's block and thread.

Protects: line tables that LLVM's optimiser and the linker keep, the reader of them, thread numbers in each mapping.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from ptx2amd import hip
from ptx2amd.binary.elf import Elf
from ptx2amd.translate import translate

# Thread (3,1) of block 2 writes far away.
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry wild(.param .u64 p, .param .u32 far) {
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %q<2>;
  .loc 1 10 3
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r5, [far];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r6, %ntid.x;
  mad.lo.s32 %r1, %r2, %r6, %r1;
  mov.u32 %r3, %ctaid.x;
  .loc 1 11 7
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  setp.ne.u32 %q1, %r1, 43;
  @%q1 bra STORE;
  setp.ne.u32 %q1, %r3, 2;
  @%q1 bra STORE;
  .loc 1 12 9
  cvt.u64.u32 %rd4, %r5;
  add.s64 %rd3, %rd3, %rd4;
  st.global.u32 [%rd3+8], %r1;
  ret;
STORE:
  .loc 1 14 5
  st.global.u32 [%rd3], %r1;
  ret;
}
.file 1 "made_up.cu"
"""
BARE = re.sub(r"\.(loc|file) .*", "", PTX)
LINE = next(n for n, line in enumerate(PTX.splitlines(), 1) if "+8]" in line)


@pytest.mark.parametrize("arch, mapping", [("gfx942", "paired"), ("gfx942", "padded"), ("gfx1100", "native")])
def test_place(arch: str, mapping: str, capfd: pytest.CaptureFixture[str]) -> None:
    """PTX with CUDA lines: code objects have tables."""
    [result] = translate(PTX, "far.ptx", [arch], mapping=mapping)
    gpu = hip.open(f"vgpu:{arch}")
    kernel = gpu.load(result.code).kernel("wild")
    memory = gpu.buffer(np.zeros(80, np.uint32))
    kernel.launch(4, (40 * (2 if mapping == "padded" else 1), 2), [memory, 1 << 30])
    with pytest.raises(hip.HipError, match="hipErrorIllegalAddress"):
        gpu.synchronize()
    gpu.reset()
    report = capfd.readouterr().err
    assert f"kernel wild: write of 4 bytes at 0x{int(memory) + 43 * 4 + 8 + (1 << 30):x}" in report
    assert f"PTX line {LINE} of far.ptx (made_up.cu:12)" in report
    assert "block (2,0,0) thread (3,1,0)" in report


def test_without_lines(capfd: pytest.CaptureFixture[str]) -> None:
    """Without CUDA lines code objects have no tables, and the report has the machine code's place only."""
    [result] = translate(BARE, "far.ptx", ["gfx942"])
    gpu = hip.open("vgpu:gfx942")
    kernel = gpu.load(result.code).kernel("wild")
    kernel.launch(4, (40, 2), [gpu.buffer(np.zeros(80, np.uint32)), 1 << 30])
    with pytest.raises(hip.HipError, match="hipErrorIllegalAddress"):
        gpu.synchronize()
    gpu.reset()
    report = capfd.readouterr().err
    assert "PTX line" not in report and re.search(r"at \+0x[0-9a-f]+ \(global_store_dword", report)


def test_lines_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """PTX2AMD_DEBUG gives tables to all, and the machine code is the same."""

    def sections() -> dict[str, bytes]:
        return {section.name: section.data for section in Elf(translate(BARE, "far.ptx", ["gfx942"])[0].code).sections}

    before = sections()
    monkeypatch.setenv("PTX2AMD_DEBUG", "1")
    after = sections()
    assert ".debug_line" not in before and ".debug_line" in after
    assert before[".text"] == after[".text"]
