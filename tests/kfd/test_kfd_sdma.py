"""The copy engines' packets, with generated rectangles against numpy."""

from __future__ import annotations

import random
import struct
import subprocess
import sys

import numpy as np
import pytest

from tests import ROOT
from tests.kfd import software_kfd as kfd

SIZE = 1 << 20


def halves(address: int) -> tuple[int, int]:
    return address & 0xFFFFFFFF, address >> 32


def linear(target: int, source: int, size: int) -> bytes:
    return struct.pack("<7I", 1, size - 1, 0, *halves(source), *halves(target))


def fill(target: int, word: int, words: int) -> bytes:
    return struct.pack("<5I", 11 | 2 << 30, *halves(target), word, 4 * (words - 1))


def atomic_add(target: int, value: int) -> bytes:
    return struct.pack("<8I", 10 | 47 << 25, *halves(target), *halves(value & (1 << 64) - 1), 0, 0, 0)


def poll(address: int, value: int, function: int = 3) -> bytes:
    return struct.pack("<6I", 8 | function << 28 | 1 << 31, *halves(address), value, 0xFFFFFFFF, 0)


def fence(address: int, value: int) -> bytes:
    return struct.pack("<4I", 5, *halves(address), value)


def rectangle(
    chip: str, element: int, source: tuple[int, ...], target: tuple[int, ...], size: tuple[int, int, int]
) -> bytes:
    """source, target: address, x, y, z, pitch, slice, in elements of 1 << element bytes."""
    newer = chip.startswith("gfx12")
    x_bits, z_bits = (16, 16) if newer else (16, 13)
    sides = []
    for address, x, y, z, pitch, slice_ in (source, target):
        sides += [*halves(address), x | y << x_bits, z | (pitch - 1) << z_bits, slice_ - 1]
    return struct.pack("<13I", 1 | 4 << 8 | element << 29, *sides, size[0] - 1 | (size[1] - 1) << 16, size[2] - 1)


def test_linear_copies_and_fills() -> None:
    queue, a, b = kfd.Queue(kfd.SDMA), kfd.Memory(SIZE), kfd.Memory(SIZE)
    rng = random.Random(2)
    a.bytes[:] = np.frombuffer(rng.randbytes(SIZE), np.uint8)
    expected = b.bytes.copy()
    for _ in range(60):
        size, source, target = rng.randint(1, 4000), rng.randrange(SIZE - 4000), rng.randrange(SIZE - 4000)
        expected[target : target + size] = a.bytes[source : source + size]
        queue.send(linear(b.va + target, a.va + source, size))
        words, target, word = rng.randint(1, 999), 4 * rng.randrange(SIZE // 4 - 1000), rng.getrandbits(32)
        expected.view(np.uint32)[target // 4 : target // 4 + words] = word
        queue.send(fill(b.va + target, word, words))
        assert queue.drained()
        if (left := queue.size - int(queue.write[0]) % queue.size) < 64:  # nothing crosses the ring's end
            queue.send(struct.pack("<I", left // 4 - 1 << 16).ljust(left, b"\0"))
    assert np.array_equal(b.bytes, expected)
    queue.destroy()


RECTANGLES = """
import random, sys
import numpy as np
from tests.kfd import software_kfd as kfd
kfd.CHIP = sys.argv[1]
from tests.kfd.test_kfd_sdma import rectangle
queue, a, b = kfd.Queue(kfd.SDMA, 1 << 16), kfd.Memory(1 << 18), kfd.Memory(1 << 18)
rng = random.Random(3)
a.bytes[:] = np.frombuffer(rng.randbytes(a.size), np.uint8)
expected = b.bytes.copy()
for _ in range(100):
    element = rng.randint(0, 4)
    width, height, depth = rng.randint(1, 40), rng.randint(1, 9), rng.randint(1, 4)
    sides, indices = [], []
    for memory in (a, b):
        x, y, z = rng.randint(0, 8), rng.randint(0, 3), rng.randint(0, 1)
        pitch = x + width + rng.randint(0, 9)
        slice_ = pitch * (y + height + rng.randint(0, 3))
        sides.append((memory.va, x, y, z, pitch, slice_))
        i, j, k = np.ogrid[:depth, :height, :width]
        indices.append((z + i) * slice_ + (y + j) * pitch + x + k)
    kind = f"V{1 << element}"
    expected.view(kind)[indices[1]] = a.bytes.view(kind)[indices[0]]
    queue.send(rectangle(kfd.CHIP, element, *sides, (width, height, depth)))
assert queue.drained()
assert np.array_equal(b.bytes, expected)
"""


@pytest.mark.parametrize("chip", ["gfx942", "gfx1100", "gfx1201"])
def test_rectangles(chip: str) -> None:
    """GFX12 has a form of its own."""
    done = subprocess.run([sys.executable, "-c", RECTANGLES, chip], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_copy_waits_for_its_signal_and_tells_of_its_end() -> None:
    """The packets of a copy that depends on another one, as the runtime sends them."""
    queue, a, b = kfd.Queue(kfd.SDMA), kfd.Memory(4096), kfd.Memory(4096)
    event = kfd.event()
    before, after = kfd.Signal(1), kfd.Signal(1, event)
    a.bytes[:] = 7
    mailbox, start, end = after.memory.va + 512, after.memory.va + 32, after.memory.va + 40
    stamp = [struct.pack("<3I", 13 | 2 << 8, *halves(at)) for at in (start, end)]
    queue.send(poll(before.handle + 8, 0), stamp[0], linear(b.va, a.va, 4096), stamp[1])
    queue.send(atomic_add(after.handle + 8, -1), fence(mailbox, event), struct.pack("<2I", 6, event))
    assert not kfd.wait([event], milliseconds=50)[0]
    assert after.value == 1 and not b.bytes.any()
    before.words[1] = 0
    assert kfd.wait([event], milliseconds=20000)[0]
    assert after.value == 0 and b.bytes.all() and after.words[64] == event
    assert 0 < after.words[4] <= after.words[5]
    queue.destroy()


def test_a_queue_that_waits_for_ever_can_be_destroyed() -> None:
    queue, never = kfd.Queue(kfd.SDMA), kfd.Signal(1)
    queue.send(poll(never.handle + 8, 0))
    queue.destroy()
