"""What vector instructions compute that gfx942 and gfx1100 lack (valu_table.py has the notation): those of gfx950 and
GFX12, and the multiply-adds of the older chips. Where 8-bit floats are OCP's, names end in @ocp."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.reference.small_floats import decode, encode
from tests.reference.valu import REFERENCE
from tests.reference.valu_floats import bits_of, from_bits
from tests.reference.valu_integers import bfloat, dot2
from tests.reference.valu_table import add, clamp, isnan

f32, f64, f16 = np.float32, np.float64, np.float16


# ---- IEEE 754-2019 minimum and maximum: a NaN wins, -0 is less than +0 ----
def extremum(largest: bool) -> Callable:
    def function(*values: np.floating) -> np.floating:
        nan = next((v for v in values if isnan(v)), None)
        if nan is not None:
            return nan
        return (max if largest else min)(values, key=lambda v: (float(v), -int(np.signbit(v))))

    return function


LEAST, MOST = extremum(False), extremum(True)
for fmt in ("f16", "f32", "f64"):
    for name, function in (("minimum", LEAST), ("maximum", MOST)):
        add(f"v_{name}_{fmt}", fmt, f"{fmt} {fmt}", function)
        if fmt != "f64":
            other = MOST if name == "minimum" else LEAST
            rest = "maximum" if name == "minimum" else "minimum"
            add(f"v_{name}3_{fmt}", fmt, f"{fmt} {fmt} {fmt}", function)
            add(f"v_{name}{rest}_{fmt}", fmt, f"{fmt} {fmt} {fmt}",
                lambda a, b, c, inner=function, outer=other: outer(inner(a, b), c))  # fmt: skip


def packed(function: Callable) -> Callable:
    def both(*values: int) -> int:
        halves = [function(*(from_bits(v >> s & 0xFFFF, "f16") for v in values)) for s in (0, 16)]
        return bits_of(halves[0], "f16") | bits_of(halves[1], "f16") << 16

    return both


for name, function in (("minimum", LEAST), ("maximum", MOST)):
    add(f"v_pk_{name}_f16", "pkf16", "u32 u32", packed(function))
    add(f"v_pk_{name}3_f16", "pkf16", "u32 u32 u32", packed(function))


#: GFX12's names of what other chips have under others.
for name in ("min", "max"):
    REFERENCE[f"v_{name}_num_f64"] = REFERENCE[f"v_{name}_f64"]


# ---- integers ----
def pack_shifted(low: int, high: int) -> Callable:
    return lambda a, b, c: clamp(a >> (c & 31), low, high) & 255 | (clamp(b >> (c & 31), low, high) & 255) << 8


add("v_ashr_pk_i8_i32", "u16", "i32 i32 u32", pack_shifted(-128, 127))
add("v_ashr_pk_u8_i32", "u16", "i32 i32 u32", pack_shifted(0, 255))
add("v_prng_b32", "u32", "u32", lambda a: a << 1 ^ (197 if a >> 31 else 0))


# ---- conversions ----
def to_bfloat(a: np.floating) -> int:
    """To nearest even."""
    bits = bits_of(a, "f32")
    if isnan(a):
        return bits >> 16 | 0x40
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


add("v_cvt_f32_bf16", "f32", "u16", lambda a: from_bits(a << 16, "f32"))
add("v_cvt_pk_bf16_f32", "u32", "f32 f32", lambda a, b: to_bfloat(a) | to_bfloat(b) << 16)
add("v_cvt_pk_f16_f32", "pkf16", "f32 f32", lambda a, b: bits_of(f16(a), "f16") | bits_of(f16(b), "f16") << 16)
add("v_dot2c_f32_bf16", "f32", "d:f32 u32 u32", lambda d, a, b: dot2(a, b, d, bfloat))
for name, fmt in (("fp8", "fp8"), ("bf8", "bf8")):
    add(f"v_cvt_f32_{name}@ocp", "f32", "u32", lambda a, fmt=fmt: f32(float(decode(fmt, a & 255))))
    add(f"v_cvt_pk_f32_{name}@ocp", "pkf32", "u32",
        lambda a, fmt=fmt: (f32(float(decode(fmt, a & 255))), f32(float(decode(fmt, a >> 8 & 255)))))  # fmt: skip
    for other, second in (("fp8", "fp8"), ("bf8", "bf8")):

        def dot(a: int, b: int, c: np.floating, x: str = fmt, y: str = second) -> np.floating:
            for k in range(0, 32, 8):
                c = f32(c + f32(float(decode(x, a >> k & 255))) * f32(float(decode(y, b >> k & 255))))
            return c

        add(f"v_dot4_f32_{name}_{other}", "f32", "u32 u32 f32", dot)


def pack_small(fmt: str) -> Callable:
    def both(a: np.floating, b: np.floating) -> int:
        return encode(fmt, float(a), 0, saturate=False) | encode(fmt, float(b), 0, saturate=False) << 8

    return both


for name in ("fp8", "bf8"):
    add(f"v_cvt_pk_{name}_f32@ocp", "u16", "f32 f32", pack_small(name))


# ---- multiply-adds with two roundings (gfx900 to gfx90a) ----
def zero_wins(a: np.floating, b: np.floating) -> np.floating:
    return f32(0) if a == 0 or b == 0 else a * b


add("v_mad_f32", "f32", "f32 f32 f32", lambda a, b, c: a * b + c)
add("v_mad_legacy_f32", "f32", "f32 f32 f32", lambda a, b, c: zero_wins(a, b) + c)
add("v_mac_f32", "f32", "d:f32 f32 f32", lambda d, a, b: a * b + d)
add("v_madmk_f32", "f32", "f32 k f32", lambda a, k, b: a * k + b)
add("v_madak_f32", "f32", "f32 f32 k", lambda a, b, k: a * b + k)


# ---- graphics ----
LOWEST = f32(-np.finfo(np.float32).max)


def mullit(a: np.floating, b: np.floating, c: np.floating) -> np.floating:
    if b == LOWEST or b == -np.inf or isnan(b) or isnan(c) or c <= 0:
        return LOWEST
    return zero_wins(a, b)


def cube(what: str) -> Callable:
    """Face, coordinates and twice the major axis of a direction: z before y before x where they are equal."""

    def function(x: np.floating, y: np.floating, z: np.floating) -> np.floating:
        if abs(z) >= abs(x) and abs(z) >= abs(y):
            found = {"id": 5 if z < 0 else 4, "sc": -x if z < 0 else x, "tc": -y, "ma": 2 * z}
        elif abs(y) >= abs(x):
            found = {"id": 3 if y < 0 else 2, "sc": x, "tc": -z if y < 0 else z, "ma": 2 * y}
        else:
            found = {"id": 1 if x < 0 else 0, "sc": z if x < 0 else -z, "tc": -y, "ma": 2 * x}
        return f32(found[what])

    return function


add("v_mullit_f32", "f32", "f32 f32 f32", mullit)
for what in ("id", "sc", "tc", "ma"):
    add(f"v_cube{what}_f32", "f32", "f32 f32 f32", cube(what))


def byte_of(a: np.floating) -> int:
    """To nearest even."""
    return 0 if isnan(a) else clamp(int(np.clip(np.rint(f64(a)), -1, 256)), 0, 255)


def put_byte(value: np.floating, number: int, word: int) -> int:
    shift = (number & 3) * 8
    return word & ~(255 << shift) | byte_of(value) << shift


add("v_cvt_pk_u8_f32", "u32", "f32 u32 u32", put_byte)
add("v_cvt_pkaccum_u8_f32", "u32", "d:u32 f32 u32", lambda d, a, b: put_byte(a, b, d))
add("v_dot2_bf16_bf16", "bf16", "u32 u32 u16", lambda a, b, c: to_bfloat(dot2(a, b, bfloat(c), bfloat)))


# ---- f16 sines of turns ----
def turn16(function: Callable) -> Callable:
    def of(a: np.floating) -> np.floating:
        if not math.isfinite(a):
            return f16(np.nan)
        part = math.fmod(float(a), 1.0)
        return f16(function(2 * math.pi * part)) if part or function is math.cos else f16(math.copysign(0.0, a))

    return of


add("v_sin_f16", "f16", "f16", turn16(math.sin), ulp=2)
add("v_cos_f16", "f16", "f16", turn16(math.cos), ulp=2)
