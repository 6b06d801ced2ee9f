"""Exchanges between lanes of a warp that come to them by different ways.

The lanes that a `.sync` operation names wait for each other, also where some of them are at another operation with the
same qualifiers and the same mask: compilers make two of one, as of a loop with `if (lane == 0)` in it. On AMD's
chips the lanes of each way would exchange among themselves. So the operations that meet become one, which all the ways
are led through:

          @p bra B;                                    @p bra B;
    A: shfl.sync d, x, ...;                  A: mov side, 0; mov a, x;
       ...                           ->   meet: shfl.sync d, a, ...;  @side==1 bra after;
    B: shfl.sync e, y, ...;                     ...
       ...                                   B: mov side, 1; mov a, y; bra meet;
                                         after: mov e, d; ...

Which operations meet: in all programs without undefined behaviour, lanes with one mask come to as many operations one
after the other. So from a branch at which lanes part, the first of one way meets the first of the other, and after two
that meet, those that follow. Where one way has less of them before the ways meet again, the rest has no partner
here, as an operation behind both ways would be the partner of itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from ptx2amd.isa import internal
from ptx2amd.isa.effects import BLOCK_BARRIER, JUMPS, MEMBERS, WARP_BARRIER
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.lower.core.summary import items
from ptx2amd.ptx.ast import Guard, Imm, Inst, Item, Label, Operand, Reg, Scope, Sym, Var
from ptx2amd.target.flow import Flow, Op
from ptx2amd.target.inline import flat
from ptx2amd.target.lanes import ALL_LANES, Lanes
from ptx2amd.target.made import ANCHOR, BRA, HIDDEN, SETP, WAIT, WAIT_ALL, WAITING, made, move, waiting

Mask = int | str  # the members, or the register that they are in
Meeting = list[Op]  # the operations that become one, in the order of the text


def meetings(flow: Flow) -> list[Meeting]:
    """The operations of a body that lanes of one warp may be at together."""
    if sum(map(is_exchange, flow.ops())) < 2:
        return []
    lanes = Lanes(flow)
    groups: dict[Op, Meeting] = {}
    stops = {n: found for n, block in enumerate(flow.blocks) if (found := list(filter(_stops, block.ops)))}
    for branch in lanes.parting:
        for a, b in _pairs(flow, stops, branch, lanes.sides(branch)):
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
    """Whether lanes may have to wait at an operation."""
    return bool(op.does & (BLOCK_BARRIER | MEMBERS))


def _pairs(flow: Flow, stops: dict[int, list[Op]], branch: Op, sides: list[set[int]]) -> Iterator[tuple[Op, Op]]:
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


def _mask(flow: Flow, op: Op, written: frozenset[str]) -> Mask | None:
    """The member mask of an operation: a constant, or a register that nobody writes on either side."""
    operand = members(op)
    known = flow.constant(op, operand)
    if known is not None:
        return known & ALL_LANES
    while isinstance(operand, Reg):
        name = op.key(operand.name)
        if name not in written:
            return name
        writes = flow.definitions[name]
        if len(writes) > 1 or writes[0].computes != "copy" or writes[0].inst.guard is not None:
            return None
        op, operand = writes[0], writes[0].inst.get("a")
    return None


def _alike(a: Op, b: Op) -> bool:
    """Whether two operations have the same qualifiers."""
    first, second = a.inst.shape, b.inst.shape
    return is_exchange(a) and first.form is second.form and first.mods == second.mods


class _Walk:
    """The operations for one mask on one side of a branch, one after the other; barriers of the block too."""

    def __init__(
        self, flow: Flow, stops: dict[int, list[Op]], side: set[int], mask: Mask, written: frozenset[str]
    ) -> None:
        self.flow, self.side = flow, side
        self._first: dict[int, list[Op]] = {}
        self._next: dict[Op, list[Op]] = {}
        self.ops = {
            number: [op for op in stops[number] if op.does & BLOCK_BARRIER or _mask(flow, op, written) == mask]
            for number in stops.keys() & side
        }

    def first(self, start: int) -> list[Op]:
        """The first operations from the begin of a block."""
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


# the change


def transform(scope: Scope, parameters: Collection[str] | None = None) -> Scope:
    """A body in which operations that lanes may be at together are one. parameters: see Flow."""
    if sum(isinstance(item, Inst) and bool(item.shape.form.does & MEMBERS) for item in items(scope)) < 2:
        return scope
    simple = flat(scope)
    flow = Flow(simple, parameters)
    found = meetings(flow)
    if not found:
        return scope
    ones = [_One(flow, number, meeting) for number, meeting in enumerate(found)]
    changed = _changed(simple, ones)
    uneven, others = _uneven(Flow(changed), {id(one.anchor): one for one in ones})
    alone = [op for op in flow.ops() if id(op.inst) in others]
    ones += [_One(flow, number, [op]) for number, op in enumerate(alone, len(ones))]
    for one in (*uneven, *ones[len(found) :]):
        one.waits, one.label = True, waiting(one.number)
    return _cut(_changed(simple, ones)) if uneven else changed


def waited(scope: Scope, labels: list[str]) -> Scope:
    """A body, without nested scopes, in which lanes wait at all operations that need others with them, in the loops
    around some labels."""
    flow = Flow(scope)
    loops = {flow.components[flow.labels[label]] for label in labels}
    inside = (block for number, block in enumerate(flow.blocks) if flow.components[number] in loops)
    alone = [
        op
        for block in inside
        for before, op in pairwise([None, *block.ops])
        if op is not None and is_collective(op) and (before is None or before.inst.shape.form is not internal.WAIT)
    ]
    number = sum(isinstance(item, Label) and item.name.startswith((WAITING, "$exchange")) for item in scope.items)
    ones = [_One(flow, at, [op]) for at, op in enumerate(alone, number)]
    for one in ones:
        one.waits, one.label = True, waiting(one.number)
    return _cut(_changed(scope, ones))


def _cut(scope: Scope) -> Scope:
    """The same with labels behind conditional jumps: what follows may be outside of a loop that the jump stays in, and
    ways out of loops in which lanes wait are known by labels (lower/control/dispatch.py)."""
    new: list[Item] = []
    number = sum(isinstance(item, Label) for item in scope.items)
    for item in scope.items:
        new.append(item)
        if isinstance(item, Inst) and item.guard is not None and item.shape.form.does & JUMPS:
            number += 1
            new.append(Label(f"$behind{number}", item.line))
    return Scope(new)


def _changed(scope: Scope, ones: list[_One]) -> Scope:
    instead = {at: new for one in ones for at, new in one.replacements()}  # what stands in the place of an instruction
    declared = [var for one in ones for var in one.declared]
    return Scope([*declared, *(new for item in scope.items for new in instead.get(id(item), [item]))])


def _uneven(flow: Flow, ones: dict[int, _One]) -> tuple[set[_One], set[int]]:
    """Those, by their anchors in a changed body, to which not all ways round a loop lead equally often: a lane may be
    there while others of its warp, on their way to it, are still elsewhere in the loop. And all other operations of
    these loops, by the ids of their instructions, that need lanes together: who has waited goes on alone."""
    places = {op.block: ones[id(op.inst)] for op in flow.ops() if id(op.inst) in ones}
    found: set[_One] = set()
    others: set[int] = set()
    loops: dict[int, set[int]] = {}
    reached = flow.reach(0)
    for number in reached:
        loops.setdefault(flow.components[number], set()).add(number)
    for loop in loops.values():
        here = loop & places.keys()
        before = {previous for number in loop for previous in flow.blocks[number].predecessors} & reached - loop
        entries = {number for number in loop if number == 0 or not before.isdisjoint(flow.blocks[number].predecessors)}
        if here and not _even(flow, loop, entries, here):
            found.update(places[block] for block in here)
            others.update(id(op.inst) for number in loop - here for op in flow.blocks[number].ops if is_collective(op))
    return found, others


def is_collective(op: Op) -> bool:
    """Whether an operation needs other lanes of the warp with it."""
    return bool(op.does & (BLOCK_BARRIER | WARP_BARRIER))


def _even(flow: Flow, loop: set[int], entries: set[int], here: set[int]) -> bool:
    """Whether all ways round a loop from its entries lead through as many of the blocks `here`."""
    blocks = flow.blocks
    if not any(successor in loop for number in loop for successor in blocks[number].successors):
        return True  # no loop
    if entries & here:
        return False
    passed, work, rounds = dict.fromkeys(entries, 0), list(entries), set()
    while work:
        number = work.pop()
        after = passed[number] + (number in here)
        for successor in blocks[number].successors:
            if successor in entries:
                rounds.add(after)
            elif successor in loop:
                if successor not in passed:
                    passed[successor] = after
                    work.append(successor)
                elif passed[successor] != after:
                    return False
    return len(rounds) <= 1


class _One:
    """Operations that become one, or one at which lanes wait."""

    def __init__(self, flow: Flow, number: int, meeting: Meeting) -> None:
        self.flow, self.number, self.meeting = flow, number, meeting
        self.shape = max((op.inst.shape for op in meeting), key=lambda shape: len(shape.names))
        self.label = f"$exchange{number}"
        self.waits = False  # whether lanes wait here
        self.anchor = made(ANCHOR, meeting[0].inst.line)
        self.declared: list[Var] = []
        self.side = self._register("side", "u32")
        self.tests = [self._register(f"is{k}", "pred") for k in range(1, len(meeting))]
        self.own: dict[str, Reg] = {}  # registers in the place of operands
        self.operands = tuple(map(self._operand, self.shape.names, self.shape.types))

    def replacements(self) -> Iterator[tuple[int, list[Item]]]:
        """What stands in the place of each, by its identity."""
        for k, op in enumerate(self.meeting):
            inst, line, after, skip = op.inst, op.inst.line, f"$back{self.number}.{k}", f"$skip{self.number}.{k}"
            moved = self._moved(inst, False)
            new: list[Item] = [made(move(t), line, self.own[name], source) for name, source, t in moved]
            if len(self.meeting) > 1:
                new.append(made(HIDDEN, line, self.side, Imm("u", k)))
            if inst.guard is not None:
                new.insert(0, made(BRA, line, Sym(skip), guard=Guard(inst.guard.reg, not inst.guard.negated)))
            if k:
                new.append(made(BRA, line, Sym(self.label)))
            else:
                new += [Label(self.label, line), self.anchor]
                if self.waits:
                    shape = WAIT_ALL if inst.shape.form.does & BLOCK_BARRIER else WAIT
                    new.append(made(shape, line, self._members(), Sym(self.label)))
                new += [Inst(self.shape, self.operands, None, line), *self._ways()]
            new.append(Label(after, line))
            new += [made(move(t), line, to, self.own[name]) for name, to, t in self._moved(inst, True)]
            if inst.guard is not None:
                new.append(Label(skip, line))
            yield id(inst), new

    def _members(self) -> Operand:
        if not self.shape.form.does & MEMBERS:
            return Imm("u", ALL_LANES)
        return self.operands[self.shape.names.index("m")]

    def _ways(self) -> Iterator[Inst]:
        """The ways back of all but the first."""
        for k, (op, test) in enumerate(zip(self.meeting[1:], self.tests, strict=True), 1):
            yield made(SETP, op.inst.line, test, self.side, Imm("u", k))
            yield made(BRA, op.inst.line, Sym(f"$back{self.number}.{k}"), guard=Guard(test.name, False))

    def _operand(self, name: str, type_: str) -> Operand:
        """An operand of the one: what all have, or a register of its own."""
        each = [op.inst.get(name) for op in self.meeting]
        first = each[0]
        if first is not None and all(operand == first for operand in each):
            return first
        if type_ == "u32":  # lanes, distances and masks
            known = {self.flow.constant(op, op.inst.get(name)) for op in self.meeting}
            if name not in DESTINATIONS and len(known) == 1 and (value := known.pop()) is not None:
                return Imm("u", value)
        self.own[name] = self._register(name, type_)
        return self.own[name]

    def _moved(self, inst: Inst, results: bool) -> Iterator[tuple[str, Operand, str]]:
        """The operands of one of the operations that go through registers: name, operand, type."""
        for name, operand, type_ in zip(inst.shape.names, inst.operands, inst.shape.types, strict=True):
            if name in self.own and (name in DESTINATIONS) == results and operand != Reg("_"):
                yield name, operand, type_

    def _register(self, name: str, type_: str) -> Reg:
        register = Reg(f"$exchange{self.number}.{name}")
        self.declared.append(Var("reg", type_, register.name))
        return register


__all__ = ["is_collective", "is_exchange", "meetings", "members", "transform", "waited"]
