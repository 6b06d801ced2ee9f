"""Locks that a thread takes by trying until an atomic succeeds, and waits of lanes for what other lanes of their warp
write: which branches try again, and which operations release (transforms/converge_locks.py rearranges them)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import permutations
from typing import TypeVar

from ptx2amd.isa.effects import ARRIVES, ATOMIC, BARRIERS, BLOCK_BARRIER, CALLS, EXCHANGES, POLLS, READS, WRITES
from ptx2amd.middle.analyses.addresses import loads, place, steps
from ptx2amd.middle.analyses.divergence import ALL_LANES, Divergence
from ptx2amd.middle.analyses.exchanges import is_collective, is_exchange, members
from ptx2amd.middle.analyses.own_memory import kept, stored
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Op, Register
from ptx2amd.ptx.ast import Imm
from ptx2amd.records import dataclass, field

T = TypeVar("T")

STRONG = frozenset(("volatile", "relaxed", "acquire", "mmio"))


@dataclass(slots=True, eq=False)
class Lock:
    """Locks whose critical sections overlap: the branches by which threads try again (with whether the jump, or the
    fall-through, goes back), and the releases. taken: by atomics; else threads wait for their turn by looking
    only, and another branch may have to grant it. given: releases of a lock by a thread that could not get another
    lock, after the branches `yields`; lanes that do so in step would fail forever, so each
    tries again in a round of its own. gathers: lanes that try may meet there with others, before a release."""

    retries: list[tuple[Op, bool]] = field(default_factory=list)
    releases: list[Op] = field(default_factory=list)
    again: dict[Op, list[Op]] = field(default_factory=dict)  # the operations that the retries lead to
    taken: bool = True
    given: set[Op] = field(default_factory=set)
    yields: list[Op] = field(default_factory=list)
    gathers: bool = False


def is_try(op: Op) -> bool:
    """Whether an atomic may be an attempt to acquire a lock."""
    return bool(op.does & ATOMIC) and op.mods.get("op") in ("cas", "exch")


def is_look(op: Op) -> bool:
    """Whether an operation polls: a load, or an atomic that changes nothing, of memory that another thread may write
    meanwhile."""
    if op.does & ATOMIC and op.mods.get("op") in ("add", "or", "xor"):
        by = op.inst.get("b")
        return isinstance(by, Imm) and not by.bits
    return bool(op.does & READS) and not op.does & (ATOMIC | POLLS) and op.mods.get("sem") in STRONG


def gathers(flow: Body, op: Op) -> bool:
    """Whether an operation completes only when all lanes of the warp that have not ended have reached it."""
    if op.inst.guard is not None:
        return False
    mask = flow.constant(members(op)) if is_exchange(op) else None
    return op.does & (BLOCK_BARRIER | ARRIVES) == BLOCK_BARRIER or (mask is not None and mask & ALL_LANES == ALL_LANES)


def conditions(flow: Body) -> dict[Op, set[Op]]:
    """The conditional branches, with the loads and atomics that their conditions are made of."""
    asking = _asking(flow)
    branches = filter(None, map(flow.branch, range(len(flow.blocks))))
    return _asked(flow, [branch for branch in branches if branch.predicate in asking])


def _asking(flow: Body) -> set[Register]:
    """The registers that may hold a value computed from such loads and atomics, on any path."""
    users: dict[Register, list[Op]] = {}
    for op in flow.ops():
        for register in () if op.does & (READS | CALLS) else op.reads:
            users.setdefault(register, []).append(op)
    alike: dict[int, tuple[set[Op], list[Op]]] = {}  # many loads may read what the same stores have written
    for load, stores in flow.analysis(stored).items():
        alike.setdefault(id(stores), (stores, []))[1].append(load)
    kept_by: dict[Register, list[list[Op]]] = {}
    for stores, loads_of in alike.values():
        for register in {register for store in stores for register in store.reads}:
            kept_by.setdefault(register, []).append(loads_of)
    found: set[Register] = set()
    work = [op for op in flow.ops() if is_try(op) or is_look(op)]
    while work:
        new = set(work.pop().writes) - found
        found |= new
        work += [user for register in new for user in users.get(register, ())]
        for loads_of in (each for register in new for each in kept_by.get(register, ())):
            work += loads_of
            loads_of.clear()
    return found


def _asked(flow: Body, branches: list[Op]) -> dict[Op, set[Op]]:
    """The branches that depend on such loads and atomics, with these."""
    behind = flow.analysis(stored)
    users: dict[Op | int, list[Op | int]] = {}  # of what each operation, or each set of stores, gives
    asks: list[Op] = []
    groups: dict[int, set[Op]] = {}  # the sets of stores, each of which many loads may read
    seen: set[Op | int] = set(branches)
    work: list[Op | int] = list(branches)
    while work:
        at = work.pop()
        sources: set[Op] | list[int]
        if isinstance(at, int):
            sources = groups[at]
        elif is_try(at) or is_look(at):
            asks.append(at)
            continue
        elif at.does & (READS | CALLS):
            stores = behind.get(at, set())
            groups[id(stores)] = stores
            sources = [id(stores)]
        else:
            sources = set().union(*(flow.sources(at, register) for register in at.reads))
        for source in sources:
            users.setdefault(source, []).append(at)
            if source not in seen:
                seen.add(source)
                work.append(source)
    found: dict[Op | int, int] = {}  # bits of `asks`
    for bit, ask in enumerate(asks):
        work = [ask]
        while work:
            at = work.pop()
            if not found.get(at, 0) >> bit & 1:
                found[at] = found.get(at, 0) | 1 << bit
                work += users.get(at, ())
    asked = ((branch, found.get(branch, 0)) for branch in branches)
    return {branch: {ask for bit, ask in enumerate(asks) if bits >> bit & 1} for branch, bits in asked if bits}


def locks(flow: Body) -> list[Lock]:
    """The locks of a function body that its threads spin on, and whose releases are seen."""
    asked = conditions(flow)
    askers: dict[Op, list[Op]] = {}  # the branches that each load or atomic decides
    for branch, sources in asked.items():
        for source in sources:
            askers.setdefault(source, []).append(branch)
    places: dict[Hashable, list[Op]] = {}
    known = flow.analysis(kept) if asked else {}
    for op in flow.ops() if asked else ():
        if (here := place(flow, op, known)) is not None:
            places.setdefault(here, []).append(op)
    found = []
    for here, ops in places.items():
        if any(op in askers for op in ops):
            kept_in = (place(flow, load, known) for load in loads(here))  # where an address in memory lies
            moves = steps(here).union(op for at in kept_in for op in places.get(at, ()) if op.does & WRITES)
            found += _sections(flow, ops, moves, asked, askers)
    return _overlapping(flow, found)


def _sections(
    flow: Body,
    here: list[Op],
    moves: set[Op],
    asked: dict[Op, set[Op]],
    askers: dict[Op, list[Op]],
) -> list[Lock]:
    """The critical sections under one lock. here: all operations on it, in the order of the text; moves: what makes it
    another one in a further round of a loop, so that another look then is not at the same lock."""
    tries = {op for op in here if is_try(op) and op in askers}
    looks = {op for op in here if is_look(op) and op in askers}
    releases = {op for op in here if op.does & WRITES and op not in tries | looks}
    if not releases:
        return []
    ends = flow.earliest(tries | releases | looks)
    still = flow.earliest(tries | releases | looks | moves)
    stops = flow.earliest([*tries, *releases, *looks, *(op for op in flow.ops() if gathers(flow, op))])
    parts: list[tuple[set[Op], Lock]] = []  # what a section is known by
    for branch in sorted({branch for op in tries | looks for branch in askers[op]}, key=lambda op: op.block):
        asks = asked[branch] & (tries | looks)
        block = flow.blocks[branch.block]
        jump = next((s for s in block.successors if s != block.falls), block.falls)
        ways = [flow.first(way, ends) for way in (jump, block.falls)]
        for back, ahead, taken in ((ways[0], ways[1], True), (ways[1], ways[0], False)):
            if not back or back & releases or ahead == back:
                continue
            way, on = (jump, block.falls) if taken else (block.falls, jump)
            if not asks & tries and not flow.first(way, still) - moves:
                continue
            signals = _other_side(flow, branch, flow.reach(way, [on]), releases)
            goal = ahead & (releases if asks & tries or not tries else releases | tries)
            reached = flow.first(on, stops) & (releases | tries) if goal else set()
            if reached or signals:
                again = {branch: [op for op in here if op in back]}
                given = [op for op in here if op in (reached | signals) & releases]
                parts.append((asks | back | ahead | signals, Lock([(branch, taken)], given, again, bool(tries))))
                break
    return [lock for lock in joined(parts, lambda a, b: bool(a & b)) if lock.releases]


def _other_side(flow: Body, wait: Op, loop: set[int], releases: set[Op]) -> set[Op]:
    """The releases on the other side of a branch at which lanes part, where those on this side wait for them in a
    loop, each by itself."""
    around = flow.components[wait.block]
    inside = (flow.blocks[number].ops for number in loop if flow.components[number] == around)
    if any(op.does & (EXCHANGES | BARRIERS) for ops in inside for op in ops):
        return set()  # lanes that wait need each other
    divergence = flow.analysis(Divergence)
    for branch in divergence.branches:
        sides = divergence.sides(branch)
        for side in sides:
            if wait.block in side:
                found = {op for op in releases for other in sides if other is not side and op.block in other}
                if found:
                    return found
    return set()


def _overlapping(flow: Body, found: list[Lock]) -> list[Lock]:
    """Locks become one if one is acquired while another is held; so do locks on both sides of a branch where threads
    wait for turns: if both are one word in memory, the first thread may be on either side."""

    def ahead(lock: Lock, ends: dict[int, Op]) -> set[Op]:
        """The first of `ends` behind the tries of a lock."""
        found: set[Op] = set()
        for branch, taken in lock.retries:
            block = flow.blocks[branch.block]
            ways = [way for way in block.successors if (way == block.falls) == taken]
            found.update(op for way in ways for op in flow.first(way, ends))
        return found

    def inside(a: Lock, b: Lock) -> bool:
        """Whether b is tried before the release of a, which follows it, and not only in a further round."""
        own, tries = {branch for branch, _ in a.retries}, {branch for branch, _ in b.retries}
        if not ahead(a, flow.earliest(tries | set(a.releases))) & tries - own:
            return False
        return bool(ahead(b, flow.earliest(own | set(a.releases))) & set(a.releases))

    def beside(a: Lock, b: Lock) -> bool:
        if a.taken and b.taken:
            return False
        tries = [{branch.block for branch, _ in lock.retries} for lock in (a, b)]
        divergence = flow.analysis(Divergence)
        pairs = (pair for branch in divergence.branches for pair in permutations(divergence.sides(branch), 2))
        return any(tries[0] & one and tries[1] & other for one, other in pairs)

    parts = [(lock, lock) for lock in found]
    found = joined(parts, lambda a, b: inside(a, b) or inside(b, a) or beside(a, b))
    for lock in found:
        ends = flow.earliest([*(branch for branch, _ in lock.retries), *lock.releases])
        for branch, taken in list(lock.retries):
            block = flow.blocks[branch.block]
            back = [s for s in block.successors if (s != block.falls) == taken]
            following = set().union(*(flow.first(way, ends) for way in back))
            given = following & set(lock.releases)
            if given and branch not in following:
                lock.retries.remove((branch, taken))
                del lock.again[branch]
                lock.yields.append(branch)
                lock.given |= given
        lock.gathers = _gathers(flow, lock)
    return [lock for lock in found if lock.retries]


def _gathers(flow: Body, lock: Lock) -> bool:
    """Whether an operation that needs several lanes is on a way from the tries to the releases."""
    ends = {op.block: op.index for op in flow.earliest(lock.releases).values()}
    before, work = set(), list(ends)
    while work:
        for previous in flow.blocks[work.pop()].predecessors:
            if previous not in before:
                before.add(previous)
                work.append(previous)
    for branch, taken in lock.retries:
        block = flow.blocks[branch.block]
        again = {op.block for op in lock.again[branch]}
        for way in block.successors:
            if (way == block.falls) == taken:
                for number in flow.reach(way, again):
                    last = ends.get(number, -1) if number not in before else len(flow.blocks[number].ops)
                    if any(map(is_collective, flow.blocks[number].ops[: max(last, 0)])):
                        return True
    return False


def joined(parts: list[tuple[T, Lock]], together: Callable[[T, T], bool]) -> list[Lock]:
    """The locks with overlapping ones joined, each branch and release once."""
    groups: list[list[tuple[T, Lock]]] = []
    for part in parts:
        near = [group for group in groups if any(together(part[0], other[0]) for other in group)]
        groups = [group for group in groups if group not in near] + [[part, *(p for group in near for p in group)]]
    return [
        Lock(
            list(dict.fromkeys(retry for _, lock in group for retry in lock.retries)),
            list(dict.fromkeys(release for _, lock in group for release in lock.releases)),
            {branch: again for _, lock in group for branch, again in lock.again.items()},
            all(lock.taken for _, lock in group),
            set().union(*(lock.given for _, lock in group)),
            [branch for _, lock in group for branch in lock.yields],
            any(lock.gathers for _, lock in group),
        )
        for group in groups
    ]


__all__ = ["STRONG", "Lock", "conditions", "gathers", "is_look", "is_try", "joined", "locks"]
