"""VOP1: one-source vector instructions."""

from __future__ import annotations

from ptx2amd.vgpu.isa import native
from ptx2amd.vgpu.isa.meaning import Call, Meaning
from ptx2amd.vgpu.isa.native import Sequence
from ptx2amd.vgpu.isa.op import Op


def row(name: str, operands: str, semantics: str | Meaning, *, gfx9_name: str = "", x86: str | Sequence = "",
        archs: tuple[str, ...] = ()) -> Op:  # fmt: skip
    """A VOP1 row; `gfx9_name`: the mnemonic on GFX9 if it differs."""
    names = {"gfx9": gfx9_name} if gfx9_name else {}
    return Op(name, "VOP1", operands, semantics, names=names, archs=archs, x86=x86)


def _moves() -> list[Op]:
    return [
        row("v_nop", "", Call("valu_nop")),
        row("v_mov_b32", "d:b32, a:b32", Call("valu_mov"), x86=native.Sequence("D = mov A", needs="INDEX_OFF")),
        row("v_mov_b16", "d:b16, a:b16", "D = A;", x86="D = mov A"),
        row("v_mov_b64", "d:b64, a:b64", "D = A;", x86="D = mov A; DH = mov AH"),
        row("v_not_b32", "d:b32, a:b32", "D = ~A;", x86="D = vpxord A #0xffffffff"),
        row("v_not_b16", "d:b16, a:b16", "D = ~A;", x86="D = vpxord A #0xffffffff"),
        row("v_bfrev_b32", "d:b32, a:b32", "D = bit_reverse(A);"),
        row(
            "v_clz_i32_u32",
            "d:u32, a:u32",
            "D = ffbh(A);",
            gfx9_name="v_ffbh_u32",
            x86="D = vplzcntd A; P = vpcmpd/0 A #0; D{P} = mov #0xffffffff",
        ),
        row(
            "v_ctz_i32_b32",
            "d:u32, a:u32",
            "D = ffbl(A);",
            gfx9_name="v_ffbl_b32",
            x86="S = vpsubd #0 A; S = vpandd S A; S = vplzcntd S; D = vpsubd #31 S; P = vpcmpd/0 A #0; "
            "D{P} = mov #0xffffffff",
        ),
        row(
            "v_cls_i32",
            "d:i32, a:i32",
            "D = (int32_t)ffbh_signed(A_);",
            gfx9_name="v_ffbh_i32",
            x86="S = vpsravd A #31; S = vpxord A S; D = vplzcntd S; P = vpcmpd/0 S #0; D{P} = mov #0xffffffff",
        ),
        row("v_sat_pk_u8_i16", "d:b16, a:i16x2", "D = sat_u8(AL) | sat_u8(AH) << 8;"),
        row("v_readfirstlane_b32", "d!s:b32, a:b32", Call("valu_readfirstlane")),
        row("v_swap_b32", "d=:b32, a!v:b32", Call("valu_swap")),
        row("v_swap_b16", "d=:b16, a!v:b16", Call("valu_swap16_all", modifies=True)),
        row("v_permlane64_b32", "d:b32, a!v:b32", Call("valu_permlane64")),
        row("v_movreld_b32", "d:b32, a:b32", Call("valu_movreld")),
        row("v_movrels_b32", "d:b32, a!v:b32", Call("valu_movrels")),
        row("v_movrelsd_b32", "d:b32, a!v:b32", Call("valu_movrelsd")),
        row("v_movrelsd_2_b32", "d:b32, a!v:b32", Call("valu_movrelsd_2")),
        row("v_swaprel_b32", "d=:b32, a!v:b32", Call("valu_swaprel")),
        row("v_accvgpr_mov_b32", "d!a:b32, a!a:b32", "D = A;"),
        row("v_permlane16_swap_b32", "d=:b32, a!v:b32", Call("valu_permlane16_swap")),
        row("v_permlane32_swap_b32", "d=:b32, a!v:b32", Call("valu_permlane32_swap")),
        row("v_prng_b32", "d:b32, a:b32", "D = A << 1 ^ (-(A >> 31) & 197);"),
        row("v_clrexcp", "", Call("valu_nop")),
        row("v_pipeflush", "", Call("valu_nop")),
    ]


