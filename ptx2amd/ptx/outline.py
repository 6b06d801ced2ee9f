"""Outlines: where the pieces of a module's text are, and facts about the module as a whole, so that one kernel of a
large module can be parsed without the rest.

The service keeps a module's outline beside its index. A part that is read by it has the kernel, what the kernel names,
what that names, and so on, in the module's order; a kernel's code is the same from the part as from the module."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from ptx2amd.ptx import legacy
from ptx2amd.ptx.ast import Module, Whole
from ptx2amd.ptx.handles import words
from ptx2amd.ptx.scan import Piece, pieces, prepare
from ptx2amd.records import dataclass

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
        from dataclasses import asdict

        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @staticmethod
    def unpack(data: bytes) -> Outline:
        return Outline.of(json.loads(data))

    @staticmethod
    def of(found: dict[str, Any]) -> Outline:
        """From what JSON has of it."""
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
    reader = Reader(text, outline, source)
    seen, todo = {name, *outline.roots}, [name, *outline.roots]
    while todo:
        new = reader.read(todo.pop()) - seen
        seen |= new
        todo += new
    return reader.pieces()


class Reader:
    """Reads pieces of a text by its outline: those that every part has, and what is asked for."""

    def __init__(self, text: str, outline: Outline, source: str) -> None:
        self.text, self.outline, self.source = text, outline, source
        self.found: dict[int, list[Piece]] = {}
        self.changes: list[legacy.Rule] = []  # of old opcodes
        for number in outline.always:
            self._read(number)
        self.changes = legacy.rules("\n".join(piece.text for piece in self.pieces()))

    def read(self, name: str) -> set[str]:
        """Read the pieces that declare a name; names of the outline that those mention which were not there yet."""
        mentioned: set[str] = set()
        for number in self.outline.named[name]:
            if number not in self.found:
                self._read(number)
                mentioned.update(*(words(piece.text + piece.body) for piece in self.found[number]))
        return mentioned & self.outline.named.keys()

    def pieces(self) -> list[Piece]:
        """What has been read, in the text's order."""
        return [piece for number in sorted(self.found) for piece in self.found[number]]

    def _read(self, number: int) -> None:
        self.found[number] = list(_piece(self.text, self.outline, self.source, number, self.changes))


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
