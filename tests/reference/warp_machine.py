"""Random programs of one warp's threads with nested divergence and warp operations, and a small machine that runs
them by the PTX manual's text alone: threads that execute an operation for the same member mask exchange values; who
else runs when does not matter, because every operation names its members.

A program keeps the mask of the threads in the current region in a register (from a ballot before each branch), as
careful CUDA code does; so every program is defined under independent thread scheduling."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from reference import warp

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


def generate(seed: int, size: int = 14) -> tuple:
    """A program of `size` statements, those that hold others included."""
    rng = random.Random(seed)
    left = [size]
    register = lambda: rng.randrange(REGISTERS)  # noqa: E731
    bit = lambda: rng.randrange(8)  # noqa: E731

    def shuffle() -> Shuffle:
        mode = rng.choice(("up", "down", "bfly", "idx"))
        segment = rng.choice((0, 0, 0, 16, 24, 28, 30, 31, rng.randrange(32)))
        clamp = rng.choice((0, 31, 31, rng.randrange(32))) if mode != "up" else rng.choice((0, 0, rng.randrange(32)))
        b = rng.choice((1, 2, 4, 8, 16, rng.randrange(32), rng.randrange(64)))
        return Shuffle(
            mode, register(), register(), b, segment << 8 | clamp, rng.random() < 0.3, rng.random() < 0.1,
            rng.choice(MASKS),
        )  # fmt: skip

    def block(depth: int) -> tuple:
        found: list = []
        for _ in range(rng.randrange(2, 5)):
            if left[0] <= 0:
                break
            left[0] -= 1
            choice = rng.random()
            if choice < 0.2:
                found.append(Alu(rng.choice(("add", "sub", "xor", "mul")), register(), register(), register()))
            elif choice < 0.4:
                found.append(shuffle())
            elif choice < 0.65 or depth == 4:
                found.append(Warp(rng.choice(KINDS), register(), register(), bit(), rng.choice(MASKS)))
            elif choice < 0.85:
                found.append(If(register(), bit(), block(depth + 1), block(depth + 1), rng.random() < 0.3))
            elif choice < 0.96:
                found.append(Loop(register(), bit(), block(depth + 1)))
            else:
                found.append(Leave(register(), bit()))
        return tuple(found)

    program: list = []
    while left[0] > 0:
        program += block(0)
    return tuple(program)


def submask(name: str, lane: int, region: int) -> int:
    """The member mask that a thread names: its region, or a part of it that its partners name as well."""
    if name == "parity":
        return region & (0x55555555 << (lane & 1))
    if name == "pairs":
        return region & (0x33333333 << (lane & 2))
    return region


@dataclass
class Machine:
    """The threads of a warp: registers by lane; `exited` have left."""

    registers: dict[int, list[int]]
    exited: set[int] = field(default_factory=set)

    def run(self, statements: tuple, region: int) -> None:
        """Run statements in all lanes of a region that are still there."""
        for statement in statements:
            lanes = [lane for lane in self.registers if region >> lane & 1 and lane not in self.exited]
            if lanes:
                getattr(self, "_" + type(statement).__name__.lower())(statement, lanes, region)

    def read(self, lanes: list[int], register: int) -> dict[int, int]:
        return {lane: self.registers[lane][register] for lane in lanes}

    def write(self, register: int, values: dict[int, int]) -> None:
        for lane, value in values.items():
            self.registers[lane][register % REGISTERS] = value & MASK

    def _alu(self, s: Alu, lanes: list[int], region: int) -> None:
        a, b = self.read(lanes, s.a), self.read(lanes, s.b)
        compute = {
            "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "xor": lambda x, y: x ^ y, "mul": lambda x, y: x * y
        }[s.op]  # fmt: skip
        self.write(s.d, {lane: compute(a[lane], b[lane]) for lane in lanes})

    def _groups(self, name: str, lanes: list[int], region: int) -> list[tuple[list[int], int]]:
        """The lanes by the member mask that they name."""
        masks = {lane: submask(name, lane, region) for lane in lanes}
        return [([lane for lane in lanes if masks[lane] == m], m) for m in sorted(set(masks.values()))]

    def _shuffle(self, s: Shuffle, lanes: list[int], region: int) -> None:
        result: dict[int, int] = {}
        predicate: dict[int, int] = {}
        for group, _ in self._groups(s.mask, lanes, region):
            b = self.read(group, s.b % REGISTERS) if s.b_reg else dict.fromkeys(group, s.b)
            c = self.read(group, s.c % REGISTERS) if s.c_reg else dict.fromkeys(group, s.c)
            values, inside = warp.shfl(s.mode, self.read(group, s.a), b, c)
            result.update({lane: UNDEFINED if v is None else v for lane, v in values.items()})
            predicate.update(inside)
        self.write(s.d, result)
        self.write(s.d + 1, predicate)

    def _warp(self, s: Warp, lanes: list[int], region: int) -> None:
        first: dict[int, int] = {}
        second: dict[int, int] = {}
        for group, mask in self._groups(s.mask, lanes, region):
            a = self.read(group, s.a)
            masks = dict.fromkeys(group, mask)
            yes = {lane: v >> s.bit & 1 for lane, v in a.items()}
            few = {lane: v >> s.bit & 3 for lane, v in a.items()}
            match s.kind.split("."):
                case ["vote", mode]:
                    first |= warp.vote(mode, yes, masks)
                case ["ballot"]:
                    first |= warp.ballot(yes, masks)
                case ["match", "any", bits]:
                    first |= warp.match_any(few if bits == "32" else {k: v << 31 for k, v in few.items()}, masks)
                case ["match", "all", bits]:
                    same, good = warp.match_all(few if bits == "32" else {k: v << 31 for k, v in few.items()}, masks)
                    first |= same
                    second |= good
                case ["redux", op, ptype]:
                    first |= warp.redux(op, ptype, a, masks)
                case ["elect"]:
                    leader, chosen = warp.elect(a, masks)
                    first |= leader
                    second |= chosen
        self.write(s.d, first)
        self.write(s.d + 1, second)

    def _if(self, s: If, lanes: list[int], region: int) -> None:
        yes = warp.mask_of(lane for lane, v in self.read(lanes, s.a).items() if v >> s.bit & 1)
        self.run(s.then, yes)
        self.run(s.other, region & ~yes)

    def _loop(self, s: Loop, lanes: list[int], region: int) -> None:
        rounds = {lane: v >> s.bit & 3 for lane, v in self.read(lanes, s.a).items()}
        for i in range(3):
            self.run(s.body, warp.mask_of(lane for lane in lanes if rounds[lane] > i and lane not in self.exited))

    def _leave(self, s: Leave, lanes: list[int], region: int) -> None:
        self.exited |= {lane for lane, v in self.read(lanes, s.a).items() if v >> s.bit & 3 == 3}


def start(thread: int) -> list[int]:
    """The registers of a thread of the block at the beginning."""
    return [(thread * (2 * i + 0x9E3779B1) ^ (thread >> 1) * 0x85EBCA6B) + i & MASK for i in range(REGISTERS)]


def run(program: tuple, threads: int) -> list[list[int]]:
    """The registers of a block's threads at the end; zeros for those that exited."""
    result: list[list[int]] = []
    for base in range(0, threads, 32):
        lanes = range(min(32, threads - base))
        machine = Machine({lane: start(base + lane) for lane in lanes})
        machine.run(program, warp.mask_of(lanes))
        result += [[0] * REGISTERS if lane in machine.exited else machine.registers[lane] for lane in lanes]
    return result
