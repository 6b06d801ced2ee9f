"""ptxas and the front end agree: every filled row's forms are PTX to both, and changed forms are to both or to
neither. Protects the table's syntax and operands, the matcher, and the type rules of the checker."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.isa import table
from ptx2amd.isa.form import Form
from ptx2amd.isa.syntax import fields
from ptx2amd.ptx.parse import parse_body, parse_module

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import oracle
from ptx import forms

# What needs another target or version than any that we judge in, and ptxas's own crashes, decide nothing.
UNDECIDED = re.compile("requires|not supported on|crashed|[Ff]eature")
# Value ranges are the lowering's business.
RANGES = re.compile("out of range|unexpected value|multiple of warp size|expected to be in range|video selector")

# Known differences, by statement, and what they come from. (`_33` is the register that a mutation puts in.)
DIFFERENCES = {
    r"b[46]x16_p\d\d(\.\w+)*\.b8x16": "the two words of a packed element type have an order for ptxas, not for us",
    r"(mma|matrix).*\{[^}]*(pred|u64)_": "ptxas takes registers of any type as elements of a fragment",
    r"\[([bsu](8|16|32)|f\d+)_\d+": "ptxas does not look at the type of some addresses",
    r"(bf16|ue8m0|[fsu]16x2)\S* .*_33": "short and packed floats: ptxas wants untyped registers, or any",
    r"^(testp\.f|div\.f32\S*\.full|membar\.alias|txq\.b32|cvt\.\S*\.pack)": "order of the words",
    r"^(fence\.proxy|createpolicy|cp\.async\.\w*\.?global\.shared|mma\.(kind|block|row|m16))": "order of the words",
    r"^(red\.async|wgmma|tensormap|st\.bulk|cp\.reduce).*(_33|0d3ff|0f3f8|svar)": "calls to ptxas: it judges arguments",
    r"^clusterlaunchcontrol\.query_cancel": "as those; and the order of the words",
    r"^(tex|suld|sust|sured|suq)\b.*(\{[bs]\d+_|_33|\[uvar)": "ptxas counts some coordinates and elements only",
    r"^(bmsk|shfl|tensormap)\b.*(0f3f800000|f32_33)": "a float where bits are meant",
}
KNOWN = re.compile("|".join(DIFFERENCES))


def filled() -> list[Form]:
    """The rows to judge; what came after PTX 9.0 is for newer ptxas than the oldest we are tested with."""
    rows = (f for f in table.rows() if not f.exact.startswith("refused") and f.mnemonic != "call")
    return [f for f in rows if f.since <= (9, 0)]


def ours(statements: list[str]) -> list[str]:
    """The front end's error for each statement, "" where it has none."""
    bodies = (
        f".func f{n}(.param .align 16 .b8 fpar[64]) {{ {forms.DECLARATIONS}\n{statement}\nLABEL: ret; }}\n"
        for n, statement in enumerate(statements)
    )
    header = f".version 9.0\n.target sm_90\n.address_size 64\n{forms.MODULE}\n"
    module = parse_module(header + "".join(bodies))
    found = []
    for n in range(len(statements)):
        try:
            parse_body(module, module.functions[f"f{n}"])
            found.append("")
        except PtxError as error:
            found.append(error.message)
    return found


def theirs(statements: list[tuple[Form, str]]) -> list[str | None]:
    """ptxas's error, "" where some setting takes the statement, None where ptxas cannot decide."""
    errors: list[list[str]] = [[] for _ in statements]
    for setting in forms.SETTINGS:
        open_ = [n for n, (form, _) in enumerate(statements) if setting in forms.settings(form) and all(errors[n])]
        verdicts = oracle.verdicts(
            [statements[n][1] for n in open_], forms.declarations(setting), setting, forms.MODULE
        )
        for n, verdict in zip(open_, verdicts, strict=True):
            errors[n].append(verdict)
    return ["" if not all(found) else None if any(UNDECIDED.search(e) for e in found) else found[0] for found in errors]


def disagreements(statements: list[tuple[Form, str]]) -> list[str]:
    we, they = ours([text for _, text in statements]), theirs(statements)
    found = []
    for (_, text), mine, other in zip(statements, we, they, strict=True):
        if other is None or bool(mine) == bool(other) or RANGES.search(other) or KNOWN.search(text):
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


def mutants(count: int) -> list[tuple[Form, str]]:
    """`count` mutants of each kind spread over the rows: each row has at least one."""
    rows, found = filled(), {}
    for n, form in enumerate(rows):
        words = sorted({w for f in table.forms(form.mnemonic) for x in fields(f.syntax) for c in x.choices for w in c})
        draw = random.Random(f"{form.syntax} {form.operands}")
        for k in range(count):
            kind = forms.MUTATIONS[(n + k) % len(forms.MUTATIONS)]
            text = next((t for _ in range(4) if (t := forms.mutant(form, kind, words or ["sync"], draw))), None)
            if text:
                found[text] = form
    return [(form, text) for text, form in found.items()]


@pytest.mark.parametrize("count", [2, pytest.param(24, marks=pytest.mark.slow)])
def test_changed_forms(count: int) -> None:
    """Changed forms: same verdict but for known differences, and one statement in 200."""
    statements = mutants(count)
    differ = disagreements(statements)
    assert len(differ) <= len(statements) // 200, "\n".join(differ)


@pytest.mark.slow
def test_all_choices() -> None:
    """Up to 150 combinations of fields of every filled row."""
    differ = disagreements(enumerated(filled(), 150))
    assert differ == [], "\n".join(differ[:50])


def test_modifier_order_is_free() -> None:
    """ptxas takes modifiers in many orders; so do we, with the same fields."""
    from ptx2amd.isa.match import candidates

    plain = candidates("ld.global.L1::evict_last.v4.b32")[0][1]
    for text in ("ld.v4.b32.L1::evict_last.global", "ld.b32.global.v4.L1::evict_last"):
        assert candidates(text)[0][1] == plain
    assert candidates("cvt.f32.rn.f64")[0][1]["t"] == "f32"
    assert candidates("cvt.f32.rn.f64")[0][1]["a"] == "f64"
