"""Threads that take locks alone or for a group that meets under the lock, wait for their turns, and hand words over:
every warp mapping ends, and computes what a machine that runs thread by thread does."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tests import ROOT
from tests.lower import lock_random
from tests.lower.device import MAPPINGS
from tests.reference import lock_machine
from tests.reference.lock_programs import (
    BLOCK,
    WARP,
    Call,
    Count,
    Exchange,
    Meet,
    Program,
    Quit,
    Relay,
    Section,
    Slot,
    Times,
    Turns,
    generate,
)

# Programs of the slow tier that have hung, or lost an address.
FOUND = [
    *((539, "gfx1030"), (1359, "gfx1030"), (1371, "gfx1100"), (1385, "gfx942"), (1551, "gfx1100"), (1985, "gfx942")),
    *((1827, "gfx942:padded"), (10016, "gfx942"), (10019, "gfx1100"), (10555, "gfx942")),
    *((10611, "gfx1100"), (10674, "gfx1030")),
]
SLOW, MORE, MODULE = 2000, 1000, 20  # programs of the slow tier, those with more in them, and those in a process
TILE = Section(False, 0, False, 4, 0, False, 0, (Slot(),), "cas", "plain", "exch")
THREAD = replace(TILE, size=1, body=(Count(1, False),))
TICKET = replace(THREAD, kind="ticket", shape="ld.acquire", give="atom")
RELAY = Relay(False, 0, 16, WARP, 0, 0, True, False, "exch")
TURNS = Turns(False, 0, 1, 0, False, (), "ld.acquire", "release")
SHAPES = {
    "tiles": (TILE,),
    "tiles_that_look_first": (replace(TILE, size=16, leader=3, shape="look"),),
    "tiles_with_tickets": (replace(TILE, kind="ticket", shape="ld.acquire", give="red"),),
    "tiles_that_exchange": (replace(TILE, body=(Slot(), Exchange("redux", 0), Meet())),),
    "tiles_with_two_releases": (replace(TILE, parts=True),),
    "tiles_in_a_loop": (Times(2, (TILE, Meet())),),
    "tiles_then_others": (TILE, replace(TILE, lock=1, size=8, leader=2)),
    "threads": (THREAD,),
    "threads_in_a_loop": (replace(THREAD, shape="while"),),
    "threads_one_section_after_the_other": (replace(THREAD, shape="peeled", body=()), replace(THREAD, shape="peeled")),
    "threads_under_locks_of_tiles": (replace(TILE, parts=True, body=(replace(THREAD, lock=1, shape="while"),)),),
    "threads_that_exit_then_others": (replace(TICKET, body=(Quit(6),)), TICKET),
    "threads_under_locks_of_threads": (
        replace(THREAD, shape="peeled", body=(replace(THREAD, lock=1, shape="look", body=(), give="volatile"),)),
    ),
    "threads_by_functions_with_several_returns": (
        replace(THREAD, shape="returns", body=(Call(3), Count(1, False))),
        replace(THREAD, shape="whole"),
    ),
    "threads_under_locks_in_shared_memory": (
        replace(THREAD, space="shared", body=(replace(THREAD, lock=1, space="generic"),)),
        replace(THREAD, space="generic"),
    ),
    "tiles_under_locks_in_shared_memory": (
        replace(TILE, space="shared"),
        replace(TILE, before=True, size=WARP, space="generic"),
    ),
    "tiles_then_relays_under_a_lock_of_blocks": (
        replace(TICKET, hashed=True, size=BLOCK, body=(replace(TILE, lock=3, size=16, leader=13),)),
        replace(TILE, before=True, lock=2, size=16, shape="function"),
        replace(RELAY, size=1, over=-1, looks=True),
        replace(THREAD, lock=3, shape="while"),
    ),
    "tiles_by_functions": (replace(TILE, size=16, shape="function"),),
    "tiles_under_locks_of_warps_by_functions": (
        replace(TILE, size=WARP, shape="function", body=(replace(TILE, lock=1, size=8, shape="function"),)),
    ),
    "warps": (replace(TILE, size=WARP),),
    "blocks": (replace(TILE, size=BLOCK, leader=31),),
    "lanes_hand_over": (replace(RELAY, size=1),),
    "lanes_hand_over_to_one_that_looks": (replace(RELAY, size=1, looks=True),),
    "tiles_hand_over": (replace(RELAY, size=8, first=False),),
    "tiles_hand_over_to_one_that_looks": (replace(RELAY, size=8, looks=True),),
    "warps_hand_over": (replace(RELAY, size=WARP, over=BLOCK),),
    "threads_hand_over": (replace(RELAY, size=1, over=BLOCK, receiver=40),),
    "warps_hand_over_to_one_that_looks": (replace(RELAY, size=WARP, over=-1, receiver=3, looks=True),),
    "blocks_hand_over": (replace(RELAY, size=BLOCK, over=-1),),
    "turns_of_threads": (TURNS,),
    "turns_of_threads_the_last_first": (replace(TURNS, last_first=True, look="cas", give="exch"),),
    "turns_of_tiles": (replace(TURNS, size=8),),
    "turns_of_tiles_the_last_first": (replace(TURNS, size=16, last_first=True, look="atom.or", give="red"),),
    "turns_of_warps": (replace(TURNS, size=WARP),),
    "turns_of_blocks": (replace(TURNS, size=BLOCK),),
}


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("name", SHAPES)
def test_groups_get_their_locks(name: str, arch: str) -> None:
    program = Program(64, 2, SHAPES[name])
    wrong = [lock_random.compare(known, program, arch) for known in (0, 1)]
    assert not any(wrong), "\n".join(wrong)


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("seed", range(10))
def test_random_programs(seed: int, arch: str) -> None:
    wrong = lock_random.compare(seed, lock_random.program(seed), arch)
    assert not wrong, wrong


@pytest.mark.parametrize(("number", "arch"), FOUND)
def test_programs_that_have_failed(number: int, arch: str) -> None:
    wrong = lock_random.compare(number, lock_random.program(number), arch)
    assert not wrong, wrong


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("seed", range(lock_random.MORE, lock_random.MORE + 6))
def test_random_programs_with_exits_and_calls(seed: int, arch: str) -> None:
    wrong = lock_random.compare(seed, lock_random.program(seed), arch)
    assert not wrong, wrong


def sweep(first: int, count: int, arch: str) -> None:
    """In a process of their own, with short patience, as a program that hangs is the last one of its process."""
    environment = {**os.environ, "PTX2AMD_VGPU_DEADLOCK": "5", "PTX2AMD_VGPU_TIMEOUT": "60"}
    command = [sys.executable, "-m", "tests.lower.lock_random", str(first), str(count), arch]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arch", [*MAPPINGS, "gfx90a", "gfx1030"])
@pytest.mark.parametrize("first", range(10, SLOW + 10, MODULE))
def test_many_random_programs(first: int, arch: str) -> None:
    sweep(first, MODULE, arch)


@pytest.mark.slow
@pytest.mark.parametrize("arch", [*MAPPINGS, "gfx90a", "gfx1030"])
@pytest.mark.parametrize("first", range(lock_random.MORE + 6, lock_random.MORE + 6 + MORE, MODULE))
def test_many_random_programs_with_exits_and_calls(first: int, arch: str) -> None:
    sweep(first, MODULE, arch)


def test_the_machine_gives_the_same_in_any_order() -> None:
    for seed in range(24):
        program = generate(seed, more=bool(seed % 2))
        ends = [lock_machine.run(program, order) for order in range(2)]
        assert ends[0].errors == ends[1].errors == 0
        assert ends[0].acc == ends[1].acc
        words = [{name: word for name, word in end.words.items() if name[-1] != "owner" and word} for end in ends]
        assert words[0] == words[1]
