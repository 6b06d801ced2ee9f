"""Hazards: places where warps of one block wait for each other.

Two warps that share a wave run on together: one that waits in a loop keeps the other from the work that it
waits for. Kernels with such places run padded, one warp a wave. The analysis knows programs that do not
need it: loops that end by themselves, waits for other blocks by one warp of the block (grid barriers,
decoupled look-back), and locks whose loops have been changed (spins.py)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ptx2amd.lower.heads import param_layout
from ptx2amd.ptx.ast import Addr, Function, Imm, Module, Operand, Reg, Sym, Vec
from ptx2amd.target.flow import Flow, Op
from ptx2amd.target.inline import Matters, inlined
from ptx2amd.target.spins import STORES, is_look, is_try, locks

BARRIERS = frozenset(("bar_sync", "bar_arrive", "bar_red"))
SELF_CHANGING = frozenset(("add", "inc", "dec"))
WARP = 32
OWN = ("%tid", "%warpid", "%clock", "%globaltimer")  # registers that warps of a block read different values from


@dataclass(frozen=True, slots=True)
class Hazard:
    """A place where a warp may wait for another warp of its block, or (`lanes`) a lane for another lane of its
    warp, which no mapping helps. line: of the PTX text, 1-based. aliases: it is one only where two of the kernel's
    pointers, named by their parameters' offsets in bytes, point into one allocation."""

    line: int
    what: str
    lanes: bool = False
    aliases: frozenset[tuple[int, int]] = frozenset()

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


def hazards(module: Module, functions: Iterable[Function]) -> list[Hazard]:
    """The hazards of a kernel: `functions` are the kernel, and those that it may call. Each place once, in the
    order of lines."""
    kernel, *others = functions
    required = kernel.directives.get("reqntid")
    block = prod(required) if required else 0
    matters = Matters(module)
    whole = inlined(module, kernel, matters)
    apart = [f for f in others if matters(f) and f.proto.name not in whole.functions - whole.left]
    seen = {f.proto.name for f in apart}  # by themselves, so not once more where they call each other
    flows = [Flow(inlined(module, f, lambda g: matters(g) and g.proto.name not in seen).scope) for f in apart]
    asking = _asking({f.proto.name: flow for f, flow in zip(apart, flows, strict=True)})
    offsets = {var.name: at for var, (at, _, _) in zip(kernel.proto.params, param_layout(kernel), strict=True)}
    views = [View(Flow(whole.scope), block, asking, offsets)]
    views += [View(flow, block, asking) for flow in flows]
    stores = {space for view in views for space in view.stores}
    found = {hazard for view in views for hazard in view.hazards(stores)}
    return sorted((h for h in found if h.lanes or not 0 < block <= WARP), key=lambda h: (h.line, h.what))


def _asking(flows: dict[str, Flow]) -> set[str]:
    """The functions that may return what other threads are about to write, also where others return it to them."""
    asking: set[str] = set()
    more = True
    while more:
        more = False
        for name, flow in flows.items():
            if name not in asking and any(map(View(flow, 0, asking).polls, flow.ops())):
                asking.add(name)
                more = True
    return asking


def _gives_addresses(op: Op) -> bool:
    """Whether a result may be an address that the operands do not tell: one from memory, or a variable's."""
    if op.lower in ("ld", "atom", "atom_cas", "call"):
        return op.lower in ("ld", "call") or op.mods["t"][1:] == "64"
    return any(isinstance(operand, Sym | Addr) for operand in op.inst.operands)


def space_of(op: Op) -> str:
    """"global", "shared", or "" for generic and both."""
    space = op.mods.get("space", "")
    return "shared" if space.startswith("shared") else space


