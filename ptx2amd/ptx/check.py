"""Operands against the types of a row, as ptxas judges them. Kinds are those of ptx/scope.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ptx2amd.isa.effects import ADDRESS_32, ADDRESS_64, SPACES, SPECIALS, WHOLE, WIDER
from ptx2amd.isa.form import Form
from ptx2amd.isa.match import MatchError, matches
from ptx2amd.isa.operands import Slot, align, slots
from ptx2amd.ptx.ast import Operand, Shape
from ptx2amd.regex import regex

COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4}
IMAGES = ("texture", "surface")  # memory that is reached by objects, not by addresses
# Types that live in untyped registers only.
_STORAGE = {
    **dict.fromkeys(("bf16", "ue8m0x2", "e4m3x2", "e5m2x2", "ue4m3x2", "s2f6x2"), "b16"),
    **dict.fromkeys(("e2m3x2", "e3m2x2", "e2m1x4"), "b16"),
    **dict.fromkeys(("bf16x2", "tf32", "s16x2", "u16x2", "u8x4", "s8x4"), "b32"),
    **dict.fromkeys(("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"), "b32"),
    **dict.fromkeys(("f32x2",), "b64"),
    **dict.fromkeys(("e2m1x2",), "b8"),
    **dict.fromkeys(("e4m3", "e5m2"), "b8"),
}
_NO_CONSTANTS = {"f16", "f16x2", *(t for t in _STORAGE if t not in ("e4m3", "e5m2"))}
_TYPE = regex(r"(b|s|u|f)(\d+)(x2)?\Z")


class Fix(NamedTuple):
    """Adjustments to statements of a shape: constants are converted to their operand's type."""

    constants: tuple[tuple[int, str], ...]  # (operand index, type)


def resolve(opcode: str, operands: tuple[Operand, ...], kinds: tuple[str, ...]) -> tuple[Shape, Fix]:
    """The row of a statement: the first that matches its syntax and the types of its operands.

    Raises MatchError: as match does, or with the first candidate row's objection."""
    first: MatchError | None = None
    for shape in matches(opcode, operands):
        try:
            return shape, judge(shape, operands, kinds)
        except MatchError as error:
            first = first or error
    assert first is not None
    raise first


def judge(shape: Shape, operands: tuple[Operand, ...], kinds: tuple[str, ...]) -> Fix:
    """Check the kinds of a matched statement. Raises MatchError with the index of the operand at fault."""
    row = align(slots(shape.form.operands), operands, shape.mods)
    assert row is not None
    relaxed = bool(shape.form.takes & WIDER) and not _exact(shape.mods)
    fixes: list[tuple[int, str]] = []
    flat = list(flat_kinds(kinds))
    for at, (index, kind) in enumerate(flat):
        slot, ptype = row[at][0], shape.types[at]
        if kind == "_" and slot.kind in ("value", "vec") and ptype != "_":
            paired = [i for i, _ in flat].count(index) > 1
            problem = "" if _discards(shape.form, slot, paired) else "must not be discarded"
        else:
            problem = _problem(slot, ptype, kind, shape, relaxed)
        if problem:
            raise MatchError(f"operand {index + 1} of '{shape.opcode}' ({slot.name}) {problem}", index)
        if _converts(kind, ptype):
            fixes.append((at, ptype))
    return Fix(tuple(fixes))


