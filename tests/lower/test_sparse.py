"""mma.sp of every shape and type: the elements that A keeps meet theirs of B, and no others."""

from __future__ import annotations

import pytest

from tests.lower import sparse_programs as programs
from tests.lower.device import EVERY, program
from tests.lower.matrix_programs import HEAD, LANE

CASES = programs.cases()
BATCHES = [CASES[i::8] for i in range(8)]


@pytest.mark.parametrize("batch", [BATCHES[0], *(pytest.param(b, marks=pytest.mark.slow) for b in BATCHES[1:])])
@pytest.mark.parametrize("arch", EVERY)
def test_products(arch: str, batch: list[programs.Case]) -> None:
    text = HEAD + "".join(programs.kernel(f"k{i}", case.product, case.selector) for i, case in enumerate(batch))
    for i, case in enumerate(batch):
        _, out = program(text, arch).run(f"k{i}", 32, [case.inputs(), 32 * LANE])
        assert out == case.expected(), case.product.opcode
