"""Floats of 8 bits and less, in pairs: e4m3 (no infinity, NaN 0x7f), e5m2 (a short f16), e2m3, e3m2 and e2m1
(neither infinity nor NaN), and the powers of two ue8m0 (NaN 0xff); and fixed-point numbers s2f6, 64 times theirs as a
signed byte. Scales are ue8m0; f64 holds all products and quotients exactly."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.scalar.fp import elements, integer_of, intrinsic, is_nan, join, narrow, widen
from ptx2amd.lower.scalar.half import as_float, relu, satfinite, to_bfloat
from ptx2amd.lower.scalar.integer import binary, compare, select, sources
from ptx2amd.ptx.ast import Inst

# name: bits, mantissa bits, bias, code of the largest number, what NaN becomes
FORMATS = {
    "e4m3": (8, 3, 7, 0x7E, 0x7F),
    "e5m2": (8, 2, 15, 0x7B, 0x7F),
    "e2m3": (6, 3, 1, 0x1F, 0x1F),
    "e3m2": (6, 2, 3, 0x1F, 0x1F),
    "e2m1": (4, 1, 1, 0x07, 0x07),
}
F64_BIAS, SCALE_BIAS, FRACTION = 1023, 127, 6


def to_small(fn: FunctionLowering, v: Val, name: str) -> Val:
    """float -> the format's code as an i32, to nearest, clamped to the largest number."""
    width, mantissa, bias, largest, nan = FORMATS[name]
    drop = 23 - mantissa
    bits = integer_of(fn, v)
    sign = binary(fn, "lshr", binary(fn, "and", bits, 1 << 31), 32 - width)
    magnitude = binary(fn, "and", bits, 0x7FFFFFFF)
    odd = binary(fn, "and", binary(fn, "lshr", magnitude, drop), 1)
    rounded = binary(fn, "add", magnitude, binary(fn, "add", odd, (1 << drop - 1) - 1))
    normal = binary(fn, "sub", binary(fn, "lshr", rounded, drop), (127 - bias) << mantissa)
    # below the smallest normal number: adding 2^k makes the f32 unit the format's
    unit = (127 + 1 - bias - mantissa + 23) << 23
    shifted = fn.op("float", f"fadd float {fn.cast(magnitude, 'float')}, {fn.bits('float', unit)}")
    denormal = binary(fn, "sub", integer_of(fn, shifted), unit)
    small = compare(fn, "ult", magnitude, (127 + 1 - bias) << 23)
    code = select(fn, small, denormal, normal)
    code = fn.call("llvm.umin.i32", "i32", code, fn.const("i32", largest))
    code = select(fn, compare(fn, "uge", magnitude, 0x47800000), largest, code)  # 2^16 and more
    return select(fn, compare(fn, "ugt", magnitude, 0x7F800000), nan, binary(fn, "or", code, sign))


def from_small(fn: FunctionLowering, byte: Val, name: str) -> Val:
    """A code (i32) -> half, exactly."""
    width, mantissa, bias, _, _ = FORMATS[name]
    top = 1 << width - 1
    magnitude = binary(fn, "and", byte, top - 1)
    sign = binary(fn, "shl", binary(fn, "and", byte, top), 16 - width)
    bits = binary(fn, "shl", magnitude, 10 - mantissa)
    if name != "e5m2":  # fewer exponent bits: as a f16 the number is too small by the difference of the biases
        scaled = fn.op("half", f"fmul {fn.cast(fn.resize(bits, 16), 'half').t}, {fn.const('half', 2.0 ** (15 - bias))}")
        bits = fn.resize(integer_of(fn, scaled), 32)
    bits = binary(fn, "or", bits, sign)
    if width == 8:
        nan = compare(fn, "ugt", magnitude, 0x7C if name == "e5m2" else 0x7E)
        bits = select(fn, nan, 0x7FFF, bits)
    return fn.cast(fn.resize(bits, 16), "half")


def from_fixed(fn: FunctionLowering, byte: Val) -> Val:
    """A s2f6 (in an i32) -> half, exactly."""
    number = fn.op("half", f"sitofp {fn.resize(byte, 8).t} to half")
    return fn.op("half", f"fmul {number.t}, {fn.const('half', 2.0**-FRACTION)}")


def to_fixed(fn: FunctionLowering, v: Val, scale: Val | None, rnd: str) -> Val:
    """float, divided by a scale -> s2f6 in an i32, clamped; NaN becomes the largest number."""
    if scale is None:
        by = fn.const("double", 2.0**FRACTION)
    else:
        exponent = binary(fn, "sub", fn.const("i32", F64_BIAS + SCALE_BIAS + FRACTION), scale)
        by = power_of_two(fn, exponent, scale)
    number = fn.op("double", f"fmul {widen(fn, v).t}, {by}")
    whole = intrinsic(fn, "roundeven" if rnd == "rn" else "trunc", number)
    code = fn.call("llvm.fptosi.sat.i8.f64", "i8", whole)
    return fn.resize(select(fn, is_nan(fn, number), 0x7F, code), 32)


def scaled(fn: FunctionLowering, v: Val, scale: Val) -> Val:
    """half times a scale -> bfloat, rounded once: f32 holds the product of so few digits."""
    by = power_of_two(fn, binary(fn, "add", scale, F64_BIAS - SCALE_BIAS), scale)
    product = fn.op("double", f"fmul double {fn.op('double', f'fpext {v.t} to double')}, {by}")
    return to_bfloat(fn, narrow(fn, product))


