"""What the PTX manual says of arithmetic on floats, for the solver z3 (see definitions): of 32 bits or
more, or of each element of a pair. Divisions, roots and approximations are left to tests of all or many values."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import xor

import z3

from tests.proofs.conversions import limited
from tests.proofs.definitions import Definition, Mods, Results, Types, Values, from_bits
from tests.proofs.numbers import ROUNDINGS, elements, float_of, flushed, sort

FLOATS: dict[str, Definition] = {}
One = Callable[[Mods, dict[str, z3.FPRef]], z3.FPRef]


def of_each(*mnemonics: str) -> Callable[[One], One]:
    """An instruction that does the same to each element; its operands have the result's type, or a smaller one."""

    def add(one: One) -> One:
        def every(mods: Mods, v: Values, types: Types) -> Results:
            t, count = elements(types["d"])
            parts = [result(mods, one, lane(v, at, count), types, t) for at in range(count)]
            return {"d": parts if count > 1 else parts[0]}

        FLOATS.update(dict.fromkeys(mnemonics, every))
        return one

    return add


def lane(v: Values, at: int, count: int) -> Values:
    return {name: z3.Extract((at + 1) * bits.size() // count - 1, at * bits.size() // count, bits)
            for name, bits in v.items()}  # fmt: skip


def result(mods: Mods, one: One, v: Values, types: Types, t: str) -> z3.FPRef:
    ftz = bool(mods.get("ftz"))
    numbers = {name: widened(float_of(bits, elements(types[name])[0], ftz), t) for name, bits in v.items()}
    y = flushed(one(mods, numbers), ftz)
    if "xorsign" in mods["opcode"]:
        top = sort(t).ebits() + sort(t).sbits() - 1
        signs = reduce(xor, (z3.Extract(top, top, bits) for bits in v.values()))  # of NaN too
        y = z3.If(signs == 1, z3.fpNeg(y), y)
    return limited(mods, y, t)


def widened(x: z3.FPRef, t: str) -> z3.FPRef:
    return x if x.sort() == sort(t) else z3.fpFPToFP(z3.RNE(), x, sort(t))


@of_each("add", "sub", "mul", "fma", "mad")
def arithmetic(mods: Mods, v: dict[str, z3.FPRef]) -> z3.FPRef:
    kind = {"add": z3.fpAdd, "sub": z3.fpSub, "mul": z3.fpMul, "fma": z3.fpFMA, "mad": z3.fpFMA}[mods["name"]]
    return kind(ROUNDINGS[mods.get("rnd") or "rn"], *v.values())


@of_each("abs")
def absolute(mods: Mods, v: dict[str, z3.FPRef]) -> z3.FPRef:
    return z3.fpAbs(v["a"])


@of_each("neg")
def negative(mods: Mods, v: dict[str, z3.FPRef]) -> z3.FPRef:
    return z3.fpNeg(v["a"])


@of_each("min", "max")
def extreme(mods: Mods, v: dict[str, z3.FPRef]) -> z3.FPRef:
    """-0 is below +0. Numbers are taken rather than NaN, but for .NaN. .abs: of the magnitudes."""
    found, *others = [z3.fpAbs(x) if ".abs" in mods["opcode"] else x for x in v.values()]
    for y in others:
        found = larger(mods, found, y)
    return found


def larger(mods: Mods, x: z3.FPRef, y: z3.FPRef) -> z3.FPRef:
    """Or the smaller one."""
    below = z3.Or(x < y, z3.And(z3.fpIsZero(x), z3.fpIsZero(y), z3.fpIsNegative(x)))
    found = z3.If(below, y, x) if mods["name"] == "max" else z3.If(below, x, y)
    nan = (x, y) if ".NaN" in mods["opcode"] else (y, x)
    return z3.If(z3.fpIsNaN(x), nan[0], z3.If(z3.fpIsNaN(y), nan[1], found))


def with_sign(mods: Mods, v: Values, types: Types) -> Results:
    """a's sign and b's magnitude."""
    top = v["a"].size() - 1
    return {"d": z3.Concat(z3.Extract(top, top, v["a"]), z3.Extract(top - 1, 0, v["b"]))}


def tested(mods: Mods, v: Values, types: Types) -> Results:
    x = float_of(v["a"], types["a"])
    finite = z3.Not(z3.Or(z3.fpIsNaN(x), z3.fpIsInf(x)))
    kinds: dict[str, z3.BoolRef] = {
        "finite": finite, "infinite": z3.fpIsInf(x), "number": z3.Not(z3.fpIsNaN(x)), "notanumber": z3.fpIsNaN(x),
        "normal": z3.And(finite, z3.Not(z3.fpIsSubnormal(x))), "subnormal": z3.fpIsSubnormal(x),
    }  # fmt: skip
    return {"p": from_bits([kinds[mods["op"]]])}


FLOATS |= {"copysign": with_sign, "testp": tested}
