"""Reference semantics of cvt, from the PTX manual. Results as in reference.floats."""

from __future__ import annotations

from reference import integers
from reference.floats import FLOATS, element, positive_part, rounded, saturated
from reference.numbers import FORMATS, NAN, Number, bits_of, decode, encode, from_int, value, whole


def cvt(mods, v, types):
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
    x = decode(v["a"], a, ftz and a == "f32")
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
        bits = bits if x.kind == "nan" else positive_part(bits, t)
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


def tf32(mods, bits: int) -> int | None:
    """f32 with 10 mantissa bits; the other 13 are not defined by the manual, zero here."""
    x = decode(bits, "f32")
    if x.kind == "nan":
        return None
    if x.kind == "inf":
        y = bits if not mods.get("satfinite") else bits & 1 << 31 | 0x7F7FE000
    else:
        FORMATS["tf32"] = (8, 10)
        y = encode(x, "tf32", mods["rnd"]) << 13
        if mods.get("satfinite") and y & 0x7FFFFFFF == 0x7F800000:
            y = y & 1 << 31 | 0x7F7FE000
    return 0 if mods.get("relu") and x.sign else y


SMALL = {"e4m3": (4, 3), "e5m2": (5, 2)}


def small_number(code: int, name: str) -> Number:
    eb, mb = SMALL[name]
    sign, exponent, m = code >> 7, code >> mb & (1 << eb) - 1, code & (1 << mb) - 1
    bias = (1 << eb - 1) - 1
    if name == "e4m3" and code & 127 == 127:
        return NAN
    if name == "e5m2" and exponent == 31:
        return NAN if m else Number("inf", sign)
    return Number("finite", sign, m if exponent == 0 else m | 1 << mb, max(exponent, 1) - bias - mb)


def small_code(x: Number, name: str) -> int:
    """The nearest code, ties to the even one; beyond the largest number, that one."""
    if x.kind == "nan":
        return 0x7F
    largest = 0x7E if name == "e4m3" else 0x7B
    if x.kind == "inf":
        return x.sign << 7 | largest
    wanted = min(abs(value(x)), value(small_number(largest, name)))
    distances = [(abs(abs(value(small_number(code, name))) - wanted), code & 1, code) for code in range(largest + 1)]
    return x.sign << 7 | min(distances)[2]


def small(mods, v, types):
    if "t" in mods:
        halves = [small_number(v["a"] >> 8 * i & 255, mods["small"][:4]) for i in (0, 1)]
        codes = [encode(x, "f16") for x in halves]
        if mods["relu"]:
            codes = [positive_part(bits, "f16") for bits in codes]
        return {"d": (codes[0], codes[1], 16)}
    if mods["a"] == "f32":
        parts = [decode(v[n], "f32") for n in "ba"]
    else:
        parts = [decode(v["a"] >> 16 * i & 0xFFFF, "f16") for i in (0, 1)]
    low, high = (small_code(x, mods["small"][:4]) for x in parts)
    if mods["relu"]:
        low, high = (0 if code & 128 and x.kind != "nan" else code for code, x in zip((low, high), parts, strict=True))
    return {"d": low | high << 8}
