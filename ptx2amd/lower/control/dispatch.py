"""Loops with a dispatch block, which branches by a number: loops with several entries, and loops in which lanes wait
for others (meeting.py); middle/analyses/dispatch_loops.py finds them. In the latter, all exits lead through the
dispatch block too: it then knows which lanes are left, and LLVM 22 loses lanes if a loop that other lanes stay in
has several exits.

All back edges lead to the dispatch block through one more block: LLVM makes two nested loops of a loop with several
back edges, and lanes of the outer one would wait for those in the inner one, which may need them."""

from __future__ import annotations

from ptx2amd.codegen.workarounds import avoided
from ptx2amd.lower.control import meeting
from ptx2amd.lower.control.loop import Loop
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.warp.lanes import anchor
from ptx2amd.middle.analyses.dispatch_loops import DispatchLoop


def prepare(fn: FunctionLowering, loops: list[DispatchLoop]) -> list[Loop]:
    """Register the blocks of the loops that get a dispatch block."""
    kept = [loop for loop in loops if loop.waits or avoided.applies("entries")]
    found = [Loop(f"loop{number}", loop) for number, loop in enumerate(kept)]
    for loop in found:
        fn.entry.append(f"  %{loop.name} = alloca i32, addrspace(5)")
        fn.dispatches.update({block: (loop, number) for number, block in enumerate(loop.entries)})
        if loop.waits:
            fn.within.update(dict.fromkeys(loop.members, loop))
            meeting.prepare(fn, loop.name)
    return found


def name(block: int | str) -> str:
    """The first LLVM block of a labelled block, or the block of one of the function's ends, which are not part of its
    body."""
    return f"L{block}" if isinstance(block, int) else block


def way(fn: FunctionLowering, block: int | str) -> str:
    """The LLVM block to jump to in order to reach a block. If a dispatch block is between them, this is a block of
    this jump alone: shared with jumps from inside the loop, it would be a second entry."""
    step = _step(fn, block)
    if step is None:
        return name(block)
    edge = fn.block("edge")
    fn.edges.append((edge, fn.here, *step))
    return edge


def _step(fn: FunctionLowering, block: int | str) -> tuple[Loop, int] | None:
    """The dispatch block between the current block and another, and the number to dispatch on."""
    around = fn.within.get(fn.here)
    if around is not None and block not in around.members:
        return around, around.leave(block)
    return fn.dispatches.get(block) if isinstance(block, int) else None


def come_to(fn: FunctionLowering, block: int) -> None:
    """Start a labelled block: fall through into it, or into its dispatch block."""
    if not fn.ended():
        step = _step(fn, block)
        if step is not None:
            _go(fn, fn.here, *step)
    fn.here = block
    fn.block_id += 1
    fn.label(f"{name(block)}.body" if block in fn.dispatches else name(block))


def _go(fn: FunctionLowering, here: int, loop: Loop, number: int) -> None:
    """Jump to a dispatch block with a number, from block `here`."""
    fn.do(f"store i32 {number}, ptr addrspace(5) %{loop.name}")
    if loop.waits:
        meeting.come(fn, loop.name)
    fn.branch(f"{loop.name}.{'again' if here in loop.members else 'dispatch'}")


def finish(fn: FunctionLowering, loops: list[Loop]) -> None:
    """Emit the dispatch blocks, and the blocks of the jumps to them."""
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
    _switch(fn, number, [(f"{name(block)}.body", i) for i, block in enumerate(loop.entries)])
    if loop.leaves:
        fn.label(f"{loop.name}.leave")
        number = fn.opaque(number)
        outside = [(fn.block("edge") if block in fn.dispatches else name(block), i) for block, i in loop.leaves.items()]
        _switch(fn, number, outside)
        for (edge, _), block in zip(outside, loop.leaves, strict=True):
            if isinstance(block, int) and block in fn.dispatches:
                fn.label(edge)
                _go(fn, loop.entries[0], *fn.dispatches[block])


def _switch(fn: FunctionLowering, number: Val, ways: list[tuple[str, int]]) -> None:
    cases = " ".join(f"i32 {i}, label %{block}" for block, i in ways[1:])
    fn.do(f"switch i32 {number}, label %{ways[0][0]} [ {cases} ]")
