"""Scalar ALU instructions: SOP1, SOP2, SOPC.

Semantics: C over A, B (values of the operands' types), D (the destination; its old value where `d=`), SCC (0 or 1),
and in SOP1 EXEC (of A's width). Helpers (runtime/engine/scalar.h) are lower-case functions.
"""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op

_NZ = " SCC = D != 0;"


def _row(fmt: str, name: str, gfx9: int | None, gfx11: int | None, operands: str, semantics: str, old: str = "") -> Op:
    """A row; `old` is the mnemonic on GFX9 where it differs."""
    return Op(name, fmt, operands, semantics, gfx9=gfx9, gfx11=gfx11, names={"gfx9": old} if old else {})


def _pair(
    fmt: str, name: str, gfx9: tuple[int | None, int | None], gfx11: tuple[int | None, int | None], operands: str,
    semantics: str, old: str = "",
) -> list[Op]:  # fmt: skip
    """The 32-bit and 64-bit rows: `{n}` stands for the width."""
    return [
        _row(fmt, name.format(n=n), gfx9[k], gfx11[k], operands.format(n=n), semantics.format(n=n), old.format(n=n))
        for k, n in enumerate((32, 64))
    ]


_SOP1_AB = "d:b{n}, a:b{n}"
_SOP2 = "d:b{n}, a:b{n}, b:b{n}"

SOP1 = [
    *_pair("SOP1", "s_mov_b{n}", (0x00, 0x01), (0x00, 0x01), _SOP1_AB, "D = A;"),
    *_pair("SOP1", "s_cmov_b{n}", (0x02, 0x03), (0x02, 0x03), "d=:b{n}, a:b{n}", "if (SCC) D = A;"),
    *_pair("SOP1", "s_not_b{n}", (0x04, 0x05), (0x1E, 0x1F), _SOP1_AB, "D = ~A;" + _NZ),
    *_pair("SOP1", "s_wqm_b{n}", (0x06, 0x07), (0x1C, 0x1D), _SOP1_AB, "D = whole_quads(A);" + _NZ),
    *_pair("SOP1", "s_brev_b{n}", (0x08, 0x09), (0x04, 0x05), _SOP1_AB, "D = reverse_bits{n}(A);"),
    *_pair("SOP1", "s_bcnt0_i32_b{n}", (0x0A, 0x0B), (0x16, 0x17), "d:i32, a:b{n}", "D = {n} - count_ones(A);" + _NZ),
    *_pair("SOP1", "s_bcnt1_i32_b{n}", (0x0C, 0x0D), (0x18, 0x19), "d:i32, a:b{n}", "D = count_ones(A);" + _NZ),
    *_pair("SOP1", "s_ff0_i32_b{n}", (0x0E, 0x0F), (None, None), "d:i32, a:b{n}", "D = find_low{n}(~A);"),
    *_pair("SOP1", "s_ctz_i32_b{n}", (0x10, 0x11), (0x08, 0x09), "d:i32, a:b{n}", "D = find_low{n}(A);",
           old="s_ff1_i32_b{n}"),
    *_pair("SOP1", "s_clz_i32_u{n}", (0x12, 0x13), (0x0A, 0x0B), "d:i32, a:b{n}", "D = find_high{n}(A);",
           old="s_flbit_i32_b{n}"),
    _row("SOP1", "s_cls_i32", 0x14, 0x0C, "d:i32, a:i32", "D = sign_run32(A);", old="s_flbit_i32"),
    _row("SOP1", "s_cls_i32_i64", 0x15, 0x0D, "d:i32, a:i64", "D = sign_run64(A);", old="s_flbit_i32_i64"),
    _row("SOP1", "s_sext_i32_i8", 0x16, 0x0E, "d:i32, a:i32", "D = (int8_t)A;"),
    _row("SOP1", "s_sext_i32_i16", 0x17, 0x0F, "d:i32, a:i32", "D = (int16_t)A;"),
    _row("SOP1", "s_bitset0_b32", 0x18, 0x10, "d=:b32, a:b32", "D &= ~(1u << (A & 31));"),
    _row("SOP1", "s_bitset0_b64", 0x19, 0x11, "d=:b64, a:b32", "D &= ~(UINT64_C(1) << (A & 63));"),
    _row("SOP1", "s_bitset1_b32", 0x1A, 0x12, "d=:b32, a:b32", "D |= 1u << (A & 31);"),
    _row("SOP1", "s_bitset1_b64", 0x1B, 0x13, "d=:b64, a:b32", "D |= UINT64_C(1) << (A & 63);"),
    _row("SOP1", "s_getpc_b64", 0x1C, 0x47, "d:b64", "D = PC_NEXT;"),
    _row("SOP1", "s_setpc_b64", 0x1D, 0x48, "a:b64", "JUMP(A);"),
    _row("SOP1", "s_swappc_b64", 0x1E, 0x49, "d:b64, a:b64", "D = PC_NEXT; WRITE_D; JUMP(A);"),
    _row("SOP1", "s_rfe_b64", 0x1F, 0x4A, "a:b64", ""),
    *_pair("SOP1", "s_quadmask_b{n}", (0x28, 0x29), (0x1A, 0x1B), _SOP1_AB, "D = quad_mask(A);" + _NZ),
    *_pair("SOP1", "s_movrels_b{n}", (0x2A, 0x2B), (0x40, 0x41), _SOP1_AB,
           "D = relative_read{n}(w, i->src[0] + M0);"),
    *_pair("SOP1", "s_movreld_b{n}", (0x2C, 0x2D), (0x42, 0x43), _SOP1_AB,
           "relative_write{n}(w, i->dst + M0, A); return NEXT(i); D = 0;"),
    _row("SOP1", "s_abs_i32", 0x30, 0x15, "d:b32, a:i32", "D = A < 0 ? 0u - (uint32_t)A : (uint32_t)A;" + _NZ),
    _row("SOP1", "s_bitreplicate_b64_b32", 0x37, 0x14, "d:b64, a:b32", "D = replicate_bits(A);"),
    _row("SOP1", "s_sendmsg_rtn_b32", None, 0x4C, "d:b32, a:b32", "D = (uint32_t)message_reply(w, MESSAGE);"),
    _row("SOP1", "s_sendmsg_rtn_b64", None, 0x4D, "d:b64, a:b32", "D = message_reply(w, MESSAGE);"),
]  # fmt: skip

