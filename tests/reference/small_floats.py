"""OCP's floating-point formats of 8, 6 and 4 bits as tables of their values, and rounding into them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

#: Format -> (exponent bits, mantissa bits, bias). fp8 is E4M3 (NaN 0x7f), bf8 E5M2 (infinity 0x7c, NaN above).
SHAPES = {"fp8": (4, 3, 7), "bf8": (5, 2, 15), "fp6": (2, 3, 1), "bf6": (3, 2, 3), "fp4": (2, 1, 1), "f16": (5, 10, 15)}


def width(fmt: str) -> int:
    return 1 + SHAPES[fmt][0] + SHAPES[fmt][1]


@cache
def table(fmt: str) -> list[Fraction]:
    """Values of the positive finite codes, from 0 up."""
    exponents, mantissa, bias = SHAPES[fmt]
    found = []
    for code in range(1 << (exponents + mantissa)):
        e, m = code >> mantissa, code & ((1 << mantissa) - 1)
        if (fmt == "fp8" and code == 0x7F) or (fmt in ("bf8", "f16") and e == (1 << exponents) - 1):
            break
        steps = m + (1 << mantissa) if e else m
        found.append(Fraction(steps) * Fraction(2) ** (max(e, 1) - bias - mantissa))
    return found


def decode(fmt: str, code: int) -> Fraction | float:
    """A code's value; infinities and NaN as floats, and -0.0 too."""
    sign, magnitude = code >> (width(fmt) - 1), code & ((1 << (width(fmt) - 1)) - 1)
    if magnitude >= len(table(fmt)):
        return (-math.inf if sign else math.inf) if magnitude == 0x7C and fmt == "bf8" else math.nan
    value = table(fmt)[magnitude]
    return (-0.0 if not value else -value) if sign else value


def encode(fmt: str, value: float, scale: int, *, saturate: bool, noise: int | None = None) -> int:
    """value / 2^scale: the nearest code, ties to the even one; with noise (32 bits, a fraction of the step between two
    codes) the one below value plus the noise."""
    codes = table(fmt)
    largest = len(codes) - 1
    over = largest if saturate or width(fmt) < 8 else {"fp8": 0x7F, "bf8": 0x7C, "f16": 0x7C00}[fmt]
    nan = {"fp8": 0x7F, "bf8": 0x7F, "f16": 0x7E00}.get(fmt, largest)
    sign = (math.copysign(1, value) < 0) << (width(fmt) - 1)
    if math.isnan(value):
        return sign | nan
    if math.isinf(value):
        return sign | over
    exact = abs(Fraction(value)) / Fraction(2) ** scale
    beyond = codes[-1] + (codes[-1] - codes[-2])  # where the next code would be
    if exact >= beyond:
        return sign | over
    below = max(k for k, v in enumerate(codes) if v <= exact) if exact < codes[-1] else largest
    step = (codes[below + 1] if below < largest else beyond) - codes[below]
    part = (exact - codes[below]) / step
    if noise is not None:
        up = part + Fraction(noise, 1 << 32) >= 1
    else:
        up = part > Fraction(1, 2) or (part == Fraction(1, 2) and below % 2 == 1)
    code = below + up
    return sign | (over if code > largest else code)
