"""Reading and writing the little of ELF that code objects need: symbols, notes, kernel metadata."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

EM_AMDGPU = 224
SHT_SYMTAB, SHT_STRTAB, SHT_NOTE = 2, 3, 7
NT_AMDGPU_METADATA = 32
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")


@dataclass(frozen=True, slots=True)
class Section:
    """A section header with its contents."""

    name: str
    type: int
    link: int
    data: bytes


class Elf:
    """A 64-bit little-endian ELF file. Raises ValueError when it is none."""

    def __init__(self, blob: bytes) -> None:
        if blob[:6] != b"\x7fELF\x02\x01" or len(blob) < _HEADER.size:
            raise ValueError("not a 64-bit little-endian ELF file")
        header = _HEADER.unpack_from(blob)
        self.ident, self.machine, self.flags = header[0], header[2], header[7]
        at, size, count, names = header[6], header[11], header[12], header[13]
        raw = [_SECTION.unpack_from(blob, at + i * size) for i in range(count)]
        strings = blob[raw[names][4] :] if raw else b""
        self.sections = [
            Section(_string(strings, r[0]), r[1], r[6], blob[r[4] : r[4] + r[5]] if r[1] != 8 else b"") for r in raw
        ]

    def undefined(self) -> list[str]:
        """Names of symbols that the file uses and does not define."""
        found = []
        for section in self.sections:
            if section.type == SHT_SYMTAB:
                strings = self.sections[section.link].data
                for at in range(24, len(section.data), 24):
                    name, _, _, index, _, _ = struct.unpack_from("<IBBHQQ", section.data, at)
                    if index == 0:
                        found.append(_string(strings, name))
        return found

    def notes(self) -> Iterator[tuple[str, int, bytes]]:
        """(name, type, description) of every note."""
        for section in self.sections:
            if section.type == SHT_NOTE:
                at = 0
                while at + 12 <= len(section.data):
                    names, size, kind = struct.unpack_from("<III", section.data, at)
                    at += 12
                    name = section.data[at : at + names].rstrip(b"\0").decode()
                    at += -(-names // 4) * 4
                    yield name, kind, section.data[at : at + size]
                    at += -(-size // 4) * 4

    def metadata(self) -> dict[str, Any]:
        """The AMDGPU metadata note (kernels, registers, argument layout); {} when there is none."""
        for name, kind, blob in self.notes():
            if name == "AMDGPU" and kind == NT_AMDGPU_METADATA:
                return unpack(blob)[0]
        return {}


def _string(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()


def note_object(section: str, name: str, kind: int, description: bytes, like: Elf) -> bytes:
    """A relocatable ELF file with one note section, of the same machine and flags as `like`, to link in."""
    owner = name.encode() + b"\0"
    note = struct.pack("<III", len(owner), len(description), kind)
    note += owner + bytes(-len(owner) % 4) + description + bytes(-len(description) % 4)
    strings = b"\0" + section.encode() + b"\0.shstrtab\0"
    note_at = _HEADER.size
    strings_at = note_at + len(note)
    sections_at = -(-(strings_at + len(strings)) // 8) * 8
    header = _HEADER.pack(
        like.ident, 1, EM_AMDGPU, 1, 0, 0, sections_at, like.flags, _HEADER.size, 0, 0, _SECTION.size, 3, 2
    )
    headers = _SECTION.pack(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    headers += _SECTION.pack(1, SHT_NOTE, 0, 0, note_at, len(note), 0, 0, 4, 0)
    headers += _SECTION.pack(len(section) + 2, SHT_STRTAB, 0, 0, strings_at, len(strings), 0, 0, 1, 0)
    return header + note + strings + bytes(sections_at - strings_at - len(strings)) + headers


def unpack(blob: bytes, at: int = 0) -> tuple[Any, int]:
    """One MessagePack value at `at`: (value, position after it). Covers what AMDGPU metadata uses."""
    tag = blob[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag >= 0xE0:
        return tag - 256, at
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    numbers = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
    numbers |= {0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
    if tag in numbers:
        return struct.unpack_from(numbers[tag], blob, at)[0], at + struct.calcsize(numbers[tag])
    if 0xA0 <= tag < 0xC0:
        return blob[at : at + (tag & 31)].decode(), at + (tag & 31)
    sized = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
    sized |= {0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}
    if tag in sized:
        n = struct.unpack_from(sized[tag], blob, at)[0]
        at += struct.calcsize(sized[tag])
    else:
        n = tag & 15
    if tag in (0xD9, 0xDA, 0xDB):
        return blob[at : at + n].decode(), at + n
    if tag in (0xC4, 0xC5, 0xC6):
        return blob[at : at + n], at + n
    if tag & 0xF0 == 0x80 or tag in (0xDE, 0xDF):
        result = {}
        for _ in range(n):
            key, at = unpack(blob, at)
            result[key], at = unpack(blob, at)
        return result, at
    if tag & 0xF0 == 0x90 or tag in (0xDC, 0xDD):
        items = []
        for _ in range(n):
            item, at = unpack(blob, at)
            items.append(item)
        return items, at
    raise ValueError(f"MessagePack tag {tag:#x}")
