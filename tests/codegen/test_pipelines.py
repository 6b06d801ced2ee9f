"""Kernels without shared memory and without pairs of operations get LLVM's passes over functions alone.

Protects: translation in less time than O3 takes, for code that is no longer than O3's.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptx2amd.codegen import library, llvm
from ptx2amd.translate import translate

FILES = sorted((Path(__file__).parents[1] / "filetests" / "lower").glob("*.ptx"))[::3]
HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
COPY = "ld.global.u32 %r, [%a]; st.global.u32 [%a], %r;"
KERNEL = HEAD + ".visible .entry k(.param .u64 p) {{ .reg .b64 %a; .reg .b32 %r; {0} ld.param.u64 %a, [p]; {1} ret; }}"
CALLED = HEAD + ".func f() { ret; }\n.visible .entry k() { call f, (); ret; }"


def instructions(path: Path) -> int:
    [result] = translate(path.read_text(), path.name, ["gfx1100"], emit="asm")
    return len(re.findall(r"^\t[a-z]+_\w+", result.code.decode(), re.MULTILINE))


def test_the_code_is_as_short_as_that_of_the_whole_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = sum(map(instructions, FILES))
    monkeypatch.setattr(llvm, "SHARED", "")  # which every kernel has
    assert 0 < ours <= 1.005 * sum(map(instructions, FILES))


@pytest.mark.parametrize(
    ("text", "simplified"),
    [
        (KERNEL.format("", COPY), True),
        (KERNEL.format(".shared .b32 s;", COPY + "st.shared.u32 [s], %r; bar.sync 0;"), False),
        (
            KERNEL.format(
                ".reg .b16 %h;", COPY + "ld.global.u16 %h, [%a]; add.s16 %h, %h, %h; st.global.u16 [%a], %h;"
            ),
            False,
        ),
        (CALLED, False),
    ],
    ids=["plain", "shared memory", "16 bits", "a call"],
)
def test_which_kernels_get_it(text: str, simplified: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[library.Module] = []
    simplify = library.Machine.simplify

    def watched(machine: library.Machine, module: library.Module) -> None:
        seen.append(module)
        simplify(machine, module)

    monkeypatch.setattr(library.Machine, "simplify", watched)
    [result] = translate(text, "k.ptx", ["gfx1100"])
    assert result.ok
    assert bool(seen) == simplified
