"""What the PTX manual says of integer instructions, as terms of the solver z3, for all values of the operands. Those of
comparisons, floats and conversions are in modules of their own.

Numbers are mathematical: bit vectors so wide that nothing in a definition wraps. A definition gets the row's field
values, the operands' bits by name, and their types; it returns the bits of the results by name. Where the manual leaves
a result open, `open` in the result says when."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import z3

from tests.proofs import terms

Term = z3.BitVecRef
Mods = dict[str, str]
Values = dict[str, Term]
Types = dict[str, str]
Results = dict[str, Term | z3.BoolRef]
Definition = Callable[[Mods, Values, Types], Results]
DEFINITIONS: dict[str, Definition] = {}
WIDE = 80  # bits of a number, but for products of 64-bit numbers


def of(*mnemonics: str) -> Callable[[Definition], Definition]:
    def add(function: Definition) -> Definition:
        DEFINITIONS.update(dict.fromkeys(mnemonics, function))
        return function

    return add


def width(t: str) -> int:
    """Bits of a scalar type."""
    return int("".join(c for c in t if c.isdigit()))


def number(bits: Term, t: str, wide: int = WIDE) -> Term:
    """The number that bits are in type t, which may have fewer."""
    n = width(t)
    low = bits if bits.size() == n else z3.Extract(n - 1, 0, bits)
    return (z3.SignExt if t[0] == "s" else z3.ZeroExt)(wide - n, low)


def constant(value: int, wide: int = WIDE) -> Term:
    return z3.BitVecVal(value, wide)


def wrapped(n: Term, t: str) -> Term:
    return z3.Extract(width(t) - 1, 0, n)


def least(a: Term, b: Term) -> Term:
    return z3.If(a < b, a, b)


def greatest(a: Term, b: Term) -> Term:
    return z3.If(a > b, a, b)


def magnitude(a: Term) -> Term:
    return z3.If(a < 0, -a, a)


def clamped(n: Term, t: str) -> Term:
    """The nearest number that type t has, as bits."""
    bits = width(t)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if t[0] == "s" else (0, (1 << bits) - 1)
    return wrapped(least(greatest(n, constant(low, n.size())), constant(high, n.size())), t)


def lanes(one: Definition) -> Definition:
    """The same of each element of packed integers."""

    def every(mods: Mods, v: Values, types: Types) -> Results:
        element, _, count = types["d"].partition("x")
        if not count:
            return one(mods, v, types)
        n, results = width(element), []
        for at in range(0, n * int(count), n):
            parts = {name: z3.Extract(at + n - 1, at, bits) for name, bits in v.items()}
            results.append(one(mods, parts, dict.fromkeys(types, element))["d"])
        return {"d": z3.Concat(*reversed(results))}

    return every


def at_bit(a: Term, position: Term) -> z3.BoolRef:
    """Whether the bit at a position is set; false beyond the last one."""
    n = a.size()
    place = z3.ZeroExt(n - position.size(), position) if position.size() < n else z3.Extract(n - 1, 0, position)
    inside = z3.ULT(position, constant(n, position.size()))
    return z3.And(inside, z3.LShR(a, place) & 1 == 1)


def from_bits(bits: list[z3.BoolRef]) -> Term:
    """Bits, the lowest first."""
    if len(bits) == 1:
        return z3.If(bits[0], constant(1, 1), constant(0, 1))
    return z3.Concat(*(z3.If(b, constant(1, 1), constant(0, 1)) for b in reversed(bits)))


@of("add", "sub")
@lanes
def sum_of(mods: Mods, v: Values, types: Types) -> Results:
    a, b = (number(v[name], types[name]) for name in "ab")
    result = a + b if mods["name"] == "add" else a - b
    return {"d": (clamped if ".sat" in mods["opcode"] else wrapped)(result, types["d"])}


@of("mul", "mad")
def product(mods: Mods, v: Values, types: Types) -> Results:
    """The low half, the high half, or the whole product; c is added to it."""
    part, n = mods["opcode"].split(".")[1], width(types["a"])
    a, b = (number(v[name], types[name], 2 * n) for name in "ab")
    whole = terms.product(a, b)  # of 2n bits, which hold every product
    result = {"lo": z3.Extract(n - 1, 0, whole), "hi": z3.Extract(2 * n - 1, n, whole), "wide": whole}[part]
    if "c" not in v:
        return {"d": result}
    if mods.get("sat"):
        return {"d": clamped(z3.SignExt(8, result) + z3.SignExt(8, v["c"]), types["d"])}
    return {"d": result + v["c"]}


@of("add.cc", "addc", "sub.cc", "subc")
def sum_with_carry(mods: Mods, v: Values, types: Types) -> Results:
    """The flag is the bit above the sum of a, b (or its complement, for a - b) and the flag (or 1)."""
    n = width(types["d"])
    a, b = (z3.ZeroExt(1, v[name]) for name in "ab")
    carry = z3.ZeroExt(n, v["carry"]) if "carry" in v else constant(int(mods["name"] == "sub"), n + 1)
    total = a + (b ^ (1 << n) - 1 if mods["name"][:3] == "sub" else b) + carry
    return {"d": z3.Extract(n - 1, 0, total), "carry": z3.Extract(n, n, total)}


@of("mad.cc", "madc")
def product_with_carry(mods: Mods, v: Values, types: Types) -> Results:
    """Of half of the product, c and the flag."""
    part = product({"opcode": mods["opcode"].removesuffix(".cc")}, {name: v[name] for name in "ab"}, types)["d"]
    flag = {"carry": v["carry"]} if "carry" in v else {}
    return sum_with_carry({"name": "add"}, {"a": part, "b": v["c"], **flag}, types)


@of("clmad")
def carryless(mods: Mods, v: Values, types: Types) -> Results:
    """Of a product of polynomials over the field of 0 and 1: the sum of b, shifted by the place of each bit of a. (In
    the order in which it is easy for the solver.)"""
    total, b, high = constant(0, 128), z3.ZeroExt(64, v["b"]), mods["opcode"].split(".")[1] == "hi"
    for i in reversed(range(64)) if high else range(64):
        total = total ^ z3.If(z3.Extract(i, i, v["a"]) == 1, b << i, constant(0, 128))
    return {"d": (z3.Extract(127, 64, total) if high else z3.Extract(63, 0, total)) ^ v["c"]}


@of("mul24", "mad24")
def product_of_24(mods: Mods, v: Values, types: Types) -> Results:
    """Bits 31 to 0, or 47 to 16, of the product of the lowest 24 bits."""
    sign = types["a"][0]
    whole = number(v["a"], f"{sign}24", 48) * number(v["b"], f"{sign}24", 48)
    result = z3.Extract(31, 0, whole) if mods.get("part") == "lo" else z3.Extract(47, 16, whole)
    if "c" not in v:
        return {"d": result}
    if mods.get("sat"):
        return {"d": clamped(z3.SignExt(8, result) + z3.SignExt(8, v["c"]), types["d"])}
    return {"d": result + v["c"]}


@of("sad")
def sum_of_difference(mods: Mods, v: Values, types: Types) -> Results:
    a, b, c = (number(v[name], types[name]) for name in "abc")
    return {"d": wrapped(c + magnitude(a - b), types["d"])}


@of("div", "rem")
def quotient(mods: Mods, v: Values, types: Types) -> Results:
    """Of the magnitudes, with a sign (a remainder's is that of a); by zero all ones, as NVIDIA's machines answer."""
    t = types["a"]
    a, b = v["a"], v["b"]
    if t[0] == "u":
        result = terms.quotient(a, b) if mods["name"] == "div" else terms.remainder(a, b)
    elif mods["name"] == "div":
        result = terms.quotient(magnitude(a), magnitude(b))
        result = z3.If((a < 0) != (b < 0), -result, result)
    else:
        result = terms.remainder(magnitude(a), magnitude(b))
        result = z3.If(a < 0, -result, result)
    return {"d": z3.If(b == 0, constant(-1, width(t)), result)}


@of("abs")
def absolute(mods: Mods, v: Values, types: Types) -> Results:
    return {"d": wrapped(magnitude(number(v["a"], types["a"])), types["d"])}


@of("neg")
@lanes
def negative(mods: Mods, v: Values, types: Types) -> Results:
    return {"d": wrapped(-number(v["a"], types["a"]), types["d"])}


@of("min", "max")
@lanes
def extreme(mods: Mods, v: Values, types: Types) -> Results:
    a, b = (number(v[name], types[name]) for name in "ab")
    result = least(a, b) if mods["name"] == "min" else greatest(a, b)
    return {"d": wrapped(greatest(result, constant(0)) if mods.get("relu") else result, types["d"])}


@of("popc")
def population(mods: Mods, v: Values, types: Types) -> Results:
    bits = (z3.ZeroExt(31, z3.Extract(i, i, v["a"])) for i in range(v["a"].size()))
    return {"d": reduce(lambda a, b: a + b, bits)}


@of("clz")
def leading(mods: Mods, v: Values, types: Types) -> Results:
    """How often the number can be doubled until its highest bit is set."""
    n = v["a"].size()
    result = constant(n, 32)
    for i in range(n):
        result = z3.If(z3.Extract(i, i, v["a"]) == 1, constant(n - 1 - i, 32), result)
    return {"d": result}


@of("bfind")
def highest(mods: Mods, v: Values, types: Types) -> Results:
    """The highest bit that is not like the sign."""
    a, n = v["a"], v["a"].size()
    other = z3.If(z3.Extract(n - 1, n - 1, a) == 1, ~a, a) if types["a"][0] == "s" else a
    result = constant(-1, 32)
    for i in range(n):
        place = n - 1 - i if mods.get("shiftamt") else i
        result = z3.If(z3.Extract(i, i, other) == 1, constant(place, 32), result)
    return {"d": result}


@of("fns")
def nth_set(mods: Mods, v: Values, types: Types) -> Results:
    """The manual's loop, all its steps in a row; it counts up where the manual counts down."""
    mask, base, offset = v["a"], v["b"], v["c"]
    wanted, step = z3.If(offset < 0, -offset, offset) - 1, z3.If(offset > 0, constant(1, 32), constant(-1, 32))
    position, seen, result = base, constant(0, 32), constant(-1, 32)
    for _ in range(32):
        here = at_bit(mask, position)
        result = z3.If(z3.And(here, seen == wanted), position, result)
        seen = seen + z3.If(here, constant(1, 32), constant(0, 32))
        position = position + step
    alone = z3.If(at_bit(mask, base), base, constant(-1, 32))
    found = z3.If(offset == 0, alone, result)
    return {"d": z3.If(z3.UGT(base, 31), constant(-1, 32), found)}


@of("brev")
def reversed_bits(mods: Mods, v: Values, types: Types) -> Results:
    n = v["a"].size()
    return {"d": from_bits([z3.Extract(n - 1 - i, n - 1 - i, v["a"]) == 1 for i in range(n)])}


def of_field(bits: Term, n: int) -> Term:
    """A position or length in 16 bits: the low 8, as the manual has it; of fields in 64 bits all, as the hardware."""
    if n == 32:
        return number(bits, "u8", 16)
    return z3.If(z3.ULT(bits, 64), z3.Extract(15, 0, bits), constant(64, 16))


@of("bfe")
def extracted(mods: Mods, v: Values, types: Types) -> Results:
    """Bit by bit, as the manual's program; the sign is the field's last bit, or the operand's."""
    a, n = v["a"], v["a"].size()
    at, length = (of_field(v[name], n) for name in "bc")
    last = least(at + length - 1, constant(n - 1, 16))
    sign = z3.And(types["a"][0] == "s", length != 0, at_bit(a, last))
    bits = [z3.If(z3.And(constant(i, 16) < length, at + i < n), at_bit(a, at + i), sign) for i in range(n)]
    return {"d": from_bits(bits)}


@of("bfi")
def inserted(mods: Mods, v: Values, types: Types) -> Results:
    a, b, n = v["a"], v["b"], v["a"].size()
    at, length = (of_field(v[name], n) for name in ("c", "len"))
    bits = []
    for i in range(n):
        place = constant(i, 16)
        inside = z3.And(place >= at, place < at + length)
        bits.append(z3.If(inside, at_bit(a, place - at), z3.Extract(i, i, b) == 1))
    return {"d": from_bits(bits)}


def amount(bits: Term, mods: Mods, n: int = 32) -> Term:
    """A shift's: modulo n, or n at most."""
    number_of = number(bits, "u32")
    return number_of & n - 1 if mods["mode"] == "wrap" else least(number_of, constant(n))


@of("bmsk")
def mask_of(mods: Mods, v: Values, types: Types) -> Results:
    at, length = (amount(v[name], mods) for name in "ab")
    return {"d": from_bits([z3.And(constant(i) >= at, constant(i) < at + length) for i in range(32)])}


@of("szext")
def extended(mods: Mods, v: Values, types: Types) -> Results:
    n, a = amount(v["b"], mods), v["a"]
    sign = z3.And(types["a"][0] == "s", n != 0, at_bit(a, n - 1))
    return {"d": from_bits([z3.If(constant(i) < n, z3.Extract(i, i, a) == 1, sign) for i in range(32)])}


@of("dp4a", "dp2a")
def dot(mods: Mods, v: Values, types: Types) -> Results:
    """c and the products of 4 bytes with 4 bytes, or of 2 halves with 2 of the bytes."""
    four = mods["name"] == "dp4a"
    size, count, first = (8, 4, 0) if four else (16, 2, 2 * (mods["part"] == "hi"))
    total = v["c"]
    for i in range(count):
        x = number(z3.Extract(size * i + size - 1, size * i, v["a"]), f"{mods['at'][0]}{size}", 32)
        at = 8 * (first + i)
        y = number(z3.Extract(at + 7, at, v["b"]), f"{mods['bt'][0]}8", 32)
        total = total + terms.product(x, y)
    return {"d": total}


@of("and", "or", "xor")
def logic(mods: Mods, v: Values, types: Types) -> Results:
    a, b = v["a"], v["b"]
    return {"d": {"and": a & b, "or": a | b, "xor": a ^ b}[mods["name"]]}


@of("not", "cnot")
def logical_not(mods: Mods, v: Values, types: Types) -> Results:
    a, n = v["a"], v["a"].size()
    return {"d": ~a if mods["name"] == "not" else z3.If(a == 0, constant(1, n), constant(0, n))}


@of("lop3")
def look_up(mods: Mods, v: Values, types: Types) -> Results:
    """Each bit of the result is that bit of the table which a, b and c name."""
    bits = []
    for i in range(32):
        row = z3.ZeroExt(5, z3.Concat(*(z3.Extract(i, i, v[name]) for name in "abc")))
        bits.append(at_bit(z3.Extract(7, 0, v["lut"]), row))
    d = from_bits(bits)
    if "with" not in v:
        return {"d": d}
    join = z3.Or if mods["bool"] == "or" else z3.And
    return {"d": d, "p": z3.If(join(d != 0, v["with"] == 1), constant(1, 1), constant(0, 1))}


@of("shf")
def funnel(mods: Mods, v: Values, types: Types) -> Results:
    both, n = z3.ZeroExt(64, z3.Concat(v["b"], v["a"])), z3.ZeroExt(48, amount(v["c"], mods))
    return {"d": z3.Extract(63, 32, both << n) if mods["dir"] == "l" else z3.Extract(31, 0, z3.LShR(both, n))}


@of("shl", "shr")
def shift(mods: Mods, v: Values, types: Types) -> Results:
    """By 0 to the width, which shifts all bits out."""
    t, wide = types["a"], 136
    n = least(number(v["b"], "u32", wide), constant(width(t), wide))
    a = number(v["a"], t, wide)
    return {"d": wrapped(a << n if mods["name"] == "shl" else a >> n, t)}


@of("prmt")
def permuted(mods: Mods, v: Values, types: Types) -> Results:
    """Bytes 0 to 3 are those of a, 4 to 7 those of b; in the mode without a name bit 3 of a selector takes the sign."""
    data = [z3.Extract(8 * i + 7, 8 * i, z3.Concat(v["b"], v["a"])) for i in range(8)]

    def byte(index: Term) -> Term:
        return reduce(lambda rest, i: z3.If(index == i, data[i], rest), range(1, 8), data[0])

    c, taken = z3.ZeroExt(6, z3.Extract(1, 0, v["c"])), []
    for i in range(4):
        match mods.get("mode"):
            case "f4e":
                taken.append(byte(c + i & 7))
            case "b4e":
                taken.append(byte(c - i & 7))
            case "rc8":
                taken.append(byte(c))
            case "ecl":
                taken.append(byte(z3.If(z3.UGT(c, i), c, constant(i, 8))))
            case "ecr":
                taken.append(byte(z3.If(z3.ULT(c, i), c, constant(i, 8))))
            case "rc16":
                taken.append(byte((c & 1) * 2 + (i & 1)))
            case _:
                pick = z3.ZeroExt(4, z3.Extract(4 * i + 3, 4 * i, v["c"]))
                plain = byte(pick & 7)
                sign = z3.SignExt(7, z3.Extract(7, 7, plain))
                taken.append(z3.If(pick & 8 != 0, sign, plain))
    return {"d": z3.Concat(*reversed(taken))}


def compared(relation: str, a: Term, b: Term) -> z3.BoolRef:
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[relation]


def combined(name: str, mods: Mods, a: Term, b: Term) -> Term:
    """What a video instruction makes of two numbers."""
    match name:
        case "vadd":
            return a + b
        case "vsub":
            return a - b
        case "vavrg":
            doubled = a + b + z3.If(a + b >= 0, constant(1, a.size()), constant(0, a.size()))
            return z3.SignExt(1, z3.Extract(a.size() - 1, 1, doubled))
        case "vabsdiff":
            return magnitude(a - b)
        case "vmin":
            return least(a, b)
        case "vmax":
            return greatest(a, b)
        case "vset":
            return z3.If(compared(mods["cmp"], a, b), constant(1, a.size()), constant(0, a.size()))
        case "vshl":
            return a << b
        case "vshr":
            return a >> b
    raise KeyError(name)


@of(*(f"{name}{n}" for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset") for n in (2, 4)))
def video_lanes(mods: Mods, v: Values, types: Types) -> Results:
    """Lane by lane. Selectors are digits, highest lane first, into a and b side by side; sums take whole numbers."""
    name, count = mods["name"][:-1], int(mods["name"][-1])
    n, both = 32 // count, z3.Concat(v["b"], v["a"])
    every = {"a": "3210"[-count:], "b": {2: "32", 4: "7654"}[count], "d": "3210"[-count:]}
    picks = {s: [int(c) for c in mods.get(f"{s}sel", every[s])[::-1]] for s in "ab"}
    results: dict[int, Term] = {}
    for i in (int(c) for c in mods.get("dsel", every["d"])):
        x, y = (
            number(z3.Extract(n * picks[s][i] + n - 1, n * picks[s][i], both), f"{mods[s + 't'][0]}{n}", 32)
            for s in "ab"
        )
        results[i] = combined(name, mods, x, y)
        if mods.get("sat"):
            t = f"{mods['t'][0]}{n}"
            results[i] = number(clamped(results[i], t), t, 32)
    if mods.get("acc"):
        return {"d": reduce(lambda a, b: a + b, results.values(), v["c"])}
    parts = [
        wrapped(results[i], f"u{n}") if i in results else z3.Extract(n * i + n - 1, n * i, v["c"]) for i in range(count)
    ]
    return {"d": z3.Concat(*reversed(parts))}


def chosen(bits: Term, selector: str, sign: str, wide: int = WIDE) -> Term:
    """A register, or the byte or half of it that a selector names ("b2", "h1"), as a number."""
    n = {"b": 8, "h": 16}.get(selector[:1], 32)
    at = n * int(selector[1:] or 0)
    return number(z3.Extract(at + n - 1, at, bits), f"{sign}{n}", wide)


@of("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr")
def video(mods: Mods, v: Values, types: Types) -> Results:
    name, sign = mods["name"], mods.get("t", mods["at"])[0]
    a, b = (chosen(v[s], mods.get(f"{s}sel", ""), mods[f"{s}t"][0]) for s in "ab")
    if name in ("vshl", "vshr"):
        b = b & 31 if mods["mode"] == "wrap" else least(b, constant(32))
    result, where = combined(name, mods, a, b), mods.get("dsel", "")
    n = {"b": 8, "h": 16}.get(where[:1], 32)
    if mods.get("sat"):
        result = number(clamped(result, f"{sign}{n}"), f"{sign}{n}")
    if mods.get("acc"):
        c = number(v["c"], f"{sign}32")
        result = {"add": result + c, "min": least(result, c), "max": greatest(result, c)}[mods["acc"]]
    if n == 32:
        return {"d": wrapped(result, "u32")}
    at = n * int(where[1:])
    mask = constant((1 << n) - 1 << at, 32)
    return {"d": wrapped(result << at, "u32") & mask | v["c"] & ~mask}


@of("vmad")
def video_mad(mods: Mods, v: Values, types: Types) -> Results:
    """The manual's program: -c inverts its bits before they are extended, and adds 1."""
    minus = mods.get("minus", "")
    sign = "s" if "s32" in (mods["at"], mods["bt"]) or minus in ("a", "b", "c") else "u"
    a, b = (chosen(v[s], mods.get(f"{s}sel", ""), mods[f"{s}t"][0], 128) for s in "ab")
    c = number(~v["c"] if minus == "c" else v["c"], f"{sign}32", 128) + (minus == "c")
    whole = terms.product(a, b)
    result = (-whole if minus in ("a", "b") else whole) + c + bool(mods.get("po"))
    result = result >> int(mods["scale"][3:]) if mods.get("scale") else result
    return {"d": clamped(result, f"{sign}32") if mods.get("sat") else wrapped(result, "u32")}
