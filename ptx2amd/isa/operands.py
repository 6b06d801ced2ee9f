"""Row operands compiled: "d:t|p:pred?, {a}:t, [b], c:imm?" -> Slots, and source operands matched against them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.isa.syntax import split_outside
from ptx2amd.ptx.ast import Addr, Imm, Operand, Pair, Reg, Sym, Vec
from ptx2amd.regex import regex


class Slot(NamedTuple):
    """One operand of a row. kind: "value", "vec", "addr", "addr*", "list", "label", "targets", "proto", "sym", "imm",
    "any", "pair", "rest" (all operands that are left)."""

    kind: str
    name: str
    type: str = ""
    optional: bool = False
    when: str = ""  # the field whose presence decides on the operand's
    negatable: bool = False
    minus: bool = False  # `-r` may stand there
    symbol: bool = False  # a symbol may stand for the value
    size: int | None = None  # of a brace list; None: as the field `vec` says; -1: any
    columns: int = 0  # of the shape for each element of a brace list, where they decide on its size
    second: Slot | None = None  # of a pair
    part: bool = False  # `r.b0`: sources may, destinations must select a part of the register

    @property
    def destination(self) -> bool:
        return self.name in DESTINATIONS

    @property
    def expected(self) -> str:
        """What the slot takes, for messages."""
        if self.kind == "value":
            if self.type == "_":
                return "the discarded destination, '_'"
            more = "" if self.destination else " or symbol" if self.symbol else " or constant"
            return f"a {self.type} register{more}"
        return {
            "vec": "a brace list",
            "addr": "an address in brackets",
            "addr*": "an address in brackets",
            "list": "a list in parentheses",
            "label": "a label",
            "targets": "a list declared with .branchtargets",
            "proto": "a .callprototype or .calltargets list",
            "sym": "a symbol",
            "imm": "a constant",
            "any": "an operand",
            "pair": "a register pair",
        }[self.kind]


_SLOT = regex(
    r"([!-]?)(?:\{(\w+)(?:\*(\d+|\?|n/\d))?\}|\[(\w+)(,\*)?\]|\((\w+)\)|(\w+)(\.)?)(?::([^?]+))?(?:(\?)(\w+)?)?$"
)
_LABELS = ("label", "targets", "proto")
_KINDS = {*_LABELS, "sym", "imm", "any"}


@cache
def slots(operands: str) -> tuple[Slot, ...]:
    """The operand slots of a row. Raises ValueError when it is not well formed."""
    if operands == "*":
        return (Slot("rest", "rest", optional=True),)
    return tuple(_slot(part.strip()) for part in split_outside(operands, ",")) if operands.strip() else ()


def _slot(text: str) -> Slot:
    first, *second = split_outside(text, "|")
    if second:
        if len(second) > 1:
            raise ValueError(f"malformed operand {text!r}")
        return Slot("pair", first, second=_slot(second[0]))
    found = _SLOT.match(text)
    if not found:
        raise ValueError(f"malformed operand {text!r}")
    sign, vec, count, addr, rest, args, name, part, ptype, optional, when = found.groups()
    slot = Slot(
        *("value", vec or addr or args or name, ptype or "", bool(optional), when or "", sign == "!", sign == "-"),
        part=bool(part),
    )
    if vec:
        if count is not None and count[0] == "n":
            return slot._replace(kind="vec", columns=int(count[2:]))
        return slot._replace(kind="vec", size=None if count is None else -1 if count == "?" else int(count))
    if addr:
        return slot._replace(kind="addr*" if rest else "addr")
    if args:
        return slot._replace(kind="list")
    if slot.type in _KINDS:
        return slot._replace(kind=slot.type, type="")
    if slot.type.endswith("+sym"):
        return slot._replace(type=slot.type[:-4], symbol=True)
    if not slot.type:
        raise ValueError(f"operand {text!r} has no type")
    return slot


_WIDER = {"f16": "f32", "bf16": "f32", "f16x2": "f32x2"}
_HALVES = {"f32": "f16", "f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32", "u16x2": "u16", "s16x2": "s16"}


def resolve(ptype: str, mods: dict[str, str]) -> str:
    """A row's type expression under given field values: "t" -> "u32", "2*t" -> "u64", "t/2" -> "u16"."""
    if ptype.startswith("2*"):
        inner = resolve(ptype[2:], mods)
        return _WIDER.get(inner) or (f"{inner[0]}{2 * int(inner[1:])}" if inner else "")
    if "/" in ptype:
        base, divisor = ptype.split("/")
        inner = resolve(base, mods)
        if not inner or divisor == "1":
            return inner
        return _HALVES.get(inner) or f"{inner[0]}{int(inner[1:]) // int(divisor)}"
    return mods.get(ptype, ptype)


