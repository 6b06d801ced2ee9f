"""Values that pass through a thread's own memory. Debug builds, and functions with parameters by reference, keep there
what the conditions of loops are made of."""

from __future__ import annotations

from collections import defaultdict

from ptx2amd.isa.effects import ATOMIC, READS, WRITES
from ptx2amd.middle.analyses.addresses import place
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Op
from ptx2amd.ptx.ast import Var
from ptx2amd.ptx.variables import width


def stored(body: Body) -> dict[Op, set[Op]]:
    """The loads of local variables, each with the stores whose values it may read. Stores whose address is not known
    to be in the variable are left out."""
    names = {item.name for item in body.declarations if isinstance(item, Var) and item.space == "local"}
    loads: list[tuple[Op, str, range]] = []
    stores: dict[str, dict[int, list[tuple[Op, range]]]] = defaultdict(lambda: defaultdict(list))  # by block, in order
    for op in body.ops() if names else ():
        if not op.does & (READS | WRITES) or op.does & ATOMIC or op.space not in ("", "local") or "t" not in op.mods:
            continue  # without a type: hints, which move no values
        here = place(body, op)
        if not isinstance(here, tuple) or here[0] not in names:
            continue
        name, at = here
        taken = range(at, at + width(op.mods["t"]) // 8 * int(op.mods.get("vec", "")[1:] or 1))
        if op.does & WRITES:
            stores[name][op.block].append((op, taken))
        else:
            loads.append((op, name, taken))
    return {load: _reaching(body, load, taken, stores[name]) for load, name, taken in loads}


def _reaching(body: Body, load: Op, taken: range, stores: dict[int, list[tuple[Op, range]]]) -> set[Op]:
    """The stores to some bytes that no other store overwrites on the way to a load of them."""
    found: set[Op] = set()
    seen: set[int] = set()
    work = [(load.block, load.index)]
    while work:
        number, end = work.pop()
        for op, other in reversed(stores.get(number, ())):
            if op.index < end and other.start < taken.stop and taken.start < other.stop:
                found.add(op)
                if op.inst.guard is None and other.start <= taken.start and taken.stop <= other.stop:
                    break
        else:
            new = set(body.blocks[number].predecessors) - seen
            seen |= new
            work += [(previous, len(body.blocks[previous].ops)) for previous in new]
    return found
