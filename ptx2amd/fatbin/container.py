"""The fatbin container: what nvcc puts into executables to hold PTX and machine code.

A fatbin is a 16-byte header and entries back to back; each entry has a header of variable size and a
payload, stored plain, as one zstd frame or as a raw LZ4 block. Cubins are ELF files of machine 190.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from ptx2amd.binary import Blob, ContainerError
from ptx2amd.records import dataclass

FATBIN_MAGIC = 0xBA55ED50
ENTRY_KINDS = {1: "ptx", 2: "cubin"}
FLAG_LZ4, FLAG_ZSTD = 0x2000, 0x8000
FLAGS = {"none": 0, "lz4": FLAG_LZ4, "zstd": FLAG_ZSTD}
LINKED = "linked"  # the encoding of an image whose bytes are a row of entries, to be linked
FLAG_ARCH_SPECIFIC, FLAG_FAMILY_SPECIFIC = 0x100000, 0x200000
MAX_IMAGE = 1 << 30  # bytes; larger sizes in a header are taken for corruption
HEADER = struct.Struct("<IHHQ")  # magic, version, size of this header, payload
ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")


@dataclass(frozen=True, slots=True)
class Image:
    """One PTX text or cubin, as stored.

    sm: 80 for sm_80; suffix: "a" (arch-specific), "f" (family-specific) or "".
    version: PTX ISA version for PTX. stored: the bytes as they lie in the container. size: bytes after
    decompression. origin: where it was found, for messages. fatbin: the same without the entry's number.
    relocatable: the file whose separately compiled code (nvcc -rdc=true) it is a part of, or "".
    """

    kind: str
    sm: int
    suffix: str
    version: tuple[int, int]
    encoding: str  # none, zstd, lz4, linked
    stored: bytes
    size: int
    origin: str
    relocatable: str = ""

    @property
    def target(self) -> str:
        return f"sm_{self.sm}{self.suffix}"

    @property
    def fatbin(self) -> str:
        return self.origin.rsplit(", entry", 1)[0]

    def data(self) -> bytes:
        """The decompressed bytes; PTX without its trailing NULs. Raises ContainerError."""
        data = decompress(self.stored, self.encoding, self.size, self.origin)
        return data.rstrip(b"\0") if self.kind == "ptx" else data


def decompress(stored: bytes, encoding: str, size: int, origin: str) -> bytes:
    """Undo a container's compression; `size` is what the header promises. Raises ContainerError."""
    if encoding == "none":
        return stored
    if not 0 < size <= MAX_IMAGE:
        raise ContainerError(f"{origin}: uncompressed size of {size} bytes is not plausible: corrupt container")
    from ptx2amd.binary import compression

    try:
        data = (compression.zstd if encoding == "zstd" else compression.lz4)(stored, size)
    except (compression.CompressionError, ValueError) as error:
        raise ContainerError(f"{origin}: {encoding} data is corrupt: {error}") from None
    if len(data) != size:
        raise ContainerError(f"{origin}: {len(data)} bytes after decompression, the header says {size}")
    return data


def entries(blob: Blob) -> Iterator[Image]:
    """The images of one fatbin that starts at blob[0]. Raises ContainerError where it is damaged."""
    header, payload = _header(blob)
    yield from row(blob.part(header, payload, "fatbin"))


def _header(blob: Blob) -> tuple[int, int]:
    """The sizes of a fatbin's header and of what follows it, in bytes."""
    magic, _, size, payload = blob.unpack(HEADER, 0, "fatbin header")
    if magic != FATBIN_MAGIC:
        raise blob.error(0, f"not a fatbin (magic {magic:#x})")
    if size < HEADER.size:
        raise blob.error(0, f"the fatbin's header says that it has {size} bytes; it has at least {HEADER.size}")
    return size, payload


def row(blob: Blob) -> Iterator[Image]:
    """The images of the entries that fill `blob` back to back. Raises ContainerError."""
    number = at = 0
    while at < len(blob):
        kind, _, size, padded, packed, _, minor, major, sm, _, _, flags, _, plain = blob.unpack(
            ENTRY, at, f"header of entry {number}"
        )
        if size < ENTRY.size:
            raise blob.error(at, f"the header of entry {number} says that it has {size} bytes")
        encoding = "zstd" if flags & FLAG_ZSTD else "lz4" if flags & FLAG_LZ4 else "none"
        payload = blob.part(at + size, padded, f"entry {number}")
        if kind in ENTRY_KINDS:
            stored = payload.read(0, packed if encoding != "none" and packed else padded, "compressed data")
            suffix = "f" if flags & FLAG_FAMILY_SPECIFIC else "a" if flags & FLAG_ARCH_SPECIFIC else ""
            origin = f"{blob.origin}, entry {number}"
            yield Image(ENTRY_KINDS[kind], sm, suffix, (major, minor), encoding, stored, plain or len(stored), origin)
        at += size + padded
        number += 1


def preferred(images: Iterable[Image], capability: int) -> Image:
    """Of the PTX of one fatbin, what a driver takes on a GPU of a compute capability (80 for 8.0): the highest target
    up to it, else the lowest above; plain targets before those for one architecture or family.

    shim/src/module/image.c has the same in rank_of."""

    def rank(image: Image) -> int:
        place = 10000 + image.sm if image.sm <= capability else 5000 - image.sm
        return place - 5000 if image.suffix else place

    return max(images, key=rank)


def stored_row(images: Iterable[Image]) -> bytes:
    """Entries for `row`, byte for byte as shim/src/module/linked.c writes them: their digest names cache entries."""
    result = b""
    for image in images:
        stored = image.stored if image.encoding != "none" else image.data()
        payload = stored + bytes(-len(stored) % 8)
        packed, full = (len(stored), image.size) if image.encoding != "none" else (0, 0)
        flags = FLAGS[image.encoding]
        result += ENTRY.pack(1, 0x101, ENTRY.size, len(payload), packed, 0, 0, 0, image.sm, 0, 0, flags, 0, full)
        result += payload
    return result


def total_size(blob: Blob) -> int:
    """Bytes of the fatbin at blob[0], header included, as its header says."""
    return sum(_header(blob))
