"""The approximate instructions where their results leave the normal numbers, on the software GPU: subnormal, huge,
zero, infinite and NaN operands, both operands of division crossed, .ftz and not, in kernels of both denormal modes,
against what the PTX manual says of them (tests/reference/approximate.py)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.lower import alu_programs
from tests.lower.alu_inputs import CORNERS, CROSSED_CORNERS
from tests.lower.test_alu_semantics import check

CASES = [
    case
    for family in alu_programs.FAMILIES
    for case in alu_programs.all_cases(family)
    if case.form.exact.startswith("approx")
]
USUAL = ("gfx942", "gfx1100")
OTHERS = [pytest.param(arch, marks=pytest.mark.slow) for arch in ("gfx900", "gfx90a", "gfx1030", "gfx1201")]


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("arch", [*USUAL, *OTHERS])
def test_functions(arch: str, flush: bool) -> None:
    check([case for case in CASES if len(case.sources) == 1], CORNERS, [(arch, flush)])


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("arch", [*USUAL, *OTHERS])
def test_quotients(arch: str, flush: bool) -> None:
    check([case for case in CASES if len(case.sources) == 2], CROSSED_CORNERS, [(arch, flush)])


@pytest.mark.slow
@pytest.mark.parametrize("flush", [False, True])
def test_constants(flush: bool) -> None:
    """What LLVM folds is what the instruction computes."""
    fixed = [
        replace(case, constants=((name, bits),))
        for case in CASES
        for name, ptype, _ in case.sources
        if ptype in ("f32", "f64")
        for bits in CORNERS.values(ptype, 0)[:162]
    ]
    check(fixed, CORNERS, [("gfx942", flush)], 200)
