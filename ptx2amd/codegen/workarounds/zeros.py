"""A work-around for LLVM 22: pairs of 16-bit floats of which one is -0.0.

AMDGPU forms a pair of a value and the constant 0.0 by clearing the other half of the register that holds the value.
LLVM wrongly does the same for -0.0 (and for 0x8000 of 16-bit integers, once the pair is one of floats). Therefore a
-0.0 that is inserted into a vector beside other values is taken from a register."""

from __future__ import annotations

import re

from ptx2amd.codegen.workarounds.records import Module
from ptx2amd.regex import regex

_BAD = {"half": "0xH8000", "bfloat": "0xR8000", "i16": "-32768"}
_ZERO = r"(?:half 0xH8000|bfloat 0xR8000|i16 -32768)\b"
_TEXT = regex(_ZERO)
_SCALAR = regex(rf", ({_ZERO}), i(?:32|64) \d+")
_VECTOR = regex(r"<(\d+) x (half|bfloat|i16)> (<[^<>]*>|splat \((?:half|bfloat|i16) [^()]*\))")


def rewrite(module: Module) -> None:
    """Put such constants into registers."""
    count = 0

    def change(line: str) -> list[str]:
        nonlocal count
        if not (" = insertelement <" in line or " = shufflevector <" in line) or not _TEXT.search(line):
            return [line]
        before: list[str] = []
        line = _in_registers(line, before, count)
        count += len(before)
        return [*before, line]

    module.replace(change)


def _in_registers(line: str, before: list[str], count: int) -> str:
    """The line with other operands, which the lines `before` make. count: how many names are taken."""

    def define(text: str) -> str:
        name = f"%ptx2amd.zero.{count + len(before)}"
        before.append(f"  {name} = {text}")
        return name

    def zero(element: str) -> str:
        register = define('call i32 asm "", "=v,0"(i32 32768)')
        bits = define(f"trunc i32 {register} to i16")
        return bits if element == "i16" else define(f"bitcast i16 {bits} to {element}")

    def scalar(found: re.Match[str]) -> str:
        element = found[1].partition(" ")[0]
        return found[0].replace(found[1], f"{element} {zero(element)}")

    def vector(found: re.Match[str]) -> str:
        size, element, text = int(found[1]), found[2], found[3]
        parts = [text[7:-1]] * size if text[0] == "s" else text[1:-1].split(", ")
        places = [i for i in range(size) if parts[i] == f"{element} {_BAD[element]}"]
        if not places:
            return found[0]
        for i in places:
            parts[i] = f"{element} poison"
        ty = f"<{size} x {element}>"
        value = f"<{', '.join(parts)}>"
        for i in places:
            value = define(f"insertelement {ty} {value}, {element} {zero(element)}, i64 {i}")
        return f"{ty} {value}"

    return _VECTOR.sub(vector, _SCALAR.sub(scalar, line))
