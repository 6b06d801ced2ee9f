"""Reference semantics of floating-point, comparison, conversion and move instructions, from the PTX manual.

Results are bit patterns, None for a NaN of whatever payload, or what reference/approximate.py gives."""

from __future__ import annotations

from typing import NamedTuple

from tests.reference import approximate, integers
from tests.reference.numbers import (
    FORMATS,
    Number,
    add,
    bits_of,
    decode,
    div,
    encode,
    from_int,
    key,
    mul,
    negative,
    sqrt,
)

REFERENCE: dict[str, object] = {}
FLOATS = ("f16", "bf16", "f32", "f64")


def of(*mnemonics: str):
    def register(function):
        for mnemonic in mnemonics:
            REFERENCE[mnemonic] = function
        return function

    return register


class Either(NamedTuple):
    """A result under .ftz that is below the smallest normal number and rounds up to it: whether that counts
    as denormal, the manual leaves open."""

    first: int
    second: int


def rounded(x: Number, t: str, rnd: str, ftz: bool) -> int | Either | None:
    """encode, with that case told apart."""
    bits = encode(x, t, rnd, ftz)
    eb, mb = FORMATS[t]
    if ftz and bits is not None and bits & (1 << eb + mb) - 1 == 1 << mb and x.kind == "finite":
        least = 2 - (1 << eb - 1)  # the smallest normal number is 2^least
        if x.e + x.m.bit_length() <= least:
            return Either(bits & 1 << eb + mb, bits)
    return bits


def element(t: str) -> str:
    return t.removesuffix("x2")


def each(function):
    """Apply an element function (mods, values, types) -> {"d": ...} to both halves of pairs."""

    def both(mods, v, types):
        if not types["d"].endswith("x2"):
            return function(mods, v, types)
        one = {name: element(t) for name, t in types.items()}
        n = bits_of(one["d"])
        parts = [
            function(mods, {name: bits >> n * i & (1 << n) - 1 for name, bits in v.items()}, one)["d"] for i in (0, 1)
        ]
        return {"d": (parts[0], parts[1], n)}

    return both


def flushed(mods, t: str) -> bool:
    """Whether denormals of type t count as zero: .ftz is about f32, and about f16 in f16 arithmetic."""
    return bool(mods.get("ftz"))


def saturated(bits: int | None, t: str) -> int:
    """[+0, 1], NaN gives +0."""
    if bits is None:
        return 0
    if isinstance(bits, Either):
        return Either(*(saturated(b, t) for b in bits))
    x = decode(bits, t)
    one = encode(from_int(1), t)
    if x.sign or (x.m == 0 and x.kind == "finite"):
        return 0
    return one if x.kind == "inf" or key(x) > key(from_int(1)) else bits


def canonical_nan(t: str) -> int:
    return (1 << bits_of(t) - 1) - 1


def positive_part(bits: int | None, t: str) -> int | None:
    """.relu: nothing negative, NaN the canonical one."""
    if isinstance(bits, Either):
        return Either(*(positive_part(b, t) for b in bits))
    if bits is None or decode(bits, t).kind == "nan":
        return canonical_nan(t)
    return bits if not decode(bits, t).sign else 0


@each
def arithmetic(mods, v, types):
    t = types["d"]
    rnd, ftz = mods.get("rnd") or "rn", flushed(mods, t)
    x, y = decode(v["a"], t, ftz), decode(v.get("b", 0), t, ftz)
    name = mods["name"]
    if types["a"] != t:  # f16 or bf16 operands of an f32 operation
        x = decode(v["a"], types["a"])
        y = decode(v["b"], types["b"]) if name == "fma" else decode(v["c"], t)
    if name in ("add", "sub"):
        exact = add(x, negative(y) if name == "sub" else y, rnd)
    elif name == "mul":
        exact = mul(x, y)
    else:
        exact = add(mul(x, y), decode(v["c"], t, ftz), rnd)
    bits = rounded(exact, t, rnd, ftz)
    if mods.get("sat"):
        bits = saturated(bits, t)
    if mods.get("relu"):
        bits = positive_part(bits, t)
    return {"d": bits}


def float_or_integer(floating, whole_numbers):
    def choose(mods, v, types):
        return (floating if element(types["d"]) in FLOATS else whole_numbers)(mods, v, types)

    return choose


for _name in ("add", "sub", "mul", "mad"):
    REFERENCE[_name] = float_or_integer(arithmetic, integers.REFERENCE[_name])
REFERENCE["fma"] = arithmetic


@each
def min_max(mods, v, types):
    t = types["d"]
    ftz = flushed(mods, t)
    names = [n for n in "abc" if n in v]
    top = 1 << bits_of(t) - 1
    sign = 0
    for n in names:
        sign ^= v[n] & top
    bare = mods.get("xorsign") or mods.get("abs")
    numbers = [decode(v[n] & ~top if bare else v[n], t, ftz) for n in names]
    usual = [x for x in numbers if x.kind != "nan"]
    if mods.get("nan") and len(usual) < len(numbers):
        return {"d": canonical_nan(t)}
    if not usual:
        return {"d": None}
    best = (min if mods["name"] == "min" else max)(usual, key=key)
    bits = encode(best, t)
    return {"d": bits | sign if mods.get("xorsign") else bits}


for _name in ("min", "max"):
    REFERENCE[_name] = float_or_integer(min_max, integers.REFERENCE[_name])


