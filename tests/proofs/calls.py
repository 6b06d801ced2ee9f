"""What the integer functions of LLVM and of AMDGPU compute, as terms of the solver z3."""

from __future__ import annotations

from collections.abc import Callable

import z3

Term = z3.BitVecRef


def count_ones(a: Term) -> Term:
    n = a.size()
    return z3.simplify(sum((z3.ZeroExt(n - 1, z3.Extract(i, i, a)) for i in range(n)), z3.BitVecVal(0, n)))


def leading_zeros(a: Term) -> Term:
    n = a.size()
    found: Term = z3.BitVecVal(n, n)
    for i in range(n):
        found = z3.If(z3.Extract(i, i, a) == 1, z3.BitVecVal(n - 1 - i, n), found)
    return found


def reverse(a: Term) -> Term:
    return z3.Concat(*(z3.Extract(i, i, a) for i in range(a.size()))) if a.size() > 1 else a


def saturated(a: Term, b: Term, signed: bool, subtract: bool) -> Term:
    n = a.size()
    extend = z3.SignExt if signed else z3.ZeroExt
    wide = extend(2, a) - extend(2, b) if subtract else extend(2, a) + extend(2, b)
    low, high = (-(1 << n - 1), (1 << n - 1) - 1) if signed else (0, (1 << n) - 1)
    return z3.If(
        wide < low, z3.BitVecVal(low, n), z3.If(wide > high, z3.BitVecVal(high, n), z3.Extract(n - 1, 0, wide))
    )


def funnel(high: Term, low: Term, by: Term, left: bool) -> Term:
    n = high.size()
    both, amount = z3.Concat(high, low), z3.ZeroExt(n, z3.URem(by, z3.BitVecVal(n, n)))
    return z3.Extract(2 * n - 1, n, both << amount) if left else z3.Extract(n - 1, 0, z3.LShR(both, amount))


def field_of(a: Term, at: Term, length: Term, signed: bool) -> Term:
    """v_bfe_u32, v_bfe_i32 of the AMDGPU instruction sets: 5 bits each of position and length."""
    at, length = at & 31, length & 31
    top = z3.LShR(a, at) << (32 - length)
    taken = top >> (32 - length) if signed else z3.LShR(top, 32 - length)
    return z3.If(length == 0, z3.BitVecVal(0, 32), taken)


def permuted(a: Term, b: Term, selector: Term) -> Term:
    """v_perm_b32: bytes of a (4 to 7) and b (0 to 3), signs of 16-bit parts, 0, or all ones."""
    both = z3.Concat(a, b)
    out = []
    for i in range(4):
        pick = z3.ZeroExt(56, z3.Extract(8 * i + 7, 8 * i, selector))
        byte = z3.Extract(7, 0, z3.LShR(both, (pick & 7) * 8))
        sign = z3.Extract(7, 0, z3.LShR(both, ((pick & 3) * 16 + 15)))
        signs = z3.If(sign & 1 == 1, z3.BitVecVal(255, 8), z3.BitVecVal(0, 8))
        special = z3.If(pick == 12, z3.BitVecVal(0, 8), z3.If(pick > 12, z3.BitVecVal(255, 8), signs))
        out.append(z3.If(pick < 8, byte, special))
    return z3.Concat(*reversed(out))


def byte_differences(a: Term, b: Term, c: Term) -> Term:
    """v_sad_u8: c and the distances of the bytes."""
    for at in range(0, 32, 8):
        x, y = (z3.ZeroExt(24, z3.Extract(at + 7, at, v)) for v in (a, b))
        c = c + z3.If(z3.UGT(x, y), x - y, y - x)
    return c


def byte_products(a: Term, b: Term, total: Term, a_signed: bool, b_signed: bool) -> Term:
    """v_dot4 without clamp."""
    extend_a, extend_b = (z3.SignExt if signed else z3.ZeroExt for signed in (a_signed, b_signed))
    for at in range(0, 32, 8):
        total += extend_a(24, z3.Extract(at + 7, at, a)) * extend_b(24, z3.Extract(at + 7, at, b))
    return total


CALLS: dict[str, Callable[..., Term]] = {
    "llvm.umin": lambda a, b: z3.If(z3.ULT(a, b), a, b),
    "llvm.umax": lambda a, b: z3.If(z3.UGT(a, b), a, b),
    "llvm.smin": lambda a, b: z3.If(a < b, a, b),
    "llvm.smax": lambda a, b: z3.If(a > b, a, b),
    "llvm.abs": lambda a, poison: z3.If(a < 0, -a, a),
    "llvm.ctpop": count_ones,
    "llvm.ctlz": lambda a, poison: leading_zeros(a),
    "llvm.cttz": lambda a, poison: leading_zeros(reverse(a)),
    "llvm.bitreverse": reverse,
    "llvm.sadd.sat": lambda a, b: saturated(a, b, True, False),
    "llvm.ssub.sat": lambda a, b: saturated(a, b, True, True),
    "llvm.uadd.sat": lambda a, b: saturated(a, b, False, False),
    "llvm.usub.sat": lambda a, b: saturated(a, b, False, True),
    "llvm.fshl": lambda a, b, by: funnel(a, b, by, True),
    "llvm.fshr": lambda a, b, by: funnel(a, b, by, False),
    "llvm.amdgcn.ubfe": lambda a, at, n: field_of(a, at, n, False),
    "llvm.amdgcn.sbfe": lambda a, at, n: field_of(a, at, n, True),
    "llvm.amdgcn.perm": permuted,
    "llvm.amdgcn.sad.u8": byte_differences,
    "llvm.amdgcn.udot4": lambda a, b, c, clamp: byte_products(a, b, c, False, False),
    "llvm.amdgcn.sdot4": lambda a, b, c, clamp: byte_products(a, b, c, True, True),
}
#: Calls whose second argument says what is poison.
POISON = {"llvm.abs": lambda a: a == 1 << a.size() - 1, "llvm.ctlz": lambda a: a == 0, "llvm.cttz": lambda a: a == 0}
