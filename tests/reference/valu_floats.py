"""Exact arithmetic on numpy's binary floating-point formats, with Python's fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

#: Format -> (numpy type, unsigned type, significand bits with the hidden one, smallest normal exponent, largest)
FORMATS = {
    "f16": (np.float16, np.uint16, 11, -14, 15),
    "f32": (np.float32, np.uint32, 24, -126, 127),
    "f64": (np.float64, np.uint64, 53, -1022, 1023),
}


def bits_of(value: object, fmt: str) -> int:
    """Bit pattern of a value after conversion to the format."""
    typ, uns = FORMATS[fmt][:2]
    return int(np.array(value, typ).view(uns))


def from_bits(bits: int, fmt: str) -> np.floating:
    """The value with the bit pattern."""
    typ, uns = FORMATS[fmt][:2]
    return np.array(bits, uns).view(typ)[()]


def fraction(value: object) -> Fraction:
    """A finite value, exactly."""
    return Fraction(float(value))  # type: ignore[arg-type]


def round_fraction(value: Fraction, fmt: str, mode: str = "nearest") -> float:
    """`value` in the format: mode nearest (ties to even), up, down or zero. Denormals kept, overflow as IEEE 754."""
    _, _, digits, low, high = FORMATS[fmt]
    if value == 0:
        return 0.0
    sign, size = (-1 if value < 0 else 1), abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, low) - digits + 1)
    steps, rest = divmod(size, quantum)
    away = {"up": sign > 0, "down": sign < 0, "zero": False, "nearest": False}[mode]
    if mode == "nearest":
        away = rest * 2 > quantum or (rest * 2 == quantum and steps % 2 == 1)
    if away and rest:
        steps += 1
    result = steps * quantum
    largest = (2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** high
    if result > largest:
        toward_infinity = mode == "nearest" or {"up": sign > 0, "down": sign < 0, "zero": False}[mode]
        return sign * (math.inf if toward_infinity else float(largest))
    return sign * float(result) if result else math.copysign(0.0, sign)


def fma(a: object, b: object, c: object, fmt: str, mode: str = "nearest") -> np.floating:
    """a * b + c with one rounding."""
    typ = FORMATS[fmt][0]
    x, y, z = float(a), float(b), float(c)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):
        if not all(map(math.isfinite, (x, y, z))):
            if math.isfinite(x) and math.isfinite(y):
                return typ(z)
            return typ(np.float64(x) * np.float64(y) + np.float64(z))
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact == 0:
            if x == 0 or y == 0:
                return typ(x * y + z)
            return typ(0.0 if mode != "down" else -0.0)
        return typ(round_fraction(exact, fmt, mode))
