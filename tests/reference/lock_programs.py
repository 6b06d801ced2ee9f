"""Random programs whose threads take locks, alone or for a group that meets under the lock (a tile of a warp, a warp, a
block), wait for their turns and hand words over.

Locks are nested in the order of their numbers, groups meet where all of a group come, so each program ends under
independent thread scheduling."""

from __future__ import annotations

import random
from dataclasses import dataclass

LOCKS = 4  # numbers of locks, in whose order they are nested; each is two words, for groups with even and odd numbers
WARP = 32
SIZES = (4, 8, 16)  # of tiles
BLOCK = 0  # the size of a group that is a whole block
EXCHANGES = ("ballot", "any", "all", "bfly", "idx", "redux")


@dataclass(frozen=True)
class Mix:
    """acc = 5 acc + k."""

    k: int


@dataclass(frozen=True)
class Call:
    """acc = 5 acc + k where its lowest bit is set, else 3 acc + k + 1: a function that returns at two places."""

    k: int


@dataclass(frozen=True)
class Count:
    """Under a lock that a thread has: its counter grows by k and the two lowest bits of the thread's number."""

    k: int
    slow: bool


@dataclass(frozen=True)
class Slot:
    """Under a lock that a group has: a member adds 16 bits of its acc to its own word."""


@dataclass(frozen=True)
class Meet:
    """All of the group meet."""


@dataclass(frozen=True)
class Exchange:
    """All of the group, or of the warp where it is a block, exchange something; it is added to acc."""

    kind: str
    k: int


@dataclass(frozen=True)
class If:
    """what: bit `bit` of acc, or of the number of the thread, block, warp, or tile decides."""

    what: str
    bit: int
    then: tuple
    other: tuple


@dataclass(frozen=True)
class Times:
    """As many rounds for all."""

    rounds: int
    body: tuple


@dataclass(frozen=True)
class Loop:
    """As many rounds as two bits of acc say."""

    bit: int
    body: tuple


@dataclass(frozen=True)
class Section:
    """The body under a lock, which each thread, or for each group of `size` the member with rank `leader`, takes.
    hashed: of two locks, by the group's number; parts: the body stands on both sides of a branch on bit `bit` of acc
    (of a group: its leader's number), each with a release. kind, shape, give: how it is written. before: the group
    meets first, as members may come late, from sections that need the lock. space: where the lock is; in "shared"
    memory each block has its own, which "generic" addresses lead to too."""

    before: bool
    lock: int
    hashed: bool
    size: int
    leader: int
    parts: bool
    bit: int
    body: tuple
    kind: str
    shape: str
    give: str
    space: str = "global"


@dataclass(frozen=True)
class Turns:
    """All threads of the grid, or all groups of `size`, one after the other: a word counts them, another one is
    multiplied by 3 and gets the number added. last_first: within a block, the last ones first."""

    before: bool
    word: int
    size: int
    leader: int
    last_first: bool
    body: tuple
    look: str
    give: str


@dataclass(frozen=True)
class Relay:
    """One group of each `over` (warp, block or grid: 32, BLOCK, -1) gets what all others of it have, one by one: they
    put words of theirs into a record whose word goes from 0 to 1 to 2, the one takes it from 2 to 3 and gives it back
    as 0. The sum is added to acc. receiver: the number of the one; first: whether it comes first in the text; looks:
    it waits by loads, as nobody else takes it from 2."""

    before: bool
    word: int
    size: int
    over: int
    leader: int
    receiver: int
    first: bool
    looks: bool
    give: str


@dataclass(frozen=True)
class Leave:
    """Threads with two bits of acc set exit."""

    bit: int


@dataclass(frozen=True)
class Quit:
    """Threads with two bits of acc set give back the locks that they have, the last one first, and exit."""

    bit: int


@dataclass(frozen=True)
class Program:
    threads: int  # of a block
    blocks: int
    body: tuple


