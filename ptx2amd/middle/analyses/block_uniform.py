"""Instructions that all warps of a block reach, apart from those that have ended: no branch on a path to them has a
condition that may differ between warps."""

from __future__ import annotations

from ptx2amd.isa.effects import ATOMIC, CALLS, ENDS, EXCHANGES, POLLS, READS
from ptx2amd.middle.analyses.postdominators import PostDominators
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Op, Register

SAME = ("%ntid", "%ctaid", "%nctaid", "%gridid", "%nwarpid")  # special registers alike in a block
UNCHANGING = frozenset(("param", "const"))  # spaces that nobody writes while a kernel runs


def block_uniform(body: Body) -> set[int]:
    """The ids of the instructions in a kernel's body that all warps of a block reach."""
    return {id(op.inst) for op in BlockUniformity(body).operations()}


class BlockUniformity:
    """What may differ between the warps of a block."""

    def __init__(self, flow: Body) -> None:
        self.flow = flow
        self.divergent: set[Register] = set()
        self.divergent_blocks: set[int] = set()  # blocks

    def operations(self) -> list[Op]:
        """The operations that all warps reach."""
        ops = list(self.flow.ops())
        splits = [(last, self._ways(last.block)) for last in map(self._split, range(len(self.flow.blocks))) if last]
        known = -1
        while known != len(self.divergent) + len(self.divergent_blocks):
            known = len(self.divergent) + len(self.divergent_blocks)
            for op in ops:
                if op.block in self.divergent_blocks or self._differs(op) or any(map(self._different, op.reads)):
                    self.divergent.update(op.writes)
            for last, blocks in splits:
                if any(map(self._different, last.reads)):
                    self.divergent_blocks |= blocks
        return [op for op in ops if op.block not in self.divergent_blocks and not self._guarded(op)]

    def _differs(self, op: Op) -> bool:
        """Whether an operation's result may differ between two warps that execute it at different times."""
        does = op.does
        return bool(does & (CALLS | ATOMIC | EXCHANGES | POLLS) or (does & READS and op.space not in UNCHANGING))

    def _different(self, register: Register) -> bool:
        if register.writes:
            return register in self.divergent
        return not register.special.startswith(SAME) and register.name not in (self.flow.parameters or ())

    def _guarded(self, op: Op) -> bool:
        return op.inst.guard is not None and self._different(op.predicate)

    def _split(self, number: int) -> Op | None:
        """The operation that ends a block in several ways."""
        ops = self.flow.blocks[number].ops
        if not ops or not ops[-1].does & ENDS:
            return None
        return ops[-1] if ops[-1].inst.guard is not None or len(self.flow.blocks[number].successors) > 1 else None

    def _ways(self, number: int) -> set[int]:
        """The blocks on the paths from a block to its reconvergence point."""
        meeting = self._nearest(number)
        found: set[int] = set()
        for successor in self.flow.blocks[number].successors:
            found |= self.flow.reach(successor, [meeting])
        return found

    def _nearest(self, number: int) -> int:
        """The immediate post-dominator of a block; -1: the end."""
        return self.flow.analysis(PostDominators).nearest(number)


__all__ = ["block_uniform"]
