"""Advice on managed memory and prefetches are kept, page by page, and told for ranges on which they hold throughout:
random ones against a model of single pages.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from ptx2amd import hip
from tests.vgpu.hip_gpu import opened

PAGE = 4096
HOST, NOWHERE = -1, -2
READ_MOSTLY, PREFERRED, ACCESSED_BY, PREFETCHED = 1, 2, 3, 4  # hipMemRangeAttribute...


class Page:
    """What is known of one page."""

    def __init__(self) -> None:
        self.read_mostly, self.preferred, self.prefetched = 0, NOWHERE, NOWHERE
        self.accessed_by: set[int] = set()

    def take(self, advice: int, device: int) -> None:
        if advice in (1, 2):
            self.read_mostly = int(advice == 1)
        elif advice in (3, 4):
            self.preferred = device if advice == 3 else NOWHERE
        elif advice == 5:
            self.accessed_by.add(device)
        else:
            self.accessed_by.discard(device)


def expected(pages: list[Page]) -> list[list[int]]:
    one = [{page.read_mostly for page in pages}, {p.preferred for p in pages}, {p.prefetched for p in pages}]
    everyone = set.intersection(*(page.accessed_by for page in pages))
    listed = [device for device in (0, HOST) if device in everyone]  # devices first
    alike = [found.pop() if len(found) == 1 else NOWHERE for found in one[1:]]
    return [[int(one[0] == {1})], [alike[0]], (listed + [NOWHERE] * 3)[:3], [alike[1]]]


@pytest.fixture
def gpu() -> Iterator[hip.Gpu]:
    yield from opened("gfx942")


def managed(gpu: hip.Gpu, size: int) -> Any:
    pointer = gpu.library.ffi.new("void **")
    gpu.library.hipMallocManaged(pointer, size, 1)
    return gpu.library.ffi.cast("char *", pointer[0])


def told(gpu: hip.Gpu, at: Any, count: int) -> list[list[int]]:
    found = []
    for attribute in (READ_MOSTLY, PREFERRED, ACCESSED_BY, PREFETCHED):
        room = gpu.library.ffi.new("int[]", 3 if attribute == ACCESSED_BY else 1)
        gpu.library.hipMemRangeGetAttribute(room, 4 * len(room), attribute, at, count)
        found.append(list(room))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_ranges(gpu: hip.Gpu, seed: int) -> None:
    draw = random.Random(seed)
    sizes = [12 * PAGE - 100, 5 * PAGE]
    blocks = [managed(gpu, size) for size in sizes]
    pages = [[Page() for _ in range(-(-size // PAGE))] for size in sizes]
    for _ in range(300):
        which = draw.randrange(2)
        size, at, known = sizes[which], blocks[which], pages[which]
        first = draw.randrange(size)
        count = draw.randint(1, size - first)
        touched = known[first // PAGE : (first + count - 1) // PAGE + 1]
        device = draw.choice((0, HOST))
        if draw.random() < 0.2:
            gpu.library.hipMemPrefetchAsync(at + first, count, device, gpu.library.ffi.NULL)
            for page in touched:
                page.prefetched = device
        else:
            advice = draw.randint(1, 6)
            gpu.library.hipMemAdvise(at + first, count, advice, device)
            for page in touched:
                page.take(advice, device)
        first = draw.randrange(size)
        count = draw.randint(1, min(size - first, draw.choice((1, PAGE, size))))
        assert told(gpu, at + first, count) == expected(known[first // PAGE : (first + count - 1) // PAGE + 1])
        if draw.random() < 0.03:  # memory that comes in its place is another's
            gpu.library.hipFree(at)
            blocks[which], pages[which] = managed(gpu, size), [Page() for _ in known]
            assert told(gpu, blocks[which], size) == expected(pages[which])


def test_small_allocations_do_not_share_advice(gpu: hip.Gpu) -> None:
    blocks = [managed(gpu, 64) for _ in range(40)]
    for number, block in enumerate(blocks):
        gpu.library.hipMemAdvise(block, 64, 1 if number % 2 else 2, 0)
    assert [told(gpu, block, 64)[0][0] for block in blocks] == [number % 2 for number in range(40)]