class _Maker:
    def __init__(self, seed: int, more: bool) -> None:
        self.rng = random.Random(seed)
        self.more, self.last = more, False  # last: at the end of the program, where threads may exit
        self.words = 0
        self.tickets = [self.rng.random() < 0.25 for _ in range(LOCKS)]

    def program(self, parts: int, depth: int) -> Program:
        self.threads = self.rng.choice((32, 64, 96))
        self.blocks = self.rng.choice((1, 2, 3))
        body: list = []
        for _ in range(parts):
            kind = self.rng.random()
            met = self._met(body, BLOCK, BLOCK)
            if kind < 0.2 and self.words < LOCKS:
                body.append(self._turns(met))
            elif kind < 0.4 and self.words < LOCKS:
                body.append(self._relay(met))
            else:
                body += self._statements(BLOCK, 0, -1, depth, met)
        if self.rng.random() < (0.6 if self.more else 0.3):
            self.last, deep = self.more, 1 + self.more
            body += [*self._statements(1, 0, -1, deep, 1), Leave(self.rng.randrange(8))]
            body += self._statements(1, 0, -1, deep, 1)
        return Program(self.threads, self.blocks, tuple(body))

    def _met(self, before: list, size: int, start: int) -> int:
        """The size of the groups that have met since they last waited for a lock. start: where nothing is before."""
        match before:
            case []:
                return start
            case [*_, Meet()]:
                return size
            case [*_, Exchange()]:
                return size or WARP
            case [*_, Section() | Turns() | Relay() as last] if last.size != 1:
                return last.size
            case [*rest, Mix() | Call() | Count() | Slot()]:
                return self._met(rest, size, start)
        return 1

    def _statements(self, size: int, free: int, held: int, depth: int, met: int) -> tuple:
        """size: of the group that comes here together; free: the first lock that may be taken; held: the size for
        which the innermost lock is held, -1: none; met: the size of the groups that have just met."""
        made: list = []
        for _ in range(self.rng.randrange(1, 4)):
            made.append(self._statement(size, free, held, depth, self._met(made, size, met)))
        return tuple(made)

    def _statement(self, size: int, free: int, held: int, depth: int, met: int) -> object:
        rng = self.rng
        if held >= 0 and rng.random() < 0.3:
            if self.last and rng.random() < 0.4:
                return Quit(rng.randrange(8))
            return Count(rng.randrange(4), rng.random() < 0.3) if held == 1 else Slot()
        if depth and free < LOCKS and rng.random() < 0.5:
            return self._section(size, free, depth, met)
        choice = rng.random()
        if depth and choice < 0.35:
            return self._branch(size, free, held, depth)
        if depth and choice < 0.5:
            if rng.random() < 0.5:
                return Times(rng.randrange(1, 4), self._statements(size, free, held, depth - 1, 1))
            return Loop(rng.randrange(8), self._statements(1, free, held, depth - 1, 1))
        if size != 1 and choice < 0.7:
            return Meet()
        if size != 1 and choice < 0.9:
            return Exchange(rng.choice(EXCHANGES), rng.randrange(32))
        if self.more and rng.random() < 0.5:
            return Call(rng.randrange(100))
        return Mix(rng.randrange(100))

    def _branch(self, size: int, free: int, held: int, depth: int) -> If:
        ways = ["acc", "thread"]
        if size == BLOCK:
            ways += ["block", "warp", "tile"]
        elif size == WARP:
            ways += ["tile"]
        what = self.rng.choice(ways)
        inner = {"block": BLOCK, "warp": WARP, "tile": 16}.get(what, 1)
        bit = self.rng.randrange(5) if what in ("acc", "thread") else 4 if what == "tile" else 0
        then = self._statements(inner, free, held, depth - 1, 1)
        other = self._statements(inner, free, held, depth - 1, 1) if self.rng.random() < 0.5 else ()
        return If(what, bit, then, other)

    def _size(self, size: int) -> int:
        """A group's size within one of `size`."""
        sizes = [1, *(s for s in (*SIZES, WARP) if size == BLOCK or s <= size), *([BLOCK] * 2 if size == BLOCK else [])]
        return self.rng.choice(sizes)

    def _leader(self, size: int) -> int:
        return self.rng.choice((0, 0, self.rng.randrange(size or self.threads)))

    @staticmethod
    def _late(size: int, met: int) -> bool:
        """Whether members of a group may not be here yet, while others are."""
        return size != 1 and (met == 1 or (met != BLOCK and (size == BLOCK or size > met)))

    def _section(self, size: int, free: int, depth: int, met: int) -> Section:
        rng, own = self.rng, self._size(size)
        lock = rng.randrange(free, LOCKS)
        body = self._statements(own, lock + 1, own, depth - 1, own)
        kind = "ticket" if self.tickets[lock] else rng.choice(("cas", "cas", "exch"))
        shapes = {"ticket": ("ld.volatile", "ld.acquire", "atom.add", "atom.or")}
        others = ("plain", "peeled", "look", "while", "sleep", "function")
        shape = rng.choice(shapes.get(kind, others if own == 1 else tuple(o for o in others if o != "while")))
        gives = ("exch", "volatile", "release", "cas", "and") if kind != "ticket" else ("release", "red", "atom")
        parts = shape not in ("while", "function") and rng.random() < 0.25
        hashed, leader, bit = rng.random() < 0.4, self._leader(own), rng.randrange(5)
        late, give, space = self._late(own, met), rng.choice(gives), "global"
        if self.more:
            space = rng.choice(("global", "shared", "generic"))
            if kind != "ticket" and rng.random() < 0.2:
                shape, parts = "returns", False
                if own == 1 and rng.random() < 0.7:
                    shape, body = "whole", (Count(rng.randrange(4), False),)
        return Section(late, lock, hashed, own, leader, parts, bit, body, kind, shape, give, space)

    def _turns(self, met: int) -> Turns:
        self.words += 1
        size = self._size(BLOCK)
        body = self._statements(size, LOCKS, -1, 1, size)
        look = self.rng.choice(("ld.volatile", "ld.acquire", "atom.add", "atom.or", "cas"))
        give = self.rng.choice(("volatile", "exch", "red", "release"))
        last = self.rng.random() < 0.5
        return Turns(self._late(size, met), self.words - 1, size, self._leader(size), last, body, look, give)

    def _relay(self, met: int) -> Relay:
        self.words += 1
        ways = [(1, WARP), (16, WARP), (8, WARP)]
        ways += [(1, BLOCK), (WARP, BLOCK), (16, BLOCK)] if self.threads > WARP else []
        ways += [(BLOCK, -1), (BLOCK, -1), (WARP, -1), (1, -1)] if self.blocks > 1 else []
        size, over = self.rng.choice(ways)
        rng = self.rng
        members = (over if over > 0 else self.threads * (1 if over == BLOCK else self.blocks)) // (size or self.threads)
        receiver = rng.choice((0, members - 1, rng.randrange(members)))
        give = rng.choice(("exch", "volatile", "release"))
        first, looks = rng.random() < 0.5, rng.random() < 0.3
        late = self._late(size, met)
        return Relay(late, self.words - 1, size, over, self._leader(size), receiver, first, looks, give)


def generate(seed: int, more: bool = False) -> Program:
    """Small programs and larger ones in turn. more: with locks in shared memory too, functions that return at several
    places, and exits under locks."""
    return _Maker(seed, more).program(*((1, 1), (1, 2), (2, 1), (3, 2))[seed % 4])
