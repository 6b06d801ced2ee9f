"""Look-back: all warps of a block wait for the places of other blocks, one after the other."""

from __future__ import annotations

from ptx2amd.ptx.ast import Addr, Reg, Sym, Vec
from ptx2amd.target.flow import Op
from ptx2amd.target.spins import is_try
from ptx2amd.target.view import View, space_of


def _gives_addresses(op: Op) -> bool:
    """Whether a result may be an address that the operands do not tell: one from memory, or a variable's."""
    if op.lower in ("ld", "atom", "atom_cas", "call"):
        return op.lower in ("ld", "call") or op.mods["t"][1:] == "64"
    return any(isinstance(operand, Sym | Addr) for operand in op.inst.operands)


class LookBack(View):
    """A view that knows which waits end without the block's own warps."""

    def in_turn(self, head: int, loop: set[int], polled: Op) -> frozenset[tuple[int, int]] | None:
        """Whether every warp of a block looks back over the places of other blocks, after the block has published
        what it has in places of its own, where others look. What it writes before the loop is written when any
        warp waits; what it writes after the loop renews what the block has written to one place before, or each thread
        to its own, or is elsewhere: the pairs of parameters that must not point to the same. None: it is not so."""
        where = self.flow.location(polled)
        if self.called or where is None or where[0] not in self.differing:
            return None
        if space_of(polled) != "global" or is_try(polled):
            return None
        if any(op.lower == "call" for op in self.flow.ops()):
            return None
        later = self.flow.reach(head)
        before = {n for n in range(len(self.flow.blocks)) if n not in later and head in self.flow.reach(n)}
        all_come = True
        for number in before:
            branch, block = self.flow.branch(number), self.flow.blocks[number]
            if branch is None or branch.inst.guard is None or branch.key(branch.inst.guard.reg) not in self.differing:
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
            place = self.flow.location(op)
            if place is None or not watched or not (to := self._to(op)):
                return None
            if not watched & to:
                aliases |= {(min(a, b), max(a, b)) for a in watched for b in to}
            elif place[0] in self.differing or not all_come or all(self.flow.location(m) != place for m in mine):
                return None
        return frozenset(aliases)

    def _to(self, op: Op) -> set[int]:
        """The pointers of a write's address."""
        place = self.flow.location(op)
        return self._roots(place[0]) if place is not None else set()

    def _renews(self, op: Op, earlier: Op) -> bool:
        """Whether each thread that comes to a write has written to the same address before."""
        new, old = self.flow.location(op), self.flow.location(earlier)
        if new is None or old is None or new[1] != old[1] or op.inst.guard or earlier.inst.guard:
            return False
        address = self.flow.expression(new[0])
        same = address is not None and address == self.flow.expression(old[0])
        return same and self._sides(earlier.block) <= self._sides(op.block)

    def _sides(self, number: int) -> set[tuple[object, bool]]:
        """The conditions on the way to a block: what the predicate is made of, and whether it holds."""
        found: set[tuple[object, bool]] = set()
        for at in range(len(self.flow.blocks)):
            branch, block = self.flow.branch(at), self.flow.blocks[at]
            if branch is None or branch.inst.guard is None or len(block.successors) < 2 or at == number:
                continue
            ways = [side for side in block.successors if number in self.flow.reach(side, [at])]
            if len(ways) == 1:
                register = branch.key(branch.inst.guard.reg)
                holds = (ways[0] != block.falls) != branch.inst.guard.negated
                found.add((self.flow.expression(register) or (register, at), holds))
        return found

    def _ends_wait(self, write: Op, loop: set[int], polled: Op) -> bool:
        """Whether the value of a write is none that a loop waits on: not the one that it goes on with."""
        value, waits = write.inst.get("b"), self._waits_on(loop, polled)
        if waits is None or value is None:
            return False
        known = self.flow.constant(write, value)
        if known is not None or not isinstance(value, Reg):
            return known is not None and known != waits
        made = self.flow.sources(write, write.key(value.name))
        return bool(made) and all(
            waits == 0 and op.inst.shape.form.mnemonic == "or" and bool(self.flow.constant(op, op.inst.get("b")))
            for op in made
        )

    def _waits_on(self, loop: set[int], polled: Op) -> int | None:
        """The value with which a loop goes on, where there is one only."""
        found = set()
        for last in self.exits(loop):
            assert last.inst.guard is not None
            register = last.key(last.inst.guard.reg)
            tests = self.flow.sources(last, register)
            if not any(set(test.reads()) & set(polled.writes()) for test in tests):
                continue
            block = self.flow.blocks[last.block]
            jumps = any(s in loop for s in block.successors if s != block.falls)
            goes_on = "eq" if jumps != last.inst.guard.negated else "ne"
            for test in tests:
                plain = test.lower == "setp" and "c" not in test.inst.shape.names and list(test.writes()) == [register]
                equal = plain and test.mods["cmp"] == goes_on
                found.add(self.flow.constant(test, test.inst.get("b")) if equal else None)
        return found.pop() if len(found) == 1 else None

    def _roots(self, register: str) -> set[int]:
        """The pointers among the kernel's parameters that an address is made from, by their offsets. None at all: it
        is not known what it points to."""
        found: set[int] = set()
        seen, work = set(), [register]
        while work:
            name = work.pop()
            if name in seen:
                continue
            seen.add(name)
            for op in self.flow.definitions.get(name, []):
                if op.lower == "ld" and op.mods["t"][1:] != "64":
                    continue  # an index
                if op.lower == "ld" and (at := self._offset(op, name)) is not None:
                    found.add(at)
                elif _gives_addresses(op):
                    return set()
                else:
                    work += op.reads()
        return found

    def _offset(self, op: Op, register: str) -> int | None:
        """The offset of the kernel parameter that a load puts into a register."""
        address, to = op.inst.get("a"), op.inst.get("d")
        if not self.parameter(op) or not isinstance(address, Addr) or address.rest:
            return None
        if not isinstance(address.base, Sym) or address.base.name not in self.offsets:
            return None
        items = to.items if isinstance(to, Vec) else (to,)
        which = [i for i, item in enumerate(items) if isinstance(item, Reg) and op.key(item.name) == register]
        at = self.offsets[address.base.name] + address.base.offset + address.offset
        return at + 8 * which[0] if len(which) == 1 else None


__all__ = ["LookBack"]
