"""Names in a function body: registers, variables, labels, with PTX's nested scopes, and the analysis
that finds which registers need memory.

A register whose every read follows a write in the same extended basic block is an SSA value. Only the
others ("crossing") become allocas, so that LLVM gets less text to parse and less work for SROA."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptx2amd.isa.effects import JUMPS
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.lower.core.value import LLVM_TYPE, Val
from ptx2amd.ptx.ast import Addr, BranchTargets, Imm, Inst, Label, Operand, Proto, Reg, Scope, Shape, Sym, Var, Vec
from ptx2amd.ptx.layout import bits_of


@dataclass(slots=True, eq=False)
class Register:
    """A PTX register. `ty` is the LLVM type of its alloca, `memory` the alloca when it is crossing.
    `values` are its current value in the forms (LLVM types) it was used in, valid in block `block`.
    `constant`: the integer that its only write moves into it; so it is that everywhere."""

    name: str
    bits: int
    ty: str = ""
    crossing: bool = False
    memory: str = ""
    block: int = -1
    values: dict[str, Val] = field(default_factory=dict)
    writes: int = 0
    constant: int | None = None


@dataclass(slots=True, eq=False)
class Storage:
    """A variable of local, shared or param space inside a function: its pointer once it exists."""

    var: Var
    pointer: Val | None = None
    given: bool = False  # a parameter of the function, which only reads it


@dataclass(slots=True, eq=False)
class Target:
    """A label: the LLVM block that stands for it."""

    name: str
    block: str


Entity = Register | Storage | Target | Proto | BranchTargets


class Names:
    """The scope chain, flattened into one table; entering a scope declares, leaving restores."""

    def __init__(self) -> None:
        self.table: dict[str, Entity] = {}
        self.declared: dict[int, dict[str, Entity]] = {}
        self.saved: list[dict[str, Entity | None]] = []
        self.registers: list[Register] = []
        self.labels = 0

    def enter(self, scope: Scope) -> None:
        """Make the names that `scope` declares visible (the same entities each time)."""
        declared = self.declared.get(id(scope))
        if declared is None:
            declared = self.declared[id(scope)] = {}
            for item in scope.items:
                if isinstance(item, Var):
                    self._declare(item, declared)
                elif isinstance(item, Label):
                    self.labels += 1
                    declared[item.name] = Target(item.name, f"L{self.labels}")
                elif isinstance(item, Proto | BranchTargets):
                    declared[item.name] = item
        outermost = not self.saved  # nothing is outside that could be shadowed
        self.saved.append({} if outermost else {name: self.table.get(name) for name in declared})
        self.table.update(declared)

    def leave(self) -> None:
        """Undo the last enter."""
        for name, entity in self.saved.pop().items():
            if entity is None:
                del self.table[name]
            else:
                self.table[name] = entity

    def _declare(self, var: Var, into: dict[str, Entity]) -> None:
        if var.space != "reg":
            into[var.name] = Storage(var)
            return
        for name in [f"{var.name}{i}" for i in range(var.regs)] if var.regs else [var.name]:
            if var.vec == 1:
                into[name] = self._register(name, var.type)
                continue
            items = [self._register(f"{name}.{c}", var.type) for c in "xyzw"[: var.vec]]  # %v.x, %v.y ...
            for letters in ("xyzw", "rgba"):
                into.update({f"{name}.{c}": r for c, r in zip(letters, items, strict=False)})

    def _register(self, name: str, ptx_type: str) -> Register:
        register = Register(name, bits_of(ptx_type))
        self.registers.append(register)
        return register


class Analysis:
    """One walk over a function body: marks crossing registers, picks the type of their memory, and
    lists the instructions (flat, in order)."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.block = 0
        self.instructions: list[Inst] = []
        self.here = ""  # the LLVM block that the walk is in
        self.flow: dict[str, list[str]] = {"": []}  # successors of each labelled block; "" is the entry
        self.open = True  # whether control can reach the end of the block
        self.plans: dict[int, tuple[tuple[int, ...], tuple[tuple[int, str], ...]]] = {}

    def scope(self, scope: Scope) -> None:
        self.names.enter(scope)
        for item in scope.items:
            if isinstance(item, Inst):
                self._instruction(item)
            elif isinstance(item, Label):
                self.block += 1
                self._label(self.names.table[item.name])
            elif isinstance(item, Scope):
                self.scope(item)
        self.names.leave()

    def _label(self, target: Entity) -> None:
        assert isinstance(target, Target)
        if self.open:
            self.flow[self.here].append(target.block)
        self.here, self.open = target.block, True
        self.flow.setdefault(self.here, [])

    def _jump(self, inst: Inst) -> None:
        """Note where a control instruction can go."""
        names: tuple[str, ...] = ()
        if isinstance(label := inst.get("a"), Sym):
            names = (label.name,)
        elif isinstance(label := inst.get("b"), Sym):
            targets = self.names.table.get(label.name)
            names = targets.targets if isinstance(targets, BranchTargets) else ()
        for target in map(self.names.table.get, names):
            if isinstance(target, Target):
                self.flow[self.here].append(target.block)
        self.open = self.open and inst.guard is not None

    def _plan(self, shape: Shape) -> tuple[tuple[int, ...], tuple[tuple[int, str], ...]]:
        reads = tuple(i for i, name in enumerate(shape.names) if name not in DESTINATIONS or name == "u")
        writes = tuple(
            (i, shape.types[i] if i < len(shape.types) else "")
            for i, name in enumerate(shape.names)
            if name in DESTINATIONS
        )
        return reads, writes

    def _instruction(self, inst: Inst) -> None:
        self.instructions.append(inst)
        shape = inst.shape
        plan = self.plans.get(id(shape))
        if plan is None:
            plan = self.plans[id(shape)] = self._plan(shape)
        operands = inst.operands
        if shape.form.does & JUMPS:
            self._jump(inst)
        if inst.guard is not None:
            self._read(inst.guard.reg)
        for i in plan[0]:
            operand = operands[i]
            if isinstance(operand, Reg):
                self._read(operand.name)
            else:
                self._read_inside(operand)
        for i, ptx_type in plan[1]:
            operand = operands[i]
            if isinstance(operand, Reg):
                self._write(operand.name, ptx_type, inst.guard is not None)
            elif isinstance(operand, Vec):
                for item in operand.items:
                    if isinstance(item, Reg):
                        self._write(item.name, ptx_type, inst.guard is not None)
            else:
                self._read_inside(operand)
        if shape.form.computes == "copy":
            self._constant(inst)

    def _constant(self, inst: Inst) -> None:
        """Note a move of an integer into a register that nothing wrote before; a later write undoes it."""
        to, value = inst.operands
        register = self.names.table.get(to.name) if isinstance(to, Reg) else None
        if inst.guard is not None or not isinstance(register, Register) or not isinstance(value, Imm):
            return
        if register.writes == 1 and register.bits == 32 and value.kind in "su":
            register.constant = value.bits & 0xFFFFFFFF

    def _read_inside(self, operand: Operand) -> None:
        if isinstance(operand, Reg):
            self._read(operand.name)
        elif isinstance(operand, Addr):
            self._read_inside(operand.base)
            for item in operand.rest:
                self._read_inside(item)
        elif isinstance(operand, Vec):
            for item in operand.items:
                self._read_inside(item)

    def _read(self, name: str) -> None:
        entity = self.names.table.get(name)
        if isinstance(entity, Register) and entity.block != self.block:
            entity.crossing = True

    def _write(self, name: str, ptx_type: str, guarded: bool) -> None:
        entity = self.names.table.get(name)
        if not isinstance(entity, Register):
            return
        if guarded:
            entity.crossing = True
        entity.block = self.block
        entity.writes += 1
        entity.constant = None
        if not entity.ty and ptx_type and bits_of(ptx_type) == entity.bits:
            entity.ty = LLVM_TYPE[ptx_type][0]
