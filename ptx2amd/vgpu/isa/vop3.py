"""VOP3: vector instructions with three sources or without a short form."""

from __future__ import annotations

from ptx2amd.vgpu.isa import native
from ptx2amd.vgpu.isa.meaning import Call, Meaning
from ptx2amd.vgpu.isa.native import Sequence
from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.vop2 import ADD, SUB, SUBREV


def row(name: str, operands: str, semantics: str | Meaning, *, gfx9_name: str = "", x86: str | Sequence = "",
        archs: tuple[str, ...] = (), keeps: bool = True) -> Op:  # fmt: skip
    """A VOP3 row; `gfx9_name`: the mnemonic on GFX9 if it differs; `keeps`: keeps_high_half of op.py."""
    names = {"gfx9": gfx9_name} if gfx9_name else {}
    return Op(name, "VOP3", operands, semantics, names=names, archs=archs, x86=x86, keeps_high_half=keeps)


def three(typ: str, name: str, semantics: str | Meaning, *, gfx9_name: str = "", x86: str | Sequence = "",
          keeps: bool = True) -> Op:  # fmt: skip
    """A row with three sources of the result's type."""
    return row(name, f"d:{typ}, a:{typ}, b:{typ}, c:{typ}", semantics, gfx9_name=gfx9_name, x86=x86, keeps=keeps)


def two(typ: str, name: str, semantics: str | Meaning, *, gfx9_name: str = "", x86: str | Sequence = "",
        keeps: bool = True) -> Op:  # fmt: skip
    """A row with two sources of the result's type."""
    return row(name, f"d:{typ}, a:{typ}, b:{typ}", semantics, gfx9_name=gfx9_name, x86=x86, keeps=keeps)


