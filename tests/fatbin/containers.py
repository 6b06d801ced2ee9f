"""Containers made by hand: fatbins, archives and ELF files, for tests."""

from __future__ import annotations

import struct

import cramjam

PTX = b"\n\n.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


def entry(
    payload: bytes, kind: int = 1, encoding: str = "none", sm: int = 80, header: int = 72, flags: int = 0x11
) -> bytes:
    packed = {
        "none": lambda b: b,
        "zstd": lambda b: bytes(cramjam.zstd.compress(b)),
        "lz4": lambda b: bytes(cramjam.lz4.compress_block(b, store_size=False)),
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


def archive(*members: tuple[bytes, bytes]) -> bytes:
    """A Unix archive of (name, content)."""
    blob = b"!<arch>\n"
    for name, content in members:
        blob += name.ljust(48) + str(len(content)).encode().ljust(10) + b"`\n" + content + b"\n" * (len(content) % 2)
    return blob


def executable(section: bytes, content: bytes, flags: int = 2) -> bytes:
    """An ELF file with one section of content. flags: 2 is data that is loaded, 6 code."""
    names = b"\0" + section + b"\0.shstrtab\0"
    at = 64 + len(content) + len(names)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, 3, 2)
    table = bytes(64)
    table += struct.pack("<IIQQQQIIQQ", 1, 1, flags, 0, 64, len(content), 0, 0, 8, 0)
    table += struct.pack("<IIQQQQIIQQ", len(section) + 2, 3, 0, 0, 64 + len(content), len(names), 0, 0, 1, 0)
    return header + content + names + table
