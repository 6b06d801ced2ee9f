"""VOP3: vector instructions with three sources or without a short form. Opcodes: GFX9, GFX11."""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.vop1 import FNUZ
from ptx2amd.vgpu.isa.vop2 import ADD, SUB, SUBREV


def row(name: str, operands: str, semantics: str, gfx9: int | None, gfx11: int | None, *, gfx9_name: str = "",
        archs: tuple[str, ...] = ()) -> Op:  # fmt: skip
    """A VOP3 row; `gfx9_name`: the mnemonic there, where it differs."""
    names = {"gfx9": gfx9_name} if gfx9_name else {}
    return Op(name, "VOP3", operands, semantics, gfx9=gfx9, gfx11=gfx11, names=names, archs=archs)


def three(typ: str, name: str, semantics: str, gfx9: int | None, gfx11: int | None, *, gfx9_name: str = "") -> Op:
    """A row with three sources of the result's type."""
    return row(name, f"d:{typ}, a:{typ}, b:{typ}, c:{typ}", semantics, gfx9, gfx11, gfx9_name=gfx9_name)


def two(typ: str, name: str, semantics: str, gfx9: int | None, gfx11: int | None, *, gfx9_name: str = "") -> Op:
    """A row with two sources of the result's type."""
    return row(name, f"d:{typ}, a:{typ}, b:{typ}", semantics, gfx9, gfx11, gfx9_name=gfx9_name)


BITS = [
    three("u32", "v_bfe_u32", "D = bfe_u32(A, B, C);", 456, 528),
    three("b32", "v_bfe_i32", "D = bfe_i32(A, B, C);", 457, 529),
    three("b32", "v_bfi_b32", "D = (A & B) | (~A & C);", 458, 530),
    two("b32", "v_bfm_b32", "D = ((1u << (A & 31)) - 1) << (B & 31);", 659, 797),
    three("b32", "v_alignbit_b32", "D = (uint32_t)(join(B, A) >> (C & 31));", 462, 534),
    three("b32", "v_alignbyte_b32", "D = (uint32_t)(join(B, A) >> (C & 3) * 8);", 463, 535),
    three("b32", "v_perm_b32", "D = perm_b32(A, B, C);", 493, 580),
    three("u32", "v_lerp_u8", "D = lerp_u8(A, B, C);", 461, 533),
    three("u32", "v_sad_u8", "D = sad_u8(A, B) + C;", 473, 546),
    three("u32", "v_sad_hi_u8", "D = (sad_u8(A, B) << 16) + C;", 474, 547),
    three("u32", "v_sad_u16", "D = absdiff(A & 65535, B & 65535) + absdiff(A >> 16, B >> 16) + C;", 475, 548),
    three("u32", "v_sad_u32", "D = absdiff(A, B) + C;", 476, 549),
    three("u32", "v_msad_u8", "D = msad_u8(A, B) + C;", 484, 569),
    row("v_qsad_pk_u16_u8", "d:b64, a:b64, b:b32, c:b64", "D = qsad_pk(A, B, C);", 485, 570),
    row("v_mqsad_pk_u16_u8", "d:b64, a:b64, b:b32, c:b64", "D = mqsad_pk(A, B, C);", 486, 571),
    row("v_mqsad_u32_u8", "d:b128, a:b64, b:b32, c:b128", "CALL(valu_mqsad_u32_u8)", 487, 573),
    two("u32", "v_bcnt_u32_b32", "D = popcount(A) + B;", 651, 798),
    two("u32", "v_mbcnt_lo_u32_b32", "D = popcount(A & (uint32_t)((1ull << LANE) - 1)) + B;", 652, 799),
    two("u32", "v_mbcnt_hi_u32_b32", "D = popcount(A & (uint32_t)(((1ull << LANE) - 1) >> 32)) + B;", 653, 800),
    row("v_lshlrev_b64", "d:b64, a:b32, b:b64", "D = B << (A & 63);", 655, 828),
    row("v_lshrrev_b64", "d:b64, a:b32, b:b64", "D = B >> (A & 63);", 656, 829),
    row("v_ashrrev_i64", "d:i64, a:b32, b:i64", "D = B >> (A & 63);", 657, 830),
    three("b32", "v_lshl_or_b32", "D = A << (B & 31) | C;", 512, 598),
    three("b32", "v_and_or_b32", "D = (A & B) | C;", 513, 599),
    three("b32", "v_or3_b32", "D = A | B | C;", 514, 600),
    three("b32", "v_xor3_b32", "D = A ^ B ^ C;", None, 576),
    two("b16", "v_and_b16", "D = A & B;", None, 866),
    two("b16", "v_or_b16", "D = A | B;", None, 867),
    two("b16", "v_xor_b16", "D = A ^ B;", None, 868),
    row("v_cndmask_b16", "d:b16, a:b16, b:b16, c:mask", "D = C_ ? B : A;", None, 605),
]