def _bits() -> list[Op]:
    return [
        three(
            "u32",
            "v_bfe_u32",
            "D = bfe_u32(A, B, C);",
            x86="S = vpandd B #31; T = vpsrlvd A S; S = vpandd C #31; S = vpsllvd #1 S; "
            "S = vpaddd S #0xffffffff; D = vpandd T S",
        ),
        three(
            "b32",
            "v_bfe_i32",
            "D = bfe_i32(A, B, C);",
            x86="S = vpandd B #31; T = vpsrlvd A S; S = vpandd C #31; U = vpsllvd #1 S; "
            "U = vpaddd U #0xffffffff; T = vpandd T U; S = vpsubd S #1; S = vpsllvd #1 S; "
            "T = vpxord T S; D = vpsubd T S",
        ),
        three("b32", "v_bfi_b32", "D = (A & B) | (~A & C);", x86="D = mov A; D = vpternlogd/0xca B C"),
        two(
            "b32",
            "v_bfm_b32",
            "D = ((1u << (A & 31)) - 1) << (B & 31);",
            x86="S = vpandd A #31; T = vpsllvd #1 S; T = vpsubd T #1; S = vpandd B #31; D = vpsllvd T S",
        ),
        three(
            "b32",
            "v_alignbit_b32",
            "D = (uint32_t)(join(B, A) >> (C & 31));",
            x86="S = vpandd C #31; T = vpsrlvd B S; S = vpsubd #32 S; S = vpsllvd A S; D = vpord S T",
        ),
        three("b32", "v_alignbyte_b32", "D = (uint32_t)(join(B, A) >> (C & 3) * 8);"),
        three("b32", "v_perm_b32", "D = perm_b32(A, B, C);"),
        three("u32", "v_lerp_u8", "D = lerp_u8(A, B, C);"),
        three("u32", "v_sad_u8", "D = sad_u8(A, B) + C;"),
        three("u32", "v_sad_hi_u8", "D = (sad_u8(A, B) << 16) + C;"),
        three("u32", "v_sad_u16", "D = absdiff(A & 65535, B & 65535) + absdiff(A >> 16, B >> 16) + C;"),
        three("u32", "v_sad_u32", "D = absdiff(A, B) + C;"),
        three("u32", "v_msad_u8", "D = msad_u8(A, B) + C;"),
        row("v_qsad_pk_u16_u8", "d:b64, a:b64, b:b32, c:b64", "D = qsad_pk(A, B, C);"),
        row("v_mqsad_pk_u16_u8", "d:b64, a:b64, b:b32, c:b64", "D = mqsad_pk(A, B, C);"),
        row("v_mqsad_u32_u8", "d:b128, a:b64, b:b32, c:b128", Call("valu_mqsad_u32_u8")),
        two("u32", "v_bcnt_u32_b32", "D = popcount(A) + B;"),
        two("u32", "v_mbcnt_lo_u32_b32", "D = popcount(A & (uint32_t)((1ull << LANE) - 1)) + B;"),
        two("u32", "v_mbcnt_hi_u32_b32", "D = popcount(A & (uint32_t)(((1ull << LANE) - 1) >> 32)) + B;"),
        row("v_lshlrev_b64", "d:b64, a:b32, b:b64", "D = B << (A & 63);", x86=native.LSHLREV_B64),
        row("v_lshrrev_b64", "d:b64, a:b32, b:b64", "D = B >> (A & 63);", x86=native.LSHRREV_B64),
        row("v_ashrrev_i64", "d:i64, a:b32, b:i64", "D = B >> (A & 63);", x86=native.ASHRREV_I64),
        three("b32", "v_lshl_or_b32", "D = A << (B & 31) | C;", x86="S = vpandd B #31; S = vpsllvd A S; D = vpord S C"),
        three("b32", "v_and_or_b32", "D = (A & B) | C;", x86="T = vpandd A B; D = vpord T C"),
        three("b32", "v_or3_b32", "D = A | B | C;", x86="T = vpord A B; D = vpord T C"),
        three("b32", "v_xor3_b32", "D = A ^ B ^ C;", x86="T = vpxord A B; D = vpxord T C"),
        two("b16", "v_and_b16", "D = A & B;", x86="D = vpandd A B"),
        two("b16", "v_or_b16", "D = A | B;", x86="D = vpord A B"),
        two("b16", "v_xor_b16", "D = A ^ B;", x86="D = vpxord A B"),
        row("v_bitop3_b32", "d:b32, a:b32, b:b32, c:b32", Call("valu_bitop3_all", modifies=True)),
        row("v_bitop3_b16", "d:b16, a:b16, b:b16, c:b16", Call("valu_bitop3_b16_all", modifies=True)),
        row(
            "v_ashr_pk_i8_i32",
            "d:b16, a:i32, b:i32, c:b32",
            "D = (uint32_t)(sat_i8(A >> (C & 31)) & 255) | (uint32_t)(sat_i8(B >> (C & 31)) & 255) << 8;",
        ),
        row(
            "v_ashr_pk_u8_i32", "d:b16, a:i32, b:i32, c:b32", "D = sat_u8(A >> (C & 31)) | sat_u8(B >> (C & 31)) << 8;"
        ),
        row("v_cndmask_b16", "d:b16, a:b16, b:b16, c:mask", "D = C_ ? B : A;", x86="D = mov A; D{C} = mov B"),
    ]


_SAT = "D = CLAMP ? {sat}(t) : ({type})t;"
_I32 = _SAT.format(sat="sat_i32", type="int32_t")
_U32 = _SAT.format(sat="sat_u32", type="uint32_t")


