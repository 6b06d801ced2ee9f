"""The libraries that stand in for AMD's libamdhip64.so.5, .so.6 and .so.7.

Each is a filter (DT_FILTER) in front of libptx2amd_vgpu.so: it brings the soname, AMD's version nodes and all of AMD's
symbols, so that programs link and start; the loader takes each function from the software GPU's library where that has
it. What it does not have stays with the filter, which says so and answers hipErrorNotSupported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api.generate import write as write_texts
from ptx2amd.api.hip import Function, functions
from ptx2amd.api.spec import NOTE

FOLDER = Path(__file__).parent
#: Major versions of the library, the sonames' last part, with the newest HIP version of each that we know.
NEWEST = {5: 507, 6: 604, 7: 702}
MAJORS = tuple(NEWEST)


def exports_of(major: int) -> Iterator[Function]:
    """The functions that libamdhip64.so.MAJOR has."""
    return (row for row in sorted(functions(), key=lambda row: row.symbol) if row.there(NEWEST[major]))


def version_script(major: int) -> str:
    """AMD's version nodes, each with its functions; a node inherits from the one before."""
    nodes: dict[str, list[str]] = {}
    for row in exports_of(major):
        nodes.setdefault(row.version_node, []).append(row.symbol)
    text, before = "", ""
    for node in sorted(nodes, key=lambda name: [int(part) for part in name.removeprefix("hip_").split(".")]):
        names = "".join(f"    {name};\n" for name in nodes[node])
        rest = "" if before else "  local:\n    *;\n"
        text += f"{node} {{\n  global:\n{names}{rest}}}{before};\n"
        before = f" {node}"
    return text


def source(major: int) -> str:
    """C with the library's functions: each reports that it is not supported."""
    refusals = "".join(f"NOT_SUPPORTED({row.symbol})\n" for row in exports_of(major))
    return f'{NOTE}#define MAJOR {major}\n#include "filter.h"\n{refusals}'


def write(outdir: Path) -> dict[int, tuple[Path, Path]]:
    """Writes source and version script of each library; by major version."""
    written = {}
    for major in MAJORS:
        code, script = f"libamdhip64_{major}.c", f"libamdhip64_{major}.map"
        write_texts(outdir, {code: source(major), script: version_script(major)})
        written[major] = outdir / code, outdir / script
    return written
