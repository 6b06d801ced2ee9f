"""Floats of PTX as terms of the solver z3."""

from __future__ import annotations

import z3

FORMATS = {"f16": (5, 11), "bf16": (8, 8), "f32": (8, 24), "f64": (11, 53), "tf32": (8, 11)}
ROUNDINGS = {"rn": z3.RNE(), "rz": z3.RTZ(), "rm": z3.RTN(), "rp": z3.RTP(), "rna": z3.RNA()}


def elements(t: str) -> tuple[str, int]:
    element, _, count = t.partition("x")
    return element, int(count or 1)


def sort(t: str) -> z3.FPSortRef:
    return z3.FPSort(*FORMATS[t])


def float_of(bits: z3.BitVecRef, t: str, ftz: bool = False) -> z3.FPRef:
    """The number; with ftz zeros of the same sign for subnormal ones."""
    return flushed(z3.fpBVToFP(bits, sort(t)), ftz)


def flushed(x: z3.FPRef, ftz: bool) -> z3.FPRef:
    if not ftz:
        return x
    zero = z3.If(z3.fpIsNegative(x), z3.fpMinusZero(x.sort()), z3.fpPlusZero(x.sort()))
    return z3.If(z3.fpIsSubnormal(x), zero, x)
