"""Functions that a module only declares, as CUDA's runtime provides them: output, memory, conditions of graphs."""

from __future__ import annotations

from ptx2amd.interface.environment import CELL_HEAP, CELL_OUTPUT
from ptx2amd.lower.core.arguments import argument_value, take_result
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.ptx.ast import Inst, Operand

PLACE = [f"%{what}.{axis}" for what in ("ctaid", "tid") for axis in "xyz"]


def runtime_call(
    fn: FunctionLowering, inst: Inst, name: str, results: tuple[Operand, ...], arguments: tuple[Operand, ...]
) -> bool:
    """Lower a call of one of these functions; false for any other function."""
    if name == "vprintf":
        fmt, args = (argument_value(fn, inst, a, "i64") for a in arguments)
        v = _printf(fn, fmt, args)
        if results:
            take_result(fn, inst, results[0], v)
    elif name == "__assertfail":
        message, file, line, function = (
            argument_value(fn, inst, a, t) for a, t in zip(arguments, ("i64", "i64", "i32", "i64"), strict=False)
        )
        place = fn.pack([fn.special(name) for name in PLACE], "<6 x i32>")
        fn.call(fn.helper("ptx2amd_assert_fail"), "void", message, file, line, function, place, env(fn, CELL_OUTPUT))
        fn.trap()
    elif name == "malloc":
        size = argument_value(fn, inst, arguments[0], "i64")
        memory = fn.call(fn.helper("ptx2amd_malloc"), "i64", size, env(fn, CELL_HEAP))
        if results:
            take_result(fn, inst, results[0], memory)
    elif name == "free":
        fn.call(fn.helper("ptx2amd_free"), "void", argument_value(fn, inst, arguments[0], "i64"), env(fn, CELL_HEAP))
    elif name == "cudaGraphSetConditional" and len(arguments) == 2:
        handle, value = (argument_value(fn, inst, a, t) for a, t in zip(arguments, ("i64", "i32"), strict=True))
        _set_condition(fn, handle, value)
    else:
        return False
    return True


def _printf(fn: FunctionLowering, fmt: Val, args: Val) -> Val:
    return fn.call(fn.helper("ptx2amd_vprintf"), "i32", fmt, args, env(fn, CELL_OUTPUT), fn.const("i32", 0))


def _set_condition(fn: FunctionLowering, handle: Val, value: Val) -> None:
    """The handle of a condition is the address of its cell, which the host reads (shim/src/graph/conditional.c)."""
    cell = fn.op("ptr addrspace(1)", f"inttoptr {handle.t} to ptr addrspace(1)")
    fn.do(f"store atomic {value.t}, {cell.t} monotonic, align 4")


def env(fn: FunctionLowering, cell: int) -> Val:
    """Cell `cell` of the environment block that the loader fills, an i64."""
    fn.module.shared_globals.cells.add(cell)
    at = f"getelementptr (i8, ptr addrspace(1) @__ptx2amd_env, i64 {8 * cell})"
    return fn.op("i64", f"load i64, ptr addrspace(1) {at}, align 8, !invariant.load !0")
