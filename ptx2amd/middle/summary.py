"""What has to be known about a function before it is lowered: its callees, whether it exits, its FP modes."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.isa.effects import ARRIVES, BLOCK_BARRIER, CALLS, EXITS, GROUP_BARRIER
from ptx2amd.ptx.ast import Addr, Function, Imm, Inst, Module, Operand, Reg, Scope, Sym, Var, Vec
from ptx2amd.ptx.parse import parse_body
from ptx2amd.ptx.reserved import NAME as RESERVED
from ptx2amd.ptx.special import SPECIAL
from ptx2amd.records import dataclass, field

WARP_GROUP = (16, 128)  # the barriers of warp groups: behind those of PTX (lower/warp/named.py), their threads


@dataclass(slots=True)
class Summary:
    """functions: names of symbols that the body mentions; taken: those of them whose address it takes (all but the
    callees of direct calls); specials: the special registers that it names; exits: has `exit`; flush, ieee: f32
    instructions with and without .ftz; shared: static shared variables declared inside; indirect: whether it calls
    through addresses; parts: barriers that may be for a part of the block, as (number, thread count) with None for what
    a register holds; the count of an arrival is 0; wholes: the numbers of those of the whole block."""

    functions: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    specials: set[str] = field(default_factory=set)
    exits: bool = False
    flush: int = 0
    ieee: int = 0
    shared: list[Var] = field(default_factory=list)
    approximate: set[str] = field(default_factory=set)
    indirect: bool = False
    parts: set[tuple[int | None, int | None]] = field(default_factory=set)
    wholes: set[int | None] = field(default_factory=set)


def items(scope: Scope) -> Iterator[Inst | Var]:
    """Instructions and variables of a body."""
    return (item for item in scope.items if isinstance(item, Inst | Var))


def body(module: Module, function: Function) -> Scope:
    """The parsed body of a defined function."""
    if function.scope is None:
        parse_body(module, function)
    assert function.scope is not None
    return function.scope


def summarise(module: Module, function: Function) -> Summary:
    """Summarise a function's body (which gets parsed)."""
    summary = Summary()
    known: dict[int, tuple[bool, int]] = {}  # shape -> is no call, f32 mode (1 flush, 2 ieee)
    for item in items(body(module, function)):
        if isinstance(item, Var):
            if item.space == "shared" and item.count != 0:
                summary.shared.append(item)
            continue
        assert isinstance(item, Inst)
        shape = item.shape
        facts = known.get(id(shape))
        if facts is None:
            ftz = shape.mods.get("ftz")
            mode = 0 if ftz is None or "f32" not in shape.types else 1 if ftz else 2
            facts = known[id(shape)] = (not shape.form.does & CALLS, mode)
            if shape.form.exact.startswith("approx"):
                summary.approximate.add(shape.opcode)
            if shape.form.does & EXITS:
                summary.exits = True
        if shape.form.does & GROUP_BARRIER:
            summary.parts.add(WARP_GROUP)
        if shape.form.does & BLOCK_BARRIER:
            which = _known(item.get("a"))
            if "b" in shape.names:
                summary.parts.add((which, 0 if shape.form.does & ARRIVES else _known(item.get("b"))))
            else:
                summary.wholes.add(which)
        if facts[1] == 1:
            summary.flush += 1
        elif facts[1] == 2:
            summary.ieee += 1
        if facts[0]:
            for operand in item.operands:
                _names(operand, summary.taken, summary.specials)
            continue
        summary.indirect |= "b" in shape.names  # a prototype
        for name, operand in zip(shape.names, item.operands, strict=True):
            _names(operand, summary.functions if name == "f" else summary.taken, summary.specials)
    summary.functions |= summary.taken
    return summary


def _known(operand: Operand | None) -> int | None:
    return operand.bits if isinstance(operand, Imm) else None


def _names(operand: Operand, symbols: set[str], specials: set[str]) -> None:
    if isinstance(operand, Reg):
        if operand.name in SPECIAL:
            specials.add(operand.name)
            if operand.name.startswith(RESERVED):
                symbols.add(RESERVED)
    elif isinstance(operand, Sym):
        symbols.add(operand.name)
    elif isinstance(operand, Addr):
        _names(operand.base, symbols, specials)
    elif isinstance(operand, Vec):
        for item in operand.items:
            _names(item, symbols, specials)
