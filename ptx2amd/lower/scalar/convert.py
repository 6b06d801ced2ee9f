"""cvt between integers and floats of every width."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import LLVM_TYPE, width
from ptx2amd.lower.scalar import directed
from ptx2amd.lower.scalar.compare import from_bfloat
from ptx2amd.lower.scalar.fp import (
    flush,
    integer_of,
    intrinsic,
    is_nan,
    join,
    narrow,
    saturate,
    widen,
    with_ftz,
)
from ptx2amd.lower.scalar.half import oddly_rounded, relu, satfinite, to_bfloat
from ptx2amd.lower.scalar.integer import binary, compare, select, sources
from ptx2amd.ptx.ast import Inst

TO_INTEGRAL = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def limits(ptx_type: str) -> tuple[int, int]:
    n = int(ptx_type[1:])
    return (-(1 << n - 1), (1 << n - 1) - 1) if ptx_type[0] == "s" else (0, (1 << n) - 1)


@lowers("cvt_int_int")
def cvt_int_int(fn: FunctionLowering, inst: Inst) -> None:
    """Truncation or extension; .sat clamps first, in the wider of the two types."""
    mods = inst.shape.mods
    v, is_signed = fn.src(inst, "a"), mods["a"][0] == "s"
    n = int(mods["t"][1:])
    if mods.get("sat"):
        (low, high), (least, most) = limits(mods["t"]), limits(mods["a"])
        kind = "s" if is_signed else "u"
        if low > least:
            v = fn.call(f"llvm.{kind}max.{v.ty}", v.ty, v, fn.const(v.ty, low))
        if high < most:
            v = fn.call(f"llvm.{kind}min.{v.ty}", v.ty, v, fn.const(v.ty, high))
    fn.put(inst, "d", fn.resize(v, n, is_signed))


def clamped(fn: FunctionLowering, v: Val, t: str) -> Val:
    """A signed i32 within the limits of PTX type t."""
    low, high = limits(t)
    v = fn.call("llvm.smax.i32", "i32", v, fn.const("i32", low))
    return fn.call("llvm.smin.i32", "i32", v, fn.const("i32", high))


@lowers("cvt_pack")
def cvt_pack(fn: FunctionLowering, inst: Inst) -> None:
    """a and b clamped to the type, a above b, both below c moved up."""
    t = inst.shape.mods["t"]
    n = int(t[1:])
    parts = [binary(fn, "and", clamped(fn, v, t), (1 << n) - 1) for v in sources(fn, inst, "ab")]
    result = binary(fn, "or", binary(fn, "shl", parts[0], n), parts[1])
    if fn.has(inst, "c"):
        result = binary(fn, "or", result, binary(fn, "shl", fn.src(inst, "c"), 2 * n))
    fn.put(inst, "d", result)


def machine_integer(fn: FunctionLowering, v: Val, sign: str) -> Val:
    """A float or double as an i32: the fraction is dropped, the result saturates, NaN gives 0. It becomes one
    instruction (codegen/conversions.py)."""
    return fn.call(f"llvm.fpto{sign}i.sat.i32.{'f64' if v.ty == 'double' else 'f32'}", "i32", v)


@lowers("cvt_float_int")
def cvt_float_int(fn: FunctionLowering, inst: Inst) -> None:
    """Rounded to an integral value, then clamped. NaN gives 0, or the top bit alone when the source is f64
    or the destination has 64 bits."""
    mods = inst.shape.mods
    v, t = fn.src(inst, "a"), mods["t"]
    if v.ty == "half":
        v = fn.op("float", f"fpext {v.t} to float")
    elif v.ty == "bfloat":
        v = widen(fn, from_bfloat(fn, v))
    elif v.ty == "float" and mods["rnd"] in ("rmi", "rpi"):  # the others round denormals to 0 anyway
        if mods.get("ftz"):
            v = flush(fn, v)
        elif fn.f32_denormals == "flush":
            v = widen(fn, v)
    ty = LLVM_TYPE[t][0]
    suffix = "f64" if v.ty == "double" else "f32"
    whole = v if mods["rnd"] == "rzi" else intrinsic(fn, TO_INTEGRAL[mods["rnd"]], v)
    if width(ty) > 32:
        result = fn.call(f"llvm.fpto{t[0]}i.sat.{ty}.{suffix}", ty, whole)
    else:
        result = machine_integer(fn, whole, "u" if t == "u32" else "s")
        if width(ty) < 32:
            result = fn.resize(clamped(fn, result, t), width(ty))
    if mods["a"] == "f64" or ty == "i64":
        result = select(fn, is_nan(fn, v), 1 << int(t[1:]) - 1, result)
    fn.put(inst, "d", result)


def double_of(fn: FunctionLowering, v: Val, is_signed: bool, rnd: str) -> Val:
    """An i64 as a double, rounded as told: the exact halves, added once."""
    high = fn.resize(binary(fn, "lshr", v, 32), 32)
    high = fn.op("double", f"{'s' if is_signed else 'u'}itofp {high.t} to double")
    high = binary(fn, "fmul", high, fn.const("double", 2.0**32))
    low = fn.op("double", f"uitofp {fn.resize(v, 32).t} to double")
    return directed.rounded(fn, "add", [high, low], rnd)


def odd_double(fn: FunctionLowering, v: Val, is_signed: bool) -> Val:
    """An i64 as a double rounded to odd (see oddly_rounded)."""
    low, high = (integer_of(fn, double_of(fn, v, is_signed, rnd)) for rnd in ("rm", "rp"))
    odd = compare(fn, "ne", binary(fn, "and", low, 1), 0)
    return fn.cast(select(fn, odd, low, high), "double")


def float_of(fn: FunctionLowering, v: Val, is_signed: bool, rnd: str) -> Val:
    """An integer as a float."""
    n = width(v.ty)
    convert = f"{'s' if is_signed else 'u'}itofp {v.t} to"
    if rnd == "rn" or n < 32:
        return fn.op("float", f"{convert} float")
    wide = double_of(fn, v, is_signed, rnd) if n == 64 else fn.op("double", f"{convert} double")
    return narrow(fn, wide, rnd, fn.f32_denormals == "flush")


@lowers("cvt_int_float")
def cvt_int_float(fn: FunctionLowering, inst: Inst) -> None:
    mods = inst.shape.mods
    v, is_signed, rnd = fn.src(inst, "a"), mods["a"][0] == "s", mods["rnd"]
    n, ty = width(v.ty), LLVM_TYPE[mods["t"]][0]
    convert = f"{'s' if is_signed else 'u'}itofp {v.t} to"
    if ty == "double":
        y = double_of(fn, v, is_signed, rnd) if n == 64 and rnd != "rn" else fn.op(ty, f"{convert} double")
    elif ty == "float":
        y = float_of(fn, v, is_signed, rnd)
    elif ty == "half":  # numbers that f32 cannot hold exactly are beyond f16 anyway
        y = to_half(fn, float_of(fn, v, is_signed, rnd), rnd)
    elif n < 32 or rnd != "rn":
        y = to_bfloat(fn, float_of(fn, v, is_signed, rnd), rnd)
    else:
        wide = odd_double(fn, v, is_signed) if n == 64 else fn.op("double", f"{convert} double")
        y = to_bfloat(fn, oddly_rounded(fn, "fptrunc", [wide]), rnd)
    fn.put(inst, "d", saturate(fn, y) if mods.get("sat") else y)


def to_half(fn: FunctionLowering, v: Val, rnd: str) -> Val:
    """float -> half; in other roundings than to nearest corrected by the rounding error."""
    nearest = fn.op("half", f"fptrunc {v.t} to half")
    if rnd == "rn":
        return nearest
    if fn.f32_denormals == "flush":  # f32 denormals round like 2^-100
        bits = integer_of(fn, v)
        magnitude = binary(fn, "and", bits, 0x7FFFFFFF)
        denormal = compare(fn, "ult", binary(fn, "sub", magnitude, 1), 0x7FFFFF)
        v = fn.cast(select(fn, denormal, binary(fn, "or", bits, (127 - 100) << 23), bits), "float")
    back = fn.op("float", f"fpext {nearest.t} to float")
    return directed.corrected(fn, nearest, binary(fn, "fsub", v, back), rnd)


def float_to_float(fn: FunctionLowering, v: Val, ty: str, rnd: str, ftz: bool) -> Val:
    """Between different float types. ftz is about f32, on either side."""
    if v.ty == "bfloat":
        v = from_bfloat(fn, v)
        if ty == "float":
            return flush(fn, v) if ftz else v
    elif v.ty == "half":
        v = fn.op("float", f"fpext {v.t} to float")  # never an f32 denormal
        if ty == "float":
            return v
    if ty == "double":
        return widen(fn, v, ftz)
    if ty == "float":
        return narrow(fn, v, rnd, ftz)
    if v.ty == "double":
        if ty == "half" and rnd == "rn":
            return fn.op("half", f"fptrunc {v.t} to half")
        v = oddly_rounded(fn, "fptrunc", [v]) if rnd == "rn" else narrow(fn, v, rnd)
    elif ftz and ty != "half":  # as the hardware has it: a denormal rounded up becomes the least half
        v = flush(fn, v)
    return to_half(fn, v, rnd) if ty == "half" else to_bfloat(fn, v, rnd)


def finished(fn: FunctionLowering, inst: Inst, v: Val) -> Val:
    """v with .sat, .satfinite, .relu applied."""
    mods = inst.shape.mods
    if mods.get("sat"):
        v = saturate(fn, v, bool(mods.get("ftz")))
    if mods.get("satfinite"):
        v = satfinite(fn, v)
    return relu(fn, v) if mods.get("relu") else v


@lowers("cvt_float_float")
def cvt_float_float(fn: FunctionLowering, inst: Inst) -> None:
    mods = inst.shape.mods
    ty = LLVM_TYPE[mods["t"]][0]
    v = float_to_float(fn, fn.src(inst, "a"), ty, mods.get("rnd") or "rn", bool(mods.get("ftz")))
    fn.put(inst, "d", finished(fn, inst, v))


@lowers("cvt_pair")
def cvt_pair(fn: FunctionLowering, inst: Inst) -> None:
    """Two f32: a becomes the high half, b the low one."""
    mods = inst.shape.mods
    ty = LLVM_TYPE[mods["t"]][0][1:-1].split(" x ")[1]
    halves = [finished(fn, inst, float_to_float(fn, v, ty, mods["rnd"], False)) for v in sources(fn, inst, "ba")]
    fn.put(inst, "d", join(fn, halves))


@lowers("cvt_same")
def cvt_same(fn: FunctionLowering, inst: Inst) -> None:
    """Rounding to an integral value, or (without one) flushing and clamping alone."""
    mods = inst.shape.mods
    v, rnd, ftz = fn.src(inst, "a"), mods["rnd"], bool(mods.get("ftz"))
    if rnd and v.ty == "bfloat":
        integral = intrinsic(fn, TO_INTEGRAL[rnd], widen(fn, from_bfloat(fn, v)))
        v = to_bfloat(fn, fn.op("float", f"fptrunc {integral.t} to float"))
    elif rnd:
        if ftz and rnd in ("rmi", "rpi"):  # LLVM folds the ceiling of a denormal constant to 1, whatever the mode
            v = flush(fn, v)
        v = with_ftz(fn, lambda x: intrinsic(fn, TO_INTEGRAL[rnd], x), [v], ftz)
    elif ftz:
        v = flush(fn, v)
    fn.put(inst, "d", finished(fn, inst, v))


@lowers("cvt_tf32")
def cvt_tf32(fn: FunctionLowering, inst: Inst) -> None:
    """10 mantissa bits; the other 13 are zero."""
    mods = inst.shape.mods
    bits = integer_of(fn, fn.src(inst, "a"))
    if mods["rnd"] == "rna":
        rounded = binary(fn, "add", bits, 0x1000)
    elif mods["rnd"] == "rn":
        odd = binary(fn, "and", binary(fn, "lshr", bits, 13), 1)
        rounded = binary(fn, "add", bits, binary(fn, "add", odd, 0x0FFF))
    else:
        rounded = bits
    rounded = binary(fn, "and", rounded, 0xFFFFE000)
    magnitude = binary(fn, "and", bits, 0x7FFFFFFF)
    rounded = select(fn, compare(fn, "ult", magnitude, 0x7F800000), rounded, bits)
    if mods.get("satfinite"):
        sign = binary(fn, "and", bits, 1 << 31)
        large = compare(fn, "uge", binary(fn, "and", rounded, 0x7FFFFFFF), 0x7F800000)
        rounded = select(fn, large, binary(fn, "or", sign, 0x7F7FE000), rounded)
    if mods.get("relu"):
        rounded = integer_of(fn, relu(fn, fn.cast(rounded, "float")))
    fn.put(inst, "d", select(fn, compare(fn, "ugt", magnitude, 0x7F800000), 0x7FFFE000, rounded))
