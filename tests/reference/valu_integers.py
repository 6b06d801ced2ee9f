"""Integers, packed values and dot products: rows of valu_table.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.reference.valu_floats import from_bits
from tests.reference.valu_table import add, clamp, f32, signed

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
