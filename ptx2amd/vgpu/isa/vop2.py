"""VOP2: two-source vector instructions."""

from __future__ import annotations

from ptx2amd.vgpu.isa import native
from ptx2amd.vgpu.isa.native import Sequence
from ptx2amd.vgpu.isa.op import Op


def row(name: str, operands: str, semantics: str, *, gfx9_name: str = "", x86: str | Sequence = "",
        keeps: bool = False) -> Op:  # fmt: skip
    """A VOP2 row; `gfx9_name`: the mnemonic on GFX9 if it differs; `keeps`: keeps_high_half of op.py."""
    names = {"gfx9": gfx9_name} if gfx9_name else {}
    return Op(name, "VOP2", operands, semantics, names=names, x86=x86, keeps_high_half=keeps)


def same(typ: str, name: str, semantics: str, *, gfx9_name: str = "", x86: str | Sequence = "") -> Op:
    """A row whose operands all have one type."""
    return row(name, f"d:{typ}, a:{typ}, b:{typ}", semantics, gfx9_name=gfx9_name, x86=x86)


def _integer() -> list[Op]:
    return [
        row("v_cndmask_b32", "d:b32, a:b32, b:b32, c@vcc:mask", "D = C_ ? B : A;", x86="D = mov A; D{C} = mov B"),
        row("v_mul_i32_i24", "d:u32, a:i24, b:i24", "D = (uint32_t)A * (uint32_t)B;", x86=native.MUL_I32_I24),
        row("v_mul_hi_i32_i24", "d:i32, a:i24, b:i24", "D = (int32_t)((int64_t)A * B >> 32);"),
        row(
            "v_mul_u32_u24",
            "d:u32, a:u24, b:u24",
            "D = A * B;",
            x86="S = vpandd A #0xffffff; T = vpandd B #0xffffff; D = vpmulld S T",
        ),
        row("v_mul_hi_u32_u24", "d:u32, a:u24, b:u24", "D = (uint32_t)((uint64_t)A * B >> 32);"),
        same("i32", "v_min_i32", "D = MIN(A, B);", x86="D = vpminsd A B"),
        same("i32", "v_max_i32", "D = MAX(A, B);", x86="D = vpmaxsd A B"),
        same("u32", "v_min_u32", "D = MIN(A, B);", x86="D = vpminud A B"),
        same("u32", "v_max_u32", "D = MAX(A, B);", x86="D = vpmaxud A B"),
        row("v_lshrrev_b32", "d:b32, a:b32, b:b32", "D = B >> (A & 31);", x86="S = vpandd A #31; D = vpsrlvd B S"),
        row("v_ashrrev_i32", "d:i32, a:b32, b:i32", "D = B >> (A & 31);", x86="S = vpandd A #31; D = vpsravd B S"),
        row("v_lshlrev_b32", "d:b32, a:b32, b:b32", "D = B << (A & 31);", x86="S = vpandd A #31; D = vpsllvd B S"),
        same("b32", "v_and_b32", "D = A & B;", x86="D = vpandd A B"),
        same("b32", "v_or_b32", "D = A | B;", x86="D = vpord A B"),
        same("b32", "v_xor_b32", "D = A ^ B;", x86="D = vpxord A B"),
        same("b32", "v_xnor_b32", "D = ~(A ^ B);", x86="T = vpxord A B; D = vpxord T #0xffffffff"),
        same(
            "u32", "v_add_nc_u32", "D = CLAMP ? addsat_u32(A, B) : A + B;", gfx9_name="v_add_u32", x86="D = vpaddd A B"
        ),
        same(
            "u32", "v_sub_nc_u32", "D = CLAMP ? subsat_u32(A, B) : A - B;", gfx9_name="v_sub_u32", x86="D = vpsubd A B"
        ),
        same(
            "u32",
            "v_subrev_nc_u32",
            "D = CLAMP ? subsat_u32(B, A) : B - A;",
            gfx9_name="v_subrev_u32",
            x86="D = vpsubd B A",
        ),
    ]


_CARRY = "d:u32, e@vcc:mask, a:u32, b:u32"
_CHAIN = _CARRY + ", c@vcc:mask"
ADD = "uint64_t t = (uint64_t)A + B; E = t >> 32 != 0; D = CLAMP ? sat_u32(t) : (uint32_t)t;"
SUB = "E = A < B; D = CLAMP ? subsat_u32(A, B) : A - B;"
SUBREV = "E = B < A; D = CLAMP ? subsat_u32(B, A) : B - A;"
ADDC = "uint64_t t = (uint64_t)A + B + C; E = t >> 32 != 0; D = CLAMP ? sat_u32(t) : (uint32_t)t;"
SUBB = "uint64_t s = (uint64_t)B + C; E = A < s; D = CLAMP && A < s ? 0 : A - (uint32_t)s;"
SUBBREV = "uint64_t s = (uint64_t)A + C; E = B < s; D = CLAMP && B < s ? 0 : B - (uint32_t)s;"


