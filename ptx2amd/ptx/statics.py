"""Variables in .global and .const that a function's body declares. They last as long as the module's own, so the module
gets them when it is read, under names that no PTX symbol has (`kernel::x`, `kernel::x::1`): the layout of the data
segment must not depend on which bodies have been parsed."""

from __future__ import annotations

import re

from ptx2amd.errors import PtxError
from ptx2amd.ptx.ast import Function, InitSym, Module, Var
from ptx2amd.ptx.declare import declarations, variable_problem
from ptx2amd.regex import regex

SPACES = ("global", "const")
_BEFORE = frozenset(" \t\n;{}:")  # what stands in front of a declaration
_TOKEN = regex(r"[{}]|(?:(?<=[;{}:])|^)[ \t]*(\.(?:global|const)\b[^;]*;)", re.A | re.M)


def hoist(module: Module, function: Function) -> None:
    """Enter the static variables of a body into its module and, in their order, into `function.statics`. Stops at an
    invalid declaration, which the body's parser will report."""
    if not any(part[-1:] in _BEFORE for space in SPACES for part in function.text.split(f".{space}")[:-1]):
        return
    scopes: list[dict[str, str]] = []  # name in the body -> name in the module
    for found in _TOKEN.finditer(function.text):
        if found[0] == "{":
            scopes.append({})
        elif found[0] == "}":
            scopes.pop()
        else:
            try:
                variables = declarations(found[1], module.source, function.body_line, 1)
            except PtxError:
                return
            for var in variables:
                _enter(module, function, var, scopes)
        if not scopes:
            return


def _enter(module: Module, function: Function, var: Var, scopes: list[dict[str, str]]) -> None:
    known = {name: new for scope in scopes for name, new in scope.items()}
    if var.init:
        var.init = [e._replace(name=known.get(e.name, e.name)) if isinstance(e, InitSym) else e for e in var.init]
    name = f"{function.proto.name}::{var.name}"
    count = sum(static.name == name or static.name.startswith(f"{name}::") for static in function.statics)
    scopes[-1][var.name] = new = f"{name}::{count}" if count else name
    var.name = new
    module.variables[new] = var
    function.statics.append(var)


def problem(var: Var) -> str:
    """What is wrong with a variable in .global or .const inside a function, as the end of a sentence, or ""."""
    if var.type in ("texref", "surfref", "samplerref"):
        return "is a texture, surface or sampler, which must stand at module level"
    return variable_problem(var, ())
