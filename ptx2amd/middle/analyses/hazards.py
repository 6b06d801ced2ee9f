"""Hazards: places where warps of one block wait for each other.

Two warps that share a wave execute together: one that waits in a loop keeps the other from the work that it waits
for. Kernels with such places run padded, one warp a wave. The analysis knows programs that do not
need it: loops that end by themselves, waits for other blocks by one warp of the block (grid barriers,
decoupled look-back), and locks and exchanges that are transformed (middle/transforms)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from math import prod

from ptx2amd.isa.effects import ATOMIC, BLOCK_BARRIER, CALLS, POLLS, READS, WRITES
from ptx2amd.middle.analyses.block_view import OWN_ROW
from ptx2amd.middle.analyses.divergence import ALL_LANES, WARP
from ptx2amd.middle.analyses.exchanges import is_exchange, meetings, members
from ptx2amd.middle.analyses.locks import gathers, is_look, is_try, locks
from ptx2amd.middle.analyses.lookback import LookBack
from ptx2amd.middle.analyses.own_memory import stored, stored_at_known_places
from ptx2amd.middle.analyses.single_warp import SingleWarp
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Op, Register
from ptx2amd.middle.transforms.inline import inlined
from ptx2amd.middle.unit import Unit
from ptx2amd.ptx.ast import Function, Sym
from ptx2amd.ptx.heads import param_layout
from ptx2amd.records import dataclass

SELF_CHANGING = frozenset(("add", "inc", "dec"))


@dataclass(frozen=True, slots=True)
class Hazard:
    """A place where a warp may wait for another warp of its block, or (`lanes`) a lane for another lane of its warp,
    which is a hazard in every mapping. line: of the PTX text, 1-based. aliases: it is one only where two of the
    kernel's pointers, named by their parameters' offsets in bytes, point into one allocation; rows: only in blocks
    whose size in x does not divide a warp's."""

    line: int
    what: str
    lanes: bool = False
    aliases: frozenset[tuple[int, int]] = frozenset()
    rows: bool = False

    @property
    def at_launch(self) -> bool:
        """Whether it depends on the launch's arguments or block size."""
        return bool(self.aliases) or self.rows

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


def hazards(unit: Unit, others: Iterable[Function]) -> list[Hazard]:
    """The hazards of a kernel, whose calls have been inlined; others: the functions that it may call. Each place once,
    in the order of lines."""
    kernel, module, matters = unit.function, unit.calls.module, unit.calls.matters
    shape = kernel.directives.get("reqntid") or ()
    apart = [f for f in others if matters(f) and f.proto.name not in unit.inlined]
    seen = {f.proto.name for f in apart}  # by themselves, so not once more where they call each other
    flows = [
        Body(inlined(module, f, lambda g: matters.inlined(g) and g.proto.name not in seen).scope, f) for f in apart
    ]
    asking = _asking({f.proto.name: flow for f, flow in zip(apart, flows, strict=True)})
    offsets = {var.name: at for var, (at, _, _) in zip(kernel.proto.params, param_layout(kernel), strict=True)}
    views = [Waits(unit.body, shape, asking, offsets)]
    views += [Waits(flow, shape, asking) for flow in flows]
    stores = {space for view in views for space in view.stores}
    found = {hazard for view in views for hazard in view.hazards(stores)}
    return sorted((h for h in found if h.lanes or not 0 < prod(shape or [0]) <= WARP), key=lambda h: (h.line, h.what))


def _asking(flows: dict[str, Body]) -> set[str]:
    """The functions that may return a value that other threads write meanwhile, directly or from a callee."""
    asking: set[str] = set()
    more = True
    while more:
        more = False
        for name, flow in flows.items():
            if name not in asking and any(map(Waits(flow, (), asking).polls, flow.ops())):
                asking.add(name)
                more = True
    return asking


