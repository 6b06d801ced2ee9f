"""Instructions with one f32 operand, of every value that there is. Protects: results that no sample of operands finds.
(Those of which all cases are proven, conversions among them, need none of this: tests/proofs.)"""

from __future__ import annotations

import numpy as np
import pytest

from tests.lower import alu_check, alu_inputs, sweep
from tests.lower.alu_programs import Case
from tests.reference import columns

CASES = {case.opcode: case for case in sweep.cases()}
PARTS = 16
STARTS = (0, 0x3F800000, 0x7E800000, 0xBF800000)  # zero and subnormal numbers, 1, where 1 / x is subnormal, -1


@pytest.mark.parametrize("opcode", ["rcp.rp.ftz.f32", "ex2.approx.ftz.f32", "testp.subnormal.f32"])
def test_part_of_all(opcode: str) -> None:
    assert [sweep.sweep(opcode, "gfx1100", start, start + sweep.STEP) for start in STARTS] == [""] * len(STARTS)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("opcode", CASES)
def test_all(opcode: str, part: int) -> None:
    size = (1 << 32) // PARTS
    assert sweep.sweep(opcode, "gfx942", part * size, (part + 1) * size) == ""


def candidates(case: Case, operands: np.ndarray) -> list[np.ndarray]:
    """Results near the exact ones, and far from them."""
    name = case.opcode.partition(".")[0]
    x = columns.numbers(columns.flushed(operands) if "ftz" in case.opcode else operands)
    with np.errstate(all="ignore"):
        exact = columns.BOUNDS[name].exact(x) if name in columns.BOUNDS else x
        near = exact.astype(np.float32).view(np.uint32)
    steps = [(near + np.uint32(step & 0xFFFFFFFF)).astype(np.uint32) for step in (0, 1, -1, 2, -2, 3, -3, 4, 5000)]
    constants = [np.full(len(operands), bits, np.uint32) for bits in (0, 1, 1 << 31, 0x7F800000, 0x7FFFFFFF)]
    return [*steps, *constants, operands, operands ^ columns.TOP, columns.flushed(near)]


@pytest.mark.parametrize("opcode", CASES)
def test_both_references_agree(opcode: str) -> None:
    """On what is right and what is wrong, where functions have their borders."""
    case = CASES[opcode]
    operands = np.array(alu_inputs.CORNERS.values("f32", 0), np.uint32)
    wanted = [row["p" if opcode.startswith("testp") else "d"] for row in alu_check.expected(case, alu_inputs.CORNERS)]
    kind = "u32" if opcode.startswith("testp") else "f32"
    for got in candidates(case, operands):
        ours = [alu_check.agrees(int(g), want, kind) for g, want in zip(got, wanted, strict=True)]
        wrong = columns.wrong(opcode, operands, got)
        assert [(hex(a), hex(g)) for a, g, ok, bad in zip(operands, got, ours, wrong, strict=True) if ok == bad] == []
