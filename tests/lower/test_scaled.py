"""Matrices of small elements, with and without scales: every type of A and B."""

from __future__ import annotations

import pytest

from tests.lower import scaled_programs as programs
from tests.lower.device import EVERY, program
from tests.lower.matrix_programs import LANE

HEAD = ".version 9.0\n.target sm_120a\n.address_size 64\n"
CASES = list(programs.cases())
PARTS = [CASES[i::6] for i in range(6)]


@pytest.mark.parametrize("part", [PARTS[0], *(pytest.param(part, marks=pytest.mark.slow) for part in PARTS[1:])])
@pytest.mark.parametrize("arch", [*EVERY, pytest.param("gfx942::software", marks=pytest.mark.slow)])
def test_products(arch: str, part: list[programs.Case]) -> None:
    text = HEAD + "".join(case.kernel(f"k{i}") for i, case in enumerate(part))
    for i, case in enumerate(part):
        _, out = program(text, arch).run(f"k{i}", 32, [case.inputs(), 32 * LANE])
        assert not case.wrong(out), case.product.opcode