def _conversions() -> list[Op]:
    return [
        row("v_cvt_i32_f64", "d:i32, a:f64", "D = f64_to_i32(A);", x86=native.wide(native.CVT_I32_F64)),
        row("v_cvt_f64_i32", "d:f64, a:i32", "D = (double)A;", x86=native.wide("D = vcvtdq2pd A")),
        row("v_cvt_f32_i32", "d:f32, a:i32", "D = (float)A;", x86="D = vcvtdq2ps A"),
        row("v_cvt_f32_u32", "d:f32, a:u32", "D = u32_to_f32(A);", x86="D = vcvtudq2ps A"),
        row("v_cvt_u32_f32", "d:u32, a:f32", "D = f32_to_u32(A);",
            x86="D = vcvttps2udq A; P = vcmpps/0x19 A #0; D{P} = mov #0"),
        row("v_cvt_i32_f32", "d:i32, a:f32", "D = f32_to_i32(A);", x86=native.CVT_I32_F32),
        row("v_cvt_f16_f32", "d:f16, a:f32", "D = A;", x86=native.half("S = vcvtps2ph/4 A; D = vpmovzxwd S")),
        row("v_cvt_f32_f16", "d:f32, a:f16", "D = A;", x86=native.half("S = vpmovdw A; D = vcvtph2ps S")),
        row("v_cvt_nearest_i32_f32", "d:i32, a:f32", "D = f32_to_i32(__builtin_floorf(A + 0.5f));",
            gfx9_name="v_cvt_rpi_i32_f32"),
        row("v_cvt_floor_i32_f32", "d:i32, a:f32", "D = f32_to_i32(__builtin_floorf(A));",
            gfx9_name="v_cvt_flr_i32_f32"),
        row("v_cvt_off_f32_i4", "d:f32, a:b32", "D = (float)((int32_t)(A << 28) >> 28) * 0.0625f;"),
        row("v_cvt_f32_f64", "d:f32, a:f64", "D = (float)A;", x86=native.wide("D = vcvtpd2ps A")),
        row("v_cvt_f64_f32", "d:f64, a:f32", "D = (double)A;", x86=native.wide("D = vcvtps2pd A")),
        *[row(f"v_cvt_f32_ubyte{k}", "d:f32, a:b32", f"D = (float)(int32_t)(A >> {8 * k} & 255);",
              x86=f"T = vpsrlvd A #{8 * k}; T = vpandd T #255; D = vcvtdq2ps T") for k in range(4)],
        row("v_cvt_u32_f64", "d:u32, a:f64", "D = f64_to_u32(A);",
            x86=native.wide(f"S = vmaxpd A #0; S = vminpd S {native.f64(2**32 - 1)}; D = vcvttpd2udq S")),
        row("v_cvt_f64_u32", "d:f64, a:u32", "D = u32_to_f64(A);", x86=native.wide("D = vcvtudq2pd A")),
        row("v_cvt_f16_u16", "d:f16, a:u16", "D = (float)(int32_t)A;"),
        row("v_cvt_f16_i16", "d:f16, a:i16", "D = (float)A;"),
        row("v_cvt_u16_f16", "d:u16, a:f16", "D = f32_to_u16(A);"),
        row("v_cvt_i16_f16", "d:i16, a:f16", "D = f32_to_i16(A);"),
        row("v_cvt_norm_i16_f16", "d:i16, a:f16", "D = f32_to_snorm(A);"),
        row("v_cvt_norm_u16_f16", "d:u16, a:f16", "D = f32_to_unorm(A);"),
        row("v_cvt_i32_i16", "d:i32, a:i16", "D = A;"),
        row("v_cvt_u32_u16", "d:u32, a:u16", "D = A;"),
        row("v_cvt_f32_bf16", "d:f32, a:bf16", "D = A;"),
    ]  # fmt: skip


_ROUNDED = {"f32": native.rounded32, "f64": native.rounded64}
_FRACT: dict[str, str | Sequence] = {"f32": native.FRACT_F32, "f64": native.wide(native.FRACT_F64)}


def _floats() -> list[Op]:
    """Rounding and exponent instructions of the three float types."""
    rows = []
    for typ, c, m, one in (("f64", "", "f64", "ONE64"), ("f32", "f", "f32", "ONE"), ("f16", "f", "f32", "ONE")):
        for name, text, mode in (
            ("trunc", f"D = __builtin_trunc{c}(A) * {one};", 11), ("ceil", f"D = __builtin_ceil{c}(A) * {one};", 10),
            ("rndne", f"D = rndne_{m}(A) * {one};", 8), ("floor", f"D = __builtin_floor{c}(A) * {one};", 9),
        ):  # fmt: skip
            x86 = _ROUNDED[typ](mode) if typ in _ROUNDED else ""
            rows.append(row(f"v_{name}_{typ}", f"d:{typ}, a:{typ}", text, x86=x86))
        rows.append(row(f"v_fract_{typ}", f"d:{typ}, a:{typ}", f"D = fract_{typ}(A);", x86=_FRACT.get(typ, "")))
        rows.append(row(f"v_frexp_mant_{typ}", f"d:{typ}, a:{typ}", f"D = frexp_mant_{m}(A);"))
    return rows