_VEC = {"": 1, "v2": 2, "v4": 4, "v8": 8, "v16": 16, "v32": 32}


def length(slot: Slot, mods: dict[str, str]) -> int:
    """How many elements a brace list has; -1: any number."""
    if slot.columns:  # of a shape m64n8k16
        return int(mods["shape"].partition("n")[2].partition("k")[0]) // slot.columns
    return _VEC.get(mods.get("vec", ""), 1) if slot.size is None else slot.size


def fits(slot: Slot, operand: Operand, mods: dict[str, str]) -> bool:
    """Whether the operand is of the slot's kind (registers are not judged by type here)."""
    kind = slot.kind
    if kind == "value":
        return _value_fits(slot, operand, resolve(slot.type, mods))
    if kind == "vec":
        count = length(slot, mods)
        element = slot._replace(kind="value")
        ptype = resolve(slot.type, mods)
        if isinstance(operand, Vec):
            return (count == -1 or (len(operand.items) == count and (count > 1 or slot.size == 1))) and all(
                _value_fits(element, item, ptype) for item in operand.items
            )
        return count in (1, -1) and _value_fits(element, operand, ptype)
    if kind == "addr":
        return isinstance(operand, Addr) and not operand.rest
    if kind == "addr*":
        return isinstance(operand, Addr)
    if kind == "list":
        return isinstance(operand, Vec)
    if kind == "sym" or kind in _LABELS:
        return isinstance(operand, Sym)
    if kind == "imm":
        return isinstance(operand, Imm)
    if kind == "any":
        return isinstance(operand, Reg | Imm | Sym)
    return False


def _value_fits(slot: Slot, operand: Operand, ptype: str) -> bool:
    if ptype == "_":
        return isinstance(operand, Reg) and operand.name == "_"
    if slot.symbol and isinstance(operand, Sym):
        return True
    if isinstance(operand, Reg):
        return not operand.negated or slot.negatable or slot.minus or ptype == "pred"
    if slot.destination or not isinstance(operand, Imm):
        return False
    if ptype[:1] in "us" and ptype != "":
        return operand.kind in "us"
    if ptype[:1] in "f" or ptype.startswith("bf"):
        return operand.kind in ("f32", "f64")
    return True


def align(
    row: tuple[Slot, ...], operands: tuple[Operand, ...], mods: dict[str, str]
) -> list[tuple[Slot, Operand]] | None:
    """Which slot each operand goes to (pairs taken apart), or None when the operands do not fit the row."""

    def walk(index: int, at: int) -> list[tuple[Slot, Operand]] | None:
        if index == len(row):
            return [] if at == len(operands) else None
        slot = row[index]
        if slot.when and not mods.get(slot.when):
            return walk(index + 1, at)
        if slot.kind == "rest":
            left = [(o.first, o.second) if isinstance(o, Pair) else (o,) for o in operands[at:]]
            return [(slot, part) for parts in left for part in parts]
        if at < len(operands):
            taken = _take(slot, operands[at], mods)
            if taken is not None:
                rest = walk(index + 1, at + 1)
                if rest is not None:
                    return taken + rest
        return walk(index + 1, at) if slot.optional and not slot.when else None

    return walk(0, 0)


def _take(slot: Slot, operand: Operand, mods: dict[str, str]) -> list[tuple[Slot, Operand]] | None:
    if slot.kind == "pair":
        first, second = _slot(slot.name), slot.second
        assert second is not None
        if isinstance(operand, Pair):
            parts: list[tuple[Slot, Operand]] = [(first, operand.first), (second, operand.second)]
            return parts if all(fits(s, o, mods) for s, o in parts) else None
        return [(first, operand)] if second.optional and fits(first, operand, mods) else None
    return [(slot, operand)] if fits(slot, operand, mods) else None
