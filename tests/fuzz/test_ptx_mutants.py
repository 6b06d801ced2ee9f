"""PTX with tokens changed ends in a refusal with a place, or in LLVM IR, in bounded time and memory; never in another
exception. (`python -m tests.fuzz.ptx_mutants` runs as many as one likes.)"""

from __future__ import annotations

import pytest

from tests.fuzz.ptx_mutants import disagreement, mutant, run


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 20))])
def test_mutants(part: int) -> None:
    count = 400 if part == 0 else 5000
    outcomes, defects = run(5000 * part, count)
    assert defects == [], "\n".join(defects)
    assert outcomes["refused"] > count // 4 and outcomes["lowered"] > count // 10


@pytest.mark.slow
def test_ptxas_agrees() -> None:
    """Of a sample; the rest are differences between single operands, of which tests/ptx/differences.py knows more."""
    differ = [text for number in range(0, 2000) if (text := disagreement(mutant(number)))]
    assert len(differ) < 60, "\n".join(differ)
