"""Modules: one bad kernel does not lose the others, every refusal names itself, and the data segment's layout
is what the index says."""

from __future__ import annotations

import struct

import pytest

from ptx2amd.binary.elf import Elf
from ptx2amd.codegen import sidecar_of
from ptx2amd.errors import Ptx2amdError, PtxError
from ptx2amd.interface.environment import CELL_DATA
from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.target import UnknownArch
from ptx2amd.translate import module_index, parse, translate

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
MODULE = (
    HEAD
    + """
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .global .u32 outside[];
.global .align 4 .u32 a = 3;
.global .align 8 .u64 pointers[2] = {a, generic(a)+4};
.const .align 2 .b16 small[3] = {1, 2, -1};
.func helper() { ret; }
.global .align 8 .u64 code = helper;
.visible .entry good(.param .u64 out, .param .u8 c) .maxntid 64, 2, 1 {
  .shared .align 8 .b8 mine[24]; .reg .b64 %rd<5>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [out]; ld.global.u64 %rd2, [pointers+8]; st.global.u64 [%rd1], %rd2;
  mov.u32 %r1, mine; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r2, 8, %r1;
  st.shared.u64 [%r1], %rd2; bar.sync 0; ld.shared.u64 %rd3, [mine]; st.global.u64 [%rd1+8], %rd3; ret; }
.visible .entry outsider(.param .u64 out) { .reg .b32 %r<5>;
  ld.global.u32 %r1, [outside]; st.global.u32 [a], %r1; ret; }
.visible .entry coder(.param .u64 out) { .reg .b64 %r<5>;
  ld.global.u64 %r1, [code]; st.global.u64 [pointers], %r1; ret; }
.visible .entry heaper(.param .u64 out) { .reg .b64 %r<5>; mov.u64 %r1, 8;
  { .param .b64 p; st.param.b64 [p], %r1; .param .b64 q;
    call (q), malloc, (p);
    ld.param.b64 %r2, [q]; } ret; }
.visible .entry broken(.param .u64 out) { .reg .b64 %r<5>;
  add.u32 %r1, %r2, 5; ret; }
.visible .entry huge(.param .u64 out) { .shared .b8 x[240000]; .reg .b32 %r<3>;
  mov.u32 %r1, x; st.shared.u32 [%r1], 3; ret; }
"""
)
REFUSED = {
    "outsider": "line 18, ld.global.u32: outside is external",
    "broken": "<ptx>:26:11: error: operand 1",
    "huge": "240000 bytes of static shared memory; a block can have 232448",
}


def test_one_bad_kernel_does_not_lose_the_others() -> None:
    [result] = translate(MODULE, archs=["gfx942"])
    assert not result.ok
    for name, reason in REFUSED.items():
        assert not result.kernels[name].ok
        assert result.kernels[name].reason.startswith(reason)
    assert result.kernels["good"].ok
    assert [k[".name"] for k in Elf(result.code).metadata()["amdhsa.kernels"]] == ["good", "coder", "heaper"]


def test_result_and_sidecar_describe_the_kernel() -> None:
    for arch, mapping, wave in (("gfx942", "paired", 64), ("gfx1100", "native", 32)):
        [result] = translate(MODULE, archs=[arch], kernels=["good"], build_id="b1")
        kernel = result.kernels["good"]
        assert (kernel.mapping, kernel.wave, kernel.max_threads) == (mapping, wave, 128)
        assert kernel.params == [(0, 8, 8), (8, 1, 1)]
        assert kernel.static_shared == 24 and kernel.vgprs > 0 and kernel.cells == {CELL_DATA}
        sidecar = sidecar_of(result.code)
        assert sidecar is not None
        assert (sidecar["translator"], sidecar["arch"], sidecar["ptx"]) == ("b1", arch, [8, 0])
        assert sidecar["kernels"]["good"]["params"] == [[0, 8, 8], [8, 1, 1]]


def test_whole_module_mode_defines_all_variables() -> None:
    [result] = translate(MODULE, archs=["gfx942"], kernels=["good", "coder"], mode="module")
    assert result.ok
    text = translate(MODULE, archs=["gfx942"], kernels=["good"], mode="module", emit="ll")[0].code.decode()
    for name in ("a", "pointers", "small"):
        assert f"@{name} = protected" in text
    assert "__ptx2amd_env" not in text


