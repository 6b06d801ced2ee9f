"""Floating-point operations under PTX's per-instruction rounding and denormal rules.

A kernel runs in one mode: round to nearest, f32 denormals kept or flushed (fn.f32_denormals), f64 and f16
denormals kept. An instruction that agrees becomes plain LLVM; another becomes one machine instruction
between two writes of the MODE register, in one piece of inline assembly, which LLVM cannot take apart
(it ignores the rounding of its own constrained operations on this target)."""

from __future__ import annotations

from collections.abc import Callable

from ptx2amd.lower.function import FunctionLowering, Val
from ptx2amd.lower.integer import binary, compare, select
from ptx2amd.lower.value import width

ROUNDINGS = {"rn": 0, "rp": 1, "rm": 2, "rz": 3}
SUFFIX = {
    "half": "f16",
    "bfloat": "bf16",
    "float": "f32",
    "double": "f64",
    "<2 x half>": "v2f16",
    "<2 x float>": "v2f32",
}
PLAIN = {"add": "fadd", "sub": "fsub", "mul": "fmul"}


def set_mode(first_bit: int, bits: int, value: int) -> str:
    """MODE, hardware register 1: rounding of f32 in bits 0-1, of f64 and f16 in 2-3; denormals in 4-5, 6-7."""
    return f"s_setreg_imm32_b32 hwreg(1, {first_bit}, {bits}), {value}"


def moded(
    fn: FunctionLowering, instruction: str, ty: str, args: list[Val], rnd: str = "rn", ftz: bool = False
) -> Val:
    """One VALU instruction, rounding as `rnd`, f32 denormals flushed or kept as `ftz` says."""
    before, after = [], []
    if rnd != "rn":
        before.append(set_mode(0, 4, ROUNDINGS[rnd] * 5))
        after.append(set_mode(0, 4, 0))
    kernel = fn.f32_denormals == "flush"
    if ftz != kernel:
        before.append(set_mode(4, 2, 0 if ftz else 3))
        after.append(set_mode(4, 2, 0 if kernel else 3))
    operands = ", ".join(f"${i}" for i in range(len(args) + 1))
    text = r"\0A".join([*before, f"{instruction} {operands}", *after])
    constraints = ",".join(["=v"] + ["v"] * len(args))
    return fn.op(ty, f'call {ty} asm "{text}", "{constraints}"({", ".join(a.t for a in args)})')


def intrinsic(fn: FunctionLowering, name: str, *args: Val) -> Val:
    """llvm.<name> of the type of its arguments."""
    ty = args[0].ty
    return fn.call(f"llvm.{name}.{SUFFIX[ty]}", ty, *args)


def arith(fn: FunctionLowering, op: str, args: list[Val], rnd: str = "rn", ftz: bool = False) -> Val:
    """add, sub, mul or fma in float or double, exactly rounded."""
    ty = args[0].ty
    agrees = ty == "double" or ftz == (fn.f32_denormals == "flush")
    if rnd in ("", "rn") and agrees:
        return intrinsic(fn, "fma", *args) if op == "fma" else binary(fn, PLAIN[op], args[0], args[1])
    if op == "sub" and ty == "double":  # there is no v_sub_f64
        op, args = "add", [args[0], fn.op(ty, f"fneg {args[1].t}")]
    ftz = ftz if ty == "float" else fn.f32_denormals == "flush"
    return moded(fn, f"v_{op}_{SUFFIX[ty]}", ty, args, rnd or "rn", ftz)


def integer_of(fn: FunctionLowering, v: Val) -> Val:
    return fn.cast(v, f"i{width(v.ty)}")


def flush(fn: FunctionLowering, v: Val) -> Val:
    """A float, or half, with denormals replaced by zero of the same sign."""
    if v.ty == "float" and fn.f32_denormals == "flush":
        return intrinsic(fn, "canonicalize", v)
    n = width(v.ty)
    exponent = {"half": 0x7C00, "float": 0x7F800000, "double": 0x7FF << 52}[v.ty]
    bits = integer_of(fn, v)
    normal = compare(fn, "ne", binary(fn, "and", bits, exponent), 0)
    return fn.cast(select(fn, normal, bits, binary(fn, "and", bits, 1 << n - 1)), v.ty)


def widen(fn: FunctionLowering, v: Val, ftz: bool = False) -> Val:
    """float -> double."""
    if ftz and fn.f32_denormals == "ieee":
        v = flush(fn, v)
    elif not ftz and fn.f32_denormals == "flush":
        return moded(fn, "v_cvt_f64_f32", "double", [v], ftz=False)
    return fn.op("double", f"fpext {v.t} to double")


def narrow(fn: FunctionLowering, v: Val, rnd: str = "rn", ftz: bool = False) -> Val:
    """double -> float."""
    if rnd == "rn" and ftz == (fn.f32_denormals == "flush"):
        return fn.op("float", f"fptrunc {v.t} to float")
    return moded(fn, "v_cvt_f32_f64", "float", [v], rnd, ftz)


def with_ftz(fn: FunctionLowering, op: Callable[..., Val], args: list[Val], ftz: bool) -> Val:
    """`op(*args)` for an operation that f32 and f64 have alike and that is exact in f64 when its operands are
    f32 (one rounding to f32 is then as good): min, max, rounding to integers, div, sqrt."""
    if args[0].ty != "float" or ftz == (fn.f32_denormals == "flush"):
        return op(*args)
    if ftz:
        return flush(fn, op(*(flush(fn, a) for a in args)))
    return narrow(fn, op(*(widen(fn, a) for a in args)))


def saturate(fn: FunctionLowering, v: Val, ftz: bool | None = None) -> Val:
    """Clamped to [+0, 1]; NaN gives +0. ftz None: f32 denormals in v are as the kernel's mode has them."""
    kernel = fn.f32_denormals == "flush"
    if v.ty == "float" and ftz is not None and ftz != kernel and kernel:  # v_max would flush
        bits = integer_of(fn, v)
        one = 0x3F800000
        large = select(fn, compare(fn, "ule", bits, 0x7F800000), fn.const("i32", one), 0)
        return fn.cast(select(fn, compare(fn, "ult", bits, one), bits, large), "float")
    low = intrinsic(fn, "maximumnum", v, fn.const(v.ty, 0.0))
    return intrinsic(fn, "minimumnum", low, fn.const(v.ty, 1.0))


def is_nan(fn: FunctionLowering, v: Val) -> Val:
    return fn.op("i1", f"fcmp uno {v.t}, {v}")


def elements(fn: FunctionLowering, v: Val) -> list[Val]:
    """The two elements of a pair; another value alone."""
    if v.ty[0] != "<":
        return [v]
    ty = v.ty[1:-1].split(" x ")[1]
    return [fn.op(ty, f"extractelement {v.t}, i32 {i}") for i in range(2)]


def join(fn: FunctionLowering, parts: list[Val]) -> Val:
    """The inverse of elements."""
    if len(parts) == 1:
        return parts[0]
    v = Val(f"<2 x {parts[0].ty}>", "poison")
    for i, part in enumerate(parts):
        v = fn.op(v.ty, f"insertelement {v.t}, {part.t}, i32 {i}")
    return v


def each(fn: FunctionLowering, op: Callable[..., Val], args: list[Val]) -> Val:
    """`op` on scalars, or on each element of pairs."""
    return join(fn, [op(*parts) for parts in zip(*(elements(fn, a) for a in args), strict=True)])
