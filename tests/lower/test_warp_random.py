"""Random programs with nested divergence and warp operations: every warp mapping computes what an interpreter
of the PTX manual's text does."""

from __future__ import annotations

import pytest
import warp_random
from device import MAPPINGS
from reference import warp_machine

BATCH = 50  # programs in a test of the fast tier
SLOW = 100_000
MODULE = 250  # programs of a module in the slow tier
FULL = 20  # each so many modules of the slow tier, the programs are long and compiled as users' are


def check(seeds: range, arch: str) -> None:
    wrong = warp_random.check(seeds, arch)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("arch", MAPPINGS)
def test_random_programs(arch: str) -> None:
    check(range(BATCH), arch)


@pytest.mark.parametrize("seed", [1302, 1470])
def test_shuffles_are_not_sunk_into_branches(seed: int) -> None:
    """LLVM does that to DPP8."""
    check(range(seed, seed + 1), "gfx1100")


@pytest.mark.slow
@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("first", range(BATCH, SLOW + BATCH, MODULE))
def test_many_random_programs(first: int, arch: str) -> None:
    wrong = warp_random.sweep(first, MODULE, arch, full=first // MODULE % FULL == 0)
    assert not wrong, "\n".join(wrong)


def test_the_programs_diverge() -> None:
    """Most threads of most programs end with registers of their own, and some leave early."""
    ends = [warp_machine.run(warp_machine.generate(seed), 32) for seed in range(BATCH)]
    assert sum(len({tuple(end) for end in threads}) > 8 for threads in ends) > BATCH * 0.8
    assert any([0] * warp_machine.REGISTERS in threads for threads in ends)
    defined = [word != warp_machine.UNDEFINED for threads in ends for end in threads for word in end]
    assert sum(defined) > 0.9 * len(defined)
