"""Which blocks are executed repeatedly, and in which of them stores of an earlier iteration may still be in flight."""

from __future__ import annotations

from ptx2amd.isa.effects import CALLS, WRITES
from ptx2amd.middle.body import Body

_PRIVATE = ("shared", "local", "param")  # spaces without global memory


class LoopAccesses:
    """loops: the blocks on a cycle; stores: those whose loop writes to global memory, or may do so in a call."""

    def __init__(self, body: Body) -> None:
        self.loops = body.cyclic
        storing = {
            body.components[op.block]
            for op in body.ops()
            if op.does & CALLS or (op.does & WRITES and op.space not in _PRIVATE)
        }
        self.stores = {number for number in self.loops if body.components[number] in storing}
