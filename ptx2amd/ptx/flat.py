"""Bodies without nested scopes: a name in `{ ... }` that is declared there becomes one that the whole body has once.

Inline assembly and calls come in scopes of their own. Behind the parser a name stands for one thing in a body."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptx2amd.ptx.ast import (
    Addr,
    BranchTargets,
    Guard,
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
    Vec,
)
from ptx2amd.records import replace

Names = dict[str, str]  # names that are others in the result


def flat(scope: Scope) -> Scope:
    """A body without nested scopes; the body itself where it has none."""
    if not any(isinstance(item, Scope) for item in scope.items):
        return scope
    result: list[Item] = []
    _add(scope, {}, result, iter(range(1, 1 << 31)))
    return Scope(result)


def _add(scope: Scope, names: Names, to: list[Item], numbers: Iterator[int]) -> None:
    for item in scope.items:
        if isinstance(item, Scope):
            mark = f"${next(numbers)}$"
            inner = dict(names)
            for declaration in item.items:
                inner.update(declared(declaration, lambda name: f"{name[0]}{mark}{name[1:]}"))  # noqa: B023
            _add(item, inner, to, numbers)
        else:
            to.append(renamed(item, names) if names else item)


def declared(item: Item, new: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """The names that an item declares, with new ones."""
    if isinstance(item, Var) and item.regs:
        prefix = new(item.name)
        yield from ((f"{item.name}{i}", f"{prefix}{i}") for i in range(item.regs))
    elif isinstance(item, Var):
        yield item.name, new(item.name)
        if item.vec > 1:
            yield from ((f"{item.name}.{c}", f"{new(item.name)}.{c}") for c in "xyzw")
    elif isinstance(item, Label | Proto | BranchTargets):
        yield item.name, new(item.name)


def renamed(item: Item, names: Names) -> Item:
    """A statement or declaration (no scope) with new names."""
    match item:
        case Inst():
            return instruction(item, names)
        case Loc():
            return item
        case BranchTargets():
            targets = tuple(names.get(target, target) for target in item.targets)
            return item._replace(name=names.get(item.name, item.name), targets=targets)
        case Var() if item.regs:
            return replace(item, name=names.get(f"{item.name}0", f"{item.name}0")[:-1])
        case Var() | Label() | Proto():
            return replace(item, name=names.get(item.name, item.name))
    raise TypeError(f"{item} is no statement")


def instruction(inst: Inst, names: Names) -> Inst:
    """An instruction with new names."""
    operands = tuple(operand(each, names) for each in inst.operands)
    guard = inst.guard and Guard(names.get(inst.guard.reg, inst.guard.reg), inst.guard.negated)
    return Inst(inst.shape, operands, guard, inst.line)


def operand(value: Operand, names: Names) -> Operand:
    """An operand with new names."""
    if isinstance(value, Reg | Sym):
        return value._replace(name=names[value.name]) if value.name in names else value
    if isinstance(value, Addr):
        base, rest = operand(value.base, names), tuple(operand(item, names) for item in value.rest)
        assert isinstance(base, Reg | Sym | Imm)
        return value._replace(base=base, rest=rest)
    if isinstance(value, Vec):
        return Vec(tuple(operand(item, names) for item in value.items))
    return value


__all__ = ["Names", "declared", "flat", "instruction", "operand", "renamed"]
