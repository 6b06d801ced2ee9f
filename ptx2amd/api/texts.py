"""Rows of functions in text files. An entry is `NAME [LETTERS] [SINCE-UNTIL]:`, then the parameters, then a blank line.

LETTERS are the precisions S, D, C and Z of the number type T, whose real type is R. The letter replaces the name's `?`,
or precedes the name; in `(one|other)` in a name, C and Z use the second word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ptx2amd.records import dataclass

NUMBERS = {"S": "float", "D": "double", "C": "cuComplex", "Z": "cuDoubleComplex"}
REAL = {"S": "float", "D": "double", "C": "float", "Z": "double"}
_ENTRY = re.compile(r"([\w?()|]+)(?: ([SDCZ]+))?(?: (\d*)-(\d*))?:\n((?:  .+\n)+)")


@dataclass(frozen=True)
class Text:
    """A function as in a file: its name without the library's prefix, precision (or ""), versions, parameters."""

    name: str
    letter: str
    since: int
    until: int
    parameters: tuple[str, ...]


def read(path: Path) -> Iterator[Text]:
    """The functions of a file, one per precision."""
    for entry in path.read_text().split("\n\n"):
        match = _ENTRY.fullmatch(entry.rstrip("\n") + "\n")
        assert match is not None, entry
        name, letters, since, until, text = match.groups()
        for letter in letters or ("",):
            own = re.sub(r"\bT\b", NUMBERS[letter], re.sub(r"\bR\b", REAL[letter], text)) if letter else text
            parts = tuple(" ".join(part.split()) for part in own.split(","))
            yield Text(_named(name, letter), letter, int(since or 0), int(until or 0), parts)


def _named(name: str, letter: str) -> str:
    name = re.sub(r"\((\w+)\|(\w+)\)", r"\2" if letter in ("C", "Z") else r"\1", name)
    return name.replace("?", letter) if "?" in name else f"{letter}{name}"
