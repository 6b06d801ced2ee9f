"""wgmma: every type, A in registers and in shared memory, all layouts of shared memory, dense and sparse."""

from __future__ import annotations

import pytest

from tests.lower import wgmma_programs as programs
from tests.lower.device import ARCHS, EVERY, chunks, program


def check(arch: str, cases: list[programs.Case]) -> None:
    for batch in chunks(cases, 6):
        text = programs.HEAD + "".join(case.kernel(f"k{i}") for i, case in enumerate(batch))
        for i, case in enumerate(batch):
            _, out = program(text, arch).run(f"k{i}", 128, [case.memory(), case.registers()], case.descriptors())
            assert out == case.expected(), (case.opcode, case.mode, case.across)


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 6))])
@pytest.mark.parametrize("arch", EVERY)
def test_kinds(arch: str, part: int) -> None:
    """A sixth of the cases in the fast tier, another one for each arch."""
    check(arch, list(programs.cases())[(part + 3 * (arch == ARCHS[0])) % 6 :: 6])


@pytest.mark.slow
@pytest.mark.parametrize("arch", EVERY)
def test_layouts(arch: str) -> None:
    check(arch, list(programs.cases(every=True)))