#: EXEC operations: (name with {n}, gfx9 b64, gfx11 b32, gfx11 b64, new EXEC, gfx9 name)
_EXEC_OPS = [
    ("and", 0x20, 0x20, 0x21, "A & EXEC", ""),
    ("or", 0x21, 0x22, 0x23, "A | EXEC", ""),
    ("xor", 0x22, 0x24, 0x25, "A ^ EXEC", ""),
    ("and_not1", 0x23, 0x30, 0x31, "A & ~EXEC", "andn2"),
    ("or_not1", 0x24, 0x32, 0x33, "A | ~EXEC", "orn2"),
    ("nand", 0x25, 0x26, 0x27, "~(A & EXEC)", ""),
    ("nor", 0x26, 0x28, 0x29, "~(A | EXEC)", ""),
    ("xnor", 0x27, 0x2A, 0x2B, "~(A ^ EXEC)", ""),
    ("and_not0", 0x33, 0x2C, 0x2D, "~A & EXEC", "andn1"),
    ("or_not0", 0x34, 0x2E, 0x2F, "~A | EXEC", "orn1"),
]
SOP1 += [
    op
    for name, g9, g11_32, g11_64, value, old in _EXEC_OPS
    for op in _pair("SOP1", f"s_{name}_saveexec_b{{n}}", (None, g9), (g11_32, g11_64), _SOP1_AB,
                    f"D = EXEC; EXEC = {value}; SCC = EXEC != 0;", f"s_{old}_saveexec_b{{n}}" if old else "")
]  # fmt: skip
SOP1 += [
    op
    for name, g9, g11_32, g11_64, value, old in [
        ("and_not0", 0x35, 0x34, 0x35, "~A & EXEC", "andn1"),
        ("and_not1", 0x36, 0x36, 0x37, "A & ~EXEC", "andn2"),
    ]
    for op in _pair("SOP1", f"s_{name}_wrexec_b{{n}}", (None, g9), (g11_32, g11_64), _SOP1_AB,
                    f"EXEC = {value}; D = EXEC; SCC = D != 0;", f"s_{old}_wrexec_b{{n}}")
]  # fmt: skip

_U = "d:u32, a:u32, b:u32"
_I = "d:i32, a:i32, b:i32"

