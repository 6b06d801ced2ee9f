"""Reference semantics of integer, bit and carry instructions, from the PTX manual, on Python integers.

Each function takes the field values, the operand bit patterns by name, and the operand types, and returns
the destinations' bit patterns by name (None: the manual does not define the result)."""

from __future__ import annotations

Mods = dict[str, str]
Values = dict[str, int]
Types = dict[str, str]
REFERENCE: dict[str, object] = {}


def of(*mnemonics: str):
    def add(function):
        for mnemonic in mnemonics:
            REFERENCE[mnemonic] = function
        return function

    return add


def width(t: str) -> int:
    return int("".join(c for c in t.partition("x")[0] if c.isdigit()))


def read(bits: int, t: str) -> int:
    """The number that `bits` are in integer type t."""
    n = width(t)
    bits &= (1 << n) - 1
    return bits - (1 << n) if t[0] == "s" and bits >> n - 1 else bits


def numbers(v: Values, types: Types, names: str = "abc") -> list[int]:
    return [read(v[name], types[name]) for name in names if name in v]


def wrap(n: int, t: str) -> int:
    return n & (1 << width(t)) - 1


def clamp(n: int, t: str) -> int:
    low, high = (-(1 << width(t) - 1), (1 << width(t) - 1) - 1) if t[0] == "s" else (0, (1 << width(t)) - 1)
    return wrap(min(max(n, low), high), t)


def lanes(function):
    """Apply to each element of packed integers."""

    def every(mods: Mods, v: Values, types: Types) -> Values:
        element, _, count = types["d"].partition("x")
        if not count:
            return function(mods, v, types)
        one, n = dict.fromkeys(types, element), width(element)
        result = 0
        for at in range(0, n * int(count), n):
            parts = {name: bits >> at & (1 << n) - 1 for name, bits in v.items()}
            result |= function(mods, parts, one)["d"] << at
        return {"d": result}

    return every


@of("add")
@lanes
def add(mods, v, types):
    a, b = numbers(v, types)
    return {"d": clamp(a + b, types["d"]) if mods.get("sat") else wrap(a + b, types["d"])}


@of("sub")
@lanes
def sub(mods, v, types):
    a, b = numbers(v, types)
    return {"d": clamp(a - b, types["d"]) if mods.get("sat") else wrap(a - b, types["d"])}


@of("clmad")
def clmad(mods, v, types):
    """The product of polynomials over GF(2)."""
    result = 0
    for i in range(64):
        result ^= v["a"] << i if v["b"] >> i & 1 else 0
    return {"d": (result >> 64 if mods["part"] == "hi" else result & (1 << 64) - 1) ^ v["c"]}


def product(mods, v, types):
    """mul, mad in all parts. c is added in full."""
    a, b, *c = numbers(v, types)
    n = width(types["a"])
    result = a * b
    if mods["part"] == "hi":
        result >>= n
    elif mods["part"] == "lo":
        result = wrap(result, types["d"])
    if c:
        result += read(v["c"], types["c"])
        if mods.get("sat"):
            return {"d": clamp(result, types["d"])}
    return {"d": wrap(result, types["d"])}


REFERENCE["mul"] = REFERENCE["mad"] = product


@of("mul24", "mad24")
def mul24(mods, v, types):
    sign = types["a"][0] == "s"
    a, b = (read(v[n] & 0xFFFFFF, "s24" if sign else "u24") for n in "ab")
    part = mods.get("part", "hi")
    result = read(wrap(a * b >> (16 if part == "hi" else 0), types["d"]), types["d"])
    if "c" in v:
        result += read(v["c"], types["c"])
        if mods.get("sat"):
            return {"d": clamp(result, types["d"])}
    return {"d": wrap(result, types["d"])}


@of("sad")
def sad(mods, v, types):
    a, b, c = numbers(v, types)
    return {"d": wrap(c + abs(a - b), types["d"])}


@of("div")
def div(mods, v, types):
    a, b = numbers(v, types)
    if b == 0:  # left to the machine by the manual
        return {"d": wrap(-1, types["d"])}
    q = abs(a) // abs(b)
    return {"d": wrap(-q if (a < 0) != (b < 0) else q, types["d"])}


