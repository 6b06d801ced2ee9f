"""VOP2: two-source vector instructions. Opcodes: GFX9, GFX11."""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op


def row(name: str, operands: str, semantics: str, gfx9: int | None, gfx11: int | None, *, gfx9_name: str = "") -> Op:
    """A VOP2 row; `gfx9_name`: the mnemonic there, where it differs."""
    names = {"gfx9": gfx9_name} if gfx9_name else {}
    return Op(name, "VOP2", operands, semantics, gfx9=gfx9, gfx11=gfx11, names=names)


def same(typ: str, name: str, semantics: str, gfx9: int | None, gfx11: int | None, *, gfx9_name: str = "") -> Op:
    """A row whose operands all have one type."""
    return row(name, f"d:{typ}, a:{typ}, b:{typ}", semantics, gfx9, gfx11, gfx9_name=gfx9_name)


INTEGER = [
    row("v_cndmask_b32", "d:b32, a:b32, b:b32, c@vcc:mask", "D = C_ ? B : A;", 0, 1),
    row("v_mul_i32_i24", "d:u32, a:i24, b:i24", "D = (uint32_t)A * (uint32_t)B;", 6, 9),
    row("v_mul_hi_i32_i24", "d:i32, a:i24, b:i24", "D = (int32_t)((int64_t)A * B >> 32);", 7, 10),
    row("v_mul_u32_u24", "d:u32, a:u24, b:u24", "D = A * B;", 8, 11),
    row("v_mul_hi_u32_u24", "d:u32, a:u24, b:u24", "D = (uint32_t)((uint64_t)A * B >> 32);", 9, 12),
    same("i32", "v_min_i32", "D = MIN(A, B);", 12, 17),
    same("i32", "v_max_i32", "D = MAX(A, B);", 13, 18),
    same("u32", "v_min_u32", "D = MIN(A, B);", 14, 19),
    same("u32", "v_max_u32", "D = MAX(A, B);", 15, 20),
    row("v_lshrrev_b32", "d:b32, a:b32, b:b32", "D = B >> (A & 31);", 16, 25),
    row("v_ashrrev_i32", "d:i32, a:b32, b:i32", "D = B >> (A & 31);", 17, 26),
    row("v_lshlrev_b32", "d:b32, a:b32, b:b32", "D = B << (A & 31);", 18, 24),
    same("b32", "v_and_b32", "D = A & B;", 19, 27),
    same("b32", "v_or_b32", "D = A | B;", 20, 28),
    same("b32", "v_xor_b32", "D = A ^ B;", 21, 29),
    same("b32", "v_xnor_b32", "D = ~(A ^ B);", 61, 30),
    same("u32", "v_add_nc_u32", "D = CLAMP ? addsat_u32(A, B) : A + B;", 52, 37, gfx9_name="v_add_u32"),
    same("u32", "v_sub_nc_u32", "D = CLAMP ? subsat_u32(A, B) : A - B;", 53, 38, gfx9_name="v_sub_u32"),
    same("u32", "v_subrev_nc_u32", "D = CLAMP ? subsat_u32(B, A) : B - A;", 54, 39, gfx9_name="v_subrev_u32"),
]

_CARRY = "d:u32, e@vcc:mask, a:u32, b:u32"
_CHAIN = _CARRY + ", c@vcc:mask"
ADD = "uint64_t t = (uint64_t)A + B; E = t >> 32 != 0; D = CLAMP ? sat_u32(t) : (uint32_t)t;"
SUB = "E = A < B; D = CLAMP ? subsat_u32(A, B) : A - B;"
SUBREV = "E = B < A; D = CLAMP ? subsat_u32(B, A) : B - A;"
ADDC = "uint64_t t = (uint64_t)A + B + C; E = t >> 32 != 0; D = CLAMP ? sat_u32(t) : (uint32_t)t;"
SUBB = "uint64_t s = (uint64_t)B + C; E = A < s; D = CLAMP && A < s ? 0 : A - (uint32_t)s;"
SUBBREV = "uint64_t s = (uint64_t)A + C; E = B < s; D = CLAMP && B < s ? 0 : B - (uint32_t)s;"

CARRY = [
    row("v_add_co_u32", _CARRY, ADD, 25, None),
    row("v_sub_co_u32", _CARRY, SUB, 26, None),
    row("v_subrev_co_u32", _CARRY, SUBREV, 27, None),
    row("v_add_co_ci_u32", _CHAIN, ADDC, 28, 32, gfx9_name="v_addc_co_u32"),
    row("v_sub_co_ci_u32", _CHAIN, SUBB, 29, 33, gfx9_name="v_subb_co_u32"),
    row("v_subrev_co_ci_u32", _CHAIN, SUBBREV, 30, 34, gfx9_name="v_subbrev_co_u32"),
]

