"""Decoupled look-back: all warps of a block wait for the status words of other blocks, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ptx2amd.isa.effects import ATOMIC, CALLS, EXCHANGES, READS
from ptx2amd.middle.analyses.block_view import BlockView
from ptx2amd.middle.analyses.locks import is_try
from ptx2amd.middle.op import Op, Register
from ptx2amd.ptx.ast import Addr, Imm, Operand, Reg, Sym, Vec
from ptx2amd.records import dataclass


def _gives_addresses(op: Op) -> bool:
    """Whether a result may be an address unrelated to the operands: one loaded from memory, or a variable's."""
    if op.does & (READS | CALLS):
        return not op.does & ATOMIC or op.mods.get("t", "b64")[1:] == "64"
    return any(isinstance(operand, Sym | Addr) for operand in op.inst.operands)


@dataclass(frozen=True, slots=True)
class Bit:
    """A place in the value that a loop polls."""

    at: int


@dataclass(frozen=True, slots=True)
class Waits:
    """A loop goes on while `width` bits from `at` of what it polls are `value`."""

    at: int
    width: int
    value: int

    def field(self, written: int) -> int:
        return written >> self.at & (1 << self.width) - 1


class LookBack(BlockView):
    """A view that recognises waits which end without the block's own warps."""

    def in_turn(self, head: int, loop: set[int], polled: Op) -> frozenset[tuple[int, int]] | None:
        """Whether every warp of a block looks back over the places of other blocks, after the block has published
        what it has in places of its own, where others look. What it writes before the loop is written when any
        warp waits; what it writes after the loop is behind a barrier, or renews what the block has written to one
        place before, or each thread to its own, or is elsewhere: the pairs of parameters that must not point to the
        same. None: it is not so."""
        where = self.flow.location(polled)
        if self.called or where is None or where[0] not in self.differing:
            return None
        if polled.space != "global" or is_try(polled):
            return None
        if any(op.does & CALLS for op in self.flow.ops()):
            return None
        later = self.flow.reach(head)
        before = {n for n in range(len(self.flow.blocks)) if n not in later and head in self.flow.reach(n)}
        all_come = True
        for number in before:
            branch, block = self.flow.branch(number), self.flow.blocks[number]
            if branch is None or branch.predicate not in self.differing:
                continue
            sides = [self.flow.reach(side, [head]) for side in block.successors]
            apart = {n for side in sides for n in side if not all(n in other for other in sides)}
            skips = any(head not in self.flow.reach(side) for side in block.successors)
            if skips or any(not self.flow.blocks[n].successors for n in apart):
                all_come = False
        watched = self._roots(where[0])
        mine = [op for op in self.flow.ops() if op.block in before and self.writes(op) and self._to(op) & watched]
        if not mine:
            return None  # nothing of the block's own is there for others, who may be warps of the block
        aliases: set[tuple[int, int]] = set()
        mine = [op for op in mine if self._ends_wait(op, loop, polled)]
        for op in self.flow.ops():
            if op.block in before or not self.visible(op, polled) or any(self._renews(op, m) for m in mine):
                continue
            if self._behind_barriers(op, head, loop):
                continue  # nobody of the block waits any more, or again
            place = self.flow.location(op)
            if place is None or not watched or not (to := self._to(op)):
                return None
            if not watched & to:
                aliases |= {(min(a, b), max(a, b)) for a in watched for b in to}
            elif place[0] in self.differing or not all_come or all(self.flow.location(m) != place for m in mine):
                return None
        return frozenset(aliases)

    def _behind_barriers(self, op: Op, head: int, loop: set[int]) -> bool:
        """Whether all paths from a loop to an operation, and back, lead through barriers of the whole block."""
        blocks, walls = self.flow.blocks, self._barrier_blocks
        here = walls.get(op.block, [])
        if op.block in loop:
            return False
        out = {way for number in loop for way in blocks[number].successors if way not in loop}
        if op.block in self._open(out) and not any(wall.index < op.index for wall in here):
            return False
        return any(wall.index > op.index for wall in here) or head not in self._open(blocks[op.block].successors)

    def _open(self, starts: Iterable[int]) -> set[int]:
        """The blocks reachable from the beginning of others without a barrier."""
        seen: set[int] = set()
        work = list(starts)
        while work:
            number = work.pop()
            if number not in seen:
                seen.add(number)
                if number not in self._barrier_blocks:
                    work += self.flow.blocks[number].successors
        return seen

    @cached_property
    def _barrier_blocks(self) -> dict[int, list[Op]]:
        """The unguarded barriers of the whole block of threads, by basic block."""
        found: dict[int, list[Op]] = {}
        for op in self.flow.ops():
            if self.meets(op) and op.inst.guard is None:
                found.setdefault(op.block, []).append(op)
        return found

    def _to(self, op: Op) -> set[int]:
        """The pointers of a write's address."""
        place = self.flow.location(op)
        return self._roots(place[0]) if place is not None else set()

    def _renews(self, op: Op, earlier: Op) -> bool:
        """Whether each thread that executes a write has written to the same address before."""
        new, old = self.flow.location(op), self.flow.location(earlier)
        if new is None or old is None or new[1] != old[1] or op.inst.guard or earlier.inst.guard:
            return False
        address = self._value(new[0])
        same = address is not None and address == self._value(old[0])
        return same and self._sides(earlier.block) <= self._sides(op.block)

    def _value(self, base: Register | str) -> object:
        """A location's base, as `Body.expression` has it."""
        return self.flow.expression(base) if isinstance(base, Register) else base

    def _sides(self, number: int) -> set[tuple[object, bool]]:
        """The conditions under which a block is reached: the predicate's definition, and whether it holds."""
        found: set[tuple[object, bool]] = set()
        for branch in self.flow.forks():
            at = branch.block
            ways = [way for way in self.flow.blocks[at].successors if number in self.flow.reach(way, [at])]
            if len(ways) == 1 and at != number:
                asked = self.flow.expression(branch.predicate) or (branch.predicate, at)
                found.add((asked, self.flow.holds(branch, ways[0])))
        return found

    def _ends_wait(self, write: Op, loop: set[int], polled: Op) -> bool:
        """Whether the value of a write is none that a loop waits on: not the one that it goes on with."""
        value, waits = write.inst.get("b"), self._waits_on(loop, polled)
        if waits is None or value is None:
            return False
        known = self.flow.constant(value)
        register = self.flow.register(value)
        if known is not None or register is None:
            return known is not None and waits.field(known) != waits.value
        made = self.flow.sources(write, register)
        return bool(made) and all(
            waits.value == 0 and op.computes == "or" and bool(waits.field(self.flow.constant(op.inst.get("b")) or 0))
            for op in made
        )

    def _waits_on(self, loop: set[int], polled: Op) -> Waits | None:
        """What a loop goes on with, where there is one such value only."""
        found: set[Waits | None] = set()
        for last in self.exits(loop):
            assert last.inst.guard is not None
            block = self.flow.blocks[last.block]
            jumps = any(s in loop for s in block.successors if s != block.falls)
            goes_on = jumps != last.inst.guard.negated
            tests = self._voted(last, last.predicate, "any" if goes_on else "all")
            compared = [test for test in tests if test.computes == "compare"]
            seen = {test: self._fields(test, test.inst.get("a"), polled) for test in compared}
            if any(isinstance(field, Bit) for fields in seen.values() for field in fields):
                found |= {self._tested(test, seen.get(test, set()), "eq" if goes_on else "ne") for test in tests}
        return found.pop() if len(found) == 1 else None

    def _voted(self, last: Op, register: Register, mode: str) -> set[Op]:
        """What computes a predicate, looking through votes of the warp."""
        tests = self.flow.sources(last, register)
        for vote in [t for t in tests if t.does & EXCHANGES and t.mods.get("mode") == mode]:
            cast = vote.inst.get("a")
            of = self.flow.register(cast)
            if of is not None and isinstance(cast, Reg) and not cast.negated:
                tests = tests - {vote} | self.flow.sources(vote, of)
        return tests

    def _tested(self, test: Op, fields: set[Bit | int | None], comparison: str) -> Waits | None:
        """What a test of such fields goes on with: one place in what is polled, or constants that end the wait."""
        value = self.flow.constant(test.inst.get("b")) if test.computes == "compare" else None
        places = {field for field in fields if isinstance(field, Bit)}
        if value is None or len(places) != 1 or "c" in test.inst.shape.names or test.mods["cmp"] != comparison:
            return None
        if len(test.writes) != 1 or any(field is None or field == value for field in fields - places):
            return None
        return Waits(places.pop().at, int(test.mods["t"][1:]), value)

    def _fields(self, op: Op, operand: Operand | None, polled: Op, depth: int = 8) -> set[Bit | int | None]:
        """What an operand is made of: bits of the polled value and constants; None for anything else."""
        register = self.flow.register(operand)
        if register is None or not depth:
            return {None}
        found: set[Bit | int | None] = set()
        for source in self.flow.sources(op, register):
            inner = source.inst.get("a")
            if source is polled:
                found.add(Bit(0))
            elif source.computes == "copy" and isinstance(inner, Imm):
                found.add(inner.bits)
            elif (by := self._moves(source, register)) is not None:
                moved = self._fields(source, inner, polled, depth - 1)
                found |= {Bit(field.at + by) if isinstance(field, Bit) else None for field in moved}
            else:
                found.add(None)
        return found

    def _moves(self, op: Op, register: Register) -> int | None:
        """By how many bits an operation moves its source down into a register: a shift, a part, the low half."""
        if op.inst.guard is not None:
            return None
        types, to = op.mods, op.inst.get("d")
        if op.computes == "shr" and types["t"] in ("u64", "b64", "u32", "b32"):
            return self.flow.constant(op.inst.get("b"))
        if op.computes == "unpack" and isinstance(to, Vec):
            parts = [self.flow.register(item) is register for item in to.items]
            return int(types["t"][1:]) // len(parts) * parts.index(True)
        return 0 if op.computes == "convert" and (types["t"], types["a"]) == ("u32", "u64") else None

    def _roots(self, register: Register | str) -> set[int]:
        """The pointers among the kernel's parameters that an address is made from, by their offsets. None at all: it
        is not known what it points to."""
        found: set[int] = set()
        seen: set[Register] = set()
        work = [register] if isinstance(register, Register) else []
        while work:
            at_hand = work.pop()
            if at_hand in seen:
                continue
            seen.add(at_hand)
            for op in at_hand.writes:
                if op.does & READS and op.mods.get("t", "b64")[1:] != "64":
                    continue  # an index
                if (at := self._offset(op, at_hand)) is not None:
                    found.add(at)
                elif _gives_addresses(op):
                    return set()
                else:
                    work += op.reads
        return found

    def _offset(self, op: Op, register: Register) -> int | None:
        """The offset of the kernel parameter that a load puts into a register."""
        address, to = op.inst.get("a"), op.inst.get("d")
        if not self.flow.is_parameter(op) or not isinstance(address, Addr) or address.rest:
            return None
        if not isinstance(address.base, Sym) or address.base.name not in self.offsets:
            return None
        items = to.items if isinstance(to, Vec) else (to,)
        which = [i for i, item in enumerate(items) if self.flow.register(item) is register]
        at = self.offsets[address.base.name] + address.base.offset + address.offset
        return at + 8 * which[0] if len(which) == 1 else None


__all__ = ["LookBack"]
