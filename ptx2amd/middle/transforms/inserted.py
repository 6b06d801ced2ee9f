"""Instructions that transformations put into a body: of the table, or internal ones."""

from __future__ import annotations

from functools import cache

from ptx2amd.isa import internal
from ptx2amd.isa.match import match
from ptx2amd.ptx.ast import Guard, Inst, Operand, Reg, Shape, Sym

ANY = Reg("_")
BRA = match("bra", (Sym(""),))
SETP = match("setp.eq.u32", (ANY, ANY, ANY))
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


@cache
def move(type_: str) -> Shape:
    """mov of a PTX type, predicates too; the same each time, as shapes are known by their identities."""
    return match(f"mov.{type_}", (ANY, ANY))


__all__ = [
    *("ANCHOR", "BRA", "ENTRY", "HIDDEN", "PATIENT", "ROUND", "SETP", "WAIT", "WAITING", "WAIT_ALL"),
    *("made", "move"),
]
