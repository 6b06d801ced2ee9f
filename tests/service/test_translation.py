"""Kernels on which LLVM fails are translated in a simpler form, and their entry says so."""

from __future__ import annotations

import pytest

from ptx2amd.errors import Unsupported
from ptx2amd.service import translation
from ptx2amd.translate import INTERNAL_ERROR, Result, translate

PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret; }
"""


def failing(times: int, reason: str):
    """`translate`, which fails so many times; and the options that it was called with."""
    asked: list[dict] = []

    def instead(*args: object, **options: object) -> list[Result]:
        [result] = translate(*args, **options)
        asked.append(options)
        if len(asked) <= times:
            result.kernels["k"].error = Unsupported(reason, "k")
        return [result]

    return instead, asked


@pytest.mark.parametrize("times", [0, 1, 2])
def test_simpler_forms_are_tried(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instead, asked = failing(times, f"{INTERNAL_ERROR}: LLVM ended with SIGABRT")
    monkeypatch.setattr(translation, "translate", instead)
    entry = translation.kernel_entry(translation.parse(PTX, "m"), "k", "gfx942", "")
    assert [(o.get("matrix"), o.get("least")) for o in asked] == [
        (None, None), ("software", None), ("software", True)
    ][: times + 1]  # fmt: skip
    words = ["", "without the chip's matrix instructions", "without optimisation"][times]
    warnings = [line for line in entry.text.splitlines() if line.startswith("warning")]
    assert warnings == (
        [f"warning compiled {words}: kernel k: {INTERNAL_ERROR}: LLVM ended with SIGABRT"] if words else []
    )
    assert entry.payload


def test_what_ptx_cannot_do_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    instead, asked = failing(1, "clusters of 8 blocks")
    monkeypatch.setattr(translation, "translate", instead)
    with pytest.raises(Unsupported, match="clusters of 8"):
        translation.kernel_entry(translation.parse(PTX, "m"), "k", "gfx942", "")
    assert len(asked) == 1
