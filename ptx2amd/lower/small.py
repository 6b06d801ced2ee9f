"""8-bit floats in pairs: e4m3 (bias 7, no infinity, NaN 0x7f) and e5m2 (bias 15, as a short f16)."""

from __future__ import annotations

from ptx2amd.lower.fp import elements, integer_of, join
from ptx2amd.lower.function import FunctionLowering, Val
from ptx2amd.lower.half import relu
from ptx2amd.lower.integer import binary, compare, select, sources
from ptx2amd.lower.registry import lowers
from ptx2amd.ptx.ast import Inst

# name: mantissa bits, bias, code of the largest number, code of NaN
FORMATS = {"e4m3": (3, 7, 0x7E, 0x7F), "e5m2": (2, 15, 0x7B, 0x7F)}


def to_small(fn: FunctionLowering, v: Val, name: str) -> Val:
    """float -> the format's byte as an i32, to nearest, clamped to the largest number."""
    mantissa, bias, largest, nan = FORMATS[name]
    drop = 23 - mantissa
    bits = integer_of(fn, v)
    sign = binary(fn, "lshr", binary(fn, "and", bits, 1 << 31), 24)
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
    """A byte (i32) -> half, exactly."""
    magnitude = binary(fn, "and", byte, 0x7F)
    sign = binary(fn, "shl", binary(fn, "and", byte, 0x80), 8)
    if name == "e5m2":
        bits = binary(fn, "shl", magnitude, 8)
        nan = compare(fn, "ugt", magnitude, 0x7C)
    else:  # one exponent bit fewer: as a f16 the number is 2^-8 too small
        tiny = fn.cast(fn.resize(binary(fn, "shl", magnitude, 7), 16), "half")
        scaled = fn.op("half", f"fmul {tiny.t}, {fn.const('half', 256.0)}")
        bits = fn.resize(integer_of(fn, scaled), 32)
        nan = compare(fn, "eq", magnitude, 0x7F)
    bits = select(fn, nan, 0x7FFF, binary(fn, "or", bits, sign))
    return fn.cast(fn.resize(bits, 16), "half")


@lowers("cvt_to_small")
def cvt_to_small(fn: FunctionLowering, inst: Inst) -> None:
    """Two f32 (a to the high byte) or an f16x2."""
    name = inst.shape.mods["small"].removesuffix("x2")
    args = sources(fn, inst, "ab")
    if len(args) == 1:
        parts = [fn.op("float", f"fpext {v.t} to float") for v in elements(fn, args[0])]
    else:
        parts = args[::-1]
    if inst.shape.mods["relu"]:
        parts = [relu(fn, v) for v in parts]
    low, high = (to_small(fn, v, name) for v in parts)
    fn.put(inst, "d", fn.resize(binary(fn, "or", low, binary(fn, "shl", high, 8)), 16))


@lowers("cvt_from_small")
def cvt_from_small(fn: FunctionLowering, inst: Inst) -> None:
    name = inst.shape.mods["small"].removesuffix("x2")
    both = fn.resize(fn.src(inst, "a"), 32)
    parts = [from_small(fn, binary(fn, "and", binary(fn, "lshr", both, 8 * i), 255), name) for i in range(2)]
    if inst.shape.mods["relu"]:
        parts = [relu(fn, v) for v in parts]
    fn.put(inst, "d", join(fn, parts))
