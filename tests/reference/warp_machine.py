"""Random programs of one warp's threads with nested divergence and warp operations, and a small machine that runs
them by the PTX manual's text alone: a thread at an operation waits until all threads of its member mask that have not
exited are at one with the same qualifiers and mask, wherever in the program; then they exchange values. Who else runs
when does not matter.

A program keeps the mask of the threads in the current region in a register (from a ballot before each branch), as
careful CUDA code does; or the threads of both sides of a branch come to operations for all of them, in an order that
is the same on both (`parted`). So every program is defined under independent thread scheduling."""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, replace

from tests.reference import warp

REGISTERS = 5
MASK = 0xFFFFFFFF
UNDEFINED = 0x0BADC0DE  # what a program takes instead of a value that PTX leaves undefined


@dataclass(frozen=True)
class Alu:
    """d = a op b."""

    op: str  # add, sub, xor, mul
    d: int
    a: int
    b: int


@dataclass(frozen=True)
class Shuffle:
    """d, and d + 1 the predicate: b and c are constants, or registers where `b_reg`, `c_reg`."""

    mode: str
    d: int
    a: int
    b: int
    c: int
    b_reg: bool
    c_reg: bool
    mask: str


@dataclass(frozen=True)
class Warp:
    """Another operation on register a: kind is vote.{all,any,uni}, ballot, match.{any,all}.{32,64}, redux.OP.TYPE,
    elect. bit: of a, for votes."""

    kind: str
    d: int
    a: int
    bit: int
    mask: str


@dataclass(frozen=True)
class If:
    """Bit `bit` of register a decides. sync: bar.warp.sync where the ways meet."""

    a: int
    bit: int
    then: tuple
    other: tuple
    sync: bool


@dataclass(frozen=True)
class Loop:
    """As many rounds as the two bits from `bit` of register a say."""

    a: int
    bit: int
    body: tuple


@dataclass(frozen=True)
class Times:
    """As many rounds for all."""

    rounds: int
    body: tuple


@dataclass(frozen=True)
class Rotated:
    """As many rounds of `first` and `second` for all, at least one. Threads with bit `bit` of register a have `before`
    in the place of their first `first` and jump into the middle of the loop, which so has two entries."""

    rounds: int
    a: int
    bit: int
    before: tuple
    first: tuple
    second: tuple


@dataclass(frozen=True)
class Common:
    """Statements whose operations may be for the threads that came here together: their mask is `common`."""

    body: tuple


@dataclass(frozen=True)
class Leave:
    """Threads with bits `bit` and `bit` + 1 of register a exit."""

    a: int
    bit: int


KINDS = (
    *("vote.all", "vote.any", "vote.uni", "ballot", "match.any.32", "match.all.32", "match.any.64", "match.all.64"),
    *(f"redux.{op}.{ptype}" for op, ptype in warp._STEP),
    "elect",
)
MASKS = ("region", "region", "parity", "pairs")


COMMON = ("all", "all", "start", "halves")  # masks that do not depend on the region
INSIDE = ("common", "common", "quarters")  # of the threads that are in a round of a loop, or on a side of a branch
Choice = random.Random


def generate(seed: int, size: int = 14) -> tuple:
    """A program of `size` statements, those that hold others included."""
    rng = random.Random(seed)
    left = [size]
    program: list = []
    while left[0] > 0:
        program += _block(rng, left, 0)
    return tuple(program)


def _register(rng: Choice) -> int:
    return rng.randrange(REGISTERS)


def _bit(rng: Choice) -> int:
    return rng.randrange(8)


def _shuffle(rng: Choice) -> Shuffle:
    mode = rng.choice(("up", "down", "bfly", "idx"))
    segment = rng.choice((0, 0, 0, 16, 24, 28, 30, 31, rng.randrange(32)))
    clamp = rng.choice((0, 31, 31, rng.randrange(32))) if mode != "up" else rng.choice((0, 0, rng.randrange(32)))
    b = rng.choice((1, 2, 4, 8, 16, rng.randrange(32), rng.randrange(64)))
    return Shuffle(
        mode, _register(rng), _register(rng), b, segment << 8 | clamp, rng.random() < 0.3, rng.random() < 0.1,
        rng.choice(MASKS),
    )  # fmt: skip