def _addition() -> list[Op]:
    return [
        three(
            "u32", "v_lshl_add_u32", "D = (A << (B & 31)) + C;", x86="S = vpandd B #31; S = vpsllvd A S; D = vpaddd S C"
        ),
        three(
            "u32", "v_add_lshl_u32", "D = (A + B) << (C & 31);", x86="S = vpandd C #31; T = vpaddd A B; D = vpsllvd T S"
        ),
        three("u32", "v_add3_u32", "D = A + B + C;", x86="T = vpaddd A B; D = vpaddd T C"),
        three("u32", "v_xad_u32", "D = (A ^ B) + C;", x86="T = vpxord A B; D = vpaddd T C"),
        row(
            "v_lshl_add_u64",
            "d:u64, a:u64, b:b32, c:u64",
            "D = (A << (B & 7)) + C;",
            x86="S = vpandd B #7; T = vpsllvd A S; U = vpsllvd AH S; S = vpsubd #32 S; S = vpsrlvd A S; "
            "U = vpord U S; D = vpaddd T C; P = vpcmpud/1 D C; DH = vpaddd U CH; "
            "DH{P} = vpsubd DH #0xffffffff",
        ),
        two(
            "i32",
            "v_add_nc_i32",
            "D = CLAMP ? addsat_i32(A, B) : (int32_t)(A_ + B_);",
            gfx9_name="v_add_i32",
            x86="D = vpaddd A B",
        ),
        two(
            "i32",
            "v_sub_nc_i32",
            "D = CLAMP ? subsat_i32(A, B) : (int32_t)(A_ - B_);",
            gfx9_name="v_sub_i32",
            x86="D = vpsubd A B",
        ),
        two("i16", "v_add_nc_i16", "D = CLAMP ? sat_i16(A + B) : A + B;", gfx9_name="v_add_i16", x86="D = vpaddd A B"),
        two("i16", "v_sub_nc_i16", "D = CLAMP ? sat_i16(A - B) : A - B;", gfx9_name="v_sub_i16", x86="D = vpsubd A B"),
        two("u16", "v_add_nc_u16", "D = CLAMP ? sat_u16((int32_t)(A + B)) : A + B;", x86="D = vpaddd A B"),
        two("u16", "v_sub_nc_u16", "D = CLAMP ? sat_u16((int32_t)(A - B)) : A - B;", x86="D = vpsubd A B"),
        row("v_add_co_u32", "d:u32, e:mask, a:u32, b:u32", ADD, x86="D = vpaddd A B; E = vpcmpud/1 D A"),
        row("v_sub_co_u32", "d:u32, e:mask, a:u32, b:u32", SUB, x86="D = vpsubd A B; E = vpcmpud/1 A B"),
        row("v_subrev_co_u32", "d:u32, e:mask, a:u32, b:u32", SUBREV, x86="D = vpsubd B A; E = vpcmpud/1 B A"),
    ]


def _multiplication() -> list[Op]:
    return [
        two("u32", "v_mul_lo_u32", "D = A * B;", x86="D = vpmulld A B"),
        two("u32", "v_mul_hi_u32", "D = (uint32_t)((uint64_t)A * B >> 32);", x86=native.MUL_HI_U32),
        two("i32", "v_mul_hi_i32", "D = (int32_t)((int64_t)A * B >> 32);", x86=native.MUL_HI_I32),
        row("v_mad_i32_i24", "d:i32, a:i24, b:i24, c:i32", f"int64_t t = (int64_t)A * B + C; {_I32}",
            x86=native.MAD_I32_I24),
        row("v_mad_u32_u24", "d:u32, a:u24, b:u24, c:u32", f"uint64_t t = (uint64_t)A * B + C; {_U32}",
            x86="S = vpandd A #0xffffff; T = vpandd B #0xffffff; S = vpmulld S T; D = vpaddd S C"),
        row("v_mad_u32_u16", "d:u32, a:u16, b:u16, c:u32", f"uint64_t t = (uint64_t)A * B + C; {_U32}"),
        row("v_mad_i32_i16", "d:i32, a:i16, b:i16, c:i32", f"int64_t t = (int64_t)A * B + C; {_I32}"),
        row("v_mad_u64_u32", "d:u64, e:mask, a:u32, b:u32, c:u64",
            "uint64_t p = (uint64_t)A * B; D = p + C; E = D < p;", x86=native.MAD_U64_U32),
        row("v_mad_i64_i32", "d:i64, e:mask, a:i32, b:i32, c:i64",
            "int64_t p = (int64_t)A * B; D = (int64_t)((uint64_t)p + (uint64_t)C); "
            "E = (D < 0) ^ (((p ^ D) & (C ^ D)) < 0);", x86=native.MAD_I64_I32),
        three("u16", "v_mad_u16", "D = CLAMP ? MIN((uint64_t)A * B + C, 65535) : A * B + C;",
            x86="S = vpmulld A B; D = vpaddd S C"),
        three("i16", "v_mad_i16", "D = CLAMP ? sat_i16(sat_i32((int64_t)A * B + C)) : A * B + C;"),
        three("u16", "v_mad_legacy_u16", "D = CLAMP ? MIN((uint64_t)A * B + C, 65535) : A * B + C;", keeps=False),
        three("i16", "v_mad_legacy_i16", "D = CLAMP ? sat_i16(sat_i32((int64_t)A * B + C)) : A * B + C;", keeps=False),
        two("u16", "v_mul_lo_u16", "D = A * B;", x86="D = vpmulld A B"),
    ]  # fmt: skip