def _carry() -> list[Op]:
    return [
        row("v_add_co_u32", _CARRY, ADD, x86="D = vpaddd A B; E = vpcmpud/1 D A"),
        row("v_sub_co_u32", _CARRY, SUB, x86="D = vpsubd A B; E = vpcmpud/1 A B"),
        row("v_subrev_co_u32", _CARRY, SUBREV, x86="D = vpsubd B A; E = vpcmpud/1 B A"),
        row("v_add_co_ci_u32", _CHAIN, ADDC, gfx9_name="v_addc_co_u32", x86=native.CARRY_IN),
        row("v_sub_co_ci_u32", _CHAIN, SUBB, gfx9_name="v_subb_co_u32", x86=native.SUB_CO_CI_U32),
        row("v_subrev_co_ci_u32", _CHAIN, SUBBREV, gfx9_name="v_subbrev_co_u32", x86=native.SUBREV_CO_CI_U32),
    ]


def _float32() -> list[Op]:
    return [
        same("f32", "v_add_f32", "D = A + B;", x86="D = vaddps A B"),
        same("f32", "v_sub_f32", "D = A - B;", x86="D = vsubps A B"),
        same("f32", "v_subrev_f32", "D = B - A;", x86="D = vsubps B A"),
        same("f32", "v_mul_f32", "D = A * B;", x86="D = vmulps A B"),
        same("f32", "v_mul_dx9_zero_f32", "D = A == 0 || B == 0 ? 0.0f : A * B;"),
        same("f32", "v_min_f32", "D = min_f32(A, B, IEEE, ONE);",
            x86=native.MIN_F32),
        same("f32", "v_max_f32", "D = max_f32(A, B, IEEE, ONE);",
            x86=native.MAX_F32),
        row("v_fmac_f32", "d=:f32, a:f32, b:f32", "D = fma_f32(A, B, D);", x86="D = mov A; D = vfmadd132ps O B"),
        row("v_fmac_dx9_zero_f32", "d=:f32, a:f32, b:f32",
            "D = fma_f32(A == 0 || B == 0 ? 0.0f : A, A == 0 || B == 0 ? 0.0f : B, D);"),
        row("v_fmamk_f32", "d:f32, a:f32, k:f32, b:f32", "D = fma_f32(A, K, B);", x86="D = mov A; D = vfmadd132ps B K"),
        row("v_fmaak_f32", "d:f32, a:f32, b:f32, k:f32", "D = fma_f32(A, B, K);", x86="D = mov A; D = vfmadd132ps K B"),
        row("v_mac_f32", "d=:f32, a:f32, b:f32", "D = A * B + D;"),
        row("v_madmk_f32", "d:f32, a:f32, k:f32, b:f32", "D = A * K + B;"),
        row("v_madak_f32", "d:f32, a:f32, b:f32, k:f32", "D = A * B + K;"),
        row("v_fmac_f64", "d=:f64, a:f64, b:f64", "D = fma_f64(A, B, D);",
            x86=native.wide("D = movq A; D = vfmadd132pd O B")),
    ]  # fmt: skip


def _float16() -> list[Op]:
    return [
        same("f16", "v_add_f16", "D = A + B;"),
        same("f16", "v_sub_f16", "D = A - B;"),
        same("f16", "v_subrev_f16", "D = B - A;"),
        same("f16", "v_mul_f16", "D = A * B;"),
        row("v_mac_f16", "d=:f16, a:f16, b:f16", "D = half_to_f32(f32_to_half(A * B)) + D;", keeps=True),
        row("v_madmk_f16", "d:f16, a:f16, k:f16, b:f16", "D = half_to_f32(f32_to_half(A * K)) + B;", keeps=True),
        row("v_madak_f16", "d:f16, a:f16, b:f16, k:f16", "D = half_to_f32(f32_to_half(A * B)) + K;", keeps=True),
        row("v_fmac_f16", "d=:f16, a:f16, b:f16", "D = fma_f16(A, B, D, NEAREST);", keeps=True),
        row("v_fmamk_f16", "d:f16, a:f16, k:f16, b:f16", "D = fma_f16(A, K, B, NEAREST);", keeps=True),
        row("v_fmaak_f16", "d:f16, a:f16, b:f16, k:f16", "D = fma_f16(A, B, K, NEAREST);", keeps=True),
        same("f16", "v_max_f16", "D = max_f16(A, B, A_, B_, IEEE, ONE);"),
        same("f16", "v_min_f16", "D = min_f16(A, B, A_, B_, IEEE, ONE);"),
        row("v_ldexp_f16", "d:f16, a:f16, b:i16", "D = ldexp_f32(A, B);"),
        row("v_pk_fmac_f16", "d=:f16x2, a:f16x2, b:f16x2", "D = fma_f16(A, B, D, NEAREST);"),
        row("v_cvt_pk_rtz_f16_f32", "d:b32, a:f32, b:f32", "D = half_rtz(A) | half_rtz(B) << 16;"),
    ]