def _alu(rng: Choice) -> Alu:
    return Alu(rng.choice(("add", "sub", "xor", "mul")), _register(rng), _register(rng), _register(rng))


def _warp(rng: Choice) -> Warp:
    return Warp(rng.choice(KINDS), _register(rng), _register(rng), _bit(rng), rng.choice(MASKS))


def _block(rng: Choice, left: list[int], depth: int) -> tuple:
    """left: how many statements more."""
    found: list = []
    for _ in range(rng.randrange(2, 5)):
        if left[0] <= 0:
            break
        left[0] -= 1
        choice = rng.random()
        if choice < 0.2:
            found.append(_alu(rng))
        elif choice < 0.4:
            found.append(_shuffle(rng))
        elif choice < 0.65 or depth == 4:
            found.append(_warp(rng))
        elif choice < 0.85:
            inside = depth + 1
            found.append(
                If(_register(rng), _bit(rng), _block(rng, left, inside), _block(rng, left, inside), rng.random() < 0.3)
            )
        elif choice < 0.96:
            found.append(Loop(_register(rng), _bit(rng), _block(rng, left, depth + 1)))
        else:
            found.append(Leave(_register(rng), _bit(rng)))
    return tuple(found)


def parted(seed: int, size: int = 4) -> tuple:
    """A program in which `size` branches have operations of all threads that come to them on both sides."""
    rng = random.Random(f"parted {seed}")
    program: list = []
    for _ in range(size):
        program += _block(rng, [rng.randrange(3)], 0)
        choice = rng.random()
        both = _both(rng, _script(rng, 2, COMMON if choice < 0.6 else INSIDE), 0)
        if choice < 0.4:
            program.append(both)
        elif choice < 0.6:
            program.append(Times(rng.randrange(1, 4), (*_block(rng, [rng.randrange(2)], 2), both)))
        else:
            common = Common((*_block(rng, [rng.randrange(2)], 2), both))
            loop = Loop(_register(rng), _bit(rng), (*_block(rng, [rng.randrange(2)], 2), common))
            side = If(_register(rng), _bit(rng), (common,), _block(rng, [2], 2), rng.random() < 0.3)
            program.append(loop if choice < 0.85 else side)
    return tuple(program)


def rotated(seed: int, size: int = 3) -> tuple:
    """A program with `size` loops that have two entries, in each second one of which all threads exchange."""
    rng = random.Random(f"rotated {seed}")
    program: list = []
    for number in range(size):
        program += _block(rng, [rng.randrange(3)], 0)
        shape, choice = (rng.randrange(1, 4), _register(rng), _bit(rng)), rng.random()
        if number % 2:
            first, second = (_script(rng, 1, COMMON if choice < 0.5 else INSIDE) for _ in range(2))
            loop = Rotated(*shape, *(_side(rng, script, 2) for script in (first, first, second)))
        else:
            loop = Rotated(*shape, *(_block(rng, [rng.randrange(1, 4)], 2) for _ in range(3)))
        common = Common((*_block(rng, [rng.randrange(2)], 2), loop))
        if choice < 0.5:
            program.append(common)
        elif choice < 0.8:
            program.append(Loop(_register(rng), _bit(rng), (common,)))
        else:
            program.append(If(_register(rng), _bit(rng), (common,), _block(rng, [2], 2), rng.random() < 0.3))
    return tuple(program)


def _script(rng: Choice, depth: int, masks: tuple[str, ...]) -> list:
    """The operations that threads come to one after the other; a pair is a part that is repeated: (rounds, script)."""
    script: list = []
    for _ in range(rng.randrange(1, 4)):
        if depth and rng.random() < 0.3:
            script.append((rng.randrange(1, 4), _script(rng, depth - 1, masks)))
        else:
            script.append(replace(rng.choice((_shuffle, _warp))(rng), mask=rng.choice(masks)))
    return script