_SAT = "D = CLAMP ? {sat}(t) : ({type})t;"
_I32 = _SAT.format(sat="sat_i32", type="int32_t")
_U32 = _SAT.format(sat="sat_u32", type="uint32_t")
ADDITION = [
    three("u32", "v_lshl_add_u32", "D = (A << (B & 31)) + C;", 509, 582),
    three("u32", "v_add_lshl_u32", "D = (A + B) << (C & 31);", 510, 583),
    three("u32", "v_add3_u32", "D = A + B + C;", 511, 597),
    three("u32", "v_xad_u32", "D = (A ^ B) + C;", 499, 581),
    row("v_lshl_add_u64", "d:u64, a:u64, b:b32, c:u64", "D = (A << (B & 7)) + C;", 520, None),
    two("i32", "v_add_nc_i32", "D = CLAMP ? addsat_i32(A, B) : (int32_t)(A_ + B_);", 668, 806, gfx9_name="v_add_i32"),
    two("i32", "v_sub_nc_i32", "D = CLAMP ? subsat_i32(A, B) : (int32_t)(A_ - B_);", 669, 805, gfx9_name="v_sub_i32"),
    two("i16", "v_add_nc_i16", "D = CLAMP ? sat_i16(A + B) : A + B;", 670, 781, gfx9_name="v_add_i16"),
    two("i16", "v_sub_nc_i16", "D = CLAMP ? sat_i16(A - B) : A - B;", 671, 782, gfx9_name="v_sub_i16"),
    two("u16", "v_add_nc_u16", "D = CLAMP ? sat_u16((int32_t)(A + B)) : A + B;", None, 771),
    two("u16", "v_sub_nc_u16", "D = CLAMP ? sat_u16((int32_t)(A - B)) : A - B;", None, 772),
    row("v_add_co_u32", "d:u32, e:mask, a:u32, b:u32", ADD, None, 768),
    row("v_sub_co_u32", "d:u32, e:mask, a:u32, b:u32", SUB, None, 769),
    row("v_subrev_co_u32", "d:u32, e:mask, a:u32, b:u32", SUBREV, None, 770),
]

MULTIPLICATION = [
    two("u32", "v_mul_lo_u32", "D = A * B;", 645, 812),
    two("u32", "v_mul_hi_u32", "D = (uint32_t)((uint64_t)A * B >> 32);", 646, 813),
    two("i32", "v_mul_hi_i32", "D = (int32_t)((int64_t)A * B >> 32);", 647, 814),
    row("v_mad_i32_i24", "d:i32, a:i24, b:i24, c:i32", f"int64_t t = (int64_t)A * B + C; {_I32}", 450, 522),
    row("v_mad_u32_u24", "d:u32, a:u24, b:u24, c:u32", f"uint64_t t = (uint64_t)A * B + C; {_U32}", 451, 523),
    row("v_mad_u32_u16", "d:u32, a:u16, b:u16, c:u32", f"uint64_t t = (uint64_t)A * B + C; {_U32}", 497, 601),
    row("v_mad_i32_i16", "d:i32, a:i16, b:i16, c:i32", f"int64_t t = (int64_t)A * B + C; {_I32}", 498, 602),
    row("v_mad_u64_u32", "d:u64, e:mask, a:u32, b:u32, c:u64",
        "uint64_t p = (uint64_t)A * B; D = p + C; E = D < p;", 488, 766),
    row("v_mad_i64_i32", "d:i64, e:mask, a:i32, b:i32, c:i64",
        "int64_t p = (int64_t)A * B; D = (int64_t)((uint64_t)p + (uint64_t)C); "
        "E = (D < 0) ^ (((p ^ D) & (C ^ D)) < 0);", 489, 767),
    three("u16", "v_mad_u16", "D = CLAMP ? MIN((uint64_t)A * B + C, 65535) : A * B + C;", 516, 577),
    three("i16", "v_mad_i16", "D = CLAMP ? sat_i16(sat_i32((int64_t)A * B + C)) : A * B + C;", 517, 595),
    three("u16", "v_mad_legacy_u16", "D = CLAMP ? MIN((uint64_t)A * B + C, 65535) : A * B + C;", 491, None),
    three("i16", "v_mad_legacy_i16", "D = CLAMP ? sat_i16(sat_i32((int64_t)A * B + C)) : A * B + C;", 492, None),
    two("u16", "v_mul_lo_u16", "D = A * B;", None, 773),
]  # fmt: skip

