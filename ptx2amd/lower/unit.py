"""Units: the kernels of a module that see addresses of functions.

The address of a function is one of a code object, so kernels that store such addresses, find them in
variables or call through them are compiled as one code object, the module's *unit*. What is part of it is
read off the text, without parsing bodies: few modules have one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptx2amd.ptx.ast import Function, InitSym, Module

_CALL = re.compile(r"(?<![\w.$%])call(?:\.uni)?\s[^;]*;")
_WORD = re.compile(r"[A-Za-z_$%][\w$]*")
_INDIRECT = (".callprototype", ".calltargets")


@dataclass(frozen=True, slots=True)
class Unit:
    """kernels: its kernels, in the module's order; table: functions whose addresses variables hold, in the
    order of their first appearance; taken: all functions whose address is taken (the table's among them)."""

    kernels: tuple[str, ...]
    table: tuple[str, ...]
    taken: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Mentions:
    """What a body's text mentions: names of functions and variables; of them the functions whose address is
    taken; and whether it calls through an address."""

    names: frozenset[str]
    taken: frozenset[str]
    indirect: bool


def unit(module: Module) -> Unit | None:
    """The module's unit; None when no kernel sees the address of a function."""
    cells: dict[str, list[str]] = {}  # variable -> functions that its initialiser names
    for var in module.variables.values():
        symbols = (module.aliases.get(e.name, e.name) for e in var.init or () if isinstance(e, InitSym))
        functions = [name for name in symbols if has_body(module, name)]
        if functions and var.space in ("global", "const"):
            cells[var.name] = functions
    if not cells and not any(mark in f.text for f in module.functions.values() for mark in _INDIRECT):
        return None
    table = dict.fromkeys(name for functions in cells.values() for name in functions)
    mentions = {name: _mentions(module, f) for name, f in module.functions.items() if f.text}
    taken = dict.fromkeys((*table, *(name for m in mentions.values() for name in sorted(m.taken))))
    sighted = {name for name, m in mentions.items() if m.indirect or m.taken or m.names & cells.keys()}
    kernels = tuple(
        name
        for name, function in module.functions.items()
        if function.kind == "entry" and not sighted.isdisjoint(_closure(mentions, name))
    )
    return Unit(kernels, tuple(table), tuple(taken)) if kernels else None


def has_body(module: Module, name: str) -> bool:
    """Whether `name` is a .func that the module defines."""
    function = module.functions.get(name)
    return function is not None and function.kind != "entry" and bool(function.text)


def _mentions(module: Module, function: Function) -> _Mentions:
    text = function.text
    rest = set(_WORD.findall(_CALL.sub(" ", text)))
    names = {module.aliases.get(name, name) for name in set(_WORD.findall(text))}
    taken = {module.aliases.get(name, name) for name in rest}
    functions = {name for name in taken if has_body(module, name)}
    return _Mentions(frozenset(names), frozenset(functions), any(mark in text for mark in _INDIRECT))


def _closure(mentions: dict[str, _Mentions], name: str) -> set[str]:
    """`name` and the functions that it mentions, transitively."""
    seen, work = {name}, [name]
    while work:
        for other in mentions[work.pop()].names & mentions.keys():
            if other not in seen:
                seen.add(other)
                work.append(other)
    return seen
