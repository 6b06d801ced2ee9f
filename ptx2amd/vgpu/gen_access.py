"""Generates the table of memory instructions' accesses, one row each, for the tools (runtime/tools/tools.h)."""

from __future__ import annotations

from pathlib import Path

from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.table import all_ops
from ptx2amd.vgpu.unit import Unit


def row(op: Op) -> tuple[str, int, int, int] | None:
    """struct access_info: space, element size in bytes, kind of access, scale of a two-address offset in bytes."""
    access = op.access
    return (f"SPACE_{access.space}", access.bytes, int(access.how), access.step) if access else None


def write(outdir: Path) -> Unit:
    """Writes access_table.c into outdir."""
    lines = ["/* Generated from ptx2amd/vgpu/isa. */", '#include "ops.h"', '#include "tools.h"', ""]
    lines.append("const struct access_info access_table[OP_COUNT] = {")
    for index, op in enumerate(all_ops()):
        found = row(op)
        if found:
            lines.append(f"  [{index}] = {{{', '.join(map(str, found))}}},   /* {op.name} */")
    lines.append("};")
    path = outdir / "access_table.c"
    path.write_text("\n".join(lines) + "\n")
    return Unit(path)
