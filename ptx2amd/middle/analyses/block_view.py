"""A function body as the analyses of hazards look at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod

from ptx2amd.isa.effects import ARRIVES, ATOMIC, BLOCK_BARRIER, CALLS, EXCHANGES, EXITS, READS, RETURNS, WRITES
from ptx2amd.middle.analyses.postdominators import control_dependences
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Op, Register

OWN = ("%tid", "%warpid", "%clock", "%globaltimer")  # registers that warps of a block read different values from
OWN_ROW = ("%tid.y", "%tid.z", *OWN[1:])  # in blocks whose rows fill a warp, one or several


class BlockView:
    """A kernel's body with its callees inlined, or a function that cannot be inlined (`called`), as the search for
    hazards sees it. shape: of blocks, empty when any; asking: functions apart that may return
    what other threads write; offsets: of a kernel's parameters, in bytes."""

    def __init__(
        self, flow: Body, shape: Sequence[int], asking: set[str], offsets: dict[str, int] | None = None
    ) -> None:
        self.flow, self.shape, self.asking = flow, shape, asking
        self.block = prod(shape) if shape else 0  # threads
        self.called, self.offsets = offsets is None, offsets or {}

    @cached_property
    def stores(self) -> set[str]:
        """The spaces that the function writes to."""
        return {op.space for op in self.flow.ops() if self.writes(op)}

    def writes(self, op: Op) -> bool:
        """Whether another thread may see what an operation writes."""
        return bool(op.does & WRITES) and op.space not in ("local", "param")

    def whole(self, op: Op) -> bool:
        """Whether a barrier is for the whole block."""
        count = op.inst.get("b")
        known = self.flow.constant(count)
        return not op.does & ARRIVES and (count is None or (0 < self.block == known))

    def meets(self, op: Op) -> bool:
        return bool(op.does & BLOCK_BARRIER) and self.whole(op)

    def visible(self, op: Op, polled: Op) -> bool:
        return self.writes(op) and (op.space == polled.space or not op.space or not polled.space)

    def differs(self, reader: Op, register: Register, own: tuple[str, ...] = OWN) -> bool:
        """Whether an operation's sources may differ between warps of a block. own: the registers that may."""
        seen: set[tuple[Op, Register]] = set()
        work = [(reader, register)]
        while work:
            op, register = work.pop()
            if (op, register) in seen:
                continue
            seen.add((op, register))
            sources = self.flow.sources(op, register)
            if register.special.startswith(own) or any(map(self._own, sources)):
                return True
            work += [(source, r) for source in sources if not source.does & BLOCK_BARRIER for r in source.reads]
            deciders = self.flow.analysis(control_dependences)
            decided: set[int] = set().union(*(deciders[source.block] for source in sources))
            for number in decided - deciders[op.block]:  # which source it is, or of which round of a loop
                last = self.flow.blocks[number].ops[-1]
                work += [(last, r) for r in last.reads]
        return False

    def _own(self, op: Op) -> bool:
        """Whether an operation's result may differ between threads or warps; so may a parameter of a function."""
        private = op.does & READS and op.space == "local"
        return bool(op.does & (ATOMIC | EXCHANGES | CALLS) or private) or (self.called and self.flow.is_parameter(op))

    @cached_property
    def differing(self) -> set[Register]:
        """The registers that may, at any time, hold what differs between warps of a block."""
        users: dict[Register, list[Op]] = {}
        for op in self.flow.ops():
            for register in op.reads:
                users.setdefault(register, []).append(op)
        work = [r for r in users if r.special.startswith("%tid") or r.special == "%warpid"]
        if self.called:  # nothing is known of its parameters
            work += [r for op in self.flow.ops() if self.flow.is_parameter(op) for r in op.writes]
        found = set(work)
        while work:
            for op in users.get(work.pop(), ()):
                if not op.does & BLOCK_BARRIER:
                    for register in op.writes:
                        if register not in found:
                            found.add(register)
                            work.append(register)
        return found

    def exits(self, loop: set[int]) -> Iterator[Op]:
        """The conditional operations by which threads leave a loop."""
        for number in loop:
            block = self.flow.blocks[number]
            if block.ops and block.ops[-1].inst.guard is not None:
                last = block.ops[-1]
                if last.does & (RETURNS | EXITS) or not loop.issuperset(block.successors):
                    yield last


__all__ = ["BlockView"]
