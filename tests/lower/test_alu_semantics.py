"""What arithmetic instructions compute, on the software GPU, against tests/reference: every row, with edge
and random operands, in both warp mappings and both denormal modes."""

from __future__ import annotations

import alu_check
import alu_programs
import pytest

from ptx2amd import hip
from ptx2amd.translate import translate

FAST = {"compare": 37, "convert": 7, "float": 2, "half": 2, "video": 7}  # every n-th case in the fast tier


def check(family: str, arch: str, step: int, flush: bool) -> None:
    """Run every step-th case of a family and compare."""
    programs = alu_programs.programs(alu_programs.all_cases(family)[::step], "k", flush=flush)
    [result] = translate(alu_programs.module(programs), f"{family}.ptx", [arch])
    assert result.ok, result.kernels
    gpu = hip.open(f"vgpu:{arch}")
    module = gpu.load(result.code)
    wrong = []
    for program in programs:
        inputs = gpu.buffer(alu_programs.input_bytes(program))
        outputs = gpu.buffer(len(program.outputs) * alu_programs.SLOT * alu_programs.THREADS)
        module.kernel(program.name).launch(1, alu_programs.THREADS, [inputs, outputs])
        gpu.synchronize()
        wrong += alu_check.mismatches(program, outputs.bytes())
    assert wrong == []


@pytest.mark.parametrize("flush", [False, True], ids=["ieee", "flush"])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_semantics(family: str, arch: str, flush: bool) -> None:
    check(family, arch, FAST.get(family, 1), flush)


@pytest.mark.slow
@pytest.mark.parametrize("flush", [False, True], ids=["ieee", "flush"])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("family", [family for family in alu_programs.FAMILIES if family in FAST])
def test_all_semantics(family: str, arch: str, flush: bool) -> None:
    check(family, arch, 1, flush)