FLOAT32 = [
    same("f32", "v_add_f32", "D = A + B;", 1, 3),
    same("f32", "v_sub_f32", "D = A - B;", 2, 4),
    same("f32", "v_subrev_f32", "D = B - A;", 3, 5),
    same("f32", "v_mul_f32", "D = A * B;", 5, 8),
    same("f32", "v_mul_dx9_zero_f32", "D = A == 0 || B == 0 ? 0.0f : A * B;", None, 7),
    same("f32", "v_min_f32", "D = min_f32(A, B, IEEE, ONE);", 10, 15),
    same("f32", "v_max_f32", "D = max_f32(A, B, IEEE, ONE);", 11, 16),
    row("v_fmac_f32", "d=:f32, a:f32, b:f32", "D = fma_f32(A, B, D);", 59, 43),
    row("v_fmac_dx9_zero_f32", "d=:f32, a:f32, b:f32", "D = fma_f32(A == 0 || B == 0 ? 0.0f : A, A == 0 || B == 0 ? "
        "0.0f : B, D);", None, 6),
    row("v_fmamk_f32", "d:f32, a:f32, k:f32, b:f32", "D = fma_f32(A, K, B);", 23, 44),
    row("v_fmaak_f32", "d:f32, a:f32, b:f32, k:f32", "D = fma_f32(A, B, K);", 24, 45),
    row("v_fmac_f64", "d=:f64, a:f64, b:f64", "D = fma_f64(A, B, D);", 4, None),
]  # fmt: skip

FLOAT16 = [
    same("f16", "v_add_f16", "D = A + B;", 31, 50),
    same("f16", "v_sub_f16", "D = A - B;", 32, 51),
    same("f16", "v_subrev_f16", "D = B - A;", 33, 52),
    same("f16", "v_mul_f16", "D = A * B;", 34, 53),
    row("v_mac_f16", "d=:f16, a:f16, b:f16", "D = half_to_f32(f32_to_half(A * B)) + D;", 35, None),
    row("v_madmk_f16", "d:f16, a:f16, k:f16, b:f16", "D = half_to_f32(f32_to_half(A * K)) + B;", 36, None),
    row("v_madak_f16", "d:f16, a:f16, b:f16, k:f16", "D = half_to_f32(f32_to_half(A * B)) + K;", 37, None),
    row("v_fmac_f16", "d=:f16, a:f16, b:f16", "D = fma_f16(A, B, D, NEAREST);", None, 54),
    row("v_fmamk_f16", "d:f16, a:f16, k:f16, b:f16", "D = fma_f16(A, K, B, NEAREST);", None, 55),
    row("v_fmaak_f16", "d:f16, a:f16, b:f16, k:f16", "D = fma_f16(A, B, K, NEAREST);", None, 56),
    same("f16", "v_max_f16", "D = max_f16(A, B, A_, B_, IEEE, ONE);", 45, 57),
    same("f16", "v_min_f16", "D = min_f16(A, B, A_, B_, IEEE, ONE);", 46, 58),
    row("v_ldexp_f16", "d:f16, a:f16, b:i16", "D = ldexp_f32(A, B);", 51, 59),
    row("v_pk_fmac_f16", "d=:f16x2, a:f16x2, b:f16x2", "D = fma_f16(A, B, D, NEAREST);", 60, 60),
    row("v_cvt_pk_rtz_f16_f32", "d:b32, a:f32, b:f32", "D = half_rtz(A) | half_rtz(B) << 16;", None, 47),
]

#: 16-bit integers: VOP2 on GFX9 (VOP3 on GFX11: vop3.py).
INTEGER16 = [
    same("u16", "v_add_u16", "D = CLAMP ? sat_u16((int32_t)(A + B)) : A + B;", 38, None),
    same("u16", "v_sub_u16", "D = CLAMP ? sat_u16((int32_t)(A - B)) : A - B;", 39, None),
    same("u16", "v_subrev_u16", "D = CLAMP ? sat_u16((int32_t)(B - A)) : B - A;", 40, None),
    same("u16", "v_mul_lo_u16", "D = CLAMP ? MIN(A * B, 65535) : A * B;", 41, None),
    same("b16", "v_lshlrev_b16", "D = B << (A & 15);", 42, None),
    same("b16", "v_lshrrev_b16", "D = B >> (A & 15);", 43, None),
    row("v_ashrrev_i16", "d:i16, a:b16, b:i16", "D = B >> (A & 15);", 44, None),
    same("u16", "v_max_u16", "D = MAX(A, B);", 47, None),
    same("i16", "v_max_i16", "D = MAX(A, B);", 48, None),
    same("u16", "v_min_u16", "D = MIN(A, B);", 49, None),
    same("i16", "v_min_i16", "D = MIN(A, B);", 50, None),
]

#: Dot products that accumulate into the destination.
DOT = [
    row("v_dot2acc_f32_f16", "d=:f32, a:f16x2, b:f16x2", "D = (D + AL * BL) + AH * BH;", 55, 2,
        gfx9_name="v_dot2c_f32_f16"),
    row("v_dot2c_i32_i16", "d=:i32, a:i16x2, b:i16x2",
        "int64_t t = (int64_t)AL * BL + (int64_t)AH * BH + D; D = CLAMP ? sat_i32(t) : (int32_t)t;", 56, None),
    row("v_dot4c_i32_i8", "d=:i32, a:b32, b:b32", "int64_t t = dot4_i8(A, B) + (int64_t)D; "
        "D = CLAMP ? sat_i32(t) : (int32_t)t;", 57, None),
    row("v_dot8c_i32_i4", "d=:i32, a:b32, b:b32", "int64_t t = dot8_i4(A, B) + (int64_t)D; "
        "D = CLAMP ? sat_i32(t) : (int32_t)t;", 58, None),
]  # fmt: skip

OPS = [*INTEGER, *CARRY, *FLOAT32, *FLOAT16, *INTEGER16, *DOT]
