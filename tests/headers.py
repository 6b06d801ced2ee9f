"""What a C header says, by asking gcc: whether rows of an API's table have the header's types."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ptx2amd.api.spec import Function

Flags = Sequence[str | Path]


def complaints(
    before: Sequence[str], lines: Iterable[str], flags: Flags, language: str = "c"
) -> Iterator[tuple[int, str]]:
    """Numbers of the lines that gcc refuses behind `before`, with what it says."""
    names = ("int-conversion", "incompatible-pointer-types", "implicit-function-declaration")
    errors = [f"-Werror={name}" for name in names]
    done = subprocess.run(
        ["gcc", "-fsyntax-only", *errors, *flags, f"-x{language}", "-"],
        input="\n".join([*before, *lines]), capture_output=True, text=True,
    )  # fmt: skip
    for line in done.stderr.splitlines():
        if "error:" in line:
            assert line.startswith("<stdin>"), line
            yield int(line.split(":")[1]) - len(before) - 1, line


def other_types(
    before: Sequence[str], rows: Iterable[Function], status: str, flags: Flags, language: str = "c"
) -> set[str]:
    """The functions that headers declare otherwise than their rows: pointers of the rows' types refuse them."""
    table = list(rows)
    lines = [f"{row.returns or status} (*p_{row.symbol})({row.args}) = {row.symbol};" for row in table]
    return {table[number].symbol for number, _ in complaints(before, lines, flags, language)}
