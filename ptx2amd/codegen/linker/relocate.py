"""Relocations: which of them the loader has to finish, and the values of all others."""

from __future__ import annotations

import struct
from typing import NamedTuple

from ptx2amd.binary.elf import RELA, SHF_ALLOC, SHF_WRITE, SHT_NOBITS
from ptx2amd.codegen.linker.layout import Output
from ptx2amd.codegen.linker.objects import Piece, Symbol
from ptx2amd.errors import LinkError
from ptx2amd.records import dataclass, field

ABSOLUTE, RELATIVE, SLOT = range(3)  # to address 0, to the place, of the symbol's slot in the GOT to the place
LOW, HIGH, WORD, WIDE, BRANCH = range(5)  # halves of 64 bits; 32 bits that have to do; 64; 16, in instructions
SIZES = {LOW: 4, HIGH: 4, WORD: 4, WIDE: 8, BRANCH: 2}
R_ABS64, R_RELATIVE64 = 3, 13
MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1
_WORD, _WIDE = struct.Struct("<I"), struct.Struct("<Q")
_HALF = struct.Struct("<h")


class Kind(NamedTuple):
    """A relocation by the ABI of AMDGPU."""

    name: str
    base: int
    part: int


KINDS = {
    1: Kind("ABS32_LO", ABSOLUTE, LOW),
    2: Kind("ABS32_HI", ABSOLUTE, HIGH),
    3: Kind("ABS64", ABSOLUTE, WIDE),
    4: Kind("REL32", RELATIVE, WORD),
    5: Kind("REL64", RELATIVE, WIDE),
    6: Kind("ABS32", ABSOLUTE, WORD),
    7: Kind("GOTPCREL", SLOT, WORD),
    8: Kind("GOTPCREL32_LO", SLOT, LOW),
    9: Kind("GOTPCREL32_HI", SLOT, HIGH),
    10: Kind("REL32_LO", RELATIVE, LOW),
    11: Kind("REL32_HI", RELATIVE, HIGH),
    14: Kind("REL16", RELATIVE, BRANCH),
}