def _wide() -> list[Op]:
    """gfx1250's 64-bit operations."""
    return [
        same("u64", "v_add_nc_u64", "D = CLAMP && A + B < A ? UINT64_MAX : A + B;"),
        same("u64", "v_sub_nc_u64", "D = CLAMP && A < B ? 0 : A - B;"),
        same("u64", "v_mul_u64", "D = A * B;"),
        row("v_fmamk_f64", "d:f64, a:f64, k:f64, b:f64", "D = fma_f64(A, K, B);"),
        row("v_fmaak_f64", "d:f64, a:f64, b:f64, k:f64", "D = fma_f64(A, B, K);"),
    ]


def _double() -> list[Op]:
    """On GFX12 these have a short form (others: vop3.py)."""
    return [
        same("f64", "v_add_f64", "D = A + B;", x86=native.wide("D = vaddpd A B")),
        same("f64", "v_mul_f64", "D = A * B;", x86=native.wide("D = vmulpd A B")),
        same("f64", "v_min_f64", "D = min_f64(A, B, IEEE, ONE64);", x86=native.MIN_F64),
        same("f64", "v_max_f64", "D = max_f64(A, B, IEEE, ONE64);", x86=native.MAX_F64),
        row("v_lshlrev_b64", "d:b64, a:b32, b:b64", "D = B << (A & 63);", x86=native.LSHLREV_B64),
    ]


def _integer16() -> list[Op]:
    """16-bit integers: VOP2 on GFX9 (VOP3 on GFX11: vop3.py)."""
    return [
        same("u16", "v_add_u16", "D = CLAMP ? sat_u16((int32_t)(A + B)) : A + B;"),
        same("u16", "v_sub_u16", "D = CLAMP ? sat_u16((int32_t)(A - B)) : A - B;"),
        same("u16", "v_subrev_u16", "D = CLAMP ? sat_u16((int32_t)(B - A)) : B - A;"),
        same("u16", "v_mul_lo_u16", "D = CLAMP ? MIN(A * B, 65535) : A * B;", x86="D = vpmulld A B"),
        same("b16", "v_lshlrev_b16", "D = B << (A & 15);", x86="S = vpandd A #15; D = vpsllvd B S"),
        same("b16", "v_lshrrev_b16", "D = B >> (A & 15);", x86="S = vpandd A #15; D = vpsrlvd B S"),
        row("v_ashrrev_i16", "d:i16, a:b16, b:i16", "D = B >> (A & 15);", x86="S = vpandd A #15; D = vpsravd B S"),
        same("u16", "v_max_u16", "D = MAX(A, B);", x86="D = vpmaxud A B"),
        same("i16", "v_max_i16", "D = MAX(A, B);", x86="D = vpmaxsd A B"),
        same("u16", "v_min_u16", "D = MIN(A, B);", x86="D = vpminud A B"),
        same("i16", "v_min_i16", "D = MIN(A, B);", x86="D = vpminsd A B"),
    ]


def _dot() -> list[Op]:
    """Dot products that accumulate into the destination."""
    return [
        row("v_dot2acc_f32_f16", "d=:f32, a:f16x2, b:f16x2", "D = (D + AL * BL) + AH * BH;",
            gfx9_name="v_dot2c_f32_f16"),
        row("v_dot2c_f32_bf16", "d=:f32, a:bf16x2, b:bf16x2", "D = (D + AL * BL) + AH * BH;"),
        row("v_dot2c_i32_i16", "d=:i32, a:i16x2, b:i16x2",
            "int64_t t = (int64_t)AL * BL + (int64_t)AH * BH + D; D = CLAMP ? sat_i32(t) : (int32_t)t;"),
        row("v_dot4c_i32_i8", "d=:i32, a:b32, b:b32", "int64_t t = dot4_i8(A, B) + (int64_t)D; "
            "D = CLAMP ? sat_i32(t) : (int32_t)t;"),
        row("v_dot8c_i32_i4", "d=:i32, a:b32, b:b32", "int64_t t = dot8_i4(A, B) + (int64_t)D; "
            "D = CLAMP ? sat_i32(t) : (int32_t)t;"),
    ]  # fmt: skip


def ops() -> list[Op]:
    return [*_integer(), *_carry(), *_float32(), *_double(), *_wide(), *_float16(), *_integer16(), *_dot()]
