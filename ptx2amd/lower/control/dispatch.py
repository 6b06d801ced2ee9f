"""Loops with a dispatch block, which branches by a number: loops with several entries (irreducible.py), and loops in
which lanes wait for others (meeting.py). In the latter, all exits lead through the dispatch block too: it then knows
which lanes are left, and LLVM 22 loses lanes if a loop that other lanes stay in has several exits.

All back edges lead to the dispatch block through one more block: LLVM makes two nested loops of a loop with several
back edges, and lanes of the outer one would wait for those in the inner one, which may need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptx2amd.codegen.workarounds import avoided
from ptx2amd.lower.control import meeting
from ptx2amd.lower.control.irreducible import entries
from ptx2amd.lower.control.loop import Loop
from ptx2amd.lower.core.names import Target
from ptx2amd.lower.warp.lanes import anchor
from ptx2amd.middle.transforms.inserted import enters, waits

if TYPE_CHECKING:
    from ptx2amd.lower.core.function import FunctionLowering
    from ptx2amd.lower.core.value import Val


def prepare(fn: FunctionLowering, flow: dict[str, list[str]]) -> list[Loop]:
    """Find the loops that get a dispatch block, and note their labels."""
    entities = (entity for declared in fn.names.declared.values() for entity in declared.values())
    labels = [entity for entity in entities if isinstance(entity, Target)]
    waiting = {label.block for label in labels if waits(label.name)}
    entered = {label.block for label in labels if enters(label.name)}
    found = enumerate(entries(flow, "", entered))
    loops = [Loop(f"loop{i}", first, members, not waiting.isdisjoint(first)) for i, (first, members) in found]
    if not avoided.applies("entries"):
        loops = [loop for loop in loops if loop.waits]
    for loop in loops:
        fn.entry.append(f"  %{loop.name} = alloca i32, addrspace(5)")
        fn.dispatches.update({block: (loop, number) for number, block in enumerate(loop.entries)})
        if loop.waits:
            fn.within.update(dict.fromkeys(loop.members, loop))
            meeting.prepare(fn, loop.name)
    return loops


def way(fn: FunctionLowering, block: str) -> str:
    """The block to jump to on the way to another. Where a dispatch block is between them it is one of this jump alone:
    were it shared with jumps from inside, it would be an entry of its own."""
    step = _step(fn, block)
    if step is None:
        return block
    edge = fn.block("edge")
    fn.edges.append((edge, fn.here, *step))
    return edge


def _step(fn: FunctionLowering, block: str) -> tuple[Loop, int] | None:
    """The dispatch block between the current label and a block, and the number to go by."""
    around = fn.within.get(fn.here)
    if around is not None and block not in around.members:
        return around, around.leave(block)
    return fn.dispatches.get(block)


def come_to(fn: FunctionLowering, block: str) -> None:
    """At a label: fall into it, or into a dispatch block instead."""
    if not fn.ended():
        step = _step(fn, block)
        if step is not None:
            _go(fn, fn.here, *step)
    fn.here = block
    fn.label(f"{block}.body" if block in fn.dispatches else block)


def _go(fn: FunctionLowering, here: str, loop: Loop, number: int) -> None:
    """From behind label `here`."""
    fn.do(f"store i32 {number}, ptr addrspace(5) %{loop.name}")
    if loop.waits:
        meeting.come(fn, loop.name)
    fn.branch(f"{loop.name}.{'again' if here in loop.members else 'dispatch'}")


def finish(fn: FunctionLowering, loops: list[Loop]) -> None:
    """The blocks of jumps by dispatch blocks, and these."""
    for edge, here, loop, number in fn.edges:
        fn.label(edge)
        _go(fn, here, loop, number)
    for loop in loops:
        _dispatch(fn, loop)


def _dispatch(fn: FunctionLowering, loop: Loop) -> None:
    """The one entry of a loop, and its one back edge. The number is opaque: LLVM would follow constants through
    the dispatch, and make several entries or exits again."""
    fn.label(f"{loop.name}.again")
    anchor(fn)
    fn.branch(f"{loop.name}.dispatch")
    fn.label(f"{loop.name}.dispatch")
    number = fn.opaque(fn.op("i32", f"load i32, ptr addrspace(5) %{loop.name}"))
    if loop.waits:
        meeting.note_moves(fn, loop.name)
    if loop.leaves:
        out = fn.op("i1", f"icmp uge {number.t}, {len(loop.entries)}")
        fn.branch(out, f"{loop.name}.leave", f"{loop.name}.stay")
        fn.label(f"{loop.name}.stay")
    if loop.waits:
        meeting.note_lanes(fn, loop.name)
    _switch(fn, number, [(f"{block}.body", i) for i, block in enumerate(loop.entries)])
    if loop.leaves:
        fn.label(f"{loop.name}.leave")
        number = fn.opaque(number)
        outside = [(fn.block("edge") if block in fn.dispatches else block, i) for block, i in loop.leaves.items()]
        _switch(fn, number, outside)
        for (edge, _), block in zip(outside, loop.leaves, strict=True):
            if block in fn.dispatches:
                fn.label(edge)
                _go(fn, loop.entries[0], *fn.dispatches[block])


def _switch(fn: FunctionLowering, number: Val, ways: list[tuple[str, int]]) -> None:
    cases = " ".join(f"i32 {i}, label %{block}" for block, i in ways[1:])
    fn.do(f"switch i32 {number}, label %{ways[0][0]} [ {cases} ]")
