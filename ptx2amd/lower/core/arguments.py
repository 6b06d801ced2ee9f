"""Arguments and results of calls: prototypes as LLVM signatures.

Scalars are passed by value, arrays byval (arguments) or sret (results)."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.names import Storage
from ptx2amd.lower.core.value import Val
from ptx2amd.ptx.ast import Inst, Operand, Proto, Reg, Sym, Var
from ptx2amd.ptx.layout import align_of, size_of
from ptx2amd.records import dataclass


@dataclass(frozen=True, slots=True)
class Signature:
    """The LLVM signature of a prototype: how arguments are passed and results returned."""

    result: str  # "void", "i32", "{ i1, i32 }" ...
    values: tuple[str, ...]  # the LLVM types of PTX results; an array comes by sret
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
    """The signature of a prototype; several results, which are always registers, are returned as a structure."""
    sret = next((var for var in proto.results if is_array(var)), None)
    values = tuple(scalar(var) for var in proto.results if var is not sret)
    parts = (["i1"] if exits else []) + [*values]
    ty = "void" if not parts else parts[0] if len(parts) == 1 else "{ " + ", ".join(parts) + " }"
    return Signature(ty, values, sret, tuple(proto.params), exits)


def pass_argument(fn: FunctionLowering, inst: Inst, param: Var, argument: Operand) -> str:
    """One argument, as text of an LLVM call."""
    if is_array(param):
        return f"ptr addrspace(5) byval({array(param)}) align {align_of(param)} {place(fn, inst, argument)}"
    return argument_value(fn, inst, argument, scalar(param)).t


def argument_value(fn: FunctionLowering, inst: Inst, argument: Operand, ty: str) -> Val:
    """The value of a scalar argument: of a register, a constant, or a .param variable."""
    if isinstance(argument, Sym) and isinstance(fn.names.get(argument.name), Storage):
        return fn.op(ty, f"load {ty}, {fn.symbol_address(argument.name).t}")
    ptx_type = "pred" if ty == "i1" else f"b{ty[1:]}"
    return fn.value(Reg(argument.name) if isinstance(argument, Sym) else argument, ptx_type)


def take_result(fn: FunctionLowering, inst: Inst, result: Operand, v: Val) -> None:
    """Write a scalar result to a register or a .param variable."""
    if isinstance(result, Sym) and isinstance(fn.names.get(result.name), Storage):
        fn.do(f"store {v.t}, {fn.symbol_address(result.name).t}")
    else:
        assert isinstance(result, Reg | Sym)
        fn.assign(Reg(result.name), v, f"b{v.ty[1:]}")


def place(fn: FunctionLowering, inst: Inst, operand: Operand) -> Val:
    if not isinstance(operand, Sym):
        fn.refuse(inst, "an array parameter that is no .param variable")
    return fn.symbol_address(operand.name)
