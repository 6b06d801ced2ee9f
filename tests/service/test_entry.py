"""Cache entries: what is written is read back, damage is found, keys depend on everything they should."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx2amd.service import cache, entry
from ptx2amd.service.entry import Entry, EntryError

SAMPLE = Entry("kernel k\narch gfx942\n", b"\x7fELF payload")


def test_round_trip(tmp_path: Path) -> None:
    path = cache.path_of(tmp_path, "ab" * 32)
    entry.write(path, SAMPLE.pack())
    assert Entry.unpack(path.read_bytes(), "x") == SAMPLE
    assert list(path.parent.iterdir()) == [path]


def test_every_flipped_byte_is_found() -> None:
    blob = SAMPLE.pack()
    for at in range(len(blob)):
        if 12 <= at < 16:  # reserved
            continue
        damaged = bytearray(blob)
        damaged[at] ^= 1
        with pytest.raises(EntryError):
            Entry.unpack(bytes(damaged), "x")


def test_every_truncation_is_found() -> None:
    blob = SAMPLE.pack()
    for size in range(len(blob)):
        with pytest.raises(EntryError):
            Entry.unpack(blob[:size], "x")


def test_keys_depend_on_all_parts() -> None:
    base = ("m", "b", "gfx942", "", "k")
    keys = {entry.kernel_key(*base)}
    for position in range(len(base)):
        keys.add(entry.kernel_key(*(part + "x" if position == n else part for n, part in enumerate(base))))
    assert len(keys) == len(base) + 1


def test_trim_keeps_the_most_recent(tmp_path: Path) -> None:
    import os

    paths = [cache.path_of(tmp_path, f"{n:02x}" * 32) for n in range(4)]
    for age, path in enumerate(paths):
        entry.write(path, SAMPLE.pack())
        os.utime(path, (1000 - age, 1000 - age))
    size = len(SAMPLE.pack())
    assert cache.trim(tmp_path, 2 * size) == cache.Trimmed(freed=2 * size, left=2 * size)
    assert [path.exists() for path in paths] == [True, True, False, False]
