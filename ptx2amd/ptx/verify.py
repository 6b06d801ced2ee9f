"""Verification of a whole module: the checks that the driver makes on PTX before anything of it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from ptx2amd.errors import PtxError
from ptx2amd.ptx.ast import InitSym, Module
from ptx2amd.ptx.body import BodyParser
from ptx2amd.ptx.condense import Condenser
from ptx2amd.ptx.parse import collector_off
from ptx2amd.ptx.scan import place
from ptx2amd.records import replace
from ptx2amd.regex import regex

MOST = 100  # reported errors of a module: one wrong declaration causes many
# Functions that the driver provides: of the runtime (lower/runtime/runtime.py), and CUDA's device runtime
# library, some of it refused by name (lower/runtime/launches.py).
_PROVIDED = regex(r"(vprintf|malloc|free|__assertfail|__cuda_\w+|(__)?cuda[A-Z]\w*)\Z", re.A)


def characters(text: str, source: str) -> list[PtxError]:
    """The first character of a text that PTX does not have anywhere, not in comments either, as an error."""
    if text.isascii() and "\0" not in text:
        return []
    found = next(at for at, char in enumerate(text) if char == "\0" or char > "\x7f")
    return [PtxError(f"the character {text[found]!a} is not ASCII text", source, *place(text, found))]


def problems(module: Module) -> list[PtxError]:
    """What is wrong with a module that has been read: with initial values, heads, and the bodies of its functions,
    called or not. The first MOST errors in order; nothing of the bodies is kept."""
    with collector_off():
        return list(islice((*_initial_values(module), *_missing(module), *_bodies(module)), MOST))


def undefined(module: Module) -> Iterator[tuple[str, str, int]]:
    """The undefined symbols of a module: ("function" or "variable", name, line). As for ptxas, variables count when
    they are declared, functions when something names them."""
    for var in module.variables.values():
        if var.linkage == "extern" and var.space in ("global", "const"):
            yield "variable", var.name, var.line
    for name, function in module.functions.items():
        if function.text or name in module.aliases or _PROVIDED.match(name):
            continue
        word = re.compile(rf"(?<![\w$.%]){re.escape(name)}(?![\w$])", re.A)
        bodies = any(name in f.text and word.search(f.text) for f in module.functions.values())
        if bodies or any(name == item.name for v in module.variables.values() for item in _symbols(v.init)):
            yield "function", name, function.line


def unresolved(module: Module) -> list[PtxError]:
    """The same as errors, for a module that is not linked with others."""
    return [PtxError(f"unresolved extern {what} '{n}'", module.source, at, 1) for what, n, at in undefined(module)]


def _symbols(init: Sequence[int | InitSym] | None) -> Iterator[InitSym]:
    return (item for item in init or () if isinstance(item, InitSym))


def _initial_values(module: Module) -> Iterator[PtxError]:
    known = module.variables.keys() | module.functions.keys() | module.aliases.keys()
    for var in module.variables.values():
        for name in sorted({item.name for item in _symbols(var.init)} - known):
            yield PtxError(f"'{name}', whose address is an initial value, is not declared", module.source, var.line, 1)


def _missing(module: Module) -> Iterator[PtxError]:
    """Functions that only other modules could define, though they are not .extern."""
    for name, function in module.functions.items():
        if not function.text and function.linkage in ("", "weak") and name not in module.aliases:
            yield PtxError(f"function '{name}' is not .extern and has no body", module.source, function.line, 1)


def _bodies(module: Module) -> Iterator[PtxError]:
    condenser = Condenser()
    for function in module.functions.values():
        if not function.text or function.scope is not None:
            continue
        short = replace(function, text=condenser.condensed(function.text))
        if next(BodyParser(module, short).errors(), None) is None:
            condenser.right()
        else:
            yield from BodyParser(module, replace(function)).errors()
