"""What arithmetic instructions compute, on the software GPU, against tests/reference and the answers of NVIDIA's
hardware (tests/hardware): every row, in all three warp mappings and both denormal modes.

Fast: part of the opcodes, edge values mixed with random ones. Slow: every opcode, so and with one source a constant;
all pairs of edge values; all values of 16-bit sources, and 65,536 of wider ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.hardware import answers
from tests.lower import alu_check, alu_programs
from tests.lower.alu_inputs import CROSSED, DENSE, MIXED, Inputs
from tests.lower.alu_programs import Case

FAST = {"compare": 37, "convert": 7, "float": 2, "half": 2, "video": 23}  # every n-th case in the fast tier
PLACES = [(arch, flush) for arch in ("gfx942", "gfx1100") for flush in (False, True)]
BLOCK = 256


def check(batch: list[Case], data: Inputs = MIXED, places: list[tuple[str, bool]] = PLACES, size: int = 60) -> None:
    """Run the cases in each place (arch, perhaps with a mapping, and denormal mode), and compare."""
    wrong = []
    for start in range(0, len(batch), size):
        for place, flush in places:
            arch, _, mapping = place.partition(":")
            [program] = alu_programs.programs(batch[start : start + size], "k", size, flush, data)
            [result] = translate(alu_programs.module([program]), "alu.ptx", [arch], mapping=mapping)
            assert result.ok, result.kernels
            gpu = hip.open(f"vgpu:{arch}")
            inputs = gpu.buffer(alu_programs.input_bytes(program))
            outputs = gpu.buffer(bytes(len(program.outputs) * program.array))
            lanes = 2 if result.kernels["k_0"].mapping == "padded" else 1
            kernel = gpu.load(result.code).kernel("k_0")
            kernel.launch(data.threads // BLOCK, BLOCK * lanes, [inputs, outputs])
            gpu.synchronize()
            mode = f"{place} {'flush' if flush else 'ieee'}"
            found = outputs.bytes()
            wrong += [f"{mode}: {text}" for text in alu_check.mismatches(program, found)]
            wrong += [f"{mode}: {text}" for text in answers.disagreements(program, found)]
    assert wrong == [], f"{len(wrong)} wrong\n" + "\n".join(wrong[:100])


@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_semantics(family: str) -> None:
    check(alu_programs.all_cases(family)[:: FAST.get(family, 1)])


@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_semantics_padded(family: str) -> None:
    """One warp in a 64-lane wave: the same code but for lane masks, so a sample is enough in the fast tier."""
    check(alu_programs.all_cases(family)[:: 11 * FAST.get(family, 1)], places=[("gfx942:padded", False)])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_all_semantics(family: str, part: int) -> None:
    check(alu_programs.all_cases(family)[part::4], places=[*PLACES, ("gfx942:padded", False), ("gfx1030", False)])


@pytest.mark.slow
@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_constant_operands(family: str) -> None:
    """What LLVM folds is what the instruction computes."""
    found = [alu_programs.with_constant(case) for case in alu_programs.all_cases(family)]
    check([case for case in found if case], places=[("gfx942", False), ("gfx1100", True)])


FOLDING = (0, 1 << 31, 0x3F800000, 0xBF800000, 1, 0x7FC00000)  # f32: zeros, ones, a subnormal number, NaN
FOLDED = [  # each source one of these
    replace(case, constants=(*case.constants, (name, bits)))
    for family in ("float", "mixed", "convert")
    for case in alu_programs.all_cases(family)
    for name, ptype, _ in case.sources
    for bits in (FOLDING if ptype == "f32" else ())
]


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 16))])
def test_constants_that_fold(part: int) -> None:
    """Of x * 1 LLVM makes x, of the root of a subnormal constant its root: in kernels that flush, that is not it."""
    check(FOLDED[part::16], places=[("gfx942", True)])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_all_pairs_of_edges(family: str, part: int) -> None:
    many = [case for case in alu_programs.all_cases(family) if len(case.sources) > 1]
    step = {"compare": 32, "video": 16}.get(family, 4)
    check(many[part::step], CROSSED, [("gfx942", part % 2 == 0), ("gfx1100", part % 2 == 1)], 20)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_all_values_of_one_source(family: str, part: int) -> None:
    alone = [case for case in alu_programs.all_cases(family) if len(case.sources) == 1 and case.sources[0][1] != "pred"]
    check(alone[part::8], DENSE, [("gfx942", part % 2 == 0), ("gfx1100", part % 2 == 1)], 8)