def _both(rng: Choice, script: list, depth: int) -> If:
    sides = [_side(rng, script, depth + 1) for _ in range(2)]
    return If(_register(rng), _bit(rng), *sides, sync=rng.random() < 0.3)


def _side(rng: Choice, script: list, depth: int) -> tuple:
    """The script as one side of a branch has it: with operands of its own and other statements between, its repeated
    parts as loops or written out, parts of it in branches again."""
    found: list = []
    for item in script:
        if rng.random() < 0.4:
            found += _block(rng, [rng.randrange(1, 3)], 3)
        if isinstance(item, tuple):
            rounds, part = item
            written_out = rng.random() < 0.5
            parts = [_side(rng, part, depth) for _ in range(rounds if written_out else 1)]
            found += [s for p in parts for s in p] if written_out else [Times(rounds, parts[0])]
        elif depth < 3 and rng.random() < 0.25:
            found.append(_both(rng, [item], depth))
        else:
            operands = {"d": _register(rng), "a": _register(rng)}
            if isinstance(item, Shuffle) and rng.random() < 0.2:
                operands["b"] = rng.randrange(32)
            found.append(replace(item, **operands))
    return tuple(found)


def submask(name: str, lane: int, region: int) -> int:
    """The member mask that a thread names: its region, or a part of it that its partners name as well."""
    if name == "parity":
        return region & (0x55555555 << (lane & 1))
    if name == "pairs":
        return region & (0x33333333 << (lane & 2))
    return region


Request = tuple[tuple, int, tuple]  # an operation with its qualifiers, the member mask, the thread's operands


class Exit(Exception):
    """A thread has left."""


@dataclass
class Thread:
    """A thread of a warp. Its methods run statements; they yield operations and are sent the results."""

    lane: int
    registers: list[int]
    first: int  # the warp's threads at the begin
    common: int = 0  # those that came to the `Common` around

    def run(self, statements: tuple, region: int) -> Generator[Request, tuple, None]:
        for statement in statements:
            yield from getattr(self, "_" + type(statement).__name__.lower())(statement, region)

    def write(self, register: int, value: int | None) -> None:
        self.registers[register % REGISTERS] = UNDEFINED if value is None else value & MASK

    def _mask(self, name: str, region: int) -> int:
        match name:
            case "all":
                return MASK
            case "start":
                return self.first
            case "halves":
                return submask("parity", self.lane, self.first)
            case "common":
                return self.common
            case "quarters":
                return submask("pairs", self.lane, self.common)
        return submask(name, self.lane, region)

    def _alu(self, s: Alu, region: int) -> Generator[Request, tuple, None]:
        a, b = self.registers[s.a], self.registers[s.b]
        self.write(s.d, {"add": a + b, "sub": a - b, "xor": a ^ b, "mul": a * b}[s.op])
        yield from ()

    def _shuffle(self, s: Shuffle, region: int) -> Generator[Request, tuple, None]:
        b = self.registers[s.b % REGISTERS] if s.b_reg else s.b
        c = self.registers[s.c % REGISTERS] if s.c_reg else s.c
        value, inside = yield ("shfl", s.mode), self._mask(s.mask, region), (self.registers[s.a], b, c)
        self.write(s.d, value)
        self.write(s.d + 1, inside)

    def _warp(self, s: Warp, region: int) -> Generator[Request, tuple, None]:
        a, kind = self.registers[s.a], tuple(s.kind.split("."))
        if kind[0] in ("vote", "ballot"):
            a = a >> s.bit & 1
        elif kind[0] == "match":
            a = (a >> s.bit & 3) << (31 if kind[2] == "64" else 0)
        results = yield kind, self._mask(s.mask, region), (a,)
        for i, result in enumerate(results):
            self.write(s.d + i, result)

    def _if(self, s: If, region: int) -> Generator[Request, tuple, None]:
        holds = self.registers[s.a] >> s.bit & 1
        [yes] = yield ("ballot",), region, (holds,)
        yield from self.run(s.then, yes) if holds else self.run(s.other, region & ~yes)
        if s.sync:
            yield ("bar.warp",), region, ()

    def _loop(self, s: Loop, region: int) -> Generator[Request, tuple, None]:
        rounds = self.registers[s.a] >> s.bit & 3
        while True:
            [region] = yield ("ballot",), region, (int(rounds > 0),)
            if not rounds:
                return
            rounds -= 1
            yield from self.run(s.body, region)

    def _times(self, s: Times, region: int) -> Generator[Request, tuple, None]:
        for _ in range(s.rounds):
            yield from self.run(s.body, region)

    def _rotated(self, s: Rotated, region: int) -> Generator[Request, tuple, None]:
        holds = self.registers[s.a] >> s.bit & 1
        [yes] = yield ("ballot",), region, (holds,)
        group = yes if holds else region & ~yes
        for number in range(s.rounds):
            yield from self.run(s.before if holds and not number else s.first, group)
            yield from self.run(s.second, group)

    def _common(self, s: Common, region: int) -> Generator[Request, tuple, None]:
        self.common = region
        yield from self.run(s.body, region)

    def _leave(self, s: Leave, region: int) -> Generator[Request, tuple, None]:
        if self.registers[s.a] >> s.bit & 3 == 3:
            raise Exit
        yield from ()


