"""Makes lanes wait for lanes of their warp that are elsewhere in a loop."""

from __future__ import annotations

from itertools import pairwise

from ptx2amd.isa import internal
from ptx2amd.middle.analyses.exchanges import is_collective
from ptx2amd.middle.analyses.uneven_loops import uneven
from ptx2amd.middle.transforms.exchange import Exchange, labelled, replaced
from ptx2amd.middle.unit import Unit


def uneven_loops(unit: Unit) -> None:
    """At merged exchanges of uneven loops, and at all else there that needs lanes together."""
    if not unit.exchanges:
        return
    found, others = uneven(unit.body, {id(exchange.anchor) for exchange in unit.exchanges})
    if not found:
        return
    body, count = unit.exchanges[0].body, len(unit.exchanges)
    alone = [op for op in body.ops() if id(op.inst) in others]
    more = [Exchange(body, number, [op]) for number, op in enumerate(alone, count)]
    for exchange in (*(merged for merged in unit.exchanges if id(merged.anchor) in found), *more):
        exchange.wait()
    unit.exchanges += more
    unit.transform(labelled(replaced(body, unit.exchanges)))


def lock_loops(unit: Unit) -> None:
    """At all operations that need others with them, in the loops of locks whose lanes may need others on the way."""
    labels = [label for lock, label in unit.places if lock.gathers]
    if not labels:
        return
    body = unit.body
    loops = {body.components[body.labels[label]] for label in labels}
    inside = (block for number, block in enumerate(body.blocks) if body.components[number] in loops)
    alone = [
        op
        for block in inside
        for before, op in pairwise([None, *block.ops])
        if op is not None and is_collective(op) and (before is None or before.inst.shape.form is not internal.WAIT)
    ]
    exchanges = [Exchange(body, number, [op]) for number, op in enumerate(alone, len(unit.exchanges))]
    for exchange in exchanges:
        exchange.wait()
    unit.transform(labelled(replaced(body, exchanges)))
