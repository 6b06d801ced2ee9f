"""Generates the table of what memory instructions access, one row each, for the tools (runtime/tools/tools.h)."""

from __future__ import annotations

import re
from pathlib import Path

from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.table import all_ops
from ptx2amd.vgpu.unit import Unit

_CALL = re.compile(r"(?:return )?(\w+)\((.*)\);?$")
_SPACES = {"global": "SPACE_GLOBAL", "flat": "SPACE_FLAT", "scratch": "SPACE_SCRATCH", "ds": "SPACE_LDS"}
_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8, "96": 12, "128": 16}
READS, WRITES, ATOMIC, HIGH = 1, 2, 4, 8


def _bytes(kind: str) -> int:
    """Of LOAD_D16_HI_U8, STORE_B64 ..."""
    digits = re.search(r"_[BUI](\d+)$", kind)
    return _BYTES[digits[1]] if digits else 2  # D16 without a type: half of a register


def row(op: Op) -> tuple[str, int, int, int] | None:
    """(space, bytes of an element, how, bytes that one step of a two-address offset stands for), or None."""
    m = _CALL.match(op.semantics)
    if not m:
        return None
    name, arguments = m[1], [a.strip() for a in m[2].split(",")]
    if name == "scalar_load":
        return "SPACE_SCALAR", int(arguments[2]) * 4, READS, 0
    space, _, what = name.partition("_")
    if space not in _SPACES:
        return None
    if what in ("load", "load_transposed", "store"):
        how = (WRITES if what == "store" else READS) | (HIGH if "D16_HI" in arguments[0] else 0)
        return _SPACES[space], _bytes(arguments[0]), how, 0
    if what == "atomic":
        return _SPACES[space], int(arguments[1]) // 8, READS | WRITES | ATOMIC, 0
    if what in ("load2", "store2", "exchange2"):
        size = int(arguments[0]) // 8
        how = {"load2": READS, "store2": WRITES, "exchange2": READS | WRITES | ATOMIC}[what]
        return "SPACE_LDS2", size, how, size * (64 if arguments[1] == "true" else 1)
    return None


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
