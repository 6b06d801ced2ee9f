"""A function's body as it is lowered: changed where lanes of a wave have to meet elsewhere than in the text."""

from __future__ import annotations

from ptx2amd.isa.effects import ATOMIC
from ptx2amd.lower.core.summary import body, items
from ptx2amd.ptx.ast import Function, Inst, Module, Scope, Shape
from ptx2amd.target import exchanges, spins
from ptx2amd.target.flow import Flow
from ptx2amd.target.inline import Matters, flat, inlined, of_one_way


def prepared(module: Module, function: Function) -> Scope:
    """The body to lower. In the function's own, operations that lanes come to by different ways are one; where it has
    locks, the lanes of a wave meet after the releases. Functions whose calls take part in either are in their place."""
    if of_one_way(module):
        return body(module, function)
    whole = inlined(module, function, Matters(module)).scope
    asks = any(isinstance(item, Inst) and _asks(item.shape) for item in items(whole))
    parameters = [var.name for var in function.proto.params] if function.kind == "entry" else None
    if asks and (locks := spins.locks(Flow(simple := flat(whole), parameters))):
        return spins.transform(exchanges.transform(simple, parameters), locks)
    changed = exchanges.transform(whole, parameters)
    return body(module, function) if changed is whole else changed


def _asks(shape: Shape) -> bool:
    return bool(shape.form.does & ATOMIC) or shape.mods.get("sem") in spins.STRONG


__all__ = ["prepared"]
