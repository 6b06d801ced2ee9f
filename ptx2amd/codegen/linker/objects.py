"""Relocatable AMDGPU objects as the linker reads them. Unknown sections, symbols and flags are refused here by
name."""

from __future__ import annotations

import struct

from ptx2amd.binary.elf import (
    EM_AMDGPU,
    HEADER,
    SHF_ALLOC,
    SHF_EXCLUDE,
    SHF_EXEC,
    SHF_WRITE,
    SHT_NOBITS,
    SHT_NOTE,
    SHT_NULL,
    SHT_PROGBITS,
    SHT_RELA,
    SHT_STRTAB,
    SHT_SYMTAB,
    SYMBOL,
    Elf,
    Section,
)
from ptx2amd.errors import LinkError
from ptx2amd.records import dataclass, field

SHT_GROUP = 17
SHF_MERGE, SHF_STRINGS, SHF_INFO_LINK, SHF_GROUP = 0x10, 0x20, 0x40, 0x200
#: Strings that may be merged may also stay as they are.
KNOWN_FLAGS = SHF_WRITE | SHF_ALLOC | SHF_EXEC | SHF_MERGE | SHF_STRINGS | SHF_INFO_LINK | SHF_GROUP
GRP_COMDAT = 1
SHN_ABS, SHN_FIRST_RESERVED = 0xFFF1, 0xFF00
LOCAL, GLOBAL, WEAK = 0, 1, 2
STT_SECTION, STT_FILE = 3, 4
KNOWN_SYMBOLS = (0, 1, 2, STT_SECTION, STT_FILE)  # and no type, object, function
DEFAULT, INTERNAL, HIDDEN, PROTECTED = 0, 1, 2, 3
LEFT_OUT = (".note.GNU-stack",)
WORD = struct.Struct("<I")


@dataclass(slots=True, eq=False)
class Piece:
    """A section of an object. section, offset: where the layout put it in the output; address, once it has one.

    kept: False for one of a COMDAT group that another object has, too."""

    name: str
    type: int
    flags: int
    align: int
    content: bytes
    size: int
    relocations: bytes = b""
    symbols: list[Symbol] = field(default_factory=list, repr=False)
    kept: bool = True
    offset: int = 0
    address: int = 0
    section: int = 0


@dataclass(slots=True, eq=False)
class Symbol:
    """A symbol; a global one is shared by the objects that name it. absolute: its value is no place in a section."""

    name: str
    type: int
    binding: int
    visibility: int
    piece: Piece | None
    value: int
    size: int
    absolute: bool = False

    @property
    def defined(self) -> bool:
        return self.absolute or self.piece is not None

    @property
    def exported(self) -> bool:
        return self.binding != LOCAL and self.visibility in (DEFAULT, PROTECTED)

    @property
    def replaceable(self) -> bool:
        """Whether a loader may take another definition."""
        return self.binding != LOCAL and self.visibility == DEFAULT

    @property
    def address(self) -> int:
        return self.value + (self.piece.address if self.piece else 0)


@dataclass(slots=True)
class Object:
    """pieces: what goes into the output; symbols: by their numbers in the file."""

    elf: Elf
    pieces: list[Piece]
    symbols: list[Symbol]


def read(blob: bytes, groups: set[str]) -> Object:
    """Read an object. groups: the COMDAT groups of the objects before, to which its own are added.

    Raises LinkError for what the linker does not know, ContainerError for a damaged file."""
    elf = Elf(blob, "object")
    if elf.machine != EM_AMDGPU or HEADER.unpack_from(blob)[1] != 1:
        raise LinkError("not a relocatable AMDGPU object")
    if not elf.sections:
        raise LinkError("an object without sections, or with too many of them")
    pieces: dict[int, Piece] = {}
    for number, section in enumerate(elf.sections):
        if _is_piece(section):
            content = section.content.read()
            pieces[number] = Piece(
                section.name, section.type, section.flags, max(section.align, 1), content, section.memory
            )
    symbols = _symbols(elf, pieces)
    for number in _repeated(elf, symbols, groups):
        if number in pieces:
            pieces[number].kept = False
    for symbol in symbols:
        if symbol.binding != LOCAL and symbol.piece and not symbol.piece.kept:
            symbol.piece = None
    for section in elf.sections:
        if section.type == SHT_RELA and section.info in pieces:
            pieces[section.info].relocations = section.content.read()
            pieces[section.info].symbols = symbols
    return Object(elf, [piece for piece in pieces.values() if piece.kept], symbols)


def _is_piece(section: Section) -> bool:
    if section.type in (SHT_NULL, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_GROUP):
        return False
    if section.flags & SHF_EXCLUDE or section.name in LEFT_OUT:
        return False
    if section.type not in (SHT_PROGBITS, SHT_NOBITS, SHT_NOTE):
        raise LinkError(f"section {section.name} has type {section.type:#x}, which the linker does not know")
    if unknown := section.flags & ~KNOWN_FLAGS:
        raise LinkError(f"section {section.name} has flags {unknown:#x}, which the linker does not know")
    return True


def _symbols(elf: Elf, pieces: dict[int, Piece]) -> list[Symbol]:
    symbols: list[Symbol] = []
    for table in elf.sections:
        if table.type != SHT_SYMTAB:
            continue
        if table.link >= len(elf.sections):
            raise table.content.error(0, f"the symbol table names section {table.link}, which is not there")
        names, content = elf.sections[table.link].content, table.content
        for at in range(0, len(content) - SYMBOL.size + 1, SYMBOL.size):
            name_at, info, other, index, value, size = content.unpack(SYMBOL, at, "symbol")
            name = names.string(name_at, "symbol name") if name_at else ""
            symbols.append(_symbol(name, info, other, index, pieces, (value, size)))
    return symbols


def _symbol(name: str, info: int, other: int, index: int, pieces: dict[int, Piece], place: tuple[int, int]) -> Symbol:
    kind, binding = info & 15, info >> 4
    if kind not in KNOWN_SYMBOLS or binding not in (LOCAL, GLOBAL, WEAK):
        raise LinkError(f"symbol {name} has type {kind} and binding {binding}, which the linker does not know")
    if index >= SHN_FIRST_RESERVED and index != SHN_ABS:
        raise LinkError(f"symbol {name} lies in the special section {index:#x}, which the linker does not know")
    return Symbol(name, kind, binding, other & 3, pieces.get(index), *place, absolute=index == SHN_ABS)


def _repeated(elf: Elf, symbols: list[Symbol], groups: set[str]) -> list[int]:
    """The numbers of the sections in COMDAT groups that an object before has."""
    found: list[int] = []
    for section in elf.sections:
        if section.type == SHT_GROUP:
            flags, *members = (value for (value,) in WORD.iter_unpack(section.content.read()))
            if section.info >= len(symbols):
                raise section.content.error(0, "the group is named by a symbol that is not there")
            name = symbols[section.info].name
            if flags & GRP_COMDAT and name in groups:
                found += members
            groups.add(name)
    return found
