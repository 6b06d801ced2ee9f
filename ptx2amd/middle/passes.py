"""The passes that a function goes through before it is lowered: the whole list, in their order."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ptx2amd.isa.effects import ATOMIC
from ptx2amd.middle.analyses import locks
from ptx2amd.middle.summary import items
from ptx2amd.middle.transforms import converge_locks, merge_exchanges, wait_in_loops
from ptx2amd.middle.transforms.inline import Matters, inlined, of_one_way
from ptx2amd.middle.unit import Unit
from ptx2amd.ptx.ast import Function, Inst, Module, Scope


@dataclass(frozen=True, slots=True)
class Pass:
    """A step of the pipeline. what: what it does, for its documentation."""

    name: str
    what: str
    run: Callable[[Unit], None]


#: Called after each pass over a function, with the CPU seconds that it took.
Observer = Callable[[Pass, Unit, float], None]


def inline_calls(unit: Unit) -> None:
    unit.replace(inlined(unit.module, unit.function, Matters(unit.module)).scope)


def find_locks(unit: Unit) -> None:
    if any(isinstance(item, Inst) and _asks(item) for item in items(unit.scope)):
        unit.locks = locks.locks(unit.body)


def _asks(inst: Inst) -> bool:
    return bool(inst.shape.form.does & ATOMIC) or inst.shape.mods.get("sem") in locks.STRONG


def keep_calls(unit: Unit) -> None:
    if not unit.transformed:
        unit.replace(unit.written)


PASSES = (
    Pass("inline-calls", "inlines functions that access memory or exchange values between lanes", inline_calls),
    Pass("find-locks", "finds locks that threads take by trying until an atomic succeeds", find_locks),
    Pass("merge-exchanges", "merges exchanges that lanes of a warp reach on different ways", merge_exchanges.run),
    Pass("wait-in-uneven-loops", "lanes wait at exchanges that others reach a round later", wait_in_loops.uneven_loops),
    Pass("converge-locks", "lanes that hold a lock and those that try for it reconverge", converge_locks.run),
    Pass("wait-in-lock-loops", "lanes wait at exchanges in the loops of such locks", wait_in_loops.lock_loops),
    Pass("keep-calls", "takes the function as written, where nothing but calls was changed", keep_calls),
)


def run(unit: Unit, observe: Observer | None = None) -> None:
    """Run all passes on a function."""
    for step in () if of_one_way(unit.module) else PASSES:
        start = time.process_time() if observe else 0.0
        step.run(unit)
        if observe:
            observe(step, unit, time.process_time() - start)


def prepared(module: Module, function: Function, observe: Observer | None = None) -> Scope:
    """The statements of a function as they are lowered."""
    unit = Unit(module, function)
    run(unit, observe)
    return unit.scope


__all__ = ["PASSES", "Observer", "Pass", "prepared", "run"]
