"""ptxas and the front end agree: every filled row's forms are PTX to both, and changed forms are to both or to
neither. Protects the table's syntax and operands, the matcher, and the type rules of the checker."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.isa import table
from ptx2amd.isa.form import Form
from ptx2amd.isa.match import candidates
from ptx2amd.isa.syntax import fields
from ptx2amd.lower.core.limits import oversized
from ptx2amd.ptx.ast import Inst, Module
from ptx2amd.ptx.declare import shared_in
from ptx2amd.ptx.parse import parse_body, parse_module
from tests import oracle
from tests.ptx import forms
from tests.ptx.differences import KNOWN

# What needs another target or version than any that we judge in, and ptxas's own crashes, decide nothing.
UNDECIDED = re.compile("requires|not supported on|crashed|[Ff]eature")
# Value ranges are the lowering's business.
RANGES = re.compile("out of range|unexpected value|multiple of warp size|expected to be in range|video selector")
PARTS = 60  # of the long run


def filled(new: bool = False) -> list[Form]:
    """The rows to judge; what came after PTX 9.0 (`new`) is for newer ptxas than the oldest we are tested with."""
    rows = (f for f in table.rows() if not f.exact.startswith("refused") and f.mnemonic != "call")
    return [f for f in rows if (f.since > (9, 0)) == new]


def module_of(statements: list[str]) -> Module:
    """A function for each statement."""
    bodies = (
        f".func f{n}(.param .align 16 .b8 fpar[64]) {{ {forms.DECLARATIONS}\n{statement}\nLABEL: ret; }}\n"
        for n, statement in enumerate(statements)
    )
    header = f".version 9.4\n.target sm_90\n.address_size 64\n{forms.MODULE}\n"
    return parse_module(header + "".join(bodies))


def ours(statements: list[str]) -> list[str | None]:
    """The front end's error for each statement, "" where it has none, None where it finds a row that is refused."""
    module = module_of(statements)
    found: list[str | None] = []
    for n in range(len(statements)):
        try:
            body = parse_body(module, module.functions[f"f{n}"])
            rows = [item.shape.form for item in body.items if isinstance(item, Inst)]
            found.append(None if any(row.exact.startswith("refused") for row in rows) else "")
        except PtxError as error:
            found.append(error.message)
    return found


def theirs(statements: list[tuple[Form, str]]) -> list[str | None]:
    """ptxas's error, "" where some setting takes the statement, None where ptxas cannot decide."""
    errors: list[list[str]] = [[] for _ in statements]
    for setting in (*forms.SETTINGS, *forms.NEW_SETTINGS):
        open_ = [n for n, (form, _) in enumerate(statements) if setting in forms.settings(form) and all(errors[n])]
        verdicts = oracle.verdicts(
            [statements[n][1] for n in open_], forms.declarations(setting), setting, forms.MODULE
        )
        for n, verdict in zip(open_, verdicts, strict=True):
            errors[n].append(verdict)
    return ["" if not all(found) else None if any(UNDECIDED.search(e) for e in found) else found[0] for found in errors]


def newer(form: Form, text: str) -> bool:
    """Whether a changed form of PTX up to 9.0 is one that came later, which the older ptxas does not know."""
    return form.since <= (9, 0) < max(row.since for row, _ in candidates(text.rstrip(";").split()[0]))


def disagreements(statements: list[tuple[Form, str]]) -> list[str]:
    we, they = ours([text for _, text in statements]), theirs(statements)
    found = []
    for (form, text), mine, other in zip(statements, we, they, strict=True):
        if mine is None or other is None or bool(mine) == bool(other):
            continue
        if RANGES.search(other) or KNOWN.search(text) or (other and newer(form, text)):
            continue
        [other] = theirs([(form, text)])  # alone: of many, ptxas may blame one for its neighbour
        if other is None or bool(mine) == bool(other):
            continue
        found.append(f"{text}\n    we say: {mine or 'accepted'}\n    ptxas says: {other or 'accepted'}")
    return found