_CTYPE = {"i32": "int32_t", "u32": "uint32_t"}


def _gfx1250() -> list[Op]:
    rows = [
        three("u32", "v_mad_u32", "D = A * B + C;"),
        row("v_mad_nc_u64_u32", "d:u64, a:u32, b:u32, c:u64", "D = (uint64_t)A * B + C;"),
        row("v_mad_nc_i64_i32", "d:i64, a:i32, b:i32, c:i64",
            "D = (int64_t)((uint64_t)((int64_t)A * B) + (uint64_t)C);"),
    ]  # fmt: skip
    for op in ("min", "max"):
        rows += [two(t, f"v_{op}_{t}", f"D = {op.upper()}(A, B);") for t in ("i64", "u64")]
        for t, sum_ in (("i32", "addsat_i32(A, B) : (int32_t)(A_ + B_)"), ("u32", "addsat_u32(A, B) : A + B")):
            rows.append(three(t, f"v_add_{op}_{t}", f"{_CTYPE[t]} s = CLAMP ? {sum_}; D = {op.upper()}(s, C);"))
    return rows


def _integer16() -> list[Op]:
    """16-bit integers that are VOP2 on GFX9."""
    return [
        two("u16", "v_max_u16", "D = MAX(A, B);", x86="D = vpmaxud A B"),
        two("i16", "v_max_i16", "D = MAX(A, B);", x86="D = vpmaxsd A B"),
        two("u16", "v_min_u16", "D = MIN(A, B);", x86="D = vpminud A B"),
        two("i16", "v_min_i16", "D = MIN(A, B);", x86="D = vpminsd A B"),
        two("b16", "v_lshlrev_b16", "D = B << (A & 15);", x86="S = vpandd A #15; D = vpsllvd B S"),
        two("b16", "v_lshrrev_b16", "D = B >> (A & 15);", x86="S = vpandd A #15; D = vpsrlvd B S"),
        row("v_ashrrev_i16", "d:i16, a:b16, b:i16", "D = B >> (A & 15);", x86="S = vpandd A #15; D = vpsravd B S"),
    ]


#: Two-way minimum and maximum of x and y; `{x}_`: their bits, needed if the values do not show signalling NaNs.
_TWO_WAY = {
    "f32": "{op}_f32({x}, {y}, IEEE, ONE)",
    "f16": "{op}_f16({x}, {y}, {xb}, {yb}, IEEE, ONE)",
}

_MEDIAN = {"f32": "med3_f32(A, B, C, IEEE, ONE)", "f16": "med3_f16(A, B, C, A_, B_, C_, IEEE, ONE)"}


