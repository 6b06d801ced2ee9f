"""Reference semantics of instructions with one f32 operand, for whole arrays of operands (numpy): what
tests/reference/floats and approximate say of single values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.reference.approximate import SPECIAL
from tests.reference.numbers import FORMATS

Bits = NDArray[np.uint32]
Wide = NDArray[np.float64]
Truth = NDArray[np.bool_]
TOP, LEAST = np.uint32(1 << 31), 2.0 ** (2 - (1 << FORMATS["f32"][0] - 1))  # sign; the smallest normal number
NAMED = {"0": 0, "1": 0x3F800000, "inf": 0x7F800000, "nan": 0x7FFFFFFF}


def flushed(bits: Bits) -> Bits:
    """Zeros of the same sign for subnormal numbers."""
    return np.where(bits & 0x7F800000, bits, bits & TOP)


def numbers(bits: Bits) -> Wide:
    with np.errstate(invalid="ignore"):  # signalling NaN
        return bits.view(np.float32).astype(np.float64)


def is_nan(bits: Bits) -> Truth:
    return (bits & 0x7FFFFFFF) > 0x7F800000


def rounded(y: Wide, rnd: str) -> Bits:
    """As f32. y may itself be rounded, where the exact value is an f32 number only if y is that."""
    near = y.astype(np.float32)
    back = near.astype(np.float64)
    wrong = {"rn": np.zeros(len(y), bool), "rz": abs(back) > abs(y), "rm": back > y, "rp": back < y}[rnd]
    goal = {"rn": 0.0, "rz": 0.0, "rm": -np.inf, "rp": np.inf}[rnd]
    return np.where(wrong, np.nextafter(near, np.float32(goal)), near).view(np.uint32)


def different(got: Bits, want: Bits) -> Truth:
    return (got != want) & ~(is_nan(got) & is_nan(want))


@dataclass(frozen=True, slots=True)
class Bound:
    """How far a result may be from the exact value. ulps: of the result; or relative and absolute (there, and to half a
    place more, there is room for the rounding). signed: zeros have the exact value's sign."""

    exact: Callable[[Wide], Wide]
    ulps: int = 0
    relative: Callable[[Wide], Wide] | float = 0
    absolute: Callable[[Wide], Wide] | float = 0
    signed: bool = True

    def error(self, x: Wide, exact: Wide) -> Wide:
        exponent = np.where(exact == 0, -126, np.frexp(exact)[1] - 1)
        place = np.ldexp(1.0, np.maximum(exponent, -126) - 23)
        if self.ulps:
            return self.ulps * place
        absolute = self.absolute(x) if callable(self.absolute) else self.absolute
        relative = self.relative(x) if callable(self.relative) else self.relative
        return relative * abs(exact) + absolute + place / 2


def _angle(x: Wide) -> Wide:
    """Beyond 100 pi nothing is promised."""
    far = np.where(abs(x) > 100 * np.pi, np.inf, 2.0**-14.7)
    return np.where(abs(x) <= 2 * np.pi, 2.0**-20.5, far)


def _near_one(x: Wide) -> Wide:
    return np.where((x > 0.5) & (x < 2), 2.0**-22, 0)


def _elsewhere(x: Wide) -> Wide:
    return 2.0**-22 - _near_one(x)


BOUNDS = {
    "rcp": Bound(lambda x: 1 / x, ulps=1),
    "sqrt": Bound(np.sqrt, relative=2.0**-23),
    "rsqrt": Bound(lambda x: 1 / np.sqrt(x), relative=2.0**-22.9),
    "sin": Bound(np.sin, absolute=_angle, signed=False),
    "cos": Bound(np.cos, absolute=_angle, signed=False),
    "lg2": Bound(np.log2, relative=_elsewhere, absolute=_near_one, signed=False),
    "ex2": Bound(np.exp2, ulps=2),
    "tanh": Bound(np.tanh, relative=2.0**-11),
}


def approximate(name: str, bits: Bits, got: Bits, ftz: bool) -> Truth:
    """Where results are not within the bound, or not what the manual's table says."""
    x, bound = numbers(bits), BOUNDS[name]
    with np.errstate(all="ignore"):
        exact = bound.exact(x)
        result = np.where((got & 0x7FFFFFFF) == 0x7F800000, np.copysign(2.0**128, numbers(got)), numbers(got))
        error = bound.error(x, exact)
        wrong = ~(abs(result - exact) <= error)
        wrong &= ~((abs(result) == 2.0**128) & (abs(exact) >= 2.0**128) & (np.sign(result) == np.sign(exact)))
        if ftz:
            small = abs(result) < LEAST
            wrong = np.where(small, (result != 0) | (abs(exact) - error >= LEAST), wrong)
        if bound.signed:
            wrong |= (result == 0) & ((got & TOP != 0) != (exact < 0))
        wrong &= error < np.inf
    if name == "tanh":
        wrong = np.where((bits & 0x7F800000) == 0, got != bits, wrong)
    minus = bits & TOP != 0
    places = [bits == 0xFF800000, minus & (x < 0), bits == TOP, bits == 0, bits == 0x7F800000]
    for place, said in zip(places, SPECIAL[name], strict=True):
        if said:
            want = np.uint32(NAMED[said.lstrip("+-")] | (said[0] == "-") << 31)
            wrong = np.where(place & (x >= -np.inf), different(got, want), wrong)
    wrong = np.where(places[0], False, wrong) if not SPECIAL[name][0] else wrong
    return np.where(is_nan(bits), ~is_nan(got), wrong)


def classified(kind: str, bits: Bits) -> Bits:
    magnitude = bits & 0x7FFFFFFF
    nan = magnitude > 0x7F800000
    subnormal = (magnitude < 0x800000) & (magnitude > 0)
    finite = magnitude < 0x7F800000
    found = {"finite": finite, "infinite": magnitude == 0x7F800000, "number": ~nan, "notanumber": nan,
             "normal": finite & ~subnormal, "subnormal": subnormal}  # fmt: skip
    return found[kind].astype(np.uint32)


def wrong(opcode: str, bits: Bits, got: Bits) -> Truth:
    """Where results of an instruction with one operand are not what they should be."""
    name, *words = opcode.split(".")
    ftz = "ftz" in words
    if name == "testp":
        return got != classified(words[0], bits)
    bits = flushed(bits) if ftz else bits
    if "approx" in words:
        return approximate(name, bits, got, ftz)
    if name in ("abs", "neg"):
        return different(got, bits & ~TOP if name == "abs" else bits ^ TOP)
    with np.errstate(all="ignore"):
        exact = {"rcp": lambda x: 1 / x, "sqrt": np.sqrt}[name](numbers(bits))
        want = rounded(exact, words[0])
    if not ftz:
        return different(got, want)
    either = ((want & ~TOP) == 0x800000) & (abs(exact) < LEAST) & (got == want & TOP)  # as floats.rounded has it
    return different(got, flushed(want)) & ~either
