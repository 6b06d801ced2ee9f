"""VOP1: one-source vector instructions. Opcodes: GFX9, GFX11."""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op

#: Architectures whose 8-bit floats are the FNUZ formats (the others: newer.py).
FNUZ = ("gfx942",)


def row(name: str, operands: str, semantics: str, gfx9: int | None, gfx11: int | None, *, gfx9_name: str = "",
        archs: tuple[str, ...] = ()) -> Op:  # fmt: skip
    """A VOP1 row; `gfx9_name`: the mnemonic there, where it differs."""
    names = {"gfx9": gfx9_name} if gfx9_name else {}
    return Op(name, "VOP1", operands, semantics, gfx9=gfx9, gfx11=gfx11, names=names, archs=archs)


MOVES = [
    row("v_nop", "", "CALL(valu_nop)", 0, 0),
    row("v_mov_b32", "d:b32, a:b32", "CALL(valu_mov)", 1, 1),
    row("v_mov_b16", "d:b16, a:b16", "D = A;", None, 28),
    row("v_mov_b64", "d:b64, a:b64", "D = A;", 56, None),
    row("v_not_b32", "d:b32, a:b32", "D = ~A;", 43, 55),
    row("v_not_b16", "d:b16, a:b16", "D = ~A;", None, 105),
    row("v_bfrev_b32", "d:b32, a:b32", "D = bit_reverse(A);", 44, 56),
    row("v_clz_i32_u32", "d:u32, a:u32", "D = ffbh(A);", 45, 57, gfx9_name="v_ffbh_u32"),
    row("v_ctz_i32_b32", "d:u32, a:u32", "D = ffbl(A);", 46, 58, gfx9_name="v_ffbl_b32"),
    row("v_cls_i32", "d:i32, a:i32", "D = (int32_t)ffbh_signed(A_);", 47, 59, gfx9_name="v_ffbh_i32"),
    row("v_sat_pk_u8_i16", "d:b16, a:i16x2", "D = sat_u8(AL) | sat_u8(AH) << 8;", 79, 98),
    row("v_readfirstlane_b32", "d!s:b32, a:b32", "CALL(valu_readfirstlane)", 2, 2),
    row("v_swap_b32", "d=:b32, a!v:b32", "CALL(valu_swap)", 81, 101),
    row("v_swap_b16", "d=:b16, a!v:b16", "CALL(valu_swap16_all)", None, 102),
    row("v_permlane64_b32", "d:b32, a!v:b32", "CALL(valu_permlane64)", None, 103),
    row("v_movreld_b32", "d:b32, a:b32", "CALL(valu_movreld)", None, 66),
    row("v_movrels_b32", "d:b32, a!v:b32", "CALL(valu_movrels)", None, 67),
    row("v_movrelsd_b32", "d:b32, a!v:b32", "CALL(valu_movrelsd)", None, 68),
    row("v_movrelsd_2_b32", "d:b32, a!v:b32", "CALL(valu_movrelsd_2)", None, 72),
    row("v_swaprel_b32", "d=:b32, a!v:b32", "CALL(valu_swaprel)", None, 104),
    row("v_accvgpr_mov_b32", "d!a:b32, a!a:b32", "D = A;", 82, None),
    row("v_permlane16_swap_b32", "d=:b32, a!v:b32", "CALL(valu_permlane16_swap)", 89, None),
    row("v_permlane32_swap_b32", "d=:b32, a!v:b32", "CALL(valu_permlane32_swap)", 90, None),
    row("v_clrexcp", "", "CALL(valu_nop)", 53, None),
    row("v_pipeflush", "", "CALL(valu_nop)", None, 27),
]

