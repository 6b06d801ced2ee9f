"""Properties of rows other than C statements: handwritten handlers, matrix shapes, memory accesses, branches."""

from __future__ import annotations

import re
from enum import Enum, IntFlag

from ptx2amd.records import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """The handler is the handwritten VG(function); for memory instructions with these arguments after wave and
    instruction. modifies: it applies neg, abs, clamp, op_sel ... itself."""

    function: str
    arguments: tuple[str, ...] = ()
    modifies: bool = False


@dataclass(frozen=True, slots=True)
class Matrix:
    """VG(valu_<kind>) with the shape of a matrix product (runtime/valu/valu_matrix.h). scaled: the preceding
    instruction may supply scales; CBSZ and BLGP determine the number of registers of A and B."""

    kind: str
    m: int
    n: int
    k: int
    blocks: int
    a: str
    b: str
    d: str
    scaled: bool = False


@dataclass(frozen=True, slots=True)
class SmallFloats:
    """VG(valu_<kind>): conversions of `count` values between 8, 6 or 4 bits and wider ones with a scale
    (runtime/valu/valu_scaled.h)."""

    kind: str
    small: str
    wide: str
    count: int
    sources: int
    stochastic: bool


@dataclass(frozen=True, slots=True)
class Prefix:
    """The decoder combines it with the next instruction."""


Meaning = Call | Matrix | SmallFloats | Prefix


class Branch(Enum):
    """How an instruction sets the program counter."""

    RELATIVE = "by its immediate"
    ABSOLUTE = "to an address in registers"


@dataclass(frozen=True, slots=True)
class Order:
    """An instruction's effect on the order of memory operations: it waits for a counter (enum weak_wait of
    runtime/weak/weak.h), controls a cache (enum weak_control), or its result uses the scalar counter."""

    what: str  # "WAITS", "CACHE" or "MESSAGE"
    which: str = ""


def waits(counter: str) -> Order:
    return Order("WAITS", counter.upper())


def controls(cache: str) -> Order:
    return Order("CACHE", cache)


MESSAGE = Order("MESSAGE")


class How(IntFlag):
    """What an access does (enum access_how of runtime/tools/tools.h)."""

    READS = 1
    WRITES = 2
    ATOMIC = 4
    HIGH = 8  # of the register's high half


@dataclass(frozen=True, slots=True)
class Access:
    """One lane's access: enum access_space of runtime/tools/tools.h, element size in bytes, kind, scale of a
    two-address offset in bytes, and the data's kind if native code supports it."""

    space: str
    bytes: int
    how: How
    step: int = 0
    kind: str = ""


_SPACES = {"global": "GLOBAL", "flat": "FLAT", "scratch": "SCRATCH", "ds": "LDS"}
_NATIVE = ("B32", "B64", "B96", "B128", "U8", "I8", "U16", "I16", "B8", "B16")


def moves(space: str, kind: str) -> tuple[Call, Access | None]:
    """Handler and access of a load or store: ("global", "LOAD_D16_HI_U8")."""
    direction, name = kind.split("_", 1)
    digits = re.search(r"[BUI](\d+)$", name)
    size = int(digits[1]) // 8 if digits else 2  # D16 without a type: half of a register
    how = How.READS if direction == "LOAD" else How.WRITES
    if name.startswith("D16_HI"):
        how |= How.HIGH
    call = Call(f"{space}_{direction.lower()}", (kind,))
    if space not in _SPACES:
        return call, None
    return call, Access(_SPACES[space], size, how, kind=name if name in _NATIVE else "")


def atomic(space: str, operation: str, bits: int, *more: str) -> tuple[Call, Access | None]:
    """Handler and access of an atomic operation."""
    call = Call(f"{space}_atomic", (operation, str(bits), *more))
    how = How.READS | How.WRITES | How.ATOMIC
    return call, Access(_SPACES[space], bits // 8, how) if space in _SPACES else None
