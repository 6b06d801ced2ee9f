"""What the PTX manual says of comparisons and selections, for the solver z3 (see definitions)."""

from __future__ import annotations

import z3

from tests.proofs.definitions import (
    Mods,
    Results,
    Term,
    Types,
    Values,
    compared,
    constant,
    from_bits,
    number,
    of,
    width,
)
from tests.proofs.numbers import elements, float_of

UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def holds(mods: Mods, t: str, a: Term, b: Term) -> z3.BoolRef:
    """a cmp b. Of floats: the plain ones are false where one is NaN, those with u true."""
    cmp = mods["cmp"]
    if "f" not in t:
        return compared(UNSIGNED.get(cmp, cmp), number(a, t), number(b, t))
    x, y = (float_of(v, t, bool(mods.get("ftz"))) for v in (a, b))
    nan = z3.Or(z3.fpIsNaN(x), z3.fpIsNaN(y))
    if cmp in ("num", "nan"):
        return nan if cmp == "nan" else z3.Not(nan)
    relation = {"eq": x == y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
    same = z3.Or(x == y, z3.And(z3.fpIsZero(x), z3.fpIsZero(y)))
    relation |= {"eq": same, "ne": z3.Not(same)}
    return z3.Or(nan, relation[cmp[:2]]) if len(cmp) == 3 else z3.And(z3.Not(nan), relation[cmp])


def joined(mods: Mods, v: Values, condition: z3.BoolRef) -> z3.BoolRef:
    """With the predicate c, where there is one."""
    if not mods.get("bool"):
        return condition
    return {"and": z3.And, "or": z3.Or, "xor": z3.Xor}[mods["bool"]](condition, v["c"] == 1)


@of("setp")
def set_predicate(mods: Mods, v: Values, types: Types) -> Results:
    """p, and q of the opposite comparison; of pairs: of the lower and upper elements."""
    t, count = elements(types["a"])
    if count == 2:
        both = zip(*(halves(v[name]) for name in "ab"), strict=True)
        return {name: from_bits([joined(mods, v, holds(mods, t, *row))]) for name, row in zip("pq", both, strict=True)}
    condition = holds(mods, t, v["a"], v["b"])
    return {"p": from_bits([joined(mods, v, condition)]), "q": from_bits([joined(mods, v, z3.Not(condition))])}


def halves(bits: Term) -> list[Term]:
    n = bits.size() // 2
    return [z3.Extract(n - 1, 0, bits), z3.Extract(2 * n - 1, n, bits)]


@of("set")
def set_register(mods: Mods, v: Values, types: Types) -> Results:
    """All ones, or 1.0; of pairs in each half."""
    t, count = elements(types["a"])
    sources = [v[name] for name in "ab"]
    rows = list(zip(*(halves(s) for s in sources), strict=True)) if count == 2 else [tuple(sources)]
    n = width(types["d"].partition("x")[0]) if "x" in types["d"] else width(types["d"]) // count
    one = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000}.get(types["d"].partition("x")[0], -1)
    parts = [z3.If(joined(mods, v, holds(mods, t, *row)), constant(one, n), constant(0, n)) for row in rows]
    return {"d": z3.Concat(*reversed(parts)) if count == 2 else parts[0]}


@of("selp")
def selected(mods: Mods, v: Values, types: Types) -> Results:
    return {"d": z3.If(v["c"] == 1, v["a"], v["b"])}


@of("slct")
def selected_by_sign(mods: Mods, v: Values, types: Types) -> Results:
    """a where c >= 0, which -0 is."""
    if types["c"] == "s32":
        return {"d": z3.If(v["c"] >= 0, v["a"], v["b"])}
    c = float_of(v["c"], "f32", bool(mods.get("ftz")))
    return {"d": z3.If(c >= z3.FPVal(0, c.sort()), v["a"], v["b"])}
