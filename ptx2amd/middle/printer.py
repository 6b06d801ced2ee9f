"""A function between two passes as text: PTX with a label for each basic block."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.isa.effects import CALLS
from ptx2amd.middle.op import Block
from ptx2amd.middle.unit import Unit
from ptx2amd.ptx.ast import Addr, BranchTargets, Imm, Inst, Operand, Proto, Reg, Sym, Var, Vec
from ptx2amd.target import Target

INDENT = "        "


def printed(unit: Unit) -> str:
    """The function as it is now. Registers of nested scopes and inlined functions have names with `$`. Blocks without a
    label are `$B` and their number; comments say where control comes from, if not only from above."""
    function, body = unit.function, unit.body
    kind = ".entry" if function.kind == "entry" else ".func"
    labels: dict[int, list[str]] = {}
    for label, number in body.labels.items():
        labels.setdefault(number, []).append(label)
    names = [labels.get(number, [f"$B{number}"])[0] for number in range(len(body.blocks))]
    results = f"{_variables(function.proto.results)} " if function.proto.results else ""
    lines = [f"// {name}: {_fact(value)}" for name, value in unit.decided.items()]
    for loop in unit.loops:
        waits = ", where lanes wait for others" if loop.waits else ""
        lines.append(f"// dispatch block of a loop: {', '.join(names[number] for number in loop.entries)}{waits}")
    lines += [f"{kind} {results}{function.proto.name}{_variables(function.proto.params)}", "{"]
    lines += [f"{INDENT}{line}" for line in _declarations(unit)]
    for number, block in enumerate(body.blocks):
        if number in labels:
            others = labels[number][1:]
            lines += [f"{names[number]}:{_comment(block, number, names)}", *(f"{label}:" for label in others)]
        elif number and (block.ops or block.predecessors):
            lines.append(f"// {names[number]}")
        lines += [f"{INDENT}{statement(op.inst)}" for op in block.ops]
    return "\n".join([*lines, "}"]) + "\n"


def _fact(value: object) -> str:
    """A decision about a kernel, as a line."""
    match value:
        case Target():
            return f"{value.arch.name}, {value.mapping}"
        case frozenset():
            return ", ".join(sorted(map(str, value))) or "none"
        case list():
            return "; ".join(map(str, value)) or "none"
        case bool() | None:
            return "yes" if value else "no"
    return str(value) or "none"


def _comment(block: Block, number: int, names: list[str]) -> str:
    if block.predecessors == [number - 1] or not number:
        return ""
    return f"  // from {', '.join(names[previous] for previous in block.predecessors) or 'nowhere'}"


def _declarations(unit: Unit) -> Iterator[str]:
    for item in unit.body.declarations:
        if isinstance(item, Var):
            yield f"{variable(item)};"
        elif isinstance(item, BranchTargets):
            yield f"{item.name}: .branchtargets {', '.join(item.targets)};"
        elif isinstance(item, Proto):
            yield f"{item.name}: .callprototype {_variables(item.results)} _ {_variables(item.params)};"


def _variables(variables: list[Var]) -> str:
    return f"({', '.join(map(variable, variables))})"


def variable(var: Var) -> str:
    """A declaration as PTX writes it, without its end."""
    linkage = f".{var.linkage} " if var.linkage else ""
    align = f".align {var.align} " if var.align else ""
    vector = f".v{var.vec} " if var.vec > 1 else ""
    size = f"<{var.regs}>" if var.regs else f"[{var.count or ''}]" if var.count >= 0 else ""
    return f"{linkage}.{var.space} {align}{vector}.{var.type} {var.name}{size}"


def statement(inst: Inst) -> str:
    """An instruction as PTX writes it."""
    guard = f"@{'!' if inst.guard.negated else ''}{inst.guard.reg} " if inst.guard is not None else ""
    shape = inst.shape
    call = bool(shape.form.does & CALLS)
    text = ""
    for name, operand_ in zip(shape.names, inst.operands, strict=True):
        joint = "|" if f"|{name}" in shape.form.operands else ", "
        text += (joint if text else "") + operand(operand_, call)
    return f"{guard}{shape.opcode}{' ' if text else ''}{text};"


def operand(value: Operand, call: bool = False) -> str:
    """An operand as PTX writes it. call: lists are arguments or results."""
    match value:
        case Reg():
            part = f".{value.part}" if value.part else ""
            return f"{'!' if value.negated else ''}{value.name}{part}"
        case Imm(kind="f32"):
            return f"0f{value.bits:08X}"
        case Imm(kind="f64"):
            return f"0d{value.bits:016X}"
        case Imm():
            return str(value.bits)
        case Sym():
            return value.name + _offset(value.offset)
        case Addr():
            base = operand(value.base) + _offset(value.offset)
            return f"[{', '.join([base, *map(operand, value.rest)])}]"
        case Vec():
            opened, closed = "()" if call else "{}"
            return opened + ", ".join(map(operand, value.items)) + closed
    raise TypeError(f"operand {value} has no text")


def _offset(value: int) -> str:
    """PTX has no `a-4`: a negative offset is added, `a+-4`."""
    return f"+{value}" if value else ""


__all__ = ["printed", "statement", "variable"]
