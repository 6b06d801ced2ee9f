"""Reading and writing the little of ELF that code objects and CUDA binaries need: sections, symbols, notes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from ptx2amd.binary.blob import Blob
from ptx2amd.binary.msgpack import pack, unpack
from ptx2amd.records import dataclass, replace

EM_AMDGPU = 224
SHT_NULL, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA = 0, 1, 2, 3, 4
SHT_DYNAMIC, SHT_NOTE, SHT_NOBITS = 6, 7, 8
DT_NEEDED, DT_RPATH, DT_RUNPATH = 1, 15, 29
SHF_WRITE, SHF_ALLOC, SHF_EXEC, SHF_EXCLUDE = 1, 2, 4, 0x80000000
NT_AMDGPU_METADATA = 32
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
_NOTE = struct.Struct("<III")
DYNAMIC = struct.Struct("<QQ")
RELA = struct.Struct("<QQq")


@dataclass(frozen=True, slots=True)
class Section:
    """A section header of a file. at, size: where the contents lie; size 0 for a section without any in the file.
    memory: its size where it is loaded; align: a power of two, or 0."""

    name: str
    type: int
    link: int
    file: Blob
    at: int
    size: int
    flags: int = 0
    info: int = 0
    memory: int = 0
    align: int = 0

    @property
    def content(self) -> Blob:
        """The contents, not copied. Raises ContainerError when they are cut off."""
        return self.file.part(self.at, self.size, f"section {self.name}")

    @property
    def data(self) -> bytes:
        """A copy of the contents."""
        return self.content.read()


class Elf:
    """A 64-bit little-endian ELF file. Raises ContainerError when it is none, or damaged.

    Contents are looked at when they are asked for. origin: the file's name in messages."""

    def __init__(self, blob: bytes | Blob, origin: str = "code object") -> None:
        self.blob = blob if isinstance(blob, Blob) else Blob(blob, origin)
        if len(self.blob) < HEADER.size or self.blob.read(0, 6) != b"\x7fELF\x02\x01":
            raise self.blob.error(0, "not a 64-bit little-endian ELF file")
        header = self.blob.unpack(HEADER, 0, "ELF header")
        self.ident, self.machine, self.flags = header[0], header[2], header[7]
        at, size, count, names = header[6], header[11], header[12], header[13]
        self.sections: list[Section] = []
        if not count:
            return
        if size != SECTION.size or names >= count:
            raise self.blob.error(0, "the ELF header describes a section table that cannot be")
        table = self.blob.part(at, size * count, "ELF section table")
        raw = [_section(self.blob, table.unpack(SECTION, i * size, "section header")) for i in range(count)]
        strings = raw[names][1].content
        self.sections = [replace(section, name=strings.string(name, "section name")) for name, section in raw]

    def symbols(self) -> Iterator[tuple[str, bool]]:
        """(name, whether the file defines it) of every symbol."""
        for section in self.sections:
            if section.type == SHT_SYMTAB:
                if section.link >= len(self.sections):
                    raise section.content.error(0, f"the symbol table names section {section.link}, which is not there")
                strings = self.sections[section.link].content
                for at in range(SYMBOL.size, len(section.content), SYMBOL.size):
                    name, _, _, index, _, _ = section.content.unpack(SYMBOL, at, "symbol")
                    yield strings.string(name, "symbol name"), index != 0

    def undefined(self) -> list[str]:
        """Names of symbols that the file uses and does not define."""
        return [name for name, defined in self.symbols() if not defined]

    def needed(self) -> list[str]:
        """Names of the libraries that the file wants to be loaded with it."""
        return list(self._dynamic(DT_NEEDED))

    def runpath(self) -> list[str]:
        """Folders in which the file wants them to be looked for."""
        return [folder for text in self._dynamic(DT_RPATH, DT_RUNPATH) for folder in text.split(":") if folder]

    def _dynamic(self, *tags: int) -> Iterator[str]:
        """Strings of the dynamic section."""
        for section in self.sections:
            if section.type == SHT_DYNAMIC and section.link < len(self.sections):
                strings = self.sections[section.link].content
                for at in range(0, len(section.content) - DYNAMIC.size + 1, DYNAMIC.size):
                    tag, value = section.content.unpack(DYNAMIC, at, "dynamic entry")
                    if tag in tags:
                        yield strings.string(value, "string of the dynamic section")

    def notes(self) -> Iterator[tuple[str, int, Blob]]:
        """(name, type, description) of every note."""
        for section in self.sections:
            if section.type == SHT_NOTE:
                at, notes = 0, section.content
                while at + _NOTE.size <= len(notes):
                    names, size, kind = notes.unpack(_NOTE, at, "note")
                    at += _NOTE.size
                    name = notes.read(at, names, "note name").rstrip(b"\0").decode(errors="replace")
                    at += -(-names // 4) * 4
                    yield name, kind, notes.part(at, size, "note")
                    at += -(-size // 4) * 4

    def metadata(self) -> dict[str, Any]:
        """The AMDGPU metadata note (kernels, registers, argument layout); {} when there is none."""
        for name, kind, blob in self.notes():
            if name == "AMDGPU" and kind == NT_AMDGPU_METADATA:
                value = unpack(blob)[0]
                if not isinstance(value, dict):
                    raise blob.error(0, "the AMDGPU metadata is no map")
                return value
        return {}


def _section(file: Blob, header: tuple[Any, ...]) -> tuple[int, Section]:
    """The place of a section's name in the table of names, and the section without it."""
    name, kind, flags, _, at, memory, link, info, align, _ = header
    size = memory
    if kind in (SHT_NULL, SHT_NOBITS):
        at = size = 0
    return name, Section("", kind, link, file, at, size, flags, info, memory, align)


def merged(files: list[Elf]) -> tuple[list[bytes], bytes]:
    """Relocatable files of kernels, to be linked into one: their bytes without their notes, which a linker would put
    side by side, and one file with the metadata of all, as HIP's loader reads it."""
    metadata = dict(files[0].metadata())
    metadata["amdhsa.kernels"] = [kernel for file in files for kernel in file.metadata().get("amdhsa.kernels", [])]
    note = note_object(".note", "AMDGPU", NT_AMDGPU_METADATA, pack(metadata), files[0], SHF_ALLOC)
    return [_without_notes(file) for file in files], note


def _without_notes(file: Elf) -> bytes:
    """The file with its notes marked as left out of links."""
    blob = bytearray(file.blob.read())
    table, size = HEADER.unpack_from(blob)[6], SECTION.size
    for number, section in enumerate(file.sections):
        if section.type == SHT_NOTE:
            at = table + number * size
            name, kind, flags, *rest = SECTION.unpack_from(blob, at)
            SECTION.pack_into(blob, at, name, kind, flags | SHF_EXCLUDE, *rest)
    return bytes(blob)


def note_object(section: str, name: str, kind: int, description: bytes, like: Elf, section_flags: int = 0) -> bytes:
    """A relocatable ELF file with one note section, of the same machine and flags as `like`, to link in."""
    owner = name.encode() + b"\0"
    note = struct.pack("<III", len(owner), len(description), kind)
    note += owner + bytes(-len(owner) % 4) + description + bytes(-len(description) % 4)
    strings = b"\0" + section.encode() + b"\0.shstrtab\0"
    note_at = HEADER.size
    strings_at = note_at + len(note)
    sections_at = -(-(strings_at + len(strings)) // 8) * 8
    header = HEADER.pack(
        like.ident, 1, EM_AMDGPU, 1, 0, 0, sections_at, like.flags, HEADER.size, 0, 0, SECTION.size, 3, 2
    )
    headers = SECTION.pack(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    headers += SECTION.pack(1, SHT_NOTE, section_flags, 0, note_at, len(note), 0, 0, 4, 0)
    headers += SECTION.pack(len(section) + 2, SHT_STRTAB, 0, 0, strings_at, len(strings), 0, 0, 1, 0)
    return header + note + strings + bytes(sections_at - strings_at - len(strings)) + headers