def _rounding() -> list[Op]:
    return [
        *_floats(),
        row("v_frexp_exp_i32_f64", "d:i32, a:f64", "D = frexp_exp_f64(A);"),
        row("v_frexp_exp_i32_f32", "d:i32, a:f32", "D = frexp_exp_f32(A);"),
        row("v_frexp_exp_i16_f16", "d:i16, a:f16", "D = frexp_exp_f32(A);"),
    ]


def _transcendental() -> list[Op]:
    """The chip's approximations: ours are at least as accurate."""
    return [
        row("v_exp_f32", "d:f32, a:f32", "D = exp2_f32(A);", x86=native.EXP),
        row("v_log_f32", "d:f32, a:f32", "D = log2_f32(A);", x86=native.LOG),
        row("v_rcp_f32", "d:f32, a:f32", "D = rcp_f32(A);", x86=native.RCP),
        row("v_rcp_iflag_f32", "d:f32, a:f32", "D = rcp_f32(A);", x86=native.RCP),
        row("v_rsq_f32", "d:f32, a:f32", "D = rsq_f32(A);", x86=native.RSQ_F32),
        row("v_sqrt_f32", "d:f32, a:f32", "D = sqrt_f32(A);", x86=native.SQRT_F32),
        row("v_sin_f32", "d:f32, a:f32", "D = sin_turns(A, 0);", x86=native.sine(0)),
        row("v_cos_f32", "d:f32, a:f32", "D = sin_turns(A, 1);", x86=native.sine(1)),
        row("v_exp_legacy_f32", "d:f32, a:f32", "D = exp2_f32(A);"),
        row("v_log_legacy_f32", "d:f32, a:f32", "D = log2_f32(A);"),
        row("v_rcp_f64", "d:f64, a:f64", "D = 1.0 / A;", x86=native.wide(f"D = vdivpd {native.f64(1)} A")),
        row(
            "v_rsq_f64",
            "d:f64, a:f64",
            "D = 1.0 / __builtin_sqrt(A);",
            x86=native.wide(f"T = vsqrtpd A; D = vdivpd {native.f64(1)} T"),
        ),
        row("v_sqrt_f64", "d:f64, a:f64", "D = __builtin_sqrt(A);", x86=native.wide("D = vsqrtpd A")),
        row("v_rcp_f16", "d:f16, a:f16", "D = 1.0f / A;"),
        row("v_sqrt_f16", "d:f16, a:f16", "D = __builtin_sqrtf(A);"),
        row("v_rsq_f16", "d:f16, a:f16", "D = rsq_f32(A);"),
        row("v_log_f16", "d:f16, a:f16", "D = log2_f32(A);"),
        row("v_exp_f16", "d:f16, a:f16", "D = exp2_f32(A);"),
        row("v_sin_f16", "d:f16, a:f16", "D = sin_turns(A, 0);"),
        row("v_cos_f16", "d:f16, a:f16", "D = sin_turns(A, 1);"),
    ]


def _gfx1250() -> list[Op]:
    """bf16 computed in f32, and the hyperbolic tangent."""
    rows = [
        row(f"v_{name}_bf16", "d:bf16, a:bf16", f"D = {text};") for name, text in (
            ("rcp", "rcp_f32(A)"), ("sqrt", "sqrt_f32(A)"), ("rsq", "rsq_f32(A)"), ("log", "log2_f32(A)"),
            ("exp", "exp2_f32(A)"), ("sin", "sin_turns(A, 0)"), ("cos", "sin_turns(A, 1)"))
    ]  # fmt: skip
    rows += [row(f"v_tanh_{t}", f"d:{t}, a:{t}", "D = __builtin_tanhf(A);") for t in ("f32", "f16", "bf16")]
    return rows


def ops() -> list[Op]:
    return [*_moves(), *_conversions(), *_rounding(), *_transcendental(), *_gfx1250()]
