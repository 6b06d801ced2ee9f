"""The libraries that replace AMD's libamdhip64.so.5, .so.6 and .so.7.

Each is a filter (DT_FILTER) for libptx2amd_vgpu.so: it has the soname, AMD's version nodes and all of AMD's symbols, so
that programs link and start; the loader resolves each function in the software GPU's library if that has it. Otherwise
the filter's own function prints a message and returns hipErrorNotSupported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api.generate import write as write_texts
from ptx2amd.api.hip import Function, functions
from ptx2amd.api.spec import NOTE

FOLDER = Path(__file__).parent
#: Major versions of the library (the last part of the soname), with the newest known HIP version of each.
NEWEST = {5: 507, 6: 604, 7: 702}
MAJORS = tuple(NEWEST)


def exports_of(major: int) -> Iterator[Function]:
    """The functions of libamdhip64.so.MAJOR."""
    return (row for row in sorted(functions(), key=lambda row: row.symbol) if row.there(NEWEST[major]))


def version_script(major: int) -> str:
    """AMD's version nodes with their functions; a node inherits from the previous one."""
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
    refusals = "".join(f"NOT_SUPPORTED({row.symbol}, {_answer(row)})\n" for row in exports_of(major))
    return f'{NOTE}#define MAJOR {major}\n#include "filter.h"\n{refusals}'


def _answer(row: Function) -> str:
    """Type and value that a function returns: an error, an empty text, or 0. Those that we have are never reached."""
    if row.ours or not row.returns:
        return "int, error"
    return f"{row.returns}, " + ("" if row.returns == "void" else '""' if row.returns.endswith("*") else "0")


def write(outdir: Path) -> dict[int, tuple[Path, Path]]:
    """Writes source and version script of each library; by major version."""
    written = {}
    for major in MAJORS:
        code, script = f"libamdhip64_{major}.c", f"libamdhip64_{major}.map"
        write_texts(outdir, {code: source(major), script: version_script(major)})
        written[major] = outdir / code, outdir / script
    return written
