"""Stochastic rounding (cvt.rs): random bits are added to the bits that are dropped. Which of the operand's bits an
element takes is what the manual's figures show (f16, bf16) or chips were seen to do (e4m3, e2m1)."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.scalar.fp import integer_of
from ptx2amd.lower.scalar.integer import binary, compare, select
from ptx2amd.lower.scalar.small import FORMATS, spacing
from ptx2amd.ptx.ast import Inst

# mantissa bits, bias, code of the largest number, of what is beyond it, of NaN; random bits
WIDE = {"f16": (10, 15, 0x7BFF, 0x7C00, 0x7FFF, 13), "bf16": (7, 127, 0x7F7F, 0x7F80, 0x7FFF, 16)}
FAR = 48  # as many dropped bits drop everything


def rounded(
    fn: FunctionLowering, v: Val, noise: Val, kind: tuple[int, ...], bits: int, clamps: bool, relu: bool
) -> Val:
    """The code (i32, of `bits` bits) of a float, rounded up where `noise` carries out of the dropped bits."""
    mantissa, bias, largest, infinity, nan, random = kind
    lowest = 128 - bias  # f32's exponent of the smallest normal number
    word = integer_of(fn, v)
    magnitude = binary(fn, "and", word, 0x7FFFFFFF)
    exponent = binary(fn, "lshr", magnitude, 23)
    normal = compare(fn, "ne", exponent, 0)
    fraction = binary(fn, "or", binary(fn, "and", magnitude, 0x7FFFFF), select(fn, normal, 1 << 23, fn.const("i32", 0)))
    exponent = fn.call("llvm.umax.i32", "i32", exponent, fn.const("i32", 1))
    below = fn.call("llvm.usub.sat.i32", "i32", fn.const("i32", lowest), exponent)
    drop = fn.call("llvm.umin.i32", "i32", binary(fn, "add", below, 23 - mantissa), fn.const("i32", FAR))
    wide = fn.resize(drop, 64)
    dither = binary(fn, "shl", fn.resize(noise, 64), binary(fn, "sub", wide, random))
    kept = binary(fn, "lshr", binary(fn, "add", fn.resize(fraction, 64), dither), wide)
    above = fn.call("llvm.usub.sat.i32", "i32", exponent, fn.const("i32", lowest))
    code = binary(fn, "add", binary(fn, "shl", above, mantissa), fn.resize(kept, 32))
    code = fn.call("llvm.umin.i32", "i32", code, fn.const("i32", largest if clamps else infinity))
    negative = binary(fn, "lshr", word, 31)
    if relu:
        code = select(fn, compare(fn, "ne", negative, 0), 0, code)
    else:
        code = binary(fn, "or", code, binary(fn, "shl", negative, bits - 1))
    return select(fn, compare(fn, "ugt", magnitude, 0x7F800000), nan, code)


@lowers("cvt_stochastic")
def cvt_stochastic(fn: FunctionLowering, inst: Inst) -> None:
    """Two floats, a to the high half."""
    mods = inst.shape.mods
    kind = WIDE[mods["t"].removesuffix("x2")]
    noise, mask = fn.src(inst, "r"), (1 << kind[-1]) - 1
    parts = [binary(fn, "and", noise, mask), binary(fn, "and", binary(fn, "lshr", noise, 16), mask)]
    low, high = (
        rounded(fn, fn.src(inst, name), part, kind, 16, bool(mods["satfinite"]), bool(mods["relu"]))
        for name, part in zip("ba", parts, strict=True)
    )
    fn.put(inst, "d", binary(fn, "or", low, binary(fn, "shl", high, 16)))


@lowers("cvt_stochastic_small")
def cvt_stochastic_small(fn: FunctionLowering, inst: Inst) -> None:
    """Four floats, the last lowest. Two share 16 random bits, one of them in reverse order."""
    name = inst.shape.mods["small"].removesuffix("x4")
    width, mantissa, bias, largest, nan = FORMATS[name]
    noise = fn.src(inst, "r")
    if name == "e2m1":  # bytes 0 and 2 for one half, 1 and 3 for the other
        low = binary(fn, "or", binary(fn, "and", noise, 0xFF), binary(fn, "and", binary(fn, "lshr", noise, 8), 0xFF00))
        inner = binary(fn, "and", binary(fn, "lshr", noise, 8), 0xFF)
        high = binary(fn, "or", inner, binary(fn, "and", binary(fn, "lshr", noise, 16), 0xFF00))
    else:
        low, high = binary(fn, "and", noise, 0xFFFF), binary(fn, "lshr", noise, 16)

    def reverse(v: Val) -> Val:
        return binary(fn, "lshr", fn.call("llvm.bitreverse.i32", "i32", v), 16)

    kind = (mantissa, bias, largest, largest, nan, 16)
    result = fn.const("i32", 0)
    values = fn.vec(inst, "a", "f32")[::-1]
    for k, (v, part) in enumerate(zip(values, (low, reverse(low), high, reverse(high)), strict=True)):
        code = rounded(fn, v, part, kind, width, True, bool(inst.shape.mods["relu"]))
        result = binary(fn, "or", result, binary(fn, "shl", code, k * spacing(name)))
    fn.put(inst, "d", fn.resize(result, 4 * spacing(name)))
