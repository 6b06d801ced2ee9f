"""Generates the table of instructions for the weak-memory mode, one row each (runtime/weak/weak.h)."""

from __future__ import annotations

from pathlib import Path

from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.table import all_ops
from ptx2amd.vgpu.unit import Unit

#: Handlers that access memory through functions that the mode intercepts: for all lanes (vmem/weak_lanes.c); or for one
#: element (weak/element.h), where loads run again when they complete. And those that do not access memory.
_LANES = frozenset(
    f"{space}_{what}" for space in ("global", "flat", "scratch", "buffer", "ds") for what in ("load", "store", "atomic")
) | {
    "ds_load2", "ds_store2", "ds_addtid", "global_block", "global_addtid", "image_atomic", "image_lod", "image_resinfo",
}  # fmt: skip
_LOADS = frozenset(["image_load", "image_sample", "buffer_load_format", "global_load_lds", "global_load_transposed"])
_STORES = frozenset(["image_store", "buffer_store_format"])
_EXCHANGES = frozenset(["ds_permute", "ds_bpermute", "ds_bpermute_fi", "ds_swizzle"])
_SPACES = {
    "GLOBAL": "WEAK_VECTOR", "MUBUF": "WEAK_VECTOR", "MTBUF": "WEAK_VECTOR", "FLAT": "WEAK_FLAT", "DS": "WEAK_LDS",
    "SCRATCH": "WEAK_SCRATCH", "MIMG": "WEAK_IMAGE", "VSAMPLE": "WEAK_IMAGE",
}  # fmt: skip
#: The member of weak_info.sub, by the kind of a row's `order`.
_SUB = {"WAITS": "WAIT_{}", "CACHE": "CONTROL_{}", "MESSAGE": "0"}


def how(function: str) -> str:
    """A handler's enum weak_how."""
    kinds = {"HOW_LANES": _LANES, "HOW_LOADS": _LOADS, "HOW_STORES": _STORES}
    return next((kind for kind, functions in kinds.items() if function in functions), "HOW_NOW")


def row(op: Op) -> tuple[str, str, str] | None:
    """struct weak_info: what, sub, how."""
    if op.order is not None:
        return f"WEAK_{op.order.what}", _SUB[op.order.what].format(op.order.which), "HOW_LANES"
    operands = op.parse_operands()
    if op.format == "SMEM" and operands and op.semantics:
        whole = op.access is not None and op.access.bytes % 4 == 0
        stores = not any(operand.is_destination for operand in operands)
        return "WEAK_SCALAR" if whole else "WEAK_MESSAGE", "0", "HOW_NOW" if stores else "HOW_LANES"
    call = op.call
    if not call or op.format not in _SPACES or call.function in ("fence", "ds_gws_init", "ds_gws_barrier"):
        return None
    if call.function in _EXCHANGES:
        return "WEAK_EXCHANGE", "0", "HOW_LANES"
    return _SPACES[op.format], "0", "HOW_LANES" if op.format == "SCRATCH" else how(call.function)


def write(outdir: Path) -> Unit:
    """Writes weak_table.c into outdir."""
    lines = ["/* Generated from ptx2amd/vgpu/isa. */", '#include "ops.h"', '#include "weak.h"', ""]
    lines.append("const struct weak_info weak_table[OP_COUNT] = {")
    for index, op in enumerate(all_ops()):
        found = row(op)
        if found:
            lines.append(f"  [{index}] = {{{', '.join(found)}}},   /* {op.name} */")
    lines.append("};")
    path = outdir / "weak_table.c"
    path.write_text("\n".join(lines) + "\n")
    return Unit(path)
