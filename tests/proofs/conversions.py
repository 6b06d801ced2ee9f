"""What the PTX manual says of cvt, for the solver z3 (see definitions): integers, and floats of 16 bits and more. Small
floats, of which all values can be tried, are left to tests."""

from __future__ import annotations

import z3

from tests.proofs.definitions import Mods, Results, Term, Types, Values, clamped, constant, number, of, width, wrapped
from tests.proofs.numbers import FORMATS, ROUNDINGS, elements, float_of, flushed, sort

INTEGRAL = {"rni": z3.RNE(), "rzi": z3.RTZ(), "rmi": z3.RTN(), "rpi": z3.RTP()}


def defined(mods: Mods) -> bool:
    return "small" not in mods


@of("cvt")
def convert(mods: Mods, v: Values, types: Types) -> Results:
    to, a = mods.get("t", ""), mods.get("a", "")
    if mods["opcode"].startswith("cvt.pack"):
        return packed(mods, v, to)
    if elements(to)[1] == 2:
        return {"d": [one(mods, v[name], a, elements(to)[0]) for name in "ba"]}
    d = one(mods, v["a"], a, to)
    return {"d": z3.fpFPToFP(z3.RNE(), d, sort("f32")) if to == "tf32" else d}  # whose lower bits are zero


def one(mods: Mods, bits: Term, a: str, to: str) -> Term | z3.FPRef:
    """A number of type a as one of type `to`: the bits of an integer, or a float."""
    if a not in FORMATS:
        return from_integer(mods, number(bits, a), to)
    if to not in FORMATS:
        return to_integer(mods, bits, a, to)
    return to_float(mods, bits, a, to)


def from_integer(mods: Mods, n: Term, to: str) -> Term | z3.FPRef:
    if to not in FORMATS:
        return clamped(n, to) if mods.get("sat") else wrapped(n, to)
    return limited(mods, z3.fpSignedToFP(ROUNDINGS[mods["rnd"]], n, sort(to)), to)


def to_integer(mods: Mods, bits: Term, a: str, to: str) -> Term:
    """The nearest number that the type has. NaN is 0, or the top bit alone, of f64 or as an integer of 64 bits."""
    x, n = float_of(bits, a, bool(mods.get("ftz"))), width(to)
    whole = z3.fpRoundToIntegral(INTEGRAL[mods["rnd"]], x)
    low, high = (-(1 << n - 1), (1 << n - 1) - 1) if to[0] == "s" else (0, (1 << n) - 1)
    inside = z3.fpToSBV(z3.RTZ(), whole, z3.BitVecSort(n + 1))
    # powers of two, which are numbers of type a, or become infinities
    result = z3.If(whole <= low, constant(low, n + 1), z3.If(whole >= high + 1, constant(high, n + 1), inside))
    nan = 1 << n - 1 if a == "f64" or n == 64 else 0
    return z3.If(z3.fpIsNaN(x), constant(nan, n), z3.Extract(n - 1, 0, result))


def to_float(mods: Mods, bits: Term, a: str, to: str) -> z3.FPRef:
    ftz = bool(mods.get("ftz"))
    x, rnd = float_of(bits, a, ftz and a == "f32" and to != "f16"), mods.get("rnd") or "rn"  # as the hardware has it
    if rnd in INTEGRAL:
        y = z3.fpRoundToIntegral(INTEGRAL[rnd], x)
    elif a == to:
        y = x
    else:
        y = z3.fpFPToFP(ROUNDINGS[rnd], x, sort(to))
    return limited(mods, flushed(y, ftz and to == "f32"), to)


def limited(mods: Mods, y: z3.FPRef, to: str) -> z3.FPRef:
    """.sat: in [+0, 1], and NaN is +0; .satfinite: infinities are the largest numbers; .relu: what is below 0 is 0."""
    zero, one_ = z3.fpPlusZero(y.sort()), z3.FPVal(1, y.sort())
    if mods.get("sat"):
        return z3.If(z3.fpGT(y, zero), z3.If(y > one_, one_, y), zero)
    if mods.get("satfinite"):
        exponent, mantissa = FORMATS[to]
        largest = float_of(constant((1 << exponent + mantissa - 1) - 1 - (1 << mantissa - 1), exponent + mantissa), to)
        y = z3.If(z3.fpIsInf(y), z3.If(z3.fpIsNegative(y), z3.fpNeg(largest), largest), y)
    if mods.get("relu"):
        y = z3.If(z3.Or(z3.fpIsNaN(y), z3.fpIsPositive(y)), y, zero)
    return y


def packed(mods: Mods, v: Values, to: str) -> Results:
    """a above b, both clamped, below them the lower bits of c."""
    parts = [clamped(number(v[name], "s32"), to) for name in "ab"]
    pair = z3.Concat(*parts)
    rest = 32 - pair.size()
    return {"d": z3.Concat(z3.Extract(rest - 1, 0, v["c"]), pair) if rest else pair}
