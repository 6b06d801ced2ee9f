"""What fragments of a module become that are not resolved yet: names are still text, which the scope resolves."""

from __future__ import annotations

from typing import Any, NamedTuple

from ptx2amd.ptx.ast import Imm, Proto


class Name(NamedTuple):
    """A name as an operand, "%r1", "%tid.x"; prefix "!" or "-"."""

    text: str
    prefix: str = ""


class Offset(NamedTuple):
    name: str
    offset: int


class Element(NamedTuple):
    """`array[3]`: the address of an element."""

    name: str
    number: int


class Memory(NamedTuple):
    base: Name | Offset | Imm
    rest: tuple[Any, ...] = ()


class Items(NamedTuple):
    """`{a, b}`, and `(a, b)` of calls."""

    items: tuple[Any, ...]


class Two(NamedTuple):
    """`d|p` or `{d, e}|p`."""

    first: Name | Items
    second: Name


class Statement(NamedTuple):
    guard: tuple[str, bool] | None
    opcode: str
    operands: tuple[Any, ...]
    line: int
    call: bool = False


class Block(NamedTuple):
    items: list[Any]


class Head(NamedTuple):
    kind: str
    proto: Proto
    linkage: str
    directives: dict[str, tuple[int, ...]]
    pragmas: list[str]