@of("rem")
def rem(mods, v, types):
    a, b = numbers(v, types)
    if b == 0:
        return {"d": wrap(-1, types["d"])}
    r = abs(a) % abs(b)
    return {"d": wrap(-r if a < 0 else r, types["d"])}


@of("abs")
def absolute(mods, v, types):
    return {"d": wrap(abs(read(v["a"], types["a"])), types["d"])}


@of("neg")
@lanes
def neg(mods, v, types):
    return {"d": wrap(-read(v["a"], types["a"]), types["d"])}


@of("min")
@lanes
def minimum(mods, v, types):
    result = min(numbers(v, types))
    return {"d": wrap(max(result, 0) if mods.get("relu") else result, types["d"])}


@of("max")
@lanes
def maximum(mods, v, types):
    result = max(numbers(v, types))
    return {"d": wrap(max(result, 0) if mods.get("relu") else result, types["d"])}


@of("popc")
def popc(mods, v, types):
    return {"d": v["a"].bit_count()}


@of("clz")
def clz(mods, v, types):
    return {"d": width(types["a"]) - v["a"].bit_length()}


@of("bfind")
def bfind(mods, v, types):
    """The highest bit that is not a sign bit."""
    n, a = width(types["a"]), read(v["a"], types["a"])
    position = (~a if a < 0 else a).bit_length() - 1
    if position < 0:
        return {"d": 0xFFFFFFFF}
    return {"d": n - 1 - position if mods["shiftamt"] else position}


@of("fns")
def fns(mods, v, types):
    """The manual's loop."""
    mask, base, offset = v["a"], v["b"], read(v["c"], "s32")
    if base > 31:  # the manual leaves it open; this is what the hardware answers
        return {"d": 0xFFFFFFFF}
    if offset == 0:
        return {"d": base if mask >> base & 1 else 0xFFFFFFFF}
    position, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= position < 32:
        if mask >> position & 1:
            if count == 0:
                return {"d": position}
            count -= 1
        position += step
    return {"d": 0xFFFFFFFF}


@of("brev")
def brev(mods, v, types):
    n = width(types["a"])
    return {"d": int(f"{v['a']:0{n}b}"[::-1], 2)}


def of_field(value, n):
    """A position or length: the low 8 bits, as the manual has it; of 64-bit fields all, as the hardware has it."""
    return value if n == 64 else value & 255


@of("bfe")
def bfe(mods, v, types):
    """Bit by bit."""
    a, n = v["a"], width(types["a"])
    at, length = (of_field(v[s], n) for s in "bc")
    sign = 0 if types["a"][0] == "u" or length == 0 else a >> min(at + length - 1, n - 1) & 1
    bits = [a >> at + i & 1 if i < length and at + i < n else sign for i in range(n)]
    return {"d": sum(bit << i for i, bit in enumerate(bits))}


@of("bfi")
def bfi(mods, v, types):
    a, result, n = v["a"], v["b"], width(types["a"])
    at, length = (of_field(v[s], n) for s in ("c", "len"))
    for i in range(min(length, n)):
        if at + i < n:
            result = result & ~(1 << at + i) | (a >> i & 1) << at + i
    return {"d": result}


@of("bmsk")
def bmsk(mods, v, types):
    at, length = (v[n] & 31 if mods["mode"] == "wrap" else min(v[n], 32) for n in "ab")
    return {"d": wrap(((1 << length) - 1) << at, "u32")}


@of("szext")
def szext(mods, v, types):
    n = v["b"] & 31 if mods["mode"] == "wrap" else min(v["b"], 32)
    if n == 0:
        return {"d": 0}
    low = v["a"] & (1 << n) - 1
    negative = types["a"][0] == "s" and low >> n - 1
    return {"d": wrap(low - (1 << n) if negative else low, "u32")}


@of("dp4a")
def dp4a(mods, v, types):
    pairs = [(read(v["a"] >> 8 * i, mods["at"][0] + "8"), read(v["b"] >> 8 * i, mods["bt"][0] + "8")) for i in range(4)]
    return {"d": wrap(v["c"] + sum(x * y for x, y in pairs), "u32")}


