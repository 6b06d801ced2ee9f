"""How many 32-bit registers a body's values take at once.

Constants and parameters take none: NVIDIA's instructions read them from constant memory. Nor do integers computed
from these and from the block's index and size: they are in uniform registers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import islice

from ptx2amd.isa.effects import BARRIERS, EXCHANGES, MEMBERS, READS
from ptx2amd.middle.body import COPIES, Body
from ptx2amd.middle.graph import Graph
from ptx2amd.middle.op import Op, Register
from ptx2amd.ptx.ast import Imm, Sym
from ptx2amd.ptx.layout import bits_of
from ptx2amd.records import dataclass

ALIKE = ("%ctaid", "%nctaid", "%ntid")  # special registers, in a block
ENOUGH = 512  # values alive: no processor has registers for more
WIDTH = 4096  # registers whose liveness is found at once
ONES = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]  # those set in a byte


@dataclass(frozen=True, slots=True)
class Access:
    """What an operation reads and writes: numbers of registers. loads: units that it loads from memory."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    overwrites: bool
    loads: int
    barrier: bool


class Liveness:
    """The values that are alive in a body. Registers are numbers; predicates are none."""

    def __init__(self, flow: Body) -> None:
        self.flow = flow
        self._sizes = {name: max(1, bits_of(t) // 32) for name, t in flow.registers.items() if t != "pred"}
        self._numbers: dict[str, int] = {}
        self._units: list[int] = []
        for name in self._sizes.keys() - set(self._free()):
            self._numbers[name] = len(self._units)
            self._units.append(self._sizes[name])
        self.accesses = [[self._access(op) for op in block.ops] for block in flow.blocks]

    def _free(self) -> Iterator[str]:
        """Registers that hold nothing but a constant, a parameter, or a value computed from these."""
        free: set[Register] = set()
        for op in self.flow.ops():
            if len(op.writes) == 1 and len(op.writes[0].writes) == 1 and self._known(op, free):
                free.add(op.writes[0])
                yield op.writes[0].name

    def _known(self, op: Op, free: set[Register]) -> bool:
        """Whether an operation's result is computed from constants, parameters and values uniform in a block."""
        if op.inst.guard is not None:
            return False
        if op.does & READS:
            known = not any(register.name in self._sizes or register.writes for register in op.reads)
            return op.space == "param" and known
        if op.computes in COPIES and isinstance(op.inst.get("a"), Imm | Sym):
            return True
        integers = op.computes in COPIES or not op.inst.shape.types[0].startswith("f")
        return op.pure and integers and all(r in free or r.special.startswith(ALIKE) for r in op.reads)

    def _access(self, op: Op) -> Access:
        numbers = self._numbers
        reads = tuple(numbers[r.name] for r in op.reads if r.name in numbers)
        writes = tuple(numbers[r.name] for r in op.writes if r.name in numbers)
        does = op.does
        loaded = does & (READS | MEMBERS) and op.space != "param"  # lanes' values come as late as those of memory
        return Access(
            reads,
            writes,
            op.overwrites,
            sum(self._units[number] for number in writes if number not in reads) if loaded else 0,
            bool(does & BARRIERS) and not does & EXCHANGES,
        )

    @cached_property
    def between(self) -> list[int]:
        """The units live at the beginning of each block."""
        return [self.units(registers) for registers in self.entering]

    def loaded(self, number: int) -> int:
        """The units that a block loads between two barriers, at most."""
        most = now = 0
        for access in self.accesses[number]:
            now = 0 if access.barrier else now + access.loads
            most = max(most, now)
        return most

    def units(self, registers: Iterable[int]) -> int:
        """32-bit units of a set of registers."""
        return sum(self._units[number] for number in registers)

    @cached_property
    def entering(self) -> list[set[int]]:
        """The registers live at the beginning of each block; of more than ENOUGH, the first ENOUGH by their numbers."""
        reads, writes = zip(*map(_summary, self.accesses), strict=True)
        found: list[set[int]] = [set() for _ in self.flow.blocks]
        for first, live in live_entering(self.flow, reads, writes):
            for number, bits in live.items():
                if len(found[number]) < ENOUGH:
                    found[number] |= {first + bit for bit in islice(ones(bits), ENOUGH)}
        return found

    def leaving(self, number: int) -> set[int]:
        """The registers alive at the end of a block."""
        return set().union(*(self.entering[successor] for successor in self.flow.blocks[number].successors))

    @cached_property
    def most(self) -> int:
        """The most units that are alive at once, in the order of the text."""
        return max(map(self._most_in, range(len(self.accesses))))

    def _most_in(self, number: int) -> int:
        return self.most_of(self.accesses[number], self.leaving(number))

    def most_of(self, accesses: list[Access], after: set[int]) -> int:
        """The most units alive at once in operations of some order, behind which the registers `after` are."""
        units = self._units
        alive = set(after)
        now = most = self.units(alive)
        for access in reversed(accesses):
            most = max(most, now + sum(units[register] for register in access.writes if register not in alive))
            if access.overwrites:
                for register in alive.intersection(access.writes):
                    alive.discard(register)
                    now -= units[register]
            for register in access.reads:
                if register not in alive:
                    alive.add(register)
                    now += units[register]
            most = max(most, now)
        return most


def live_entering(
    flow: Graph, reads: Sequence[set[int]], writes: Sequence[set[int]]
) -> Iterator[tuple[int, dict[int, int]]]:
    """Registers that are live at the beginning of blocks, WIDTH registers at once: the number of the first of them, and
    the blocks with a bit for each that is live. reads, writes: the registers that each block reads before it writes
    them, and those that it writes."""
    reads_of, writes_of = _bits(reads), _bits(writes)
    for part in sorted(reads_of):
        yield part * WIDTH, _live_entering(flow, reads_of[part], writes_of.get(part, {}))


def _live_entering(flow: Graph, reads: Mapping[int, int], writes: Mapping[int, int]) -> dict[int, int]:
    live = dict(reads)
    work = [-number for number in reads]  # the last in the text first: few blocks are visited twice
    heapify(work)
    while work:
        number = -heappop(work)
        while work and work[0] == -number:
            heappop(work)
        for before in flow.blocks[number].predecessors:
            known = live.get(before, 0)
            if (now := known | live[number] & ~writes.get(before, 0)) != known:
                live[before] = now
                heappush(work, -before)
    return live


def _bits(blocks: Sequence[set[int]]) -> Mapping[int, Mapping[int, int]]:
    """For each WIDTH registers, the blocks whose set has one of them, with a bit for each that it has."""
    found: defaultdict[int, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
    for number, registers in enumerate(blocks):
        for register in registers:
            found[register // WIDTH][number] |= 1 << register % WIDTH
    return found


def ones(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set, the lowest first."""
    for place, byte in enumerate(bits.to_bytes(WIDTH // 8, "little")):
        if byte:
            for bit in ONES[byte]:
                yield 8 * place + bit


def _summary(accesses: list[Access]) -> tuple[set[int], set[int]]:
    """The registers that a block reads before it writes them, and those that it writes."""
    read: set[int] = set()
    written: set[int] = set()
    for access in accesses:
        read.update(number for number in access.reads if number not in written)
        if access.overwrites:
            written.update(access.writes)
    return read, written


__all__ = ["Access", "Liveness", "live_entering", "ones"]
