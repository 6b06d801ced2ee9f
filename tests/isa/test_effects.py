"""Rows say what they do in words that analyses know, and analyses ask for nothing else. Protects against a row that
says nothing, or something that is not looked at, and against a new set of names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ptx2amd
from ptx2amd.isa import effects, internal
from ptx2amd.isa.form import DESTINATIONS, Form, family
from ptx2amd.isa.operands import Slot, slots
from ptx2amd.isa.syntax import fields
from ptx2amd.isa.table import rows

PACKAGE = Path(ptx2amd.__file__).parent
ANALYSES = ("lower/core/names.py", "ptx/check.py", "isa/syntax.py", "isa/operands.py")
ASKING = [
    *(p for folder in ("middle", "plan") for p in PACKAGE.joinpath(folder).rglob("*.py")),
    *(PACKAGE / name for name in ANALYSES),
]
NAMES = re.compile(r"form\.lower\b|\.mnemonic\b|\.opcode\.startswith|\.lower (==|in|not in) |opcodes? (==|in) ")
INTERNAL = [row for row in vars(internal).values() if isinstance(row, Form)]


def parts(form: Form) -> list[Slot]:
    """The operands of a row, pairs taken apart."""
    found: list[Slot] = []
    for slot in slots(form.operands):
        found += [slots(slot.name)[0], slot.second] if slot.second is not None else [slot]
    return found


@pytest.mark.parametrize("form", [*rows(), *INTERNAL], ids=lambda form: f"{form.syntax} {form.operands}")
def test_words(form: Form) -> None:
    names = [part.name for part in parts(form)]
    said = dict(part.split(":") for part in form.result.split()) if ":" in form.result else {}
    assert set(said or {"": form.result or effects.LANE}) <= {*names, ""}
    assert set(said.values() if said else [form.uniformity("d")]) <= set(effects.RESULTS)
    assert form.computes in effects.COMPUTES
    assert {word.rstrip("|") for word in form.discards.split()} <= set(names)
    assert form.name_words <= len(fields(form.syntax))
    assert form.see
    assert not form.does & effects.MEMBERS or "m" in names
    assert not form.does & effects.ATOMIC or form.does & effects.ATOM == effects.ATOM


def test_sections() -> None:
    assert all(re.fullmatch(r"9\.7(\.\d+)+", form.see) for form in rows())


def test_a_row_without_effects_is_an_error() -> None:
    with pytest.raises(TypeError):
        family("9.7.1", "")("add.u32", "d:u32, a:u32, b:u32", "add {a.t}, {b}")


def test_what_is_not_said_is_divergent() -> None:
    row = family("9.7.1", "")
    assert row("new.u32", "d:u32, [a]", "", does=effects.READS).uniformity("d") == effects.LANE
    assert row("new.u32", "d:u32|p:pred, a:u32", "", does=0, result="d:warp").uniformity("p") == effects.LANE


def test_what_is_refused_does_anything() -> None:
    refused = [form for form in rows() if form.exact.startswith("refused")]
    for form in refused:
        if form.see.startswith(("9.7.18", "9.7.10.15")):
            assert form.does == effects.ANYTHING
            assert all(form.uniformity(name) == effects.LANE for name in DESTINATIONS)


@pytest.mark.parametrize("path", ASKING, ids=lambda path: path.stem)
def test_nobody_asks_for_names(path: Path) -> None:
    """Neither a row's name nor its lowering's; the opcode is for messages, and to tell operations apart."""
    assert not NAMES.findall(path.read_text())
