"""Conversions: rows of valu_table.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tests.reference.valu_floats import bits_of, fraction, round_fraction
from tests.reference.valu_integers import octets
from tests.reference.valu_table import I32, U32, add, clamp, f16, f32, f64, isnan, signed


def to_int(low: int, high: int, rounding: Callable = math.trunc) -> Callable:
    def run(a: np.floating) -> int:
        if isnan(a):
            return 0
        if math.isinf(float(a)):
            return high if a > 0 else low
        return clamp(rounding(Fraction(float(a))), low, high)

    return run


add("v_cvt_i32_f32", "u32", "f32", to_int(*I32))
add("v_cvt_u32_f32", "u32", "f32", to_int(*U32))
add("v_cvt_i32_f64", "u32", "f64", to_int(*I32))
add("v_cvt_u32_f64", "u32", "f64", to_int(*U32))
add("v_cvt_i16_f16", "u16", "f16", to_int(-32768, 32767))
add("v_cvt_u16_f16", "u16", "f16", to_int(0, 65535))
add("v_cvt_rpi_i32_f32 v_cvt_nearest_i32_f32", "u32", "f32", lambda a: to_int(*I32, math.floor)(a + f32(0.5)))
add("v_cvt_flr_i32_f32 v_cvt_floor_i32_f32", "u32", "f32", to_int(*I32, math.floor))
add("v_cvt_f32_i32", "f32", "i32", lambda a: round_fraction(Fraction(a), "f32"))
add("v_cvt_f32_u32", "f32", "u32", lambda a: round_fraction(Fraction(a), "f32"))
add("v_cvt_f64_i32", "f64", "i32", float)
add("v_cvt_f64_u32", "f64", "u32", float)
add("v_cvt_f16_u16", "f16", "u16", lambda a: round_fraction(Fraction(a), "f16"))
add("v_cvt_f16_i16", "f16", "i16", lambda a: round_fraction(Fraction(a), "f16"))
add("v_cvt_f32_f16", "f32", "f16", f32)
add("v_cvt_f16_f32", "f16", "f32", f16)
add("v_cvt_f32_f64", "f32", "f64", f32)
add("v_cvt_f64_f32", "f64", "f32", f64)
add("v_cvt_off_f32_i4", "f32", "u32", lambda a: signed(a, 4) / 16)
for k in range(4):
    add(f"v_cvt_f32_ubyte{k}", "f32", "u32", lambda a, k=k: float(octets(a)[k]))
add("v_cvt_i32_i16", "u32", "i16", lambda a: a)
add("v_cvt_u32_u16", "u32", "u16", lambda a: a)


def normalised(low: float, scale: int) -> Callable:
    def run(a: np.floating) -> int:
        if isnan(a):
            return 0
        return round(Fraction(float(clamp(f32(a), f32(low), f32(1)) * f32(scale))))  # type: ignore[type-var]

    return run


snorm, unorm = normalised(-1, 32767), normalised(0, 65535)
add("v_cvt_norm_i16_f16", "u16", "f16", snorm)
add("v_cvt_norm_u16_f16", "u16", "f16", unorm)
for typ in ("f16", "f32"):
    for name in ("v_cvt_pknorm", "v_cvt_pk_norm"):
        add(
            f"{name}_i16_{typ}",
            "u32",
            f"{typ} {typ}",
            lambda a, b: snorm(a) & 65535 | (snorm(b) & 65535) << 16,
        )
        add(f"{name}_u16_{typ}", "u32", f"{typ} {typ}", lambda a, b: unorm(a) | unorm(b) << 16)


def half_toward_zero(a: np.floating) -> int:
    if not np.isfinite(a):
        return bits_of(a, "f16")
    sign = 0x8000 if np.signbit(a) else 0
    return bits_of(round_fraction(abs(fraction(a)), "f16", "zero"), "f16") | sign


add(
    "v_cvt_pkrtz_f16_f32 v_cvt_pk_rtz_f16_f32",
    "pkf16",
    "f32 f32",
    lambda a, b: half_toward_zero(a) | half_toward_zero(b) << 16,
)
add("v_cvt_pk_u16_u32", "u32", "u32 u32", lambda a, b: min(a, 65535) | min(b, 65535) << 16)
add(
    "v_cvt_pk_i16_i32",
    "u32",
    "i32 i32",
    lambda a, b: clamp(a, -32768, 32767) & 65535 | (clamp(b, -32768, 32767) & 65535) << 16,
)
add(
    "v_cvt_pk_i16_f32",
    "u32",
    "f32 f32",
    lambda a, b: to_int(-32768, 32767)(a) & 65535 | (to_int(-32768, 32767)(b) & 65535) << 16,
)
add("v_cvt_pk_u16_f32", "u32", "f32 f32", lambda a, b: to_int(0, 65535)(a) | to_int(0, 65535)(b) << 16)
add("v_pack_b32_f16", "u32", "u16 u16", lambda a, b: a | b << 16)


def fnuz(bits: int, mantissa: int, bias: int) -> float:
    if bits == 0x80:
        return math.nan
    sign, e, m = -1 if bits >> 7 else 1, (bits & 127) >> mantissa, bits & (1 << mantissa) - 1
    return sign * (m + (1 << mantissa if e else 0)) * 2.0 ** (max(e, 1) - bias - mantissa)


def to_fnuz(a: np.floating, mantissa: int, bias: int) -> int:
    """Nearest 8-bit value, ties to even; NaN where the value is too large."""
    if not np.isfinite(a):
        return 0x80
    size = abs(fraction(a))
    low, high = 0, 127
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if Fraction(fnuz(middle, mantissa, bias)) <= size else (low, middle)
    largest, step = (
        Fraction(fnuz(127, mantissa, bias)),
        Fraction(fnuz(127, mantissa, bias) - fnuz(126, mantissa, bias)),
    )
    if size >= largest:
        code = 127 if size - largest < step / 2 else 0x80
    else:
        below, above = size - Fraction(fnuz(low, mantissa, bias)), Fraction(fnuz(high, mantissa, bias)) - size
        code = low if below < above or (below == above and low % 2 == 0) else high
    if code in (0, 0x80):
        return code
    return code | (0x80 if a < 0 else 0)


add("v_cvt_f32_fp8", "f32", "u8", lambda a: fnuz(a, 3, 8))
add("v_cvt_f32_bf8", "f32", "u8", lambda a: fnuz(a, 2, 16))
add("v_cvt_pk_f32_fp8", "pkf32", "u16", lambda a: (fnuz(a & 255, 3, 8), fnuz(a >> 8, 3, 8)))
add("v_cvt_pk_f32_bf8", "pkf32", "u16", lambda a: (fnuz(a & 255, 2, 16), fnuz(a >> 8, 2, 16)))
add("v_cvt_pk_fp8_f32", "u16", "f32 f32", lambda a, b: to_fnuz(a, 3, 8) | to_fnuz(b, 3, 8) << 8)
add("v_cvt_pk_bf8_f32", "u16", "f32 f32", lambda a, b: to_fnuz(a, 2, 16) | to_fnuz(b, 2, 16) << 8)
