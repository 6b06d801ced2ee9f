"""Find the CUDA images in a file: PTX text, fatbins, cubins, executables, shared objects, archives."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from ptx2amd.fatbin.container import FATBIN_MAGIC, ContainerError, Image, entries, total_size

EM_CUDA = 190
FATBIN_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
MAGIC_BYTES = struct.pack("<I", FATBIN_MAGIC)


def images(path: str | Path) -> list[Image]:
    """All CUDA images of a file, in file order; an empty list when there are none.

    Raises ContainerError for damaged containers, OSError when the file can't be read.
    """
    return list(images_of(Path(path).read_bytes(), str(path)))


def images_of(blob: bytes, origin: str) -> Iterator[Image]:
    """The CUDA images of a file's content, told apart by the content alone."""
    if blob[:4] == MAGIC_BYTES:
        yield from fatbins(blob, origin)
    elif blob[:4] == b"\x7fELF":
        yield from elf_images(blob, origin)
    elif blob[:8] == b"!<arch>\n":
        for name, member in archive_members(blob, origin):
            yield from images_of(member, f"{origin}({name})")
    elif looks_like_ptx(blob):
        yield ptx_image(blob, origin)


def looks_like_ptx(blob: bytes) -> bool:
    """Whether bytes are PTX text: after blanks and comments comes a directive."""
    head = blob[:65536].lstrip(b"\0 \t\r\n")
    head = re.sub(rb"\A(?:\s+|//[^\n]*\n|/\*.*?\*/)+", b"", head, flags=re.S)
    return head.startswith(b".version") or head.startswith(b".target")


def ptx_image(blob: bytes, origin: str) -> Image:
    """PTX text as an Image; version and target are read from its directives (0 when not there)."""
    text = blob.rstrip(b"\0")
    version = re.search(rb"\.version\s+(\d+)\.(\d+)", text)
    target = re.search(rb"\.target\s+sm_(\d+)([af]?)", text)
    return Image(
        "ptx",
        int(target[1]) if target else 0,
        target[2].decode() if target else "",
        (int(version[1]), int(version[2])) if version else (0, 0),
        "none",
        text,
        len(text),
        origin,
    )


def fatbins(blob: bytes, origin: str) -> Iterator[Image]:
    """The images of fatbins that lie back to back with padding between, as in `.nv_fatbin`."""
    at = blob.find(MAGIC_BYTES)
    while at >= 0:
        yield from entries(blob[at:], f"{origin}+{at:#x}" if at else origin)
        at = blob.find(MAGIC_BYTES, at + total_size(blob, at))


def elf_images(blob: bytes, origin: str) -> Iterator[Image]:
    """The images of an ELF file's fatbin sections, or the file itself when it is a cubin."""
    if len(blob) < 64 or blob[4] != 2:
        raise ContainerError(f"{origin}: not a 64-bit ELF file")
    (machine,) = struct.unpack_from("<H", blob, 18)
    if machine == EM_CUDA:
        (flags,) = struct.unpack_from("<I", blob, 48)
        new_layout = blob[7] == 65
        sm = flags >> 8 & 0xFF if new_layout else flags & 0xFF
        yield Image("cubin", sm, "", (0, 0), "none", blob, len(blob), origin)
        return
    for name, at, size in sections(blob, origin):
        if name in FATBIN_SECTIONS:
            yield from fatbins(blob[at : at + size], f"{origin}: {name}")


def sections(blob: bytes, origin: str) -> list[tuple[str, int, int]]:
    """(name, file offset, size) of the sections with content. Raises ContainerError when cut off."""
    (table,) = struct.unpack_from("<Q", blob, 40)
    size, count, names_index = struct.unpack_from("<HHH", blob, 58)
    if count == 0:
        return []
    if size != 64 or table + size * count > len(blob) or names_index >= count:
        raise ContainerError(f"{origin}: ELF section table is damaged or cut off")
    headers = [struct.unpack_from("<IIQQQQ", blob, table + size * k) for k in range(count)]
    names_at = headers[names_index][4]
    result = []
    for name, kind, _, _, at, length in headers:
        if kind in (0, 8):  # SHT_NULL, SHT_NOBITS
            continue
        start = names_at + name
        end = blob.find(b"\0", start)
        result.append((blob[start:end].decode(errors="replace"), at, length))
    return result


def archive_members(blob: bytes, origin: str) -> Iterator[tuple[str, bytes]]:
    """(name, content) of a Unix archive's members."""
    at, long_names = 8, b""
    while at + 60 <= len(blob):
        name = blob[at : at + 16].decode(errors="replace").rstrip()
        try:
            size = int(blob[at + 48 : at + 58])
        except ValueError:
            raise ContainerError(f"{origin}: archive member header at {at:#x} is damaged") from None
        content = blob[at + 60 : at + 60 + size]
        if name == "//":
            long_names = content
        elif name not in ("/", "/SYM64/"):
            if name.startswith("/") and name[1:].isdigit():
                start = int(name[1:])
                name = long_names[start : long_names.find(b"/", start)].decode(errors="replace")
            yield name.rstrip("/"), content
        at += 60 + size + size % 2
