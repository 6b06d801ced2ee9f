"""Random programs with nested divergence and warp operations: every warp mapping computes what an interpreter
of the PTX manual's text does."""

from __future__ import annotations

import struct

import pytest
import warp_random
from device import MAPPINGS, Program
from reference import warp_machine
from reference.warp_machine import REGISTERS

BATCH = 50  # programs of a module
SLOW = 100_000
THREADS = (96, 41, 128, 32)


def check(first: int, arch: str, count: int = BATCH) -> None:
    """Programs `first` to `first + count - 1`."""
    seeds = range(first, first + count)
    programs = {seed: warp_machine.generate(seed) for seed in seeds}
    text = "".join(warp_random.kernel(f"k{seed}", program) for seed, program in programs.items())
    loaded = Program(warp_random.HEAD + text, arch)
    for seed, program in programs.items():
        threads = THREADS[seed % len(THREADS)]
        [out] = loaded.run(f"k{seed}", threads, [4 * REGISTERS * threads])
        found = [list(row) for row in struct.iter_unpack(f"<{REGISTERS}I", out)]
        wanted = warp_machine.run(program, threads)
        wrong = [t for t in range(threads) if found[t] != wanted[t]]
        assert not wrong, (
            f"program {seed} on {arch}, {threads} threads: {len(wrong)} wrong, first {wrong[0]}: "
            f"{found[wrong[0]]}, not {wanted[wrong[0]]}\n{warp_random.kernel('k', program)}"
        )


@pytest.mark.parametrize("arch", MAPPINGS)
def test_random_programs(arch: str) -> None:
    check(0, arch)


@pytest.mark.parametrize("seed", [1302, 1470])
def test_shuffles_are_not_sunk_into_branches(seed: int) -> None:
    """LLVM does that to DPP8."""
    check(seed, "gfx1100", 1)


@pytest.mark.slow
@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("first", range(BATCH, SLOW + BATCH, BATCH))
def test_many_random_programs(first: int, arch: str) -> None:
    check(first, arch)


def test_the_programs_diverge() -> None:
    """Most threads of most programs end with registers of their own, and some leave early."""
    ends = [warp_machine.run(warp_machine.generate(seed), 32) for seed in range(BATCH)]
    assert sum(len({tuple(end) for end in threads}) > 8 for threads in ends) > BATCH * 0.8
    assert any([0] * REGISTERS in threads for threads in ends)
    defined = [word != warp_machine.UNDEFINED for threads in ends for end in threads for word in end]
    assert sum(defined) > 0.9 * len(defined)