SOP2 = [
    _row("SOP2", "s_add_u32", 0x00, 0x00, _U, "D = A + B; SCC = D < A;"),
    _row("SOP2", "s_sub_u32", 0x01, 0x01, _U, "D = A - B; SCC = A < B;"),
    _row("SOP2", "s_add_i32", 0x02, 0x02, _I, "SCC = __builtin_add_overflow(A, B, &D);"),
    _row("SOP2", "s_sub_i32", 0x03, 0x03, _I, "SCC = __builtin_sub_overflow(A, B, &D);"),
    _row("SOP2", "s_addc_u32", 0x04, 0x04, _U, "uint64_t t = (uint64_t)A + B + SCC; D = (uint32_t)t; SCC = t >> 32;"),
    _row("SOP2", "s_subb_u32", 0x05, 0x05, _U,
         "uint64_t t = (uint64_t)A - B - SCC; D = (uint32_t)t; SCC = t >> 32 & 1;"),
    _row("SOP2", "s_min_i32", 0x06, 0x12, _I, "SCC = A < B; D = SCC ? A : B;"),
    _row("SOP2", "s_min_u32", 0x07, 0x13, _U, "SCC = A < B; D = SCC ? A : B;"),
    _row("SOP2", "s_max_i32", 0x08, 0x14, _I, "SCC = A >= B; D = SCC ? A : B;"),
    _row("SOP2", "s_max_u32", 0x09, 0x15, _U, "SCC = A >= B; D = SCC ? A : B;"),
    *_pair("SOP2", "s_cselect_b{n}", (0x0A, 0x0B), (0x30, 0x31), _SOP2, "D = SCC ? A : B;"),
    *_pair("SOP2", "s_and_b{n}", (0x0C, 0x0D), (0x16, 0x17), _SOP2, "D = A & B;" + _NZ),
    *_pair("SOP2", "s_or_b{n}", (0x0E, 0x0F), (0x18, 0x19), _SOP2, "D = A | B;" + _NZ),
    *_pair("SOP2", "s_xor_b{n}", (0x10, 0x11), (0x1A, 0x1B), _SOP2, "D = A ^ B;" + _NZ),
    *_pair("SOP2", "s_and_not1_b{n}", (0x12, 0x13), (0x22, 0x23), _SOP2, "D = A & ~B;" + _NZ, "s_andn2_b{n}"),
    *_pair("SOP2", "s_or_not1_b{n}", (0x14, 0x15), (0x24, 0x25), _SOP2, "D = A | ~B;" + _NZ, "s_orn2_b{n}"),
    *_pair("SOP2", "s_nand_b{n}", (0x16, 0x17), (0x1C, 0x1D), _SOP2, "D = ~(A & B);" + _NZ),
    *_pair("SOP2", "s_nor_b{n}", (0x18, 0x19), (0x1E, 0x1F), _SOP2, "D = ~(A | B);" + _NZ),
    *_pair("SOP2", "s_xnor_b{n}", (0x1A, 0x1B), (0x20, 0x21), _SOP2, "D = ~(A ^ B);" + _NZ),
    _row("SOP2", "s_lshl_b32", 0x1C, 0x08, "d:b32, a:b32, b:u32", "D = A << (B & 31);" + _NZ),
    _row("SOP2", "s_lshl_b64", 0x1D, 0x09, "d:b64, a:b64, b:u32", "D = A << (B & 63);" + _NZ),
    _row("SOP2", "s_lshr_b32", 0x1E, 0x0A, "d:b32, a:b32, b:u32", "D = A >> (B & 31);" + _NZ),
    _row("SOP2", "s_lshr_b64", 0x1F, 0x0B, "d:b64, a:b64, b:u32", "D = A >> (B & 63);" + _NZ),
    _row("SOP2", "s_ashr_i32", 0x20, 0x0C, "d:i32, a:i32, b:u32", "D = A >> (B & 31);" + _NZ),
    _row("SOP2", "s_ashr_i64", 0x21, 0x0D, "d:i64, a:i64, b:u32", "D = A >> (B & 63);" + _NZ),
    _row("SOP2", "s_bfm_b32", 0x22, 0x2A, "d:b32, a:b32, b:b32", "D = ((1u << (A & 31)) - 1) << (B & 31);"),
    _row("SOP2", "s_bfm_b64", 0x23, 0x2B, "d:b64, a:b32, b:b32",
         "D = ((UINT64_C(1) << (A & 63)) - 1) << (B & 63);"),
    _row("SOP2", "s_mul_i32", 0x24, 0x2C, _U, "D = A * B;"),
    _row("SOP2", "s_bfe_u32", 0x25, 0x26, _U, "D = (uint32_t)bit_field(A, B & 31, B >> 16 & 127);" + _NZ),
    _row("SOP2", "s_bfe_i32", 0x26, 0x27, "d:i32, a:i32, b:u32",
         "D = (int32_t)signed_bit_field((int64_t)A, B & 31, B >> 16 & 127, 32);" + _NZ),
    _row("SOP2", "s_bfe_u64", 0x27, 0x28, "d:u64, a:u64, b:u32", "D = bit_field(A, B & 63, B >> 16 & 127);" + _NZ),
    _row("SOP2", "s_bfe_i64", 0x28, 0x29, "d:i64, a:i64, b:u32",
         "D = signed_bit_field(A, B & 63, B >> 16 & 127, 64);" + _NZ),
    _row("SOP2", "s_absdiff_i32", 0x2A, 0x06, "d:b32, a:u32, b:u32",
         "D = A - B; if ((int32_t)D < 0) D = 0u - D;" + _NZ),
    _row("SOP2", "s_mul_hi_u32", 0x2C, 0x2D, _U, "D = (uint32_t)((uint64_t)A * B >> 32);"),
    _row("SOP2", "s_mul_hi_i32", 0x2D, 0x2E, _I, "D = (int32_t)((int64_t)A * B >> 32);"),
    *[_row("SOP2", f"s_lshl{k}_add_u32", 0x2D + k, 0x0D + k, _U,
           f"uint64_t t = ((uint64_t)A << {k}) + B; D = (uint32_t)t; SCC = t >> 32 != 0;") for k in (1, 2, 3, 4)],
    _row("SOP2", "s_pack_ll_b32_b16", 0x32, 0x32, _U, "D = (A & 0xffff) | B << 16;"),
    _row("SOP2", "s_pack_lh_b32_b16", 0x33, 0x33, _U, "D = (A & 0xffff) | (B & 0xffff0000);"),
    _row("SOP2", "s_pack_hh_b32_b16", 0x34, 0x34, _U, "D = A >> 16 | (B & 0xffff0000);"),
    _row("SOP2", "s_pack_hl_b32_b16", None, 0x35, _U, "D = A >> 16 | B << 16;"),
]  # fmt: skip

