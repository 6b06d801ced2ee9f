"""A linker of AMDGPU objects: relocatable files that LLVM emitted, to a shared object as HIP's loader takes it.

What is loaded is byte for byte what `ld.lld -shared` makes, where objects have no strings to merge. It is here because
a linker that knows AMDGPU comes only with all of LLVM, and because linking a kernel takes less time than starting one.

objects.py reads, resolve.py and relocate.py join, layout.py and tables.py arrange, and this file puts it together."""

from __future__ import annotations

import struct

from ptx2amd.binary.elf import (
    DYNAMIC,
    EM_AMDGPU,
    HEADER,
    RELA,
    SECTION,
    SHF_ALLOC,
    SHF_WRITE,
    SHT_DYNAMIC,
    SHT_NOBITS,
    SHT_PROGBITS,
    SHT_RELA,
    SHT_STRTAB,
    SHT_SYMTAB,
    SYMBOL,
)
from ptx2amd.codegen.linker import tables
from ptx2amd.codegen.linker.layout import PADDING, PROGRAM_HEADER_SIZE, Output, Segment, arrange, gather
from ptx2amd.codegen.linker.objects import LOCAL, STT_FILE, STT_SECTION, Object, Symbol, read
from ptx2amd.codegen.linker.relocate import apply, scan
from ptx2amd.codegen.linker.resolve import resolve
from ptx2amd.errors import LinkError

__all__ = ["link_shared"]

SHT_HASH, SHT_DYNSYM, SHT_GNU_HASH = 5, 11, 0x6FFFFFF6
DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_RELAENT, DT_STRSZ, DT_SYMENT = 4, 5, 6, 7, 8, 9, 10, 11
DT_GNU_HASH, DT_RELACOUNT = 0x6FFFFEF5, 0x6FFFFFF9
ET_DYN = 3
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")


def link_shared(blobs: list[bytes]) -> bytes:
    """Link objects to a shared object. Raises LinkError, or ContainerError for a damaged one."""
    groups: set[str] = set()
    objects = [read(blob, groups) for blob in blobs]
    _check_alike(objects)
    globals_ = resolve(objects)
    pieces = [piece for item in objects for piece in item.pieces]
    needs = scan(pieces)
    names = tables.dynamic([symbol for symbol in globals_ if symbol.exported])
    made = _made(names, needs.size, 8 * len(needs.slots))
    sections, segments = arrange([*made.values(), *gather(pieces).values()])
    apply(sections, needs, made.get(".got"))
    made[".dynsym"].content = names.table()
    made[".dynstr"].content = names.strings.content
    made[".gnu.hash"].content, made[".hash"].content = names.gnu_hash, names.hash
    relative = 0
    if ".rela.dyn" in made:
        numbers = {id(symbol): number for number, symbol in enumerate(names.symbols, 1)}
        made[".rela.dyn"].content, relative = needs.table(made.get(".got"), numbers)
    if ".got" in made:
        made[".got"].content = needs.got_content()
    made[".dynamic"].content = _dynamic(made, relative)
    return _image(objects[0], [*sections, *_for_tools(objects, globals_)], segments)


def _check_alike(objects: list[Object]) -> None:
    """Objects for different chips do not go together."""
    first = objects[0].elf
    for item in objects[1:]:
        if (item.elf.ident[:9], item.elf.flags) != (first.ident[:9], first.flags):
            raise LinkError(f"objects for different chips: ELF flags {first.flags:#x} and {item.elf.flags:#x}")


def _made(names: tables.Dynamic, relocations: int, got: int) -> dict[str, Output]:
    """The sections that the loader needs beside those of the objects, with their sizes."""
    alloc, written = SHF_ALLOC, SHF_ALLOC | SHF_WRITE
    entries = 7 + (4 if relocations else 0)
    found = [
        Output(".dynsym", SHT_DYNSYM, alloc, 8, names.size, link=".dynstr", info=1, entry=SYMBOL.size),
        Output(".gnu.hash", SHT_GNU_HASH, alloc, 8, len(names.gnu_hash), link=".dynsym"),
        Output(".hash", SHT_HASH, alloc, 4, len(names.hash), link=".dynsym", entry=4),
        Output(".dynstr", SHT_STRTAB, alloc, 1, len(names.strings.content)),
        Output(".dynamic", SHT_DYNAMIC, written, 8, DYNAMIC.size * entries, link=".dynstr", entry=DYNAMIC.size),
        Output(PADDING, SHT_NOBITS, written),
    ]
    if relocations:
        found.append(Output(".rela.dyn", SHT_RELA, alloc, 8, relocations, link=".dynsym", entry=RELA.size))
    if got:
        found.append(Output(".got", SHT_PROGBITS, written, 8, got))
    return {section.name: section for section in found}


