"""Outlines: where the pieces of a module's text are, and facts about the module as a whole, so that one kernel of a
large module can be parsed without the rest.

The service keeps a module's outline beside its index. A part that is read by it has the kernel, what the kernel names,
what that names, and so on, in the module's order; a kernel's code is the same from the part as from the module."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import accumulate

from ptx2amd.ptx import legacy
from ptx2amd.ptx.ast import Module, Whole
from ptx2amd.ptx.handles import words
from ptx2amd.ptx.scan import Piece, pieces, prepare

_MARKS = ("__nvptx_uni",)  # names that say who made the module
_UNREAD = ("section", "loc", "dwarf")  # which no translation needs
_OF_CONSTANTS = "isspacep"  # the opcode that names no constant variable, but asks about all of them


@dataclass(frozen=True, slots=True)
class Outline:
    """starts: offset, line and column of each piece in the text as it came, and where the text ends; named: pieces that
    declare a name, or mention it at module level; always: pieces that every part has: the first ones are the module's
    head."""

    starts: list[tuple[int, int, int]]
    named: dict[str, list[int]]
    always: list[int]
    roots: list[str]
    whole: Whole

    def pack(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @staticmethod
    def unpack(data: bytes) -> Outline:
        found = json.loads(data)
        return Outline(**{**found, "whole": Whole(**found["whole"])})


def outline_of(text: str, module: Module, whole: Whole) -> Outline:
    """The outline of a module that was read from `text`."""
    found: list[Piece] = module.pieces or list(pieces(prepare(text), module.source))
    before = list(accumulate(map(len, text.split("\n")), initial=0))  # characters before a line, without line ends
    starts = [(before[n - 1] + n - 1 + column - 1, n, column) for _, _, n, column, *_ in found]
    known = module.functions.keys() | module.variables.keys()
    named: dict[str, list[int]] = {}
    always = []
    for number, piece in enumerate(found):
        if piece.kind in ("function", "variable"):
            for name in words(piece.text) & known:
                named.setdefault(name, []).append(number)
        elif piece.kind not in _UNREAD:
            always.append(number)
    constants = {name for name, var in module.variables.items() if var.space == "const"} & named.keys()
    named[_OF_CONSTANTS] = sorted({n for name in (*constants, _OF_CONSTANTS) for n in named.get(name, ())})
    roots = {*whole.handles, *module.aliases, *module.aliases.values(), *_MARKS} & named.keys()
    return Outline([*starts, (len(text), 0, 0)], named, always, sorted(roots), whole)


def part(text: str, outline: Outline, source: str, name: str) -> list[Piece] | None:
    """The pieces that a kernel needs, in their order; None where there is no such kernel."""
    if name not in outline.named:
        return None
    read = {number: list(_piece(text, outline, source, number, [])) for number in outline.always}
    changes = legacy.rules("\n".join(piece.text for found in read.values() for piece in found))
    seen, todo = {name, *outline.roots}, [name, *outline.roots]
    while todo:
        for number in outline.named[todo.pop()]:
            if number not in read:
                read[number] = list(_piece(text, outline, source, number, changes))
                mentioned = {word for piece in read[number] for word in words(piece.text + piece.body)}
                new = (mentioned & outline.named.keys()) - seen
                seen |= new
                todo += new
    return [piece for number in sorted(read) for piece in read[number]]


def _piece(text: str, outline: Outline, source: str, number: int, changes: list[legacy.Rule]) -> Iterable[Piece]:
    """A piece, with its place in the whole text. changes: of old opcodes."""
    (begin, line, column), (end, *_) = outline.starts[number : number + 2]
    found = pieces(legacy.renewed(prepare(text[begin:end]), changes), source)
    return _moved(found, line - 1, column - 1)


def _moved(found: Iterable[Piece], lines: int, columns: int) -> Iterator[Piece]:
    for piece in found:
        first, last = (columns if line == 1 else 0 for line in (piece.line, piece.body_line))
        yield piece._replace(line=piece.line + lines, column=piece.column + first,
                             body_line=piece.body_line + lines, body_column=piece.body_column + last)  # fmt: skip
