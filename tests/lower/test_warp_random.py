"""Random programs with nested divergence and warp operations: every warp mapping computes what an interpreter
of the PTX manual's text does."""

from __future__ import annotations

import pytest

from tests.lower import warp_random
from tests.lower.device import MAPPINGS
from tests.reference import warp_machine
from tests.reference.warp_machine import Alu, If, Leave, Loop, Rotated, Shuffle, Warp

BATCH = 50  # programs in a test of the fast tier
SLOW = 100_000
MODULE = 250  # programs of a module in the slow tier
OTHERS = {"parted": 4, "rotated": 10}  # exchanges on both sides of branches, and in loops with two entries
SLOW_OTHERS, MODULE_OTHERS = 10_000, 20  # of each kind in the slow tier, in a module
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
@pytest.mark.parametrize("kind", OTHERS)
def test_random_programs_of_other_kinds(kind: str, arch: str) -> None:
    """Operations of all threads on both sides of branches, and in loops that some threads enter in the middle."""
    wrong = warp_random.check_others(kind, range(OTHERS[kind]), arch)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("arch", MAPPINGS)
def test_threads_that_enter_a_loop_in_its_middle_and_exit(arch: str) -> None:
    """The exit hid that the ways meet in the loop's middle: threads on each way exchanged by themselves."""
    exchange = Warp("redux.add.u32", 4, 0, 0, "all")
    loops = {0: (exchange,), 1: (Leave(3, 3), exchange)}
    programs = {seed: (Rotated(1, 1, 2, (exchange,), first, ()),) for seed, first in loops.items()}
    wrong = warp_random.compare(programs, arch)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("arch", MAPPINGS)
def test_lanes_that_have_waited_meet_again(arch: str) -> None:
    """They went on alone behind the next loop, and behind the loop itself; and LLVM lost values of pairs on gfx942."""
    wrong = [text for seed in (200037, 200112) for text in warp_random.check_others("parted", [seed], arch)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("arch", MAPPINGS)
def test_answers_of_rounds_outlive_the_rounds(arch: str) -> None:
    """The loop over the values that lanes match, or the masks they reduce by, became one with the loop around it, and
    LLVM kept the answer in the wave's register, which later rounds change. Program 20006 of `rotated`."""
    kinds = [kind for kind in warp_machine.KINDS if kind.startswith(("match", "redux"))]
    wrong = warp_random.check_others("rotated", [20006], arch)
    for kind in kinds:  # a module each: LLVM optimises short ones only
        loops = [(bit, mask) for bit in (2, 4) for mask in ("region", "parity")]
        programs = {
            i: (Rotated(1, 1, bit, (), (Warp(kind, 1, 4, 5, mask),), ()),) for i, (bit, mask) in enumerate(loops)
        }
        wrong += warp_random.compare(programs, arch)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("first", range(0, SLOW_OTHERS, MODULE_OTHERS))
@pytest.mark.parametrize("kind", OTHERS)
def test_many_random_programs_of_other_kinds(kind: str, first: int, arch: str) -> None:
    wrong = warp_random.check_others(kind, range(first, first + MODULE_OTHERS), arch)
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
