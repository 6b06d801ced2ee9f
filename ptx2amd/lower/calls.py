"""Calls: PTX functions as LLVM functions, indirect calls, and the functions that CUDA's runtime provides.

Scalars are passed by value, arrays byval (arguments) or sret (results). A function in which a thread may
`exit` returns an i1 beside its result that says so; the caller then exits in turn."""

from __future__ import annotations

from dataclasses import dataclass

from ptx2amd.lower import dispatch
from ptx2amd.lower.data import align_of, size_of
from ptx2amd.lower.function import FunctionLowering
from ptx2amd.lower.handles import function_at
from ptx2amd.lower.names import Register, Storage
from ptx2amd.lower.registry import lowers
from ptx2amd.lower.value import Val
from ptx2amd.ptx.ast import BranchTargets, Inst, Operand, Proto, Reg, Sym, Var, Vec
from ptx2amd.target.environment import HEAP, OUTPUT

PLACE = [f"%{what}.{axis}" for what in ("ctaid", "tid") for axis in "xyz"]
DYNAMIC_PARALLELISM = ("cudaLaunchDevice", "cudaGetParameterBuffer", "__cudaCDP", "cudaDevice", "cudaStream")


@dataclass(frozen=True, slots=True)
class Signature:
    """The LLVM side of a prototype: how results come back and arguments go in."""

    result: str  # "void", "i32", "{ i1, i32 }" ...
    value: str  # the PTX result's LLVM type, "" when there is none or it comes by sret
    sret: Var | None
    params: tuple[Var, ...]
    exits: bool


def is_array(var: Var) -> bool:
    return var.count >= 0 or size_of(var) > 8


def scalar(var: Var) -> str:
    """LLVM type of a scalar parameter."""
    return "i1" if var.type == "pred" else f"i{8 * size_of(var)}"


def array(var: Var) -> str:
    return f"[{size_of(var)} x i8]"


def signature(proto: Proto, exits: bool) -> Signature:
    """How functions of a prototype are called; several results are laid side by side (one is usual)."""
    sret = value = None
    if proto.results:
        result = proto.results[0]
        if is_array(result):
            sret = result
        else:
            value = scalar(result)
    parts = (["i1"] if exits else []) + ([value] if value else [])
    ty = "void" if not parts else parts[0] if len(parts) == 1 else "{ " + ", ".join(parts) + " }"
    return Signature(ty, value or "", sret, tuple(proto.params), exits)


@lowers("call")
def call(fn: FunctionLowering, inst: Inst) -> None:
    callee = inst.get("f")
    results, arguments = (_items(inst.get(name)) for name in "da")
    if isinstance(callee, Sym) and not isinstance(fn.names.table.get(callee.name), Register):
        name = fn.module.module.aliases.get(callee.name, callee.name)
        function = fn.module.module.functions.get(name)
        if function is None:
            fn.refuse(inst, f"{name} is not declared")
        if not function.text and function.scope is None:
            _runtime_call(fn, inst, name, results, arguments)
            return
        target = fn.module.request(fn, function)
        how = signature(function.proto, fn.module.may_exit(function))
    else:
        assert callee is not None
        proto = _prototype(fn, inst)
        handle = fn.value(Reg(callee.name) if isinstance(callee, Sym) else callee, "b64")
        target = str(function_at(fn, handle))
        how = signature(proto, fn.module.indirect_may_exit)
    _emit(fn, inst, target, how, results, arguments)


def _items(operand: Operand | None) -> tuple[Operand, ...]:
    return () if operand is None else operand.items if isinstance(operand, Vec) else (operand,)


def _prototype(fn: FunctionLowering, inst: Inst) -> Proto:
    label = inst.get("b")
    entity = fn.names.table.get(label.name) if isinstance(label, Sym) else None
    if isinstance(entity, BranchTargets):  # .calltargets: all of one prototype
        return fn.module.module.functions[entity.targets[0]].proto
    if not isinstance(entity, Proto):
        fn.refuse(inst, "an indirect call without a prototype")
    return entity