#: 16-bit integers that are VOP2 on GFX9.
INTEGER16 = [
    two("u16", "v_max_u16", "D = MAX(A, B);", None, 777),
    two("i16", "v_max_i16", "D = MAX(A, B);", None, 778),
    two("u16", "v_min_u16", "D = MIN(A, B);", None, 779),
    two("i16", "v_min_i16", "D = MIN(A, B);", None, 780),
    two("b16", "v_lshlrev_b16", "D = B << (A & 15);", None, 824),
    two("b16", "v_lshrrev_b16", "D = B >> (A & 15);", None, 825),
    row("v_ashrrev_i16", "d:i16, a:b16, b:i16", "D = B >> (A & 15);", None, 826),
]

#: Two-way minimum and maximum of x and y; `{x}_`: their bits, where the values do not tell signalling NaNs.
_TWO_WAY = {
    "f32": "{op}_f32({x}, {y}, IEEE, ONE)",
    "f16": "{op}_f16({x}, {y}, {xb}, {yb}, IEEE, ONE)",
}


def _fold(first: str, second: str, typ: str) -> str:
    """second(first(A, B), C) as a C expression."""
    text = _TWO_WAY.get(typ, "{op}({x}, {y})")
    if typ[0] != "f":
        first, second = first.upper(), second.upper()
    inner = text.format(op=first, x="A", y="B", xb="A_", yb="B_")
    return text.format(op=second, x=inner, y="C", xb="0", yb="C_")


def _min_max() -> list[Op]:
    """min3, max3, med3, maxmin, minmax of each type: opcodes of f32, i32, u32, f16, i16, u16 per generation."""
    types = ("f32", "i32", "u32", "f16", "i16", "u16")
    table = {
        "min3": ((464, 465, 466, 500, 501, 502), (537, 538, 539, 585, 586, 587)),
        "max3": ((467, 468, 469, 503, 504, 505), (540, 541, 542, 588, 589, 590)),
        "med3": ((470, 471, 472, 506, 507, 508), (543, 544, 545, 591, 592, 593)),
        "maxmin": ((None,) * 6, (606, 612, 610, 608, None, None)),
        "minmax": ((None,) * 6, (607, 613, 611, 609, None, None)),
    }
    median = {"f32": "med3_f32(A, B, C, IEEE, ONE)", "f16": "med3_f16(A, B, C, A_, B_, C_, IEEE, ONE)"}
    rows = []
    for name, (gfx9, gfx11) in table.items():
        for typ, g9, g11 in zip(types, gfx9, gfx11, strict=True):
            if g9 is None and g11 is None:
                continue
            if name == "med3":
                expression = median.get(typ, "MED3(A, B, C)")
            else:
                expression = _fold(name[:3], name[3:].replace("3", "") or name[:3], typ)
            rows.append(three(typ, f"v_{name}_{typ}", f"D = {expression};", g9, g11))
    return rows


