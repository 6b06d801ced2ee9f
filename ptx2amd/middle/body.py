"""A function's body: basic blocks of operations, with use-def information."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar, cast

from ptx2amd.isa.effects import (
    BRANCHES,
    ENDS,
    READS_CARRY,
    SWITCHES,
)
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.middle.analyses.reaching import Reaching
from ptx2amd.middle.graph import Graph
from ptx2amd.middle.op import Block, Op, Register, registers
from ptx2amd.ptx.ast import (
    Addr,
    BranchTargets,
    Function,
    Imm,
    Inst,
    Item,
    Label,
    Loc,
    Operand,
    Proto,
    Reg,
    Scope,
    Sym,
    Var,
)
from ptx2amd.ptx.special import SPECIAL

T = TypeVar("T")
Declaration = Var | Proto | BranchTargets

COPIES = ("copy", "to_generic", "from_generic")
TIME = ("%clock", "%globaltimer")  # special registers that are not the same when they are read again


class Body(Graph):
    """The flow graph of one body. Block 0 is the entry. function: that it is of. parameters: the names of a kernel's,
    which are uniform; None of a function, to which callers may give anything."""

    def __init__(self, scope: Scope, function: Function | None = None) -> None:
        super().__init__()
        self.function = function
        proto = function.proto if function is not None else Proto("", [], [])
        self._given = frozenset(var.name for var in (*proto.results, *proto.params))
        self.parameters = self._given if function is not None and function.kind == "entry" else None
        self._registers: dict[str, Register] = {}
        self._analyses: dict[object, object] = {}
        self.labels: dict[str, int] = {}  # the blocks that begin with them
        self._jumps: list[tuple[int, Iterable[str]]] = []
        self._falls = True
        targets = {item.name: item.targets for item in scope.items if isinstance(item, BranchTargets)}
        self.declarations: list[Declaration] = [
            item for item in scope.items if isinstance(item, Var | Proto | BranchTargets)
        ]
        loc: Loc | None = None
        for item in scope.items:
            if isinstance(item, Inst):
                self._instruction(Op(item, loc), targets)
                loc = None
            elif isinstance(item, Label):
                self.labels[item.name] = number = self._next()
                self.blocks[number].label = item
            elif isinstance(item, Loc):
                loc = item
        for jump, labels in self._jumps:
            self.blocks[jump].successors += [self.labels[label] for label in labels if label in self.labels]
        for number, block in enumerate(self.blocks):
            block.successors = list(dict.fromkeys(self._possible(number)))
            for successor in block.successors:
                self.blocks[successor].predecessors.append(number)

    def analysis(self, make: Callable[[Body], T]) -> T:
        """The result of analysis `make` for this body, cached. Bodies are immutable; passes build new ones."""
        if make not in self._analyses:
            self._analyses[make] = make(self)
        return cast(T, self._analyses[make])

    def items(self) -> Iterator[Item]:
        """The statements, in order, behind the declarations."""
        yield from self.declarations
        for block in self.blocks:
            if block.label is not None:
                yield block.label
            for op in block.ops:
                if op.loc is not None:
                    yield op.loc
                yield op.inst

    def rewritten(self, instead: Mapping[int, list[Item]], declared: Iterable[Item] = ()) -> Body:
        """The body with statements in the place of instructions, which are known by their identities: a body has
        operations of its own, but shares the instructions of the one that it was made from. declared: new variables."""
        items = [*declared]
        for item in self.items():
            items += instead.get(id(item), [item])
        return Body(Scope(items), self.function)

    def _instruction(self, op: Op, targets: dict[str, tuple[str, ...]]) -> None:
        op.block, op.index = len(self.blocks) - 1, len(self.blocks[-1].ops)
        op.resolve(self._register)
        self.blocks[-1].ops.append(op)
        does = op.does
        if not does & ENDS:
            return
        label = op.inst.get("b" if does & SWITCHES else "a")
        if does & BRANCHES and isinstance(label, Sym):
            self._jumps.append((op.block, (label.name,)))
        elif does & SWITCHES and isinstance(label, Sym):
            self._jumps.append((op.block, targets.get(label.name, ())))
        self._falls = op.inst.guard is not None
        self._next()

    def _next(self) -> int:
        """Start a block."""
        here = len(self.blocks) - 1
        if not self.blocks[here].ops and not self._falls:  # nothing falls into it, and it is empty
            self._falls = True
            return here
        self.blocks.append(Block())
        if self._falls:
            self.blocks[here].successors.append(here + 1)
            self.blocks[here].falls = here + 1
        self._falls = True
        return here + 1

    def _possible(self, number: int) -> list[int]:
        """The successors of a block without those that a constant condition excludes, as of `while (true)` in debug
        builds."""
        block, branch = self.blocks[number], self.branch(number)
        value = branch.predicate.only_write if branch is not None else None
        constant = value.inst.get("a") if value is not None and value.computes == "copy" else None
        if branch is None or branch.inst.guard is None or not isinstance(constant, Imm):
            return block.successors
        taken = bool(constant.bits) != branch.inst.guard.negated
        target = branch.inst.get("a")
        jump = self.labels.get(target.name) if isinstance(target, Sym) else None
        if taken:
            return block.successors if jump is None else [jump]
        return [block.falls]

    @cached_property
    def registers(self) -> dict[str, str]:
        """The registers that are declared, with their types; of vectors, the components."""
        found: dict[str, str] = {}
        for item in self.declarations:
            if isinstance(item, Var) and item.space == "reg":
                names = [f"{item.name}{i}" for i in range(item.regs)] if item.regs else [item.name]
                if item.vec > 1:
                    names = [f"{name}.{part}" for name in names for part in "xyzw"[: item.vec]]
                found.update(dict.fromkeys(names, item.type))
        return found

    def _register(self, name: str) -> Register:
        """The register, or variable in .param space, with a name."""
        found = self._registers.get(name)
        if found is None:
            special = name in SPECIAL and name not in self._given and name not in self.registers
            found = self._registers[name] = Register(name, name if special else "")
        return found

    def register(self, operand: Operand | None) -> Register | None:
        """The register that an operand is; None for others."""
        return self._registers[operand.name] if isinstance(operand, Reg) else None

    def within(self, operand: Operand) -> Iterator[Register]:
        """The registers in an operand."""
        return map(self._registers.__getitem__, registers(operand))

    def is_parameter(self, op: Op) -> bool:
        """Whether an operation loads a parameter of the body: a variable in .param space that nothing writes."""
        return op.parameter and not any(self._registers[name].writes for name in op.variables("a"))

    @cached_property
    def written(self) -> list[frozenset[Register]]:
        """The registers that each block writes."""
        return [frozenset(r for op in block.ops for r in op.writes) for block in self.blocks]

    def reaching(self, op: Op, register: Register, inside: set[int]) -> set[Op]:
        """The writes of `register` in the blocks `inside` whose value `op` may read."""
        found: set[Op] = set()
        seen: set[int] = set()
        work = [(op.block, op.index)]
        while work:
            number, end = work.pop()
            kept, all_of_it = self._last(register, number, end)
            found.update(kept)
            if all_of_it:
                continue
            for previous in self.blocks[number].predecessors:
                if previous in inside and previous not in seen:
                    seen.add(previous)
                    work.append((previous, len(self.blocks[previous].ops)))
        return found

    def _last(self, register: Register, number: int, end: int) -> tuple[list[Op], bool]:
        """The writes of `register` in a block before its operation `end` that are not overwritten there, and whether
        they overwrite it in full."""
        writes = [op for op in self._writes[register].get(number, ()) if op.index < end]
        last = max((i for i, op in enumerate(writes) if op.overwrites), default=-1)
        return writes[max(last, 0) :], last >= 0

    @cached_property
    def _writes(self) -> dict[Register, dict[int, list[Op]]]:
        """The operations that write the registers which more than one writes, by their block."""
        found: dict[Register, dict[int, list[Op]]] = {}
        for register in self._registers.values():
            if len(register.writes) > 1:
                blocks = found[register] = {}
                for op in register.writes:
                    blocks.setdefault(op.block, []).append(op)
        return found

    @cached_property
    def _reaching(self) -> Reaching:
        return Reaching(self.blocks, list(self._writes))

    def sources(self, op: Op, register: Register) -> set[Op]:
        """The writes of `register` whose value `op` may read."""
        if register not in self._writes:
            return set(register.writes)
        kept, all_of_it = self._last(register, op.block, op.index)
        return set(kept) if all_of_it else self._reaching.at(op.block, register).union(kept)

    def _sources(self, op: Op, register: Register, loop: set[int]) -> set[Op]:
        """`reaching` in a loop, where a single write reaches every read."""
        if len(register.writes) > 1:
            return self.reaching(op, register, loop)
        return {write for write in register.writes if write.block in loop}

    def slice(self, op: Op, inside: set[int], stored: Mapping[Op, set[Op]]) -> tuple[set[Op], bool]:
        """The backward slice of `op` within the blocks `inside`, and whether an operation in it depends on itself
        through another iteration of the loop. stored: loads with the stores whose values they may read."""
        needs: dict[Op, set[Op]] = {}
        work = [op]
        while work:
            user = work.pop()
            if user not in needs:
                reads = set(user.reads)
                needs[user] = set().union(*(self._sources(user, register, inside) for register in reads))
                needs[user] |= {store for store in stored.get(user, ()) if store.block in inside}
                work += needs[user]
        return needs.keys() - {op}, _cyclic(needs)

    def constant(self, operand: Operand | None) -> int | None:
        """The value of a source that is a constant, or a register that only ever holds one."""
        if isinstance(operand, Imm):
            return operand.bits
        register = self.register(operand)
        write = register.only_write if register is not None else None
        if write is not None and write.computes == "copy":
            source = write.inst.get("a")
            return source.bits if isinstance(source, Imm) else None
        return None

    def expression(self, register: Register, depth: int = 16) -> tuple[object, ...] | None:
        """A register's value as an expression, to compare values: equal expressions have equal values in one
        iteration of the loops around. None if the value depends on the path."""
        if not register.writes:
            return None if register.special.startswith(TIME) else (register,)
        op = register.only_write
        if op is None or not depth:
            return None
        shape = op.inst.shape
        if self.is_parameter(op):
            return ("param", op.inst.get("a"))
        if not op.pure or len(op.writes) > 1:
            return (register,)  # one write: one value
        parts: list[object] = [shape.opcode]
        if op.does & READS_CARRY:
            return None
        for name, operand in zip(shape.names, op.inst.operands, strict=True):
            if name in DESTINATIONS:
                continue
            source = self.register(operand)
            made = self.expression(source, depth - 1) if source is not None else (operand,)
            if made is None:
                return None
            parts.append(made)
        return tuple(parts)

    def location(self, op: Op) -> tuple[Register | str, int] | None:
        """The location that an access names: a register or the name of a variable, and an offset, equal for equal
        addresses; None without an address."""
        address = op.inst.get("a")
        if not isinstance(address, Addr):
            return None
        base, offset = address.base, address.offset
        for _ in range(16):
            if isinstance(base, Sym):
                return base.name, offset + base.offset
            if isinstance(base, Imm):
                return "", offset + base.bits
            register = self._registers[base.name]
            write = register.only_write
            source = write.inst.get("a") if write is not None and write.computes in COPIES else None
            if not isinstance(source, Reg | Sym):
                return register, offset
            base = source
        return None


def _cyclic(needs: dict[Op, set[Op]]) -> bool:
    """Whether a graph has a cycle."""
    left = {op: set(sources) for op, sources in needs.items()}
    while left:
        free = {op for op, sources in left.items() if not sources & left.keys()}
        if not free:
            return True
        for op in free:
            del left[op]
    return False
