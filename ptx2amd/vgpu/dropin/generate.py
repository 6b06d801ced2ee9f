"""The libraries that stand in for AMD's libamdhip64.so.5, .so.6 and .so.7.

Each is a filter (DT_FILTER) in front of libptx2amd_vgpu.so: it brings the soname, AMD's version nodes and all of AMD's
symbols, so that programs link and start; the loader takes each function from the software GPU's library where that has
it. What it does not have stays with the filter, which says so and answers hipErrorNotSupported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
#: Major versions of the library, the sonames' last part.
MAJORS = (5, 6, 7)


@dataclass(frozen=True, slots=True)
class Export:
    """A row of exports.tsv: a function of AMD's library."""

    name: str
    node: str
    majors: frozenset[int]


@cache
def exports() -> tuple[Export, ...]:
    """All functions that some version of AMD's library exports."""
    lines = (FOLDER / "exports.tsv").read_text().splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return tuple(Export(name, node, frozenset(map(int, majors.split()))) for name, node, majors in rows)


def exports_of(major: int) -> Iterator[Export]:
    """The functions that libamdhip64.so.MAJOR has."""
    return (row for row in exports() if major in row.majors)


def version_script(major: int) -> str:
    """AMD's version nodes, each with its functions; a node inherits from the one before."""
    nodes: dict[str, list[str]] = {}
    for row in exports_of(major):
        nodes.setdefault(row.node, []).append(row.name)
    text, before = "", ""
    for node in sorted(nodes, key=lambda name: [int(part) for part in name.removeprefix("hip_").split(".")]):
        names = "".join(f"    {name};\n" for name in nodes[node])
        rest = "" if before else "  local:\n    *;\n"
        text += f"{node} {{\n  global:\n{names}{rest}}}{before};\n"
        before = f" {node}"
    return text


def source(major: int) -> str:
    """C with the library's functions: each answers that it is not supported."""
    functions = "".join(f"NOT_SUPPORTED({row.name})\n" for row in exports_of(major))
    return f'/* Generated from exports.tsv. */\n#define MAJOR {major}\n#include "filter.h"\n{functions}'


def write(outdir: Path) -> dict[int, tuple[Path, Path]]:
    """Writes source and version script of each library; by major version."""
    written = {}
    for major in MAJORS:
        files = outdir / f"libamdhip64_{major}.c", outdir / f"libamdhip64_{major}.map"
        for path, text in zip(files, (source(major), version_script(major)), strict=True):
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
        written[major] = files
    return written