class View:
    """A kernel's body with the functions that it calls, or a function that cannot be put in its place (`called`),
    seen for its hazards. block: threads of a block, 0 when any number; asking: functions apart that may return
    what other threads write; offsets: of a kernel's parameters, in bytes."""

    def __init__(self, flow: Flow, block: int, asking: set[str], offsets: dict[str, int] | None = None) -> None:
        self.flow, self.block, self.asking = flow, block, asking
        self.called, self.offsets = offsets is None, offsets or {}
        self._kinds: dict[Op, str] = {}

    @cached_property
    def stores(self) -> set[str]:
        """The spaces that the function writes to."""
        return {space_of(op) for op in self.flow.ops() if self.writes(op)}

    def writes(self, op: Op) -> bool:
        """Whether another thread may see what an operation writes."""
        return op.inst.shape.form.mnemonic in STORES and space_of(op) not in ("local", "param")

    def hazards(self, stores: set[str]) -> list[Hazard]:
        return [*self._partial_barriers(), *self._divergent_barriers(), *self._waits(stores)]

    # barriers

    def whole(self, op: Op) -> bool:
        """Whether a barrier is for the whole block."""
        count = op.inst.get("b")
        known = self.flow.constant(op, count)
        return op.lower != "bar_arrive" and (count is None or (0 < self.block == known))

    def meets(self, op: Op) -> bool:
        return op.lower in BARRIERS and self.whole(op)

    def _partial_barriers(self) -> list[Hazard]:
        return [
            Hazard(op.inst.line, f"{op.inst.shape.opcode} is a barrier for a part of the block")
            for op in self.flow.ops()
            if op.lower in BARRIERS and not self.whole(op)
        ]

    def _divergent_barriers(self) -> list[Hazard]:
        """Barriers that warps reach in different branches. Loops count as taken equally often by all."""
        if sum(self.meets(op) for op in self.flow.ops()) < 2:
            return []
        found, barriers = [], self.flow.hits(self.meets)
        firsts, components = self.flow.firsts(barriers), self.flow.components
        for number, block in enumerate(self.flow.blocks):
            branch = self.flow.branch(number)
            if branch is None or branch.inst.guard is None or len(block.successors) < 2:
                continue
            first, second = (firsts[s] for s in block.successors)
            loop = [components[s] == components[number] for s in block.successors]
            apart = first and second and not first & second and loop[0] == loop[1]
            if apart and self.differs(branch, branch.key(branch.inst.guard.reg)):
                line = min(op.inst.line for bit, op in enumerate(barriers.values()) if (first | second) >> bit & 1)
                found.append(Hazard(line, f"warps meet at barriers in different branches (line {branch.inst.line})"))
        return found

    def differs(self, reader: Op, register: str) -> bool:
        """Whether what an operation reads may differ between warps of a block."""
        seen: set[tuple[Op, str]] = set()
        work = [(reader, register)]
        while work:
            op, name = work.pop()
            if (op, name) in seen:
                continue
            seen.add((op, name))
            sources = self.flow.sources(op, name)
            if name.startswith(OWN) or any(map(self._own, sources)):
                return True
            work += [(source, r) for source in sources if source.lower not in BARRIERS for r in source.reads()]
            decided: set[int] = set().union(*(self.flow.deciders[source.block] for source in sources))
            for number in decided - self.flow.deciders[op.block]:  # which source it is, or of which round of a loop
                last = self.flow.blocks[number].ops[-1]
                work += [(last, r) for r in last.reads()]
        return False

    def _own(self, op: Op) -> bool:
        """Whether an operation gives threads or warps values of their own; so may a parameter of a function."""
        return op.lower in ("atom", "atom_cas", "activemask") or (self.called and self._parameter(op))

    @cached_property
    def differing(self) -> set[str]:
        """The registers that may, at any time, hold what differs between warps of a block."""
        users: dict[str, list[Op]] = {}
        for op in self.flow.ops():
            for register in op.reads():
                users.setdefault(register, []).append(op)
        work = [r for r in users if r.startswith("%tid") or r == "%warpid"]
        if self.called:  # nothing is known of its parameters
            work += [r for op in self.flow.ops() if self._parameter(op) for r in op.writes()]
        found = set(work)
        while work:
            for op in users.get(work.pop(), ()):
                if op.lower not in BARRIERS:
                    for register in op.writes():
                        if register not in found:
                            found.add(register)
                            work.append(register)
        return found

    # loops that wait

    def _waits(self, stores: set[str]) -> list[Hazard]:
        found: list[Hazard] = []
        if not any(self.polls(op) or self.loads(op) for op in self.flow.ops()):
            return found
        safe: set[Op] = set()
        for lock in locks(self.flow):
            if lock.taken:
                safe |= {branch for branch, _ in lock.retries} | set(lock.yields)
        for head, loop in self.flow.loops():
            found += self._wait(head, loop, safe, stores)
        return found

    def polls(self, op: Op) -> bool:
        """Whether an operation reads what other threads may be about to write."""
        if op.lower == "atom":
            by = self.flow.constant(op, op.inst.get("b"))
            return op.mods["op"] not in SELF_CHANGING or by == 0
        if op.lower == "call":
            target = op.inst.get("f")
            indirect = op.inst.get("b") is not None
            return bool(self.asking) if indirect else isinstance(target, Sym) and target.name in self.asking
        return op.lower == "mbarrier_wait" or is_try(op) or (is_look(op) and self.loads(op))

    def loads(self, op: Op) -> bool:
        """Whether an operation reads memory that other threads may write."""
        return op.lower == "ld" and space_of(op) in ("", "global", "shared")

    def _wait(self, head: int, loop: set[int], safe: set[Op], stores: set[str]) -> list[Hazard]:
        """The hazards of a loop that threads leave only when others have done something."""
        ops = [op for number in loop for op in self.flow.blocks[number].ops]
        quiet = not any(self.writes(op) or op.lower == "call" for op in ops)  # then weak loads too
        asks = {op for op in ops if self.polls(op) or (quiet and self.loads(op))}
        if not asks or any(map(self.meets, ops)):
            return []
        polled: set[Op] = set()
        for last in self._exits(loop):
            sources, advances = self.flow.slice(last, loop)
            waits = sources & asks
            if any(op.lower == "mbarrier_wait" for op in waits):
                line = min(op.inst.line for op in waits)
                return [Hazard(line, "a loop waits for an mbarrier, where other warps may have to arrive")]
            if advances or any(op.lower == "atom" and op not in asks for op in sources):
                return []  # the thread itself comes to the loop's end
            if last not in safe:
                polled |= waits
        polled = {op for op in polled if not self._changes(ops, op)}
        if not polled:
            return []
        first = min(polled, key=lambda op: op.inst.line)
        found = []
        aliases = frozenset() if self._others_only(head, first) else self._in_turn(head, loop, first)
        if aliases is None and self._written(first, stores):
            what = f"a loop waits for a value that another warp may write ({first.inst.shape.opcode})"
            found.append(Hazard(first.inst.line, what))
        elif aliases:
            what = f"a loop waits for what another warp may write by another pointer ({first.inst.shape.opcode})"
            found.append(Hazard(first.inst.line, what, aliases=aliases))
        if is_try(first) and self._alone(head, thread=True) is None:
            what = f"a lane may wait in a loop for another lane of its warp ({first.inst.shape.opcode})"
            found.append(Hazard(first.inst.line, what, lanes=True))
        return found

    def _exits(self, loop: set[int]) -> Iterator[Op]:
        """The conditional operations by which threads leave a loop."""
        for number in loop:
            block = self.flow.blocks[number]
            if block.ops and block.ops[-1].inst.guard is not None:
                last = block.ops[-1]
                if last.lower in ("ret", "exit") or not loop.issuperset(block.successors):
                    yield last

    def _changes(self, ops: list[Op], polled: Op) -> bool:
        """Whether the loop writes itself what it waits for."""
        where = self.flow.location(polled)
        if where is None:
            return False
        return any(self.writes(op) and op is not polled and self.flow.location(op) == where for op in ops)

    def _written(self, polled: Op, stores: set[str]) -> bool:
        """Whether the kernel writes anything to the space that is waited on."""
        others = {space_of(op) for op in self.flow.ops() if self.writes(op) and op is not polled}
        spaces = others if is_try(polled) else stores
        return "" in spaces or (bool(spaces) if not space_of(polled) else space_of(polled) in spaces)

    # waiting done by one warp of the block

    def _others_only(self, head: int, polled: Op) -> bool:
        """Whether one warp waits, while the others write nothing before they meet it at a barrier: then it
        waits for other blocks."""
        other = self._alone(head, thread=False)
        if other is None or self.called:
            return False
        ends = self.flow.hits(lambda op: self.meets(op) or op.lower == "call" or self._visible(op, polled))
        return all(map(self.meets, self.flow.first(other, ends)))

    def _in_turn(self, head: int, loop: set[int], polled: Op) -> frozenset[tuple[int, int]] | None:
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
            if op.block in before or not self._visible(op, polled) or any(self._renews(op, m) for m in mine):
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
        for last in self._exits(loop):
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
        if not self._parameter(op) or not isinstance(address, Addr) or address.rest:
            return None
        if not isinstance(address.base, Sym) or address.base.name not in self.offsets:
            return None
        items = to.items if isinstance(to, Vec) else (to,)
        which = [i for i, item in enumerate(items) if isinstance(item, Reg) and op.key(item.name) == register]
        at = self.offsets[address.base.name] + address.base.offset + address.offset
        return at + 8 * which[0] if len(which) == 1 else None

    def _visible(self, op: Op, polled: Op) -> bool:
        return self.writes(op) and (space_of(op) == space_of(polled) or not space_of(op) or not space_of(polled))

    def _alone(self, head: int, thread: bool) -> int | None:
        """The other side of a branch that lets one warp only (one thread) come to block `head`."""
        for number, block in enumerate(self.flow.blocks):
            branch = self.flow.branch(number)
            if branch is None or branch.inst.guard is None or len(block.successors) < 2 or number == head:
                continue
            register = branch.key(branch.inst.guard.reg)
            for inside in block.successors:
                holds = (inside != block.falls) != branch.inst.guard.negated
                if not self._few(branch, register, holds, thread):
                    continue
                [outside] = set(block.successors) - {inside}
                ways = [0, outside] if number else [outside]
                if any(head in self.flow.reach(way, [number]) for way in ways):
                    continue
                if head in self.flow.reach(inside, [number]):
                    return outside
        return None

    def _few(self, reader: Op, register: str, holds: bool, thread: bool, depth: int = 8) -> bool:
        """Whether a predicate that `reader` reads is `holds` for the threads of one warp only (for one thread)."""
        writes = self.flow.sources(reader, register)
        if len(writes) > 1 and depth:
            return self._flagged(reader, writes, holds, thread)
        if len(writes) != 1 or not depth:
            return False
        [op] = writes
        if op.inst.guard is not None:
            return False
        mnemonic = op.inst.shape.form.mnemonic
        joins = "and" if holds else "or"
        if op.mods.get("t") == "pred" and mnemonic in ("not", joins):
            return any(self._few(op, r, holds != (mnemonic == "not"), thread, depth - 1) for r in op.reads())
        if op.lower != "setp" or "c" in op.inst.shape.names:
            return False
        sides = [self._kind(op, op.inst.get(name)) for name in "ab"]
        if sides == ["thread", "thread"] and self._negated(op):
            sides = ["thread", "same"]  # tid.x + tid.y == -tid.z
        if op.mods["cmp"] in ("eq", "ne"):
            kinds = ("thread",) if thread else ("thread", "warp")
            return (op.mods["cmp"] == "eq") == holds and "same" in sides and any(k in sides for k in kinds)
        limit = self.flow.constant(op, op.inst.get("b"))
        if thread or sides[0] != "thread" or limit is None:
            return False
        match op.mods["cmp"], holds:
            case ("lt" | "lo", True) | ("ge" | "hs", False):
                return limit <= WARP
            case ("le" | "ls", True) | ("gt" | "hi", False):
                return limit < WARP
        return False

    def _flagged(self, reader: Op, writes: set[Op], holds: bool, thread: bool) -> bool:
        """The same of a predicate that constants are moved to: the one that makes it `holds` gets to the reader
        by a branch that few threads take, as it is overwritten on the other side."""
        if any(op.lower != "mov" or not isinstance(op.inst.get("a"), Imm) for op in writes):
            return False
        [*makers] = [op for op in writes if bool(self.flow.constant(op, op.inst.get("a"))) == holds]
        others = {op.block for op in writes} - {op.block for op in makers}
        for maker in makers:
            branch, block = self.flow.branch(maker.block), self.flow.blocks[maker.block]
            if branch is None or branch.inst.guard is None:
                return False
            for side in block.successors:
                if reader.block in self.flow.reach(side, others):
                    taken = (side != block.falls) != branch.inst.guard.negated
                    if not self._few(branch, branch.key(branch.inst.guard.reg), taken, thread):
                        return False
        return bool(makers)

    def _negated(self, op: Op) -> bool:
        made = [self.flow.definitions.get(register, [op])[0] for register in op.reads()]
        return any(m.inst.shape.form.mnemonic == "neg" for m in made)

    def _kind(self, op: Op, operand: Operand | None) -> str:
        """"same" for all threads of the block, another one for each "thread" or "warp", or "" (unknown)."""
        if isinstance(operand, Imm):
            return "same"
        if not isinstance(operand, Reg):
            return ""
        name = op.key(operand.name)
        if name.startswith("%tid."):
            return "thread" if self.axes <= {"%tid.x"} or self._linear else ""
        if name.startswith(("%ntid", "%ctaid", "%nctaid", "%gridid")):
            return "same"
        if name == "%warpid":
            return "warp"
        made = set(map(self._made, self.flow.sources(op, name)))
        return made.pop() if len(made) == 1 else ""

    def _made(self, made: Op) -> str:
        """The kind of an operation's result."""
        if made not in self._kinds:
            self._kinds[made] = ""  # for what depends on itself
            self._kinds[made] = self._result(made)
        return self._kinds[made]

    def _result(self, made: Op) -> str:
        sources = [o for n, o in zip(made.inst.shape.names, made.inst.operands, strict=True) if n not in "depq"]
        if made.lower == "ld":
            return "same" if self._parameter(made) and not self.called else ""
        kinds = {self._kind(made, source) for source in sources}
        if kinds == {"same"}:
            return "same"
        match made.inst.shape.form.mnemonic:
            case "mov" | "cvt" | "neg" | "not" if len(kinds) == 1:
                return kinds.pop()
            case "add" | "sub" | "mad" | "mul" | "shl" | "or" | "xor" if kinds <= {"same", "thread"}:
                return "thread"
            case "shr" if kinds <= {"same", "thread"}:
                by = self.flow.constant(made, made.inst.get("b"))
                return "" if by is None or 5 < by < 10 else "warp" if by <= 5 else "same"
        return ""

    def _parameter(self, op: Op) -> bool:
        """Whether an operation reads a parameter of the body."""
        if op.lower != "ld" or not op.mods.get("space", "").startswith("param"):
            return False
        address = op.inst.get("a")
        base = address.base if isinstance(address, Addr) else None
        return isinstance(base, Sym) and base.name not in self.flow.definitions

    @cached_property
    def axes(self) -> set[str]:
        """The parts of %tid that the function reads."""
        return {r for op in self.flow.ops() for r in op.reads() if r.startswith("%tid.")}

    @cached_property
    def _linear(self) -> bool:
        """Whether a function that reads several parts of %tid reads the block's sizes, to number its threads."""
        return any(r.startswith("%ntid.") for op in self.flow.ops() for r in op.reads())


__all__ = ["Hazard", "hazards"]
