"""Comparisons and selections."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import LLVM_TYPE, width
from ptx2amd.lower.scalar.fp import elements, flush, join, widen
from ptx2amd.lower.scalar.integer import binary, compare, select, sources
from ptx2amd.ptx.ast import Inst

ORDERED = {"eq": "oeq", "ne": "one", "num": "ord", "nan": "uno"}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def float_condition(cmp: str) -> str:
    """PTX comparison -> LLVM's: plain names are false for NaN, those with u true."""
    if cmp in ("equ", "neu", "ltu", "leu", "gtu", "geu"):
        return "u" + cmp[:2]
    return ORDERED.get(cmp, "o" + cmp)


def holds(fn: FunctionLowering, inst: Inst, a: Val, b: Val) -> Val:
    """Whether `a cmp b`, for scalars."""
    mods = inst.shape.mods
    cmp = mods["cmp"]
    kind = inst.shape.types[inst.shape.names.index("a")]
    if kind[0] in "bsu" and kind[1] != "f":
        if cmp in ("eq", "ne"):
            return compare(fn, cmp, a, b)
        return compare(fn, ("s" if kind[0] == "s" else "u") + UNSIGNED.get(cmp, cmp), a, b)
    ftz = bool(mods.get("ftz"))
    if (a.ty == "half" and ftz) or (a.ty == "float" and ftz and fn.f32_denormals == "ieee"):
        a, b = flush(fn, a), flush(fn, b)
    elif a.ty == "bfloat":
        a, b = (from_bfloat(fn, v) for v in (a, b))
    if a.ty == "float" and not ftz and fn.f32_denormals == "flush":
        a, b = widen(fn, a), widen(fn, b)
    return fn.op("i1", f"fcmp {float_condition(cmp)} {a.t}, {b}")


def from_bfloat(fn: FunctionLowering, v: Val) -> Val:
    """bfloat -> float: the upper half of the bits."""
    bits = binary(fn, "shl", fn.resize(v, 32), 16)
    return fn.cast(bits, "float")


def combined(fn: FunctionLowering, inst: Inst, result: Val) -> Val:
    """The comparison's result, combined with predicate c where the instruction has one."""
    operation = inst.shape.mods.get("bool")
    return binary(fn, operation, result, fn.src(inst, "c")) if operation else result


@lowers("setp")
def setp(fn: FunctionLowering, inst: Inst) -> None:
    """p = (a cmp b) op c, q = !(a cmp b) op c."""
    result = holds(fn, inst, *sources(fn, inst, "ab"))
    values = [combined(fn, inst, result)]
    if fn.has(inst, "q"):
        values.append(combined(fn, inst, binary(fn, "xor", result, 1)))
    for name, v in zip("pq", values, strict=False):
        fn.put(inst, name, v)


@lowers("setp_pair")
def setp_pair(fn: FunctionLowering, inst: Inst) -> None:
    """Of f16x2 and bf16x2: p from the low elements, q from the high ones."""
    a, b = (elements(fn, v) for v in sources(fn, inst, "ab"))
    values = [combined(fn, inst, holds(fn, inst, x, y)) for x, y in zip(a, b, strict=True)]
    for name, v in zip("pq", values, strict=True):
        fn.put(inst, name, v)


def as_number(fn: FunctionLowering, v: Val, ty: str) -> Val:
    """True as 1.0 or all ones."""
    if ty[0] == "i":
        return fn.op(ty, f"sext {v.t} to {ty}")
    return select(fn, v, fn.const(ty, 1.0), fn.const(ty, 0.0))


@lowers("set")
def set_(fn: FunctionLowering, inst: Inst) -> None:
    a, b = (elements(fn, v) for v in sources(fn, inst, "ab"))
    ty = LLVM_TYPE[inst.shape.mods["t"]][0]
    results = [combined(fn, inst, holds(fn, inst, x, y)) for x, y in zip(a, b, strict=True)]
    if len(results) == 1:
        fn.put(inst, "d", as_number(fn, results[0], ty))
        return
    part = ty[1:-1].split(" x ")[1] if ty[0] == "<" else f"i{width(ty) // 2}"
    fn.put(inst, "d", fn.cast(join(fn, [as_number(fn, r, part) for r in results]), ty))


@lowers("slct")
def slct(fn: FunctionLowering, inst: Inst) -> None:
    """a when c >= 0 (-0 is, NaN is not), else b."""
    a, b, c = sources(fn, inst)
    if c.ty == "float":
        bits = fn.cast(c, "i32")
        magnitude = binary(fn, "and", bits, 0x7FFFFFFF)
        positive = compare(fn, "ule", bits, 0x7F800000)
        limit = 0x007FFFFF if inst.shape.mods.get("ftz") else 0
        yes = binary(fn, "or", positive, compare(fn, "ule", magnitude, limit))
    else:
        yes = compare(fn, "sge", c, 0)
    fn.put(inst, "d", select(fn, yes, a, b))
