"""f32 and f64: arithmetic, division, roots, minimum, maximum, signs."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import width
from ptx2amd.lower.scalar import directed
from ptx2amd.lower.scalar.fp import (
    SUFFIX,
    arith,
    canonical_nan,
    each,
    flush,
    fuses,
    integer_of,
    intrinsic,
    is_constant,
    is_nan,
    is_nan_constant,
    narrow,
    plain,
    saturate,
    widen,
    with_ftz,
)
from ptx2amd.lower.scalar.integer import binary, select, sources
from ptx2amd.ptx.ast import Inst


def rounding(inst: Inst) -> tuple[str, bool]:
    """The instruction's rounding ("rn" when it names none) and whether it flushes f32 denormals."""
    mods = inst.shape.mods
    return mods.get("rnd") or "rn", bool(mods.get("ftz"))


@lowers("float_arith")
def float_arith(fn: FunctionLowering, inst: Inst) -> None:
    """add, sub, mul, fma; mad is fma since sm_20."""
    rnd, ftz = rounding(inst)
    op = inst.shape.form.mnemonic.replace("mad", "fma")
    args = sources(fn, inst)
    fuse = fuses(fn, inst)
    v = arith_f64(fn, op, args, rnd, fuse) if args[0].ty == "double" else arith(fn, op, args, rnd, ftz, fuse)
    fn.put(inst, "d", saturate(fn, v, ftz) if inst.shape.mods.get("sat") else v)


def arith_f64(fn: FunctionLowering, op: str, args: list[Val], rnd: str, fuse: bool) -> Val:
    if rnd == "rn":
        return plain(fn, op, args, fuse)
    return directed.rounded(fn, op, args, rnd)


@lowers("float_arith_pair")
def float_arith_pair(fn: FunctionLowering, inst: Inst) -> None:
    rnd, ftz = rounding(inst)
    op = inst.shape.form.mnemonic
    fuse = fuses(fn, inst)
    fn.put(inst, "d", each(fn, lambda *args: arith(fn, op, list(args), rnd, ftz, fuse), sources(fn, inst)))


def sign_of(fn: FunctionLowering, *args: Val) -> Val:
    """The exclusive or of the sign bits, in place, as an integer."""
    bits = integer_of(fn, args[0])
    for other in args[1:]:
        bits = binary(fn, "xor", bits, integer_of(fn, other))
    return binary(fn, "and", bits, 1 << width(bits.ty) - 1)


def min_max(fn: FunctionLowering, inst: Inst, args: list[Val]) -> Val:
    """min or max of scalars as the modifiers say; -0 < +0. NaN loses, or with .NaN makes the result canonical."""
    mods = inst.shape.mods
    name = {"min": "minimumnum", "max": "maximumnum"}[inst.shape.form.mnemonic]
    given = args
    sign = sign_of(fn, *args) if mods.get("xorsign") else None
    if sign or mods.get("abs"):
        args = [intrinsic(fn, "fabs", a) for a in args]

    def op(*values: Val) -> Val:
        v = values[0]
        for other in values[1:]:
            v = intrinsic(fn, name, v, other)
        return v

    if args[0].ty == "half" and mods.get("ftz"):
        v = op(*(flush(fn, a) for a in args))
    else:
        v = with_ftz(fn, op, args, bool(mods.get("ftz")))
        if mods.get("ftz") and fn.f32_denormals == "flush" and any(map(is_nan_constant, given)):
            v = flush(fn, v)  # LLVM makes x of min(x, NaN)
    v = fn.cast(binary(fn, "or", integer_of(fn, v), sign), v.ty) if sign else v
    if not mods.get("nan"):
        return v
    nan = is_nan(fn, *given[:2])
    for other in given[2:]:
        nan = binary(fn, "or", nan, is_nan(fn, other))
    return select(fn, nan, fn.bits(v.ty, canonical_nan(v.ty)), v)


