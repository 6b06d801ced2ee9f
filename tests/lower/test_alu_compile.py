"""Every arithmetic row lowers and selects: no IR that LLVM rejects, no instruction that it cannot select, no
undefined symbol, in both denormal modes. (That ptxas takes the same opcodes is tests/ptx's business.)"""

from __future__ import annotations

import alu_programs
import pytest

from ptx2amd.target import ARCHS
from ptx2amd.translate import translate

FAST = {"compare": 23, "convert": 5, "video": 5}  # every n-th case in the fast tier


def compile_family(family: str, name: str, step: int, flush: bool) -> None:
    batch = alu_programs.all_cases(family)[::step]
    programs = alu_programs.programs(batch, "k", flush=flush)
    [result] = translate(alu_programs.module(programs), f"{family}.ptx", [name])
    assert [kernel.reason for kernel in result.kernels.values() if not kernel.ok] == []
    assert len(result.kernels) == len(programs)


@pytest.mark.parametrize("flush", [False, True], ids=["ieee", "flush"])
@pytest.mark.parametrize("name", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_compiles(family: str, name: str, flush: bool) -> None:
    compile_family(family, name, FAST.get(family, 1), flush)


@pytest.mark.slow
@pytest.mark.parametrize("flush", [False, True], ids=["ieee", "flush"])
@pytest.mark.parametrize("name", sorted(ARCHS))
@pytest.mark.parametrize("family", alu_programs.FAMILIES)
def test_compiles_everywhere(family: str, name: str, flush: bool) -> None:
    compile_family(family, name, 1, flush)
