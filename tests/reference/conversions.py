"""Reference semantics of cvt, from the PTX manual. Results as in reference.floats."""

from __future__ import annotations

from functools import cache

from tests.reference import integers
from tests.reference.floats import FLOATS, element, positive_part, rounded, saturated
from tests.reference.numbers import FORMATS, NAN, Number, bits_of, decode, encode, from_int, value, whole


def cvt(mods, v, types):
    if mods.get("small") == "ue8m0x2" and "t" in mods:
        powers = [None if c == 255 else encode(Number("finite", 0, 1, c - 127), "bf16") for c in codes(v["a"], 8)]
        return {"d": (*powers, 16)}
    if "ue8m0x2" in mods["words"]:
        parts = [decode(v[n], "f32") for n in "ba"] if "b" in v else [decode(h, "bf16") for h in codes(v["a"], 16)]
        low, high = (power(x, mods) for x in parts)
        return {"d": low | high << 8}
    if "small" in mods:
        return small(mods, v, types)
    t, a = mods["t"], mods["a"]
    if mods["name"] == "cvt" and mods["kind"] == "pack":
        n = integers.width(t)
        high, low = (integers.clamp(integers.read(v[s], "s32"), t) for s in "ab")
        return {"d": integers.wrap(v.get("c", 0) << 2 * n | high << n | low, "u32")}
    if t.endswith("x2"):
        one = {**mods, "t": element(t)}
        low, high = (cvt(one, {"a": v[n]}, types)["d"] for n in "ba")
        return {"d": (low, high, 16)}
    if t == "tf32":
        return {"d": tf32(mods, v["a"])}
    if a not in FLOATS:
        n = integers.read(v["a"], a)
        if t not in FLOATS:
            narrow = integers.clamp(n, t) if mods.get("sat") else integers.wrap(n, t)
            return {"d": integers.wrap(integers.read(narrow, t), integers_register(t))}
        bits = encode(from_int(n), t, mods["rnd"])
        return {"d": saturated(bits, t) if mods.get("sat") else bits}
    ftz = bool(mods.get("ftz"))
    x = decode(v["a"], a, ftz and a == "f32" and t != "f16")  # no flush before f16: as the hardware has it
    if t not in FLOATS:
        return {"d": integers.wrap(integers.read(to_integer(x, mods["rnd"], t, a), t), integers_register(t))}
    rnd = mods.get("rnd") or "rn"
    if rnd.endswith("i"):
        bits = encode(whole(x, rnd), t)
    else:
        bits = rounded(x, t, rnd, ftz and t == "f32")
    if mods.get("sat"):
        return {"d": saturated(bits, t)}
    if mods.get("satfinite"):
        bits = finite(bits, t)
    if mods.get("relu"):
        bits = positive_part(bits, t)
    return {"d": bits}


def integers_register(t: str) -> str:
    """8-bit results are extended to the 16-bit register."""
    return t[0] + "16" if t[1:] == "8" else t


def to_integer(x: Number, rnd: str, t: str, a: str) -> int:
    n = integers.width(t)
    if x.kind == "nan":
        return 1 << n - 1 if a == "f64" or n == 64 else 0
    if x.kind == "inf":
        return integers.clamp(-(1 << 70) if x.sign else 1 << 70, t)
    y = whole(x, rnd)
    return integers.clamp((-1) ** y.sign * (y.m << max(y.e, 0) if y.e < 200 else 1 << 200), t)


def finite(bits: int | None, t: str) -> int | None:
    """.satfinite: the largest number instead of infinity; NaN canonical."""
    if bits is None:
        return 0x7FFF
    infinity = (1 << FORMATS[t][0]) - 1 << FORMATS[t][1]
    top = 1 << bits_of(t) - 1
    return bits - 1 if bits & ~top == infinity else bits


def tf32(mods, bits: int) -> int:
    """f32 with 10 mantissa bits; the other 13 are not defined by the manual, zero on the hardware."""
    x = decode(bits, "f32")
    if x.kind == "nan":
        return 0x7FFFE000
    if x.kind == "inf":
        y = bits if not mods.get("satfinite") else bits & 1 << 31 | 0x7F7FE000
    else:
        FORMATS["tf32"] = (8, 10)
        y = encode(x, "tf32", mods["rnd"]) << 13
        if mods.get("satfinite") and y & 0x7FFFFFFF == 0x7F800000:
            y = y & 1 << 31 | 0x7F7FE000
    return 0 if mods.get("relu") and x.sign else y


def codes(bits: int, n: int) -> tuple[int, int]:
    return bits & (1 << n) - 1, bits >> n & (1 << n) - 1


