"""Calls: results and arguments against the callee's signature."""

from __future__ import annotations

import re

from ptx2amd.ptx.ast import Addr, Imm, Module, Operand, Proto, Reg, Shape, Sum, Sym, Var, Vec, whole
from ptx2amd.ptx.check import register_fits
from ptx2amd.ptx.scope import BadOperand, Names
from ptx2amd.ptx.variables import width


def checked(
    module: Module, names: Names, shape: Shape, operands: tuple[Operand, ...], kinds: tuple[str, ...]
) -> tuple[Operand, ...]:
    """Check results and arguments of a call against the callee's signature, or the prototype; gives the operands
    with vectors among them taken apart, as the signature has them. Raises BadOperand."""
    at = dict(zip(shape.names, operands, strict=True))
    kind = dict(zip(shape.names, kinds, strict=True))
    callee = at["f"]
    name = getattr(callee, "name", "")
    if kind["f"] == "&func":
        proto = module.functions[module.aliases.get(name, name)].proto
    elif "b" in at:
        assert isinstance(at["b"], Sym)
        proto = _prototype(module, names, at["b"].name)
    else:
        raise BadOperand("a call through a register needs a .callprototype or .calltargets", name)
    for part, wanted, what in (("d", proto.results, "result"), ("a", proto.params, "argument")):
        given = at.get(part, Vec(()))
        assert isinstance(given, Vec)
        if what == "result" and not wanted and module.linked:
            continue  # declared with one where it is called, as numba does: nobody gives a value
        variables = list(whole(wanted))
        if len(given.items) != len(variables):
            count = f"{len(variables)} {what}{'' if len(variables) == 1 else 's'}"
            raise BadOperand(f"'{name}' has {count}, the call has {len(given.items)}", name)
        items: list[Operand] = []
        for item, found, var in zip(given.items, _list_kinds(kind.get(part, "{}")), variables, strict=True):
            problem = _problem(names, item, found, var, what == "result")
            if problem:
                raise BadOperand(f"{what} '{var.name}' of '{name}' {problem}", getattr(item, "name", name))
            if what == "result" and isinstance(item, Imm):
                item = Reg("_")  # ptxas takes a constant, and does nothing with it
            items += item.items if isinstance(item, Vec) else (item,)
        if part in at:
            at[part] = Vec(tuple(items))
    return tuple(at[name] for name in shape.names)


def _prototype(module: Module, names: Names, label: str) -> Proto:
    """The callee's prototype that a call's last operand names."""
    piece = names.signature(label)
    if isinstance(piece, Proto):
        return piece
    function = module.functions.get(piece.targets[0]) if piece else None
    if function is None:
        raise BadOperand(f"'{label}' is neither a .callprototype nor a .calltargets list", label)
    return function.proto


def _problem(names: Names, item: Operand, kind: str, var: Var, result: bool) -> str:
    """What is wrong with an argument for a parameter, or with a result, as the end of a sentence, or ""."""
    if isinstance(item, Vec) or var.vec > 1:
        parts = kind[1:-1].split(",") if isinstance(item, Vec) else []
        fits = len(parts) == var.vec and all(register_fits(part, var.type) for part in parts)
        return "" if fits else f"is {_declared(var)}, found {kind}"
    if isinstance(item, Sum | Addr):
        return f"is {_declared(var)}, found {'a sum' if isinstance(item, Sum) else 'an address'}"
    if kind == "_" and not result:
        return f"is {_declared(var)}, found _"
    if isinstance(item, Sym) and kind != "&param":
        return f"is {_declared(var)}, found '{item.name}', which is neither a register nor in .param"
    if isinstance(item, Imm) and var.type == "pred":
        return f"is {_declared(var)}, found a constant"
    if isinstance(item, Reg) and kind != "_":
        fits = var.count == -1 and register_fits(kind, var.type)
        return "" if fits else f"is .{var.type}, found a .{kind} register"
    if isinstance(item, Imm) and var.count > 0:
        return f"is {_declared(var)}, found a constant"
    given = names.variable(item.name) if isinstance(item, Sym) and kind == "&param" else None
    if given is None or var.count == 0:
        return ""
    arrays = given.count > 0 and var.count > 0 and _bytes(given) == _bytes(var)
    if not arrays and (given.count != var.count or not register_fits(given.type, var.type)):
        return f"is {_declared(var)}, found {_declared(given)}"
    same = _alignment(given) == _alignment(var)
    return "" if same else f"has an alignment of {_alignment(var)}, found {_alignment(given)}"


def _declared(var: Var) -> str:
    """A parameter's type, for messages."""
    vector = f".v{var.vec} " if var.vec > 1 else ""
    return f"{vector}.{var.type}" + ("" if var.count == -1 else f"[{var.count}]")


def _list_kinds(kind: str) -> list[str]:
    """The kinds of a list's elements, which may be lists."""
    return re.findall(r"\{[^{}]*\}|[^,{}]+", kind[1:-1])


def _bytes(var: Var) -> int:
    return var.count * width(var.type) // 8


def _alignment(var: Var) -> int:
    """In bytes."""
    return var.align or max(width(var.type) // 8, 1)
