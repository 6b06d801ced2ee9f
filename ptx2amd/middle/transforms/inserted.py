"""Instructions that transformations put into a body: of the table, or internal ones."""

from __future__ import annotations

from functools import cache

from ptx2amd.isa import internal
from ptx2amd.isa.match import match
from ptx2amd.ptx.ast import Guard, Imm, Inst, Operand, Reg, Shape, Sym

ANY = Reg("_")
ANCHOR = Shape("$anchor", internal.ANCHOR, {}, (), ())
HIDDEN = Shape("$hidden.u32", internal.HIDDEN, {"t": "u32"}, ("d", "a"), ("u32", "u32"))
WAIT = Shape("$wait", internal.WAIT, {}, ("a", "b"), ("u32", ""))
WAIT_ALL = Shape("$wait.wave", internal.WAIT, {"wave": "wave"}, ("a", "b"), ("u32", ""))  # also other warps
ROUND = Shape("$spin_round", internal.SPIN_ROUND, {}, ("d", "a"), ("u32", "u32"))
PATIENT = Shape("$spin_patient", internal.SPIN_PATIENT, {}, ("p", "a", "b"), ("pred", "u32", "u32"))
#: Roles of labels: an entry of the loop around, through a dispatch block; the same, where lanes wait for others.
ENTRY, WAITING = "entry", "waiting"


def made(shape: Shape, line: int, *operands: Operand, guard: Guard | None = None) -> Inst:
    return Inst(shape, operands, guard, line)


def branch(line: int, label: str, guard: Guard | None = None) -> Inst:
    return made(_shape("bra", Sym("")), line, Sym(label), guard=guard)


def is_equal(line: int, result: Reg, register: Operand, number: int) -> Inst:
    """setp.eq.u32 of a register and a number."""
    return made(_shape("setp.eq.u32", ANY, ANY, ANY), line, result, register, Imm("u", number))


def move(type_: str) -> Shape:
    """mov of a PTX type, predicates too."""
    return _shape(f"mov.{type_}", ANY, ANY)


@cache
def _shape(opcode: str, *operands: Operand) -> Shape:
    """Of an instruction; the same each time, as shapes are known by their identities. Found at its first use: most
    kernels need none."""
    return match(opcode, operands)


__all__ = [
    *("ANCHOR", "ENTRY", "HIDDEN", "PATIENT", "ROUND", "WAIT", "WAITING", "WAIT_ALL"),
    *("branch", "is_equal", "made", "move"),
]
