"""Kernels on which LLVM fails are translated in a simpler form, and their result and entry say so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ptx2amd.translate as translator
from ptx2amd import codegen
from ptx2amd.codegen import CodegenError
from ptx2amd.compile import INTERNAL_ERROR
from ptx2amd.errors import Unsupported
from ptx2amd.service import translation
from ptx2amd.target import Target
from ptx2amd.translate import parse

BODY = """(.param .u64 p) { .reg .b64 %a; .reg .b32 %r<4>; .reg .f32 %d<4>; ld.param.u64 %a, [p];
ld.global.v2.b32 {%r0, %r1}, [%a]; ld.global.b32 %r2, [%a]; mov.f32 %d0, 0f00000000;
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%r0, %r1}, {%r2}, {%d0, %d0, %d0, %d0};
st.global.v4.f32 [%a], {%d0, %d1, %d2, %d3}; ret; }"""
HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
PTX = f"{HEAD}.visible .entry k{BODY}\n"
FORMS = [("chip", False), ("software", False), ("software", True)]  # of matrix products; without optimisation
WORDS = ["", "without the chip's matrix instructions", "without optimisation"]


def failing(fails: Callable[[str, bool], bool], monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Make LLVM fail on modules with kernel k in forms for which `fails`; returns the forms that it was asked for."""
    asked: list[tuple[str, bool]] = []
    emit = codegen.emit

    def instead(ir: str, target: Target, form: str, simple: bool, least: bool) -> bytes:
        asked.append((target.matrix, least))
        if 'amdgpu_kernel void @"k"' in ir and fails(*asked[-1]):
            raise CodegenError("LLVM ended with SIGABRT")
        return emit(ir, target, form, simple, least)

    monkeypatch.setattr(codegen, "emit", instead)
    return asked


@pytest.mark.parametrize("times", [0, 1, 2])
def test_simpler_forms_are_tried(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = failing(lambda *form: form in FORMS[:times], monkeypatch)
    entry = translation.kernel_entry(parse(PTX, "m"), "k", "gfx942", "", isolate="")
    assert asked == FORMS[: times + 1]
    warnings = [line for line in entry.text.splitlines() if line.startswith("warning")]
    why = f"kernel k: {INTERNAL_ERROR}: LLVM ended with SIGABRT"
    assert warnings == ([f"warning compiled {WORDS[times]}: {why}"] if times else [])
    assert entry.payload


def test_a_kernel_without_matrix_products_has_one_form_less(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = failing(lambda matrix, least: not least, monkeypatch)
    plain = f"{HEAD}.visible .entry k() {{ ret; }}\n"
    assert translation.kernel_entry(parse(plain, "m"), "k", "gfx942", "").payload
    assert asked == [FORMS[0], FORMS[2]]


def test_one_kernel_of_a_module_gets_the_form_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(lambda matrix, least: not least, monkeypatch)
    [result] = translator.translate(f"{PTX}.visible .entry other{BODY}\n", archs=["gfx942"])
    assert result.ok and result.code
    assert result.kernels["k"].warnings[0].startswith("compiled without optimisation: kernel k")
    assert not result.kernels["other"].warnings


@pytest.mark.parametrize("emit", ["obj", "asm"])
def test_an_output_that_is_not_linked_has_the_form_that_one_kernel_needs(
    emit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel that needs it comes last: the others' form is not the one to take."""
    failing(lambda matrix, least: matrix == "chip", monkeypatch)
    first = f"{HEAD}.visible .entry other{BODY}\n.visible .entry k{BODY}\n"
    [result] = translator.translate(first, archs=["gfx942"], emit=emit)
    assert result.ok and result.code


def test_kernels_that_fail_in_every_form_leave_the_others_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(lambda matrix, least: True, monkeypatch)
    [result] = translator.translate(f"{PTX}.visible .entry other{BODY}\n", archs=["gfx942"])
    assert INTERNAL_ERROR in result.kernels["k"].reason
    assert result.kernels["other"].ok and not result.kernels["other"].warnings


def test_what_ptx_cannot_do_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = failing(lambda matrix, least: False, monkeypatch)
    clusters = PTX.replace(") {", ") .reqnctapercluster 8 {")
    with pytest.raises(Unsupported, match="clusters of 8"):
        translation.kernel_entry(parse(clusters, "m"), "k", "gfx942", "", isolate="")
    assert asked == []


def test_preparations_make_later_workers_faster() -> None:
    """After them a usual kernel needs no import and no statement that has to be looked up."""
    code = """import sys
from ptx2amd.ptx import body
from ptx2amd.service import translation
translation.warm_up()
steps = sum(1 for _ in translation.preparations())
modules, shapes = set(sys.modules), len(body._SHAPES)
assert steps > 5 and shapes > 250, (steps, shapes)
from tests.ptx.test_plain import KERNEL
from ptx2amd.translate import translate
known, loaded = len(body._SHAPES) + len(body._FIXES), {name for name in sys.modules if name.startswith("ptx2amd")}
[result] = translate(KERNEL)
assert result.ok
assert len(body._SHAPES) + len(body._FIXES) <= known + 3
assert {name for name in sys.modules if name.startswith("ptx2amd")} == loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[2])
