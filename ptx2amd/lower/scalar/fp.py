"""Floating-point operations under PTX's per-instruction rounding and denormal rules.

A kernel runs in one mode: round to nearest, f32 denormals kept or flushed (fn.f32_denormals), f64 and f16
denormals kept. An f32 instruction that agrees becomes plain LLVM; another is put between two writes of the
MODE register (`moded`). f64 in other roundings is computed from the rounding error (lower/scalar/directed.py): on
gfx9 LLVM resets the mode before each f64 instruction."""

from __future__ import annotations

import re
from collections.abc import Callable

from ptx2amd.lower.core.emit import float_of_text, float_text
from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.value import width
from ptx2amd.lower.scalar.integer import binary, compare, select
from ptx2amd.middle.analyses.read_again import read_again
from ptx2amd.ptx.ast import Inst

ROUNDINGS = {"rn": 0, "rp": 1, "rm": 2, "rz": 3}  # MODE's numbers
SUFFIX = {
    "half": "f16",
    "bfloat": "bf16",
    "float": "f32",
    "double": "f64",
    "<2 x half>": "v2f16",
    "<2 x float>": "v2f32",
}
PLAIN = {"add": "fadd", "sub": "fsub", "mul": "fmul"}


MODE_ROUNDING, MODE_DENORMALS = (
    6145,
    6401,
)  # s.setreg's names of MODE bits 0-3 and 4-7: f32's are the lower two
STRICT = 'metadata !"fpexcept.strict"'


def moded(fn: FunctionLowering, op: str, ty: str, args: list[Val], rnd: str = "rn", ftz: bool = False) -> Val:
    """fadd, fsub, fmul, fma of floats, fptrunc to float or fpext to double; rounding as `rnd`, f32 denormals
    flushed or kept as `ftz` says.

    The operation stands in a block of its own, which LLVM cannot merge with others as it does not see that
    the condition always holds: so nothing else runs in the changed mode. Constrained operations keep their
    place between the writes of MODE; operands are pinned so that no computation of theirs moves in; convergent
    calls are not merged with those of another branch."""
    kernel = fn.f32_denormals == "flush"
    before, after = [], []
    if rnd != "rn":
        before.append((MODE_ROUNDING, ROUNDINGS[rnd] * 5))
        after.append((MODE_ROUNDING, 0))
    if ftz != kernel:
        before.append((MODE_DENORMALS, 12 if ftz else 15))
        after.append((MODE_DENORMALS, 12 if kernel else 15))
    args = [fn.op(a.ty, f'call {a.ty} asm sideeffect "", "=v,0"({a.t})') if not is_constant(a) else a for a in args]
    here, inside, join = fn.block("mode"), fn.block("mode"), fn.block("mode")
    fn.label(here)
    zero = fn.opaque(fn.const("i32", 0), "s")
    always = fn.op("i1", f"icmp eq {zero.t}, 0")
    fn.branch(always, inside, join)
    fn.label(inside)
    for register, value in before:
        fn.do(f"call void @llvm.amdgcn.s.setreg(i32 {register}, i32 {value}) convergent")
    rounding = "" if op == "fpext" else ', metadata !"round.dynamic"'
    suffix = SUFFIX[ty] + (f".{SUFFIX[args[0].ty]}" if op in ("fptrunc", "fpext") else "")
    operands = ", ".join(a.t for a in args)
    v = fn.op(
        ty,
        f"call {ty} @llvm.experimental.constrained.{op}.{suffix}({operands}{rounding}, {STRICT}) strictfp convergent",
    )
    for register, value in after:
        fn.do(f"call void @llvm.amdgcn.s.setreg(i32 {register}, i32 {value}) convergent")
    fn.label(join)
    return fn.op(ty, f"phi {ty} [ {v}, %{inside} ], [ 0.0, %{here} ]")


def intrinsic(fn: FunctionLowering, name: str, *args: Val) -> Val:
    """llvm.<name> of the type of its arguments."""
    ty = args[0].ty
    return fn.call(f"llvm.{name}.{SUFFIX[ty]}", ty, *args)


ONE, ZERO = ({float_text("float", v) for v in (magnitude, -magnitude)} for magnitude in (1.0, 0.0))


def is_identity(op: str, args: list[Val]) -> bool:
    """Whether constants make an f32 operation its other operand, perhaps negated: x * 1, x + 0."""
    if op in ("add", "sub"):
        return any(a.ref in ZERO for a in args)
    return any(a.ref in ONE for a in args[:2]) and all(a.ref in ZERO for a in args[2:])


def plain(fn: FunctionLowering, op: str, args: list[Val], fuse: bool = False) -> Val:
    """add, sub, mul or fma, rounded to nearest, in the kernel's mode. fuse: see `basic`."""
    v = intrinsic(fn, "fma", *args) if op == "fma" else basic(fn, op, args[0], args[1], fuse)
    if v.ty == "float" and fn.f32_denormals == "flush" and is_identity(op, args):
        return flush(fn, v)  # LLVM makes the operand of it as it is
    return v


