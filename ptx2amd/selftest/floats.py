"""IEEE arithmetic with exact fractions: the results of float instructions, rounded once."""

from __future__ import annotations

import math
from fractions import Fraction

#: Letter of struct -> bits of the significand, least exponent of a normal number, largest exponent.
FORMATS = {"e": (11, -14, 15), "bf16": (8, -126, 127), "f": (24, -126, 127), "d": (53, -1022, 1023)}


def rounded(value: Fraction | float, letter: str = "f", mode: str = "rn", zero: float = 0.0) -> float:
    """A number in a format. mode: rn, rz, rm or rp, as in PTX. zero: the value of an exact zero."""
    if isinstance(value, float):
        if not math.isfinite(value) or value == 0:
            return value
        value = Fraction(value)
    if value == 0:
        return zero
    digits, least, most = FORMATS[letter]
    sign, size = (-1, -value) if value < 0 else (1, value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, least) - digits + 1)
    whole, rest = divmod(size / step, 1)
    half = Fraction(1, 2)
    up = {
        "rn": rest > half or (rest == half and whole % 2 == 1),
        "rz": False,
        "rm": sign < 0 and rest > 0,
        "rp": sign > 0 and rest > 0,
    }[mode]
    size, limit = (whole + up) * step, Fraction(2) ** (most + 1)
    if size >= limit:
        beyond = mode == "rn" or (mode == "rm" and sign < 0) or (mode == "rp" and sign > 0)
        return sign * (math.inf if beyond else float(limit - limit / 2**digits))
    return math.copysign(float(size), sign)


def add(a: float, b: float, letter: str = "f", mode: str = "rn") -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    same = a == b == 0 and math.copysign(1, a) == math.copysign(1, b)
    return rounded(Fraction(a) + Fraction(b), letter, mode, a if same else -0.0 if mode == "rm" else 0.0)


def mul(a: float, b: float, letter: str = "f", mode: str = "rn") -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    return rounded(Fraction(a) * Fraction(b), letter, mode, math.copysign(1, a) * math.copysign(0.0, b))


def fma(a: float, b: float, c: float, letter: str = "f", mode: str = "rn") -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    product = math.copysign(1, a) * math.copysign(1, b)
    same = (a == 0 or b == 0) and c == 0 and product == math.copysign(1, c)
    return rounded(Fraction(a) * Fraction(b) + Fraction(c), letter, mode, c if same else -0.0 if mode == "rm" else 0.0)


def div(a: float, b: float, letter: str = "f", mode: str = "rn") -> float:
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isnan(a) or math.isnan(b) or (a == 0 and b == 0) or (math.isinf(a) and math.isinf(b)):
        return math.nan
    if math.isinf(a) or b == 0:
        return sign * math.inf
    if math.isinf(b) or a == 0:
        return sign * 0.0
    return rounded(Fraction(a) / Fraction(b), letter, mode)


def sqrt(a: float, letter: str = "f") -> float:
    """Square root in a narrower format, from the double's root: the second rounding does not change the result."""
    return math.nan if math.isnan(a) or a < 0 else rounded(math.sqrt(a), letter)


def least(a: float, b: float) -> float:
    """min of a number and a NaN is the number; -0 is less than 0."""
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return min((a, b), key=lambda x: (x, math.copysign(1, x)))


def most(a: float, b: float) -> float:
    return -least(-a, -b)


def whole(a: float, mode: str) -> float:
    """Rounding to an integer: rni, rzi, rmi or rpi, as in PTX."""
    if not math.isfinite(a) or a == 0:
        return a
    found = {"rni": round(a), "rzi": math.trunc(a), "rmi": math.floor(a), "rpi": math.ceil(a)}[mode]
    return math.copysign(float(found), a)


def integer(a: float, bits: int, signed: bool, mode: str = "rzi") -> int:
    """cvt to an integer: saturates out of range, 0 for a NaN."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if math.isnan(a):
        return 0
    if math.isinf(a):
        return high if a > 0 else low
    return max(low, min(high, int(whole(a, mode))))