def _fold(first: str, second: str, typ: str) -> str:
    """second(first(A, B), C) as a C expression."""
    text = _TWO_WAY.get(typ, "{op}({x}, {y})")
    if typ[0] != "f":
        first, second = first.upper(), second.upper()
    inner = text.format(op=first, x="A", y="B", xb="A_", yb="B_")
    return text.format(op=second, x=inner, y="C", xb="0", yb="C_")


def _min_max() -> list[Op]:
    """min3, max3, med3, maxmin, minmax of each type."""
    rows = []
    for typ, x86 in native.EXTREMA.items():
        for name in ("min3", "max3", "med3", "maxmin", "minmax"):
            if typ in ("i16", "u16") and name in ("maxmin", "minmax"):
                continue
            if name == "med3":
                expression = _MEDIAN.get(typ, "MED3(A, B, C)")
            else:
                expression = _fold(name[:3], name[3:].replace("3", "") or name[:3], typ)
            rows.append(three(typ, f"v_{name}_{typ}", f"D = {expression};", x86=x86.get(name, "")))
    return rows


def _ieee_extrema() -> list[Op]:
    """IEEE 754-2019 minimum and maximum: NaNs win."""
    rows = []
    for t, f in (("f32", "f32"), ("f16", "f32"), ("f64", "f64")):
        one = "ONE64" if t == "f64" else "ONE"
        for op in ("minimum", "maximum"):
            other = "maximum" if op == "minimum" else "minimum"
            rows.append(two(t, f"v_{op}_{t}", f"D = {op}_{f}(A, B) * {one};"))
            if t == "f64":
                continue
            rows.append(three(t, f"v_{op}3_{t}", f"D = {op}_{f}({op}_{f}(A, B), C) * {one};"))
            rows.append(three(t, f"v_{op}{other}_{t}", f"D = {other}_{f}({op}_{f}(A, B), C) * {one};"))
    return rows


