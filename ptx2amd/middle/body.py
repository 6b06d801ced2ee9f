"""The flow of control and values in a function body, as the analyses of hazards and spin loops need it.

Blocks of operations; registers are known by their declaration, so that those of nested scopes (inline
assembly) with the same name are told apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ptx2amd.isa import effects
from ptx2amd.isa.effects import (
    ATOMIC,
    BRANCHES,
    CALLS,
    ENDS,
    READS,
    READS_CARRY,
    SOURCES,
    SWITCHES,
    WRITES,
    WRITES_CARRY,
)
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.middle.analyses.reaching import Reaching
from ptx2amd.ptx.ast import Addr, BranchTargets, Imm, Inst, Label, Operand, Pair, Reg, Scope, Sym, Var, Vec

COPIES = ("copy", "to_generic", "from_generic")
TIME = ("%clock", "%globaltimer")  # special registers that are not the same when they are read again
CARRY = "CC.CF"  # the carry flag, a register that no operand names
Names = dict[str, str]  # what a name in the text stands for


@dataclass(slots=True, eq=False)
class Op:
    """An instruction in its place."""

    inst: Inst
    names: Names
    block: int = 0
    index: int = 0  # in its block

    @property
    def does(self) -> int:
        """What it does (isa/effects.py)."""
        return self.inst.shape.form.does

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
        """Whether its results are made of its sources, and of nothing else."""
        form = self.inst.shape.form
        return not form.does & ~effects.CARRY and form.result in ("", SOURCES)

    def key(self, name: str) -> str:
        """What a register or label name stands for here."""
        return self.names.get(name, name)

    @property
    def predicate(self) -> str:
        """The register that a conditional operation asks."""
        assert self.inst.guard is not None
        return self.key(self.inst.guard.reg)

    @property
    def parameter(self) -> bool:
        """Whether it loads from a variable in .param space, a parameter or what a call returned."""
        address = self.inst.get("a")
        named = isinstance(address, Addr) and isinstance(address.base, Sym)
        return bool(self.does & READS) and not self.does & ATOMIC and self.space == "param" and named

    def reads(self) -> Iterator[str]:
        """The registers that it reads, and variables in .param space."""
        if self.inst.guard is not None:
            yield self.predicate
        for name, operand in zip(self.inst.shape.names, self.inst.operands, strict=True):
            if name not in DESTINATIONS or name == "u":
                yield from map(self.key, registers(operand))
        does = self.does
        if does & (READS | CALLS):
            yield from self.variables("a")
        if does & READS_CARRY:
            yield CARRY

    def writes(self) -> Iterator[str]:
        """The registers that it writes, and variables in .param space."""
        for name, operand in zip(self.inst.shape.names, self.inst.operands, strict=True):
            if name in DESTINATIONS:
                yield from map(self.key, registers(operand))
        does = self.does
        if does & (WRITES | CALLS):
            yield from self.variables("d" if does & CALLS else "a")
        if does & WRITES_CARRY:
            yield CARRY

    def variables(self, name: str) -> Iterator[str]:
        """The variables in .param space that operand `name` names."""
        operand = self.inst.get(name)
        if isinstance(operand, Addr) and isinstance(operand.base, Sym):
            if self.space == "param":
                yield self.key(operand.base.name)
        elif isinstance(operand, Vec):
            yield from (self.key(item.name) for item in operand.items if isinstance(item, Sym))

    @property
    def overwrites(self) -> bool:
        """Whether nothing is left of what was in its destinations."""
        return self.inst.guard is None and not (self.does & WRITES and self.space == "param")


def _components(var: Var, names: list[str], mark: str = "") -> Iterator[tuple[str, str]]:
    """What `v.x` and `v.r` stand for, which are one component of a vector register."""
    for name in names if var.vec > 1 else ():
        for x, r in zip("xyzw", "rgba", strict=True):
            yield f"{name}.{x}", f"{name}.{x}{mark}"
            yield f"{name}.{r}", f"{name}.{x}{mark}"


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
    ops: list[Op] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    falls: int = -1  # the block that it falls into


class Body:
    """The flow graph of one body. Block 0 is the entry. parameters: the names of a kernel's, which are uniform; None of
    a function, to which callers may give anything."""

    def __init__(self, scope: Scope, parameters: Collection[str] | None = None) -> None:
        self.parameters = parameters
        self.blocks = [Block()]
        self.labels: dict[str, int] = {}  # the blocks that begin with them
        self._jumps: list[tuple[int, list[str]]] = []
        self._falls = True
        self._walk(scope, {}, 0)
        for jump, labels in self._jumps:
            self.blocks[jump].successors += [self.labels[label] for label in labels if label in self.labels]
        for number, block in enumerate(self.blocks):
            block.successors = list(dict.fromkeys(block.successors))
            for successor in block.successors:
                self.blocks[successor].predecessors.append(number)

    def _walk(self, scope: Scope, outer: Names, depth: int) -> None:
        names = dict(outer) if depth else outer
        if not depth:
            for item in scope.items:
                if isinstance(item, Var) and item.vec > 1:
                    declared = [f"{item.name}{i}" for i in range(item.regs)] if item.regs else [item.name]
                    names.update(_components(item, declared))
        else:
            mark = f"@{id(scope)}"
            for item in scope.items:
                if isinstance(item, Var):
                    declared = [f"{item.name}{i}" for i in range(item.regs)] if item.regs else [item.name]
                    names.update({name: name + mark for name in declared})
                    names.update(_components(item, declared, mark))
                elif isinstance(item, Label):
                    names[item.name] = item.name + mark
        targets = {item.name: item.targets for item in scope.items if isinstance(item, BranchTargets)}
        for item in scope.items:
            if isinstance(item, Inst):
                self._instruction(Op(item, names), targets)
            elif isinstance(item, Label):
                self.labels[names.get(item.name, item.name)] = self._next()
            elif isinstance(item, Scope):
                self._walk(item, names, depth + 1)

    def _instruction(self, op: Op, targets: dict[str, tuple[str, ...]]) -> None:
        op.block, op.index = len(self.blocks) - 1, len(self.blocks[-1].ops)
        self.blocks[-1].ops.append(op)
        does = op.does
        if not does & ENDS:
            return
        label = op.inst.get("b" if does & SWITCHES else "a")
        if does & BRANCHES and isinstance(label, Sym):
            self._jumps.append((op.block, [op.key(label.name)]))
        elif does & SWITCHES and isinstance(label, Sym):
            self._jumps.append((op.block, [op.key(name) for name in targets.get(label.name, ())]))
        self._falls = op.inst.guard is not None
        self._next()

    def _next(self) -> int:
        """Begin a block."""
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

    def ops(self) -> Iterator[Op]:
        for block in self.blocks:
            yield from block.ops

    @cached_property
    def definitions(self) -> dict[str, list[Op]]:
        """The operations that write each register."""
        found: dict[str, list[Op]] = {}
        for op in self.ops():
            for register in op.writes():
                found.setdefault(register, []).append(op)
        return found

    @cached_property
    def deciders(self) -> list[set[int]]:
        """For each block, the blocks at whose ends it is decided whether control comes to it, directly or not
        (control dependence)."""
        every = (1 << len(self.blocks)) - 1
        behind = [every] * len(self.blocks)  # the blocks that control comes to in any case from a block on, as bits
        work = True
        while work:
            work = False
            for number in reversed(range(len(self.blocks))):
                new = every if self.blocks[number].successors else 0
                for successor in self.blocks[number].successors:
                    new &= behind[successor]
                new |= 1 << number
                if new != behind[number]:
                    behind[number], work = new, True
        found: list[set[int]] = [set() for _ in self.blocks]
        for number, block in enumerate(self.blocks):
            for successor in block.successors if len(block.successors) > 1 else ():
                decided = behind[successor] & ~(behind[number] & ~(1 << number))
                while decided:
                    found[decided.bit_length() - 1].add(number)
                    decided ^= 1 << decided.bit_length() - 1
        for each in found:
            work_list = list(each)
            while work_list:
                new_ones = found[work_list.pop()] - each
                each |= new_ones
                work_list += new_ones
        return found

    def branch(self, number: int) -> Op | None:
        """The conditional branch that ends a block."""
        ops = self.blocks[number].ops
        if ops and ops[-1].does & BRANCHES and ops[-1].inst.guard is not None:
            return ops[-1]
        return None

    def forks(self) -> Iterator[Op]:
        """The conditional branches with two ways on."""
        for number, block in enumerate(self.blocks):
            branch = self.branch(number)
            if branch is not None and len(block.successors) > 1:
                yield branch

    def holds(self, branch: Op, way: int) -> bool:
        """What the predicate of a conditional branch is where control goes to block `way` behind it."""
        assert branch.inst.guard is not None
        return (way != self.blocks[branch.block].falls) != branch.inst.guard.negated

    def reach(self, start: int, avoid: Iterable[int] = (), inside: set[int] | None = None) -> set[int]:
        """The blocks that control can get to from block `start`, itself included, not through `avoid`."""
        seen, work, closed = set(), [start], set(avoid)
        while work:
            number = work.pop()
            if number in seen or number in closed or (inside is not None and number not in inside):
                continue
            seen.add(number)
            work += self.blocks[number].successors
        return seen

    @cached_property
    def written(self) -> list[frozenset[str]]:
        """The registers that each block writes."""
        return [frozenset(r for op in block.ops for r in op.writes()) for block in self.blocks]

    def hits(self, stop: Callable[[Op], bool]) -> dict[int, Op]:
        """The first operation with `stop` in each block that has one."""
        return self.earliest(op for op in self.ops() if stop(op))

    def earliest(self, ops: Iterable[Op]) -> dict[int, Op]:
        """The first of some operations in each block that has one."""
        found: dict[int, Op] = {}
        for op in ops:
            if op.block not in found or op.index < found[op.block].index:
                found[op.block] = op
        return found

    def first(self, start: int, hits: dict[int, Op]) -> set[Op]:
        """The first of `hits` on the ways from the begin of block `start`."""
        found: set[Op] = set()
        seen, work = set(), [start]
        while work:
            number = work.pop()
            if number in seen:
                continue
            seen.add(number)
            if number in hits:
                found.add(hits[number])
            else:
                work += self.blocks[number].successors
        return found

    def firsts(self, hits: dict[int, Op]) -> list[int]:
        """`first` from the begin of every block: a bit for each of `hits`, in the order of the dictionary."""
        found = [0] * len(self.blocks)
        for bit, number in enumerate(hits):
            found[number] = 1 << bit
        work = list(hits)
        while work:
            number = work.pop()
            for previous in self.blocks[number].predecessors:
                if previous not in hits and found[previous] | found[number] != found[previous]:
                    found[previous] |= found[number]
                    work.append(previous)
        return found

    @cached_property
    def components(self) -> list[int]:
        """A number for each block, equal for blocks that reach each other (Tarjan's algorithm)."""
        order: dict[int, int] = {}
        low: dict[int, int] = {}
        component = [-1] * len(self.blocks)
        for root in range(len(self.blocks)):
            if root in order:
                continue
            order[root] = low[root] = len(order)
            open_blocks, stack = [root], [(root, iter(self.blocks[root].successors))]
            while stack:
                number, rest = stack[-1]
                for successor in rest:
                    if successor not in order:
                        order[successor] = low[successor] = len(order)
                        open_blocks.append(successor)
                        stack.append((successor, iter(self.blocks[successor].successors)))
                        break
                    if component[successor] < 0:
                        low[number] = min(low[number], order[successor])
                else:
                    stack.pop()
                    if stack:
                        low[stack[-1][0]] = min(low[stack[-1][0]], low[number])
                    if low[number] == order[number]:
                        while component[number] < 0:
                            component[open_blocks.pop()] = order[number]
        return component

    def loops(self) -> Iterator[tuple[int, set[int]]]:
        """The loops, one for each jump back: its target, and the blocks of the loop."""
        for tail, head in self._retreating():
            body, work = {head, tail}, [tail] if tail != head else []
            while work:
                for before in self.blocks[work.pop()].predecessors:
                    if before not in body and self.components[before] == self.components[head]:
                        body.add(before)
                        work.append(before)
            yield head, body

    def _retreating(self) -> list[tuple[int, int]]:
        """The edges to a block that a depth-first walk is still in."""
        found, state = [], {0: 1}  # 1: the walk is in it, 2: done
        stack = [(0, iter(self.blocks[0].successors))]
        while stack:
            number, rest = stack[-1]
            for successor in rest:
                known = state.get(successor)
                if known == 1:
                    found.append((number, successor))
                elif known is None:
                    state[successor] = 1
                    stack.append((successor, iter(self.blocks[successor].successors)))
                    break
            else:
                state[number] = 2
                stack.pop()
        return found

    def reaching(self, op: Op, register: str, inside: set[int]) -> set[Op]:
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

    def _last(self, register: str, number: int, end: int) -> tuple[list[Op], bool]:
        """The writes of `register` in a block, before its operation `end`, that are not overwritten there; whether
        they leave nothing of what it was before."""
        writes = [op for op in self._writes[register].get(number, ()) if op.index < end]
        last = max((i for i, op in enumerate(writes) if op.overwrites), default=-1)
        return writes[max(last, 0) :], last >= 0

    @cached_property
    def _writes(self) -> dict[str, dict[int, list[Op]]]:
        """The operations that write the registers which more than one writes, by their block."""
        found: dict[str, dict[int, list[Op]]] = {}
        for register, writes in self.definitions.items():
            if len(writes) > 1:
                blocks = found[register] = {}
                for op in writes:
                    blocks.setdefault(op.block, []).append(op)
        return found

    @cached_property
    def _reaching(self) -> Reaching:
        return Reaching(self.blocks, {register: self.definitions[register] for register in self._writes})

    def sources(self, op: Op, register: str) -> set[Op]:
        """The writes of `register` whose value `op` may read."""
        if register not in self._writes:
            return set(self.definitions.get(register, []))
        kept, all_of_it = self._last(register, op.block, op.index)
        return set(kept) if all_of_it else self._reaching.at(op.block, register).union(kept)

    def _sources(self, op: Op, register: str, loop: set[int]) -> set[Op]:
        """`reaching` in a loop, where a single write reaches every read."""
        writes = self.definitions.get(register, [])
        if len(writes) > 1:
            return self.reaching(op, register, loop)
        return {write for write in writes if write.block in loop}

    def slice(self, op: Op, inside: set[int]) -> tuple[set[Op], bool]:
        """The operations in the blocks `inside` that make what `op` reads, and whether one of them depends on
        itself, by another round of the loop."""
        needs: dict[Op, set[Op]] = {}
        work = [op]
        while work:
            user = work.pop()
            if user not in needs:
                reads = set(user.reads())
                needs[user] = set().union(*(self._sources(user, register, inside) for register in reads))
                work += needs[user]
        return needs.keys() - {op}, _cyclic(needs)

    def constant(self, op: Op, operand: Operand | None) -> int | None:
        """The value of a source that is a constant, or a register that only ever holds one."""
        if isinstance(operand, Imm):
            return operand.bits
        if isinstance(operand, Reg):
            writes = self.definitions.get(op.key(operand.name), [])
            if len(writes) == 1 and writes[0].computes == "copy" and writes[0].inst.guard is None:
                source = writes[0].inst.get("a")
                return source.bits if isinstance(source, Imm) else None
        return None

    def expression(self, register: str, depth: int = 16) -> tuple[object, ...] | None:
        """How a register's value is made, for comparisons: equal ones are equal values, in one round of the loops
        around. None: it depends on the way taken."""
        writes = self.definitions.get(register, [])
        if not writes:
            return None if register.startswith(TIME) else (register,)
        if len(writes) > 1 or writes[0].inst.guard is not None or not depth:
            return None
        [op] = writes
        shape = op.inst.shape
        if op.parameter and not any(name in self.definitions for name in op.variables("a")):
            return ("param", op.inst.get("a"))
        if not op.pure or len(list(op.writes())) > 1:
            return (register,)  # one write: one value
        parts: list[object] = [shape.opcode]
        if op.does & READS_CARRY:
            return None
        for name, operand in zip(shape.names, op.inst.operands, strict=True):
            if name in DESTINATIONS:
                continue
            made = self.expression(op.key(operand.name), depth - 1) if isinstance(operand, Reg) else (operand,)
            if made is None:
                return None
            parts.append(made)
        return tuple(parts)

    def location(self, op: Op) -> tuple[str, int] | None:
        """What an access goes to: a name and an offset, the same for the same address; None: no address."""
        address = op.inst.get("a")
        if not isinstance(address, Addr):
            return None
        base, offset, at = address.base, address.offset, op
        for _ in range(16):
            if isinstance(base, Sym):
                return base.name, offset + base.offset
            if isinstance(base, Imm):
                return "", offset + base.bits
            key = at.key(base.name)
            writes = self.definitions.get(key, [])
            if len(writes) != 1 or writes[0].computes not in COPIES or writes[0].inst.guard is not None:
                return key, offset
            source = writes[0].inst.get("a")
            if not isinstance(source, Reg | Sym):
                return key, offset
            at, base = writes[0], source
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
