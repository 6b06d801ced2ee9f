"""VOP3P: packed and mixed-precision instructions, dot products. Opcodes: GFX9, GFX11."""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op


def row(name: str, operands: str, semantics: str, gfx9: int | None, gfx11: int | None, *, gfx9_name: str = "") -> Op:
    """A VOP3P row; `gfx9_name`: the mnemonic there, where it differs."""
    names = {"gfx9": gfx9_name} if gfx9_name else {}
    return Op(name, "VOP3P", operands, semantics, gfx9=gfx9, gfx11=gfx11, names=names)


def packed(typ: str, name: str, semantics: str, opcode: int, sources: str = "ab") -> Op:
    """A row with all operands of one type and the same opcode in both generations."""
    operands = ", ".join(f"{n}:{typ}" for n in "d" + sources)
    return row(name, operands, semantics, opcode, opcode)


INTEGER = [
    packed("i16x2", "v_pk_mad_i16", "D = CLAMP ? sat_i16(sat_i32((int64_t)A * B + C)) : A * B + C;", 0, "abc"),
    packed("u16x2", "v_pk_mul_lo_u16", "D = A * B;", 1),
    packed("i16x2", "v_pk_add_i16", "D = CLAMP ? sat_i16(A + B) : A + B;", 2),
    packed("i16x2", "v_pk_sub_i16", "D = CLAMP ? sat_i16(A - B) : A - B;", 3),
    packed("u16x2", "v_pk_lshlrev_b16", "D = B << (A & 15);", 4),
    packed("u16x2", "v_pk_lshrrev_b16", "D = B >> (A & 15);", 5),
    packed("i16x2", "v_pk_ashrrev_i16", "D = B >> (A & 15);", 6),
    packed("i16x2", "v_pk_max_i16", "D = MAX(A, B);", 7),
    packed("i16x2", "v_pk_min_i16", "D = MIN(A, B);", 8),
    packed("u16x2", "v_pk_mad_u16", "D = CLAMP ? MIN((uint64_t)A * B + C, 65535) : (uint32_t)A * B + C;", 9, "abc"),
    packed("u16x2", "v_pk_add_u16", "D = CLAMP ? sat_u16(A + B) : A + B;", 10),
    packed("u16x2", "v_pk_sub_u16", "D = CLAMP ? sat_u16(A - B) : A - B;", 11),
    packed("u16x2", "v_pk_max_u16", "D = MAX(A, B);", 12),
    packed("u16x2", "v_pk_min_u16", "D = MIN(A, B);", 13),
]

FLOAT = [
    packed("f16x2", "v_pk_fma_f16", "D = fma_f16(A, B, C, NEAREST);", 14, "abc"),
    packed("f16x2", "v_pk_add_f16", "D = A + B;", 15),
    packed("f16x2", "v_pk_mul_f16", "D = A * B;", 16),
    packed("f16x2", "v_pk_min_f16", "D = min_f16(A, B, A_, B_, IEEE, ONE);", 17),
    packed("f16x2", "v_pk_max_f16", "D = max_f16(A, B, A_, B_, IEEE, ONE);", 18),
    row("v_pk_fma_f32", "d:f32x2, a:f32x2, b:f32x2, c:f32x2", "D = fma_f32(A, B, C);", 48, None),
    row("v_pk_mul_f32", "d:f32x2, a:f32x2, b:f32x2", "D = A * B;", 49, None),
    row("v_pk_add_f32", "d:f32x2, a:f32x2, b:f32x2", "D = A + B;", 50, None),
    row("v_pk_mov_b32", "d:u32x2, a:u32x2, b:u32x2", "CALL(valu_pk_mov_all)", 51, None),
]

#: op_sel_hi says per source whether it is f16 (op_sel: which half) or f32; on gfx900 without fusing (v_mad_mix).
MIXED = [
    row("v_fma_mix_f32", "d:f32, a:b32, b:b32, c:b32", "CALL(valu_fma_mix_all)", 32, 32),
    row("v_fma_mixlo_f16", "d:b32, a:b32, b:b32, c:b32", "CALL(valu_fma_mixlo_all)", 33, 33),
    row("v_fma_mixhi_f16", "d:b32, a:b32, b:b32, c:b32", "CALL(valu_fma_mixhi_all)", 34, 34),
]

_SUM = "D = CLAMP ? sat_i32(t) : (int32_t)t;"
_USUM = "D = CLAMP ? sat_u32(t) : (uint32_t)t;"
DOT = [
    row("v_dot2_f32_f16", "d:f32, a:f16x2, b:f16x2, c:f32", "D = (C + AL * BL) + AH * BH;", 35, 19),
    row("v_dot2_f32_bf16", "d:f32, a:bf16x2, b:bf16x2, c:f32", "D = (C + AL * BL) + AH * BH;", 26, 26),
    row("v_dot2_i32_i16", "d:i32, a:i16x2, b:i16x2, c:i32",
        f"int64_t t = (int64_t)AL * BL + (int64_t)AH * BH + C; {_SUM}", 38, None),
    row("v_dot2_u32_u16", "d:u32, a:u16x2, b:u16x2, c:u32",
        "uint64_t t = (uint64_t)(uint16_t)AL * (uint16_t)BL + (uint64_t)(uint16_t)AH * (uint16_t)BH + C; " + _USUM,
        39, None),
    row("v_dot4_i32_i8", "d:i32, a:b32, b:b32, c:i32", f"int64_t t = dot4_i8(A, B) + (int64_t)C; {_SUM}", 40, None),
    row("v_dot4_u32_u8", "d:u32, a:b32, b:b32, c:u32", f"uint64_t t = dot4_u8(A, B) + (uint64_t)C; {_USUM}", 41, 23),
    row("v_dot8_i32_i4", "d:i32, a:b32, b:b32, c:i32", f"int64_t t = dot8_i4(A, B) + (int64_t)C; {_SUM}", 42, None),
    row("v_dot8_u32_u4", "d:u32, a:b32, b:b32, c:u32", f"uint64_t t = dot8_u4(A, B) + (uint64_t)C; {_USUM}", 43, 25),
    row("v_dot4_i32_iu8", "d:i32, a:b32, b:b32, c:i32", "CALL(valu_dot4_iu8_all)", None, 22),
    row("v_dot8_i32_iu4", "d:i32, a:b32, b:b32, c:i32", "CALL(valu_dot8_iu4_all)", None, 24),
]  # fmt: skip

OPS = [*INTEGER, *FLOAT, *MIXED, *DOT]