def fuses(fn: FunctionLowering, inst: Inst) -> bool:
    """Whether LLVM may make one fma of this product or sum and one of the other kind: it has no rounding, as PTX says,
    and nothing else reads the product. nvcc and ptxas round such a product once for all its readers; CUDA's own powf
    relies on that where it computes what a rounding has lost. (Made here, fma would keep LLVM from packing pairs of
    products, and of sums.)"""
    if inst.shape.mods.get("rnd"):
        return False
    assert fn.body is not None
    return inst.shape.form.mnemonic != "mul" or id(inst) not in fn.body.analysis(read_again)


def basic(fn: FunctionLowering, op: str, a: Val, b: Val, fuse: bool) -> Val:
    """add, sub or mul. fuse: see `fuses`."""
    return fn.op(a.ty, f"{PLAIN[op]} {'contract ' if fuse else ''}{a.t}, {b}")


def arith(
    fn: FunctionLowering, op: str, args: list[Val], rnd: str = "rn", ftz: bool = False, fuse: bool = False
) -> Val:
    """add, sub, mul or fma of floats, exactly rounded; fuse: see `basic`."""
    if rnd == "rn" and ftz == (fn.f32_denormals == "flush"):
        return plain(fn, op, args, fuse)
    if op == "fma" and rnd == "rm" and _stays_near(fn, *args):
        return _rounded_down(fn, args)
    return moded(fn, PLAIN.get(op, op), "float", args, rnd, ftz)


def _stays_near(fn: FunctionLowering, a: Val, b: Val, c: Val) -> bool:
    """Whether a * b + c, rounded, is between c and 2 * c, for a in [0, 1] and constants b and c: every expf of CUDA's
    has a product of this kind."""
    factor, addend = float_of_text(b.ref), float_of_text(c.ref)
    if a.ref not in fn.unit or factor is None or addend is None:
        return False
    return 2.0**-50 <= factor <= addend <= 2.0**50


def _rounded_down(fn: FunctionLowering, args: list[Val]) -> Val:
    """fma.rm of such operands without a write of MODE: c minus the result to nearest is exact (Sterbenz), so the second
    fma gives the rounding error's sign, and the result is at fault by one unit where that is negative."""
    a, b, c = args
    nearest = plain(fn, "fma", args)
    error = plain(fn, "fma", [a, b, binary(fn, "fsub", c, nearest)])
    above = fn.op("i1", f"fcmp olt {error.t}, {fn.const('float', 0.0)}")
    bits = binary(fn, "add", integer_of(fn, nearest), fn.op("i32", f"sext {above.t} to i32"))
    return fn.cast(bits, "float")


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


def is_constant(v: Val) -> bool:
    """Whether a value is known here. LLVM converts such f32 numbers, or takes their roots, without flushing them."""
    return not v.ref.startswith("%")


def widen(fn: FunctionLowering, v: Val, ftz: bool = False) -> Val:
    """float -> double."""
    if ftz and (fn.f32_denormals == "ieee" or is_constant(v)):
        v = flush(fn, v)
    elif not ftz and fn.f32_denormals == "flush":
        return moded(fn, "fpext", "double", [v], ftz=False)
    return fn.op("double", f"fpext {v.t} to double")


def narrow(fn: FunctionLowering, v: Val, rnd: str = "rn", ftz: bool = False) -> Val:
    """double -> float."""
    if rnd == "rn" and ftz == (fn.f32_denormals == "flush"):
        return fn.op("float", f"fptrunc {v.t} to float")
    return moded(fn, "fptrunc", "float", [v], rnd, ftz)


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
    v = _saturated(fn, v, ftz)
    fn.unit.add(v.ref)
    return v


def _saturated(fn: FunctionLowering, v: Val, ftz: bool | None) -> Val:
    kernel = fn.f32_denormals == "flush"
    if v.ty == "float" and ftz is not None and ftz != kernel and kernel:  # v_max would flush
        bits = integer_of(fn, v)
        one = 0x3F800000
        large = select(fn, compare(fn, "ule", bits, 0x7F800000), fn.const("i32", one), 0)
        return fn.cast(select(fn, compare(fn, "ult", bits, one), bits, large), "float")
    low = intrinsic(fn, "maximumnum", v, fn.const(v.ty, 0.0))
    return intrinsic(fn, "minimumnum", low, fn.const(v.ty, 1.0))


def canonical_nan(ty: str) -> int:
    """The bits of PTX's canonical NaN: all but the sign."""
    return (1 << width(ty) - 1) - 1


def is_nan_constant(v: Val) -> bool:
    """Whether v is written as a NaN of f32 (Emitter.bits)."""
    match = re.fullmatch(r"bitcast \(i32 (\d+) to float\)", v.ref)
    return match is not None and int(match[1]) & 0x7FFFFFFF > 0x7F800000


def is_nan(fn: FunctionLowering, v: Val, other: Val | None = None) -> Val:
    """Whether v, or another value, is NaN."""
    return fn.op("i1", f"fcmp uno {v.t}, {other or v}")


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
