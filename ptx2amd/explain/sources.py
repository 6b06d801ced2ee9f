"""The text of CUDA lines, where their files are at hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ptx2amd.explain.listing import Explanation

LARGEST = 10_000_000  # bytes of a source file


def fill(found: Explanation, file: Path) -> None:
    """Give rows the text of their CUDA lines: from the file that the PTX names, else from one of its name beside the
    program."""
    for section in found.sections:
        for row in section.rows:
            if row.place:
                name, _, line = row.place.rpartition(":")
                texts = _lines(name, file.parent)
                row.source = texts[int(line) - 1] if 0 < int(line) <= len(texts) else ""


@cache
def _lines(name: str, beside: Path) -> tuple[str, ...]:
    for path in (Path(name), beside / Path(name).name):
        try:
            if path.is_file() and path.stat().st_size <= LARGEST:
                return tuple(path.read_text(errors="replace").splitlines())
        except (OSError, ValueError):  # the second: a name with NULs
            continue
    return ()
