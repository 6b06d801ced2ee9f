"""Post-dominators, the blocks on every path from a block to the end of the function, and control dependence, which
follows from them."""

from __future__ import annotations

from ptx2amd.isa.effects import EXITS, RETURNS, TRAPS
from ptx2amd.middle.body import Body
from ptx2amd.middle.graph import Graph


class PostDominators:
    """Of each block, as bits of an integer, itself included."""

    def __init__(self, body: Body) -> None:
        self.of = _behind(body, leaving=True)
        self._nearest: dict[int, int] = {}

    def nearest(self, number: int) -> int:
        """The immediate post-dominator of a block, where lanes that diverge at its end reconverge; -1: the function's
        end."""
        if number not in self._nearest:
            common = self.of[number] & ~(1 << number)
            found = (n for n in range(len(self.of)) if common >> n & 1 and self.of[n] == common)
            self._nearest[number] = next(found, -1)
        return self._nearest[number]


def control_dependences(body: Body) -> list[set[int]]:
    """For each block, the blocks whose branches decide, directly or not, whether a thread that does not end on the
    way reaches it."""
    behind = _behind(body, leaving=False)
    found: list[set[int]] = [set() for _ in body.blocks]
    for number, block in enumerate(body.blocks):
        for successor in block.successors if len(block.successors) > 1 else ():
            decided = behind[successor] & ~(behind[number] & ~(1 << number))
            while decided:
                found[decided.bit_length() - 1].add(number)
                decided ^= 1 << decided.bit_length() - 1
    for each in found:
        work = list(each)
        while work:
            new = found[work.pop()] - each
            each |= new
            work += new
    return found


def _behind(body: Graph, leaving: bool) -> list[int]:
    """The blocks that every path from each block reaches. leaving: a conditional return, exit or trap is an edge to
    the end."""
    blocks = body.blocks
    everything = (1 << len(blocks)) - 1
    after, changed = [everything] * len(blocks), True
    while changed:
        changed = False
        for number in reversed(range(len(blocks))):
            block = blocks[number]
            ends = leaving and bool(block.ops) and bool(block.ops[-1].does & (RETURNS | EXITS | TRAPS))
            ways = everything if block.successors and not ends else 0
            for successor in block.successors:
                ways &= after[successor]
            new = ways | 1 << number
            changed |= new != after[number]
            after[number] = new
    return after


__all__ = ["PostDominators", "control_dependences"]