@dataclass(slots=True)
class Needs:
    """What relocations ask of the output. dynamic: 64-bit addresses that the loader writes, (piece, offset, symbol,
    addend); slots: the symbols with a slot in the GOT, in its order."""

    dynamic: list[tuple[Piece, int, Symbol, int]] = field(default_factory=list)
    slots: dict[int, tuple[int, Symbol]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Of .rela.dyn."""
        return RELA.size * (len(self.dynamic) + sum(not symbol.absolute for _, symbol in self.slots.values()))

    def table(self, got: Output | None, numbers: dict[int, int]) -> tuple[bytes, int]:
        """.rela.dyn, and how many of its entries, which come first, need no symbol. numbers: of the symbols in
        .dynsym, by their identity."""
        places = [(piece.address + at, symbol, addend) for piece, at, symbol, addend in self.dynamic]
        if got:
            slots = [(got.address + 8 * number, symbol, 0) for number, symbol in self.slots.values()]
            places += [slot for slot in slots if not slot[1].absolute]
        named = [(numbers[id(s)], at, addend) for at, s, addend in places if s.replaceable]
        plain = sorted((at, s.address + addend) for at, s, addend in places if not s.replaceable)
        rows = [(at, R_RELATIVE64, value) for at, value in plain]
        rows += [(at, number << 32 | R_ABS64, addend) for number, at, addend in sorted(named)]
        return b"".join(RELA.pack(*row) for row in rows), len(plain)

    def got_content(self) -> bytes:
        """The GOT before it is loaded: addresses that are no places are there already."""
        return b"".join(_WIDE.pack(s.value & MASK64 if s.absolute else 0) for _, s in self.slots.values())


def scan(pieces: list[Piece]) -> Needs:
    """Look through the relocations of what is loaded. Raises LinkError for what no loader can do."""
    needs = Needs()
    for piece in pieces:
        if not piece.flags & SHF_ALLOC:
            continue
        for at, info, addend in _rows(piece):
            kind, symbol = _kind(piece, info), _symbol(piece, info)
            if symbol.piece and not symbol.piece.kept:
                raise _error(piece, kind, symbol, "lies in a COMDAT group that another object has, too")
            if kind.base == SLOT:
                needs.slots.setdefault(id(symbol), (len(needs.slots), symbol))
            elif kind.base == RELATIVE:
                if symbol.replaceable or symbol.absolute:
                    raise _error(piece, kind, symbol, "is at no fixed distance: make it protected or hidden")
            elif not symbol.absolute or symbol.replaceable:
                if kind.part != WIDE or not piece.flags & SHF_WRITE:
                    raise _error(piece, kind, symbol, "has an address that is known only when it is loaded")
                needs.dynamic.append((piece, at, symbol, addend))
    return needs


def apply(sections: list[Output], needs: Needs, got: Output | None) -> None:
    """Write the contents of sections that hold pieces, with the relocations that need no loader."""
    slots = {key: got.address + 8 * number for key, (number, _) in needs.slots.items()} if got else {}
    later = {(id(piece), at) for piece, at, _, _ in needs.dynamic}
    addresses: dict[int, list[int]] = {}
    for section in sections:
        if not section.pieces or section.type == SHT_NOBITS:
            continue
        # ld.lld fills gaps in code with zeros, too: what jumps there ends in a trap of the software GPU.
        content = bytearray(section.size)
        for piece in section.pieces:
            if piece.type != SHT_NOBITS:
                content[piece.offset : piece.offset + piece.size] = piece.content
            if not piece.relocations:
                continue
            key = id(piece.symbols)
            if key not in addresses:
                addresses[key] = [symbol.address for symbol in piece.symbols]
            _relocate(content, piece, addresses[key], slots, later)
        section.content = content


def _relocate(
    content: bytearray, piece: Piece, addresses: list[int], slots: dict[int, int], later: set[tuple[int, int]]
) -> None:
    loaded = bool(piece.flags & SHF_ALLOC)
    for at, info, addend in _rows(piece):
        kind, number = _kind(piece, info), info >> 32
        symbol = _symbol(piece, info)
        if at + SIZES[kind.part] > piece.size:
            raise LinkError(f"a relocation of {piece.name} lies beyond its end")
        if not loaded and (kind.base == SLOT or (symbol.piece and not symbol.piece.kept)):
            if kind.base == SLOT:
                raise _error(piece, kind, symbol, "has no slot in what is not loaded")
            value = 1 if piece.name in (".debug_ranges", ".debug_loc") else 0  # 0, 0 would end the list
        else:
            value = slots[id(symbol)] + addend if kind.base == SLOT else addresses[number] + addend
            if kind.base != ABSOLUTE:
                value -= piece.address + at
        where, part = piece.offset + at, kind.part
        if part == LOW:
            _WORD.pack_into(content, where, value & MASK32)
        elif part == HIGH:
            _WORD.pack_into(content, where, value >> 32 & MASK32)
        elif part == WIDE:
            if (id(piece), at) not in later:
                _WIDE.pack_into(content, where, value & MASK64)
        elif part == WORD:
            if not -(1 << 31) <= value <= MASK32:
                raise _error(piece, kind, symbol, f"is too far: {value:#x}")
            _WORD.pack_into(content, where, value & MASK32)
        else:
            steps = (value - 4) // 4  # from the instruction that follows
            if value % 4 or not -(1 << 15) <= steps < 1 << 15:
                raise _error(piece, kind, symbol, f"is too far for a branch: {value:#x}")
            _HALF.pack_into(content, where, steps)


def _rows(piece: Piece) -> list[tuple[int, int, int]]:
    if len(piece.relocations) % RELA.size:
        raise LinkError(f"the relocations of {piece.name} are cut off")
    return list(RELA.iter_unpack(piece.relocations))


def _kind(piece: Piece, info: int) -> Kind:
    kind = KINDS.get(info & MASK32)
    if kind is None:
        raise LinkError(f"{piece.name} has a relocation of type {info & MASK32}, which the linker does not know")
    return kind


def _symbol(piece: Piece, info: int) -> Symbol:
    if info >> 32 >= len(piece.symbols):
        raise LinkError(f"a relocation of {piece.name} names symbol {info >> 32}, which is not there")
    return piece.symbols[info >> 32]


def _error(piece: Piece, kind: Kind, symbol: Symbol, why: str) -> LinkError:
    name = symbol.name or (symbol.piece.name if symbol.piece else "?")
    return LinkError(f"{piece.name}: R_AMDGPU_{kind.name} cannot be linked: {name} {why}")
