"""Random programs with nested divergence and warp operations: every warp mapping computes what an interpreter
of the PTX manual's text does."""

from __future__ import annotations

import pytest
import warp_random
from device import MAPPINGS
from reference import warp_machine
from reference.warp_machine import Alu, If, Loop, Shuffle

BATCH = 50  # programs in a test of the fast tier
SLOW = 100_000
MODULE = 250  # programs of a module in the slow tier
PARTED, SLOW_PARTED, MODULE_PARTED = 8, 10_000, 20  # programs whose lanes part: in both tiers, in a module
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


@pytest.mark.parametrize("arch", MAPPINGS)
def test_loops_keep_one_entry(arch: str) -> None:
    """LLVM peeled the loop, and shared the fence of the peeled `other` with the loop's: lanes that jumped into
    the loop there went round apart from the rest. Program 65212, and what is left of it."""
    shuffle = lambda mode, d, b: Shuffle(mode, d, 4, b, 31, False, False, "region")  # noqa: E731
    empty = If(a=1, bit=6, then=(), other=(), sync=True)
    choice = If(a=0, bit=7, then=(shuffle("bfly", 4, 4), Alu("add", 4, 0, 1)), other=(empty,), sync=False)
    reduced = (Loop(a=3, bit=0, body=(shuffle("down", 0, 1), choice)),)
    wrong = warp_random.compare({0: reduced, 65212: warp_machine.generate(65212)}, arch)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("arch", MAPPINGS)
def test_random_programs_whose_lanes_part(arch: str) -> None:
    """Operations of all threads on both sides of branches."""
    wrong = warp_random.check_parted(range(PARTED), arch)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("arch", MAPPINGS)
def test_lanes_that_have_waited_meet_again(arch: str) -> None:
    """They went on alone behind the next loop, and behind the loop itself; and LLVM lost values of pairs on gfx942."""
    wrong = [text for seed in (200037, 200112) for text in warp_random.check_parted(range(seed, seed + 1), arch)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("first", range(PARTED, SLOW_PARTED + PARTED, MODULE_PARTED))
def test_many_random_programs_whose_lanes_part(first: int, arch: str) -> None:
    wrong = warp_random.check_parted(range(first, first + MODULE_PARTED), arch)
    assert not wrong, "\n".join(wrong)


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
