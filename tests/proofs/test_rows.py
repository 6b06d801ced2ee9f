"""Integer instructions, comparisons and conversions, for all values of their operands. Protects: that a row's code is
what the manual says, also for values that no test tries; and that the prover finds what is wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.lower.alu_programs import Case, all_cases
from tests.proofs import checks, page, proving

CHIP = "gfx942"
CASES = proving.cases()
#: The first case of each instruction, and of those which take long none.
FIRST = {case.form.mnemonic: case for case in reversed(CASES) if case.form.mnemonic not in page.LONG}
PARTS = 24


@pytest.mark.parametrize("name", sorted(FIRST))
def test_one_case_of_each(name: str) -> None:
    assert proving.counterexample(FIRST[name], CHIP, 60) is None


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_case(part: int) -> None:
    """On the chip of one mapping: integer instructions are the same code on all, but for gfx8's."""
    known = {row["case"] for row in page.results()["proven"]}
    wrong = []
    for case in CASES[part::PARTS]:
        if page.name(case) in known:
            wrong += [found] if (found := proving.counterexample(case, CHIP, 120)) else []
    assert wrong == []


def case_of(opcode: str) -> Case:
    return next(case for case in CASES if case.opcode == opcode)


@pytest.mark.parametrize(
    ("opcode", "other"),
    [("add.u32", "sub.u32"), ("shr.s32", "shr.u32"), ("mul.hi.s32", "mul.hi.u32"), ("div.s32", "div.u32"),
     ("bfe.u32", "bfe.s32"), ("bfe.s64", "bfe.u64"), ("max.s16", "max.u16"), ("prmt.b32.ecl", "prmt.b32.ecr"),
     ("shf.l.wrap.b32", "shf.l.clamp.b32"), ("addc.cc.u32", "subc.cc.u32"), ("setp.lt.s32", "setp.lt.u32"),
     ("setp.equ.f32", "setp.eq.f32"), ("set.lt.ftz.u32.f32", "set.lt.u32.f32"), ("cvt.rz.f32.f64", "cvt.rm.f32.f64"),
     ("cvt.rni.s32.f32", "cvt.rzi.s32.f32"), ("cvt.rn.satfinite.f16.f32", "cvt.rn.f16.f32"),
     ("add.rz.f32", "add.rm.f32"), ("max.NaN.f32", "max.f32"), ("cvt.rna.tf32.f32", "cvt.rn.tf32.f32")],
)  # fmt: skip
def test_wrong_code_has_a_counterexample(opcode: str, other: str) -> None:
    """The code of another instruction, as what the manual says of this one."""
    case = case_of(opcode)
    swapped = replace(case, opcode=other)
    assert proving.counterexample(case, CHIP, 60, swapped) is not None


def test_every_case_is_on_the_page() -> None:
    """One that was added has to be proven, or named as not proven: python -m tests.proofs.page."""
    results = page.results()
    assert {page.name(case) for case in CASES} == {row["case"] for kind in results.values() for row in kind}
    assert page.PAGE.read_text() == page.page()
    assert json.loads(checks.CHECKS.read_text()) == checks.checks(), "run python -m tests.proofs.checks"


def test_no_family_is_forgotten() -> None:
    names = {case.form.mnemonic for family in proving.FAMILIES for case in all_cases(family)}
    assert names <= {case.form.mnemonic for case in CASES}
