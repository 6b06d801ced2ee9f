"""f32 and f64: arithmetic, division, roots, minimum, maximum, signs."""

from __future__ import annotations

from ptx2amd.lower.fp import (
    SUFFIX,
    arith,
    each,
    flush,
    integer_of,
    intrinsic,
    moded,
    narrow,
    saturate,
    widen,
    with_ftz,
)
from ptx2amd.lower.function import FunctionLowering, Val
from ptx2amd.lower.integer import binary, compare, select, sources
from ptx2amd.lower.registry import lowers
from ptx2amd.lower.value import width
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
    v = arith(fn, op, sources(fn, inst), rnd, ftz)
    fn.put(inst, "d", saturate(fn, v, ftz) if inst.shape.mods.get("sat") else v)


@lowers("float_arith_pair")
def float_arith_pair(fn: FunctionLowering, inst: Inst) -> None:
    rnd, ftz = rounding(inst)
    op = inst.shape.form.mnemonic
    fn.put(inst, "d", each(fn, lambda *args: arith(fn, op, list(args), rnd, ftz), sources(fn, inst)))


def sign_of(fn: FunctionLowering, *args: Val) -> Val:
    """The exclusive or of the sign bits, in place, as an integer."""
    bits = integer_of(fn, args[0])
    for other in args[1:]:
        bits = binary(fn, "xor", bits, integer_of(fn, other))
    return binary(fn, "and", bits, 1 << width(bits.ty) - 1)


def min_max(fn: FunctionLowering, inst: Inst, args: list[Val]) -> Val:
    """min or max of scalars as the modifiers say; -0 < +0. NaN loses, or wins with .NaN."""
    mods = inst.shape.mods
    name = {"min": "minimum", "max": "maximum"}[inst.shape.form.mnemonic] + ("" if mods.get("nan") else "num")
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
    return fn.cast(binary(fn, "or", integer_of(fn, v), sign), v.ty) if sign else v


@lowers("float_minmax")
def float_minmax(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", min_max(fn, inst, sources(fn, inst)))


def quotient(fn: FunctionLowering, a: Val, b: Val, rnd: str, ftz: bool) -> Val:
    """a / b, correctly rounded. f32 with another rounding than to nearest: the f64 quotient has the right
    side of every f32 number, so rounding it again in that direction is exact."""
    if rnd == "rn":
        return with_ftz(fn, lambda x, y: binary(fn, "fdiv", x, y), [a, b], ftz)
    if a.ty == "float":
        return narrow(fn, binary(fn, "fdiv", widen(fn, a, ftz), widen(fn, b, ftz)), rnd, ftz)
    (a, ea), (b, eb) = split(fn, a), split(fn, b)
    q = binary(fn, "fdiv", a, b)
    q = directed(fn, q, intrinsic(fn, "fma", fn.op("double", f"fneg {q.t}"), b, a), b, rnd)
    return scale(fn, q, fn.op("i32", f"sub {ea.t}, {eb}"), rnd)


def root(fn: FunctionLowering, a: Val, rnd: str, ftz: bool) -> Val:
    if rnd == "rn":
        return with_ftz(fn, lambda x: intrinsic(fn, "sqrt", x), [a], ftz)
    if a.ty == "float":
        return narrow(fn, intrinsic(fn, "sqrt", widen(fn, a, ftz)), rnd, ftz)
    a, e = split(fn, a)
    odd = binary(fn, "and", e, 1)
    a = scale(fn, a, odd, "rn")
    q = intrinsic(fn, "sqrt", a)
    q = directed(
        fn, q, intrinsic(fn, "fma", fn.op("double", f"fneg {q.t}"), q, a), fn.const("double", 1.0), rnd
    )
    return scale(fn, q, binary(fn, "ashr", binary(fn, "sub", e, odd), 1), "rn")


def split(fn: FunctionLowering, v: Val) -> tuple[Val, Val]:
    """A double as mantissa in [0.5, 1) and exponent; zero, infinities and NaN as they are, with exponent 0."""
    mantissa = fn.op("double", f"call double @llvm.amdgcn.frexp.mant.f64({v.t})")
    exponent = fn.op("i32", f"call i32 @llvm.amdgcn.frexp.exp.i32.f64({v.t})")
    return mantissa, exponent


def scale(fn: FunctionLowering, v: Val, exponent: Val, rnd: str) -> Val:
    """v * 2^exponent."""
    if rnd == "rn":
        return fn.op("double", f"call double @llvm.ldexp.f64.i32({v.t}, {exponent.t})")
    return moded(fn, "v_ldexp_f64", "double", [v, exponent], rnd, fn.f32_denormals == "flush")


def directed(fn: FunctionLowering, q: Val, rest: Val, divisor: Val, rnd: str) -> Val:
    """q, rounded to nearest, moved to its neighbour where `rest / divisor` (exact - q) says that it lies on
    the wrong side. Normal numbers only; NaN in `rest` (infinite operands) changes nothing."""
    sign = fn.op("i1", f"fcmp olt {divisor.t}, 0.0")
    under = fn.op("i1", f"fcmp ogt {rest.t}, 0.0")  # q is below the exact value, for a positive divisor
    over = fn.op("i1", f"fcmp olt {rest.t}, 0.0")
    under, over = select(fn, sign, over, under), select(fn, sign, under, over)
    bits = integer_of(fn, q)
    negative = compare(fn, "slt", bits, 0)
    away, toward = binary(fn, "add", bits, 1), binary(fn, "sub", bits, 1)
    up, down = select(fn, negative, toward, away), select(fn, negative, away, toward)
    not_negative = binary(fn, "xor", negative, 1)
    if rnd in ("rm", "rz"):
        wrong = over if rnd == "rm" else binary(fn, "and", over, not_negative)
        bits = select(fn, wrong, down, bits)
    if rnd in ("rp", "rz"):
        wrong = under if rnd == "rp" else binary(fn, "and", under, negative)
        bits = select(fn, wrong, up, bits)
    return fn.cast(bits, "double")


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


# LLVM's class masks: 1 signalling NaN, 2 quiet NaN, 4 and 512 infinities, 8 and 256 normal, 16 and 128 denormal
CLASSES = {
    "finite": 0x1F8,
    "infinite": 0x204,
    "number": 0x3FC,
    "notanumber": 0x003,
    "normal": 0x108,
    "subnormal": 0x090,
}


@lowers("testp")
def testp(fn: FunctionLowering, inst: Inst) -> None:
    a = fn.src(inst, "a")
    mask = CLASSES[inst.shape.mods["op"]]
    fn.put(inst, "p", fn.op("i1", f"call i1 @llvm.is.fpclass.{SUFFIX[a.ty]}({a.t}, i32 {mask})"))