def flat_kinds(kinds: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """(index in the source, kind), with pairs taken apart."""
    for index, kind in enumerate(kinds):
        if "|" in kind and not kind.startswith("%"):
            yield from ((index, part) for part in kind.split("|"))
        else:
            yield index, kind


def _exact(mods: dict[str, str]) -> bool:
    """Whether registers must have exactly the instruction type's width: conversions from or to bf16, tf32 and the
    small types."""
    return "small" in mods or "bf16" in (mods.get("t"), mods.get("a")) or mods.get("t") == "tf32"


def _problem(slot: Slot, ptype: str, kind: str, shape: Shape, relaxed: bool) -> str:
    """What is wrong with an operand, as the end of a sentence, or ""."""
    mods, takes = shape.mods, shape.form.takes
    if slot.kind in _LABELS:
        return "" if kind in _LABELS[slot.kind] else f"must be {slot.expected}"
    if kind == "&?":
        return "is not declared"
    if slot.kind in ("addr", "addr*"):
        if kind == "[_]":
            return "must be an address"
        if shape.form.memory in IMAGES:
            return _image_problem(kind, mods)
        base, *rest = re.findall(r"[^][{}, ]+", kind) or [""]
        if takes & SPACES and (problem := _copy_problem(slot, base, len(rest), shape)):
            return problem
        own = {} if takes & SPACES else mods  # of a copy's two spaces, `_copy_problem` knows which is whose
        return _address_problem(base, takes, own) or _coordinates_problem(rest, "s32")
    if slot.symbol and kind[0] == "&":
        space = mods.get("space", "").partition("::")[0]
        if space and kind in ("&global", "&const", "&shared", "&local") and kind[1:] != space:
            return f"is a variable in .{kind[1:]}, not in .{space}"
        return "" if kind in _VARIABLES else "must be a variable"
    if kind[0] == "-":
        if not slot.minus:
            return "must not be negated"
        kind = kind[1:]
    if slot.kind in ("value", "vec") and ptype and ptype != "_":
        by_field = slot.type.strip("2*/48") in mods  # types that are written out take no floating-point bits
        if kind[0] not in "%#{!" and ("." in kind) > slot.part:
            return "must be a whole register"
        if slot.part and slot.destination and "." not in kind:
            return "must select a part of the register"
        if "_" in kind[1:-1].split(","):
            if slot.destination and takes & WHOLE:
                return "must not be discarded"
            if slot.kind == "vec" and not slot.destination and slot.name not in shape.form.discards.split():
                return "must not be discarded: it is a source"
        if slot.destination and "%" in kind:
            return "must not be a special register: these are read only"
        if kind[0] == "!" and slot.destination:
            return "must be a register that is not negated"
        if "#f" in kind and not by_field and (ptype == "b64" or (ptype[0] == "b" and kind[0] == "{")):
            return f"must be a register or an integer of type .{ptype}"
        return _value_problem(kind, ptype, by_field and bool(takes & SPECIALS), by_field and relaxed)
    return ""


def _copy_problem(slot: Slot, base: str, coordinates: int, shape: Shape) -> str:
    """A tensor map has a coordinate for each dimension, or a row's and four others; variables of a copy lie in the
    spaces that the opcode names, destination first."""
    mods = shape.mods
    if slot.kind == "addr*":
        wanted = 5 if "4" in mods.get("mode", "") else int(mods["dim"][0])
        return "" if coordinates == wanted else f"needs {wanted} coordinates, found {coordinates}"
    spaces = [word.split("::")[0] for word in shape.opcode.split(".") if word.startswith(("global", "shared"))]
    at = "ab".find(slot.name)
    if base in ("&global", "&shared", "&const", "&local") and 0 <= at < len(spaces) and base[1:] != spaces[at]:
        return f"is a variable in {base.replace('&', '.')}, not in .{spaces[at]}"
    return ""


def _image_problem(kind: str, mods: dict[str, str]) -> str:
    """`[image]`, `[image,{x,y}]`: an object or reference, and coordinates of 32 bits."""
    base, *rest = re.findall(r"[^][{}, ]+", kind)
    if base[0] == "&" and base != "&tex":
        return "is declared, but no texture or surface" if base != "&?" else "is not declared"
    if base[0] == "#" or (base[0] not in "&%" and _bits(base) != 64):
        return "needs a 64-bit register or a reference as its object"
    if len(rest) < COORDINATES.get(mods.get("geom", ""), 0):
        return f"has too few coordinates for .{mods['geom']}: {len(rest)}"
    if mods.get("geom", "")[:1] == "a" and rest[:1] != ["_"]:  # a layer's number stands in front
        return _coordinates_problem(rest[:1], "u32") or _coordinates_problem(rest[1:], "f32")
    return _coordinates_problem(rest, mods.get("ct", "f32"))


def _coordinates_problem(kinds: list[str], ptype: str) -> str:
    """Coordinates are of 32 bits and of one kind, unless one is untyped; none are floats where `ptype` is not."""
    for kind in kinds:
        if kind == "_" or (kind[0] not in "#&%" and _bits(kind) != 32):
            return f"has a coordinate that is no 32-bit register, found {kind}"
    found = {"f" if kind[0] == "f" else "i" for kind in kinds if kind[0] in "fus"}
    if "b" in {kind[0] for kind in kinds} or not found:
        return ""
    if len(found) > 1:
        return "has coordinates of different types"
    return "" if found == {"i"} or ptype[0] == "f" else f"has coordinates that are not of type .{ptype}"


def _discards(form: Form, slot: Slot, paired: bool) -> bool:
    """Whether a destination may be `_`. (Some of the elements of a destination list always may.)"""
    names = form.discards.split()
    return slot.destination and (slot.name in names or (paired and f"{slot.name}|" in names))


# The kinds that label slots take.
_LABELS = {"label": ("&label", "&?"), "targets": ("&targets",), "proto": ("&proto", "&targets")}
_VARIABLES = ("&global", "&const", "&shared", "&local", "&param", "&func", "&entry", "&tex")
_NARROW = {"b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32"}
_SPACE = regex(r"(global|const|shared|local|param)\b")


def _address_problem(base: str, takes: int, mods: dict[str, str]) -> str:
    if base == "&?":
        return "is not declared"
    space = _SPACE.match(mods.get("space", ""))
    if base[0] == "&":
        own = base[1:]
        if own in ("func", "entry", "label"):
            return "must be the address of a variable"
        if own == "param" and not (space and space[1] == "param"):
            return "is a parameter: only .param accesses reach it"
        if space and own in ("global", "const", "shared", "local", "param") and own != space[1]:
            return f"is a variable in .{own}, not in .{space[1]}"
        return ""
    if base[0] == "#":
        local = mods.get("space", "") == "local" and base[1] == "i"
        return "" if local else "is a constant: immediate addresses are for .local only"
    if takes & ADDRESS_32 and base in _NARROW - {"b32", "u32", "s32"}:
        return f"needs a 32-bit or 64-bit register as address, found a .{base} register"
    if takes & ADDRESS_64 and base in _NARROW and mods.get("space", "") in ("", "global"):
        return f"needs a 64-bit register as address, found a .{base} register"
    if base[:1] == "f" or base in ("pred", "b128") or "*" in base or base[0] in "%_!":
        return "needs an integer register as address"
    return ""


def _value_problem(kind: str, ptype: str, specials: bool, relaxed: bool) -> str:
    if kind[0] == "{":
        return _list_problem(kind[1:-1].split(","), ptype, specials, relaxed)
    if kind[0] == "#":
        return _constant_problem(kind, ptype)
    if kind == "_":
        return ""
    if kind[0] == "%":
        return _special_problem(kind, ptype, specials)
    if kind[0] == "&":
        return "must not be a symbol"
    if kind[0] == "!":
        return "" if ptype == "pred" else f"must be a {ptype} register, found a negated predicate"
    base = kind.split(".")[0]  # `r.b0`: a part of r
    return "" if register_fits(base, ptype, relaxed) else f"must be of type .{ptype}, found a .{kind} register"


def _list_problem(kinds: list[str], ptype: str, specials: bool, relaxed: bool) -> str:
    """Elements of a list have one width; an untyped one among them makes the list untyped."""
    registers = {kind for kind in kinds if kind != "_" and kind[0] != "#"}
    for kind in kinds:
        if kind[0] == "#" and _constant_problem(kind, ptype):
            return _constant_problem(kind, ptype)
    if not registers and "_" in kinds:
        return "must not be discarded"
    if len({_bits(kind) for kind in registers}) > 1:
        return f"is a list of registers of different widths ({', '.join(sorted(registers))})"
    untyped = [kind for kind in registers if kind[0] == "b"]
    for kind in untyped[:1] or registers:
        problem = _value_problem(kind, ptype, specials, relaxed)
        if problem:
            return problem
    return ""


def _constant_problem(kind: str, ptype: str) -> str:
    letter = ptype[:1]
    if ptype in _NO_CONSTANTS:
        return f"must be a register: there are no constants of type .{ptype}"
    if kind[1] == "i":
        return f"must be a .{ptype} constant, found an integer" if letter == "f" or ptype[:2] == "bf" else ""
    if letter in "su" or ptype == "pred":
        return f"must be an integer, found a floating-point constant of type .{ptype}"
    if letter == "b" and ptype[:2] != "bf" and _bits(ptype) != int(kind[2:]):
        return f"must be of type .{ptype}, found a .{kind[1:]} constant"
    return ""


def _special_problem(kind: str, ptype: str, specials: bool) -> str:
    if not specials:
        return "must not be a special register: only mov and cvt read them"
    if kind == "%pred":
        return "" if ptype == "pred" else f"must be of type .{ptype}, found a predicate"
    if "*" in kind:
        return "must be one component (.x, .y ...) of this special register"
    widths = kind[1:].split("*")[0].split("|")
    fits = (
        ptype[:1] in "bsu" and ptype[1:].isdigit() and (ptype[1:] in widths or (ptype[1:] == "16" and "32" in widths))
    )
    return "" if fits else f"must be of type .{ptype}, found a special register of {widths[-1]} bits"


def _bits(ptype: str) -> int:
    ptype = _STORAGE.get(ptype, ptype)
    found = _TYPE.match(ptype.split(".")[0].split("*")[0])
    return int(found[2]) * (2 if found[3] else 1) if found else 1 if ptype == "pred" else 0


def register_fits(register: str, ptype: str, relaxed: bool = False) -> bool:
    """Whether a register of one type may stand for an operand of another (relaxed: a wider one too)."""
    register = register.split("*")[0]
    if register == "pred" or ptype == "pred":
        return register == ptype
    storage = _STORAGE.get(ptype)
    if storage is not None:
        return register == storage
    if not _bits(ptype):
        return True
    wide, narrow = _bits(register), _bits(ptype)
    if wide != narrow and not (wide > narrow and relaxed):
        return False
    if ptype[0] == "f":
        return register == ptype or (register[0] == "b" and wide <= max(narrow, 64))
    if ptype[0] == "b" or register[0] == "b":
        return True
    return register[0] in "su"


def _converts(kind: str, ptype: str) -> bool:
    """Whether a constant of this kind has to be converted to the operand's type."""
    if kind[:1] == "{":
        return any(_converts(part, ptype) for part in kind[1:-1].split(","))
    if kind[:1] != "#":
        return False
    if kind[1] == "f":
        return ptype in ("f32", "f64") and kind[1:] != ptype
    return ptype[:1] in "bsu" and ptype[1:].isdigit() and int(kind[2:]) > int(ptype[1:])
