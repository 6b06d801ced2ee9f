"""Containers of all kinds, sound ones and endless mutants of them."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from functools import cache

from ptx2amd.binary import Elf, note_object
from ptx2amd.translate import translate
from tests.fatbin.containers import PTX, archive, entry, executable, fatbin

EXTREMES = (0, 1, 63, 64, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 63, (1 << 64) - 60, (1 << 64) - 1)


@cache
def seeds() -> tuple[bytes, ...]:
    """Sound files of all kinds."""
    packed = fatbin(entry(PTX, encoding="zstd"), entry(PTX * 9, encoding="lz4", sm=90), entry(PTX, sm=75))
    [result] = translate(PTX.decode(), "seed.ptx", ["gfx942"])
    cubin = executable(b".text.k", bytes(40))[:18] + struct.pack("<H", 190) + executable(b".text.k", bytes(40))[20:]
    note = note_object(".note.other", "other", 7, b"text", Elf(result.code))
    return (
        packed,
        packed + bytes(24) + fatbin(entry(cubin, kind=2)),
        executable(b".nv_fatbin", packed),
        executable(b"__nv_relfatbin", packed + bytes(8) + packed),
        archive((b"a.o", executable(b".nv_fatbin", packed)), (b"//", b"a_long_name.o/\n"), (b"/0", packed)),
        archive((b"inner.a", archive((b"x.ptx", PTX)))),
        cubin,
        note,
        result.code,
        PTX,
    )


def mutants(generator: random.Random) -> Iterator[bytes]:
    """Endless: a seed with one to four bytes flipped, fields at extremes, cuts, or pieces of another."""
    changes: tuple[Callable[[bytearray, random.Random], None], ...] = (_flip, _field, _cut, _splice)
    while True:
        blob = bytearray(generator.choice(seeds()))
        for _ in range(generator.randint(1, 4)):
            generator.choice(changes)(blob, generator)
        yield bytes(blob)


def _place(blob: bytearray, generator: random.Random) -> int:
    """Anywhere, but every other time near a header."""
    end = len(blob) if generator.random() < 0.5 else min(len(blob), 200)
    return generator.randrange(max(end, 1))


def _flip(blob: bytearray, generator: random.Random) -> None:
    if blob:
        blob[_place(blob, generator)] ^= 1 << generator.randrange(8)


def _field(blob: bytearray, generator: random.Random) -> None:
    at, size = _place(blob, generator), generator.choice((1, 2, 4, 8))
    value = generator.choice(EXTREMES) & ((1 << 8 * size) - 1)
    blob[at : at + size] = value.to_bytes(size, "little")


def _cut(blob: bytearray, generator: random.Random) -> None:
    at = _place(blob, generator)
    del blob[at : at + generator.choice((1, 8, 64, len(blob)))]


def _splice(blob: bytearray, generator: random.Random) -> None:
    other = generator.choice(seeds())
    begin = generator.randrange(len(other))
    blob[_place(blob, generator) :] = other[begin : begin + generator.randrange(2000)]
