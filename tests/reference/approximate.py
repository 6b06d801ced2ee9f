"""Reference semantics of the approximate floating-point instructions: the PTX manual's tables of special operands, its
bounds for all others, and its rules for subnormal numbers (sections 9.7.3.8 to 9.7.3.22, 9.7.4.9 and 9.7.4.10).

Results are bit patterns, None for a NaN of whatever payload, "anything" where the manual promises nothing, or Near."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from tests.reference.numbers import FORMATS, Number, decode, div, encode, from_int, sqrt

Result = object


def exactly(x: Number) -> Fraction:
    """The value of a finite number."""
    return (-1) ** x.sign * x.m * Fraction(2) ** x.e


def is_zero(x: Number) -> bool:
    return x.kind == "finite" and x.m == 0


def least_exponent(t: str) -> int:
    """2 to this is the smallest normal number."""
    return 2 - (1 << FORMATS[t][0] - 1)


def ulp(exact: Fraction, t: str) -> Fraction:
    """The distance of neighbouring numbers of the type at this value."""
    n, d = abs(exact.numerator), exact.denominator
    e = n.bit_length() - d.bit_length()
    e -= Fraction(2) ** e > abs(exact)
    return Fraction(2) ** (max(e, least_exponent(t)) - FORMATS[t][1])


class Near(NamedTuple):
    """Results no further than `error` from the exact value (not 0). Where they may be below the normal numbers, .ftz
    makes them a zero. `signed`: zeros have the exact value's sign. The lower `clear` bits are 0."""

    exact: Fraction
    error: Fraction
    t: str
    ftz: bool = False
    signed: bool = True
    clear: int = 0

    def permits(self, bits: int) -> bool:
        x = decode(bits, self.t)
        if x.kind == "nan" or bits & (1 << self.clear) - 1:
            return False
        if x.kind == "inf":
            x = Number("finite", x.sign, 1, 1 - least_exponent(self.t) + 1)
            if abs(self.exact) >= exactly(x._replace(sign=0)):
                return (self.exact < 0) == bool(x.sign)
        if is_zero(x) and self.signed and x.sign != (self.exact < 0):
            return False
        least = Fraction(2) ** least_exponent(self.t)
        if self.ftz and abs(exactly(x)) < least:
            return is_zero(x) and abs(self.exact) - self.error < least
        return abs(exactly(x) - self.exact) <= self.error


def within_ulps(x: Number, ulps: int, t: str, ftz: bool) -> Result:
    """Of a quotient or root: infinities, NaN and zeros as IEEE has them."""
    if x.kind != "finite" or x.m == 0:
        return encode(x, t)
    exact = exactly(x)
    return Near(exact, ulps * ulp(exact, t), t, ftz)


def within(exact: float | Fraction, relative: float, absolute: float, t: str, ftz: bool = False) -> Near:
    """Of a value that is not zero. There is room for the rounding to the type, where the bound is tighter than that."""
    exact = Fraction(exact)
    room = Fraction(relative) * abs(exact) + Fraction(absolute) + ulp(exact, t) / 2
    return Near(exact, room, t, ftz, signed=not absolute)


#: What the manual's tables say of -Inf, negative numbers, -0, +0, +Inf; "" where a bound holds. NaN gives NaN.
SPECIAL = {
    "rcp": ("-0", "", "-inf", "+inf", "+0"),
    "sqrt": ("nan", "nan", "-0", "+0", "+inf"),
    "rsqrt": ("nan", "nan", "-inf", "+inf", "+0"),
    "sin": ("nan", "", "-0", "+0", "nan"),
    "cos": ("nan", "", "+1", "+1", "nan"),
    "lg2": ("nan", "nan", "-inf", "-inf", "+inf"),
    "ex2": ("+0", "", "+1", "+1", "+inf"),
    "tanh": ("-1", "", "-0", "+0", "+1"),
}
NAMED = {"nan": Number("nan"), "inf": Number("inf"), "0": from_int(0), "1": from_int(1)}