@of("dp2a")
def dp2a(mods, v, types):
    first = 0 if mods["part"] == "lo" else 2
    pairs = [
        (read(v["a"] >> 16 * i, mods["at"][0] + "16"), read(v["b"] >> 8 * (first + i), mods["bt"][0] + "8"))
        for i in range(2)
    ]
    return {"d": wrap(v["c"] + sum(x * y for x, y in pairs), "u32")}


# carries: v["carry"] is the flag before; subtraction adds the complement, so 1 means no borrow


@of("addc", "subc")
def carried(mods, v, types):
    t = types["d"].replace("s", "u")
    b = wrap(~v["b"], t) if mods["name"] == "subc" else v["b"]
    total = v["a"] + b + v["carry"]
    return {"d": wrap(total, t), "carry": total >> width(t)}


def starting(mods, v, types):
    """add.cc, sub.cc: without a carry in."""
    first = int(mods["name"] == "sub")
    return carried({"name": mods["name"] + "c"}, {**v, "carry": first}, types)


@of("madc")
def madc(mods, v, types):
    a, b = numbers(v, types, "ab")
    t = types["d"].replace("s", "u")
    part = wrap(a * b >> (width(t) if mods["part"] == "hi" else 0), t)
    total = part + v["c"] + v["carry"]
    return {"d": wrap(total, t), "carry": total >> width(t)}


# logic


@of("and")
def bit_and(mods, v, types):
    return {"d": v["a"] & v["b"]}


@of("or")
def bit_or(mods, v, types):
    return {"d": v["a"] | v["b"]}


@of("xor")
def bit_xor(mods, v, types):
    return {"d": v["a"] ^ v["b"]}


@of("not")
def bit_not(mods, v, types):
    return {"d": 1 - v["a"] if types["a"] == "pred" else wrap(~v["a"], types["a"])}


@of("cnot")
def cnot(mods, v, types):
    return {"d": int(v["a"] == 0)}


@of("lop3")
def lop3(mods, v, types):
    result = 0
    for i in range(32):
        at = (v["a"] >> i & 1) << 2 | (v["b"] >> i & 1) << 1 | v["c"] >> i & 1
        result |= (v["lut"] >> at & 1) << i
    p = result != 0
    if "with" in v:
        p = p or v["with"] if mods["bool"] == "or" else p and v["with"]
    return {"d": result, "p": int(p)}


@of("shf")
def shf(mods, v, types):
    n = v["c"] & 31 if mods["mode"] == "wrap" else min(v["c"], 32)
    both = v["b"] << 32 | v["a"]
    return {"d": wrap(both << n >> 32 if mods["dir"] == "l" else both >> n, "u32")}


@of("shl")
def shl(mods, v, types):
    return {"d": wrap(v["a"] << min(v["b"], 200), types["a"])}


@of("shr")
def shr(mods, v, types):
    return {"d": wrap(read(v["a"], types["a"]) >> min(v["b"], 200), types["a"])}


@of("prmt")
def prmt(mods, v, types):
    data = [(v["b"] << 32 | v["a"]) >> 8 * i & 255 for i in range(8)]
    mode, c = mods.get("mode"), v["c"] & 3
    if not mode:
        picks = [v["c"] >> 4 * i & 15 for i in range(4)]
        taken = [(255 if data[p & 7] & 128 else 0) if p & 8 else data[p] for p in picks]
    else:
        taken = [
            data[
                {
                    "f4e": (c + i) % 8,
                    "b4e": (c - i) % 8,
                    "rc8": c,
                    "ecl": max(i, c),
                    "ecr": min(i, c),
                    "rc16": (c & 1) * 2 + (i & 1),
                }[mode]
            ]
            for i in range(4)
        ]
    return {"d": sum(byte << 8 * i for i, byte in enumerate(taken))}


