"""Loops in which some lanes of a warp may reach an exchange while others are elsewhere in the loop."""

from __future__ import annotations

from ptx2amd.middle.analyses.exchanges import is_collective
from ptx2amd.middle.body import Body


def uneven(body: Body, anchors: set[int]) -> tuple[set[int], set[int]]:
    """Those of some instructions, by their ids, that not all paths around a loop contain equally often: a lane may be
    there while others of its warp, on their way to it, are still elsewhere in the loop. And all other operations of
    these loops, by the ids of their instructions, that need several lanes: a lane that has waited continues alone."""
    places = {op.block: id(op.inst) for op in body.ops() if id(op.inst) in anchors}
    found: set[int] = set()
    others: set[int] = set()
    loops: dict[int, set[int]] = {}
    reached = body.reach(0)
    for number in reached:
        loops.setdefault(body.components[number], set()).add(number)
    for loop in loops.values():
        here = loop & places.keys()
        before = {previous for number in loop for previous in body.blocks[number].predecessors} & reached - loop
        entries = {number for number in loop if number == 0 or not before.isdisjoint(body.blocks[number].predecessors)}
        if here and not _even(body, loop, entries, here):
            found.update(places[block] for block in here)
            others.update(id(op.inst) for number in loop - here for op in body.blocks[number].ops if is_collective(op))
    return found, others


def _even(body: Body, loop: set[int], entries: set[int], here: set[int]) -> bool:
    """Whether all paths around a loop from its entries contain the same number of the blocks `here`."""
    blocks = body.blocks
    if not any(successor in loop for number in loop for successor in blocks[number].successors):
        return True  # no loop
    if entries & here:
        return False
    passed, work, rounds = dict.fromkeys(entries, 0), list(entries), set()
    while work:
        number = work.pop()
        after = passed[number] + (number in here)
        for successor in blocks[number].successors:
            if successor in entries:
                rounds.add(after)
            elif successor in loop:
                if successor not in passed:
                    passed[successor] = after
                    work.append(successor)
                elif passed[successor] != after:
                    return False
    return len(rounds) <= 1
