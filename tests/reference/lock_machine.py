"""Random programs whose threads take locks, alone or for a group that meets under the lock (a tile of a warp, a warp, a
block), wait for their turns and hand words over, and a small machine that runs them thread by thread in any order.

What a program computes does not hang on that order: counters and sums under locks, chains of turns, sums of what was
handed over, and, as `errors`, how often somebody under a lock finds that another one has it. Locks are nested in the
order of their numbers, groups meet where all of a group come, so each program ends under independent thread
scheduling; `run` raises Deadlock for one that does not."""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, field

MASK = 0xFFFFFFFF
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
    meets first, as members may come late, from sections that need the lock."""

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
class Program:
    threads: int  # of a block
    blocks: int
    body: tuple


@dataclass
class Result:
    """errors, acc of each thread, and what the records hold, by their names."""

    errors: int
    acc: list[int]
    words: dict[tuple, int] = field(default_factory=dict)


class Deadlock(AssertionError):
    pass


# random programs


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
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
        if self.rng.random() < 0.3:
            body += [*self._statements(1, 0, -1, 1, 1), Leave(self.rng.randrange(8)), *self._statements(1, 0, -1, 1, 1)]
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
            case [*rest, Mix() | Count() | Slot()]:
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
        late = self._late(own, met)
        return Section(late, lock, hashed, own, leader, parts, bit, body, kind, shape, rng.choice(gives))

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


def generate(seed: int) -> Program:
    """Small programs and larger ones in turn."""
    return _Maker(seed).program(*((1, 1), (1, 2), (2, 1), (3, 2))[seed % 4])


# the machine

Wait = tuple  # ("word", name) for it to change, ("meet", (first, size)), or ()
Thread = Generator[Wait, None, None]


class _Machine:
    def __init__(self, program: Program, seed: int) -> None:
        self.program, self.rng = program, random.Random(seed)
        self.words: dict[tuple, int] = {}
        total = program.threads * program.blocks
        self.acc = [(g * 0x9E3779B1 + 12345) & MASK for g in range(total)]
        self.errors = 0
        self.left: set[int] = set()
        self.ready: list[int] = []
        self.waiting: dict[tuple, list[int]] = {}  # for a word to change
        self.given: dict[tuple, dict[int, int]] = {}  # what those who met brought

    def run(self) -> Result:
        total = len(self.acc)
        threads = [self._thread(g) for g in range(total)]
        ready = self.ready = list(range(total))
        meeting: dict[tuple, set[int]] = {}
        while ready:
            at = self.rng.randrange(len(ready))
            ready[at], ready[-1] = ready[-1], ready[at]
            g = ready.pop()
            match next(threads[g], ("left",)):
                case ("word", name):
                    self.waiting.setdefault(name, []).append(g)
                    asked = []
                case ("meet", name):
                    meeting.setdefault(name, set()).add(g)
                    asked = [name]
                case ("left",):
                    self.left.add(g)
                    asked = list(meeting)
                case _:
                    ready.append(g)
                    asked = []
            for name in asked:
                if self._complete(name, meeting[name]):
                    ready += meeting.pop(name)
        if len(self.left) < total:
            raise Deadlock(f"{total - len(self.left)} threads wait: {self.waiting.keys()}, {meeting}")
        return Result(self.errors, self.acc, self.words)

    def put(self, name: tuple, value: int) -> None:
        self.words[name] = value
        self.ready += self.waiting.pop(name, [])

    def _complete(self, name: tuple, here: set[int]) -> bool:
        first, size = name
        return len(here) == size or here.issuperset(set(range(first, first + size)) - self.left)

    def _size(self, size: int) -> int:
        return self.program.threads if size == BLOCK else size

    def group(self, g: int, size: int) -> tuple[int, int, int]:
        """The size, number and first thread of the group."""
        size = self._size(size)
        return size, g // size, g // size * size

    def _thread(self, g: int) -> Thread:
        try:
            yield from self._block(self.program.body, g, BLOCK, (), ())
        except _Left:
            return

    def _block(self, body: tuple, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        for statement in body:
            yield ()
            yield from getattr(self, "_" + type(statement).__name__.lower())(statement, g, size, record, owner)

    def _mix(self, s: Mix, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        self.acc[g] = (5 * self.acc[g] + s.k) & MASK
        yield from ()

    def _count(self, s: Count, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        yield from self._own(owner)
        yield from self._add((*record, "count"), s.k + (g & 3))

    def _add(self, word: tuple, by: int) -> Thread:
        before = self.words.get(word, 0)
        yield ()
        self.put(word, (before + by) & MASK)

    def _own(self, owner: tuple) -> Thread:
        self.errors += self.words.get(owner[0], 0) != owner[1]
        yield from ()

    def _slot(self, s: Slot, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        yield from self._own(owner)
        _, _, first = self.group(g, owner[2])
        yield from self._add((*record, "slot", g - first), self.acc[g] & 0xFFFF)

    def _meet(self, s: Meet, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        yield from self.meet(g, size)

    def meet(self, g: int, size: int) -> Thread:
        size, _, first = self.group(g, size)
        if size != 1:
            yield ("meet", (first, size))

    def _exchange(self, s: Exchange, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        """Bring the values, meet, take, and meet again before anybody brings more."""
        size, _, first = self.group(g, size or WARP)
        brought = self.given.setdefault(("exchange", first, size), {})
        brought[g] = self.acc[g]
        yield from self.meet(g, size)
        values = {rank: brought[first + rank] for rank in range(size)}
        value = exchanged(s, values, g - first, size)
        if s.kind == "ballot":
            value <<= first % WARP
        yield from self.meet(g, size)
        self.acc[g] = (self.acc[g] + value) & MASK

    def _if(self, s: If, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        numbers = {
            "acc": self.acc[g] >> s.bit,
            "thread": g % self.program.threads >> s.bit,
            "block": g // self.program.threads,
            "warp": g % self.program.threads // WARP,
            "tile": g % WARP // 16,
        }
        inner = {"block": size, "warp": WARP, "tile": 16}.get(s.what, 1)
        yield from self._block(s.then if numbers[s.what] & 1 else s.other, g, inner, record, owner)

    def _times(self, s: Times, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        for _ in range(s.rounds):
            yield from self._block(s.body, g, size, record, owner)

    def _loop(self, s: Loop, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        for _ in range(self.acc[g] >> s.bit & 3):
            yield from self._block(s.body, g, 1, record, owner)

    def _section(self, s: Section, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        _, number, first = self.group(g, s.size)
        record = ("lock", s.lock, number & 1 if s.hashed else 0)
        leads = g == first + s.leader
        yield from self.meet(g, s.size if s.before else 1)
        owner = ((*record, "owner"), first + s.leader + 1, s.size)
        if leads:
            while self.words.get(record, 0):
                yield ("word", record)
            self.put(record, 1)
            yield ()
            self.put(owner[0], owner[1])
        yield from self.meet(g, s.size)
        yield from self._block(s.body, g, s.size, record, owner)
        yield from self.meet(g, s.size)
        yield from self._own(owner)
        yield from self.meet(g, s.size)
        if leads:
            self.put(record, 0)

    def _turns(self, s: Turns, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        size, number, first = self.group(g, s.size)
        each = self.program.threads // size
        turn = number // each * each + each - 1 - number % each if s.last_first else number
        word = ("turns", s.word)
        yield from self.meet(g, s.size if s.before else 1)
        if g == first + s.leader:
            while self.words.get(word, 0) != turn:
                yield ("word", word)
        yield from self.meet(g, s.size)
        yield from self._block(s.body, g, s.size, record, owner)
        yield from self.meet(g, s.size)
        if g == first + s.leader:
            self.put((*word, "count"), (3 * self.words.get((*word, "count"), 0) + turn + 1) & MASK)
            self.put(word, turn + 1)

    def _relay(self, s: Relay, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        size, number, first = self.group(g, s.size)
        over = self._size(s.over) if s.over >= 0 else len(self.acc)
        record = ("relay", s.word, g // over)
        slot = (*record, "slot", g - first)
        leads = g == first + s.leader
        yield from self.meet(g, s.size if s.before else 1)
        if number - g // over * over // size != s.receiver:
            if leads:
                while self.words.get(record, 0):
                    yield ("word", record)
                self.put(record, 1)
            yield from self.meet(g, s.size)
            self.put(slot, self.acc[g] & 0xFFFF)
            yield from self.meet(g, s.size)
            if leads:
                self.put(record, 2)
            return
        for _ in range(over // size - 1):
            if leads:
                while self.words.get(record, 0) != 2:
                    yield ("word", record)
                self.put(record, 3)
            yield from self.meet(g, s.size)
            yield ()
            self.acc[g] = (self.acc[g] + self.words[slot]) & MASK
            yield from self.meet(g, s.size)
            if leads:
                self.put(record, 0)
        self.words.pop(slot, None)  # whose value was last is not known

    def _leave(self, s: Leave, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        if self.acc[g] >> s.bit & 3 == 3:
            raise _Left
        yield from ()


class _Left(Exception):
    pass


def exchanged(s: Exchange, values: dict[int, int], rank: int, size: int) -> int:
    bits = {member: value >> s.k & 1 for member, value in values.items()}
    match s.kind:
        case "ballot":
            return sum(bit << member for member, bit in bits.items())
        case "any":
            return int(any(bits.values()))
        case "all":
            return int(all(bits.values()))
        case "bfly":
            return values[rank ^ s.k % size]
        case "idx":
            return values[s.k % size]
    return sum(values.values()) & MASK


def run(program: Program, seed: int = 0) -> Result:
    return _Machine(program, seed).run()
