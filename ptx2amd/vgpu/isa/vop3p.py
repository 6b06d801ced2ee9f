"""VOP3P: packed and mixed-precision instructions, dot products."""

from __future__ import annotations

from ptx2amd.vgpu.isa.meaning import Call, Meaning
from ptx2amd.vgpu.isa.op import Op


def row(name: str, operands: str, semantics: str | Meaning, *, gfx9_name: str = "") -> Op:
    """A VOP3P row; `gfx9_name`: the mnemonic on GFX9 if it differs."""
    names = {"gfx9": gfx9_name} if gfx9_name else {}
    return Op(name, "VOP3P", operands, semantics, names=names)


def packed(typ: str, name: str, semantics: str, sources: str = "ab") -> Op:
    """A row with all operands of one type."""
    operands = ", ".join(f"{n}:{typ}" for n in "d" + sources)
    return row(name, operands, semantics)


def _integer() -> list[Op]:
    return [
        packed("i16x2", "v_pk_mad_i16", "D = CLAMP ? sat_i16(sat_i32((int64_t)A * B + C)) : A * B + C;", "abc"),
        packed("u16x2", "v_pk_mul_lo_u16", "D = A * B;"),
        packed("i16x2", "v_pk_add_i16", "D = CLAMP ? sat_i16(A + B) : A + B;"),
        packed("i16x2", "v_pk_sub_i16", "D = CLAMP ? sat_i16(A - B) : A - B;"),
        packed("u16x2", "v_pk_lshlrev_b16", "D = B << (A & 15);"),
        packed("u16x2", "v_pk_lshrrev_b16", "D = B >> (A & 15);"),
        packed("i16x2", "v_pk_ashrrev_i16", "D = B >> (A & 15);"),
        packed("i16x2", "v_pk_max_i16", "D = MAX(A, B);"),
        packed("i16x2", "v_pk_min_i16", "D = MIN(A, B);"),
        packed("u16x2", "v_pk_mad_u16", "D = CLAMP ? MIN((uint64_t)A * B + C, 65535) : (uint32_t)A * B + C;", "abc"),
        packed("u16x2", "v_pk_add_u16", "D = CLAMP ? sat_u16(A + B) : A + B;"),
        packed("u16x2", "v_pk_sub_u16", "D = CLAMP ? sat_u16(A - B) : A - B;"),
        packed("u16x2", "v_pk_max_u16", "D = MAX(A, B);"),
        packed("u16x2", "v_pk_min_u16", "D = MIN(A, B);"),
    ]


def _float() -> list[Op]:
    return [
        packed("f16x2", "v_pk_fma_f16", "D = fma_f16(A, B, C, NEAREST);", "abc"),
        packed("f16x2", "v_pk_add_f16", "D = A + B;"),
        packed("f16x2", "v_pk_mul_f16", "D = A * B;"),
        packed("f16x2", "v_pk_min_f16", "D = min_f16(A, B, A_, B_, IEEE, ONE);"),
        packed("f16x2", "v_pk_max_f16", "D = max_f16(A, B, A_, B_, IEEE, ONE);"),
        *[packed("f16x2", f"v_pk_{op}_f16", f"D = {op}_f32(A, B) * ONE;") for op in ("minimum", "maximum")],
        *[
            packed("f16x2", f"v_pk_{op}3_f16", f"D = {op}_f32({op}_f32(A, B), C) * ONE;", "abc")
            for op in ("minimum", "maximum")
        ],
        row("v_pk_fma_f32", "d:f32x2, a:f32x2, b:f32x2, c:f32x2", "D = fma_f32(A, B, C);"),
        row("v_pk_mul_f32", "d:f32x2, a:f32x2, b:f32x2", "D = A * B;"),
        row("v_pk_add_f32", "d:f32x2, a:f32x2, b:f32x2", "D = A + B;"),
        row("v_pk_mov_b32", "d:u32x2, a:u32x2, b:u32x2", Call("valu_pk_mov_all", modifies=True)),
    ]


