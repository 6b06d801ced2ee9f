"""Floating-point instructions of LLVM as terms of the solver z3. Values are bits; the bits of a result that is NaN are
any NaN's. f32 numbers below the normal ones are zeros where MODE says so, before and after each operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import z3

from tests.proofs.operands import size, sort

Term = z3.BitVecRef
NEAREST = z3.RNE()
ROUNDINGS = [NEAREST, z3.RTP(), z3.RTN(), z3.RTZ()]  # by MODE's number


@dataclass(slots=True)
class Machine:
    """The mode in which floats are computed, and what is known of results. ieee: f32 denormals are kept."""

    ieee: bool = True
    rounding: dict[str, z3.FPRMRef] = field(default_factory=dict)
    assumed: list[z3.BoolRef] = field(default_factory=list)
    used: bool = False

    def set_mode(self, register: int, value: int) -> None:
        """s_setreg of MODE's rounding (f32 in the lower two bits, f64 and f16 above) or denormals."""
        if register == 6145:
            self.rounding = {"float": ROUNDINGS[value & 3], "double": ROUNDINGS[value >> 2]}
            self.rounding["half"] = self.rounding["double"]
        else:
            assert register == 6401, register
            self.ieee = value & 3 == 3

    def mode(self, ty: str) -> z3.FPRMRef:
        return self.rounding.get(ty, NEAREST)

    def number(self, bits: Term, ty: str) -> z3.FPRef:
        """As an operand."""
        self.used = True
        return self.flushed(z3.fpBVToFP(bits, sort(ty)), ty)

    def flushed(self, x: z3.FPRef, ty: str) -> z3.FPRef:
        if ty != "float" or self.ieee:
            return x
        zero = z3.If(z3.fpIsNegative(x), z3.fpMinusZero(sort(ty)), z3.fpPlusZero(sort(ty)))
        return z3.If(z3.fpIsSubnormal(x), zero, x)

    def bits(self, x: z3.FPRef, ty: str) -> Term:
        """Of a result."""
        self.used = True
        found = z3.FreshConst(z3.BitVecSort(size(ty)), "float")
        self.assumed.append(z3.fpBVToFP(found, sort(ty)) == self.flushed(x, ty))
        return found


def compared(m: Machine, relation: str, ty: str, a: Term, b: Term) -> z3.BoolRef:
    x, y = m.number(a, ty), m.number(b, ty)
    nan = z3.Or(z3.fpIsNaN(x), z3.fpIsNaN(y))
    if relation in ("ord", "uno"):
        return nan if relation == "uno" else z3.Not(nan)
    kind = {"eq": z3.fpEQ, "lt": z3.fpLT, "le": z3.fpLEQ, "gt": z3.fpGT, "ge": z3.fpGEQ, "ne": z3.fpNEQ}[relation[1:]]
    return z3.Or(nan, kind(x, y)) if relation[0] == "u" else z3.And(z3.Not(nan), kind(x, y))


def converted(m: Machine, op: str, a: Term, ty: str, to: str) -> Term:
    """fpext, fptrunc, uitofp, sitofp."""
    if op == "uitofp":
        return m.bits(z3.fpUnsignedToFP(m.mode(to), a, sort(to)), to)
    if op == "sitofp":
        return m.bits(z3.fpSignedToFP(m.mode(to), a, sort(to)), to)
    return m.bits(z3.fpFPToFP(m.mode(to), m.number(a, ty), sort(to)), to)


def arithmetic(m: Machine, op: str, ty: str, *operands: Term) -> Term:
    numbers = [m.number(a, ty) for a in operands]
    kind = {"fadd": z3.fpAdd, "fsub": z3.fpSub, "fmul": z3.fpMul, "fdiv": z3.fpDiv, "fma": z3.fpFMA, "sqrt": z3.fpSqrt}
    return m.bits(kind[op](m.mode(ty), *numbers), ty)


def negated(m: Machine, ty: str, a: Term) -> Term:
    return a ^ (1 << size(ty) - 1)


def magnitude(m: Machine, ty: str, a: Term) -> Term:
    return a & (1 << size(ty) - 1) - 1


