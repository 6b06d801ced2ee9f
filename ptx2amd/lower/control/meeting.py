"""Operations at which lanes wait for others of their warp that are elsewhere in the loops around
(middle/transforms/wait_in_loops.py).

They are entries of the loop's dispatch block (body.py): from there lanes go to them, and back as long as a member that
is in the loop has not come. If no lane has made progress since the last round, all of them continue, as what they
wait for will not happen: PTX leaves such a program undefined, and an endless loop would not help it."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.warp.lanes import active, ballot, ballot_of_wave
from ptx2amd.ptx.ast import Inst, Sym


def prepare(fn: FunctionLowering, loop: str) -> None:
    """Declare the variables that tell whether a lane waited in the last round of a loop."""
    fn.entry.append(f"  %{loop}.waited = alloca i32, addrspace(5)")


def come(fn: FunctionLowering, loop: str, waited: int = 0) -> None:
    """Emitted before a jump to the dispatch block."""
    fn.do(f"store i32 {waited}, ptr addrspace(5) %{loop}.waited")


def note_moves(fn: FunctionLowering, loop: str) -> None:
    """In the dispatch block: whether a lane has made progress since the last round."""
    waited = fn.op("i32", f"load i32, ptr addrspace(5) %{loop}.waited")
    came = fn.op("i1", f"icmp eq {waited.t}, 0")
    fn.do(f"%{loop}.moves = icmp ne {ballot(fn, came).t}, 0")
    if fn.target.paired:
        fn.do(f"%{loop}.wave.moves = icmp ne {ballot_of_wave(fn, came).t}, 0")


def note_lanes(fn: FunctionLowering, loop: str) -> None:
    """Behind it: the lanes that stay in the loop."""
    fn.do(f"%{loop}.lanes = or {active(fn).t}, 0")
    if fn.target.paired:
        fn.do(f"%{loop}.wave.lanes = or {ballot_of_wave(fn, fn.const('i1', 1)).t}, 0")


@lowers("wait")
def wait(fn: FunctionLowering, inst: Inst) -> None:
    """Wait for the members `a`, or for all lanes of the wave, at the label `b`."""
    label = inst.get("b")
    assert isinstance(label, Sym) and fn.body is not None
    block = fn.body.labels[label.name]
    if block not in fn.dispatches:
        return
    loop = fn.dispatches[block][0].name
    if inst.shape.mods.get("wave") and fn.target.paired:
        again = _absent(fn, ballot_of_wave(fn, fn.const("i1", 1)), f"{loop}.wave", "-1")
    else:
        again = _absent(fn, active(fn), loop, str(fn.src(inst, "a")))
    back, go = fn.block("wait"), fn.block("go")
    fn.branch(again, back, go)
    fn.label(back)
    come(fn, loop, waited=1)
    fn.branch(f"{loop}.again")
    fn.label(go)


def _absent(fn: FunctionLowering, here: Val, loop: str, members: str) -> Val:
    """Whether one of the members is in the loop, but not here, and may still come."""
    absent = fn.op(here.ty, f"xor {here.t}, -1")
    absent = fn.op(here.ty, f"and {absent.t}, %{loop}.lanes")
    absent = fn.op(here.ty, f"and {absent.t}, {members}")
    again = fn.op("i1", f"icmp ne {absent.t}, 0")
    return fn.op("i1", f"and {again.t}, {Val('i1', f'%{loop}.moves')}")
