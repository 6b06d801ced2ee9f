"""HIP as data: the exports of AMD's libamdhip64, with their C types.

From it are generated the prototypes of the software GPU's library, the drop-in libraries that replace AMD's
(vgpu/dropin), the pointers through which libcuda calls HIP, and checks against AMD's libraries and headers.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from ptx2amd.api import generate
from ptx2amd.api.hip.row import Function
from ptx2amd.api.spec import Api

__all__ = ["AREAS", "Function", "functions", "header", "prototypes", "table_texts"]

AREAS = (
    "device", "error", "context", "stream", "event", "memory", "pool", "virtual", "sharing", "copy", "fill", "array",
    "texture", "texture_reference", "module", "launch", "graph", "graph_node", "graph_exec", "capture", "graphics",
    "program", "per_thread", "undeclared",
)  # fmt: skip

#: The C headers with HIP's types.
TYPES = Path(__file__).parent / "include"
API = Api(name="hip", status="hipError_t", header="hip_types.h", null="hipErrorInvalidValue")


@cache
def functions() -> tuple[Function, ...]:
    """All functions, area by area."""
    return tuple(row for area in AREAS for row in import_module(f"{__name__}.{area}").ROWS)


def prototypes() -> str:
    """C declarations of the functions that the software GPU has."""
    return generate.prototypes(API, (row for row in functions() if row.ours))


def header() -> dict[str, str]:
    """hip.h: the functions of the software GPU's library, which exports them."""
    declared = f"#pragma GCC visibility push(default)\n{prototypes()}#pragma GCC visibility pop\n"
    return {"hip.h": generate.header("hip.h", declared, ('"hip_types.h"', '"vgpu_api.h"'))}


def table_texts() -> dict[str, str]:
    """The pointers through which libcuda calls a HIP library; a missing function returns hipErrorNotSupported."""
    rows = sorted((row for row in functions() if row.shim), key=lambda row: row.symbol)
    table = [(row.symbol.removeprefix("hip"), row, row.shim_since) for row in rows]
    return generate.pointers("hip", "int", table, ['"hip_types.h"'])