def power(x: Number, mods) -> int:
    """ue8m0: the exponent of the nearest power of two at most (rz) or at least (rp) |x|, from 2^-127 on."""
    if x.kind == "nan":
        return 255
    if x.kind == "inf":
        return 254 if mods["satfinite"] else 255
    for code in range(255):
        at_least = value(Number("finite", 0, 1, code - 127)) >= abs(value(x))
        if mods["rnd"] == "rp" and at_least:
            return code
        if mods["rnd"] == "rz" and value(Number("finite", 0, 1, code - 126)) > abs(value(x)):
            return code
    return 254 if mods["satfinite"] or mods["rnd"] == "rz" else 255


# exponent bits, mantissa bits, code of the largest number, what NaN becomes, bits from one code to the next
SMALL = {
    "e4m3": (4, 3, 0x7E, 0x7F, 8),
    "e5m2": (5, 2, 0x7B, 0x7F, 8),
    "e2m3": (2, 3, 0x1F, 0x1F, 8),
    "e3m2": (3, 2, 0x1F, 0x1F, 8),
    "e2m1": (2, 1, 0x07, 0x07, 4),
}


@cache
def small_number(code: int, name: str) -> Number:
    eb, mb = SMALL[name][:2]
    sign, exponent, m = code >> eb + mb & 1, code >> mb & (1 << eb) - 1, code & (1 << mb) - 1
    bias = (1 << eb - 1) - 1
    if name == "e4m3" and code & 127 == 127:
        return NAN
    if name == "e5m2" and exponent == 31:
        return NAN if m else Number("inf", sign)
    return Number("finite", sign, m if exponent == 0 else m | 1 << mb, max(exponent, 1) - bias - mb)


def small_code(x: Number, name: str) -> int:
    """The nearest code, ties to the even one; beyond the largest number, that one."""
    eb, mb, largest, nan, _ = SMALL[name]
    if x.kind == "nan":
        return nan
    sign = x.sign << eb + mb
    if x.kind == "inf":
        return sign | largest
    wanted = min(abs(value(x)), value(small_number(largest, name)))
    distances = [(abs(abs(value(small_number(code, name))) - wanted), code & 1, code) for code in range(largest + 1)]
    return sign | min(distances)[2]


def times(x: Number, code: int, up: bool) -> Number:
    """A number times a ue8m0 scale, or divided by it."""
    if code == 255 or x.kind == "nan":
        return NAN
    return Number(x.kind, x.sign, x.m, x.e + (code - 127 if up else 127 - code))


def fixed(x: Number, mods) -> int:
    """s2f6: 64 times the number as a signed byte; clamped, NaN becomes the largest."""
    if x.kind == "nan":
        return 127
    if x.kind == "inf":
        n = -128 if x.sign else 127
    else:
        y = value(x) * 64
        n = round(y) if mods["rnd"] == "rn" else int(y)  # of a Fraction: to nearest even, towards 0
    n = min(max(n, 0 if mods["relu"] else -128), 127)
    return n & 255


def small(mods, v, types):
    name = mods["small"][:4]
    if name == "s2f6":
        return from_fixed(mods, v) if "t" in mods else to_fixed(mods, v)
    eb, mb, _, _, step = SMALL[name]
    top = 1 << eb + mb
    if "t" in mods:
        return finished([small_number(code & 2 * top - 1, name) for code in codes(v["a"], step)], mods, v)
    if mods["a"] == "f32":
        parts = [decode(v[n], "f32") for n in "ba"]
    else:
        parts = [decode(v["a"] >> 16 * i & 0xFFFF, element(mods["a"])) for i in (0, 1)]
    low, high = (small_code(x, name) for x in parts)
    if mods["relu"]:
        low, high = (0 if code & top and x.kind != "nan" else code for code, x in zip((low, high), parts, strict=True))
    return {"d": low | high << step}


def finished(halves: list[Number], mods, v):
    """Numbers as a pair of f16 or bf16: scaled, clamped."""
    to = element(mods["t"])
    if mods.get("scale"):
        halves = [times(x, code, True) for x, code in zip(halves, codes(v["s"], 8), strict=True)]
    results = [encode(x, to) for x in halves]
    if mods.get("satfinite"):
        results = [finite(bits, to) for bits in results]
    if mods["relu"]:
        results = [positive_part(bits, to) for bits in results]
    return {"d": (results[0], results[1], 16)}


def from_fixed(mods, v):
    numbers = [integers.read(code, "s8") for code in codes(v["a"], 8)]
    return finished([Number("finite", int(n < 0), abs(n), -6) for n in numbers], mods, v)


def to_fixed(mods, v):
    parts = [decode(v[n], "f32") for n in "ba"] if "b" in v else [decode(h, "bf16") for h in codes(v["a"], 16)]
    if mods.get("scale"):
        parts = [times(x, code, False) for x, code in zip(parts, codes(v["s"], 8), strict=True)]
    low, high = (fixed(x, mods) for x in parts)
    return {"d": low | high << 8}