def test_index() -> None:
    index = module_index(parse(MODULE))
    assert (index.ptx, index.target) == ((8, 0), 75)
    where = {v.name: (v.offset, v.size, v.space) for v in index.variables}
    assert where == {
        "a": (0, 4, "global"),
        "pointers": (16, 16, "global"),
        "small": (32, 6, "const"),
        "code": (40, 8, "global"),
    }
    assert index.relocs == [(16, 0), (24, 4)]
    assert index.image[:4] == struct.pack("<I", 3) and index.image[32:38] == struct.pack("<3h", 1, 2, -1)
    assert len(index.image) == index.segment_size == 48
    kernels = {k.name: k for k in index.kernels}
    assert (kernels["good"].max_threads, kernels["good"].static_shared) == (128, 24)
    assert kernels["huge"].static_shared == 240000


def test_variables_in_global_memory_are_aligned_beyond_what_they_declare() -> None:
    """CUDA's guide promises 256 bytes: a tensor map of an int array (.align 4), 16-byte accesses to a float array."""
    text = HEAD + "".join(f".global .align 1 .b8 v{size}[{size}];\n" for size in (1, 3, 16, 100, 352, 5000))
    where = {v.size: v.offset for v in module_index(parse(text)).variables}
    assert [where[size] % align for size, align in ((3, 2), (16, 16), (100, 64), (352, 256), (5000, 256))] == [0] * 5


def test_layout_does_not_depend_on_what_was_translated() -> None:
    first, second = parse(MODULE), parse(MODULE)
    translate(first, archs=["gfx942"], kernels=["good"])
    assert module_index(first) == module_index(second)


@pytest.mark.parametrize("isolate", ["", "risky", "all"])
def test_kernels_that_llvm_rejects_are_lost_alone(isolate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + "".join(
        f".entry {n}(.param .u64 p) {{ .reg .b64 %r; ld.param.u64 %r, [p]; st.global.u32 [%r], 1; ret; }}\n"
        for n in ("one", "bad", "two")
    )
    whole = ModuleLowering.ir
    monkeypatch.setattr(ModuleLowering, "ir", lambda self, part=False: whole(self, part) + "?" * ("bad" in self.plans))
    [result] = translate(text, archs=["gfx942"], isolate=isolate)
    assert [name for name, kernel in result.kernels.items() if kernel.ok] == ["one", "two"]
    assert "internal error of the code generator" in result.kernels["bad"].reason
    assert [k[".name"] for k in Elf(result.code).metadata()["amdhsa.kernels"]] == ["one", "two"]
    [result] = translate(text, archs=["gfx942"], kernels=["bad"], isolate=isolate)
    assert not result.ok and result.code == b""


def test_errors_of_the_caller() -> None:
    with pytest.raises(Ptx2amdError, match=r"no kernel 'nosuch'.*good"):
        translate(MODULE, kernels=["nosuch"])
    with pytest.raises(UnknownArch):
        translate(MODULE, archs=["gfx999"])
    with pytest.raises(PtxError):
        translate("nonsense")
    with pytest.raises(ValueError, match="emit"):
        translate(MODULE, emit="exe")


def test_unknown_special_registers_and_partial_addresses_are_refused() -> None:
    partial = HEAD + ".global .u32 x;\n.global .b8 y[2] = {0xFF(x), 0xFF00(x)};\n"
    kernel = ".visible .entry k() { .reg .b16 %r; ld.global.u8 %r, [y]; st.global.u8 [x], %r; ret; }"
    [result] = translate(partial + kernel, archs=["gfx942"])
    assert "only a part of the address of x" in result.kernels["k"].reason


EXTERNAL = (
    HEAD
    + """
.extern .global .u32 a;
.extern .shared .align 8 .b8 tile[512];
.extern .shared .align 8 .b8 rest[];
.visible .entry k(.param .u32 at) { .reg .b32 %r<5>; ld.param.u32 %r0, [at]; ld.global.u32 %r1, [a];
  mov.u32 %r2, tile; add.u32 %r2, %r2, %r0; st.shared.u32 [%r2], %r1; st.shared.u32 [rest], %r1;
  bar.sync 0; ld.shared.u32 %r3, [tile+8]; ld.shared.u32 %r4, [rest+8]; add.u32 %r4, %r4, %r3;
  st.global.u32 [a], %r4; ret; }
"""
)


def test_external_variables_with_a_size_are_the_modules_own() -> None:
    """As in ptxas, which "ignores the extern qualifier" (Taichi's block-shared arrays are declared like that)."""
    [result] = translate(EXTERNAL, archs=["gfx942"])
    kernel = result.kernels["k"]
    assert kernel.ok and kernel.static_shared == 512 and kernel.dynamic
    assert [v.size for v in module_index(parse(EXTERNAL)).variables] == [4]