_COMPARE = [("eq", "=="), ("lg", "!="), ("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<=")]

SOPC = [
    *[_row("SOPC", f"s_cmp_{name}_{t}", base + k, base + k, f"a:{t}, b:{t}", f"SCC = A {c} B;")
      for t, base in (("i32", 0x00), ("u32", 0x06)) for k, (name, c) in enumerate(_COMPARE)],
    _row("SOPC", "s_bitcmp0_b32", 0x0C, 0x0C, "a:b32, b:u32", "SCC = !(A >> (B & 31) & 1);"),
    _row("SOPC", "s_bitcmp1_b32", 0x0D, 0x0D, "a:b32, b:u32", "SCC = A >> (B & 31) & 1;"),
    _row("SOPC", "s_bitcmp0_b64", 0x0E, 0x0E, "a:b64, b:u32", "SCC = !(A >> (B & 63) & 1);"),
    _row("SOPC", "s_bitcmp1_b64", 0x0F, 0x0F, "a:b64, b:u32", "SCC = A >> (B & 63) & 1;"),
    _row("SOPC", "s_setvskip", 0x10, None, "a:b32, b:b32", ""),
    _row("SOPC", "s_set_gpr_idx_on", 0x11, None, "a:b32, b:b32",  # the second field is a 4-bit immediate
         "w->s[S_M0] = (M0 & ~0xf0ffu) | (A & 255) | (i->src[1] & 15u) << 12; w->mode |= 1u << 27;"),
    _row("SOPC", "s_cmp_eq_u64", 0x12, 0x10, "a:u64, b:u64", "SCC = A == B;"),
    _row("SOPC", "s_cmp_lg_u64", 0x13, 0x11, "a:u64, b:u64", "SCC = A != B;"),
]  # fmt: skip

OPS = SOP1 + SOP2 + SOPC
