"""Barriers and votes of the block, warp barriers, mbarrier objects: threads meet, and see the others' memory."""

from __future__ import annotations

import random
import struct

import barrier_programs
import pytest
from device import ARCHS, program

from ptx2amd.translate import translate

TEXT = barrier_programs.module()


@pytest.mark.parametrize("name", barrier_programs.PROGRAMS)
@pytest.mark.parametrize("arch", ARCHS)
def test_meeting(arch: str, name: str) -> None:
    for block in (1, 32, 33, 64, 96, 200, 256):
        seed = random.Random(block)
        words = [seed.randrange(1 << 32) for _ in range(block)]
        image = struct.pack(f"<{block}I", *words)
        _, out = program(TEXT, arch).run(name, block, [image, image])
        assert list(struct.unpack(f"<{block}I", out)) == barrier_programs.PROGRAMS[name][1](words), block


COUNTED = """.version 8.0
.target sm_80
.address_size 64
.entry whole() .reqntid 64, 2, 1 { bar.sync 0, 128; ret; }
.entry part() .reqntid 64, 2, 1 { bar.sync 1, 64; ret; }
.entry unknown() { bar.sync 1, 64; ret; }
.entry arrive() { bar.arrive 1, 64; ret; }
"""


@pytest.mark.parametrize("arch", ARCHS)
def test_barriers_for_a_part_of_the_block_are_refused(arch: str) -> None:
    [result] = translate(COUNTED, "counted.ptx", [arch])
    assert {name: kernel.ok for name, kernel in result.kernels.items()} == {
        "whole": True,
        "part": False,
        "unknown": False,
        "arrive": False,
    }
    assert "count" in result.kernels["part"].reason
