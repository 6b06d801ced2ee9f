"""The page of `ptx2amd run --profile`: what each kernel executed on the software GPU."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ptx2amd.report import page as report
from ptx2amd.report.counters import COLUMNS, Kernel, total

#: Classes of instructions: the color of each, and what belongs to it.
CLASSES = {
    "valu": ("#4878a8", "vector arithmetic"),
    "matrix": ("#284868", "matrix products"),
    "salu": ("#a8b8c8", "scalar arithmetic"),
    "branch": ("#c8a060", "branches"),
    "smem": ("#90b070", "scalar loads"),
    "global": ("#c06050", "global memory"),
    "lds": ("#e09080", "shared memory"),
    "scratch": ("#803020", "local memory"),
    "other": ("#888888", "waits, barriers, messages"),
}


def page(kernels: Sequence[Kernel]) -> str:
    """HTML that needs no other file: the counters as a table, and each kernel's instructions by class as a bar."""
    most = max(map(total, kernels), default=1) or 1
    titles = ("kernel", "chip", *(column.title for column in COLUMNS))
    parts = [
        report.table(titles, map(_row, kernels), titles[2:]),
        "<h2>Instructions by class</h2>",
        f"<p>{' &emsp; '.join(_legend())}</p>",
        *(f"<div>{html.escape(kernel['name'])}</div>{_bar(kernel, most)}" for kernel in kernels),
        "<h2>Columns</h2>",
        report.facts((column.title, column.meaning) for column in COLUMNS),
    ]
    return report.page("Profile", "Counted by the software GPU of ptx2amd. Counts are exact; they are no times.", parts)


def _row(kernel: Kernel) -> str:
    numbers = (("number", column.of(kernel)) for column in COLUMNS)
    return report.row((("code", kernel["name"]), ("", kernel["arch"]), *numbers))


def _legend() -> Iterator[str]:
    for name, (color, meaning) in CLASSES.items():
        yield f'<span title="{meaning}"><span style="color:{color}">&#9632;</span> {name}</span>'


def _bar(kernel: Kernel, most: int) -> str:
    """Its length is the kernel's share of the instructions of the largest."""
    parts = (
        f'<span style="flex:{count};background:{CLASSES[name][0]}" title="{count:,} {name}"></span>'
        for name, count in kernel["instructions"].items()
        if count
    )
    return f'<div class="bar" style="width:{max(100 * total(kernel) / most, 0.5):.1f}%">{"".join(parts)}</div>'


def write(kernels: Sequence[Kernel], json_path: Path) -> Path:
    """Write the counters to `json_path` and the page beside it; returns the page's path."""
    target = json_path.with_suffix(".html")
    json_path.write_text(json.dumps({"kernels": kernels}, indent=1) + "\n")
    target.write_text(page(kernels))
    return target
