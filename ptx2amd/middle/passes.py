"""The passes that a function goes through before it is lowered, in their order.

Only a function in which something had to be changed is lowered with its calls inlined; any other as it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptx2amd.isa.effects import ATOMIC
from ptx2amd.middle.analyses import locks
from ptx2amd.middle.summary import body, items
from ptx2amd.middle.transforms import converge_locks, merge_exchanges, wait_in_loops
from ptx2amd.middle.transforms.inline import Matters, inlined, of_one_way
from ptx2amd.middle.unit import Unit
from ptx2amd.ptx.ast import Function, Inst, Module, Scope


@dataclass(frozen=True, slots=True)
class Pass:
    """A step of the pipeline. what: one sentence for its documentation."""

    name: str
    run: Callable[[Unit], None]
    what: str


def find_locks(unit: Unit) -> None:
    """Find the locks that threads spin on, in the body before exchanges are merged."""
    if any(isinstance(item, Inst) and _asks(item) for item in items(unit.scope)):
        unit.locks = locks.locks(unit.body)


def _asks(inst: Inst) -> bool:
    return bool(inst.shape.form.does & ATOMIC) or inst.shape.mods.get("sem") in locks.STRONG


PASSES = (
    Pass("find-locks", find_locks, "finds locks that threads take by trying until an atomic succeeds"),
    Pass(
        "merge-exchanges", merge_exchanges.run, "makes one of exchanges that lanes of a warp come to by different ways"
    ),
    Pass("wait-in-uneven-loops", wait_in_loops.uneven_loops, "lanes wait at exchanges that others reach a round later"),
    Pass("converge-locks", converge_locks.run, "lanes that try for a lock and those that have it reconverge"),
    Pass("wait-in-lock-loops", wait_in_loops.lock_loops, "lanes wait at exchanges in the loops of such locks"),
)


def prepared(module: Module, function: Function) -> Scope:
    """The body of a function as it is lowered."""
    written = body(module, function)
    if of_one_way(module):
        return written
    parameters = [var.name for var in function.proto.params] if function.kind == "entry" else None
    unit = Unit(inlined(module, function, Matters(module)).scope, parameters)
    for each in PASSES:
        each.run(unit)
    return unit.scope if unit.changed else written


__all__ = ["PASSES", "Pass", "prepared"]
