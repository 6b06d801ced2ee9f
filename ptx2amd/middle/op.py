"""Instructions in their place, and basic blocks of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptx2amd.isa.effects import ATOMIC, CALLS, CARRY, READS, READS_CARRY, SOURCES, WRITES, WRITES_CARRY
from ptx2amd.ptx.ast import Addr, Imm, Inst, Label, Loc, Operand, Pair, Reg, Sym, Vec
from ptx2amd.records import dataclass, field

CARRY_FLAG = "CC.CF"  # the carry flag, a register that no operand names


@dataclass(slots=True, eq=False)
class Register:
    """A register of one body; also the carry flag, and a variable in .param space. special: the name of a special
    register, "" for one that the program declares, whatever its name; writes: the operations that write it."""

    name: str
    special: str = ""
    writes: list[Op] = field(default_factory=list)

    @property
    def only_write(self) -> Op | None:
        """The operation that alone writes it, unconditionally."""
        return self.writes[0] if len(self.writes) == 1 and self.writes[0].inst.guard is None else None


@dataclass(slots=True, eq=False)
class Op:
    """An instruction in its place, with the registers that it reads and writes."""

    inst: Inst
    loc: Loc | None = None  # the source line that begins with it
    block: int = 0
    index: int = 0  # in its block
    does: int = 0  # isa/effects.py
    reads: tuple[Register, ...] = ()
    writes: tuple[Register, ...] = ()

    @property
    def computes(self) -> str:
        """What it computes, where that is of interest (isa/effects.py)."""
        return self.inst.shape.form.computes

    @property
    def mods(self) -> dict[str, str]:
        return self.inst.shape.mods

    @property
    def space(self) -> str:
        """The state space that it accesses, "" for generic addresses: "shared", "param", "global" ..., "texture"."""
        return (self.inst.shape.form.memory or self.mods.get("space", "")).partition("::")[0]

    @property
    def pure(self) -> bool:
        """Whether its results depend on its sources alone."""
        form = self.inst.shape.form
        return not form.does & ~CARRY and form.result in ("", SOURCES)

    @property
    def predicate(self) -> Register:
        """The predicate register of a conditional operation."""
        assert self.inst.guard is not None
        return self.reads[0]

    @property
    def parameter(self) -> bool:
        """Whether it loads from a variable in .param space, a parameter or what a call returned."""
        address = self.inst.get("a")
        named = isinstance(address, Addr) and isinstance(address.base, Sym)
        return bool(self.does & READS) and not self.does & ATOMIC and self.space == "param" and named

    def resolve(self, register: Callable[[str], Register]) -> None:
        """Find what it does, and its registers by their names."""
        inst, shape = self.inst, self.inst.shape
        does = self.does = shape.form.does
        sources, results = _named(inst.operands, shape.sources), _named(inst.operands, shape.results)
        if inst.guard is not None:
            sources.insert(0, inst.guard.reg)
        if does & (READS | WRITES | CALLS | CARRY):
            self._implied(sources, results)
        self.reads = tuple(map(register, sources))
        self.writes = tuple(map(register, results))
        for each in self.writes:
            each.writes.append(self)

    def _implied(self, sources: list[str], results: list[str]) -> None:
        """Add the variables in .param space that it reads and writes, and the carry flag."""
        does = self.does
        if does & (READS | CALLS):
            sources += self.variables("a")
        if does & READS_CARRY:
            sources.append(CARRY_FLAG)
        if does & (WRITES | CALLS):
            results += self.variables("d" if does & CALLS else "a")
        if does & WRITES_CARRY:
            results.append(CARRY_FLAG)

    def variables(self, name: str) -> Iterator[str]:
        """The variables in .param space that operand `name` names."""
        operand = self.inst.get(name)
        if isinstance(operand, Addr) and isinstance(operand.base, Sym):
            if self.space == "param":
                yield operand.base.name
        elif isinstance(operand, Vec):
            yield from (item.name for item in operand.items if isinstance(item, Sym))

    @property
    def overwrites(self) -> bool:
        """Whether it overwrites its destinations in full."""
        return self.inst.guard is None and not (self.does & WRITES and self.space == "param")


def _named(operands: tuple[Operand, ...], places: tuple[int, ...]) -> list[str]:
    """The names of the registers in the operands at some places."""
    found: list[str] = []
    for place in places:
        operand = operands[place]
        if isinstance(operand, Reg):
            found.append(operand.name)
        elif not isinstance(operand, Imm):
            found += registers(operand)
    return found


def registers(operand: Operand) -> Iterator[str]:
    """The names of the registers in an operand (special ones too)."""
    if isinstance(operand, Reg):
        yield operand.name
    elif isinstance(operand, Addr):
        yield from registers(operand.base)
        for item in operand.rest:
            yield from registers(item)
    elif isinstance(operand, Vec | Pair):
        for item in operand.items if isinstance(operand, Vec) else operand:
            yield from registers(item)


@dataclass(slots=True, eq=False)
class Block:
    label: Label | None = None  # that it begins with
    ops: list[Op] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    falls: int = -1  # the block that it falls into
