"""The passes between PTX and LLVM IR: the whole list, in their order."""

from __future__ import annotations

import time
from collections.abc import Callable

from ptx2amd.isa.effects import ATOMIC
from ptx2amd.middle.analyses import locks
from ptx2amd.middle.analyses.dispatch_loops import dispatch_loops
from ptx2amd.middle.body import Body
from ptx2amd.middle.calls import CallGraph
from ptx2amd.middle.transforms import converge_locks, merge_exchanges, wait_in_loops
from ptx2amd.middle.transforms.inline import inlined, of_one_way
from ptx2amd.middle.unit import Unit
from ptx2amd.plan import steps
from ptx2amd.plan.kernel import KernelPlan, Planning, Request
from ptx2amd.ptx.ast import Function
from ptx2amd.records import dataclass


@dataclass(frozen=True, slots=True)
class Pass:
    """A step of the pipeline over a function. what: what it does, for its documentation."""

    name: str
    what: str
    run: Callable[[Unit], None]


@dataclass(frozen=True, slots=True)
class PlanPass:
    """A step that decides a part of the kernel's plan."""

    name: str
    what: str
    run: Callable[[Planning], None]


#: Called after each pass over a function, with the CPU seconds that it took.
Observer = Callable[[Pass | PlanPass, Unit, float], None]


def inline_calls(unit: Unit) -> None:
    found = inlined(unit.calls.module, unit.function, unit.calls.matters.inlined)
    unit.inlined = found.functions - found.left
    if found.scope is not unit.function.scope:  # else there was nothing to inline
        unit.body = Body(found.scope, unit.function)


def find_locks(unit: Unit) -> None:
    if any(op.does & ATOMIC or op.mods.get("sem") in locks.STRONG for op in unit.body.ops()):
        unit.locks = unit.body.analysis(locks.locks)


def single_entry_loops(unit: Unit) -> None:
    unit.loops = unit.body.analysis(dispatch_loops)


def keep_calls(unit: Unit) -> None:
    if not unit.transformed:
        unit.body = unit.written


PASSES: tuple[Pass | PlanPass, ...] = (
    Pass("inline-calls", "inlines functions that access memory or exchange values between lanes", inline_calls),
    # of kernels
    PlanPass("find-hazards", "finds where warps of a block wait for each other", steps.find_hazards),
    PlanPass("choose-mapping", "chooses how warps lie in waves: native, paired, padded", steps.choose_mapping),
    PlanPass("choose-float-mode", "chooses whether f32 denormals are flushed", steps.choose_float_mode),
    PlanPass("plan-shared-memory", "places shared memory in LDS or the arena", steps.plan_shared_memory),
    PlanPass("plan-launch-words", "decides which words launches append to parameters", steps.plan_launch_words),
    PlanPass("plan-barriers", "finds barriers for a part of the block", steps.plan_barriers),
    # of each function that is lowered
    Pass("find-locks", "finds locks that threads take by trying until an atomic succeeds", find_locks),
    Pass("merge-exchanges", "merges exchanges that lanes of a warp reach on different paths", merge_exchanges.run),
    Pass("wait-in-uneven-loops", "lanes wait at exchanges that others reach a round later", wait_in_loops.uneven_loops),
    Pass("converge-locks", "lanes that hold a lock and those that try for it reconverge", converge_locks.run),
    Pass("wait-in-lock-loops", "lanes wait at exchanges in the loops of such locks", wait_in_loops.lock_loops),
    Pass("keep-calls", "takes the function as written, where nothing but calls was changed", keep_calls),
    Pass("single-entry-loops", "finds loops that are to be entered through a dispatch block", single_entry_loops),
)


class Pipeline:
    """Runs the passes on the functions of a module. observe: called after each of them."""

    def __init__(self, calls: CallGraph, observe: Observer | None = None) -> None:
        self.calls, self.observe = calls, observe

    def kernel(self, function: Function, request: Request) -> tuple[KernelPlan, Body]:
        """A kernel's plan, and its body as it is lowered. Raises Unsupported."""
        unit = Unit(self.calls, function)
        planning = Planning(unit, request)
        self._run(unit, planning)
        return planning.plan(), unit.body

    def function(self, function: Function) -> Body:
        """The body of a function as it is lowered."""
        unit = Unit(self.calls, function)
        self._run(unit, None)
        return unit.body

    def _run(self, unit: Unit, planning: Planning | None) -> None:
        as_written = of_one_way(self.calls.module)
        for step in PASSES:
            start = time.process_time() if self.observe else 0.0
            if isinstance(step, Pass) and not as_written:
                step.run(unit)
            elif isinstance(step, PlanPass) and planning is not None:
                step.run(planning)
            else:
                continue
            if self.observe:
                unit.decided = planning.decided if planning else {}
                self.observe(step, unit, time.process_time() - start)


__all__ = ["PASSES", "Observer", "Pass", "Pipeline", "PlanPass"]
