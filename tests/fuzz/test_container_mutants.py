"""Damaged containers: fatbins, archives, ELF files and notes that were mutated end in an error that names file and
offset, and never in a traceback, an endless loop or more memory than the file is worth."""

from __future__ import annotations

import random
import resource
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from ptx2amd.binary import ContainerError, Elf, note_object
from ptx2amd.codegen.link import sidecar_of
from ptx2amd.fatbin import images_of
from ptx2amd.modules import linked_images
from ptx2amd.translate import translate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fatbin"))
from containers import PTX, archive, entry, executable, fatbin

SECONDS = 5  # that one file may take
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


def _read(blob: bytes) -> bool:
    """All that `inspect` reads of a file before it parses PTX. Whether it was found to be damaged."""
    try:
        if blob[:4] == b"\x7fELF":
            sidecar_of(blob, "mutant")
            Elf(blob).metadata()
        for image in linked_images(images_of(blob, "mutant")):
            if image.encoding != "linked":
                image.data()
    except ContainerError as error:
        assert str(error).startswith(("mutant", "code object"))
        return True
    return False


def _run(first: int, count: int) -> int:
    """Read `count` mutants under limits of time and memory; how many were found to be damaged."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 30), limits[1]))  # a header may ask for 1 GiB
    damaged = 0
    try:
        generator = random.Random(first)
        for number, blob in zip(range(count), mutants(generator), strict=False):
            signal.alarm(SECONDS)
            try:
                damaged += _read(blob)
            except BaseException as error:
                raise AssertionError(f"mutant {number} of seed {first}, {blob[:32].hex()} ...") from error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, limits)
    return damaged


def test_a_few_damaged_files() -> None:
    assert 500 < _run(1, 2000) < 2000


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 120))
def test_many_damaged_files(first: int) -> None:
    assert 2500 < _run(first, 10_000) < 10_000


def test_seeds_are_sound() -> None:
    for blob in seeds():
        assert not _read(blob)
