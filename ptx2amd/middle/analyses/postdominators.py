"""Post-dominators: the blocks that all ways from a block to the end lead through."""

from __future__ import annotations

from ptx2amd.isa.effects import EXITS, RETURNS, TRAPS
from ptx2amd.middle.body import Body


class PostDominators:
    """Of each block, as bits of an integer, itself included."""

    def __init__(self, body: Body) -> None:
        blocks = body.blocks
        everything = (1 << len(blocks)) - 1
        after, changed = [everything] * len(blocks), True
        while changed:
            changed = False
            for number in reversed(range(len(blocks))):
                block = blocks[number]
                ends = not block.successors or bool(block.ops and block.ops[-1].does & (RETURNS | EXITS | TRAPS))
                ways = 0 if ends else everything
                for successor in block.successors:
                    ways &= after[successor]
                new = ways | 1 << number
                changed |= new != after[number]
                after[number] = new
        self.of = after
        self._nearest: dict[int, int] = {}

    def nearest(self, number: int) -> int:
        """The immediate post-dominator of a block, where lanes that part behind it reconverge; -1: the end."""
        if number not in self._nearest:
            common = self.of[number] & ~(1 << number)
            found = (n for n in range(len(self.of)) if common >> n & 1 and self.of[n] == common)
            self._nearest[number] = next(found, -1)
        return self._nearest[number]


__all__ = ["PostDominators"]
