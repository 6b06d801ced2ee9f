"""The arch table says what LLVM does: names, wave sizes, LDS, instructions. A wrong cell would become a wrong
launch limit or an instruction that the chip does not have."""

from __future__ import annotations

import faulthandler
import os

import pytest

from ptx2amd.binary.elf import Elf
from ptx2amd.codegen import emit
from ptx2amd.target import ARCHS, Target, UnknownArch, arch, target

HEAD = '!0 = !{}\n!llvm.module.flags = !{!1}\n!1 = !{i32 1, !"amdhsa_code_object_version", i32 %d}\n'
KERNEL = """define protected amdgpu_kernel void @k(ptr addrspace(1) %%p) "uniform-work-group-size"="true" {
%s
  ret void
}
"""
LDS = "@s = internal addrspace(3) global [%d x i8] poison, align 4\n"
USE_LDS = """
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %a = getelementptr i32, ptr addrspace(3) @s, i32 %t
  store volatile i32 %t, ptr addrspace(3) %a"""
DIVERGENT = """
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %a = getelementptr i32, ptr addrspace(1) %p, i32 %t
  %x = load i32, ptr addrspace(1) %a
  %f = bitcast i32 %x to float
"""


MODES = ", i32 0, i32 0, i32 0"
V8 = "<8 x float>"
PROBES = {
    "dot": ("i32 @llvm.amdgcn.udot4(i32 %x, i32 %x, i32 %x, i1 false)", lambda a: a.dot),
    "bitop3": ("i32 @llvm.amdgcn.bitop3.i32(i32 %x, i32 %x, i32 %x, i32 7)", lambda a: a.bitop3),
    "tanh": ("float @llvm.amdgcn.tanh.f32(float %f)", lambda a: a.tanh),
    "fp8": ("i32 @llvm.amdgcn.cvt.pk.fp8.f32(float %f, float %f, i32 %x, i1 false)", lambda a: a.fp8),
    "permlane16": (
        "i32 @llvm.amdgcn.permlane16.i32(i32 %x, i32 %x, i32 1, i32 2, i1 false, i1 false)",
        lambda a: a.permlane16,
    ),
    "permlane64": ("i32 @llvm.amdgcn.permlane64.i32(i32 %x)", lambda a: a.permlane64),
    "row_share": (
        "i32 @llvm.amdgcn.update.dpp.i32(i32 poison, i32 %x, i32 336, i32 15, i32 15, i1 false)",
        lambda a: a.row_share,
    ),
    **{
        what: (
            f"{result} @llvm.amdgcn.{name}({', '.join(f'{o} poison' for o in operands)}{rest})",
            lambda a, what=what: what in a.matrix,
        )
        for what, result, name, operands, rest in [
            ("mfma", "<4 x float>", "mfma.f32.16x16x16f16", ["<4 x half>"] * 2 + ["<4 x float>"], MODES),
            (
                "bf16_1k",
                "<4 x float>",
                "mfma.f32.16x16x16bf16.1k",
                ["<4 x i16>"] * 2 + ["<4 x float>"],
                MODES,
            ),
            ("f64", "<4 x double>", "mfma.f64.16x16x4f64", ["double"] * 2 + ["<4 x double>"], MODES),
            ("i8_k16", "<4 x i32>", "mfma.i32.16x16x16i8", ["i32", "i32", "<4 x i32>"], MODES),
            ("i8_k32", "<4 x i32>", "mfma.i32.16x16x32.i8", ["i64", "i64", "<4 x i32>"], MODES),
            ("fp8", "<4 x float>", "mfma.f32.16x16x32.fp8.fp8", ["i64", "i64", "<4 x float>"], MODES),
            ("xf32", "<4 x float>", "mfma.f32.16x16x8.xf32", ["<2 x float>"] * 2 + ["<4 x float>"], MODES),
            ("f16_k32", "<4 x float>", "mfma.f32.16x16x32.f16", ["<8 x half>"] * 2 + ["<4 x float>"], MODES),
            ("wmma11", V8, "wmma.f32.16x16x16.f16.v8f32.v16f16", ["<16 x half>"] * 2 + [V8], ""),
            ("wmma12", V8, "wmma.f32.16x16x16.f16.v8f32.v8f16", ["<8 x half>"] * 2 + [V8], ""),
        ]
    },
}
SOME = ["gfx900", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1201", "gfx1250"]


def everywhere(values: dict[str, object] = ARCHS) -> list:
    """All archs; those outside SOME only in the slow tier."""
    return [name if name in SOME else pytest.param(name, marks=pytest.mark.slow) for name in values]


def code(where: Target, body: str, globals_: str = "") -> Elf:
    ir = globals_ + KERNEL % body + HEAD % (100 * where.arch.code_object)
    return Elf(emit(ir, where))


def compiles(where: Target, body: str, globals_: str = "") -> bool:
    """Whether LLVM makes code without a leftover call. In a child: LLVM ends the process when it cannot."""
    pid = os.fork()
    if pid == 0:
        faulthandler.disable()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        try:
            os._exit(1 if code(where, body, globals_).undefined() else 0)
        except BaseException:
            os._exit(2)
    return os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("name", ARCHS)
def test_every_wave_size_of_every_arch_compiles(name: str) -> None:
    for waves in ARCHS[name].waves:
        where = target(name, "native" if waves == 32 else "paired")
        [kernel] = code(where, USE_LDS, LDS % 256).metadata()["amdhsa.kernels"]
        assert kernel[".wavefront_size"] == waves == where.wave_size


@pytest.mark.parametrize("name", everywhere())
def test_lds_limit(name: str) -> None:
    where = target(name)
    assert compiles(where, USE_LDS, LDS % where.arch.lds)
    assert not compiles(where, USE_LDS, LDS % (where.arch.lds + 4))


@pytest.mark.parametrize("name", everywhere())
def test_capabilities(name: str) -> None:
    where = target(name, "paired" if ARCHS[name].waves == (64,) else "native")
    for what, (call, has) in PROBES.items():
        result = call.split(" @")[0]
        body = f"{DIVERGENT}  %v = call {call}\n  store {result} %v, ptr addrspace(1) %p"
        assert compiles(where, body) == has(where.arch), f"{what} on {name}"


def test_unknown_names_are_errors_that_list_the_known() -> None:
    for name in ("gfx940", "gfx1310", "sm_80", ""):
        with pytest.raises(UnknownArch, match="gfx942"):
            arch(name)


def test_feature_suffixes_are_ignored() -> None:
    assert arch("gfx90a:sramecc+:xnack-") is arch("gfx90a")


def test_mapping_follows_the_wave_size() -> None:
    assert target("gfx942").mapping == "paired"
    assert target("gfx1100").mapping == "native"
    assert target("gfx1100", "paired").wave_size == 64
    with pytest.raises(ValueError, match="no waves of 32 lanes"):
        target("gfx942", "native")
    with pytest.raises(ValueError, match="unknown warp mapping"):
        target("gfx942", "tripled")


def test_major() -> None:
    majors = {name: arch(name).major for name in ("gfx900", "gfx90a", "gfx1030", "gfx9-4-generic", "gfx12-generic")}
    assert list(majors.values()) == [9, 9, 10, 9, 12]
