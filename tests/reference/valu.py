"""What vector instructions compute, lane by lane, in Python: result type, source types, function.

Independent of the rows: the mnemonics and the manuals' descriptions are all they share. Sources arrive as Python
integers (signed for i types) or numpy floats, lane masks as 0 or 1; results likewise. A function that returns a
pair gives the result and a carry or flag bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from reference.valu_floats import FORMATS, bits_of, fma, fraction, from_bits, round_fraction

f32, f64, f16 = np.float32, np.float64, np.float16
Entry = tuple[str, str, Callable]
REFERENCE: dict[str, Entry] = {}
#: Instructions that approximate: units in the last place that we allow ourselves.
APPROXIMATE: dict[str, float] = {}


def add(name: str, d: str, sources: str, function: Callable, ulp: float = 0) -> None:
    for one in name.split():
        REFERENCE[one] = (d, sources, function)
        if ulp:
            APPROXIMATE[one] = ulp


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def isnan(value: object) -> bool:
    return math.isnan(float(value))  # type: ignore[arg-type]


# ---- integers ----
I32, U32 = (-(2**31), 2**31 - 1), (0, 2**32 - 1)
add("v_mov_b32 v_accvgpr_mov_b32", "u32", "u32", lambda a: a)
add("v_mov_b16", "u16", "u16", lambda a: a)
add("v_mov_b64", "u64", "u64", lambda a: a)
add("v_not_b32", "u32", "u32", lambda a: ~a)
add("v_not_b16", "u16", "u16", lambda a: ~a)
add("v_bfrev_b32", "u32", "u32", lambda a: int(f"{a:032b}"[::-1], 2))
add("v_ffbh_u32 v_clz_i32_u32", "u32", "u32", lambda a: 32 - a.bit_length() if a else -1)
add("v_ffbl_b32 v_ctz_i32_b32", "u32", "u32", lambda a: (a & -a).bit_length() - 1 if a else -1)


def leading_signs(a: int) -> int:
    text = f"{a & 0xFFFFFFFF:032b}"
    run = len(text) - len(text.lstrip(text[0]))
    return -1 if run == 32 else run


add("v_ffbh_i32 v_cls_i32", "u32", "i32", leading_signs)
add(
    "v_sat_pk_u8_i16",
    "u16",
    "u32",
    lambda a: clamp(signed(a, 16), 0, 255) | clamp(signed(a >> 16, 16), 0, 255) << 8,
)
add("v_cndmask_b32", "u32", "u32 u32 mask", lambda a, b, c: b if c else a)
add("v_cndmask_b16", "u16", "u16 u16 mask", lambda a, b, c: b if c else a)
add("v_mul_i32_i24", "u32", "i24 i24", lambda a, b: a * b)
add("v_mul_hi_i32_i24", "u32", "i24 i24", lambda a, b: a * b >> 32)
add("v_mul_u32_u24", "u32", "u24 u24", lambda a, b: a * b)
add("v_mul_hi_u32_u24", "u32", "u24 u24", lambda a, b: a * b >> 32)
for bits in (16, 32):
    for k in "iu":
        add(f"v_min_{k}{bits}", f"{k}{bits}", f"{k}{bits} {k}{bits}", min)
        add(f"v_max_{k}{bits}", f"{k}{bits}", f"{k}{bits} {k}{bits}", max)
        three = f"{k}{bits} " * 3
        add(f"v_min3_{k}{bits}", f"{k}{bits}", three, min)
        add(f"v_max3_{k}{bits}", f"{k}{bits}", three, max)
        add(f"v_med3_{k}{bits}", f"{k}{bits}", three, lambda a, b, c: sorted((a, b, c))[1])
        add(f"v_maxmin_{k}{bits}", f"{k}{bits}", three, lambda a, b, c: min(max(a, b), c))
        add(f"v_minmax_{k}{bits}", f"{k}{bits}", three, lambda a, b, c: max(min(a, b), c))
add("v_lshrrev_b32", "u32", "u32 u32", lambda a, b: b >> (a & 31))
add("v_ashrrev_i32", "u32", "u32 i32", lambda a, b: b >> (a & 31))
add("v_lshlrev_b32", "u32", "u32 u32", lambda a, b: b << (a & 31))
add("v_lshrrev_b16", "u16", "u16 u16", lambda a, b: b >> (a & 15))
add("v_ashrrev_i16", "u16", "u16 i16", lambda a, b: b >> (a & 15))
add("v_lshlrev_b16", "u16", "u16 u16", lambda a, b: b << (a & 15))
add("v_lshrrev_b64", "u64", "u32 u64", lambda a, b: b >> (a & 63))
add("v_ashrrev_i64", "u64", "u32 i64", lambda a, b: b >> (a & 63))
add("v_lshlrev_b64", "u64", "u32 u64", lambda a, b: b << (a & 63))
for bits in (16, 32):
    add(f"v_and_b{bits}", f"u{bits}", f"u{bits} u{bits}", lambda a, b: a & b)
    add(f"v_or_b{bits}", f"u{bits}", f"u{bits} u{bits}", lambda a, b: a | b)
    add(f"v_xor_b{bits}", f"u{bits}", f"u{bits} u{bits}", lambda a, b: a ^ b)
add("v_xnor_b32", "u32", "u32 u32", lambda a, b: ~(a ^ b))
add("v_add_u32 v_add_nc_u32 v_add_i32 v_add_nc_i32", "u32", "u32 u32", lambda a, b: a + b)
add("v_sub_u32 v_sub_nc_u32 v_sub_i32 v_sub_nc_i32", "u32", "u32 u32", lambda a, b: a - b)
add("v_subrev_u32 v_subrev_nc_u32", "u32", "u32 u32", lambda a, b: b - a)
add("v_add_u16 v_add_nc_u16 v_add_i16 v_add_nc_i16", "u16", "u16 u16", lambda a, b: a + b)
add("v_sub_u16 v_sub_nc_u16 v_sub_i16 v_sub_nc_i16", "u16", "u16 u16", lambda a, b: a - b)
add("v_subrev_u16", "u16", "u16 u16", lambda a, b: b - a)
add("v_mul_lo_u16", "u16", "u16 u16", lambda a, b: a * b)
add("v_add_co_u32", "u32", "u32 u32", lambda a, b: (a + b, a + b >> 32))
add("v_sub_co_u32", "u32", "u32 u32", lambda a, b: (a - b, a < b))
add("v_subrev_co_u32", "u32", "u32 u32", lambda a, b: (b - a, b < a))
add("v_addc_co_u32 v_add_co_ci_u32", "u32", "u32 u32 mask", lambda a, b, c: (a + b + c, a + b + c >> 32))
add("v_subb_co_u32 v_sub_co_ci_u32", "u32", "u32 u32 mask", lambda a, b, c: (a - b - c, a < b + c))
add("v_subbrev_co_u32 v_subrev_co_ci_u32", "u32", "u32 u32 mask", lambda a, b, c: (b - a - c, b < a + c))
add("v_bfe_u32", "u32", "u32 u32 u32", lambda a, b, c: a >> (b & 31) & (1 << (c & 31)) - 1)
add("v_bfe_i32", "u32", "u32 u32 u32", lambda a, b, c: signed(a >> (b & 31), c & 31) if c & 31 else 0)
add("v_bfi_b32", "u32", "u32 u32 u32", lambda a, b, c: a & b | ~a & c)
add("v_bfm_b32", "u32", "u32 u32", lambda a, b: (1 << (a & 31)) - 1 << (b & 31))
add("v_alignbit_b32", "u32", "u32 u32 u32", lambda a, b, c: (a << 32 | b) >> (c & 31))
add("v_alignbyte_b32", "u32", "u32 u32 u32", lambda a, b, c: (a << 32 | b) >> 8 * (c & 3))


def permute(a: int, b: int, selector: int) -> int:
    data = (a << 32 | b).to_bytes(8, "little")
    out = []
    for s in selector.to_bytes(4, "little"):
        if s >= 13:
            out.append(255)
        elif s == 12:
            out.append(0)
        elif s >= 8:
            out.append(255 if data[2 * (s - 8) + 1] & 128 else 0)
        else:
            out.append(data[s])
    return int.from_bytes(bytes(out), "little")


def octets(a: int) -> list[int]:
    return [a >> k & 255 for k in (0, 8, 16, 24)]


def sad(a: int, b: int) -> int:
    return sum(abs(x - y) for x, y in zip(octets(a), octets(b), strict=True))


def msad(a: int, b: int) -> int:
    return sum(abs(x - y) for x, y in zip(octets(a), octets(b), strict=True) if y)


add("v_perm_b32", "u32", "u32 u32 u32", permute)
add(
    "v_lerp_u8",
    "u32",
    "u32 u32 u32",
    lambda a, b, c: sum(
        (x + y + (z & 1) >> 1) << 8 * k for k, (x, y, z) in enumerate(zip(octets(a), octets(b), octets(c), strict=True))
    ),
)
add("v_sad_u8", "u32", "u32 u32 u32", lambda a, b, c: sad(a, b) + c)
add("v_sad_hi_u8", "u32", "u32 u32 u32", lambda a, b, c: (sad(a, b) << 16) + c)
add(
    "v_sad_u16",
    "u32",
    "u32 u32 u32",
    lambda a, b, c: abs((a & 65535) - (b & 65535)) + abs((a >> 16) - (b >> 16)) + c,
)
add("v_sad_u32", "u32", "u32 u32 u32", lambda a, b, c: abs(a - b) + c)
add("v_msad_u8", "u32", "u32 u32 u32", lambda a, b, c: msad(a, b) + c)
add(
    "v_qsad_pk_u16_u8",
    "u64",
    "u64 u32 u64",
    lambda a, b, c: sum((sad(a >> 8 * k & 0xFFFFFFFF, b) + (c >> 16 * k) & 65535) << 16 * k for k in range(4)),
)
add(
    "v_mqsad_pk_u16_u8",
    "u64",
    "u64 u32 u64",
    lambda a, b, c: sum((msad(a >> 8 * k & 0xFFFFFFFF, b) + (c >> 16 * k) & 65535) << 16 * k for k in range(4)),
)
add("v_bcnt_u32_b32", "u32", "u32 u32", lambda a, b: a.bit_count() + b)
add(
    "v_mbcnt_lo_u32_b32",
    "u32",
    "u32 u32 lane",
    lambda a, b, lane: (a & (1 << min(lane, 32)) - 1).bit_count() + b,
)
add(
    "v_mbcnt_hi_u32_b32",
    "u32",
    "u32 u32 lane",
    lambda a, b, lane: (a & (1 << max(lane - 32, 0)) - 1).bit_count() + b,
)
add("v_lshl_or_b32", "u32", "u32 u32 u32", lambda a, b, c: a << (b & 31) | c)
add("v_and_or_b32", "u32", "u32 u32 u32", lambda a, b, c: a & b | c)
add("v_or3_b32", "u32", "u32 u32 u32", lambda a, b, c: a | b | c)
add("v_xor3_b32", "u32", "u32 u32 u32", lambda a, b, c: a ^ b ^ c)
add("v_lshl_add_u32", "u32", "u32 u32 u32", lambda a, b, c: (a << (b & 31)) + c)
add("v_add_lshl_u32", "u32", "u32 u32 u32", lambda a, b, c: (a + b) << (c & 31))
add("v_add3_u32", "u32", "u32 u32 u32", lambda a, b, c: a + b + c)
add("v_xad_u32", "u32", "u32 u32 u32", lambda a, b, c: (a ^ b) + c)
add("v_lshl_add_u64", "u64", "u64 u32 u64", lambda a, b, c: (a << (b & 7)) + c)
add("v_mul_lo_u32", "u32", "u32 u32", lambda a, b: a * b)
add("v_mul_hi_u32", "u32", "u32 u32", lambda a, b: a * b >> 32)
add("v_mul_hi_i32", "u32", "i32 i32", lambda a, b: a * b >> 32)
add("v_mad_i32_i24", "u32", "i24 i24 i32", lambda a, b, c: a * b + c)
add("v_mad_u32_u24", "u32", "u24 u24 u32", lambda a, b, c: a * b + c)
add("v_mad_i32_i16", "u32", "i16 i16 i32", lambda a, b, c: a * b + c)
add("v_mad_u32_u16", "u32", "u16 u16 u32", lambda a, b, c: a * b + c)
add("v_mad_u16 v_mad_legacy_u16", "u16", "u16 u16 u16", lambda a, b, c: a * b + c)
add("v_mad_i16 v_mad_legacy_i16", "u16", "i16 i16 i16", lambda a, b, c: a * b + c)
add("v_mad_u64_u32", "u64", "u32 u32 u64", lambda a, b, c: (a * b + c, a * b + c >> 64))
add("v_mad_i64_i32", "u64", "i32 i32 i64", lambda a, b, c: (a * b + c, a * b + c < 0))

# ---- packed and dot ----


def halves(function: Callable, sign: bool) -> Callable:
    def run(*sources: int) -> int:
        out = 0
        for shift in (0, 16):
            values = [signed(s >> shift, 16) if sign else s >> shift & 65535 for s in sources]
            out |= (function(*values) & 65535) << shift
        return out

    return run


for name, sign, count, function in (
    ("mad_i16", True, 3, lambda a, b, c: a * b + c), ("mad_u16", False, 3, lambda a, b, c: a * b + c),
    ("mul_lo_u16", False, 2, lambda a, b: a * b), ("add_i16", True, 2, lambda a, b: a + b),
    ("add_u16", False, 2, lambda a, b: a + b), ("sub_i16", True, 2, lambda a, b: a - b),
    ("sub_u16", False, 2, lambda a, b: a - b), ("lshlrev_b16", False, 2, lambda a, b: b << (a & 15)),
    ("lshrrev_b16", False, 2, lambda a, b: b >> (a & 15)), ("ashrrev_i16", True, 2, lambda a, b: b >> (a & 15)),
    ("max_i16", True, 2, max), ("max_u16", False, 2, max), ("min_i16", True, 2, min), ("min_u16", False, 2, min),
):  # fmt: skip
    add(f"v_pk_{name}", "u32", "u32 " * count, halves(function, sign))


def half_floats(function: Callable) -> Callable:
    def run(*sources: int) -> int:
        out = 0
        for shift in (0, 16):
            out |= bits_of(function(*(from_bits(s >> shift & 65535, "f16") for s in sources)), "f16") << shift
        return out

    return run


def dot(a: int, b: int, bits: int, sign: bool) -> int:
    pick = (lambda v: signed(v, bits)) if sign else (lambda v: v & (1 << bits) - 1)
    return sum(pick(a >> k) * pick(b >> k) for k in range(0, 32, bits))


add("v_dot2_i32_i16", "u32", "u32 u32 i32", lambda a, b, c: dot(a, b, 16, True) + c)
add("v_dot2_u32_u16", "u32", "u32 u32 u32", lambda a, b, c: dot(a, b, 16, False) + c)
add("v_dot4_i32_i8", "u32", "u32 u32 i32", lambda a, b, c: dot(a, b, 8, True) + c)
add("v_dot4_u32_u8 v_dot4_i32_iu8", "u32", "u32 u32 u32", lambda a, b, c: dot(a, b, 8, False) + c)
add("v_dot8_i32_i4", "u32", "u32 u32 i32", lambda a, b, c: dot(a, b, 4, True) + c)
add("v_dot8_u32_u4 v_dot8_i32_iu4", "u32", "u32 u32 u32", lambda a, b, c: dot(a, b, 4, False) + c)
add("v_dot2c_i32_i16", "u32", "u32 u32 d:i32", lambda a, b, c: dot(a, b, 16, True) + c)
add("v_dot4c_i32_i8", "u32", "u32 u32 d:i32", lambda a, b, c: dot(a, b, 8, True) + c)
add("v_dot8c_i32_i4", "u32", "u32 u32 d:i32", lambda a, b, c: dot(a, b, 4, True) + c)


def pair(a: int, to: Callable) -> tuple:
    return to(a & 65535), to(a >> 16)


def half(bits: int) -> np.floating:
    return f32(from_bits(bits, "f16"))


def bfloat(bits: int) -> np.floating:
    return from_bits(bits << 16, "f32")


def dot2(a: int, b: int, c: np.floating, to: Callable) -> np.floating:
    (a0, a1), (b0, b1) = pair(a, to), pair(b, to)
    return (c + a0 * b0) + a1 * b1


add("v_dot2_f32_f16", "f32", "u32 u32 f32", lambda a, b, c: dot2(a, b, c, half))
add("v_dot2_f32_bf16", "f32", "u32 u32 f32", lambda a, b, c: dot2(a, b, c, bfloat))
add("v_dot2c_f32_f16 v_dot2acc_f32_f16", "f32", "u32 u32 d:f32", lambda a, b, c: dot2(a, b, c, half))
add("v_dot2_f16_f16", "f16", "u32 u32 f16", lambda a, b, c: dot2(a, b, f32(c), half))

# ---- floats: one function for all formats ----


def signalling(a: np.floating) -> bool:
    fmt = {2: "f16", 4: "f32", 8: "f64"}[a.itemsize]
    return isnan(a) and not bits_of(a, fmt) >> (FORMATS[fmt][2] - 2) & 1


def quiet_first(function: Callable) -> Callable:
    """IEEE mode: a signalling NaN makes the result a quiet one."""

    def run(a: np.floating, b: np.floating) -> np.floating:
        return type(a)(np.nan) if signalling(a) or signalling(b) else function(a, b)

    return run


@quiet_first
def minimum(a: np.floating, b: np.floating) -> np.floating:
    if isnan(a):
        return b
    if isnan(b):
        return a
    if a == b == 0:
        return a if np.signbit(a) else b
    return min(a, b)


@quiet_first
def maximum(a: np.floating, b: np.floating) -> np.floating:
    if isnan(a):
        return b
    if isnan(b):
        return a
    if a == b == 0:
        return b if np.signbit(a) else a
    return max(a, b)


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

# ---- conversions ----


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
