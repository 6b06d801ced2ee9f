"""An explanation as text for a terminal: facts, then three columns under each CUDA line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import PurePath

from ptx2amd.explain.facts import facts
from ptx2amd.explain.listing import Explanation, Row

TITLES = ("PTX", "LLVM IR, optimised", "AMDGPU")
SHARES = (36, 42, 34)  # of the columns in 112 characters
NUMBER = 5  # characters of a PTX line's number
BAR = " │ "


def lines(found: Explanation, width: int = 120) -> Iterator[str]:
    """The lines of the text, of at most `width` characters where words allow it."""
    room = max(width - NUMBER - 2 * len(BAR), 60)
    columns = [room * share // sum(SHARES) for share in SHARES]
    yield f"{found.kernel.name} of {found.origin}, for {found.arch}"
    for what, value in facts(found):
        yield from textwrap.wrap(value, width, initial_indent=f"  {what + ':':14}", subsequent_indent=" " * 16)
    for section in found.sections:
        yield ""
        yield _joined("line", TITLES, columns)
        yield "─" * NUMBER + "─┼─".join("─" * column for column in columns)
        for row in section.rows:
            yield from _row(row, columns, width)


def _row(row: Row, columns: list[int], width: int) -> Iterator[str]:
    if row.place:
        text = f"{PurePath(row.place).name}  {row.source.strip()}"
        yield f"── {text} ".ljust(width, "─")[:width] if len(text) < width - 4 else f"── {text}"[:width]
    ptx = [*_wrapped(row.ptx, columns[0]), *(_wrapped(f"({row.note})", columns[0]) if row.note else ())]
    ir = [part for text in row.ir for part in _wrapped(text, columns[1])]
    code = [part for text in row.code for part in _wrapped(text, columns[2])]
    number = str(row.line or "")
    for cells in zip_longest(ptx, ir, code, fillvalue=""):
        yield _joined(number, cells, columns)
        number = ""


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False) or [""]


def _joined(number: str, cells: tuple[str, ...], columns: list[int]) -> str:
    padded = (cell.ljust(column) for cell, column in zip(cells, columns, strict=True))
    return f"{number:>{NUMBER - 1}} {BAR.join(padded)}".rstrip()
