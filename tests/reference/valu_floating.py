"""Floating-point arithmetic, approximations, steps of divisions, comparisons: rows of valu_table.py."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tests.reference.valu_floats import FORMATS, bits_of, fma, fraction, from_bits, round_fraction
from tests.reference.valu_table import add, clamp, f16, f32, f64, isnan

# ---- floats: one function for all formats ----


def half_floats(function: Callable) -> Callable:
    def run(*sources: int) -> int:
        out = 0
        for shift in (0, 16):
            out |= bits_of(function(*(from_bits(s >> shift & 65535, "f16") for s in sources)), "f16") << shift
        return out

    return run


def signalling(a: np.floating) -> bool:
    fmt = {2: "f16", 4: "f32", 8: "f64"}[a.itemsize]
    return isnan(a) and not bits_of(a, fmt) >> (FORMATS[fmt][2] - 2) & 1


def quiet_first(function: Callable) -> Callable:
    """IEEE mode: a signalling NaN makes the result a quiet one."""

    def run(a: np.floating, b: np.floating) -> np.floating:
        return type(a)(np.nan) if signalling(a) or signalling(b) else function(a, b)

    return run


def extreme(choose: Callable) -> Callable:
    """min or max of numbers; of a NaN and another, the other. -0 is below +0."""

    def run(a: np.floating, b: np.floating) -> np.floating:
        if isnan(a) or isnan(b):
            return b if isnan(a) else a
        return choose(a, b, key=lambda x: (x, not np.signbit(x)))

    return quiet_first(run)


minimum, maximum = extreme(min), extreme(max)


def median(a: np.floating, b: np.floating, c: np.floating) -> np.floating:
    if isnan(a) or isnan(b) or isnan(c):
        return minimum(minimum(a, b), c)
    return sorted((a, b, c), key=lambda x: (x, not np.signbit(x)))[1]


def fract(a: np.floating) -> np.floating:
    result = a - np.floor(a)
    below_one = np.nextafter(type(a)(1), type(a)(0))
    return below_one if result >= 1 else result


def frexp_mantissa(a: np.floating) -> np.floating:
    return np.frexp(a)[0] if np.isfinite(a) else a


def frexp_exponent(a: np.floating) -> int:
    return int(np.frexp(a)[1]) if np.isfinite(a) else 0


def zero_wins(a: np.floating, b: np.floating) -> np.floating:
    return type(a)(0) if a == 0 or b == 0 else a * b


def ldexp(fmt: str) -> Callable:
    def run(a: np.floating, e: int) -> np.floating:
        if not np.isfinite(a) or a == 0:
            return a
        return FORMATS[fmt][0](round_fraction(fraction(a) * Fraction(2) ** clamp(e, -5000, 5000), fmt))

    return run


def fused(fmt: str, order: str = "abc") -> Callable:
    def run(*sources: np.floating) -> np.floating:
        by = dict(zip("abc", sources, strict=True))
        return fma(by[order[0]], by[order[1]], by[order[2]], fmt)

    return run


for fmt in ("f16", "f32", "f64"):
    one, two_, three = fmt, f"{fmt} {fmt}", f"{fmt} {fmt} {fmt}"
    add(f"v_add_{fmt}", fmt, two_, lambda a, b: a + b)
    add(f"v_sub_{fmt}", fmt, two_, lambda a, b: a - b)
    add(f"v_subrev_{fmt}", fmt, two_, lambda a, b: b - a)
    add(f"v_mul_{fmt}", fmt, two_, lambda a, b: a * b)
    add(f"v_min_{fmt}", fmt, two_, minimum)
    add(f"v_max_{fmt}", fmt, two_, maximum)
    add(f"v_min3_{fmt}", fmt, three, lambda a, b, c: minimum(minimum(a, b), c))
    add(f"v_max3_{fmt}", fmt, three, lambda a, b, c: maximum(maximum(a, b), c))
    add(f"v_maxmin_{fmt}", fmt, three, lambda a, b, c: minimum(maximum(a, b), c))
    add(f"v_minmax_{fmt}", fmt, three, lambda a, b, c: maximum(minimum(a, b), c))
    add(f"v_med3_{fmt}", fmt, three, median)
    add(f"v_fma_{fmt} v_fma_legacy_{fmt}", fmt, three, fused(fmt))
    add(f"v_fmac_{fmt}", fmt, f"{fmt} {fmt} d:{fmt}", fused(fmt))
    add(f"v_mad_{fmt} v_mad_legacy_{fmt}", fmt, three, lambda a, b, c: a * b + c)
    add(f"v_mac_{fmt}", fmt, f"{fmt} {fmt} d:{fmt}", lambda a, b, c: a * b + c)
    add(f"v_trunc_{fmt}", fmt, one, np.trunc)
    add(f"v_ceil_{fmt}", fmt, one, np.ceil)
    add(f"v_floor_{fmt}", fmt, one, np.floor)
    add(f"v_rndne_{fmt}", fmt, one, np.rint)
    add(f"v_fract_{fmt}", fmt, one, fract)
    add(f"v_frexp_mant_{fmt}", fmt, one, frexp_mantissa)
    add(f"v_ldexp_{fmt}", fmt, f"{fmt} {'i16' if fmt == 'f16' else 'i32'}", ldexp(fmt))
for name in ("v_fmamk", "v_fmaak"):
    for fmt in ("f32", "f16"):
        sources = f"{fmt} k {fmt}" if name == "v_fmamk" else f"{fmt} {fmt} k"
        add(f"{name}_{fmt}", fmt, sources, fused(fmt))
add("v_madmk_f16", "f16", "f16 k f16", lambda a, k, b: a * k + b)
add("v_madak_f16", "f16", "f16 f16 k", lambda a, b, k: a * b + k)
add("v_mul_legacy_f32 v_mul_dx9_zero_f32", "f32", "f32 f32", zero_wins)
add(
    "v_fmac_dx9_zero_f32",
    "f32",
    "f32 f32 d:f32",
    lambda a, b, c: f32(0) + c if a == 0 or b == 0 else fma(a, b, c, "f32"),
)
add(
    "v_fma_dx9_zero_f32",
    "f32",
    "f32 f32 f32",
    lambda a, b, c: f32(0) + c if a == 0 or b == 0 else fma(a, b, c, "f32"),
)
add("v_frexp_exp_i32_f64", "u32", "f64", frexp_exponent)
add("v_frexp_exp_i32_f32", "u32", "f32", frexp_exponent)
add("v_frexp_exp_i16_f16", "u16", "f16", frexp_exponent)
for name, count, function in (("fma", 3, fused("f16")), ("add", 2, lambda a, b: a + b), ("mul", 2, lambda a, b: a * b),
                              ("min", 2, minimum), ("max", 2, maximum)):  # fmt: skip
    add(f"v_pk_{name}_f16", "pkf16", "u32 " * count, half_floats(function))
add("v_pk_fmac_f16", "pkf16", "u32 u32 d:u32", half_floats(fused("f16")))


def single_pair(function: Callable) -> Callable:
    def run(*sources: int) -> tuple:
        return tuple(function(*(from_bits(s >> k & 0xFFFFFFFF, "f32") for s in sources)) for k in (0, 32))

    return run


add("v_pk_fma_f32", "pkf32", "u64 u64 u64", single_pair(fused("f32")))
add("v_pk_add_f32", "pkf32", "u64 u64", single_pair(lambda a, b: a + b))
add("v_pk_mul_f32", "pkf32", "u64 u64", single_pair(lambda a, b: a * b))
add("v_pk_mov_b32", "u64", "u64 u64", lambda a, b: (a & 0xFFFFFFFF) | (b & 0xFFFFFFFF) << 32)

# ---- transcendental: f32 denormals count as zero ----


def flushed(a: np.floating) -> np.floating:
    return np.copysign(f32(0), a) if abs(a) < f32(2.0**-126) else a


def approximate(function: Callable) -> Callable:
    def run(a: np.floating) -> np.floating:
        with np.errstate(all="ignore"):
            return flushed(f32(function(f64(flushed(a)))))

    return run


def turn(function: Callable) -> Callable:
    return lambda x: function((x - np.floor(x)) * 2 * np.pi) if np.isfinite(x) else np.nan


for name, function in (("exp", np.exp2), ("log", np.log2), ("rcp", lambda x: 1 / x), ("sqrt", np.sqrt),
                       ("rsq", lambda x: 1 / np.sqrt(x))):  # fmt: skip
    add(f"v_{name}_f32 v_{name}_legacy_f32", "f32", "f32", approximate(function), 1)
    add(f"v_{name}_f16", "f16", "f16", lambda a, function=function: f16(function(f64(a))), 1)
add("v_rcp_iflag_f32", "f32", "f32", approximate(lambda x: 1 / x), 1)
add("v_rcp_f64", "f64", "f64", lambda a: 1 / a, 1)
add("v_rsq_f64", "f64", "f64", lambda a: 1 / np.sqrt(a), 1)
add("v_sqrt_f64", "f64", "f64", np.sqrt, 1)

# ---- the steps of a division ----


def div_fixup(fmt: str) -> Callable:
    typ, _uns, digits, _low, _high = FORMATS[fmt]
    spread = {"f32": 150, "f64": 1075, "f16": 10**6}[fmt]

    def run(q: np.floating, d: np.floating, n: np.floating) -> np.floating:
        negative = np.signbit(d) != np.signbit(n)
        sign = lambda x: typ(-x if negative else x)  # noqa: E731
        exponent = lambda x: bits_of(x, fmt) >> (digits - 1) & (1 << (8 * typ().itemsize - digits)) - 1  # noqa: E731
        if isnan(n) or isnan(d) or (d == 0 and n == 0) or (np.isinf(d) and np.isinf(n)):
            return typ(np.nan)
        if d == 0 or np.isinf(n):
            return sign(np.inf)
        if np.isinf(d) or n == 0 or exponent(n) - exponent(d) < -spread:
            return sign(0.0)
        return sign(np.inf if isnan(q) else abs(q))  # only an overflow of the steps leaves a NaN here

    return run


for fmt in ("f16", "f32", "f64"):
    add(f"v_div_fixup_{fmt} v_div_fixup_legacy_{fmt}", fmt, f"{fmt} {fmt} {fmt}", div_fixup(fmt))

# ---- comparisons ----
UNORDERED = ("u", "nge", "nlg", "ngt", "nle", "neq", "nlt")
ORDERED: dict[str, Callable] = {
    "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}  # fmt: skip
for kind in ("cmp", "cmpx"):
    for typ in ("i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64"):
        two_ = f"{typ} {typ}"
        for relation, function in ORDERED.items():
            add(f"v_{kind}_{relation}_{typ}", "mask", two_, function)
        add(f"v_{kind}_f_{typ}", "mask", two_, lambda a, b: False)
        add(f"v_{kind}_t_{typ} v_{kind}_tru_{typ}", "mask", two_, lambda a, b: True)
        if typ[0] != "f":
            add(f"v_{kind}_ne_{typ}", "mask", two_, lambda a, b: a != b)
            continue
        add(f"v_{kind}_lg_{typ}", "mask", two_, lambda a, b: a < b or a > b)
        add(f"v_{kind}_o_{typ}", "mask", two_, lambda a, b: not (isnan(a) or isnan(b)))
        add(f"v_{kind}_u_{typ}", "mask", two_, lambda a, b: isnan(a) or isnan(b))
        for negated, function in (("nlt", "lt"), ("nle", "le"), ("ngt", "gt"), ("nge", "ge")):
            add(f"v_{kind}_{negated}_{typ}", "mask", two_, lambda a, b, f=ORDERED[function]: not f(a, b))
        add(f"v_{kind}_neq_{typ}", "mask", two_, lambda a, b: a != b)
        add(f"v_{kind}_nlg_{typ}", "mask", two_, lambda a, b: not (a < b or a > b))


def class_test(fmt: str) -> Callable:
    typ, _uns, digits, low, _high = FORMATS[fmt]

    def run(raw: int, wanted: int) -> bool:
        value = from_bits(raw, fmt)
        negative = bool(np.signbit(value))
        if isnan(value):
            k = 1 if raw >> (digits - 2) & 1 else 0
        elif np.isinf(value):
            k = 2 if negative else 9
        elif value == 0:
            k = 5 if negative else 6
        elif abs(value) < typ(2.0**low):
            k = 4 if negative else 7
        else:
            k = 3 if negative else 8
        return bool(wanted >> k & 1)

    return run


for fmt, raw, mask in (("f16", "u16", "u16"), ("f32", "u32", "u32"), ("f64", "u64", "u32")):
    add(f"v_cmp_class_{fmt} v_cmpx_class_{fmt}", "mask", f"{raw} {mask}", class_test(fmt))
