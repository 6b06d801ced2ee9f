"""The approximate functions: hardware estimates, with scaling where denormals have to survive."""

from __future__ import annotations

import math

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.scalar.float import CLASSES, rounding
from ptx2amd.lower.scalar.fp import arith, flush, integer_of, intrinsic, is_identity, with_ftz
from ptx2amd.lower.scalar.integer import binary, compare, select, sources
from ptx2amd.ptx.ast import Inst


def estimate(fn: FunctionLowering, name: str, v: Val) -> Val:
    """A hardware function; it takes f32 denormals for zero and gives none."""
    return fn.call(f"llvm.amdgcn.{name}.{'f64' if v.ty == 'double' else 'f32'}", v.ty, v)


def reciprocal(fn: FunctionLowering, v: Val) -> Val:
    """v_rcp_f32. Of constants LLVM makes 1 / v, subnormal operands and results kept; it knows late what is constant."""
    constant = fn.call("llvm.is.constant.f32", "i1", v)
    y = estimate(fn, "rcp", select(fn, constant, flush(fn, v), v))
    return select(fn, constant, flush(fn, y), y)


def relaxed(fn: FunctionLowering, text: str, ulps: str) -> Val:
    """An LLVM float operation that need only be right within `ulps`."""
    return fn.op("float", f"{text}, !fpmath !{{float {ulps}}}")


def times(fn: FunctionLowering, v: Val, factor: Val | float, ftz: bool) -> Val:
    return arith(fn, "mul", [v, factor if isinstance(factor, Val) else fn.const("float", factor)], "rn", ftz)


def tiny(fn: FunctionLowering, v: Val) -> Val:
    """Whether v is below 2^-100: perhaps subnormal, which needs scaling, or negative, which scaling does not change for
    roots and logarithms."""
    return fn.op("i1", f"fcmp olt {v.t}, {fn.const('float', 2.0**-100)}")


def scaled(fn: FunctionLowering, name: str, v: Val, up: float, after: float) -> Val:
    """estimate(v * up) * after for tiny v, else estimate(v): keeps denormal arguments."""
    small = tiny(fn, v)
    v = select(fn, small, times(fn, v, up, False), v)
    y = estimate(fn, name, v)
    return select(fn, small, times(fn, y, after, False), y)


@lowers("rcp_approx")
def rcp_approx(fn: FunctionLowering, inst: Inst) -> None:
    a = fn.src(inst, "a")
    if inst.shape.mods["ftz"]:
        y = reciprocal(fn, a)
    else:
        y = with_ftz(fn, lambda x: quotient_estimate(fn, fn.const(x.ty, 1.0), x, "1.0"), [a], False)
    fn.put(inst, "d", y)


def quotient_estimate(fn: FunctionLowering, a: Val, b: Val, ulps: str) -> Val:
    if a.ty == "double":
        return binary(fn, "fdiv", a, b)
    return relaxed(fn, f"fdiv {a.t}, {b}", ulps)


@lowers("div_approx")
def div_approx(fn: FunctionLowering, inst: Inst) -> None:
    """a * (1 / b): for |b| above 2^126 the reciprocal is 0, as PTX has it. Without .ftz, both are scaled when b is
    subnormal, as its reciprocal may overflow where a / b does not; a overflows only where the quotient does."""
    a, b = sources(fn, inst, "ab")
    _, ftz = rounding(inst)
    if not ftz:
        subnormal = fn.op("i1", f"call i1 @llvm.is.fpclass.f32({b.t}, i32 {CLASSES['subnormal']})")
        scale = select(fn, subnormal, fn.const("float", 2.0**24), fn.const("float", 1.0))
        a, b = (times(fn, v, scale, False) for v in (a, b))
    v = arith(fn, "mul", [a, reciprocal(fn, b)], "rn", ftz)
    if ftz and is_identity("mul", [b]):
        v = flush(fn, v)  # LLVM makes a of a / 1
    fn.put(inst, "d", v)


@lowers("div_full")
def div_full(fn: FunctionLowering, inst: Inst) -> None:
    a, b = sources(fn, inst, "ab")
    _, ftz = rounding(inst)
    if ftz and fn.f32_denormals == "flush":  # LLVM's estimate takes the operands apart, denormals too
        a, b = flush(fn, a), flush(fn, b)
    fn.put(inst, "d", with_ftz(fn, lambda x, y: quotient_estimate(fn, x, y, "2.0"), [a, b], ftz))


@lowers("sqrt_approx")
def sqrt_approx(fn: FunctionLowering, inst: Inst) -> None:
    a = fn.src(inst, "a")
    if inst.shape.mods["ftz"]:
        fn.put(inst, "d", estimate(fn, "sqrt", a))
    else:
        fn.put(inst, "d", scaled(fn, "sqrt", a, 2.0**64, 2.0**-32))


@lowers("rsqrt_approx")
def rsqrt_approx(fn: FunctionLowering, inst: Inst) -> None:
    a = fn.src(inst, "a")
    if inst.shape.mods["ftz"]:
        fn.put(inst, "d", estimate(fn, "rsq", a))
    else:
        fn.put(inst, "d", scaled(fn, "rsq", a, 2.0**64, 2.0**32))


