"""Addresses of functions.

A function has a different address in each code object of its module. So PTX sees a *handle*: a number that is the
same in all of them, whichever kernel stores it, passes it on, or finds it in a variable. A call through a handle
looks the function up in a table of its code object, and traps if the value is not a handle of the module."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from ptx2amd.ptx.ast import InitSym, Module
from ptx2amd.regex import regex

_CALL = regex(r"(?<![\w.$%])call(?:\.uni)?\s")
_IN_WORDS = frozenset(char for char in map(chr, range(128)) if char.isalnum() or char in "_$%")
_BETWEEN_WORDS = {code: " " for code in range(128) if chr(code) not in _IN_WORDS}
FEW = 16  # names that are looked for one by one
STEP = 4  # handles are multiples of 1 << STEP
MODULE = 24  # the bit from which on a handle says whose it is


def handles(module: Module) -> dict[str, int]:
    """The handles of the functions whose address code or variables of the module take, by name, ascending.

    Computed from the text, without parsing bodies."""
    if module.whole is not None:
        return module.whole.handles
    functions = {name for name in module.functions if has_body(module, name)}
    found = taken(module, functions)
    if not found:
        return {}
    checksum = 0
    for function in module.functions.values():
        checksum = zlib.crc32(function.text.encode(), checksum)
    names = [name for name in module.functions if name in found]
    return {name: (checksum << MODULE) + (number << STEP) for number, name in enumerate(names, 1)}


def taken(module: Module, functions: set[str]) -> set[str]:
    """Which of these functions variables refer to, or bodies mention other than as callees."""
    of = {alias: name for alias, name in module.aliases.items() if name in functions} | {
        name: name for name in functions
    }
    held = {e.name for var in module.variables.values() for e in var.init or () if isinstance(e, InitSym)}
    found = {of[name] for name in held & of.keys()}
    for function in module.functions.values():
        open_ = {name for name in _mentioned(function.text, of) if of[name] not in found}
        found.update(of[name] for name in open_ if _as_value(function.text, name))
    return found


def has_body(module: Module, name: str) -> bool:
    """Whether `name` is a .func that the module defines."""
    function = module.functions.get(name)
    return function is not None and function.kind != "entry" and bool(function.text)


def _mentioned(text: str, names: Mapping[str, str]) -> set[str]:
    """Which names stand in a text, or perhaps a few more. Texts are long: this is a search, or one split."""
    if len(names) <= FEW:
        return {name for name in names if name in text}
    return names.keys() & words(text)


def words(text: str) -> set[str]:
    """The words in a text: names, numbers, opcodes' parts."""
    return set(text.translate(_BETWEEN_WORDS).split())


def _as_value(text: str, name: str) -> bool:
    """Whether a body names a function outside call instructions."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if text[at - 1 : at] not in _IN_WORDS and text[end : end + 1] not in _IN_WORDS:
            begin = max(text.rfind(mark, 0, at) for mark in ";{}")
            if not _CALL.search(text, begin + 1, at):
                return True
        at = text.find(name, end)
    return False
