"""Carry-flag arithmetic. Subtraction is a + ~b + carry, so the flag is 1 when there was no borrow."""

from __future__ import annotations

from ptx2amd.lower.function import FunctionLowering, Val
from ptx2amd.lower.integer import binary, high_product, signed, sources
from ptx2amd.lower.registry import lowers
from ptx2amd.ptx.ast import Inst


def add_overflow(fn: FunctionLowering, a: Val, b: Val) -> tuple[Val, Val]:
    """a + b and the carry out of it."""
    pair = f"{{ {a.ty}, i1 }}"
    both = fn.op(pair, f"call {pair} @llvm.uadd.with.overflow.{a.ty}({a.t}, {b.t})")
    return fn.op(a.ty, f"extractvalue {both.t}, 0"), fn.op("i1", f"extractvalue {both.t}, 1")


def add_with_carry(fn: FunctionLowering, inst: Inst, a: Val, b: Val, carry: Val | None) -> None:
    """d = a + b + carry; sets the flag when the instruction says .cc."""
    v, out = add_overflow(fn, a, b)
    if carry is not None:
        v, second = add_overflow(fn, v, fn.op(v.ty, f"zext {carry.t} to {v.ty}"))
        out = binary(fn, "or", out, second)
    if ".cc" in inst.shape.opcode:
        fn.set_carry(out)
    fn.put(inst, "d", v)


@lowers("add_carry")
def add_carry(fn: FunctionLowering, inst: Inst) -> None:
    """add.cc, addc, sub.cc, subc."""
    a, b = sources(fn, inst, "ab")
    name = inst.shape.form.mnemonic
    carry = fn.carry() if name.endswith("c") else None
    if name.startswith("sub"):
        b = binary(fn, "xor", b, -1)
        carry = carry or fn.const("i1", 1)
    add_with_carry(fn, inst, a, b, carry)


@lowers("mad_carry")
def mad_carry(fn: FunctionLowering, inst: Inst) -> None:
    """mad.cc, madc: the carry is that of the addition."""
    a, b, c = sources(fn, inst)
    carry = fn.carry() if inst.shape.form.mnemonic == "madc" else None
    low = inst.shape.mods["part"] == "lo"
    product = binary(fn, "mul", a, b) if low else high_product(fn, a, b, signed(inst))
    add_with_carry(fn, inst, product, c, carry)
