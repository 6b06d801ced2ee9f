"""Instructions that changes of a body put into it (spins.py, exchanges.py)."""

from __future__ import annotations

from functools import cache

from ptx2amd.isa.form import Form
from ptx2amd.ptx.ast import Guard, Inst, Operand, Shape

BRA = Shape("bra", Form("bra.[uni:uni]", "a:label", "bra"), {"uni": ""}, ("a",), ("",))
ANCHOR = Shape("", Form("", "", "anchor"), {}, (), ())
HIDDEN = Shape("mov.u32", Form("mov.{t:u32}", "d:t, a:t", "hidden"), {"t": "u32"}, ("d", "a"), ("u32", "u32"))
WAIT = Shape("", Form("", "a:u32, b:label", "wait"), {}, ("a", "b"), ("u32", ""))
WAIT_ALL = Shape("", Form("", "a:u32, b:label", "wait"), {"wave": "wave"}, ("a", "b"), ("u32", ""))  # also other warps
WAITING = "$waiting"
SETP = Shape(
    "setp.eq.u32",
    Form("setp.{cmp:eq}.{t:u32}", "p:pred, a:t, b:t", "setp"),
    {"cmp": "eq", "t": "u32"},
    ("p", "a", "b"),
    ("pred", "u32", "u32"),
)


def waiting(number: int) -> str:
    """The label of a place where lanes wait for those of their warp that are elsewhere in the loops around."""
    return f"{WAITING}{number}"


def waits(label: str) -> bool:
    return label.startswith(WAITING)


def made(shape: Shape, line: int, *operands: Operand, guard: Guard | None = None) -> Inst:
    return Inst(shape, operands, guard, line)


@cache
def move(type_: str) -> Shape:
    """mov of a PTX type, predicates too; the same each time, as shapes are known by their identities."""
    return Shape(f"mov.{type_}", Form(f"mov.{{t:{type_}}}", "d:t, a:t", "mov"), {"t": type_}, ("d", "a"), (type_,) * 2)


__all__ = ["ANCHOR", "BRA", "HIDDEN", "SETP", "WAIT", "WAITING", "WAIT_ALL", "made", "move", "waiting", "waits"]
