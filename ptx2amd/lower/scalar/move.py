"""mov: packing and unpacking happen as operands are read and written."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.ptx.ast import Inst


@lowers("mov")
def mov(fn: FunctionLowering, inst: Inst) -> None:
    t = inst.shape.mods.get("t", "b128")
    fn.put(inst, "d", fn.src(inst, "a", t))


@lowers("mov_vector")
def mov_vector(fn: FunctionLowering, inst: Inst) -> None:
    """Element by element; all are read before one is written."""
    fn.put_vec(inst, "d", fn.vec(inst, "a"))
