"""Where everything lies: sections of the output in the order of ld.lld, their addresses and offsets, and segments.

Sections that are loaded alike follow each other. A segment begins on a page of memory that no other touches, but at the
offset in the file where the one before ends: its address has the same remainder by the page size."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from ptx2amd.binary.elf import HEADER, SHF_ALLOC, SHF_EXEC, SHF_WRITE, SHT_NOBITS, SHT_NOTE, SHT_PROGBITS
from ptx2amd.codegen.linker.objects import SHF_GROUP, SHF_INFO_LINK, SHF_MERGE, SHF_STRINGS, Piece
from ptx2amd.records import dataclass, field

PAGE = 4096
PROGRAM_HEADER_SIZE = 56
PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_PHDR, PT_GNU_STACK, PT_GNU_RELRO = 1, 2, 4, 6, 0x6474E551, 0x6474E552
PF_X, PF_W, PF_R = 1, 2, 4
#: Sections of these names, and of longer ones (.text.hot), go into one: that of the first that fits.
NAMES = {
    ".text": ".text",
    ".rodata": ".rodata",
    ".data.rel.ro": ".data.rel.ro",
    ".bss.rel.ro": ".data.rel.ro",  # with its zeros: what follows is in the file
    ".data": ".data",
    ".bss": ".bss",
}
RELRO = (".data.rel.ro", ".dynamic", ".got", ".relro_padding")
PADDING = ".relro_padding"  # up to the end of a page: RELRO is protected in pages
#: Of the output: pieces of several objects lie in one section, relocated and not merged.
GONE = SHF_INFO_LINK | SHF_GROUP | SHF_MERGE | SHF_STRINGS


@dataclass(slots=True, eq=False)
class Output:
    """A section of the output: pieces of the objects, or content that the linker makes. offset: in the file."""

    name: str
    type: int
    flags: int
    align: int = 1
    size: int = 0
    pieces: list[Piece] = field(default_factory=list)
    link: str = ""
    info: int = 0
    entry: int = 0
    content: bytes | bytearray = b""
    address: int = 0
    offset: int = 0

    @property
    def file_size(self) -> int:
        return 0 if self.type == SHT_NOBITS else self.size

    def add(self, piece: Piece) -> None:
        self.flags |= piece.flags & ~GONE
        self.align = max(self.align, piece.align)
        if piece.type != SHT_NOBITS:
            self.type = piece.type
        piece.offset = aligned(self.size, piece.align)
        self.size = piece.offset + piece.size
        self.pieces.append(piece)


class Segment(NamedTuple):
    """A program header. span: the sections in it; None for the headers themselves."""

    type: int
    flags: int
    span: list[Output] | None
    align: int


def aligned(value: int, align: int) -> int:
    """The next multiple of a power of two."""
    return (value + align - 1) & -align


def gather(pieces: Iterable[Piece]) -> dict[str, Output]:
    """The sections of the output that hold pieces of objects, by name."""
    found: dict[str, Output] = {}
    for piece in pieces:
        name = next((to for name, to in NAMES.items() if f"{piece.name}.".startswith(name + ".")), piece.name)
        found.setdefault(name, Output(name, piece.type, 0)).add(piece)
    return found


def arrange(sections: list[Output]) -> tuple[list[Output], list[Segment]]:
    """Put sections in order and give them addresses and offsets. Returns them with the segments."""
    order = sorted(sections, key=_rank)
    loads = [list(group) for (flags, _), group in groupby(order, _load) if flags]
    segments = _segments(order, loads)
    at = offset = HEADER.size + PROGRAM_HEADER_SIZE * len(segments)
    for number, load in enumerate(loads):
        if number:
            at, offset = _started(at, offset, load)
        shift = offset - at
        for section in load:
            if section.name == PADDING:
                section.size = -at % PAGE
                section.address, section.offset = at, offset  # the next segment goes by the end of what is no padding
                continue
            section.address = at = aligned(at, section.align)
            section.offset = offset if section.type == SHT_NOBITS else at + shift
            at += section.size
            offset = section.offset + section.file_size
    for section in order:
        if not section.flags & SHF_ALLOC:
            section.offset = aligned(offset, section.align)
            offset = section.offset + section.file_size
    for number, section in enumerate(order, 1):
        for piece in section.pieces:
            piece.address = section.address + piece.offset
            piece.section = number
    return order, segments


def _started(at: int, offset: int, load: list[Output]) -> tuple[int, int]:
    """Address and offset of a segment after one that ends at these."""
    at = aligned(aligned(at, PAGE) + at % PAGE, load[0].align)
    return at, offset + (at - offset) % _page(load)


def _page(load: list[Output]) -> int:
    """What address and offset of a segment have the same remainder by."""
    return max(PAGE, *(section.align for section in load))


def _rank(section: Output) -> tuple[int, ...]:
    """The order in the file: read-only, code, RELRO, data; what is not loaded at the end, as it came."""
    if not section.flags & SHF_ALLOC:
        return (4,)
    if section.flags & SHF_EXEC:
        return (1,)
    if section.flags & SHF_WRITE:
        if section.name in RELRO:
            return 2, RELRO.index(section.name)
        return 3, section.type == SHT_NOBITS
    return 0, section.type != SHT_NOTE, section.type == SHT_PROGBITS


def _load(section: Output) -> tuple[int, bool]:
    """What the sections of one segment have in common; (0, False): not loaded."""
    if not section.flags & SHF_ALLOC:
        return 0, False
    flags = PF_R | (PF_W if section.flags & SHF_WRITE else 0) | (PF_X if section.flags & SHF_EXEC else 0)
    return flags, section.name in RELRO


def _segments(order: list[Output], loads: list[list[Output]]) -> list[Segment]:
    found = [Segment(PT_PHDR, PF_R, None, 8)]
    found += [Segment(PT_LOAD, _load(load[0])[0], load, _page(load)) for load in loads]
    for section in order:
        if section.name == ".dynamic":
            found.append(Segment(PT_DYNAMIC, PF_R | PF_W, [section], 8))
    found += [Segment(PT_GNU_RELRO, PF_R, load, 1) for load in loads if _load(load[0])[1]]
    found.append(Segment(PT_GNU_STACK, PF_R | PF_W, [], 0))
    notes = [section for section in order if section.type == SHT_NOTE and section.flags & SHF_ALLOC]
    if notes:
        found.append(Segment(PT_NOTE, PF_R, notes, max(note.align for note in notes)))
    return found