@lowers("ex2_approx")
def ex2_approx(fn: FunctionLowering, inst: Inst) -> None:
    """Results below 2^-126 are computed 2^64 times as large and scaled down."""
    a = fn.src(inst, "a")
    if inst.shape.mods["ftz"]:
        fn.put(inst, "d", estimate(fn, "exp2", a))
        return
    small = fn.op("i1", f"fcmp olt {a.t}, {fn.const('float', -126.0)}")
    raised = select(fn, small, binary(fn, "fadd", a, fn.const("float", 64.0)), a)
    y = estimate(fn, "exp2", raised)
    fn.put(inst, "d", select(fn, small, times(fn, y, 2.0**-64, False), y))


@lowers("lg2_approx")
def lg2_approx(fn: FunctionLowering, inst: Inst) -> None:
    a = fn.src(inst, "a")
    if inst.shape.mods["ftz"]:
        fn.put(inst, "d", estimate(fn, "log", a))
        return
    small = tiny(fn, a)
    y = estimate(fn, "log", select(fn, small, times(fn, a, 2.0**64, False), a))
    fn.put(inst, "d", select(fn, small, binary(fn, "fsub", y, fn.const("float", 64.0)), y))


def revolutions(fn: FunctionLowering, a: Val) -> Val:
    """An angle in radians as a fraction of a turn, in the range that v_sin and v_cos take."""
    turns = binary(fn, "fmul", a, fn.const("float", 1 / (2 * math.pi)))
    return fn.call("llvm.amdgcn.fract.f32", "float", turns)


@lowers("sin_approx")
def sin_approx(fn: FunctionLowering, inst: Inst) -> None:
    """Small angles, denormals among them, are their own sine."""
    a = fn.src(inst, "a")
    if inst.shape.mods["ftz"]:
        a = flush(fn, a)
    y = estimate(fn, "sin", revolutions(fn, a))
    magnitude = binary(fn, "and", integer_of(fn, a), 0x7FFFFFFF)
    fn.put(inst, "d", select(fn, compare(fn, "ult", magnitude, (127 - 10) << 23), a, y))


@lowers("cos_approx")
def cos_approx(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", estimate(fn, "cos", revolutions(fn, fn.src(inst, "a"))))


def tanh(fn: FunctionLowering, a: Val) -> Val:
    """(1 - t) / (1 + t) with t = exp(-2|a|); below 2^-7 the argument itself. Relative error below 2^-15."""
    t = estimate(fn, "exp2", binary(fn, "fmul", intrinsic(fn, "fabs", a), fn.const("float", -2 / math.log(2))))
    one = fn.const("float", 1.0)
    y = binary(fn, "fmul", binary(fn, "fsub", one, t), estimate(fn, "rcp", binary(fn, "fadd", one, t)))
    y = intrinsic(fn, "copysign", y, a)
    magnitude = binary(fn, "and", integer_of(fn, a), 0x7FFFFFFF)
    return select(fn, compare(fn, "ult", magnitude, (127 - 7) << 23), a, y)


@lowers("tanh_approx")
def tanh_approx(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", tanh(fn, fn.src(inst, "a")))


@lowers("coarse_f64")
def coarse_f64(fn: FunctionLowering, inst: Inst) -> None:
    """rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: only the upper 32 bits of the argument count, and those of
    the result that are zero in its lower 32 bits. (Division sequences of nvcc refine it.)"""
    high = binary(fn, "and", fn.cast(fn.src(inst, "a"), "i64"), 0xFFFFFFFF << 32)
    y = estimate(fn, "rcp" if inst.shape.form.mnemonic == "rcp" else "rsq", flush(fn, fn.cast(high, "double")))
    bits = integer_of(fn, flush(fn, y))
    finite = compare(fn, "ult", binary(fn, "and", bits, 0x7FF << 52), 0x7FE << 52)
    bits = select(fn, finite, binary(fn, "add", bits, 1 << 31), bits)
    fn.put(inst, "d", fn.cast(binary(fn, "and", bits, 0xFFFFFFFF << 32), "double"))


@lowers("rsqrt_f64")
def rsqrt_f64(fn: FunctionLowering, inst: Inst) -> None:
    """The hardware's estimate, once refined: y + y (1 - a y y) / 2."""
    a = fn.src(inst, "a")
    y = estimate(fn, "rsq", a)
    ay = binary(fn, "fmul", a, y)
    error = intrinsic(fn, "fma", fn.op("double", f"fneg {ay.t}"), y, fn.const("double", 1.0))
    half = binary(fn, "fmul", y, fn.const("double", 0.5))
    better = intrinsic(fn, "fma", half, error, y)
    usable = fn.op("i1", f"call i1 @llvm.is.fpclass.f64({error.t}, i32 {0x1F8})")
    fn.put(inst, "d", select(fn, usable, better, y))
