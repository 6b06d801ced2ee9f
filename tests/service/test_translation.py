"""Kernels on which LLVM fails are translated in a simpler form, and their result and entry say so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import ptx2amd.translate as translator
from ptx2amd.codegen import CodegenError
from ptx2amd.errors import Unsupported
from ptx2amd.lower.module import ModuleLowering
from ptx2amd.service import translation
from ptx2amd.translate import INTERNAL_ERROR, Way, parse

BODY = "(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret; }"
HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
PTX = f"{HEAD}.visible .entry k{BODY}\n"
FORMS = [("chip", False), ("software", False), ("software", True)]  # of matrix products; without optimisation
WORDS = ["", "without the chip's matrix instructions", "without optimisation"]


def failing(fails: Callable[[str, bool], bool], monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Make LLVM fail on modules with kernel k in forms for which `fails`; returns the forms that it was asked for."""
    asked: list[tuple[str, bool]] = []
    emit = translator._emit

    def instead(lowering: ModuleLowering, form: str, way: Way) -> bytes:
        asked.append((lowering.target.matrix, way.least))
        if "k" in lowering.plans and fails(*asked[-1]):
            raise CodegenError("LLVM ended with SIGABRT")
        return emit(lowering, form, way)

    monkeypatch.setattr(translator, "_emit", instead)
    return asked


@pytest.mark.parametrize("times", [0, 1, 2])
def test_simpler_forms_are_tried(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = failing(lambda *form: form in FORMS[:times], monkeypatch)
    entry = translation.kernel_entry(parse(PTX, "m"), "k", "gfx942", "")
    assert asked == FORMS[: times + 1]
    warnings = [line for line in entry.text.splitlines() if line.startswith("warning")]
    why = f"kernel k: {INTERNAL_ERROR}: LLVM ended with SIGABRT"
    assert warnings == ([f"warning compiled {WORDS[times]}: {why}"] if times else [])
    assert entry.payload


def test_all_kernels_of_a_module_get_the_form_that_one_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(lambda matrix, least: not least, monkeypatch)
    [result] = translator.translate(f"{PTX}.visible .entry other{BODY}\n", archs=["gfx942"])
    assert result.ok and result.code
    for kernel in result.kernels.values():
        assert kernel.warnings[0].startswith("compiled without optimisation: kernel k")


def test_kernels_that_fail_in_every_form_leave_the_others_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(lambda matrix, least: True, monkeypatch)
    [result] = translator.translate(f"{PTX}.visible .entry other{BODY}\n", archs=["gfx942"])
    assert INTERNAL_ERROR in result.kernels["k"].reason
    assert result.kernels["other"].ok and not result.kernels["other"].warnings


def test_what_ptx_cannot_do_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = failing(lambda matrix, least: False, monkeypatch)
    clusters = PTX.replace(") {", ") .reqnctapercluster 8 {")
    with pytest.raises(Unsupported, match="clusters of 8"):
        translation.kernel_entry(parse(clusters, "m"), "k", "gfx942", "")
    assert asked == []
