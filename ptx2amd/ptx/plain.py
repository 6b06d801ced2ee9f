"""What compilers print, read without the grammar: each function agrees with it, or gives None for what it does not
know, which the grammar then reads. So small kernels need not wait for Lark's tables."""

from __future__ import annotations

import re

from ptx2amd.ptx.ast import Var
from ptx2amd.ptx.fragment import Name, Two
from ptx2amd.ptx.variables import MOST_ALIGNED
from ptx2amd.regex import regex

_NUMBER, _NAMED = r"(?:0|[1-9]\d*)", r"[A-Za-z_$%][\w$]*"
_VERSION = regex(r"\.version\s+(\d+)\.(\d+)\Z", re.A)
_TARGET = regex(rf"\.target\s+({_NAMED}(?:\s*,\s*{_NAMED})*)\Z", re.A)
_SIZE = regex(r"\.address_size\s+(32|64)\Z", re.A)
_TYPE = r"\.(pred|[bsu](?:8|16|32|64)|b128|f16x2|f16|f32|f64|texref|samplerref|surfref)"
_DECLARATION = regex(
    rf"(?:\.(extern|visible|weak|common)\s+)?\.(reg|const|global|local|param|shared)\s+"
    rf"(?:\.align\s+({_NUMBER})\s+)?(?:\.v([24])\s+)?{_TYPE}\s+\Z",
    re.A,
)
_REGISTERS = regex(rf"\.reg[ \t]+{_TYPE}[ \t]+({_NAMED}(?:[ \t]*,[ \t]*{_NAMED})+)[ \t]*;\Z", re.A)
_PARAMETER = regex(
    rf"\.(param|reg)\s+(?:\.align\s+({_NUMBER})\s+)?{_TYPE}\s+"
    rf"(\.ptr\s+(?:\.(const|global|local|param|shared)\s+)?(?:\.align\s+({_NUMBER})\s+)?)?\Z",
    re.A,
)
_OPERAND = regex(rf"(!?)({_NAMED})(?:\|({_NAMED}))?\Z", re.A)
_WORD = r"[!-]?x"
_ADDRESS = r"\[x(?:\s*\+\s*-?x)?\]|\[x(?:, (?:x|\{x(?:, x)*\}))+\]"
_LAYOUT = regex(rf"(?:{_WORD}|(?:x|\{{{_WORD}(?:,\s*{_WORD})*\}})\|x|\{{{_WORD}(?:,\s*{_WORD})*\}}|{_ADDRESS})\Z")
_ARGUMENTS = rf"\(\s*(?:{_WORD}\s*(?:,\s*{_WORD}\s*)*)?\)"
_CALL = regex(rf"(?:{_ARGUMENTS};)?x(?:;{_ARGUMENTS})?(?:;x)?\Z")


def version(text: str) -> tuple[int, int] | None:
    """`.version 8.0`"""
    found = _VERSION.match(text)
    return (int(found[1][:9]), int(found[2][:9])) if found else None


def targets(text: str) -> list[str] | None:
    """`.target sm_80, debug`"""
    found = _TARGET.match(text)
    return [name.strip() for name in found[1].split(",")] if found else None


def address_size(text: str) -> str | None:
    """`.address_size 64`"""
    found = _SIZE.match(text)
    return found and found[1]


def declared(qualifiers: str, start: str) -> Var | None:
    """The variable that qualifiers declare, `.visible .global .align 4 .b8 `, without name and size.

    start: "declaration" or "parameter"."""
    if start == "declaration":
        found = _DECLARATION.match(qualifiers)
        if found is None or not _aligns(found[3]):
            return None
        linkage, space, align, vec, ptype = found.groups()
        return Var(space, ptype, "x", align=int(align or 0), vec=int(vec or 1), linkage=linkage or "", line=1)
    found = _PARAMETER.match(qualifiers.lstrip())
    if found is None or not (_aligns(found[2]) and _aligns(found[6])):
        return None
    space, align, ptype, pointer, where, aligned = found.groups()
    attrs = {"ptr": where or ""} if pointer else {}
    if aligned:
        attrs["align"] = str(int(aligned))
    return Var(space, ptype, "x", align=int(align or 0), attrs=attrs, line=1)


def registers(text: str, line: int) -> list[Var] | None:
    """`.reg .f16 low, high;`"""
    found = _REGISTERS.match(text)
    return [Var("reg", found[1], name.strip(), line=line) for name in found[2].split(",")] if found else None


def _aligns(number: str | None) -> bool:
    """Whether an alignment is none, or one that may be."""
    value = int(number or 1)
    return 0 < value <= MOST_ALIGNED and not value & (value - 1)


def operand(text: str) -> Name | Two | None:
    """`!%p1`, `%r1|%p1`"""
    found = _OPERAND.match(text)
    if found is None or bool(found[1]) == bool(found[3]):
        return None
    return Two(Name(found[2]), Name(found[3])) if found[3] else Name(found[2], "!")


def layout(call: bool, parts: tuple[str, ...]) -> bool:
    """Whether a statement may have these operands, names and numbers of which are `x`."""
    return bool(_CALL.match(";".join(parts))) if call else all(map(_LAYOUT.match, parts))