def with_sign(m: Machine, ty: str, a: Term, b: Term) -> Term:
    top = 1 << size(ty) - 1
    return a & top - 1 | b & top


def integral(rounding: z3.FPRMRef) -> Callable[[Machine, str, Term], Term]:
    return lambda m, ty, a: m.bits(z3.fpRoundToIntegral(rounding, m.number(a, ty)), ty)


def extreme(largest: bool) -> Callable[[Machine, str, Term, Term], Term]:
    """minimumnum, maximumnum: -0 is below +0, and a number is taken rather than NaN."""

    def choose(m: Machine, ty: str, a: Term, b: Term) -> Term:
        x, y = m.number(a, ty), m.number(b, ty)
        zeros = z3.And(z3.fpIsZero(x), z3.fpIsZero(y))
        first = z3.If(zeros, z3.fpIsNegative(x), z3.fpLT(x, y))
        least, most = z3.If(first, x, y), z3.If(first, y, x)
        return m.bits(z3.If(z3.fpIsNaN(x), y, z3.If(z3.fpIsNaN(y), x, most if largest else least)), ty)

    return choose


def canonical(m: Machine, ty: str, a: Term) -> Term:
    return m.bits(m.number(a, ty), ty)


def of_class(m: Machine, ty: str, a: Term, mask: Term) -> Term:
    """llvm.is.fpclass, which sees denormals whatever the mode."""
    x = z3.fpBVToFP(a, sort(ty))
    quiet = z3.Extract(sort(ty).sbits() - 2, sort(ty).sbits() - 2, a) == 1
    minus, plus = z3.fpIsNegative(x), z3.fpIsPositive(x)
    classes = [z3.And(z3.fpIsNaN(x), z3.Not(quiet)), z3.And(z3.fpIsNaN(x), quiet)]
    kinds = (z3.fpIsInf, z3.fpIsNormal, z3.fpIsSubnormal, z3.fpIsZero)
    classes += [z3.And(minus, kind(x)) for kind in kinds] + [z3.And(plus, kind(x)) for kind in reversed(kinds)]
    wanted = z3.simplify(mask).as_long()
    found = z3.Or([c for i, c in enumerate(classes) if wanted >> i & 1])
    return z3.If(found, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def whole(x: z3.FPRef, rounding: z3.FPRMRef, bits: int, signed: bool) -> Term:
    """As an integer, the nearest one that there is; NaN gives 0."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    y = z3.fpRoundToIntegral(rounding, x)
    to = z3.fpToSBV if signed else z3.fpToUBV
    inside = to(z3.RTZ(), y, z3.BitVecSort(bits))
    above = z3.fpGEQ(y, z3.FPVal(high + 1, x.sort()))
    below = z3.fpLEQ(y, z3.FPVal(low, x.sort()))
    limited = z3.If(above, z3.BitVecVal(high, bits), z3.If(below, z3.BitVecVal(low, bits), inside))
    return z3.If(z3.fpIsNaN(x), z3.BitVecVal(0, bits), limited)


FUNCTIONS: dict[str, Callable[..., Term]] = {
    "llvm.fma": lambda m, ty, *v: arithmetic(m, "fma", ty, *v),
    "llvm.sqrt": lambda m, ty, *v: arithmetic(m, "sqrt", ty, *v),
    "llvm.fabs": magnitude,
    "llvm.copysign": with_sign,
    "llvm.minimumnum": extreme(False),
    "llvm.maximumnum": extreme(True),
    "llvm.canonicalize": canonical,
    "llvm.is.fpclass": of_class,
    "llvm.roundeven": integral(NEAREST),
    "llvm.trunc": integral(z3.RTZ()),
    "llvm.floor": integral(z3.RTN()),
    "llvm.ceil": integral(z3.RTP()),
    "llvm.fptosi.sat": lambda m, ty, a, n: whole(m.number(a, ty), z3.RTZ(), n, True),
    "llvm.fptoui.sat": lambda m, ty, a, n: whole(m.number(a, ty), z3.RTZ(), n, False),
    **{
        f"llvm.experimental.constrained.{op}": lambda m, ty, *v, op=op: arithmetic(m, op, ty, *v)
        for op in ("fadd", "fsub", "fmul", "fma")
    },
}
