"""Damaged containers: fatbins, archives, ELF files and notes that were mutated end in an error that names file and
offset, and never in a traceback, an endless loop or more memory than the file is worth."""

from __future__ import annotations

import random
import resource
import signal
from pathlib import Path

import pytest

from ptx2amd.binary import ContainerError, Elf
from ptx2amd.codegen.link import sidecar_of
from ptx2amd.fatbin import images_of
from ptx2amd.modules import linked_images
from tests.fuzz.container_mutants import mutants, seeds

SECONDS = 5  # of CPU time, that one file may take


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

    before = signal.signal(signal.SIGPROF, late)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 30), limits[1]))  # a header may ask for 1 GiB
    damaged = 0
    try:
        generator = random.Random(first)
        for number, blob in zip(range(count), mutants(generator), strict=False):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                damaged += _read(blob)
            except BaseException as error:
                raise AssertionError(f"mutant {number} of seed {first}, {blob[:32].hex()} ...") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
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
