"""What arithmetic instructions compute, on the software GPU, against tests/reference: every row, with edge
and random operands, in both warp mappings and both denormal modes."""

from __future__ import annotations

import alu_check
import alu_programs
import pytest

from ptx2amd import hip
from ptx2amd.translate import translate

FAST = {"compare": 37, "convert": 7, "float": 2, "half": 2, "video": 23}  # every n-th case in the fast tier


def check(family: str, first: int, step: int) -> None:
    """Run every step-th case of a family, in native and paired mapping and both denormal modes, and compare."""
    batch = alu_programs.all_cases(family)[first::step]
    wrong = []
    for arch in ("gfx942", "gfx1100"):
        for flush in (False, True):
            programs = alu_programs.programs(batch, "k", flush=flush)
            [result] = translate(alu_programs.module(programs), f"{family}.ptx", [arch])
            assert result.ok, result.kernels
            gpu = hip.open(f"vgpu:{arch}")
            module = gpu.load(result.code)
            for program in programs:
                inputs = gpu.buffer(alu_programs.input_bytes(program))
                outputs = gpu.buffer(len(program.outputs) * alu_programs.SLOT * alu_programs.THREADS)
                module.kernel(program.name).launch(1, alu_programs.THREADS, [inputs, outputs])
                gpu.synchronize()
                mode = f"{arch} {'flush' if flush else 'ieee'}"
                wrong += [f"{mode}: {text}" for text in alu_check.mismatches(program, outputs.bytes())]
    assert wrong == []


@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_semantics(family: str) -> None:
    check(family, 0, FAST.get(family, 1))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("family", list(FAST))
def test_all_semantics(family: str, part: int) -> None:
    check(family, part, 5)
