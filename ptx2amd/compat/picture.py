"""A picture of results: a matrix with one row for each project and one column for each device, and bars. Plain SVG."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from ptx2amd.records import dataclass

COLOURS = {"good": "#1a7f4b", "part": "#d9a441", "bad": "#b3261e", "none": "#e3e6eb"}
LABEL, CELL, LINE, TOP = 190, 92, 20, 44


@dataclass(frozen=True)
class Cell:
    """What a square says. state: a key of COLOURS."""

    text: str
    state: str


def cell(right: int, of: int) -> Cell:
    """A number of programs that are right."""
    return Cell(
        f"{right} / {of}" if of else "", "none" if not of else "good" if right == of else "part" if right else "bad"
    )


def svg(
    columns: Sequence[str], rows: Iterable[tuple[str, Sequence[Cell]]], bars: Sequence[tuple[str, int]] = ()
) -> str:
    """The picture. rows: a label and one cell for each column; bars: what is counted below the matrix."""
    matrix = list(rows)
    parts = [
        _text(LABEL + CELL * (i + 0.5), TOP - 10 - 14 * above, word, "middle")
        for i, column in enumerate(columns)
        for above, word in enumerate(reversed(column.split()))
    ]
    for number, (label, cells) in enumerate(matrix):
        top = TOP + LINE * number
        parts.append(_text(LABEL - 8, top + 14, label, "end"))
        for i, one in enumerate(cells):
            left = LABEL + CELL * i
            parts.append(
                f'<rect x="{left + 1}" y="{top + 1}" width="{CELL - 2}" height="{LINE - 2}" rx="3" '
                f'fill="{COLOURS[one.state]}"><title>{html.escape(f"{label}, {columns[i]}: {one.text}")}</title></rect>'
            )
            ink = "#1c2430" if one.state in ("none", "part") else "#ffffff"
            parts.append(_text(left + CELL / 2, top + 14, one.text, "middle", ink))
    top = TOP + LINE * len(matrix) + 16
    width = LABEL + CELL * max(len(columns), 4) + 8
    most = max((count for _, count in bars), default=1)
    for label, count in bars:
        length = (width - LABEL - 60) * count / most
        parts.append(_text(LABEL - 8, top + 14, label, "end"))
        parts.append(
            f'<rect x="{LABEL}" y="{top + 3}" width="{length:.0f}" height="{LINE - 6}" fill="{COLOURS["bad"]}"/>'
        )
        parts.append(_text(LABEL + length + 6, top + 14, str(count), "start"))
        top += LINE
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top + 8}" viewBox="0 0 {width} {top + 8}" '
        'font-family="system-ui, sans-serif" font-size="12">'
    )
    return "\n".join([head, f'<rect width="{width}" height="{top + 8}" fill="#ffffff"/>', *parts, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str, ink: str = "#1c2430") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{ink}">{html.escape(text)}</text>'
