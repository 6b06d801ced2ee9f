"""Outlines of linked modules: one for each text that was linked, and what the linker decided, so that one kernel is
read without the texts that it does not need. The counterpart of outline.py, to which a module is one text."""

from __future__ import annotations

import json
from collections.abc import Callable

from ptx2amd.ptx import outline
from ptx2amd.ptx.ast import Module, Whole
from ptx2amd.ptx.link import add, new_names, own
from ptx2amd.ptx.outline import Outline, outline_of
from ptx2amd.ptx.parse import parse_pieces
from ptx2amd.records import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """One text. place: where the image has it; own: names that other parts do not see; new: those that are others in
    the linked module."""

    place: int
    outline: Outline
    own: list[str]
    new: dict[str, str]


@dataclass(frozen=True, slots=True)
class LinkedOutline:
    """version, target, options: of the linked module; limits: what programs asked of the just-in-time compiler."""

    version: tuple[int, int]
    target: str
    options: tuple[str, ...]
    parts: list[Part]
    limits: list[int]
    whole: Whole

    def pack(self) -> bytes:
        from dataclasses import asdict

        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @staticmethod
    def unpack(data: bytes) -> LinkedOutline:
        found = json.loads(data)
        parts = [Part(**{**part, "outline": Outline.of(part["outline"])}) for part in found["parts"]]
        whole = Whole(**found["whole"])
        return LinkedOutline(tuple(found["version"]), found["target"], tuple(found["options"]), parts, found["limits"],
                             whole)  # fmt: skip


def parts_of(texts: dict[int, str], modules: list[Module]) -> list[Part]:
    """The parts of a module that is going to be linked. texts: by place."""
    return [
        Part(place, outline_of(text, module, Whole()), sorted(own(module)), new)
        for (place, text), module, new in zip(texts.items(), modules, new_names(modules), strict=True)
    ]


def parse_linked_part(text_at: Callable[[int], str], found: LinkedOutline, source: str, kernel: str) -> Module | None:
    """What a kernel needs of a linked module; None where there is no such kernel. text_at: the text at a place of the
    image."""
    selection = _Selection(text_at, found, source)
    if not selection.read(kernel):
        return None
    linked = Module(found.version, found.target, found.options, {}, {}, {}, {}, source, linked=True, whole=found.whole)
    for number, reader in sorted(selection.readers.items()):
        add(linked, parse_pieces(reader.pieces(), reader.source, None), found.parts[number].new)
    return linked


class _Selection:
    """The pieces that a kernel needs, by part."""

    def __init__(self, text_at: Callable[[int], str], found: LinkedOutline, source: str) -> None:
        self.text_at, self.found, self.source = text_at, found, source
        self.readers: dict[int, outline.Reader] = {}
        self.own = [frozenset(part.own) for part in found.parts]
        self.seen: set[tuple[int, str]] = set()  # part, name

    def read(self, kernel: str) -> bool:
        """Read a kernel with all that it needs; whether it is there."""
        todo = self._meant(-1, kernel)
        if not todo:
            return False
        for number, part in enumerate(self.found.parts):
            taken = [name for name in part.outline.named if part.new.get(name, name) in self.found.whole.handles]
            todo += [(number, name) for name in (*taken, *part.outline.roots)]
        while todo:
            number, name = todo.pop()
            if (number, name) not in self.seen:
                self.seen.add((number, name))
                todo += [meant for new in self._reader(number).read(name) for meant in self._meant(number, new)]
        return True

    def _meant(self, number: int, name: str) -> list[tuple[int, str]]:
        """What a name that a part mentions stands for: its own, or that of all parts which share it."""
        if number >= 0 and name in self.own[number]:
            return [(number, name)]
        parts = enumerate(self.found.parts)
        return [(n, name) for n, part in parts if name in part.outline.named and name not in self.own[n]]

    def _reader(self, number: int) -> outline.Reader:
        if number not in self.readers:
            part, source = self.found.parts[number], f"{self.source}, part {number + 1}"
            self.readers[number] = outline.Reader(self.text_at(part.place), part.outline, source)
        return self.readers[number]
