"""Liveness: a register is live where a way leads to a read of it without a write before."""

from __future__ import annotations

import pytest

from ptx2amd.middle.analyses import liveness
from ptx2amd.middle.analyses.liveness import Liveness
from ptx2amd.middle.body import Body
from tests.middle.test_body import program


def live_by_definition(values: Liveness, number: int, register: int) -> bool:
    """Whether some way from the beginning of a block meets a read of the register before a write."""
    work, seen = [number], {number}
    while work:
        block = work.pop()
        for access in values.accesses[block]:
            if register in access.reads:
                return True
            if register in access.writes and access.overwrites:
                break
        else:
            further = [n for n in values.flow.blocks[block].successors if n not in seen]
            seen.update(further)
            work += further
    return False


@pytest.mark.parametrize("width", [8, liveness.WIDTH])
@pytest.mark.parametrize("seed", range(40))
def test_what_is_live_at_the_beginning_of_a_block(seed: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "WIDTH", width)
    values = Liveness(Body(program(seed, count=30, registers=20)))
    registers = {n for accesses in values.accesses for access in accesses for n in (*access.reads, *access.writes)}
    assert registers
    for number, found in enumerate(values.entering):
        assert found == {r for r in registers if live_by_definition(values, number, r)}
