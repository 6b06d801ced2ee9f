"""Row syntax compiled: "ld.[cop:ca|cg].{t:u32|f32}" -> fields, and opcode words matched against them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ptx2amd.regex import regex

_TYPE = regex(
    r"(pred|[bsu](8|16|32|64|128)|[su]4|b1|b4|b6|t?f(16|32|64)(x2)?|bf16(x2)?|[us]16x2|[us]8x4|s2f6x2|u?e\d+m\d+(x\d)?|b8x16|b\dx16_p\d+)\Z"
)


_KINDS = (("row", "col"), ("global", "shared", "shared::cta", "shared::cluster"), ("popc", "xor", "and"))


class Field(NamedTuple):
    """A place in the opcode. A literal word is a field without a name and with one choice."""

    name: str
    choices: tuple[tuple[str, ...], ...]
    optional: bool

    def __str__(self) -> str:
        return "|".join("." + ".".join(choice) for choice in self.choices)


REST = Field("*", (), True)  # any further modifiers


@cache
def fields(syntax: str) -> tuple[Field, ...]:
    """The fields of a row's syntax after the mnemonic.

    Raises ValueError for a row that is not well formed."""
    found = []
    for item in split_outside(syntax, ".")[1:]:
        if item == "*":
            found.append(REST)
        elif item[0] in "{[":
            name, colon, choices = item[1:-1].partition(":")
            if not colon or item[-1] != {"{": "}", "[": "]"}[item[0]] or not name.isidentifier():
                raise ValueError(f"malformed field {item!r} in {syntax!r}")
            options = tuple(tuple(choice.split(".")) for choice in choices.split("|"))
            found.append(Field(name, options, item[0] == "["))
        else:
            found.append(Field("", ((item,),), False))
    return tuple(found)


@cache
def _vocabulary(syntax: str) -> frozenset[str] | None:
    """The words that a row's fields know; None: any."""
    found = fields(syntax)
    return None if REST in found else frozenset(word for field in found for choice in field.choices for word in choice)


def takes(syntax: str, words: tuple[str, ...]) -> bool:
    """Whether a row knows all the words: most rows of a mnemonic need no closer look."""
    known = _vocabulary(syntax)
    return known is None or known.issuperset(words)


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
        if field is REST:
            return {}
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


def any_order(syntax: tuple[Field, ...], words: tuple[str, ...], name_words: int = 0) -> dict[str, str] | None:
    """Field values when the words can be dealt to the fields in some order, else None. Types keep their order
    among each other, and so do fields that compete for the same words; the first `name_words` fields stay in front."""

    def walk(index: int, left: tuple[str, ...]) -> dict[str, str] | None:
        if index == len(syntax):
            return None if left else {}
        field = syntax[index]
        if field is REST:
            return {}
        for at, choice in sorted(_occurrences(field, left)):
            if any(_ordered(choice[0], word) for word in left[:at]):
                continue
            rest = walk(index + 1, _without(left, choice))
            if rest is not None:
                return _with(rest, field, ".".join(choice))
        if field.optional:
            rest = walk(index + 1, left)
            return None if rest is None else _with(rest, field, "")
        return None

    for count in range(len(words) + 1 if name_words else 1):
        name = in_order(syntax[:name_words], words[:count])
        rest = None if name is None else walk(name_words, words[count:])
        if name is not None and rest is not None:
            return {**name, **rest}
    return None


def _ordered(word: str, other: str) -> bool:
    """Whether two modifiers are of a kind whose order says which is which: types, matrix layouts, state spaces."""
    if any(word in kind and other in kind for kind in _KINDS):
        return True
    return bool(_TYPE.match(word) and _TYPE.match(other))


def _occurrences(field: Field, words: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(index of the first word, remaining words' choice) for each choice that the words hold."""
    for choice in field.choices:
        if all(word in words for word in choice):
            yield words.index(choice[0]), choice


def _without(words: tuple[str, ...], taken: tuple[str, ...]) -> tuple[str, ...]:
    left = list(words)
    for word in taken:
        if word in left:
            left.remove(word)
    return tuple(left)


def _with(rest: dict[str, str], field: Field, value: str) -> dict[str, str]:
    return {field.name: value, **rest} if field.name else rest
