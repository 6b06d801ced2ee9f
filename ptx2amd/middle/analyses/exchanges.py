"""Which exchanges between lanes of a warp have to be merged into one (transforms/merge_exchanges.py).

The lanes that a `.sync` operation names wait for each other, also where some of them are at another operation with the
same qualifiers and the same mask. In all programs without undefined behaviour, lanes with one mask execute the same
number of operations. So after a divergent branch, the first operation of one path meets the first of the other, and
after a pair, their successors meet. If one path has fewer of them before the paths reconverge, the others have no
partner: an operation after both paths would be its own partner."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.isa.effects import BLOCK_BARRIER, MEMBERS, WARP_BARRIER
from ptx2amd.middle.analyses.divergence import ALL_LANES, Divergence
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Op, Register
from ptx2amd.ptx.ast import Operand

Mask = int | Register  # the members, or the register that they are in
Meeting = list[Op]  # the operations that become one, in the order of the text


def meetings(flow: Body) -> list[Meeting]:
    """The operations of a body that lanes of one warp may be at together."""
    if sum(map(is_exchange, flow.ops())) < 2:
        return []
    divergence = flow.analysis(Divergence)
    groups: dict[Op, Meeting] = {}
    stops = {n: found for n, block in enumerate(flow.blocks) if (found := list(filter(_stops, block.ops)))}
    for branch in divergence.branches:
        for a, b in _pairs(flow, stops, branch, divergence.sides(branch)):
            if groups.setdefault(a, [a]) is not groups.setdefault(b, [b]):
                groups[a] += groups[b]
                groups.update(dict.fromkeys(groups[b], groups[a]))
    order = {op: at for at, op in enumerate(flow.ops())}
    unique = {id(group): sorted(group, key=order.__getitem__) for group in groups.values()}
    return sorted(unique.values(), key=lambda group: order[group[0]])


def is_exchange(op: Op) -> bool:
    """Whether the lanes of a member mask wait for each other."""
    return bool(op.does & MEMBERS)


def members(op: Op) -> Operand | None:
    """The member mask of an operation that has one."""
    return op.inst.get("m") if op.does & MEMBERS else None


def _stops(op: Op) -> bool:
    """Whether an operation may make lanes wait for others."""
    return bool(op.does & (BLOCK_BARRIER | MEMBERS))


def _pairs(flow: Body, stops: dict[int, list[Op]], branch: Op, sides: list[set[int]]) -> Iterator[tuple[Op, Op]]:
    """The operations on both sides of a branch that lanes may be at together. stops: by block."""
    if len(sides) != 2 or any(map(stops.keys().isdisjoint, sides)):
        return
    written = frozenset().union(*(flow.written[number] for side in sides for number in side))
    masks: list[dict[Mask, None]] = []
    for side in sides:
        found = (op for number in sorted(stops.keys() & side) for op in stops[number] if is_exchange(op))
        masks.append({mask: None for op in found if (mask := _mask(flow, op, written)) is not None})
    for mask in masks[0].keys() & masks[1].keys():
        walks = [_Walk(flow, stops, side, mask, written) for side in sides]
        starts = [walk.first(number) for walk, number in zip(walks, flow.blocks[branch.block].successors, strict=True)]
        seen: set[tuple[Op, Op]] = set()
        work = [(a, b) for a in starts[0] for b in starts[1]]
        while work:
            pair = work.pop()
            if pair in seen or not _alike(*pair):
                continue
            seen.add(pair)
            yield pair
            work += [(a, b) for a in walks[0].next(pair[0]) for b in walks[1].next(pair[1])]


def _mask(flow: Body, op: Op, written: frozenset[Register]) -> Mask | None:
    """The member mask of an operation: a constant, or a register that nobody writes on either side."""
    operand = members(op)
    known = flow.constant(operand)
    if known is not None:
        return known & ALL_LANES
    while (register := flow.register(operand)) is not None:
        if register not in written:
            return register
        write = register.only_write
        if write is None or write.computes != "copy":
            return None
        operand = write.inst.get("a")
    return None


def _alike(a: Op, b: Op) -> bool:
    """Whether two operations have the same qualifiers."""
    first, second = a.inst.shape, b.inst.shape
    return is_exchange(a) and first.form is second.form and first.mods == second.mods


class _Walk:
    """The operations for one mask on one side of a branch, one after the other; barriers of the block too."""

    def __init__(
        self, flow: Body, stops: dict[int, list[Op]], side: set[int], mask: Mask, written: frozenset[Register]
    ) -> None:
        self.flow, self.side = flow, side
        self._first: dict[int, list[Op]] = {}
        self._next: dict[Op, list[Op]] = {}
        self.ops = {
            number: [op for op in stops[number] if op.does & BLOCK_BARRIER or _mask(flow, op, written) == mask]
            for number in stops.keys() & side
        }

    def first(self, start: int) -> list[Op]:
        """The first operations from the beginning of a block."""
        if start not in self._first:
            self._first[start] = self._find_first(start)
        return self._first[start]

    def _find_first(self, start: int) -> list[Op]:
        found, seen, work = [], set(), [start]
        while work:
            number = work.pop()
            if number in seen or number not in self.side:
                continue
            seen.add(number)
            if number in self.ops:
                here, always = _until_unguarded(self.ops[number])
                found += here
                if always:
                    continue
            work += self.flow.blocks[number].successors
        return found

    def next(self, op: Op) -> list[Op]:
        """The first operations after one."""
        if op not in self._next:
            ops = self.ops[op.block]
            found, always = _until_unguarded(ops[ops.index(op) + 1 :])
            if not always:
                found += [o for successor in self.flow.blocks[op.block].successors for o in self.first(successor)]
            self._next[op] = found
        return self._next[op]


def _until_unguarded(ops: list[Op]) -> tuple[list[Op], bool]:
    """The operations up to the first that all threads execute, and whether there is one."""
    for at, op in enumerate(ops):
        if op.inst.guard is None:
            return ops[: at + 1], True
    return ops[:], False


def is_collective(op: Op) -> bool:
    """Whether an operation needs other lanes of the warp with it."""
    return bool(op.does & (BLOCK_BARRIER | WARP_BARRIER))


__all__ = ["Meeting", "is_collective", "is_exchange", "meetings", "members"]
