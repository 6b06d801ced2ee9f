"""Every arithmetic row lowers and selects: no IR that LLVM rejects, no instruction that it cannot select, no
undefined symbol, in both denormal modes. (That ptxas takes the same opcodes is tests/ptx's business.)"""

from __future__ import annotations

import re

import pytest

from ptx2amd.target import ARCHS
from ptx2amd.translate import translate
from tests.lower import alu_programs

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


ROUND = re.compile(r"\s+(?:s_round_mode|s_setreg_imm32_b32 hwreg\(HW_REG_MODE, 0, 4\),) (\w+)")
ARITHMETIC = re.compile(r"\s+(v_(?!mov|dual_mov|readfirstlane|nop)\w+)")


@pytest.mark.parametrize("flush", [False, True], ids=["ieee", "flush"])
@pytest.mark.parametrize("name", ["gfx900", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_one_instruction_in_each_other_rounding(name: str, flush: bool) -> None:
    """Where the rounding mode is changed, it is for one instruction: LLVM has moved nothing else there."""
    batch = [case for family in ("float", "half", "convert") for case in alu_programs.all_cases(family)]
    directed = [case for case in batch if dict(case.mods).get("rnd") in ("rz", "rm", "rp")]
    programs = alu_programs.programs(directed[:: 1 if name == "gfx942" else 5], "k", flush=flush)
    [result] = translate(alu_programs.module(programs), "directed.ptx", [name], emit="asm")
    assert result.ok
    changed, inside, windows = False, [], 0
    for line in result.code.decode().splitlines():
        if switch := ROUND.match(line):
            if changed:
                assert len(inside) == 1, inside
                windows += 1
            changed, inside = int(switch[1], 0) != 0, []
        elif found := ARITHMETIC.match(line):
            inside.append(found[1])
    assert not changed
    assert windows > 20
