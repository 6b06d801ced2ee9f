"""Row syntax compiled: "ld.[cop:ca|cg].{t:u32|f32}" -> fields, and opcode words matched against them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

# Mnemonics whose first words are part of the name: they stand in their place, the rest in any order.
COMPOUND = set(
    "mul mad mul24 mad24 madc shf dp2a dp4a bar barrier fence createpolicy mbarrier cp tex txq suld sust sured brx "
    "pmevent tensormap multimem wgmma wmma tcgen05 clusterlaunchcontrol bfind prefetch griddepcontrol setmaxnreg".split()
)
_NOT_NAME = ("sync", "aligned")
_TYPE = re.compile(
    r"(pred|[bsu](8|16|32|64|128)|[su]4|b1|b4|b6|t?f(16|32|64)(x2)?|bf16(x2)?|[us]16x2|u?e\d+m\d+(x\d)?)\Z"
)


class Field(NamedTuple):
    """A place in the opcode. A literal word is a field without a name and with one choice."""

    name: str
    choices: tuple[tuple[str, ...], ...]
    optional: bool

    def __str__(self) -> str:
        return "|".join("." + ".".join(choice) for choice in self.choices)


@cache
def fields(syntax: str) -> tuple[Field, ...]:
    """The fields of a row's syntax after the mnemonic.

    Raises ValueError for a row that is not well formed."""
    found = []
    for item in split_outside(syntax, ".")[1:]:
        if item[0] in "{[":
            name, colon, choices = item[1:-1].partition(":")
            if not colon or item[-1] != {"{": "}", "[": "]"}[item[0]] or not name.isidentifier():
                raise ValueError(f"malformed field {item!r} in {syntax!r}")
            options = tuple(tuple(choice.split(".")) for choice in choices.split("|"))
            found.append(Field(name, options, item[0] == "["))
        else:
            found.append(Field("", ((item,),), False))
    return tuple(found)


def split_outside(text: str, separator: str) -> list[str]:
    """Split at a separator that stands outside all brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "{[(":
            depth += 1
        elif char in "}])":
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts


def in_order(syntax: tuple[Field, ...], words: tuple[str, ...]) -> dict[str, str] | None:
    """Field values when the words stand in the row's order, else None."""

    def walk(index: int, at: int) -> dict[str, str] | None:
        if index == len(syntax):
            return {} if at == len(words) else None
        field = syntax[index]
        for choice in field.choices:
            if words[at : at + len(choice)] == choice:
                rest = walk(index + 1, at + len(choice))
                if rest is not None:
                    return _with(rest, field, ".".join(choice))
        if field.optional:
            rest = walk(index + 1, at)
            return None if rest is None else _with(rest, field, "")
        return None

    return walk(0, 0)


def any_order(mnemonic: str, syntax: tuple[Field, ...], words: tuple[str, ...]) -> dict[str, str] | None:
    """Field values when the words can be dealt to the fields in some order, else None. Types keep their order
    among each other, and so do fields that compete for the same words."""

    def walk(index: int, left: tuple[str, ...]) -> dict[str, str] | None:
        if index == len(syntax):
            return None if left else {}
        field = syntax[index]
        for at, choice in sorted(_occurrences(field, left)):
            if _TYPE.match(choice[0]) and any(_TYPE.match(word) for word in left[:at]):
                continue
            rest = walk(index + 1, left[:at] + left[at + len(choice) :])
            if rest is not None:
                return _with(rest, field, ".".join(choice))
        if field.optional:
            rest = walk(index + 1, left)
            return None if rest is None else _with(rest, field, "")
        return None

    if mnemonic in COMPOUND:
        fixed = 0
        while fixed < len(syntax) and not syntax[fixed].name and syntax[fixed].choices[0][0] not in _NOT_NAME:
            fixed += 1
        if fixed == 0 and syntax and not syntax[0].optional and syntax[0].name != "rnd":
            fixed = 1
        if not any(in_order(syntax[:fixed], words[:n]) is not None for n in range(len(words) + 1)):
            return None
    return walk(0, words)


def _occurrences(field: Field, words: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    for choice in field.choices:
        for at in range(len(words) - len(choice) + 1):
            if words[at : at + len(choice)] == choice:
                yield at, choice
                break


def _with(rest: dict[str, str], field: Field, value: str) -> dict[str, str]:
    return {field.name: value, **rest} if field.name else rest
