"""Containers: every way nvcc stores PTX is read back to the same text, and damage is reported, not swallowed."""

from __future__ import annotations

import struct

import lz4.block
import pytest
import zstandard

from ptx2amd.errors import Ptx2amdError
from ptx2amd.fatbin import ContainerError, images_of

PTX = b"\n\n.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


def entry(
    payload: bytes, kind: int = 1, encoding: str = "none", sm: int = 80, header: int = 72, flags: int = 0x11
) -> bytes:
    packed = {
        "none": lambda b: b,
        "zstd": zstandard.compress,
        "lz4": lambda b: lz4.block.compress(b, store_size=False),
    }[encoding](payload)
    padded = -(-len(packed) // 8) * 8
    flags |= {"none": 0, "zstd": 0x8000, "lz4": 0x2000}[encoding]
    compressed = encoding != "none"
    head = struct.pack(
        "<HHIQIIHHIIIQQQ",
        kind,
        0x101,
        header,
        padded,
        len(packed) if compressed else 0,
        0,
        0,
        8,
        sm,
        0,
        0,
        flags,
        0,
        len(payload) if compressed else 0,
    )
    return head + bytes(header - len(head)) + packed + bytes(padded - len(packed))


def fatbin(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


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