def enumerated(rows: Iterable[Form], limit: int) -> list[tuple[Form, str]]:
    found = {}
    for form in rows:
        picks = list(forms.choices(form)) if not limit else list(forms.all_choices(form, limit))
        for chosen in picks:
            found[forms.statement(form, chosen)] = form
        if "?" in form.operands:
            found[forms.statement(form, picks[0], False)] = form
    return [(form, text) for text, form in found.items()]


def test_every_choice_of_every_row() -> None:
    """Each filled row: each choice of each field at least once, with and without optional operands."""
    statements = enumerated(filled(), 0)
    assert len(statements) > 1000
    mine = ours([text for _, text in statements])
    assert [(text, m) for (_, text), m in zip(statements, mine, strict=True) if m] == []
    judged = theirs(statements)
    assert [(text, v) for (_, text), v in zip(statements, judged, strict=True) if v] == []
    assert sum(v is None for v in judged) < 20


def test_no_statement_is_a_declaration() -> None:
    """What is read from bodies that are not parsed: `isspacep.shared %p, %r;` declares no shared memory."""
    module = module_of([text for _, text in enumerated(filled(), 0)])
    found = [var.name for function in module.functions.values() for var in shared_in(function, module.source)]
    assert found == [] and list(oversized(module)) == []


def mutants(count: int, rows: list[Form]) -> list[tuple[Form, str]]:
    """`count` mutants of each row, of all kinds."""
    found = {}
    for n, form in enumerate(rows):
        words = sorted({w for f in table.forms(form.mnemonic) for x in fields(f.syntax) for c in x.choices for w in c})
        draw = random.Random(f"{form.syntax} {form.operands}")
        for k in range(count):
            kind = forms.MUTATIONS[(n + k) % len(forms.MUTATIONS)]
            text = next((t for _ in range(4) if (t := forms.mutant(form, kind, words or ["sync"], draw))), None)
            if text:
                found[text] = form
    return [(form, text) for text, form in found.items()]


def test_some_changed_forms() -> None:
    differ = disagreements(mutants(2, filled()))
    assert differ == [], "\n".join(differ)


@functools.cache
def many_mutants() -> list[tuple[Form, str]]:
    """The same at every run, as each row's are drawn from its text."""
    return mutants(200, filled())


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_changed_forms(part: int) -> None:
    """Changed forms: same verdict but for known differences. All parts: the numbers of docs/support/differences.md."""
    differ = disagreements(many_mutants()[part::PARTS])
    assert differ == [], "\n".join(differ)


@pytest.mark.slow
@pytest.mark.skipif(not oracle.newest(), reason="needs ptxas 13.5 (the wheel nvidia-cuda-nvcc)")
def test_rows_after_ptx_9_0() -> None:
    """Each choice of each field, and 200 changed forms of each row."""
    statements = enumerated(filled(new=True), 0)
    judged = theirs(statements)
    assert len(statements) > 100
    mine = ours([text for _, text in statements])
    assert [(t, m, v) for (_, t), m, v in zip(statements, mine, judged, strict=True) if m or v or v is None] == []
    differ = disagreements(mutants(200, filled(new=True)))
    assert differ == [], "\n".join(differ)


@pytest.mark.slow
def test_all_choices() -> None:
    """Up to 150 combinations of fields of every filled row."""
    differ = disagreements(enumerated(filled(), 150))
    assert differ == [], "\n".join(differ[:50])


def test_modifier_order_is_free() -> None:
    """ptxas takes modifiers in many orders; so do we, with the same fields."""
    plain = candidates("ld.global.L1::evict_last.v4.b32")[0][1]
    for text in ("ld.v4.b32.L1::evict_last.global", "ld.b32.global.v4.L1::evict_last"):
        assert candidates(text)[0][1] == plain
    assert candidates("cvt.f32.rn.f64")[0][1]["t"] == "f32"
    assert candidates("cvt.f32.rn.f64")[0][1]["a"] == "f64"