def _dynamic(made: dict[str, Output], relative: int) -> bytes:
    rows = []
    if table := made.get(".rela.dyn"):
        rows += [(DT_RELA, table.address), (DT_RELASZ, table.size), (DT_RELAENT, RELA.size)]
        rows.append((DT_RELACOUNT, relative))
    strings = made[".dynstr"]
    rows += [(DT_SYMTAB, made[".dynsym"].address), (DT_SYMENT, SYMBOL.size)]
    rows += [(DT_STRTAB, strings.address), (DT_STRSZ, strings.size)]
    rows += [(DT_GNU_HASH, made[".gnu.hash"].address), (DT_HASH, made[".hash"].address), (0, 0)]
    return b"".join(DYNAMIC.pack(*row) for row in rows)


def _for_tools(objects: list[Object], globals_: list[Symbol]) -> list[Output]:
    """.symtab and its strings."""
    strings = tables.Strings()
    kept = [
        symbol
        for item in objects
        for symbol in item.symbols[1:]
        if symbol.binding == LOCAL and symbol.type != STT_SECTION and (symbol.defined or symbol.type == STT_FILE)
        and (symbol.piece is None or symbol.piece.kept)
    ]  # fmt: skip
    content, first = tables.symtab(kept, globals_, strings)
    symtab = Output(".symtab", SHT_SYMTAB, 0, 8, len(content), link=".strtab", info=first, entry=SYMBOL.size)
    symtab.content = content
    return [symtab, Output(".strtab", SHT_STRTAB, 0, 1, len(strings.content), content=strings.content)]


def _image(like: Object, sections: list[Output], segments: list[Segment]) -> bytes:
    """The file: headers, sections at their offsets, those without a place behind them, and the section headers."""
    names = tables.Strings()
    for section in (*sections, last := Output(".shstrtab", SHT_STRTAB, 0)):
        names.add(section.name)
    last.content, last.size = names.content, len(names.content)
    sections = [*sections, last]
    image = bytearray(HEADER.size + PROGRAM_HEADER_SIZE * len(segments))
    for section in sections:
        if not section.offset:
            section.offset = len(image) + -len(image) % section.align
        if section.type != SHT_NOBITS:
            image += bytes(section.offset - len(image)) + section.content
    image += bytes(-len(image) % 8)
    numbers = {section.name: number for number, section in enumerate(sections, 1)}
    kind = (like.elf.ident, ET_DYN, EM_AMDGPU, 1, 0, HEADER.size, len(image), like.elf.flags, HEADER.size)
    counts = (PROGRAM_HEADER_SIZE, len(segments), SECTION.size, len(sections) + 1, len(sections))
    HEADER.pack_into(image, 0, *kind, *counts)
    for number, segment in enumerate(segments):
        row = _program_header(segment, len(segments), first=number == 1)
        _PROGRAM_HEADER.pack_into(image, HEADER.size + number * PROGRAM_HEADER_SIZE, *row)
    image += bytes(SECTION.size)
    for s in sections:
        place = (s.address, s.offset, s.size, numbers.get(s.link, 0), s.info, s.align, s.entry)
        image += SECTION.pack(names.add(s.name), s.type, s.flags, *place)
    return bytes(image)


def _program_header(segment: Segment, count: int, first: bool) -> tuple[int, ...]:
    """first: of those that are loaded, which has the headers of the file in it, too."""
    if segment.span is None:
        size = count * PROGRAM_HEADER_SIZE
        return segment.type, segment.flags, HEADER.size, HEADER.size, HEADER.size, size, size, segment.align
    if not segment.span:
        return segment.type, segment.flags, 0, 0, 0, 0, 0, segment.align
    start, last = segment.span[0], segment.span[-1]
    at, offset = (0, 0) if first else (start.address, start.offset)
    in_file = max(section.offset + section.file_size for section in segment.span) - offset
    return segment.type, segment.flags, offset, at, at, in_file, last.address + last.size - at, segment.align
