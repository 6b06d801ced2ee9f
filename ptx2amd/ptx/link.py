"""Linking of several parsed modules into one, as a linker of relocatable code does.

Symbols with .visible, .extern, .weak or .common linkage, and all kernels, are shared by name; the others belong to
their module and get a new name where another module has that name too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ptx2amd.errors import PtxError
from ptx2amd.ptx.ast import Function, InitSym, Module, Var
from ptx2amd.ptx.variables import width
from ptx2amd.regex import regex

_NAME = regex(r"(?<![\w$.%])[A-Za-z_$%][\w$]*")


def link(modules: Sequence[Module], source: str) -> Module:
    """One module of all functions and variables; the given modules are consumed. source: its name in messages.

    Raises PtxError when a symbol is defined twice, or declared differently."""
    linked = Module(
        max(module.version for module in modules),
        max((module.target for module in modules), key=_target_order),
        tuple(dict.fromkeys(option for module in modules for option in module.target_options)),
        {}, {}, {}, {}, source, linked=True,
    )  # fmt: skip
    for module, new in zip(modules, new_names(modules), strict=True):
        add(linked, module, new)
    return linked


def new_names(modules: Sequence[Module]) -> list[dict[str, str]]:
    """The names of each module that are others in the linked one."""
    names = Counter(name for module in modules for name in {*module.variables, *module.functions, *module.aliases})
    taken = {name for name, count in names.items() if count > 1}
    return [{name: f"{name}$module{n}" for name in own(module) & taken} for n, module in enumerate(modules)]


def add(linked: Module, module: Module, new: dict[str, str]) -> None:
    """Add a module, which is consumed. new: of its names, as new_names gives them. Raises PtxError as link does."""
    _rename(module, new)
    for var in module.variables.values():
        _add_variable(linked, module, var)
    files = _add_files(linked, module)
    for function in module.functions.values():
        function.target = function.target or module.target
        function.files = files
        _add_function(linked, module, function)
    linked.aliases.update(module.aliases)


def _add_files(linked: Module, module: Module) -> dict[int, int]:
    """Add a module's files; the new indices of those whose index is another file's."""
    changed: dict[int, int] = {}
    free = max((*linked.files, *module.files), default=0) + 1
    for index, name in module.files.items():
        if linked.files.setdefault(index, name) != name:
            changed[index] = free + len(changed)
            linked.files[changed[index]] = name
    return changed


def _target_order(target: str) -> tuple[int, str]:
    number = re.search(r"\d+", target)
    return (int(number[0]) if number else 0, target)


def own(module: Module) -> set[str]:
    """The names that are local to their module."""
    variables = {name for name, var in module.variables.items() if not var.linkage}
    return variables | {name for name, f in module.functions.items() if not f.linkage and f.kind == "func"}


def _rename(module: Module, new: dict[str, str]) -> None:
    """Give symbols new names, everywhere in the module. Names within a function body are replaced as words: a
    local name that hides the symbol changes with it, and a keyword cannot be a symbol."""
    if not new:
        return
    for var in module.variables.values():
        var.name = new.get(var.name, var.name)
        if var.init:
            var.init = [
                item._replace(name=new.get(item.name, item.name)) if isinstance(item, InitSym) else item
                for item in var.init
            ]
    for function in module.functions.values():
        function.proto.name = new.get(function.proto.name, function.proto.name)
        hidden = {var.name for var in (*function.proto.params, *function.proto.results)}

        def replacement(found: re.Match[str], hidden: set[str] = hidden) -> str:
            name = found[0]
            return name if name in hidden else new.get(name, name)

        function.text = _NAME.sub(replacement, function.text)
    module.variables = {var.name: var for var in module.variables.values()}
    module.functions = {function.proto.name: function for function in module.functions.values()}
    module.aliases = {new.get(name, name): new.get(to, to) for name, to in module.aliases.items()}


def _add_variable(linked: Module, module: Module, var: Var) -> None:
    known = linked.variables.get(var.name)
    if var.name in linked.functions:
        raise _error(module, var, f"'{var.name}' is a variable here and a function in another module")
    if known is None or known.linkage == "extern":
        if known is not None and known.space != var.space:
            raise _error(module, var, f"'{var.name}' is in .{var.space} here and in .{known.space} in another module")
        linked.variables[var.name] = var
    elif var.linkage == "extern" or (var.linkage == "weak" and known.linkage != "common"):
        return
    elif known.linkage == "weak":
        linked.variables[var.name] = var
    elif "common" in (known.linkage, var.linkage):
        _merge_common(linked, known, var)
    else:
        raise _error(module, var, f"'{var.name}' is defined in several modules")


def _merge_common(linked: Module, known: Var, var: Var) -> None:
    """Of common variables the largest is kept, unless one is a definition."""
    if known.linkage == "common" and (var.linkage != "common" or _bits(var) > _bits(known)):
        linked.variables[var.name] = var


def _bits(var: Var) -> int:
    return width(var.type) * var.vec * abs(var.count)


def _add_function(linked: Module, module: Module, function: Function) -> None:
    name = function.proto.name
    known = linked.functions.get(name)
    if name in linked.variables:
        raise _error(module, function, f"'{name}' is a function here and a variable in another module")
    if known is None or (function.text and not known.text):
        linked.functions[name] = function
    elif not function.text or function.linkage == "weak":
        return
    elif known.linkage == "weak":
        linked.functions[name] = function
    else:
        raise _error(module, function, f"'{name}' is defined in several modules")


def _error(module: Module, what: Var | Function, text: str) -> PtxError:
    return PtxError(text, module.source, what.line, 1)