def _emit(
    fn: FunctionLowering,
    inst: Inst,
    target: str,
    how: Signature,
    results: tuple[Operand, ...],
    arguments: tuple[Operand, ...],
) -> None:
    fn.calls = True
    if len(arguments) != len(how.params):
        fn.refuse(inst, f"{len(arguments)} arguments for {len(how.params)} parameters")
    passed = []
    if how.sret is not None:
        place = _place(fn, inst, results[0])
        passed.append(f"ptr addrspace(5) sret({array(how.sret)}) align {align_of(how.sret)} {place}")
    for param, argument in zip(how.params, arguments, strict=True):
        passed.append(pass_argument(fn, inst, param, argument))
    text = f"call {how.result} {target}({', '.join(passed)})" + ("" if target[0] == "@" else " convergent")
    if how.result == "void":
        fn.do(text)
        return
    v = fn.op(how.result, text)
    exited = None
    if how.exits:
        exited = v if not how.value else fn.op("i1", f"extractvalue {v.t}, 0")
        v = v if not how.value else fn.op(how.value, f"extractvalue {v.t}, 1")
    if how.value and results:
        take_result(fn, inst, results[0], v)
    if exited is not None:
        rest = fn.block("back")
        fn.branch(exited, dispatch.way(fn, fn.exit_block), rest)
        fn.label(rest)


def pass_argument(fn: FunctionLowering, inst: Inst, param: Var, argument: Operand) -> str:
    """One argument as it stands in an LLVM call."""
    if is_array(param):
        return f"ptr addrspace(5) byval({array(param)}) align {align_of(param)} {_place(fn, inst, argument)}"
    return argument_value(fn, inst, argument, scalar(param)).t


def argument_value(fn: FunctionLowering, inst: Inst, argument: Operand, ty: str) -> Val:
    """The value of a scalar argument: of a register, a constant, or a .param variable."""
    if isinstance(argument, Sym) and isinstance(fn.names.table.get(argument.name), Storage):
        return fn.op(ty, f"load {ty}, {fn.symbol_address(argument.name).t}")
    ptx_type = "pred" if ty == "i1" else f"b{ty[1:]}"
    return fn.value(Reg(argument.name) if isinstance(argument, Sym) else argument, ptx_type)


def take_result(fn: FunctionLowering, inst: Inst, result: Operand, v: Val) -> None:
    """Write a scalar result to a register or a .param variable."""
    if isinstance(result, Sym) and isinstance(fn.names.table.get(result.name), Storage):
        fn.do(f"store {v.t}, {fn.symbol_address(result.name).t}")
    else:
        assert isinstance(result, Reg | Sym)
        fn.assign(Reg(result.name), v, f"b{v.ty[1:]}")


def _place(fn: FunctionLowering, inst: Inst, operand: Operand) -> Val:
    if not isinstance(operand, Sym):
        fn.refuse(inst, "an array parameter that is no .param variable")
    return fn.symbol_address(operand.name)


def _runtime_call(
    fn: FunctionLowering, inst: Inst, name: str, results: tuple[Operand, ...], arguments: tuple[Operand, ...]
) -> None:
    """A function that is only declared: one that CUDA's device runtime provides."""
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
        fn.call(fn.helper("ptx2amd_assert_fail"), "void", message, file, line, function, place, env(fn, OUTPUT))
        fn.trap()
    elif name == "malloc":
        size = argument_value(fn, inst, arguments[0], "i64")
        memory = fn.call(fn.helper("ptx2amd_malloc"), "i64", size, env(fn, HEAP))
        if results:
            take_result(fn, inst, results[0], memory)
    elif name == "free":
        fn.call(fn.helper("ptx2amd_free"), "void", argument_value(fn, inst, arguments[0], "i64"), env(fn, HEAP))
    elif name == "cudaGraphSetConditional" and len(arguments) == 2:
        handle, value = (argument_value(fn, inst, a, t) for a, t in zip(arguments, ("i64", "i32"), strict=True))
        _set_condition(fn, handle, value)
    elif name.startswith(DYNAMIC_PARALLELISM):
        fn.refuse(inst, f"{name}: launching kernels from the device is not supported")
    else:
        fn.refuse(inst, f"{name} has no definition in this module")


def _printf(fn: FunctionLowering, fmt: Val, args: Val) -> Val:
    return fn.call(fn.helper("ptx2amd_vprintf"), "i32", fmt, args, env(fn, OUTPUT), fn.const("i32", 0))


def _set_condition(fn: FunctionLowering, handle: Val, value: Val) -> None:
    """The handle of a condition is the address of its cell, in memory that the host reads (shim/src/conditional.c)."""
    cell = fn.op("ptr addrspace(1)", f"inttoptr {handle.t} to ptr addrspace(1)")
    fn.do(f"store atomic {value.t}, {cell.t} monotonic, align 4")


def env(fn: FunctionLowering, cell: int) -> Val:
    """Cell `cell` of the environment block that the loader fills, an i64."""
    fn.module.cells.add(cell)
    at = f"getelementptr (i8, ptr addrspace(1) @__ptx2amd_env, i64 {8 * cell})"
    return fn.op("i64", f"load i64, ptr addrspace(1) {at}, align 8, !invariant.load !0")
