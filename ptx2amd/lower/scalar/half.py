"""f16 and bf16 arithmetic. f16 is the hardware's own; bf16 goes through f32."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import width
from ptx2amd.lower.scalar.approx import estimate, tanh
from ptx2amd.lower.scalar.compare import from_bfloat
from ptx2amd.lower.scalar.float import min_max
from ptx2amd.lower.scalar.fp import (
    arith,
    basic,
    canonical_nan,
    each,
    flush,
    fuses,
    integer_of,
    intrinsic,
    is_nan,
    moded,
    saturate,
)
from ptx2amd.lower.scalar.integer import binary, compare, select, sources
from ptx2amd.ptx.ast import Inst


def to_bfloat(fn: FunctionLowering, v: Val, rnd: str = "rn") -> Val:
    """float -> bfloat, on the bits. What is added for the rounding cannot change the upper half of an infinity."""
    bits = integer_of(fn, v)
    if rnd == "rn":
        bits = binary(fn, "add", bits, binary(fn, "add", binary(fn, "and", binary(fn, "lshr", bits, 16), 1), 0x7FFF))
    elif rnd in ("rp", "rm"):
        negative = compare(fn, "slt", bits, 0)
        up = select(fn, negative, *((0, fn.const("i32", 0xFFFF)) if rnd == "rp" else (0xFFFF, fn.const("i32", 0))))
        bits = binary(fn, "add", bits, up)
    bits = select(fn, is_nan(fn, v), 0x7FFF << 16, bits)
    return fn.cast(fn.resize(binary(fn, "lshr", bits, 16), 16), "bfloat")


def oddly_rounded(fn: FunctionLowering, op: str, args: list[Val]) -> Val:
    """The f32 result of an operation of `moded`, rounded to the odd one of its two neighbours when inexact: a
    second rounding, to fewer bits, then gives what a single one would have given. Denormals are kept."""
    low, high = (integer_of(fn, moded(fn, op, "float", args, rnd, False)) for rnd in ("rm", "rp"))
    odd = compare(fn, "ne", binary(fn, "and", low, 1), 0)
    return fn.cast(select(fn, odd, low, high), "float")


def bfloat_fma(fn: FunctionLowering, a: Val, b: Val, c: Val) -> Val:
    """fma of bfloats' values in f32, so rounded that a second rounding, to bfloat, gives what a single one would have
    given. If the f32 result is not half way between two bfloats, it is rounded to nearest; else to odd."""
    if fn.f32_denormals == "flush":
        quick, usable = quick_fma(fn, a, b, c)
    else:
        quick = integer_of(fn, intrinsic(fn, "fma", a, b, c))
        usable = compare(fn, "ne", binary(fn, "and", quick, 0xFFFF), 0x8000)
    here, slow, join = fn.block("fma"), fn.block("fma"), fn.block("fma")
    fn.label(here)
    fn.branch(usable, join, slow)
    fn.label(slow)
    y = integer_of(fn, oddly_rounded(fn, "fma", [a, b, c]))
    end = fn.block("fma")
    fn.label(end)
    fn.label(join)
    return fn.cast(fn.op("i32", f"phi i32 [ {quick}, %{here} ], [ {y}, %{end} ]"), "float")


def quick_fma(fn: FunctionLowering, a: Val, b: Val, c: Val) -> tuple[Val, Val]:
    """The bits of fma rounded to odd where denormals are flushed, and whether no number on the way is too small or too
    large for that. Products have 16 bits: in range, the rounding error of the sum decides."""
    p = binary(fn, "fmul", a, b)
    exponent = binary(fn, "and", binary(fn, "lshr", integer_of(fn, p), 23), 255)
    fits = compare(fn, "ult", binary(fn, "sub", exponent, 20), 230)
    exponent = binary(fn, "and", binary(fn, "lshr", integer_of(fn, c), 23), 255)
    fits = binary(fn, "and", fits, compare(fn, "ult", binary(fn, "sub", exponent, 50), 200))
    s = binary(fn, "fadd", p, c)
    part = binary(fn, "fsub", s, p)
    rest = binary(fn, "fadd", binary(fn, "fsub", p, binary(fn, "fsub", s, part)), binary(fn, "fsub", c, part))
    bits, error = integer_of(fn, s), integer_of(fn, rest)
    inward = compare(fn, "slt", binary(fn, "xor", bits, error), 0)
    odd = binary(fn, "or", binary(fn, "sub", bits, fn.resize(inward, 32)), 1)
    exact = compare(fn, "eq", binary(fn, "and", error, 0x7FFFFFFF), 0)
    return select(fn, exact, bits, odd), fits


def relu(fn: FunctionLowering, v: Val) -> Val:
    """Negative numbers become +0, NaN the canonical one."""
    bits = integer_of(fn, v)
    n = width(v.ty)
    infinity = {"half": 0x7C00, "bfloat": 0x7F80, "float": 0x7F800000}[v.ty]
    magnitude = binary(fn, "and", bits, (1 << n - 1) - 1)
    negative = compare(fn, "slt", bits, 0)
    number = compare(fn, "ule", magnitude, infinity)
    return fn.cast(select(fn, number, select(fn, negative, 0, bits), canonical_nan(v.ty)), v.ty)


def satfinite(fn: FunctionLowering, v: Val) -> Val:
    """Infinities (overflow) become the largest number, NaN the canonical 0x7fff; of half or bfloat."""
    bits = integer_of(fn, v)
    infinity = 0x7C00 if v.ty == "half" else 0x7F80
    magnitude = binary(fn, "and", bits, 0x7FFF)
    infinite = compare(fn, "eq", magnitude, infinity)
    bits = select(fn, infinite, binary(fn, "sub", bits, 1), bits)
    return fn.cast(select(fn, compare(fn, "ugt", magnitude, infinity), 0x7FFF, bits), v.ty)


def half_op(fn: FunctionLowering, op: str, *args: Val, fuse: bool = False) -> Val:
    return intrinsic(fn, "fma", *args) if op == "fma" else basic(fn, op, args[0], args[1], fuse)


@lowers("half_arith")
def half_arith(fn: FunctionLowering, inst: Inst) -> None:
    """Denormals are kept in hardware; .ftz flushes operands and result."""
    mods, op = inst.shape.mods, inst.shape.form.mnemonic
    args = sources(fn, inst)
    if mods.get("ftz"):
        v = each(fn, lambda *a: flush(fn, half_op(fn, op, *(flush(fn, x) for x in a))), args)
    else:
        v = half_op(fn, op, *args, fuse=fuses(fn, inst))
    if mods.get("sat"):
        v = each(fn, lambda x: saturate(fn, x), [v])
    if mods.get("relu"):
        v = each(fn, lambda x: relu(fn, x), [v])
    fn.put(inst, "d", v)


def bfloat_op(fn: FunctionLowering, op: str, *args: Val) -> Val:
    """f32 has room for products and sums to be rounded twice without harm, but not for fma."""
    wide = [from_bfloat(fn, a) for a in args]
    if op == "fma":
        return to_bfloat(fn, bfloat_fma(fn, *wide))
    return to_bfloat(fn, arith(fn, op, wide, "rn", False))


@lowers("bfloat_arith")
def bfloat_arith(fn: FunctionLowering, inst: Inst) -> None:
    mods, op = inst.shape.mods, inst.shape.form.mnemonic
    v = each(fn, lambda *args: bfloat_op(fn, op, *args), sources(fn, inst))
    if mods.get("relu"):
        v = each(fn, lambda x: relu(fn, x), [v])
    fn.put(inst, "d", v)


OUTSIDE = 0x7FF7  # what loads of tensors fill with, by either sign


@lowers("half_fma_oob")
def half_fma_oob(fn: FunctionLowering, inst: Inst) -> None:
    """fma of which a factor outside of a tensor makes 0."""

    def op(*args: Val) -> Val:
        v = half_op(fn, "fma", *args) if args[0].ty == "half" else bfloat_op(fn, "fma", *args)
        if inst.shape.mods["relu"]:
            v = relu(fn, v)
        for factor in args[:2]:
            magnitude = binary(fn, "and", integer_of(fn, factor), 0x7FFF)
            outside = compare(fn, "eq", magnitude, OUTSIDE)
            v = fn.op(v.ty, f"select {outside.t}, {fn.bits(v.ty, 0).t}, {v.t}")
        return v

    fn.put(inst, "d", each(fn, op, sources(fn, inst)))


@lowers("mixed_arith")
def mixed_arith(fn: FunctionLowering, inst: Inst) -> None:
    """f32 add, sub, fma whose factors or first operand are f16 or bf16."""
    mods, op = inst.shape.mods, inst.shape.form.mnemonic
    args = [as_float(fn, v) for v in sources(fn, inst)]
    v = arith(fn, op, args, mods["rnd"] or "rn", False)
    fn.put(inst, "d", saturate(fn, v, False) if mods["sat"] else v)


def as_float(fn: FunctionLowering, v: Val) -> Val:
    """f16, bf16 or f32 as f32, exactly."""
    if v.ty == "bfloat":
        return from_bfloat(fn, v)
    return fn.op("float", f"fpext {v.t} to float") if v.ty == "half" else v


@lowers("half_minmax")
def half_minmax(fn: FunctionLowering, inst: Inst) -> None:
    def op(*args: Val) -> Val:
        if args[0].ty == "half":
            return min_max(fn, inst, list(args))
        return bfloat_min_max(fn, inst, list(args))

    fn.put(inst, "d", each(fn, op, sources(fn, inst)))


def bfloat_min_max(fn: FunctionLowering, inst: Inst, args: list[Val]) -> Val:
    """By the bits, ordered as integers: nothing is rounded, nothing flushed."""
    mods = inst.shape.mods
    a, b = (integer_of(fn, v) for v in args)
    sign = binary(fn, "and", binary(fn, "xor", a, b), 0x8000)
    if mods.get("xorsign"):
        a, b = (binary(fn, "and", v, 0x7FFF) for v in (a, b))
    keys = [binary(fn, "xor", v, binary(fn, "lshr", binary(fn, "ashr", v, 15), 1)) for v in (a, b)]
    less = compare(fn, "slt", *keys)
    v = select(fn, less, a, b) if inst.shape.form.mnemonic == "min" else select(fn, less, b, a)
    nans = [compare(fn, "ugt", binary(fn, "and", x, 0x7FFF), 0x7F80) for x in (a, b)]
    if not mods.get("nan"):
        v = select(fn, nans[0], b, select(fn, nans[1], a, v))
    if mods.get("xorsign"):
        v = binary(fn, "or", v, sign)
    nan = binary(fn, "or" if mods.get("nan") else "and", *nans)
    return fn.cast(select(fn, nan, canonical_nan("bfloat"), v), "bfloat")


@lowers("half_sign")
def half_sign(fn: FunctionLowering, inst: Inst) -> None:
    """neg and abs change the sign bit alone."""
    mask = 0x8000

    def op(v: Val) -> Val:
        if inst.shape.mods.get("ftz"):
            v = flush(fn, v)
        bits = integer_of(fn, v)
        negate = inst.shape.form.mnemonic == "neg"
        return fn.cast(binary(fn, "xor", bits, mask) if negate else binary(fn, "and", bits, mask - 1), v.ty)

    fn.put(inst, "d", each(fn, op, [fn.src(inst, "a")]))


def through_float(fn: FunctionLowering, v: Val, op: str) -> Val:
    """exp2 or tanh of a half or bfloat, computed in f32."""
    x = as_float(fn, v)
    y = tanh(fn, x) if op == "tanh" else estimate(fn, "exp2", x)
    return to_bfloat(fn, y) if v.ty == "bfloat" else fn.op("half", f"fptrunc {y.t} to half")


@lowers("half_tanh")
def half_tanh(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", each(fn, lambda v: through_float(fn, v, "tanh"), [fn.src(inst, "a")]))


@lowers("half_ex2")
def half_ex2(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", each(fn, lambda v: through_float(fn, v, "ex2"), [fn.src(inst, "a")]))
