"""Code objects that are compiled in parts: what kernels share is one thing, and the file is what HIP loads."""

from __future__ import annotations

import pytest

from ptx2amd import compile as compiler
from ptx2amd.binary import Elf
from ptx2amd.codegen import sidecar_of
from ptx2amd.translate import translate
from tests.vgpu.hip_gpu import opened

# Three kernels that hand values on through variables, call functions by their addresses and take the same locks.
TEXT = """.version 8.4
.target sm_90
.address_size 64
.file 1 "shared.cu"
.func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r;
  st.param.b32 [r], %r; ret; }
.func (.param .b32 r) minus(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; neg.s32 %r, %r;
  st.param.b32 [r], %r; ret; }
.visible .global .align 4 .u32 counter = 5;
.global .align 8 .u64 place = counter;
.visible .const .align 4 .u32 step = 7;
.global .align 8 .u64 chosen;
.visible .global .align 16 .b128 both;
.visible .entry first(.param .u64 out) { .reg .b64 %rd<3>; .reg .b32 %r<3>; .loc 1 11 1
  ld.global.u64 %rd1, [place]; ld.const.u32 %r1, [step]; red.global.add.u32 [%rd1], %r1;
  mov.u64 %rd2, minus; st.global.u64 [chosen], %rd2; ret; }
.visible .entry second(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r<3>; .loc 1 22 1
  ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [counter]; ld.global.u64 %rd2, [chosen];
  { .param .b32 x; .param .b32 r; st.param.b32 [x], %r1;
    P: .callprototype (.param .b32 _) _ (.param .b32 _); call (r), %rd2, (x), P; ld.param.b32 %r2, [r]; }
  st.global.u32 [%rd1], %r2; mov.u64 %rd2, twice; st.global.u64 [chosen], %rd2; ret; }
.visible .entry third(.param .u64 out) { .reg .b128 %q<3>; .reg .b64 %rd<3>; .loc 1 33 1
  mov.u64 %rd1, 3; mov.b128 %q1, {%rd1, %rd1}; atom.global.exch.b128 %q2, [both], %q1; ret; }
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("isolate", ["", "all"])
def test_parts_share_variables_functions_and_locks(arch: str, isolate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    [whole] = translate(TEXT, "m.ptx", [arch], mode="module")
    monkeypatch.setattr(compiler, "PART_LINES", 1)
    [result] = translate(TEXT, "m.ptx", [arch], mode="module", isolate=isolate, jobs=2)
    assert result.ok
    names = ["first", "second", "third"]
    for code in (whole.code, result.code):
        elf = Elf(code)
        notes = [kind for name, kind, _ in elf.notes() if name == "AMDGPU"]
        assert len(notes) == 1 and [k[".name"] for k in elf.metadata()["amdhsa.kernels"]] == names
        assert list((sidecar_of(code) or {})["kernels"]) == names
        assert {"counter", "step", "both"} <= {name for name, defined in elf.symbols() if defined}
    for gpu in opened(arch):
        module = gpu.load(result.code)
        out = gpu.buffer(4)
        for name in ("first", "second", "second", "third"):
            module.kernel(name).launch(1, 1, [out])
        assert int.from_bytes(out.bytes(), "little") == 2 * (5 + 7)
        assert int.from_bytes(module.variable("both").bytes()[:8], "little") == 3


def test_a_part_that_fails_is_compiled_kernel_by_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes LLVM too long is lost alone, and what the others share is still there."""
    emit = compiler.codegen.emit

    def instead(ir: str, *rest: object) -> bytes:
        if 'kernel void @"second"' in ir:
            raise compiler.CodegenError("LLVM took more than 120 s of processor time")
        return emit(ir, *rest)

    monkeypatch.setattr(compiler.codegen, "emit", instead)
    [result] = translate(TEXT, "m.ptx", ["gfx942"], mode="module")
    assert [name for name, kernel in result.kernels.items() if kernel.ok] == ["first", "third"]
    assert "took more than 120 s" in result.kernels["second"].reason
    assert [k[".name"] for k in Elf(result.code).metadata()["amdhsa.kernels"]] == ["first", "third"]