def exchange(kind: tuple, mask: int, operands: dict[int, tuple]) -> dict[int, tuple]:
    """The results of an operation, by lane."""
    column = [{lane: given[i] for lane, given in operands.items()} for i in range(len(next(iter(operands.values()))))]
    masks = dict.fromkeys(operands, mask)
    match kind:
        case ["shfl", mode]:
            found = warp.shfl(mode, *column)
        case ["vote", mode]:
            found = (warp.vote(mode, column[0], masks),)
        case ["ballot"]:
            found = (warp.ballot(column[0], masks),)
        case ["match", "any", _]:
            found = (warp.match_any(column[0], masks),)
        case ["match", "all", _]:
            found = warp.match_all(column[0], masks)
        case ["redux", op, ptype]:
            found = (warp.redux(op, ptype, column[0], masks),)
        case ["elect"]:
            found = warp.elect(column[0], masks)
        case ["bar.warp"]:
            found = ()
    return {lane: tuple(values[lane] for values in found) for lane in operands}


def run_warp(program: tuple, threads: dict[int, Thread]) -> set[int]:
    """Run the threads of a warp, by lane, to their ends; the lanes of those that exited."""
    running = {lane: thread.run(program, thread.first) for lane, thread in threads.items()}
    at: dict[int, Request] = {}  # where each waits
    results: dict[int, tuple | None] = dict.fromkeys(running)
    exited: set[int] = set()
    while running:
        for lane, result in results.items():
            try:
                at[lane] = running[lane].send(result)
            except (StopIteration, Exit) as end:
                del running[lane]
                at.pop(lane, None)
                if isinstance(end, Exit):
                    exited.add(lane)
        results = {}
        for kind, mask in {request[:2] for request in at.values()}:
            group = [lane for lane in running if at[lane][:2] == (kind, mask)]
            if group == [lane for lane in running if mask >> lane & 1]:
                results |= exchange(kind, mask, {lane: at[lane][2] for lane in group})
        assert results or not running, "threads wait for each other for ever"
    return exited


def start(thread: int) -> list[int]:
    """The registers of a thread of the block at the beginning."""
    return [(thread * (2 * i + 0x9E3779B1) ^ (thread >> 1) * 0x85EBCA6B) + i & MASK for i in range(REGISTERS)]


def run(program: tuple, threads: int) -> list[list[int]]:
    """The registers of a block's threads at the end; zeros for those that exited."""
    result: list[list[int]] = []
    for base in range(0, threads, 32):
        lanes = range(min(32, threads - base))
        first = warp.mask_of(lanes)
        members = {lane: Thread(lane, start(base + lane), first) for lane in lanes}
        exited = run_warp(program, members)
        result += [[0] * REGISTERS if lane in exited else members[lane].registers for lane in lanes]
    return result
