"""f64 arithmetic rounded up, down or toward zero: the result to nearest, corrected where the sign of its
rounding error says that it lies on the wrong side."""

from __future__ import annotations

from collections.abc import Callable

from ptx2amd.lower.core.function import FunctionLowering, Val
from ptx2amd.lower.core.outline import outlined
from ptx2amd.lower.scalar.fp import integer_of, intrinsic
from ptx2amd.lower.scalar.integer import binary, compare, select

INFINITY = 0x7FF << 52
IN_PLACE = 32  # operations of a function that are not calls: one is up to 150 instructions


def rounded(fn: FunctionLowering, op: str, args: list[Val], rnd: str) -> Val:
    """add, sub, mul, fma, div or sqrt of f64. Where a function has many, they are calls: LLVM's time for a block grows
    with the square of its length."""
    if op == "sub":
        return rounded(fn, "add", [args[0], negated(fn, args[1])], rnd)
    operations: dict[str, Callable[..., Val]] = {"add": add, "mul": mul, "fma": fma, "div": div, "sqrt": sqrt}
    operation = operations[op]
    fn.directed += 1
    if fn.directed <= IN_PLACE:
        return operation(fn, *args, rnd)
    [result] = outlined(fn, f"{op}.{rnd}.f64", args, lambda inner, values: [operation(inner, *values, rnd)])
    return result


def fadd(fn: FunctionLowering, a: Val, b: Val) -> Val:
    return binary(fn, "fadd", a, b)


def fsub(fn: FunctionLowering, a: Val, b: Val) -> Val:
    return binary(fn, "fsub", a, b)


def negated(fn: FunctionLowering, v: Val) -> Val:
    return fn.op(v.ty, f"fneg {v.t}")


def magnitude(fn: FunctionLowering, v: Val) -> Val:
    """The bits without the sign."""
    return binary(fn, "and", integer_of(fn, v), (1 << 63) - 1)


def is_zero(fn: FunctionLowering, v: Val) -> Val:
    return compare(fn, "eq", magnitude(fn, v), 0)


def finite(fn: FunctionLowering, *args: Val) -> Val:
    """Whether all are finite."""
    known = fn.const("i1", 1)
    for v in args:
        known = binary(fn, "and", known, compare(fn, "ult", magnitude(fn, v), INFINITY))
    return known


def two_sum(fn: FunctionLowering, a: Val, b: Val) -> tuple[Val, Val]:
    """a + b, and what rounding took away from it, exactly."""
    s = fadd(fn, a, b)
    part = fsub(fn, s, a)
    return s, fadd(fn, fsub(fn, a, fsub(fn, s, part)), fsub(fn, b, part))


def split(fn: FunctionLowering, v: Val) -> tuple[Val, Val]:
    """Mantissa in [0.5, 1) and exponent; zero, infinities and NaN as they are, with exponent 0."""
    mantissa = fn.op("double", f"call double @llvm.amdgcn.frexp.mant.f64({v.t})")
    exponent = fn.op("i32", f"call i32 @llvm.amdgcn.frexp.exp.i32.f64({v.t})")
    return mantissa, exponent


def ldexp(fn: FunctionLowering, v: Val, exponent: Val) -> Val:
    """v * 2^exponent, rounded to nearest."""
    return fn.op("double", f"call double @llvm.ldexp.f64.i32({v.t}, {exponent.t})")


def corrected(fn: FunctionLowering, q: Val, rest: Val, rnd: str, usable: Val | None = None) -> Val:
    """q moved to its neighbour where (exact - q), of the sign of `rest`, asks for it; not for a NaN rest.
    An infinite q whose operands were finite (`usable`) is an overflow: the exact value is smaller."""
    bits = integer_of(fn, q)
    negative = compare(fn, "slt", bits, 0)
    above = fn.op("i1", f"fcmp ogt {rest.t}, 0.0")  # the exact value lies above q
    below = fn.op("i1", f"fcmp olt {rest.t}, 0.0")
    if usable is not None:
        overflow = binary(fn, "and", usable, compare(fn, "eq", magnitude(fn, q), INFINITY))
        above = select(fn, overflow, negative, above)
        below = select(fn, overflow, binary(fn, "xor", negative, 1), below)
    grown, shrunk = binary(fn, "add", bits, 1), binary(fn, "sub", bits, 1)
    if rnd == "rm":
        bits = select(fn, below, select(fn, negative, grown, shrunk), bits)
    elif rnd == "rp":
        bits = select(fn, above, select(fn, negative, shrunk, grown), bits)
    else:
        bits = select(fn, select(fn, negative, above, below), shrunk, bits)
    return fn.cast(bits, q.ty)


def scaled(fn: FunctionLowering, q: Val, exponent: Val, rnd: str) -> Val:
    """q * 2^exponent, rounded as told when denormal; for q zero, infinite, NaN or not far from 1."""
    y = ldexp(fn, q, exponent)
    back = ldexp(fn, y, fn.op("i32", f"sub i32 0, {exponent}"))
    return corrected(fn, y, fsub(fn, q, back), rnd, finite(fn, q))