def _float() -> list[Op]:
    return [
        three("f32", "v_mad_f32", "D = A * B + C;"),
        three("f32", "v_mad_legacy_f32", "D = (A == 0 || B == 0 ? 0.0f : A * B) + C;", keeps=False),
        three("f32", "v_fma_f32", "D = fma_f32(A, B, C);", x86="D = mov A; D = vfmadd132ps C B"),
        three("f64", "v_fma_f64", "D = fma_f64(A, B, C);", x86=native.wide("D = movq A; D = vfmadd132pd C B")),
        three("f16", "v_fma_f16", "D = fma_f16(A, B, C, NEAREST);"),
        three("f16", "v_fma_legacy_f16", "D = fma_f16(A, B, C, NEAREST);", keeps=False),
        three("f16", "v_mad_f16", "D = half_to_f32(f32_to_half(A * B)) + C;"),
        three("f16", "v_mad_legacy_f16", "D = half_to_f32(f32_to_half(A * B)) + C;", keeps=False),
        three("f32", "v_fma_dx9_zero_f32", "D = fma_f32(A == 0 || B == 0 ? 0.0f : A, A == 0 || B == 0 ? 0.0f : B, C);"),
        two("f32", "v_mul_legacy_f32", "D = A == 0 || B == 0 ? 0.0f : A * B;", keeps=False),
        two("f64", "v_add_f64", "D = A + B;", x86=native.wide("D = vaddpd A B")),
        two("f64", "v_mul_f64", "D = A * B;", x86=native.wide("D = vmulpd A B")),
        two("f64", "v_min_f64", "D = min_f64(A, B, IEEE, ONE64);", x86=native.MIN_F64),
        two("f64", "v_max_f64", "D = max_f64(A, B, IEEE, ONE64);", x86=native.MAX_F64),
        row("v_ldexp_f64", "d:f64, a:f64, b:i32", "D = ldexp_f64(A * ONE64, B);",
            x86=native.wide(f"T = vmulpd A {native.f64(1)}; S = vcvtdq2pd B; D = vscalefpd T S")),
        row("v_ldexp_f32", "d:f32, a:f32, b:i32", "D = ldexp_f32(A, B);",
            x86="S = vpminsd B #600; S = vpmaxsd S #0xfffffda8; halves; T = vcvtps2pd A; U = vcvtdq2pd S; "
                "T = vscalefpd T U; V = vcvtpd2ps T; V = join V; D = mov V"),
        three("f32", "v_div_fixup_f32", "D = div_fixup_f32(A, B, C) * ONE;", x86=native.DIV_FIXUP_F32),
        three("f64", "v_div_fixup_f64", "D = div_fixup_f64(A, B, C) * ONE64;", x86=native.wide(native.DIV_FIXUP_F64)),
        three("f16", "v_div_fixup_f16", "D = div_fixup_f16(A, B, C);"),
        three("f16", "v_div_fixup_legacy_f16", "D = div_fixup_f16(A, B, C);", keeps=False),
        three("f32", "v_div_fmas_f32", Call("valu_div_fmas_f32"),
            x86="D = mov A; D = vfmadd132ps C B; SLOW = korw VCC VCC"),
        three("f64", "v_div_fmas_f64", Call("valu_div_fmas_f64"),
            x86=native.wide("D = movq A; D = vfmadd132pd C B; SLOW = korw VCC VCC")),
        row("v_div_scale_f32", "d:f32, e:mask, a:f32, b:f32, c:f32", "D = div_scale_f32(A, B, C, &E);",
            x86=native.DIV_SCALE_F32),
        row("v_div_scale_f64", "d:f64, e:mask, a:f64, b:f64, c:f64", "D = div_scale_f64(A, B, C, &E);",
            x86=native.wide("D = movq A; E = vpcmpq/3 A A; S = vpsrlq/52 B; S = vpandq S #2047; T = vpsrlq/52 C; "
                "T = vpandq T #2047; U = vpsubq S #1; P = vpcmpuq/6 U #2043; Q = vpcmpuq/1 T #54; "
                "P = korw P Q; U = vpsubq T S; U = vpaddq U #1021; Q = vpcmpuq/6 U #1788; SLOW = korw P Q")),
        row("v_trig_preop_f64", "d:f64, a:f64, b:b32", "D = trig_preop_f64(A, B & 31);"),
        three("f32", "v_mullit_f32", "D = mullit(A, B, C);"),
        three("f32", "v_cubeid_f32", "D = cube_id(A, B, C);"),
        three("f32", "v_cubesc_f32", "D = cube_sc(A, B, C);"),
        three("f32", "v_cubetc_f32", "D = cube_tc(A, B, C);"),
        three("f32", "v_cubema_f32", "D = cube_ma(A, B, C);"),
    ]  # fmt: skip