def video(mods, v, types):
    """Lane by lane; .add accumulates the lanes uncut. Selectors (mods "asel", "bsel", "dsel") are digit strings,
    highest lane first, into a and b side by side."""
    name, lanes = mods["name"][:-1], int(mods["name"][-1])
    n = 32 // lanes
    both = v["b"] << 32 | v["a"]
    picks = {
        s: [int(c) for c in mods.get(f"{s}sel", every)[::-1]]
        for s, every in (("a", "3210"[-lanes:]), ("b", {2: "32", 4: "7654"}[lanes]))
    }
    results = {}
    for i in (int(c) for c in mods.get("dsel", "3210"[-lanes:])):
        x, y = (read(both >> n * picks[s][i], mods[s + "t"][0] + str(n)) for s in "ab")
        if name == "vset":
            holds = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
            result = int(holds[mods["cmp"]])
        else:
            result = {
                "vadd": x + y,
                "vsub": x - y,
                "vavrg": (x + y + 1 if x + y >= 0 else x + y) >> 1,
                "vabsdiff": abs(x - y),
                "vmin": min(x, y),
                "vmax": max(x, y),
            }[name]
        if mods.get("sat"):
            result = read(clamp(result, mods["t"][0] + str(n)), mods["t"][0] + str(n))
        results[i] = result
    if mods.get("acc"):
        return {"d": wrap(v["c"] + sum(results.values()), "u32")}
    lanes_of_c = {i: v["c"] >> n * i for i in range(lanes)}
    return {"d": sum(wrap(r, f"u{n}") << n * i for i, r in (lanes_of_c | results).items())}


for _name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"):
    REFERENCE[f"{_name}2"] = REFERENCE[f"{_name}4"] = video


def chosen(bits: int, selector: str, sign: str) -> int:
    """A register, or the byte or half of it that a selector names ("b2", "h1"), as a number."""
    n = {"b": 8, "h": 16}.get(selector[:1], 32)
    return read(bits >> n * int(selector[1:] or 0), f"{sign}{n}")


def one_video(mods, v, types):
    """Scalar video instructions; selectors are mods "asel", "bsel", "dsel"."""
    name, signed = mods["name"], mods.get("t", mods["at"])[0]  # vset's c has a's type, on the hardware
    a, b = (chosen(v[s], mods.get(f"{s}sel", ""), mods[f"{s}t"][0]) for s in "ab")
    where = mods.get("dsel", "")
    n = {"b": 8, "h": 16}.get(where[:1], 32)
    if name in ("vshl", "vshr"):
        b = b & 31 if mods["mode"] == "wrap" else min(b, 32)
        result = a << b if name == "vshl" else a >> b
    elif name == "vset":
        result = int({"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[mods["cmp"]])
    else:
        result = {"vadd": a + b, "vsub": a - b, "vabsdiff": abs(a - b), "vmin": min(a, b), "vmax": max(a, b)}[name]
    if mods.get("sat"):
        result = read(clamp(result, f"{signed}{n}"), f"{signed}{n}")
    if mods.get("acc"):
        c = read(v["c"], f"{signed}32")
        result = {"add": result + c, "min": min(result, c), "max": max(result, c)}[mods["acc"]]
    if n == 32:
        return {"d": wrap(result, "u32")}
    at = n * int(where[1:])
    mask = (1 << n) - 1 << at
    return {"d": result << at & mask | v["c"] & ~mask & 0xFFFFFFFF}


for _name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr"):
    REFERENCE[_name] = one_video


@of("vmad")
def vmad(mods, v, types):
    minus = mods.get("minus", "")
    signed = "s32" in (mods["at"], mods["bt"]) or minus in ("a", "b", "c")
    a, b = (chosen(v[s], mods.get(f"{s}sel", ""), mods[f"{s}t"][0]) for s in "ab")
    c = read(v["c"] ^ (0xFFFFFFFF if minus == "c" else 0), "s32" if signed else "u32") + (minus == "c")
    result = a * b * (-1 if minus in ("a", "b") else 1) + c + bool(mods.get("po"))
    result >>= int(mods["scale"][3:]) if mods.get("scale") else 0
    return {"d": clamp(result, "s32" if signed else "u32") if mods.get("sat") else wrap(result, "u32")}