FLOAT = [
    three("f32", "v_mad_f32", "D = A * B + C;", 449, None),
    three("f32", "v_mad_legacy_f32", "D = (A == 0 || B == 0 ? 0.0f : A * B) + C;", 448, None),
    three("f32", "v_fma_f32", "D = fma_f32(A, B, C);", 459, 531),
    three("f64", "v_fma_f64", "D = fma_f64(A, B, C);", 460, 532),
    three("f16", "v_fma_f16", "D = fma_f16(A, B, C, NEAREST);", 518, 584),
    three("f16", "v_fma_legacy_f16", "D = fma_f16(A, B, C, NEAREST);", 494, None),
    three("f16", "v_mad_f16", "D = half_to_f32(f32_to_half(A * B)) + C;", 515, None),
    three("f16", "v_mad_legacy_f16", "D = half_to_f32(f32_to_half(A * B)) + C;", 490, None),
    three("f32", "v_fma_dx9_zero_f32", "D = fma_f32(A == 0 || B == 0 ? 0.0f : A, A == 0 || B == 0 ? 0.0f : B, C);",
          None, 521),
    two("f32", "v_mul_legacy_f32", "D = A == 0 || B == 0 ? 0.0f : A * B;", 673, None),
    two("f64", "v_add_f64", "D = A + B;", 640, 807),
    two("f64", "v_mul_f64", "D = A * B;", 641, 808),
    two("f64", "v_min_f64", "D = min_f64(A, B, IEEE, ONE64);", 642, 809),
    two("f64", "v_max_f64", "D = max_f64(A, B, IEEE, ONE64);", 643, 810),
    row("v_ldexp_f64", "d:f64, a:f64, b:i32", "D = ldexp_f64(A * ONE64, B);", 644, 811),
    row("v_ldexp_f32", "d:f32, a:f32, b:i32", "D = ldexp_f32(A, B);", 648, 796),
    three("f32", "v_div_fixup_f32", "D = div_fixup_f32(A, B, C) * ONE;", 478, 551),
    three("f64", "v_div_fixup_f64", "D = div_fixup_f64(A, B, C) * ONE64;", 479, 552),
    three("f16", "v_div_fixup_f16", "D = div_fixup_f16(A, B, C);", 519, 596),
    three("f16", "v_div_fixup_legacy_f16", "D = div_fixup_f16(A, B, C);", 495, None),
    three("f32", "v_div_fmas_f32", "CALL(valu_div_fmas_f32)", 482, 567),
    three("f64", "v_div_fmas_f64", "CALL(valu_div_fmas_f64)", 483, 568),
    row("v_div_scale_f32", "d:f32, e:mask, a:f32, b:f32, c:f32", "D = div_scale_f32(A, B, C, &E);", 480, 764),
    row("v_div_scale_f64", "d:f64, e:mask, a:f64, b:f64, c:f64", "D = div_scale_f64(A, B, C, &E);", 481, 765),
    row("v_trig_preop_f64", "d:f64, a:f64, b:b32", "D = trig_preop_f64(A, B & 31);", 658, 815),
    three("f32", "v_mullit_f32", "D = mullit(A, B, C);", None, 536),
    three("f32", "v_cubeid_f32", "D = cube_id(A, B, C);", 452, 524),
    three("f32", "v_cubesc_f32", "D = cube_sc(A, B, C);", 453, 525),
    three("f32", "v_cubetc_f32", "D = cube_tc(A, B, C);", 454, 526),
    three("f32", "v_cubema_f32", "D = cube_ma(A, B, C);", 455, 527),
]  # fmt: skip

