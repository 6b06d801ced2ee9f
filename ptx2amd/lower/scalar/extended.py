"""Carry-flag arithmetic. After a subtraction the flag is 1 when there was no borrow."""

from __future__ import annotations

from ptx2amd.codegen.workarounds import avoided
from ptx2amd.isa.effects import READS_CARRY, WRITES_CARRY
from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.scalar.fp import is_constant
from ptx2amd.lower.scalar.integer import binary, high_product, signed, sources
from ptx2amd.ptx.ast import Inst


def with_overflow(fn: FunctionLowering, op: str, a: Val, b: Val) -> tuple[Val, Val]:
    """a + b or a - b (op "uadd", "usub"), and the carry or borrow out of it."""
    pair = f"{{ {a.ty}, i1 }}"
    both = fn.op(pair, f"call {pair} @llvm.{op}.with.overflow.{a.ty}({a.t}, {b.t})")
    return fn.op(a.ty, f"extractvalue {both.t}, 0"), fn.op("i1", f"extractvalue {both.t}, 1")


def chained(fn: FunctionLowering, inst: Inst, op: str, a: Val, b: Val, flag: Val | None) -> tuple[Val, Val]:
    """a + b + flag or a - b - flag, and the carry or borrow out of it."""
    if inst.shape.form.does & WRITES_CARRY and avoided.applies("carries"):
        a, b = (v if is_constant(v) else fn.opaque(v) for v in (a, b))
    v, out = with_overflow(fn, op, a, b)
    if flag is None:
        return v, out
    v, second = with_overflow(fn, op, v, fn.op(v.ty, f"zext {flag.t} to {v.ty}"))
    return v, binary(fn, "or", out, second)


def finish(fn: FunctionLowering, inst: Inst, v: Val, flag: Val) -> None:
    if inst.shape.form.does & WRITES_CARRY:
        fn.set_carry(flag)
    fn.put(inst, "d", v)


@lowers("add_carry")
def add_carry(fn: FunctionLowering, inst: Inst) -> None:
    """add.cc, addc."""
    a, b = sources(fn, inst, "ab")
    carry = fn.carry() if inst.shape.form.does & READS_CARRY else None
    finish(fn, inst, *chained(fn, inst, "uadd", a, b, carry))


@lowers("sub_carry")
def sub_carry(fn: FunctionLowering, inst: Inst) -> None:
    """sub.cc, subc."""
    a, b = sources(fn, inst, "ab")
    borrow = binary(fn, "xor", fn.carry(), 1) if inst.shape.form.does & READS_CARRY else None
    v, out = chained(fn, inst, "usub", a, b, borrow)
    finish(fn, inst, v, binary(fn, "xor", out, 1))


@lowers("mad_carry")
def mad_carry(fn: FunctionLowering, inst: Inst) -> None:
    """mad.cc, madc: the carry is that of the addition."""
    a, b, c = sources(fn, inst)
    carry = fn.carry() if inst.shape.form.does & READS_CARRY else None
    low = inst.shape.mods["part"] == "lo"
    product = binary(fn, "mul", a, b) if low else high_product(fn, a, b, signed(inst))
    finish(fn, inst, *chained(fn, inst, "uadd", product, c, carry))