def signed_zero(fn: FunctionLowering, s: Val, a: Val, b: Val, rnd: str) -> Val:
    """The sum s of a and b with the sign of an exact zero in this rounding: -0 in rm unless both are +0."""
    if rnd != "rm":
        return s
    bits = binary(fn, "or", integer_of(fn, a), integer_of(fn, b))
    zero = fn.cast(binary(fn, "and", bits, 1 << 63), "double")
    return select(fn, is_zero(fn, s), zero, s)


def add(fn: FunctionLowering, a: Val, b: Val, rnd: str) -> Val:
    s, rest = two_sum(fn, a, b)
    return corrected(fn, signed_zero(fn, s, a, b, rnd), rest, rnd, finite(fn, a, b))


def mul(fn: FunctionLowering, a: Val, b: Val, rnd: str) -> Val:
    (a, ea), (b, eb) = split(fn, a), split(fn, b)
    p = binary(fn, "fmul", a, b)
    q = corrected(fn, p, intrinsic(fn, "fma", a, b, negated(fn, p)), rnd)
    return scaled(fn, q, binary(fn, "add", ea, eb), rnd)


def fma(fn: FunctionLowering, a: Val, b: Val, c: Val, rnd: str) -> Val:
    """With all exponents near 0; where the product and c are more than 2^200 apart the smaller counts by its
    sign alone, so it may come nearer."""
    special = binary(fn, "xor", finite(fn, a, b, c), 1)
    product_zero = binary(fn, "or", is_zero(fn, a), is_zero(fn, b))
    special = binary(fn, "or", special, binary(fn, "or", product_zero, is_zero(fn, c)))
    plain = special_fma(fn, a, b, c, rnd)
    (x, ea), (y, eb), (z, ec) = split(fn, a), split(fn, b), split(fn, c)
    e = binary(fn, "add", ea, eb)
    distance = binary(fn, "sub", ec, e)
    near = fn.call("llvm.smax.i32", "i32", distance, fn.const("i32", -200))
    near = fn.call("llvm.smin.i32", "i32", near, fn.const("i32", 200))
    e = select(fn, compare(fn, "sgt", distance, 200), binary(fn, "sub", ec, near), e)
    z = ldexp(fn, z, near)
    p = binary(fn, "fmul", x, y)
    low = intrinsic(fn, "fma", x, y, negated(fn, p))
    u, v = two_sum(fn, p, z)
    w, tail = two_sum(fn, v, low)
    r = intrinsic(fn, "fma", x, y, z)
    rest = fadd(fn, fsub(fn, u, r), w)
    rest = select(fn, is_zero(fn, rest), tail, rest)
    if rnd == "rm":  # an exact zero of opposite numbers
        r = select(fn, is_zero(fn, r), fn.const("double", -0.0), r)
    q = scaled(fn, corrected(fn, r, rest, rnd), e, rnd)
    return select(fn, special, plain, q)


def special_fma(fn: FunctionLowering, a: Val, b: Val, c: Val, rnd: str) -> Val:
    """fma where an operand is zero, infinite or NaN: a product or c alone."""
    product = mul(fn, a, b, rnd)
    exact = intrinsic(fn, "fma", a, b, c)  # infinities, NaN, signs of zeros; c when the product is 0
    finite_product = binary(fn, "and", finite(fn, a, b), is_zero(fn, c))
    nonzero = binary(fn, "xor", binary(fn, "or", is_zero(fn, a), is_zero(fn, b)), 1)
    exact = signed_zero(fn, exact, binary(fn, "fmul", a, b), c, rnd)
    return select(fn, binary(fn, "and", finite_product, nonzero), product, exact)


def div(fn: FunctionLowering, a: Val, b: Val, rnd: str) -> Val:
    (a, ea), (b, eb) = split(fn, a), split(fn, b)
    q = binary(fn, "fdiv", a, b)
    rest = intrinsic(fn, "fma", negated(fn, q), b, a)  # of the sign of (exact - q) * b
    flipped = fn.cast(binary(fn, "xor", integer_of(fn, rest), sign_bit(fn, b)), "double")
    return scaled(fn, corrected(fn, q, flipped, rnd), binary(fn, "sub", ea, eb), rnd)


def sign_bit(fn: FunctionLowering, v: Val) -> Val:
    return binary(fn, "and", integer_of(fn, v), 1 << 63)


def sqrt(fn: FunctionLowering, a: Val, rnd: str) -> Val:
    a, e = split(fn, a)
    odd = binary(fn, "and", e, 1)
    a = ldexp(fn, a, odd)
    q = intrinsic(fn, "sqrt", a)
    q = corrected(fn, q, intrinsic(fn, "fma", negated(fn, q), q, a), rnd)
    return ldexp(fn, q, binary(fn, "ashr", binary(fn, "sub", e, odd), 1))
