"""Accesses of a body to the same address: addresses that are computed in the same way from the same values are the
same. So a lock is recognised although each function that takes or releases it computes its address anew."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from ptx2amd.isa.effects import CARRY
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.middle.body import COPIES, Body
from ptx2amd.middle.op import Op, Register
from ptx2amd.ptx.ast import Addr, Imm, Operand, Reg, Sym

DEPTH = 6  # operations that an address is followed through

#: What registers that are loaded from a thread's own memory hold: an operand of an operation before.
Kept = Mapping[tuple[Op, Register], tuple[Op, Operand]]


def place(flow: Body, op: Op, kept: Kept) -> Hashable:
    """A key for an access's address, equal for equal addresses in one iteration of the loops around; None if it has
    no address."""
    address = op.inst.get("a")
    if not isinstance(address, Addr):
        return None
    base, offset = address.base, address.offset
    if isinstance(base, Reg):
        return _offset(flow, op, base, offset, kept)
    return ("", offset + base.bits) if isinstance(base, Imm) else (base.name, offset + base.offset)


def steps(here: Hashable) -> set[Op]:
    """The writes that change a place from one iteration of a loop to the next: those to registers with several
    writes."""
    if isinstance(here, frozenset):
        return {op for op in here if isinstance(op, Op)} if len(here) > 1 else set()
    return set().union(*map(steps, here)) if isinstance(here, tuple) else set()


def loads(here: Hashable) -> set[Op]:
    """The operations whose results are the unknown parts of a place, such as loads."""
    if isinstance(here, Op):
        return {here}
    return set().union(*map(loads, here)) if isinstance(here, tuple) else set()


def _offset(flow: Body, reader: Op, register: Reg, offset: int, kept: Kept) -> tuple[Hashable, int]:
    """A register's value as another value and a constant."""
    base: Operand | None = register
    for _ in range(16):
        if isinstance(base, Sym):
            return base.name, offset + base.offset
        reader, base, made = _writer(flow, reader, base, kept)
        if isinstance(base, Sym):
            continue
        if made is None:
            break
        if made.computes in COPIES:
            reader, base = made, made.inst.get("a")
        elif made.computes == "add" and isinstance(by := made.inst.get("b"), Imm):
            reader, base, offset = made, made.inst.get("a"), offset + by.bits
        else:
            break
    return _value(flow, reader, base, DEPTH, kept), offset % 2**64


def _writer(flow: Body, reader: Op, operand: Operand | None, kept: Kept) -> tuple[Op, Operand | None, Op | None]:
    """An operand's value as that of another operand of another operation, before it went through the thread's own
    memory, and the only operation that defines it."""
    for _ in range(DEPTH):
        register = flow.register(operand)
        if register is None:
            break
        writes = flow.sources(reader, register)
        [made] = writes if len(writes) == 1 else [None]
        if made is None or made.inst.guard is not None:
            break
        if (made, register) not in kept:
            return reader, operand, made
        reader, operand = kept[made, register]
    return reader, operand, None


def _value(flow: Body, reader: Op, operand: Operand | None, depth: int, kept: Kept) -> Hashable:
    reader, operand, made = _writer(flow, reader, operand, kept)
    register = flow.register(operand)
    if register is None:
        return operand
    if made is None:
        return register, frozenset(flow.sources(reader, register))
    if made.computes in COPIES and isinstance(source := made.inst.get("a"), Reg):
        return _value(flow, made, source, depth, kept)
    if flow.is_parameter(made):
        return made.inst.shape.opcode, made.inst.get("a")
    if not made.pure or made.does & CARRY or not depth or len(made.writes) > 1:
        return made, register
    operands = zip(made.inst.shape.names, made.inst.operands, strict=True)
    values = (_value(flow, made, o, depth - 1, kept) for name, o in operands if name not in DESTINATIONS)
    return made.inst.shape.opcode, *values


__all__ = ["Kept", "loads", "place", "steps"]