def special(name: str, x: Number, t: str) -> tuple[bool, int | None]:
    """Whether the manual's table has this operand, and the result."""
    if x.kind == "nan":
        return True, None
    table = SPECIAL[name]
    zero_or_inf = {("inf", 1): 0, ("inf", 0): 4, ("zero", 1): 2, ("zero", 0): 3}
    place = zero_or_inf.get(("zero" if is_zero(x) else x.kind, x.sign), 1 if x.sign else None)
    said = table[place] if place is not None else ""
    if not said:
        return False, None
    return True, encode(NAMED[said.lstrip("+-")]._replace(sign=int(said[0] == "-")), t)


def quotient(kind: str, a: Number, b: Number, t: str, ftz: bool) -> Result:
    """div.approx and div.full: 2 ulp. div.approx is a * (1 / b), and 1 / b is 0 for |b| above 2^126."""
    if kind == "approx" and b.kind == "finite" and abs(exactly(b)) > 2**126 and a.kind != "nan":
        return None if a.kind == "inf" else encode(Number("finite", a.sign ^ b.sign), t)
    return within_ulps(div(a, b), 2, t, ftz)


def coarse(name: str, bits: int) -> Result:
    """rcp and rsqrt.approx.ftz.f64: of the operand's upper half, a result with zeros in its lower half."""
    x = decode(bits >> 32 << 32, "f64", True)
    if bits >> 32 & 0x7FF00000 == 0x7FF00000 and decode(bits, "f64").kind == "nan":
        x = Number("nan") if bits >> 32 & 0xFFFFF else Number("inf", x.sign)
    known, result = special(name, x, "f64")
    if known:
        return result
    exact = exactly(div(from_int(1), x if name == "rcp" else sqrt(x)))
    return Near(exact, abs(exact) / 2**20, "f64", True, clear=32)


def unary(name: str, bits: int, t: str, ftz: bool) -> Result:
    """rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh of f32; ex2, tanh of f16 and bf16; rsqrt of f64."""
    x = decode(bits, t, ftz)
    known, result = special(name, x, t)
    return result if known else BOUNDS[name](x, t, ftz)


def circular(function) -> object:
    def near(x: Number, t: str, ftz: bool) -> Result:
        a = float(exactly(x))
        if abs(a) > 100 * math.pi:
            return "anything"
        return within(function(a), 0, 2.0**-20.5 if abs(a) <= 2 * math.pi else 2.0**-14.7, t, ftz)

    return near


def logarithm(x: Number, t: str, ftz: bool) -> Result:
    exact = math.log2(x.m) + x.e
    if exact == 0:
        return Near(Fraction(0), Fraction(2.0**-22), t, ftz, signed=False)
    near_one = Fraction(1, 2) < exactly(x) < 2
    return within(exact, 0 if near_one else 2.0**-22, 2.0**-22 if near_one else 0, t, ftz)


def power(x: Number, t: str, ftz: bool) -> Result:
    exact = Fraction(2.0 ** max(-1000.0, min(1000.0, float(exactly(x)))))
    if t == "f32":
        return Near(exact, 2 * ulp(exact, t), t, ftz)
    return within(exact, {"f16": 2.0**-9.9, "bf16": 2.0**-7}[t], 0, t, ftz)


def hyperbolic(x: Number, t: str, ftz: bool) -> Result:
    """Subnormal f32 numbers pass through."""
    if t == "f32" and abs(exactly(x)) < Fraction(2) ** least_exponent(t):
        return encode(x, t)
    exact = math.tanh(exactly(x))
    relative, absolute = {"f32": (2.0**-11, 0), "f16": (0, 2.0**-10.987), "bf16": (0, 2.0**-8)}[t]
    return within(exact, relative, absolute, t)


BOUNDS = {
    "rcp": lambda x, t, ftz: within_ulps(div(from_int(1), x), 1, t, ftz),
    "sqrt": lambda x, t, ftz: within(exactly(sqrt(x)), 2.0**-23, 0, t, ftz),
    "rsqrt": lambda x, t, ftz: within(exactly(div(from_int(1), sqrt(x))), 2.0**-22.9, 0, t, ftz),
    "sin": circular(math.sin),
    "cos": circular(math.cos),
    "lg2": logarithm,
    "ex2": power,
    "tanh": hyperbolic,
}