def _gfx1250() -> list[Op]:
    rows = []
    for op in ("min", "max"):
        up = op.upper()
        for t in ("i16", "u16"):
            rows.append(packed(f"{t}x2", f"v_pk_{op}3_{t}", f"D = {up}({up}(A, B), C);", "abc"))
            text = f"int32_t s = CLAMP ? sat_{t}(A + B) : ({'int16_t' if t == 'i16' else 'uint16_t'})(A + B); "
            rows.append(packed(f"{t}x2", f"v_pk_add_{op}_{t}", f"{text}D = {up}(s, (int32_t)C);", "abc"))
        fold = f"{op}_f16({op}_f16(A, B, A_, B_, IEEE, ONE), C, 0, C_, IEEE, ONE)"
        rows.append(packed("f16x2", f"v_pk_{op}3_num_f16", f"D = {fold};", "abc"))
        rows.append(packed("bf16x2", f"v_pk_{op}_num_bf16", f"D = {op}_f32(A, B, 0, ONE);"))
    rows += [packed("bf16x2", f"v_pk_{op}_bf16", f"D = A {sign} B;") for op, sign in (("add", "+"), ("mul", "*"))]
    return [*rows, packed("bf16x2", "v_pk_fma_bf16", "D = fma_f32(A, B, C);", "abc")]


def _mixed() -> list[Op]:
    """op_sel_hi selects per source f16 (op_sel: which half) or f32; on gfx900 without fusing (v_mad_mix)."""
    return [
        row("v_mad_mix_f32", "d:f32, a:b32, b:b32, c:b32", Call("valu_mad_mix_all", modifies=True)),
        row("v_mad_mixlo_f16", "d:b32, a:b32, b:b32, c:b32", Call("valu_mad_mixlo_all", modifies=True)),
        row("v_mad_mixhi_f16", "d:b32, a:b32, b:b32, c:b32", Call("valu_mad_mixhi_all", modifies=True)),
        row("v_fma_mix_f32", "d:f32, a:b32, b:b32, c:b32", Call("valu_fma_mix_all", modifies=True)),
        row("v_fma_mixlo_f16", "d:b32, a:b32, b:b32, c:b32", Call("valu_fma_mixlo_all", modifies=True)),
        row("v_fma_mixhi_f16", "d:b32, a:b32, b:b32, c:b32", Call("valu_fma_mixhi_all", modifies=True)),
    ]


_SUM = "D = CLAMP ? sat_i32(t) : (int32_t)t;"
_USUM = "D = CLAMP ? sat_u32(t) : (uint32_t)t;"


def _dot() -> list[Op]:
    return [
        row("v_dot2_f32_f16", "d:f32, a:f16x2, b:f16x2, c:f32", "D = (C + AL * BL) + AH * BH;"),
        row("v_dot2_f32_bf16", "d:f32, a:bf16x2, b:bf16x2, c:f32", "D = (C + AL * BL) + AH * BH;"),
        row("v_dot2_i32_i16", "d:i32, a:i16x2, b:i16x2, c:i32",
            f"int64_t t = (int64_t)AL * BL + (int64_t)AH * BH + C; {_SUM}"),
        row("v_dot2_u32_u16", "d:u32, a:u16x2, b:u16x2, c:u32",
            "uint64_t t = (uint64_t)(uint16_t)AL * (uint16_t)BL + (uint64_t)(uint16_t)AH * (uint16_t)BH + C; " + _USUM),
        row("v_dot4_i32_i8", "d:i32, a:b32, b:b32, c:i32", f"int64_t t = dot4_i8(A, B) + (int64_t)C; {_SUM}"),
        row("v_dot4_u32_u8", "d:u32, a:b32, b:b32, c:u32", f"uint64_t t = dot4_u8(A, B) + (uint64_t)C; {_USUM}"),
        row("v_dot8_i32_i4", "d:i32, a:b32, b:b32, c:i32", f"int64_t t = dot8_i4(A, B) + (int64_t)C; {_SUM}"),
        row("v_dot8_u32_u4", "d:u32, a:b32, b:b32, c:u32", f"uint64_t t = dot8_u4(A, B) + (uint64_t)C; {_USUM}"),
        row("v_dot4_i32_iu8", "d:i32, a:b32, b:b32, c:i32", Call("valu_dot4_iu8_all", modifies=True)),
        row("v_dot8_i32_iu4", "d:i32, a:b32, b:b32, c:i32", Call("valu_dot8_iu4_all", modifies=True)),
    ]  # fmt: skip


def ops() -> list[Op]:
    return [*_integer(), *_float(), *_gfx1250(), *_mixed(), *_dot()]
