"""Calls through handles: the table of a code object's functions."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.ptx.handles import STEP


def function_at(fn: FunctionLowering, handle: Val) -> Val:
    """The address of the function with a handle (an i64)."""
    known = fn.module.calls.handles
    first = min(known.values(), default=0)
    place = fn.op("i64", f"sub {handle.t}, {first}")
    number = fn.call("llvm.fshr.i64", "i64", place, place, fn.const("i64", STEP))
    found, unknown = fn.block("function"), fn.block("unknown")
    fn.branch(fn.op("i1", f"icmp ult {number.t}, {len(known)}"), found, unknown)
    fn.label(unknown)
    fn.trap()
    fn.do("unreachable")
    fn.label(found)
    table = fn.module.function_table(fn)
    at = fn.op(table.ty, f"getelementptr inbounds ptr, {table.t}, {number.t}")
    return fn.op("ptr", f"load ptr, {at.t}, align 8, !invariant.load !0")