class Waits(SingleWarp, LookBack):
    """A view that finds hazards."""

    def hazards(self, stores: set[str]) -> list[Hazard]:
        return [
            *self._partial_barriers(), *self._divergent_barriers(), *self._split_exchanges(), *self._waits(stores)
        ]  # fmt: skip

    def _partial_barriers(self) -> list[Hazard]:
        return [
            Hazard(op.inst.line, f"{op.inst.shape.opcode} is a barrier for a part of the block")
            for op in self.flow.ops()
            if op.does & BLOCK_BARRIER and not self.whole(op)
        ]

    def _divergent_barriers(self) -> list[Hazard]:
        """Barriers that warps reach in different branches. Loops count as taken equally often by all."""
        if sum(self.meets(op) for op in self.flow.ops()) < 2:
            return []
        found, barriers = [], self.flow.hits(self.meets)
        firsts, components = self.flow.firsts(barriers), self.flow.components
        for branch in self.flow.forks():
            ways = self.flow.blocks[branch.block].successors
            first, second = (firsts[way] for way in ways)
            loop = [components[way] == components[branch.block] for way in ways]
            apart = first and second and not first & second and loop[0] == loop[1]
            if not apart or not self.differs(branch, branch.predicate):
                continue
            rows = not self.differs(branch, branch.predicate, OWN_ROW)  # what differs is %tid.x
            if rows and self.shape and WARP % self.shape[0] == 0:
                continue
            line = min(op.inst.line for bit, op in enumerate(barriers.values()) if (first | second) >> bit & 1)
            what = f"warps meet at barriers in different branches (line {branch.inst.line})"
            found.append(Hazard(line, what, rows=rows and not self.shape))
        return found

    def _split_exchanges(self) -> list[Hazard]:
        """Exchanges of all lanes at several places, behind a branch on the lane index, that cannot be merged: the
        lanes on each path would exchange among themselves."""
        exchanges = self.flow.hits(self._of_all_lanes)
        firsts, found = self.flow.firsts(exchanges), []
        for branch in self.flow.forks() if len(exchanges) > 1 else ():
            first, second = (firsts[way] for way in self.flow.blocks[branch.block].successors)
            if first and second and not first & second and self._by_lane(branch.predicate):
                ops = [op for bit, op in enumerate(exchanges.values()) if (first | second) >> bit & 1]
                if len({self._meetings.get(op, op) for op in ops}) > 1:
                    what = f"lanes of a warp exchange in different branches (line {branch.inst.line})"
                    found.append(Hazard(min(op.inst.line for op in ops), f"{what}, which is not done", lanes=True))
        return found

    @cached_property
    def _meetings(self) -> dict[Op, Op]:
        """The exchanges that become one with others, with the first of these."""
        return {op: ops[0] for ops in self.flow.analysis(meetings) for op in ops}

    def _of_all_lanes(self, op: Op) -> bool:
        mask = self.flow.constant(members(op)) if is_exchange(op) else None
        return mask is not None and mask & ALL_LANES == ALL_LANES

    def _by_lane(self, register: Register) -> bool:
        """Whether a predicate is a comparison with the lane's number."""
        work: list[object] = [self.flow.expression(register)]
        while work:
            part = work.pop()
            if isinstance(part, Register) and part.special == "%laneid":
                return True
            work += part if isinstance(part, tuple) else ()
        return False

    def _waits(self, stores: set[str]) -> list[Hazard]:
        found: list[Hazard] = []
        if not any(self.polls(op) or self.loads(op) for op in self.flow.ops()):
            return found
        safe: set[Op] = set()
        for lock in self.flow.analysis(locks):
            if lock.taken:
                safe |= {branch for branch, _ in lock.retries} | set(lock.yields)
        for head, loop in self.flow.loops():
            found += self._wait(head, loop, safe, stores)
        return found

    def polls(self, op: Op) -> bool:
        """Whether an operation reads memory that other threads may write meanwhile."""
        if op.does & ATOMIC:
            by = self.flow.constant(op.inst.get("b"))
            return "d" in op.inst.shape.names and (op.mods.get("op") not in SELF_CHANGING or by == 0)
        if op.does & CALLS:
            target = op.inst.get("f")
            indirect = op.inst.get("b") is not None
            return bool(self.asking) if indirect else isinstance(target, Sym) and target.name in self.asking
        return bool(op.does & POLLS) or (is_look(op) and self.loads(op))

    def loads(self, op: Op) -> bool:
        """Whether an operation reads memory that other threads may write."""
        return bool(op.does & READS) and not op.does & ATOMIC and op.space in ("", "global", "shared")

    def _wait(self, head: int, loop: set[int], safe: set[Op], stores: set[str]) -> list[Hazard]:
        """The hazards of a loop that threads leave only after a write by another thread."""
        ops = [op for number in loop for op in self._outward[number]]
        quiet = not any(self.writes(op) or op.does & CALLS for op in ops)  # then weak loads too
        asks = {op for op in ops if self.polls(op) or (quiet and self.loads(op))}
        if not asks or any(map(self.meets, ops)):
            return []
        polled: set[Op] = set()
        for last in self.exits(loop):
            surely, advances = self.flow.slice(last, loop, self.flow.analysis(stored_at_known_places))
            sources, _ = self.flow.slice(last, loop, self.flow.analysis(stored))
            waits = sources & asks
            if any(op.does & READS and not op.does & ATOMIC and op.space in ("", "local") for op in sources):
                waits |= {op for op in asks if op.does & CALLS}  # by what a function has stored there
            if any(op.does & POLLS for op in waits):
                line = min(op.inst.line for op in waits)
                return [Hazard(line, "a loop waits for an mbarrier, where other warps may have to arrive")]
            if advances or any(op.does & ATOMIC and op not in asks for op in surely):
                return []  # the thread itself comes to the loop's end
            polled |= {op for op in asks & (sources - surely) if not is_try(op)} if last in safe else waits
        polled = {op for op in polled if not self._changes(ops, polled, op)}
        if not polled:
            return []
        first = min(polled, key=lambda op: (op.inst.line, op.block, op.index))
        found = []
        aliases = frozenset() if self.others_only(head, first) else self.in_turn(head, loop, first)
        if aliases is None and self._written(first, stores):
            what = f"a loop waits for a value that another warp may write ({first.inst.shape.opcode})"
            found.append(Hazard(first.inst.line, what))
        elif aliases:
            what = f"a loop waits for what another warp may write by another pointer ({first.inst.shape.opcode})"
            found.append(Hazard(first.inst.line, what, aliases=aliases))
        if is_try(first) and self.alone(head, thread=True) is None and not self._in_step(head, loop):
            what = f"a lane may wait in a loop for another lane of its warp ({first.inst.shape.opcode})"
            found.append(Hazard(first.inst.line, what, lanes=True))
        return found

    @cached_property
    def _outward(self) -> list[list[Op]]:
        """The operations with side effects, by block."""
        more = READS | WRITES | ATOMIC | CALLS | POLLS | BLOCK_BARRIER
        return [[op for op in block.ops if op.does & more] for block in self.flow.blocks]

    def _in_step(self, head: int, loop: set[int]) -> bool:
        """Whether all lanes of a warp reconverge in each iteration of a loop, so that none gets ahead."""
        meeting = {op.block for number in loop for op in self.flow.blocks[number].ops if gathers(self.flow, op)}
        ways = (self.flow.reach(way, meeting, loop) for way in self.flow.blocks[head].successors)
        return head in meeting or not any(head in way for way in ways)

    def _changes(self, ops: list[Op], asking: set[Op], polled: Op) -> bool:
        """Whether the loop itself writes the memory that it polls, other than by the polling atomic."""
        where = self.flow.location(polled)
        if where is None:
            return False
        return any(self.writes(op) and op not in asking and self.flow.location(op) == where for op in ops)

    def _written(self, polled: Op, stores: set[str]) -> bool:
        """Whether the kernel writes anything to the space that is waited on."""
        own = polled.space if self.writes(polled) else None
        others = {space for space, count in self._writers.items() if count > (space == own)}
        spaces = others if is_try(polled) else stores
        return "" in spaces or (bool(spaces) if not polled.space else polled.space in spaces)

    @cached_property
    def _writers(self) -> Counter[str]:
        """How many operations write to each space."""
        return Counter(op.space for op in self.flow.ops() if self.writes(op))


__all__ = ["Hazard", "hazards"]