def power_of_two(fn: FunctionLowering, exponent: Val, scale: Val) -> Val:
    """The double with an exponent field, or NaN where the scale is."""
    bits = binary(fn, "shl", fn.resize(exponent, 64), 52)
    return fn.cast(select(fn, compare(fn, "eq", scale, 0xFF), 0x7FF8 << 48, bits), "double")


def scales(fn: FunctionLowering, inst: Inst) -> list[Val]:
    """The two scales, the low one first; none where there are none."""
    if not inst.shape.mods.get("scale"):
        return []
    both = fn.resize(fn.src(inst, "s"), 32)
    return [binary(fn, "and", both, 0xFF), binary(fn, "lshr", both, 8)]


@lowers("cvt_to_small")
def cvt_to_small(fn: FunctionLowering, inst: Inst) -> None:
    """Two f32 (a to the high byte), or an f16x2 or bf16x2."""
    mods = inst.shape.mods
    name = mods["small"].removesuffix("x2")
    args = sources(fn, inst, "ab")
    if len(args) == 1:
        parts = [as_float(fn, v) for v in elements(fn, args[0])]
    else:
        parts = args[::-1]
    step = spacing(name)
    if name == "s2f6":
        found = scales(fn, inst)
        codes = [to_fixed(fn, v, found[i] if found else None, mods["rnd"]) for i, v in enumerate(parts)]
        if mods["relu"]:
            codes = [select(fn, compare(fn, "ugt", code, 0x7F), 0, code) for code in codes]
    else:
        if mods["relu"]:
            parts = [relu(fn, v) for v in parts]
        codes = [to_small(fn, v, name) for v in parts]
    low, high = codes
    fn.put(inst, "d", fn.resize(binary(fn, "or", low, binary(fn, "shl", high, step)), 2 * step))


def spacing(name: str) -> int:
    """Bits from one code to the next: 6-bit codes stand in bytes."""
    return 4 if name == "e2m1" else 8


@lowers("cvt_from_small")
def cvt_from_small(fn: FunctionLowering, inst: Inst) -> None:
    mods = inst.shape.mods
    name = mods["small"].removesuffix("x2")
    both, step = fn.resize(fn.src(inst, "a"), 32), spacing(name)
    mask = (1 << (8 if name == "s2f6" else FORMATS[name][0])) - 1
    codes = [binary(fn, "and", binary(fn, "lshr", both, step * i), mask) for i in range(2)]
    parts = [from_fixed(fn, code) if name == "s2f6" else from_small(fn, code, name) for code in codes]
    if mods.get("scale"):
        parts = [scaled(fn, v, scale) for v, scale in zip(parts, scales(fn, inst), strict=True)]
    elif mods["t"] == "bf16x2":  # which has room for all of them
        parts = [to_bfloat(fn, as_float(fn, v)) for v in parts]
    if mods.get("satfinite"):
        parts = [satfinite(fn, v) for v in parts]
    if mods["relu"]:
        parts = [relu(fn, v) for v in parts]
    fn.put(inst, "d", join(fn, parts))


def to_power(fn: FunctionLowering, bits: Val, upwards: bool, finite: bool) -> Val:
    """The exponent of a float's bit pattern, of the next power of two downwards or upwards. The least is 2^-127,
    half the smallest normal number."""
    magnitude = binary(fn, "and", bits, 0x7FFFFFFF)
    code = magnitude
    if upwards:
        code = binary(fn, "add", code, 0x7FFFFF)
        denormal = compare(fn, "ult", magnitude, 0x800000)
        code = select(fn, denormal, binary(fn, "add", magnitude, 0x3FFFFF), code)
    code = binary(fn, "lshr", code, 23)
    if finite:
        code = fn.call("llvm.umin.i32", "i32", code, fn.const("i32", 0xFE))
    return select(fn, compare(fn, "ugt", magnitude, 0x7F800000), 0xFF, code)


@lowers("cvt_to_power")
def cvt_to_power(fn: FunctionLowering, inst: Inst) -> None:
    """Two f32 (a to the high byte) or a bf16x2."""
    mods = inst.shape.mods
    if mods["a"] == "f32":
        parts = [integer_of(fn, v) for v in sources(fn, inst, "ba")]
    else:
        both = fn.src(inst, "a", "b32")
        parts = [binary(fn, "shl", both, 16), binary(fn, "and", both, 0xFFFF0000)]
    low, high = (to_power(fn, v, mods["rnd"] == "rp", bool(mods["satfinite"])) for v in parts)
    fn.put(inst, "d", fn.resize(binary(fn, "or", low, binary(fn, "shl", high, 8)), 16))


@lowers("cvt_from_power")
def cvt_from_power(fn: FunctionLowering, inst: Inst) -> None:
    """Two bf16: 2^(code - 127), the least of which is denormal."""
    both = fn.resize(fn.src(inst, "a"), 32)
    result = fn.const("i32", 0)
    for i in range(2):
        code = binary(fn, "and", binary(fn, "lshr", both, 8 * i), 255)
        bits = select(fn, compare(fn, "eq", code, 0), 0x40, binary(fn, "shl", code, 7))
        bits = select(fn, compare(fn, "eq", code, 255), 0x7FFF, bits)
        result = binary(fn, "or", result, binary(fn, "shl", bits, 16 * i))
    fn.put(inst, "d", fn.cast(result, "<2 x bfloat>"))
