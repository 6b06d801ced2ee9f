"""Shuffles, votes, match, redux, elect and activemask do what PTX says: in both warp mappings, under
divergence, with partial member masks, in blocks that are no multiple of a warp."""

from __future__ import annotations

import struct

import pytest
import warp_programs
from device import MAPPINGS, chunks, program

BATCHES = chunks(warp_programs.cases(), 64)
TEXT = warp_programs.HEAD + "".join(warp_programs.kernel(f"k{i}", batch) for i, batch in enumerate(BATCHES))
GRID = 2


@pytest.mark.parametrize("block", [32, 33, 64, 96])
@pytest.mark.parametrize("arch", MAPPINGS)
def test_results(arch: str, block: int) -> None:
    data = warp_programs.inputs(block)
    image = b"".join(struct.pack(f"<{warp_programs.WORDS}I", *words) for words in data)
    for i, batch in enumerate(BATCHES):
        _, out = program(TEXT, arch).run(f"k{i}", block, [image, 8 * block * len(batch) * GRID], grid=GRID)
        for b in range(GRID):
            for j, case in enumerate(batch):
                first = 8 * block * (j + len(batch) * b)
                found = list(struct.iter_unpack("<2I", out[first : first + 8 * block]))
                for t, (want, got) in enumerate(zip(warp_programs.expected(case, data), found, strict=True)):
                    same = all(w is None or w == g for w, g in zip(want, got, strict=True))
                    assert same, (
                        f"{case.ptx} ({case.region}, {case.mask} mask): thread {t} has {got}, not {want}"
                    )


def test_the_reference_leaves_little_undefined() -> None:
    """Shuffles from inactive lanes are undefined; the comparison must not become empty by that."""
    words = [
        word
        for batch in BATCHES
        for case in batch
        for pair in warp_programs.expected(case, warp_programs.inputs(64))
        for word in pair
    ]
    assert words.count(None) < len(words) / 20
