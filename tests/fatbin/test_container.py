"""Containers: every way nvcc stores PTX is read back to the same text, and damage is reported, not swallowed."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from ptx2amd.errors import Ptx2amdError
from ptx2amd.fatbin import ContainerError, files_below, images_of
from tests.fatbin.containers import PTX, entry, executable, fatbin


@pytest.mark.parametrize("header", [64, 72, 80, 104])
@pytest.mark.parametrize("encoding", ["none", "zstd", "lz4"])
def test_every_encoding_gives_the_same_text(encoding: str, header: int) -> None:
    [image] = images_of(fatbin(entry(PTX + b"\0", encoding=encoding, header=header)), "x")
    assert (image.kind, image.target, image.version, image.encoding) == ("ptx", "sm_80", (8, 0), encoding)
    assert image.data() == PTX


def test_entries_keep_order_kind_and_target() -> None:
    blob = fatbin(
        entry(b"\x7fELF" + bytes(60), kind=2, sm=75),
        entry(PTX, sm=90, flags=0x100011),
        entry(PTX, sm=100, flags=0x300011),
    )
    assert [(i.kind, i.target) for i in images_of(blob, "x")] == [
        ("cubin", "sm_75"),
        ("ptx", "sm_90a"),
        ("ptx", "sm_100f"),
    ]


def test_fatbins_back_to_back_with_padding() -> None:
    blob = fatbin(entry(PTX)) + bytes(24) + fatbin(entry(PTX, encoding="zstd"))
    assert [i.data() for i in images_of(blob, "x")] == [PTX, PTX]


@pytest.mark.parametrize(
    ("section", "flags", "count"), [(b".data", 3, 2), (b".rodata", 2, 2), (b".text", 6, 0), (b".debug", 0, 0)]
)
def test_fatbins_among_other_data(section: bytes, flags: int, count: int) -> None:
    """A program may give them to the driver itself, as cuFFT does."""
    cut_off = fatbin(entry(PTX))[:24]  # looks like one
    content = b"words\0" + fatbin(entry(PTX)) + bytes(3) + cut_off + fatbin(entry(PTX, encoding="lz4")) + cut_off
    found = list(images_of(executable(section, content, flags), "x"))
    assert [image.data() for image in found] == [PTX] * count
    assert len({image.fatbin for image in found}) == count


def test_plain_text_is_recognised_behind_comments_and_newlines() -> None:
    [image] = images_of(b"\n\n// generated\n/* by\n hand */ .version 7.5\n.target sm_90a\n\0\0", "x")
    assert (image.kind, image.target, image.version) == ("ptx", "sm_90a", (7, 5))


def test_other_files_hold_no_images() -> None:
    assert list(images_of(b"#!/bin/sh\necho .version\n", "x")) == []
    assert list(images_of(b"", "x")) == []


def test_every_truncation_is_an_error_of_ours() -> None:
    whole = fatbin(entry(b"\x7fELF" + bytes(60), kind=2), entry(PTX, encoding="zstd"))
    for size in range(4, len(whole)):
        with pytest.raises(ContainerError):
            for image in images_of(whole[:size], "x"):
                image.data()


@pytest.mark.parametrize("encoding", ["zstd", "lz4"])
def test_corrupt_bytes_never_raise_anything_else(encoding: str) -> None:
    whole = fatbin(entry(PTX * 5, encoding=encoding))
    reported = 0
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        try:
            for image in images_of(bytes(damaged), "x"):
                image.data()
        except Ptx2amdError:
            reported += 1
    assert reported >= 30  # LZ4 and PTX have no checksum: damage inside the text shows up in the parser


@pytest.mark.parametrize(
    ("blob", "message"),
    [
        (struct.pack("<IHHQ", 0xBA55ED50, 1, 0, 0) + bytes(64), "at 0x0: the fatbin's header says that it has 0"),
        (fatbin(entry(PTX)) + bytes(8) + struct.pack("<IHHQ", 0xBA55ED50, 1, 3, 5), r"at 0xb0: the fatbin's"),
        (b"!<arch>\n" + b"negative.o".ljust(48) + b"-60".ljust(60), "at 0x8: the archive member's size is no number"),
        (b"!<arch>\n" + b"long.o".ljust(48) + b"9999".ljust(60), "at 0x44: archive member of 9999"),
        (b"\x7fELF\x01\x01" + bytes(100), "not a 64-bit little-endian ELF file"),
        (b"\x7fELF\x02\x01" + bytes(52) + struct.pack("<HHH", 64, 3, 9), "section table that cannot be"),
    ],
)
def test_damage_is_named_with_its_place(blob: bytes, message: str) -> None:
    """Each of these was an endless loop or a traceback: sizes of 0 and below it, and ELF files of other kinds."""
    with pytest.raises(ContainerError, match=message):
        list(images_of(blob, "x"))


def test_a_frame_that_holds_more_than_the_header_says_is_refused_before_it_is_unpacked() -> None:
    blob = bytearray(fatbin(entry(PTX + bytes(1 << 20), encoding="zstd")))
    blob[16 + 56 : 16 + 64] = struct.pack("<Q", 100)
    [image] = images_of(bytes(blob), "x")
    with pytest.raises(ContainerError, match="more than the 100 bytes"):
        image.data()


def test_the_files_below_a_folder_that_can_hold_cuda_code(tmp_path: Path) -> None:
    names = ("bin/blender-4.2", "lib/libtorch.so.2.9", "lib/module.abi3.so", "k.ptx", "k.cubin", "data.fatbin", "blob")
    elf = b"\x7fELF\x02\x01"
    starts = {"bin": elf, "lib": elf, "blob": b"\x50\xed\x55\xba", "32-bit": b"\x7fELF\x01\x01"}
    for name in (*names, "notes.txt", "empty", "32-bit"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(starts.get(name.split("/")[0], b""))
    (tmp_path / "lib" / "libtorch.so").symlink_to("libtorch.so.2.9")
    assert sorted(str(path.relative_to(tmp_path)) for path in files_below(tmp_path)) == sorted(names)
