"""Operand values for programs that run rows of the instruction table: sets of bit patterns by type and position."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

EDGES = {  # bit patterns of floats worth trying, with and without sign: the usual borders, and where conversions round
    "f16": (
        *(0, 1, 0x3FF, 0x400, 0x3C00, 0x3800, 0x3E00, 0x4100, 0x7BFF, 0x7C00, 0x7E00, 0x7C01),
        *(0x57FF, 0x5BFF, 0x1400),
    ),
    "bf16": (
        *(0, 1, 0x7F, 0x80, 0x3F80, 0x3F00, 0x3FC0, 0x4020, 0x7F7F, 0x7F80, 0x7FC0, 0x7F81),
        *(0x4EFF, 0x5F00, 0x3C00),
    ),
    "f32": (
        *(0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3F000000, 0x3FC00000, 0x40200000, 0x7F7FFFFF, 0x7F800000),
        *(0x7FC00000, 0x7F800001, 0x4EFFFFFF, 0x4F000000, 0x5F000000, 0x477FE000, 0x477FEFFF, 0x477FF000),
        *(0x33800000, 0x38000000, 0x3F7FFFFF, 0x3F800001, 0x437F0000, 0x0C000000, 0x7E800001, 0x43E00000, 0x40490FDB),
    ),
    "f64": (
        *(0, 1, (1 << 52) - 1, 1 << 52, 0x3FF << 52, 0x3FE << 52, 0x3FF8 << 48, 0x4004 << 48, (0x7FF << 52) - 1),
        *(0x7FF << 52, 0x7FF8 << 48, (0x7FF << 52) + 1, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0x43E0000000000000),
        *(0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x36A0000000000000, 0x3690000000000000, 0x380FFFFFFFFFFFFF),
        *(0x40EFFC0000000000, 0x40EFFE0000000000, 0x3FF0000000000001, 0x3FEFFFFFFFFFFFFF, 0x400921FB54442D18),
    ),
}
SMALL = {"e4m3": 8, "e5m2": 8, "e2m3": 8, "e3m2": 8, "e2m1": 4, "ue8m0": 8, "s2f6": 8}  # bits of an element, padded
_SMALL = (0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64)  # integers: and shift amounts
_MORE = {8: (100, 121, 131), 16: (100, 255)}
_WIDE = (24, 65, 127, 255, 256, 0xFFFF, 0x8000)


@dataclass(frozen=True)
class Inputs:
    """A set of operand values: `threads` bit patterns for a source of a type at a position (0: the first)."""

    name: str
    threads: int
    values: Callable[[str, int], list[int]]


def bits(ptype: str) -> int:
    """Width of an element of the type."""
    return SMALL.get(ptype) or int(re.findall(r"\d+", ptype)[0])


def split(ptype: str) -> tuple[str, int]:
    """The element of a type, and how many there are."""
    element, _, count = ptype.partition("x")
    return element, int(count or 1)


@cache
def edges(ptype: str) -> list[int]:
    """Bit patterns on the borders of a scalar type."""
    n = bits(ptype)
    if ptype in EDGES:
        return [*EDGES[ptype], *(e | 1 << n - 1 for e in EDGES[ptype])]
    ones, top = (1 << n) - 1, 1 << n - 1
    found = {*_SMALL, *(_WIDE if n > 16 else _MORE.get(n, ())), ones, ones - 1, top, top - 1, top + 1}
    return sorted(v for v in found | {ones // 3, ones // 5, ones - 31} if 0 <= v <= ones)


def pairwise(draw: Callable[[str, int], list[int]]) -> Callable[[str, int], list[int]]:
    """`draw` for scalars, made to serve predicates, pairs and fours too."""

    def values(ptype: str, position: int) -> list[int]:
        element, count = split(ptype)
        if count == 1:
            return draw(ptype, position)
        parts = [draw(element, (position + 5 * i) % 9) for i in range(count)]
        return [sum(part << bits(element) * i for i, part in enumerate(row)) for row in zip(*parts, strict=True)]

    return cache(values)


def random_bits(ptype: str, seed: random.Random) -> int:
    """Floats around 1 for the most part, else any bits; integers short and long."""
    kind, n = seed.randrange(4), bits(ptype)
    if ptype in EDGES and kind < 3:
        return _random_float(ptype, seed)
    if ptype not in EDGES and kind == 0:
        return seed.randrange(1 << seed.randrange(1, n + 1))
    return seed.randrange(1 << n)


_EXPONENT = {"f16": (10, 15, 14), "bf16": (7, 127, 40), "f32": (23, 127, 40), "f64": (52, 1023, 70)}


def _random_float(ptype: str, seed: random.Random) -> int:
    mantissa, bias, spread = _EXPONENT[ptype]
    exponent = bias + seed.randrange(-spread, spread + 1) // seed.choice((1, 1, 4))
    sign = seed.randrange(2) << bits(ptype) - 1
    return sign | exponent << mantissa | seed.randrange(1 << mantissa)


def _mixed(ptype: str, position: int) -> list[int]:
    """Half of them edges against edges of the other operands, half random."""
    seed = random.Random(f"{ptype} {position}")
    if ptype == "pred":
        return [seed.randrange(2) for _ in range(256)]
    edge = edges(ptype)
    stride = (1, 7, 11, 13, 5, 3, 17, 19, 23)[position]
    found = [edge[(i * stride + i // len(edge) * (position + 1)) % len(edge)] for i in range(128)]
    return found + [random_bits(ptype, seed) for _ in range(128)]


def _crossed(ptype: str, position: int) -> list[int]:
    """All edges of the first operand with all of the second; the others random edges; then random bits."""
    seed = random.Random(f"crossed {ptype} {position}")
    if ptype == "pred":
        return [seed.randrange(2) for _ in range(4096)]
    edge = edges(ptype)
    count = max(len(edge), 54)  # operands of one instruction may have different types
    pick = {0: lambda i: edge[i % count % len(edge)], 1: lambda i: edge[i // count % count % len(edge)]}
    choose = pick.get(position % 5, lambda i: seed.choice(edge))
    return [choose(i) if i < count * count else random_bits(ptype, seed) for i in range(4096)]


def _dense(ptype: str, position: int) -> list[int]:
    """Types of up to 16 bits: all their values. Wider floats: every sign and exponent of f32 (some of f64) with
    mantissas that are random, or near the middle between two numbers of a shorter type. Integers: powers of two and
    their neighbours, random ones."""
    seed = random.Random(f"dense {ptype} {position}")
    n = bits(ptype)
    if n <= 16:
        order = list(range(1 << n)) * (1 << 16 - n)
        if position:
            seed.shuffle(order)
        return order
    if ptype not in EDGES:
        near = [(1 << k) + d & (1 << n) - 1 for k in range(n) for d in range(-40, 41)]
        near += [-v & (1 << n) - 1 for v in near]
        return (near + [random_bits(ptype, seed) for _ in range(1 << 16)])[: 1 << 16]
    size = _EXPONENT[ptype][0]
    found = []
    for i in range(1 << 16):
        head = i >> 7 if n == 32 else seed.choice((seed.randrange(1 << 12), 0x400 + seed.randrange(-160, 161)))
        mantissa = seed.randrange(1 << size)
        if i & 1:
            tail = size - seed.choice((1, 2, 3, 7, 10, 23) if n == 64 else (1, 2, 3, 7, 10))
            middle = 1 << tail - 1
            mantissa = mantissa >> tail << tail | seed.choice((0, 1, middle - 1, middle, middle + 1, 2 * middle - 1))
        found.append(head << size | mantissa)
    return found


def _powers(*exponents: int) -> list[int]:
    """The f32 numbers 2^e and their neighbours."""
    bits = [e + 127 << 23 if e > -127 else 1 << e + 149 for e in exponents]
    return [b + d for b in bits for d in (-1, 0, 1)]


_CORNERS = [  # where the results of approximate functions of f32 leave the normal numbers, or their lowerings change
    *(0, 1, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x40490FDB, 0x40C90FDB, 0x439D1463),
    *_powers(-148, -128, -127, -126, -125, -102, -100, -64, -24, -10, -7, 0, 1, 24, 64, 103, 104, 125, 126, 127),
    *(f + d for f in (0x42FC0000, 0x43000000, 0x43150000, 0x43160000) for d in (-1, 0, 1)),  # 126, 128, 149, 150
]


def _corners(threads: int) -> Callable[[str, int], list[int]]:
    """All corners of the first operand, and with more threads those with all of the second; of other types edges."""

    def draw(ptype: str, position: int) -> list[int]:
        edge = edges(ptype) if ptype != "f32" else [*_CORNERS, *(c | 1 << 31 for c in _CORNERS)]
        return [edge[(i // 162 if position else i) % 162 % len(edge)] for i in range(threads)]

    return pairwise(draw)


MIXED = Inputs("mixed", 256, pairwise(_mixed))
CROSSED = Inputs("crossed", 4096, pairwise(_crossed))
DENSE = Inputs("dense", 1 << 16, pairwise(_dense))
CORNERS = Inputs("corners", 256, _corners(256))
CROSSED_CORNERS = Inputs("crossed corners", 26368, _corners(26368))  # all 162 * 162