@each
def sign(mods, v, types):
    t = types["d"]
    x = decode(v["a"], t)
    if x.kind == "nan":
        return {"d": None}
    top = 1 << bits_of(t) - 1
    bits = v["a"]
    if flushed(mods, t) and decode(bits, t, True).m == 0 and x.kind == "finite":
        bits &= top
    return {"d": bits ^ top if mods["name"] == "neg" else bits & ~top}


for _name in ("abs", "neg"):
    REFERENCE[_name] = float_or_integer(sign, integers.REFERENCE[_name])


def operands(mods, v, types, names="ab") -> list[Number]:
    return [decode(v[n], types[n], flushed(mods, types[n])) for n in names]


@of("div")
def divide(mods, v, types):
    t = types["d"]
    if t not in FLOATS:
        return integers.div(mods, v, types)
    x, y = operands(mods, v, types)
    ftz = flushed(mods, t)
    if mods["kind"] == "rn":
        return {"d": rounded(div(x, y), t, mods["rnd"], ftz)}
    return {"d": approximate.quotient(mods["kind"], x, y, t, ftz)}


@of("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
@each
def function(mods, v, types):
    t, name, ftz = types["d"], mods["name"], flushed(mods, types["d"])
    if mods["kind"] == "rn":
        x = decode(v["a"], t, ftz)
        return {"d": rounded(div(from_int(1), x) if name == "rcp" else sqrt(x), t, mods["rnd"], ftz)}
    if t == "f64" and ftz:
        return {"d": approximate.coarse(name, v["a"])}
    return {"d": approximate.unary(name, v["a"], t, ftz)}


@of("copysign")
def copysign(mods, v, types):
    top = 1 << bits_of(types["d"]) - 1
    return {"d": v["b"] & ~top | v["a"] & top}


@of("testp")
def testp(mods, v, types):
    t = types["a"]
    x = decode(v["a"], t)
    normal = x.kind == "finite" and (x.m == 0 or x.m >> FORMATS[t][1] != 0)
    return {
        "p": int(
            {
                "finite": x.kind == "finite",
                "infinite": x.kind == "inf",
                "number": x.kind != "nan",
                "notanumber": x.kind == "nan",
                "normal": normal,
                "subnormal": x.kind == "finite" and x.m != 0 and not normal,
            }[mods["op"]]
        )
    }


# comparison


def holds(cmp: str, a: int, b: int, t: str, ftz: bool) -> bool:
    if t in FLOATS:
        x, y = decode(a, t, ftz), decode(b, t, ftz)
        unordered = "nan" in (x.kind, y.kind)
        if cmp in ("num", "nan"):
            return unordered == (cmp == "nan")
        if unordered:
            return len(cmp) == 3
        left, right = key(x)[0], key(y)[0]
        cmp = cmp[:2]
    else:
        left, right = integers.read(a, t), integers.read(b, t)
        cmp = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(cmp, cmp)
    return {
        "eq": left == right,
        "ne": left != right,
        "lt": left < right,
        "le": left <= right,
        "gt": left > right,
        "ge": left >= right,
    }[cmp]


def combined(mods, v, result: bool) -> int:
    operation = mods.get("bool")
    c = bool(v.get("c"))
    return int({"and": result and c, "or": result or c, "xor": result != c}[operation] if operation else result)


@of("setp")
def setp(mods, v, types):
    t = types["a"]
    ftz = flushed(mods, t)
    if t.endswith("x2"):
        parts = [
            holds(mods["cmp"], v["a"] >> 16 * i & 0xFFFF, v["b"] >> 16 * i & 0xFFFF, element(t), ftz) for i in (0, 1)
        ]
        return {name: combined(mods, v, part) for name, part in zip("pq", parts, strict=True)}
    result = holds(mods["cmp"], v["a"], v["b"], t, ftz)
    return {"p": combined(mods, v, result), "q": combined(mods, v, not result)}


@of("set")
def set_(mods, v, types):
    t, d = types["a"], types["d"]
    ftz = flushed(mods, t)

    def number(result: int, d: str) -> int:
        if d in FLOATS:
            return encode(from_int(result), d)
        return (1 << integers.width(d)) - 1 if result else 0

    if not t.endswith("x2"):
        return {"d": number(combined(mods, v, holds(mods["cmp"], v["a"], v["b"], t, ftz)), d)}
    parts = [
        combined(mods, v, holds(mods["cmp"], v["a"] >> 16 * i & 0xFFFF, v["b"] >> 16 * i & 0xFFFF, element(t), ftz))
        for i in (0, 1)
    ]
    part = element(d) if d.endswith("x2") else "u16"
    return {"d": number(parts[0], part) | number(parts[1], part) << 16}


@of("selp")
def selp(mods, v, types):
    return {"d": v["a"] if v["c"] else v["b"]}


@of("slct")
def slct(mods, v, types):
    if types["c"] == "s32":
        yes = integers.read(v["c"], "s32") >= 0
    else:
        c = decode(v["c"], "f32", flushed(mods, "f32"))
        yes = c.kind != "nan" and key(c)[0] >= 0
    return {"d": v["a"] if yes else v["b"]}


# moves


@of("mov")
def mov(mods, v, types):
    if "vec" in mods:
        return {name.replace("a", "d"): bits for name, bits in v.items()}
    if "d0" in mods:  # unpacking
        n = integers.width(types["d"])
        return {f"d{i}": v["a"] >> n * i & (1 << n) - 1 for i in range(int(mods["d0"]))}
    if "a1" in v:
        n = integers.width(types["a"])
        return {"d": sum((v[f"a{i}"] & (1 << n) - 1) << n * i for i in range(4) if f"a{i}" in v)}
    return {"d": v["a"]}
