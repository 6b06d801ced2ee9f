"""Exact binary floating point in Python integers: decode, encode with every rounding, arithmetic.

A finite value is (sign, m, e): (-1)^sign * m * 2^e, m >= 0. Infinities are INF with a sign, NaN is NAN."""

from __future__ import annotations

import math
from math import isqrt
from typing import NamedTuple

# exponent bits, mantissa bits
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


class Number(NamedTuple):
    kind: str  # "finite", "inf", "nan"
    sign: int = 0
    m: int = 0
    e: int = 0


NAN = Number("nan")


def bits_of(ptype: str) -> int:
    return sum(FORMATS[ptype]) + 1


def decode(bits: int, ptype: str, ftz: bool = False) -> Number:
    """The number with this bit pattern; denormals as zero under ftz."""
    eb, mb = FORMATS[ptype]
    sign, exponent, m = bits >> eb + mb, bits >> mb & (1 << eb) - 1, bits & (1 << mb) - 1
    bias = (1 << eb - 1) - 1
    if exponent == (1 << eb) - 1:
        return NAN if m else Number("inf", sign)
    if exponent == 0:
        return Number("finite", sign, 0 if ftz else m, 1 - bias - mb)
    return Number("finite", sign, m | 1 << mb, exponent - bias - mb)


def increments(rnd: str, sign: int, odd: int, half: int, below: int) -> bool:
    """Whether the magnitude is rounded up: `half` is the first bit dropped, `below` whether any follows."""
    if rnd == "rn":
        return bool(half and (below or odd))
    if rnd == "rna":
        return bool(half)
    return bool(half or below) and ((rnd == "rp" and not sign) or (rnd == "rm" and bool(sign)))


def encode(x: Number, ptype: str, rnd: str = "rn", ftz: bool = False) -> int | None:
    """The bit pattern of x, rounded; None for NaN (whose payload is not defined)."""
    eb, mb = FORMATS[ptype]
    top = x.sign << eb + mb
    if x.kind == "nan":
        return None
    infinity = (1 << eb) - 1 << mb
    if x.kind == "inf":
        return top | infinity
    if x.m == 0:
        return top
    bias = (1 << eb - 1) - 1
    least = 1 - bias - mb  # the exponent of the last place of denormals
    e = max(x.e + x.m.bit_length() - (mb + 1), least)
    shift = e - x.e
    if shift <= 0:
        m = x.m << -shift
    else:
        m = x.m >> shift
        half = x.m >> shift - 1 & 1
        below = x.m & (1 << shift - 1) - 1
        m += increments(rnd, x.sign, m & 1, half, below)
    if m >> mb + 1:
        m, e = m >> 1, e + 1
    exponent = 0 if m < 1 << mb else e - least + 1
    if exponent >= (1 << eb) - 1:
        to_infinity = rnd in ("rn", "rna") or increments(rnd, x.sign, 0, 1, 1)
        return top | (infinity if to_infinity else infinity - 1)
    if exponent == 0:
        return top if ftz else top | m
    return top | exponent << mb | m & (1 << mb) - 1


def whole(x: Number, rnd: str) -> Number:
    """x rounded to an integer (rni, rzi, rmi, rpi)."""
    if x.kind != "finite" or x.e >= 0:
        return x
    shift = -x.e
    m = x.m >> shift
    m += increments(rnd[:2], x.sign, m & 1, x.m >> shift - 1 & 1, x.m & (1 << shift - 1) - 1)
    return Number("finite", x.sign, m, 0)


def integer(x: Number) -> int:
    """The value of a number that is an integer."""
    assert x.e >= 0 or x.m == 0
    return (-1) ** x.sign * (x.m << max(x.e, 0))


def from_int(n: int) -> Number:
    return Number("finite", int(n < 0), abs(n), 0)


def negative(x: Number) -> Number:
    return x._replace(sign=1 - x.sign) if x.kind != "nan" else x


def add(x: Number, y: Number, rnd: str = "rn") -> Number:
    if "nan" in (x.kind, y.kind):
        return NAN
    if x.kind == "inf" or y.kind == "inf":
        if x.kind == y.kind:
            return x if x.sign == y.sign else NAN
        return x if x.kind == "inf" else y
    e = min(x.e, y.e)
    total = ((-1) ** x.sign * x.m << x.e - e) + ((-1) ** y.sign * y.m << y.e - e)
    if total == 0:
        sign = x.sign if x.sign == y.sign and x.m == 0 and y.m == 0 else int(rnd == "rm")
        return Number("finite", sign, 0, e)
    return Number("finite", int(total < 0), abs(total), e)


def mul(x: Number, y: Number) -> Number:
    if "nan" in (x.kind, y.kind):
        return NAN
    sign = x.sign ^ y.sign
    if "inf" in (x.kind, y.kind):
        zero = any(n.kind == "finite" and n.m == 0 for n in (x, y))
        return NAN if zero else Number("inf", sign)
    return Number("finite", sign, x.m * y.m, x.e + y.e)


def div(x: Number, y: Number) -> Number:
    """With enough bits, the last of which stands for all that follow."""
    if "nan" in (x.kind, y.kind):
        return NAN
    sign = x.sign ^ y.sign
    if x.kind == "inf":
        return NAN if y.kind == "inf" else Number("inf", sign)
    if y.kind == "inf":
        return Number("finite", sign, 0, 0)
    if y.m == 0:
        return NAN if x.m == 0 else Number("inf", sign)
    shift = max(0, y.m.bit_length() - x.m.bit_length()) + 70
    q, r = divmod(x.m << shift, y.m)
    return Number("finite", sign, q << 1 | (r != 0), x.e - y.e - shift - 1)


def sqrt(x: Number) -> Number:
    if x.kind == "nan" or (x.kind == "finite" and x.m == 0):
        return x
    if x.sign:
        return NAN
    if x.kind == "inf":
        return x
    m, e = (x.m << 1, x.e - 1) if x.e & 1 else (x.m, x.e)
    m, e = m << 140, e - 140
    root = isqrt(m)
    return Number("finite", 0, root << 1 | (root * root != m), e // 2 - 1)


def key(x: Number) -> tuple[int, int]:
    """For ordering: -0 < +0. (Not for NaN.)"""
    if x.kind == "inf":
        magnitude = 1 << 5000
    else:
        magnitude = x.m << x.e + 2500
    return (-magnitude if x.sign else magnitude), 1 - x.sign


def value(x: Number) -> float:
    """As a Python float (doubles hold all that is asked of this)."""
    if x.kind == "nan":
        return float("nan")
    v = math.inf if x.kind == "inf" else math.ldexp(x.m, x.e)
    return -v if x.sign else v
