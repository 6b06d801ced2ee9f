"""The fatbin container: what nvcc puts into executables to hold PTX and machine code.

A fatbin is a 16-byte header and entries back to back; each entry has a header of variable size and a
payload, stored plain, as one zstd frame or as a raw LZ4 block. Cubins are ELF files of machine 190.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import lz4.block
import zstandard

from ptx2amd.errors import Ptx2amdError

FATBIN_MAGIC = 0xBA55ED50
ENTRY_KINDS = {1: "ptx", 2: "cubin"}
FLAG_LZ4, FLAG_ZSTD = 0x2000, 0x8000
FLAG_ARCH_SPECIFIC, FLAG_FAMILY_SPECIFIC = 0x100000, 0x200000
MAX_IMAGE = 1 << 30  # bytes; larger sizes in a header are taken for corruption


class ContainerError(Ptx2amdError):
    """A container that is truncated or not what it says."""


@dataclass(frozen=True, slots=True)
class Image:
    """One PTX text or cubin, as stored.

    sm: 80 for sm_80; suffix: "a" (arch-specific), "f" (family-specific) or "".
    version: PTX ISA version for PTX. stored: the bytes as they lie in the container. size: bytes after
    decompression. origin: where it was found, for messages.
    """

    kind: str
    sm: int
    suffix: str
    version: tuple[int, int]
    encoding: str  # none, zstd, lz4
    stored: bytes
    size: int
    origin: str

    @property
    def target(self) -> str:
        return f"sm_{self.sm}{self.suffix}"

    def data(self) -> bytes:
        """The decompressed bytes; PTX without its trailing NULs. Raises ContainerError."""
        data = decompress(self.stored, self.encoding, self.size, self.origin)
        return data.rstrip(b"\0") if self.kind == "ptx" else data

    def text(self) -> str:
        """The PTX as text; bytes that are no UTF-8 are replaced. Raises ContainerError."""
        return self.data().decode("utf-8", errors="replace")


def decompress(stored: bytes, encoding: str, size: int, origin: str) -> bytes:
    """Undo a container's compression; `size` is what the header promises. Raises ContainerError."""
    if encoding == "none":
        return stored
    if not 0 < size <= MAX_IMAGE:
        raise ContainerError(f"{origin}: uncompressed size of {size} bytes is not plausible: corrupt container")
    try:
        if encoding == "zstd":
            data = zstandard.ZstdDecompressor().decompress(stored, max_output_size=size)
        else:
            data = lz4.block.decompress(stored, uncompressed_size=size)
    except (zstandard.ZstdError, lz4.block.LZ4BlockError, ValueError) as error:
        raise ContainerError(f"{origin}: {encoding} data is corrupt: {error}") from None
    if len(data) != size:
        raise ContainerError(f"{origin}: {len(data)} bytes after decompression, the header says {size}")
    return data


def entries(blob: bytes, origin: str) -> Iterator[Image]:
    """The images of one fatbin that starts at blob[0]. Raises ContainerError where it is damaged."""
    if len(blob) < 16:
        raise ContainerError(f"{origin}: fatbin is cut off in its header")
    magic, _, header_size, payload = struct.unpack_from("<IHHQ", blob)
    if magic != FATBIN_MAGIC:
        raise ContainerError(f"{origin}: not a fatbin (magic {magic:#x})")
    end = header_size + payload
    if end > len(blob):
        raise ContainerError(f"{origin}: fatbin is cut off: {end} bytes promised, {len(blob)} there")
    yield from row(blob, header_size, end, origin)


def row(blob: bytes, at: int, end: int, origin: str) -> Iterator[Image]:
    """The images of the entries that lie back to back in blob[at:end]. Raises ContainerError."""
    number = 0
    while at < end:
        where = f"{origin}, entry {number}"
        if end - at < 64:
            raise ContainerError(f"{where}: cut off in its header")
        kind, _, size, padded, packed, _, minor, major, sm, _, _, flags, _, plain = struct.unpack_from(
            "<HHIQIIHHIIIQQQ", blob, at
        )
        if size < 64 or at + size + padded > end:
            raise ContainerError(f"{where}: header says {size} + {padded} bytes, {end - at} are left")
        encoding = "zstd" if flags & FLAG_ZSTD else "lz4" if flags & FLAG_LZ4 else "none"
        stored = blob[at + size : at + size + (packed if encoding != "none" and packed else padded)]
        suffix = "f" if flags & FLAG_FAMILY_SPECIFIC else "a" if flags & FLAG_ARCH_SPECIFIC else ""
        if kind in ENTRY_KINDS:
            yield Image(
                ENTRY_KINDS[kind], sm, suffix, (major, minor), encoding, stored, plain or len(stored), where
            )
        at += size + padded
        number += 1


def total_size(blob: bytes, at: int) -> int:
    """Bytes of the fatbin at `at`, header included, as its header says."""
    _, _, header_size, payload = struct.unpack_from("<IHHQ", blob, at)
    return header_size + payload
