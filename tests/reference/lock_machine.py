"""A small machine that runs the programs of lock_programs.py thread by thread in any order.

What a program computes does not hang on that order: counters and sums under locks, chains of turns, sums of what was
handed over, and, as `errors`, how often somebody under a lock finds that another one has it. `run` raises Deadlock for
a program that does not end."""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, field

from tests.reference.lock_programs import (
    BLOCK,
    WARP,
    Call,
    Count,
    Exchange,
    If,
    Leave,
    Loop,
    Meet,
    Mix,
    Program,
    Quit,
    Relay,
    Section,
    Slot,
    Times,
    Turns,
)

MASK = 0xFFFFFFFF


@dataclass
class Result:
    """errors, acc of each thread, and what the records hold, by their names."""

    errors: int
    acc: list[int]
    words: dict[tuple, int] = field(default_factory=dict)


class Deadlock(AssertionError):
    pass


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
        self.held: list[list[tuple]] = [[] for _ in self.acc]  # the locks that each thread has taken
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

    def _call(self, s: Call, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        acc = self.acc[g]
        self.acc[g] = (5 * acc + s.k if acc & 1 else 3 * acc + s.k + 1) & MASK
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
        where = ("lock",) if s.space == "global" else ("shared", g // self.program.threads)
        record = (*where, s.lock, number & 1 if s.hashed else 0)
        leads = g == first + s.leader
        yield from self.meet(g, s.size if s.before else 1)
        owner = ((*record, "owner"), first + s.leader + 1, s.size)
        if leads:
            while self.words.get(record, 0):
                yield ("word", record)
            self.put(record, 1)
            self.held[g].append(record)
            yield ()
            self.put(owner[0], owner[1])
        yield from self.meet(g, s.size)
        yield from self._block(s.body, g, s.size, record, owner)
        yield from self.meet(g, s.size)
        yield from self._own(owner)
        yield from self.meet(g, s.size)
        if leads:
            self.put(self.held[g].pop(), 0)

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

    def _quit(self, s: Quit, g: int, size: int, record: tuple, owner: tuple) -> Thread:
        if self.acc[g] >> s.bit & 3 == 3:
            while self.held[g]:
                yield ()
                self.put(self.held[g].pop(), 0)
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