@lowers("float_minmax")
def float_minmax(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", min_max(fn, inst, sources(fn, inst)))


def quotient(fn: FunctionLowering, a: Val, b: Val, rnd: str, ftz: bool) -> Val:
    """a / b, correctly rounded. f32 with another rounding than to nearest: the f64 quotient has the right
    side of every f32 number, so rounding it again in that direction is exact."""
    if rnd == "rn":
        if ftz and fn.f32_denormals == "flush":
            return flushing_quotient(fn, flush(fn, a), flush(fn, b))
        return with_ftz(fn, lambda x, y: binary(fn, "fdiv", x, y), [a, b], ftz)
    if a.ty == "float":
        return narrow(fn, binary(fn, "fdiv", widen(fn, a, ftz), widen(fn, b, ftz)), rnd, ftz)
    return directed.rounded(fn, "div", [a, b], rnd)


def flushing_quotient(fn: FunctionLowering, a: Val, b: Val) -> Val:
    """f32 a / b in a kernel that flushes denormals: of the mantissas, as the remainders that LLVM's steps
    compute must not be flushed."""
    parts = [fn.call("llvm.amdgcn.frexp.mant.f32", "float", v) for v in (a, b)]
    ea, eb = (fn.call("llvm.amdgcn.frexp.exp.i32.f32", "i32", v) for v in (a, b))
    q = binary(fn, "fdiv", *parts)
    return fn.op("float", f"call float @llvm.ldexp.f32.i32({q.t}, {binary(fn, 'sub', ea, eb).t})")


def root(fn: FunctionLowering, a: Val, rnd: str, ftz: bool) -> Val:
    if rnd == "rn":
        a = flush(fn, a) if ftz and is_constant(a) else a
        return with_ftz(fn, lambda x: intrinsic(fn, "sqrt", x), [a], ftz)
    if a.ty == "float":
        return narrow(fn, intrinsic(fn, "sqrt", widen(fn, a, ftz)), rnd, ftz)
    return directed.rounded(fn, "sqrt", [a], rnd)


@lowers("float_div")
def float_div(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst, "ab")
    fn.put(inst, "d", quotient(fn, a, b, *rounding(inst)))


@lowers("float_rcp")
def float_rcp(fn: FunctionLowering, inst: Inst) -> None:
    a = fn.src(inst, "a")
    fn.put(inst, "d", quotient(fn, fn.const(a.ty, 1.0), a, *rounding(inst)))


@lowers("float_sqrt")
def float_sqrt(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", root(fn, fn.src(inst, "a"), *rounding(inst)))


@lowers("float_sign")
def float_sign(fn: FunctionLowering, inst: Inst) -> None:
    """neg and abs change the sign bit alone, of NaN too."""
    a = fn.src(inst, "a")
    if inst.shape.mods.get("ftz"):
        a = flush(fn, a)
    op = "fneg" if inst.shape.form.mnemonic == "neg" else f"call {a.ty} @llvm.fabs.{SUFFIX[a.ty]}"
    fn.put(inst, "d", fn.op(a.ty, f"fneg {a.t}" if op == "fneg" else f"{op}({a.t})"))


# LLVM's class bits: 1 signalling and 2 quiet NaN, 4 and 512 infinities, 8 and 256 normal, 16 and 128 denormal,
# 32 and 64 zeros. PTX counts zeros among the normal numbers.
CLASSES = {
    "finite": 0x1F8,
    "infinite": 0x204,
    "number": 0x3FC,
    "notanumber": 0x003,
    "normal": 0x168,
    "subnormal": 0x090,
}


@lowers("testp")
def testp(fn: FunctionLowering, inst: Inst) -> None:
    a = fn.src(inst, "a")
    mask = CLASSES[inst.shape.mods["op"]]
    fn.put(inst, "p", fn.op("i1", f"call i1 @llvm.is.fpclass.{SUFFIX[a.ty]}({a.t}, i32 {mask})"))
