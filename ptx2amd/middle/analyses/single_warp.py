"""Waits of a single warp of a block, for other blocks."""

from __future__ import annotations

from functools import cached_property

from ptx2amd.isa.effects import CALLS
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.middle.analyses.block_view import BlockView
from ptx2amd.middle.analyses.divergence import WARP
from ptx2amd.middle.op import Op, Register
from ptx2amd.ptx.ast import Imm, Operand


class SingleWarp(BlockView):
    """A view that recognises branches that only one warp, or one thread, of a block takes."""

    def others_only(self, head: int, polled: Op) -> bool:
        """Whether one warp waits while the others write nothing before the barrier at which they join it: then it
        waits for other blocks."""
        other = self.alone(head, thread=False)
        if other is None or self.called:
            return False
        ends = self.flow.hits(lambda op: self.meets(op) or bool(op.does & CALLS) or self.visible(op, polled))
        return all(map(self.meets, self.flow.first(other, ends)))

    def alone(self, head: int, thread: bool) -> int | None:
        """The other successor of a branch that lets only one warp (one thread) reach block `head`."""
        return next((outside for within, outside in self._narrow[thread] if head in within), None)

    @cached_property
    def _narrow(self) -> dict[bool, list[tuple[set[int], int]]]:
        """The branches that one warp only, or one thread only (True), takes to one side: the blocks that control gets
        to on this side only, and the other side."""
        found: dict[bool, list[tuple[set[int], int]]] = {False: [], True: []}
        for branch in self.flow.forks():
            number, sides = branch.block, self.flow.blocks[branch.block].successors
            for inside, outside in (sides, sides[::-1]):
                holds = self.flow.holds(branch, inside)
                narrow = [t for t in found if self._few(branch, branch.predicate, holds, t)]
                if narrow:
                    ways = [0, outside] if number else [outside]
                    within = self.flow.reach(inside, [number]).difference(*(self.flow.reach(w, [number]) for w in ways))
                    for thread in narrow:
                        found[thread].append((within, outside))
        return found

    def _few(self, reader: Op, register: Register, holds: bool, thread: bool, depth: int = 8) -> bool:
        """Whether a predicate that `reader` reads equals `holds` only for the threads of one warp (for one
        thread)."""
        writes = self.flow.sources(reader, register)
        if len(writes) > 1 and depth:
            return self._flagged(reader, writes, holds, thread, depth - 1)
        if len(writes) != 1 or not depth:
            return False
        [op] = writes
        if op.inst.guard is not None:
            return False
        joins = "and" if holds else "or"
        if op.mods.get("t") == "pred" and op.computes in ("not", joins):
            return any(self._few(op, r, holds != (op.computes == "not"), thread, depth - 1) for r in op.reads)
        if op.computes != "compare" or "c" in op.inst.shape.names:
            return False
        sides = [self._kind(op, op.inst.get(name)) for name in "ab"]
        if sides == ["thread", "thread"] and self._negated(op):
            sides = ["thread", "same"]  # tid.x + tid.y == -tid.z
        if op.mods["cmp"] in ("eq", "ne"):
            kinds = ("thread",) if thread else ("thread", "warp")
            return (op.mods["cmp"] == "eq") == holds and "same" in sides and any(k in sides for k in kinds)
        limit = self.flow.constant(op.inst.get("b"))
        if thread or sides[0] != "thread" or limit is None:
            return False
        match op.mods["cmp"], holds:
            case ("lt" | "lo", True) | ("ge" | "hs", False):
                return limit <= WARP
            case ("le" | "ls", True) | ("gt" | "hi", False):
                return limit < WARP
        return False

    def _flagged(self, reader: Op, writes: set[Op], holds: bool, thread: bool, depth: int) -> bool:
        """The same of a predicate that constants are moved to: the one that makes it `holds` gets to the reader
        by a branch that few threads take, as it is overwritten on the other side."""
        if any(op.computes != "copy" or not isinstance(op.inst.get("a"), Imm) for op in writes):
            return False
        if any(op.inst.guard is not None for op in writes):
            return False  # which overwrites nothing for some
        [*makers] = [op for op in writes if bool(self.flow.constant(op.inst.get("a"))) == holds]
        others = {op.block for op in writes} - {op.block for op in makers}
        for maker in makers:
            branch, block = self.flow.branch(maker.block), self.flow.blocks[maker.block]
            if branch is None:
                return False
            sides = [side for side in block.successors if reader.block in self.flow.reach(side, others)]
            if not all(self._few(branch, branch.predicate, self.flow.holds(branch, s), thread, depth) for s in sides):
                return False
        return bool(makers)

    def _negated(self, op: Op) -> bool:
        made = [register.writes[0] for register in op.reads if register.writes]
        return any(m.computes == "neg" for m in made)

    def _kind(self, op: Op, operand: Operand | None) -> str:
        """ "same" for all threads of the block, another one for each "thread" or "warp", or "" (unknown)."""
        if isinstance(operand, Imm):
            return "same"
        register = self.flow.register(operand)
        if register is None:
            return ""
        if register.special.startswith("%tid."):
            return "thread" if self.axes <= {"%tid.x"} or self._linear else ""
        if register.special.startswith(("%ntid", "%ctaid", "%nctaid", "%gridid")):
            return "same"
        if register.special == "%warpid":
            return "warp"
        made = set(map(self._made, self.flow.sources(op, register)))
        return made.pop() if len(made) == 1 else ""

    @cached_property
    def _kinds(self) -> dict[Op, str]:
        return {}

    def _made(self, made: Op) -> str:
        """The kind of an operation's result."""
        if made not in self._kinds:
            self._kinds[made] = ""  # for what depends on itself
            self._kinds[made] = self._result(made)
        return self._kinds[made]

    def _result(self, made: Op) -> str:
        if not made.pure:
            return "same" if self.flow.is_parameter(made) and not self.called else ""
        sources = [o for n, o in zip(made.inst.shape.names, made.inst.operands, strict=True) if n not in DESTINATIONS]
        kinds = {self._kind(made, source) for source in sources}
        if kinds == {"same"}:
            return "same"
        match made.computes:
            case "copy" | "convert" | "neg" | "not" if len(kinds) == 1:
                return kinds.pop()
            case "add" | "sub" | "mad" | "mul" | "shl" | "or" | "xor" if kinds <= {"same", "thread"}:
                return "thread"
            case "shr" if kinds <= {"same", "thread"}:
                by = self.flow.constant(made.inst.get("b"))
                return "" if by is None or 5 < by < 10 else "warp" if by <= 5 else "same"
        return ""

    @cached_property
    def axes(self) -> set[str]:
        """The parts of %tid that the function reads."""
        return {r.special for op in self.flow.ops() for r in op.reads if r.special.startswith("%tid.")}

    @cached_property
    def _linear(self) -> bool:
        """Whether a function that reads several parts of %tid reads the block's sizes, to number its threads."""
        return any(r.special.startswith("%ntid.") for op in self.flow.ops() for r in op.reads)


__all__ = ["SingleWarp"]