CONVERSIONS = [
    row("v_cvt_i32_f64", "d:i32, a:f64", "D = f64_to_i32(A);", 3, 3),
    row("v_cvt_f64_i32", "d:f64, a:i32", "D = (double)A;", 4, 4),
    row("v_cvt_f32_i32", "d:f32, a:i32", "D = (float)A;", 5, 5),
    row("v_cvt_f32_u32", "d:f32, a:u32", "D = u32_to_f32(A);", 6, 6),
    row("v_cvt_u32_f32", "d:u32, a:f32", "D = f32_to_u32(A);", 7, 7),
    row("v_cvt_i32_f32", "d:i32, a:f32", "D = f32_to_i32(A);", 8, 8),
    row("v_cvt_f16_f32", "d:f16, a:f32", "D = A;", 10, 10),
    row("v_cvt_f32_f16", "d:f32, a:f16", "D = A;", 11, 11),
    row("v_cvt_nearest_i32_f32", "d:i32, a:f32", "D = f32_to_i32(__builtin_floorf(A + 0.5f));", 12, 12,
        gfx9_name="v_cvt_rpi_i32_f32"),
    row("v_cvt_floor_i32_f32", "d:i32, a:f32", "D = f32_to_i32(__builtin_floorf(A));", 13, 13,
        gfx9_name="v_cvt_flr_i32_f32"),
    row("v_cvt_off_f32_i4", "d:f32, a:b32", "D = (float)((int32_t)(A << 28) >> 28) * 0.0625f;", 14, 14),
    row("v_cvt_f32_f64", "d:f32, a:f64", "D = (float)A;", 15, 15),
    row("v_cvt_f64_f32", "d:f64, a:f32", "D = (double)A;", 16, 16),
    row("v_cvt_f32_ubyte0", "d:f32, a:b32", "D = (float)(int32_t)(A & 255);", 17, 17),
    row("v_cvt_f32_ubyte1", "d:f32, a:b32", "D = (float)(int32_t)(A >> 8 & 255);", 18, 18),
    row("v_cvt_f32_ubyte2", "d:f32, a:b32", "D = (float)(int32_t)(A >> 16 & 255);", 19, 19),
    row("v_cvt_f32_ubyte3", "d:f32, a:b32", "D = (float)(int32_t)(A >> 24);", 20, 20),
    row("v_cvt_u32_f64", "d:u32, a:f64", "D = f64_to_u32(A);", 21, 21),
    row("v_cvt_f64_u32", "d:f64, a:u32", "D = u32_to_f64(A);", 22, 22),
    row("v_cvt_f16_u16", "d:f16, a:u16", "D = (float)(int32_t)A;", 57, 80),
    row("v_cvt_f16_i16", "d:f16, a:i16", "D = (float)A;", 58, 81),
    row("v_cvt_u16_f16", "d:u16, a:f16", "D = f32_to_u16(A);", 59, 82),
    row("v_cvt_i16_f16", "d:i16, a:f16", "D = f32_to_i16(A);", 60, 83),
    row("v_cvt_norm_i16_f16", "d:i16, a:f16", "D = f32_to_snorm(A);", 77, 99),
    row("v_cvt_norm_u16_f16", "d:u16, a:f16", "D = f32_to_unorm(A);", 78, 100),
    row("v_cvt_i32_i16", "d:i32, a:i16", "D = A;", None, 106),
    row("v_cvt_u32_u16", "d:u32, a:u16", "D = A;", None, 107),
    row("v_cvt_f32_fp8", "d:f32, a:b32", "D = fp8_to_f32(A);", 84, None, archs=FNUZ),
    row("v_cvt_f32_bf8", "d:f32, a:b32", "D = bf8_to_f32(A);", 85, None, archs=FNUZ),
    row("v_cvt_pk_f32_fp8", "d:b64, a:b32", "D = join(f32_bits(fp8_to_f32(A)), f32_bits(fp8_to_f32(A >> 8)));",
        86, None, archs=FNUZ),
    row("v_cvt_pk_f32_bf8", "d:b64, a:b32", "D = join(f32_bits(bf8_to_f32(A)), f32_bits(bf8_to_f32(A >> 8)));",
        87, None, archs=FNUZ),
    row("v_cvt_f32_bf16", "d:f32, a:bf16", "D = A;", 91, None),
]  # fmt: skip


