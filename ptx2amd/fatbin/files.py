"""Find the CUDA images in a file: PTX text, fatbins, cubins, executables, shared objects, archives."""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from ptx2amd import environment
from ptx2amd.binary import Blob, ContainerError, Elf
from ptx2amd.binary.elf import SHF_ALLOC, SHF_EXEC, SHT_PROGBITS
from ptx2amd.fatbin.container import FATBIN_MAGIC, Image, entries, total_size
from ptx2amd.records import replace

EM_CUDA = 190
FATBIN_SECTION, RELOCATABLE_SECTION = ".nv_fatbin", "__nv_relfatbin"
MAGIC_BYTES = struct.pack("<I", FATBIN_MAGIC)
FATBIN_START = MAGIC_BYTES + struct.pack("<HH", 1, 16)  # version, size of the header
ELF64 = b"\x7fELF\x02\x01"
ARCHIVE = b"!<arch>\n"
MEMBER = struct.Struct("16s32s10s2s")  # name, owner and date, size, end mark
MAX_ARCHIVES = 8  # in each other
SUFFIXES = (".ptx", ".cubin", ".fatbin")


def files_below(folder: Path) -> Iterator[Path]:
    """The files below a folder that can hold CUDA code by their first bytes (64-bit ELF, fatbin) or their suffix.
    Links and files that this user cannot read are left out."""
    for path in environment.files(folder):
        if path.is_symlink() or not path.is_file():
            continue
        try:
            with path.open("rb") as file:
                head = file.read(6)
        except OSError:
            continue
        if head == ELF64 or head.startswith(MAGIC_BYTES) or path.suffix in SUFFIXES:
            yield path


def images(path: str | Path) -> list[Image]:
    """All CUDA images of a file, in file order; an empty list when there are none.

    Raises ContainerError for damaged containers, OSError when the file can't be read.
    """
    return list(images_of(Path(path).read_bytes(), str(path)))


def mapped_images(path: Path) -> Iterator[Image]:
    """The CUDA images of a file, of which only the needed parts are read; none of an empty file. Raises as `images`."""
    with path.open("rb") as file:
        if path.stat().st_size:
            content = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            yield from _images(Blob(content, str(path)))  # type: ignore[arg-type]


def images_of(content: bytes, origin: str) -> Iterator[Image]:
    """The CUDA images of a file's content, told apart by the content alone. Raises ContainerError."""
    yield from _images(Blob(content, origin))


def _images(blob: Blob, depth: int = 0) -> Iterator[Image]:
    head = blob.read(0, min(len(blob), 8))
    if head[:4] == MAGIC_BYTES:
        yield from fatbins(blob)
    elif head[:4] == b"\x7fELF":
        yield from elf_images(blob)
    elif head == ARCHIVE:
        if depth == MAX_ARCHIVES:
            raise blob.error(0, "archives in archives are nested too deeply")
        for member in archive_members(blob):
            yield from _images(member, depth + 1)
    elif looks_like_ptx(blob):
        yield ptx_image(blob.read(), blob.origin)


def looks_like_ptx(blob: Blob) -> bool:
    """Whether bytes are PTX text: after blanks and comments comes a directive."""
    head = blob.read(0, min(len(blob), 65536)).lstrip(b"\0 \t\r\n")
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


def fatbins(blob: Blob) -> Iterator[Image]:
    """The images of fatbins that lie back to back with padding between, as in `.nv_fatbin`."""
    at = blob.find(MAGIC_BYTES)
    while at >= 0:
        rest = blob.part(at, len(blob) - at, "fatbin", f"{blob.origin}+{at:#x}" if at else blob.origin)
        yield from entries(rest)
        at = blob.find(MAGIC_BYTES, at + total_size(rest))


def elf_images(blob: Blob) -> Iterator[Image]:
    """The images of an ELF file's fatbin sections and of fatbins among its data, or the file itself when it is a
    cubin."""
    elf = Elf(blob)
    if elf.machine == EM_CUDA:
        new_layout = elf.ident[7] == 65
        sm = elf.flags >> 8 & 0xFF if new_layout else elf.flags & 0xFF
        yield Image("cubin", sm, "", (0, 0), "none", blob.read(), len(blob), blob.origin)
        return
    for section in elf.sections:
        if section.name in (FATBIN_SECTION, RELOCATABLE_SECTION):
            part = section.content
            part.origin = f"{blob.origin}: {section.name}"
            relocatable = blob.origin if section.name == RELOCATABLE_SECTION else ""
            for image in fatbins(part):
                yield replace(image, relocatable=relocatable)
        elif section.type == SHT_PROGBITS and section.flags & (SHF_ALLOC | SHF_EXEC) == SHF_ALLOC:
            part = section.content
            part.origin = f"{blob.origin}: {section.name}"
            yield from embedded(part)


def embedded(blob: Blob) -> Iterator[Image]:
    """The images of fatbins among other data, which a program gives to the driver itself, as cuFFT does with its
    kernels. Bytes that look like a fatbin's header and are none are left out."""
    at = blob.find(FATBIN_START)
    while at >= 0:
        rest = blob.part(at, len(blob) - at, "fatbin", f"{blob.origin}+{at:#x}")
        try:
            found, size = list(entries(rest)), total_size(rest)
        except ContainerError:
            found, size = [], len(FATBIN_START)
        yield from found
        at = blob.find(FATBIN_START, at + size)


def archive_members(blob: Blob) -> Iterator[Blob]:
    """The members of a Unix archive; their origin has the archive's name and theirs."""
    at = len(ARCHIVE)
    long_names = blob.part(0, 0, "names")
    while at + MEMBER.size <= len(blob):
        label, _, length, _ = blob.unpack(MEMBER, at, "archive member header")
        name = label.decode(errors="replace").rstrip()
        if not length.rstrip().isdigit():
            raise blob.error(at, f"the archive member's size is no number: {length!r}")
        size = int(length)
        content = blob.part(at + MEMBER.size, size, "archive member")
        if name == "//":
            long_names = content
        elif name not in ("/", "/SYM64/"):
            if name[0] == "/" and name[1:].isdigit():
                name = long_names.read(int(name[1:]), None, "member's name").split(b"/")[0].decode(errors="replace")
            content.origin = f"{blob.origin}({name.rstrip('/')})"
            yield content
        at += MEMBER.size + size + size % 2
