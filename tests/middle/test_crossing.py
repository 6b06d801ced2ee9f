"""Registers that some path reads before it writes them: they alone get an initial value.

Protects: a register without one is undefined in LLVM where nothing was written, and what depends on it can be anything.
"""

from __future__ import annotations

import pytest

from ptx2amd.middle.analyses.crossing import Crossing
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Register
from tests.middle.test_body import program


def read_first(body: Body, register: Register) -> bool:
    """Whether some path from the beginning meets a read of a register before a write."""
    work, seen = [0], {0}
    while work:
        block = body.blocks[work.pop()]
        for op in block.ops:
            if register in op.reads:
                return True
            if register in op.writes and op.inst.guard is None:
                break
        else:
            further = [number for number in block.successors if number not in seen]
            seen.update(further)
            work += further
    return False


@pytest.mark.parametrize("seed", range(60))
def test_registers_that_some_path_reads_before_it_writes_them(seed: int) -> None:
    body = Body(program(seed, registers=12))
    read = {register for op in body.ops() for register in op.reads if register.name in body.registers}
    first = {register.name for register in read if read_first(body, register)}
    assert first
    assert body.analysis(Crossing).unset == first