CONVERSIONS = [
    row("v_cvt_pk_u8_f32", "d:b32, a:f32, b:b32, c:b32",
        "uint32_t s = (B & 3) * 8; D = (C & ~(255u << s)) | f32_to_u8(rndne_f32(A)) << s;", 477, 550),
    row("v_cvt_pkaccum_u8_f32", "d=:b32, a:f32, b:b32",
        "uint32_t s = (B & 3) * 8; D = (D & ~(255u << s)) | f32_to_u8(rndne_f32(A)) << s;", 496, None),
    row("v_cvt_pk_norm_i16_f32", "d:b32, a:f32, b:f32",
        "D = ((uint32_t)f32_to_snorm(A) & 65535) | (uint32_t)f32_to_snorm(B) << 16;", 660, 801,
        gfx9_name="v_cvt_pknorm_i16_f32"),
    row("v_cvt_pk_norm_u16_f32", "d:b32, a:f32, b:f32",
        "D = (uint32_t)f32_to_unorm(A) | (uint32_t)f32_to_unorm(B) << 16;", 661, 802,
        gfx9_name="v_cvt_pknorm_u16_f32"),
    row("v_cvt_pkrtz_f16_f32", "d:b32, a:f32, b:f32", "D = half_rtz(A) | half_rtz(B) << 16;", 662, None),
    row("v_cvt_pk_u16_u32", "d:b32, a:u32, b:u32", "D = MIN(A, 65535) | MIN(B, 65535) << 16;", 663, 803),
    row("v_cvt_pk_i16_i32", "d:b32, a:i32, b:i32",
        "D = ((uint32_t)sat_i16(A) & 65535) | (uint32_t)sat_i16(B) << 16;", 664, 804),
    row("v_cvt_pk_norm_i16_f16", "d:b32, a:f16, b:f16",
        "D = ((uint32_t)f32_to_snorm(A) & 65535) | (uint32_t)f32_to_snorm(B) << 16;", 665, 786,
        gfx9_name="v_cvt_pknorm_i16_f16"),
    row("v_cvt_pk_norm_u16_f16", "d:b32, a:f16, b:f16",
        "D = (uint32_t)f32_to_unorm(A) | (uint32_t)f32_to_unorm(B) << 16;", 666, 787,
        gfx9_name="v_cvt_pknorm_u16_f16"),
    row("v_cvt_pk_i16_f32", "d:b32, a:f32, b:f32",
        "D = ((uint32_t)f32_to_i16(A) & 65535) | (uint32_t)f32_to_i16(B) << 16;", None, 774),
    row("v_cvt_pk_u16_f32", "d:b32, a:f32, b:f32", "D = (uint32_t)f32_to_u16(A) | (uint32_t)f32_to_u16(B) << 16;",
        None, 775),
    row("v_pack_b32_f16", "d:b32, a:f16, b:f16", "D = A_ | B_ << 16;", 672, 785),
    row("v_cvt_pk_fp8_f32", "d:b16, a:f32, b:f32", "D = f32_to_fp8(A, SATURATE8) | f32_to_fp8(B, SATURATE8) << 8;",
        674, None, archs=FNUZ),
    row("v_cvt_pk_bf8_f32", "d:b16, a:f32, b:f32", "D = f32_to_bf8(A, SATURATE8) | f32_to_bf8(B, SATURATE8) << 8;",
        675, None, archs=FNUZ),
    row("v_cvt_sr_fp8_f32", "d=:b32, a:f32, b:b32", "uint32_t s = OPSEL >> 2 << 3; "
        "D = (D & ~(255u << s)) | f32_to_fp8(add_noise(A, B), SATURATE8) << s;", 676, None, archs=FNUZ),
    row("v_cvt_sr_bf8_f32", "d=:b32, a:f32, b:b32", "uint32_t s = OPSEL >> 2 << 3; "
        "D = (D & ~(255u << s)) | f32_to_bf8(add_noise(A, B), SATURATE8) << s;", 677, None, archs=FNUZ),
]  # fmt: skip

LANES = [
    row("v_readlane_b32", "d!s:b32, a!v:b32, b!s:b32", "CALL(valu_readlane)", 649, 864),
    row("v_writelane_b32", "d=:b32, a!s:b32, b!s:b32", "CALL(valu_writelane)", 650, 865),
    row("v_permlane16_b32", "d=:b32, a!v:b32, b!s:b32, c!s:b32", "CALL(valu_permlane16_all)", None, 603),
    row("v_permlanex16_b32", "d=:b32, a!v:b32, b!s:b32, c!s:b32", "CALL(valu_permlanex16_all)", None, 604),
]

DOT = [
    row("v_dot2_f16_f16", "d:f16, a:f16x2, b:f16x2, c:f16", "D = (C + AL * BL) + AH * BH;", None, 614),
    row("v_dot2_bf16_bf16", "d:bf16, a:bf16x2, b:bf16x2, c:bf16", "D = (C + AL * BL) + AH * BH;", None, 615),
]

OPS = [*BITS, *ADDITION, *MULTIPLICATION, *INTEGER16, *_min_max(), *FLOAT, *CONVERSIONS, *LANES, *DOT]