def _conversions() -> list[Op]:
    return [
        row("v_cvt_pk_u8_f32", "d:b32, a:f32, b:b32, c:b32",
            "uint32_t s = (B & 3) * 8; D = (C & ~(255u << s)) | f32_to_u8(rndne_f32(A)) << s;"),
        row("v_cvt_pkaccum_u8_f32", "d=:b32, a:f32, b:b32",
            "uint32_t s = (B & 3) * 8; D = (D & ~(255u << s)) | f32_to_u8(rndne_f32(A)) << s;"),
        row("v_cvt_pk_norm_i16_f32", "d:b32, a:f32, b:f32",
            "D = ((uint32_t)f32_to_snorm(A) & 65535) | (uint32_t)f32_to_snorm(B) << 16;",
            gfx9_name="v_cvt_pknorm_i16_f32"),
        row("v_cvt_pk_norm_u16_f32", "d:b32, a:f32, b:f32",
            "D = (uint32_t)f32_to_unorm(A) | (uint32_t)f32_to_unorm(B) << 16;",
            gfx9_name="v_cvt_pknorm_u16_f32"),
        row("v_cvt_pkrtz_f16_f32", "d:b32, a:f32, b:f32", "D = half_rtz(A) | half_rtz(B) << 16;"),
        row("v_cvt_pk_u16_u32", "d:b32, a:u32, b:u32", "D = MIN(A, 65535) | MIN(B, 65535) << 16;",
            x86="S = vpminud A #65535; T = vpminud B #65535; T = vpsllvd T #16; D = vpord S T"),
        row("v_cvt_pk_i16_i32", "d:b32, a:i32, b:i32",
            "D = ((uint32_t)sat_i16(A) & 65535) | (uint32_t)sat_i16(B) << 16;"),
        row("v_cvt_pk_norm_i16_f16", "d:b32, a:f16, b:f16",
            "D = ((uint32_t)f32_to_snorm(A) & 65535) | (uint32_t)f32_to_snorm(B) << 16;",
            gfx9_name="v_cvt_pknorm_i16_f16"),
        row("v_cvt_pk_norm_u16_f16", "d:b32, a:f16, b:f16",
            "D = (uint32_t)f32_to_unorm(A) | (uint32_t)f32_to_unorm(B) << 16;",
            gfx9_name="v_cvt_pknorm_u16_f16"),
        row("v_cvt_pk_i16_f32", "d:b32, a:f32, b:f32",
            "D = ((uint32_t)f32_to_i16(A) & 65535) | (uint32_t)f32_to_i16(B) << 16;"),
        row("v_cvt_pk_u16_f32", "d:b32, a:f32, b:f32", "D = (uint32_t)f32_to_u16(A) | (uint32_t)f32_to_u16(B) << 16;"),
        row("v_cvt_pk_bf16_f32", "d:b32, a:f32, b:f32", "D = f32_to_bf16(A) | f32_to_bf16(B) << 16;"),
        row("v_cvt_pk_f16_f32", "d:b32, a:f32, b:f32",
            "D = (uint32_t)f32_to_half(A) | (uint32_t)f32_to_half(B) << 16;"),
        row("v_cvt_sr_bf16_f32", "d=:b16, a:f32, b:b32", "D = stochastic_bf16(A, B);"),
        row("v_cvt_sr_f16_f32", "d=:b16, a:f32, b:b32",
            "D = f32_to_small(&small_formats[SMALL_f16], A, 0, false, true, B);"),
        row("v_pack_b32_f16", "d:b32, a:f16, b:f16", "D = A_ | B_ << 16;"),
    ]  # fmt: skip


def _lanes() -> list[Op]:
    return [
        row("v_permlane16_var_b32", "d=:b32, a!v:b32, b!v:b32", Call("valu_permlane16_var_all", modifies=True)),
        row("v_permlanex16_var_b32", "d=:b32, a!v:b32, b!v:b32", Call("valu_permlanex16_var_all", modifies=True)),
        row("v_readlane_b32", "d!s:b32, a!v:b32, b!s:b32", Call("valu_readlane")),
        row("v_writelane_b32", "d=:b32, a!s:b32, b!s:b32", Call("valu_writelane")),
        row("v_permlane16_b32", "d=:b32, a!v:b32, b!s:b32, c!s:b32", Call("valu_permlane16_all", modifies=True)),
        row("v_permlanex16_b32", "d=:b32, a!v:b32, b!s:b32, c!s:b32", Call("valu_permlanex16_all", modifies=True)),
    ]


def _dot() -> list[Op]:
    return [
        row("v_dot2_f16_f16", "d:f16, a:f16x2, b:f16x2, c:f16", "D = (C + AL * BL) + AH * BH;"),
        row("v_dot2_bf16_bf16", "d:bf16, a:bf16x2, b:bf16x2, c:bf16", "D = (C + AL * BL) + AH * BH;"),
    ]


def ops() -> list[Op]:
    return [
        *_bits(),
        *_addition(),
        *_multiplication(),
        *_integer16(),
        *_min_max(),
        *_ieee_extrema(),
        *_gfx1250(),
        *_float(),
        *_conversions(),
        *_lanes(),
        *_dot(),
    ]