def _floats() -> list[Op]:
    """Rounding and exponent instructions of the three float types: (f64, f32, f16) opcodes per generation."""
    table = [
        ("trunc", "D = __builtin_trunc{s}(A) * {one};", (23, 28, 70), (23, 33, 93)),
        ("ceil", "D = __builtin_ceil{s}(A) * {one};", (24, 29, 69), (24, 34, 92)),
        ("rndne", "D = rndne_{m}(A) * {one};", (25, 30, 71), (25, 35, 94)),
        ("floor", "D = __builtin_floor{s}(A) * {one};", (26, 31, 68), (26, 36, 91)),
        ("fract", "D = fract_{t}(A);", (50, 27, 72), (62, 32, 95)),
        ("frexp_mant", "D = frexp_mant_{m}(A);", (49, 52, 66), (61, 64, 89)),
    ]
    rows = []
    for name, sem, gfx9, gfx11 in table:
        for typ, g9, g11 in zip(("f64", "f32", "f16"), gfx9, gfx11, strict=True):
            text = sem.format(
                s="" if typ == "f64" else "f",
                t=typ,
                m="f64" if typ == "f64" else "f32",
                one="ONE64" if typ == "f64" else "ONE",
            )
            rows.append(row(f"v_{name}_{typ}", f"d:{typ}, a:{typ}", text, g9, g11))
    return rows


ROUNDING = [
    *_floats(),
    row("v_frexp_exp_i32_f64", "d:i32, a:f64", "D = frexp_exp_f64(A);", 48, 60),
    row("v_frexp_exp_i32_f32", "d:i32, a:f32", "D = frexp_exp_f32(A);", 51, 63),
    row("v_frexp_exp_i16_f16", "d:i16, a:f16", "D = frexp_exp_f32(A);", 67, 90),
]

#: The chip's approximations: ours are at least as close.
TRANSCENDENTAL = [
    row("v_exp_f32", "d:f32, a:f32", "D = exp2_f32(A);", 32, 37),
    row("v_log_f32", "d:f32, a:f32", "D = log2_f32(A);", 33, 39),
    row("v_rcp_f32", "d:f32, a:f32", "D = rcp_f32(A);", 34, 42),
    row("v_rcp_iflag_f32", "d:f32, a:f32", "D = rcp_f32(A);", 35, 43),
    row("v_rsq_f32", "d:f32, a:f32", "D = rsq_f32(A);", 36, 46),
    row("v_sqrt_f32", "d:f32, a:f32", "D = sqrt_f32(A);", 39, 51),
    row("v_sin_f32", "d:f32, a:f32", "D = sin_turns(A, 0);", 41, 53),
    row("v_cos_f32", "d:f32, a:f32", "D = sin_turns(A, 1);", 42, 54),
    row("v_exp_legacy_f32", "d:f32, a:f32", "D = exp2_f32(A);", 75, None),
    row("v_log_legacy_f32", "d:f32, a:f32", "D = log2_f32(A);", 76, None),
    row("v_rcp_f64", "d:f64, a:f64", "D = 1.0 / A;", 37, 47),
    row("v_rsq_f64", "d:f64, a:f64", "D = 1.0 / __builtin_sqrt(A);", 38, 49),
    row("v_sqrt_f64", "d:f64, a:f64", "D = __builtin_sqrt(A);", 40, 52),
    row("v_rcp_f16", "d:f16, a:f16", "D = 1.0f / A;", 61, 84),
    row("v_sqrt_f16", "d:f16, a:f16", "D = __builtin_sqrtf(A);", 62, 85),
    row("v_rsq_f16", "d:f16, a:f16", "D = rsq_f32(A);", 63, 86),
    row("v_log_f16", "d:f16, a:f16", "D = log2_f32(A);", 64, 87),
    row("v_exp_f16", "d:f16, a:f16", "D = exp2_f32(A);", 65, 88),
    row("v_sin_f16", "d:f16, a:f16", "D = sin_turns(A, 0);", 73, 96),
    row("v_cos_f16", "d:f16, a:f16", "D = sin_turns(A, 1);", 74, 97),
]

OPS = [*MOVES, *CONVERSIONS, *ROUNDING, *TRANSCENDENTAL]
