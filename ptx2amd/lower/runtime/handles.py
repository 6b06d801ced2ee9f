"""Addresses of functions.

A function has another address in each code object of its module. So what PTX sees is a *handle*: a number
that is the same in all of them, whichever kernel stores it, passes it on, or finds it in a variable. A call
through a handle looks the function up in a table of its code object. What is no handle of the module traps."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

from ptx2amd.ptx.ast import Function, InitSym, Module

if TYPE_CHECKING:
    from ptx2amd.lower.core.function import FunctionLowering
    from ptx2amd.lower.core.value import Val

_CALL = re.compile(r"(?<![\w.$%])call(?:\.uni)?\s[^;]*;")
_WORD = re.compile(r"[A-Za-z_$%][\w$]*")
STEP = 4  # handles are multiples of 1 << STEP
MODULE = 24  # the bit from which on a handle says whose it is


def handles(module: Module) -> dict[str, int]:
    """The handles of the functions whose address code or variables of the module take, by name, ascending.

    It is read off the text: bodies are not parsed."""
    found = taken(module)
    checksum = 0
    for function in module.functions.values():
        checksum = zlib.crc32(function.text.encode(), checksum)
    names = [name for name in module.functions if name in found and has_body(module, name)]
    return {name: (checksum << MODULE) + (number << STEP) for number, name in enumerate(names, 1)}


def taken(module: Module) -> set[str]:
    """The names that variables hold, or bodies mention other than as callees."""
    names: set[str] = set()
    for var in module.variables.values():
        names.update(module.aliases.get(e.name, e.name) for e in var.init or () if isinstance(e, InitSym))
    for function in module.functions.values():
        names.update(module.aliases.get(name, name) for name in _named(function))
    return names


def has_body(module: Module, name: str) -> bool:
    """Whether `name` is a .func that the module defines."""
    function = module.functions.get(name)
    return function is not None and function.kind != "entry" and bool(function.text)


def _named(function: Function) -> set[str]:
    """What a body names, but as the callee of a call."""
    return set(_WORD.findall(_CALL.sub(" ", function.text)))


def function_at(fn: FunctionLowering, handle: Val) -> Val:
    """The address of the function with a handle (an i64)."""
    known = fn.module.handles
    first = min(known.values(), default=0)
    place = fn.op("i64", f"sub {handle.t}, {first}")
    number = fn.call("llvm.fshr.i64", "i64", place, place, fn.const("i64", STEP))
    found, unknown = fn.block("function"), fn.block("unknown")
    fn.branch(fn.op("i1", f"icmp ult {number.t}, {len(known)}"), found, unknown)
    fn.label(unknown)
    fn.trap()
    fn.do("unreachable")
    fn.label(found)
    table = fn.module.function_table(fn)
    at = fn.op(table.ty, f"getelementptr inbounds ptr, {table.t}, {number.t}")
    return fn.op("ptr", f"load ptr, {at.t}, align 8, !invariant.load !0")
