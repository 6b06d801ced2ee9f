"""The lower half of a product whose upper half is wanted too, as in random generators and long integers.

One machine instruction makes a product of two 32-bit numbers with all 64 bits. Where PTX has a product of 32 bits and
one of 64 bits of the same operands, LLVM makes two. So the first becomes the lower half of the second, if that is in
the same block; LLVM then finds the equal products. Where the wide product is not only taken apart, but added to
something, the addition is in its instruction already, and the products stay separate."""

from __future__ import annotations

import re
from itertools import count

from ptx2amd.codegen.workarounds.records import Block, Function, Module
from ptx2amd.records import dataclass
from ptx2amd.regex import regex

_EXTENDED = regex(r"  (%[\w.]+) = ([sz]ext) (?:nneg )?i(32|64) (%[\w.]+) to i(?:64|128)\Z")
_PRODUCT = regex(r"  (%[\w.]+) = mul (?:nuw |nsw )*i(32|64|128) (%[\w.]+), (%[\w.]+|-?\d+)\Z")
_NAME = regex(r"%[\w.]+")
_APART = (" = lshr ", " = trunc ")


@dataclass(frozen=True, slots=True)
class Wide:
    """A product of extended numbers. how: zext or sext; number: a constant operand, as the wide type has it."""

    name: str
    how: str
    number: str


@dataclass(frozen=True, slots=True)
class Extended:
    how: str
    bits: int
    value: str


#: Width before the extension, and the operands, sorted.
Key = tuple[int, str, str]


def may_apply(ir: str) -> bool:
    return (" = mul i32 " in ir and " = lshr i64 " in ir) or (" = mul i64 " in ir and " = lshr i128 " in ir)


def rewrite(module: Module) -> None:
    """Take lower halves from wide products."""
    numbers = count()
    for function in module.functions():
        found = [(block, lower) for block in function.blocks if (lower := _lower_halves(block))]
        whole = _used_whole(function) if found else set()
        for block, lower in found:
            for at, (narrow, wide) in reversed(lower.items()):
                if wide.name not in whole:
                    block.lines[at : at + 1] = _taken(narrow, wide, f"%ptx2amd.half.{next(numbers)}")


def _lower_halves(block: Block) -> dict[int, tuple[re.Match[str], Wide]]:
    """Place of a narrow product in the block -> it, and the wide one of the same operands."""
    wide = _wide_products(block)
    narrow = ((at, _PRODUCT.match(line)) for at, line in enumerate(block.lines)) if wide else ()
    keys = ((at, found, _key(int(found[2]), found[3], found[4])) for at, found in narrow if found)
    return {at: (found, wide[key]) for at, found, key in keys if key in wide}


def _wide_products(block: Block) -> dict[Key, Wide]:
    """By their operands before these are extended."""
    extended: dict[str, Extended] = {}
    products: dict[Key, Wide] = {}
    for line in block.lines:
        if "ext " in line and (found := _EXTENDED.match(line)):
            extended[found[1]] = Extended(found[2], int(found[3]), found[4])
        elif (
            " = mul " in line
            and (found := _PRODUCT.match(line))
            and (a := extended.get(found[3]))
            and 2 * a.bits == int(found[2])
        ):
            b = extended.get(found[4]) or _extended_number(found[4], a)
            if b and (b.how, b.bits) == (a.how, a.bits):
                number = "" if found[4] in extended else found[4]
                products[_key(a.bits, a.value, b.value)] = Wide(found[1], a.how, number)
    return products


def _extended_number(text: str, like: Extended) -> Extended | None:
    """A constant as an extended one of fewer bits, if it is one."""
    if text.startswith("%"):
        return None
    sign = 1 << (like.bits - 1)
    narrow = (int(text) + sign) % (2 * sign) - sign  # as LLVM prints it
    same = int(text) == (narrow if like.how == "sext" else narrow % (2 * sign))
    return Extended(like.how, like.bits, str(narrow)) if same else None


def _key(bits: int, a: str, b: str) -> Key:
    return bits, min(a, b), max(a, b)


def _used_whole(function: Function) -> set[str]:
    """Values that are not only shifted and truncated."""
    lines = (line.partition(" = ")[2] or line for line in function.lines() if not any(op in line for op in _APART))
    return {name for line in lines for name in _NAME.findall(line)}


def _taken(narrow: re.Match[str], wide: Wide, new: str) -> list[str]:
    """The instructions in place of a narrow product. new: a name that theirs begin with."""
    name, bits, a, b = narrow.groups()
    ty = f"i{2 * int(bits)}"
    second = [] if wide.number else [f"  {new}.b = {wide.how} i{bits} {b} to {ty}"]
    return [
        f"  {new}.a = {wide.how} i{bits} {a} to {ty}",
        *second,
        f"  {new} = mul {ty} {new}.a, {wide.number or f'{new}.b'}",
        f"  {name} = trunc {ty} {new} to i{bits}",
    ]
