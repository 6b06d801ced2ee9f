"""Generates the handlers of memory instructions: one line each over the functions of runtime/vmem/vmem.h."""

from __future__ import annotations

from pathlib import Path

from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.table import memory_ops, symbol
from ptx2amd.vgpu.unit import RUNTIME, Handlers, Unit

PARTS = (
    "vmem_lanes.c", "vmem_atomic.c", "vmem_flat.c", "vmem_scratch.c", "vmem_buffer.c", "vmem_ds.c", "vmem_image.c",
    "weak_lanes.c",
)  # fmt: skip
FLAGS = ("-O3",)


def handler(op: Op) -> str:
    """The C function of one memory row. ValueError if its meaning is not a call."""
    call = op.call
    if not call:
        raise ValueError(f"{op.name}: {op.semantics!r}")
    body = "__sync_synchronize(); (void)w; return NEXT(i);"
    if call.function != "fence":
        body = f"return VG({call.function})({', '.join(('w', 'i', *call.arguments))});"
    return f"const struct inst *VG(op_{symbol(op)})(struct wave *w, const struct inst *i) {{ {body} }}"


def write(outdir: Path) -> Handlers:
    """Writes memory_handlers.c into outdir; returns the units and the handlers' names."""
    rows = [op for op in memory_ops() if op.semantics]
    path = outdir / "memory_handlers.c"
    path.write_text(
        '/* Generated from ptx2amd/vgpu/isa. */\n#include "vmem.h"\n\n' + "\n".join(map(handler, rows)) + "\n"
    )
    units = [Unit(path, "build"), *(Unit(RUNTIME / "vmem" / part, "build", FLAGS) for part in PARTS)]
    return Handlers(units, {symbol(op): (f"op_{symbol(op)}", "") for op in rows})
