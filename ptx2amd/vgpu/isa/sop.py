"""Scalar ALU instructions: SOP1, SOP2, SOPC.

Semantics: C over A, B (values of the operands' types), D (the destination; its old value where `d=`), SCC (0 or 1),
and in SOP1 EXEC (of A's width). Helpers (runtime/engine/scalar.h) are lower-case functions.
"""

from __future__ import annotations

from ptx2amd.records import replace
from ptx2amd.vgpu.isa.meaning import MESSAGE, Branch, Order
from ptx2amd.vgpu.isa.native import Scalar
from ptx2amd.vgpu.isa.op import Op

_NZ = " SCC = D != 0;"


def _row(fmt: str, name: str, operands: str, semantics: str, old: str = "", *, scalar: Scalar | None = None,
         pure: bool = True, order: Order | None = None) -> Op:  # fmt: skip
    """A row; `old` is the mnemonic on GFX9 if it differs; pure=False: it does more than compute."""
    names = {"gfx9": old} if old else {}
    return Op(name, fmt, operands, semantics, names=names, scalar=scalar, pure=pure, order=order)


def _pair(fmt: str, name: str, operands: str, semantics: str, old: str = "", *, how: str = "", inverted: int = 0,
          pure: bool = True) -> list[Op]:  # fmt: skip
    """The 32-bit and 64-bit rows: `{n}` is replaced by the width; `how`: native code (native.py)."""
    return [
        _row(fmt, name.format(n=n), operands.format(n=n), semantics.format(n=n), old.format(n=n),
             scalar=Scalar(how, k, inverted) if how else None, pure=pure) for k, n in enumerate((32, 64))
    ]  # fmt: skip


_SOP1_AB = "d:b{n}, a:b{n}"
_SOP2 = "d:b{n}, a:b{n}, b:b{n}"


def _sop1() -> list[Op]:
    return [
        *_pair("SOP1", "s_mov_b{n}", _SOP1_AB, "D = A;", how="MOVE"),
        *_pair("SOP1", "s_cmov_b{n}", "d=:b{n}, a:b{n}", "if (SCC) D = A;"),
        *_pair("SOP1", "s_not_b{n}", _SOP1_AB, "D = ~A;" + _NZ, how="NOT"),
        *_pair("SOP1", "s_wqm_b{n}", _SOP1_AB, "D = whole_quads(A);" + _NZ),
        *_pair("SOP1", "s_brev_b{n}", _SOP1_AB, "D = reverse_bits{n}(A);"),
        *_pair("SOP1", "s_bcnt0_i32_b{n}", "d:i32, a:b{n}", "D = {n} - count_ones(A);" + _NZ),
        *_pair("SOP1", "s_bcnt1_i32_b{n}", "d:i32, a:b{n}", "D = count_ones(A);" + _NZ),
        *_pair("SOP1", "s_ff0_i32_b{n}", "d:i32, a:b{n}", "D = find_low{n}(~A);"),
        *_pair("SOP1", "s_ctz_i32_b{n}", "d:i32, a:b{n}", "D = find_low{n}(A);",
               old="s_ff1_i32_b{n}"),
        *_pair("SOP1", "s_clz_i32_u{n}", "d:i32, a:b{n}", "D = find_high{n}(A);",
               old="s_flbit_i32_b{n}"),
        _row("SOP1", "s_cls_i32", "d:i32, a:i32", "D = sign_run32(A);", old="s_flbit_i32"),
        _row("SOP1", "s_cls_i32_i64", "d:i32, a:i64", "D = sign_run64(A);", old="s_flbit_i32_i64"),
        _row("SOP1", "s_sext_i32_i8", "d:i32, a:i32", "D = (int8_t)A;"),
        _row("SOP1", "s_sext_i32_i16", "d:i32, a:i32", "D = (int16_t)A;"),
        _row("SOP1", "s_bitset0_b32", "d=:b32, a:b32", "D &= ~(1u << (A & 31));"),
        _row("SOP1", "s_bitset0_b64", "d=:b64, a:b32", "D &= ~(UINT64_C(1) << (A & 63));"),
        _row("SOP1", "s_bitset1_b32", "d=:b32, a:b32", "D |= 1u << (A & 31);"),
        _row("SOP1", "s_bitset1_b64", "d=:b64, a:b32", "D |= UINT64_C(1) << (A & 63);"),
        _row("SOP1", "s_getpc_b64", "d:b64", "D = PC_NEXT;", pure=False),
        Op("s_add_pc_i64", "SOP1", "a:b64", "JUMP(PC_NEXT + A);", branch=Branch.ABSOLUTE),
        Op("s_get_shader_cycles_u64", "SOP1", "d:b64", "D = clock_cycles();"),
        Op("s_setpc_b64", "SOP1", "a:b64", "JUMP(A);", branch=Branch.ABSOLUTE),
        Op("s_swappc_b64", "SOP1", "d:b64, a:b64", "D = PC_NEXT; WRITE_D; JUMP(A);", branch=Branch.ABSOLUTE),
        _row("SOP1", "s_rfe_b64", "a:b64", "", pure=False),
        *_pair("SOP1", "s_quadmask_b{n}", _SOP1_AB, "D = quad_mask(A);" + _NZ),
        *_pair("SOP1", "s_movrels_b{n}", _SOP1_AB,
               "D = relative_read{n}(w, i->src[0] + M0);", pure=False),
        *_pair("SOP1", "s_movreld_b{n}", _SOP1_AB,
               "relative_write{n}(w, i->dst + M0, A); return NEXT(i); D = 0;", pure=False),
        _row("SOP1", "s_abs_i32", "d:b32, a:i32", "D = A < 0 ? 0u - (uint32_t)A : (uint32_t)A;" + _NZ,
             scalar=Scalar("ABSOLUTE")),
        _row("SOP1", "s_bitreplicate_b64_b32", "d:b64, a:b32", "D = replicate_bits(A);"),
        _row("SOP1", "s_sendmsg_rtn_b32", "d:b32, a:b32", "D = (uint32_t)message_reply(w, MESSAGE);", pure=False,
             order=MESSAGE),
        _row("SOP1", "s_sendmsg_rtn_b64", "d:b64, a:b32", "D = message_reply(w, MESSAGE);", pure=False,
             order=MESSAGE),
    ]  # fmt: skip


#: EXEC operations: name, new EXEC, GFX9's name, native code, and whether it complements EXEC.
_EXEC_OPS = [
    ("and", "A & EXEC", "", "SAVE_AND", 0), ("or", "A | EXEC", "", "SAVE_OR", 0),
    ("xor", "A ^ EXEC", "", "SAVE_XOR", 0),
    ("and_not1", "A & ~EXEC", "andn2", "SAVE_AND", 1), ("or_not1", "A | ~EXEC", "orn2", "SAVE_OR", 1),
    ("nand", "~(A & EXEC)", "", "", 0), ("nor", "~(A | EXEC)", "", "", 0), ("xnor", "~(A ^ EXEC)", "", "", 0),
    ("and_not0", "~A & EXEC", "andn1", "", 0), ("or_not0", "~A | EXEC", "orn1", "", 0),
]  # fmt: skip


def _exec(name: str, semantics: str, old: str, how: str = "", inverted: int = 0) -> list[Op]:
    rows = _pair("SOP1", f"s_{name}_b{{n}}", _SOP1_AB, semantics, old, how=how, inverted=inverted, pure=False)
    return [replace(row, writes_exec=True) for row in rows]


def _sop1_exec() -> list[Op]:
    rows = []
    for name, value, old, how, inverted in _EXEC_OPS:
        rows += _exec(f"{name}_saveexec", f"D = EXEC; EXEC = {value}; SCC = EXEC != 0;",
                      f"s_{old}_saveexec_b{{n}}" if old else "", how, inverted)  # fmt: skip
    for name, value, old in (("and_not0", "~A & EXEC", "andn1"), ("and_not1", "A & ~EXEC", "andn2")):
        rows += _exec(f"{name}_wrexec", f"EXEC = {value}; D = EXEC; SCC = D != 0;", f"s_{old}_wrexec_b{{n}}")
    return rows


_U = "d:u32, a:u32, b:u32"
_I = "d:i32, a:i32, b:i32"


def _sop2() -> list[Op]:
    return [
        _row("SOP2", "s_add_u32", _U, "D = A + B; SCC = D < A;", scalar=Scalar("ADD")),
        _row("SOP2", "s_sub_u32", _U, "D = A - B; SCC = A < B;", scalar=Scalar("SUB")),
        _row("SOP2", "s_add_i32", _I, "SCC = __builtin_add_overflow(A, B, &D);", scalar=Scalar("ADD_SIGNED")),
        _row("SOP2", "s_sub_i32", _I, "SCC = __builtin_sub_overflow(A, B, &D);", scalar=Scalar("SUB_SIGNED")),
        _row("SOP2", "s_addc_u32", _U, "uint64_t t = (uint64_t)A + B + SCC; D = (uint32_t)t; SCC = t >> 32;",
             scalar=Scalar("ADD_CARRY")),
        _row("SOP2", "s_subb_u32", _U,
             "uint64_t t = (uint64_t)A - B - SCC; D = (uint32_t)t; SCC = t >> 32 & 1;", scalar=Scalar("SUB_BORROW")),
        _row("SOP2", "s_min_i32", _I, "SCC = A < B; D = SCC ? A : B;", scalar=Scalar("CHOOSE", 4)),
        _row("SOP2", "s_min_u32", _U, "SCC = A < B; D = SCC ? A : B;", scalar=Scalar("CHOOSE", 4, 1)),
        _row("SOP2", "s_max_i32", _I, "SCC = A >= B; D = SCC ? A : B;", scalar=Scalar("CHOOSE", 3)),
        _row("SOP2", "s_max_u32", _U, "SCC = A >= B; D = SCC ? A : B;", scalar=Scalar("CHOOSE", 3, 1)),
        *_pair("SOP2", "s_cselect_b{n}", _SOP2, "D = SCC ? A : B;", how="SELECT"),
        *_pair("SOP2", "s_and_b{n}", _SOP2, "D = A & B;" + _NZ, how="AND"),
        *_pair("SOP2", "s_or_b{n}", _SOP2, "D = A | B;" + _NZ, how="OR"),
        *_pair("SOP2", "s_xor_b{n}", _SOP2, "D = A ^ B;" + _NZ, how="XOR"),
        *_pair("SOP2", "s_and_not1_b{n}", _SOP2, "D = A & ~B;" + _NZ, "s_andn2_b{n}", how="AND", inverted=1),
        *_pair("SOP2", "s_or_not1_b{n}", _SOP2, "D = A | ~B;" + _NZ, "s_orn2_b{n}", how="OR", inverted=1),
        *_pair("SOP2", "s_nand_b{n}", _SOP2, "D = ~(A & B);" + _NZ),
        *_pair("SOP2", "s_nor_b{n}", _SOP2, "D = ~(A | B);" + _NZ),
        *_pair("SOP2", "s_xnor_b{n}", _SOP2, "D = ~(A ^ B);" + _NZ),
        _row("SOP2", "s_lshl_b32", "d:b32, a:b32, b:u32", "D = A << (B & 31);" + _NZ, scalar=Scalar("SHIFT_LEFT")),
        _row("SOP2", "s_lshl_b64", "d:b64, a:b64, b:u32", "D = A << (B & 63);" + _NZ, scalar=Scalar("SHIFT_LEFT", 1)),
        _row("SOP2", "s_lshr_b32", "d:b32, a:b32, b:u32", "D = A >> (B & 31);" + _NZ, scalar=Scalar("SHIFT_RIGHT")),
        _row("SOP2", "s_lshr_b64", "d:b64, a:b64, b:u32", "D = A >> (B & 63);" + _NZ, scalar=Scalar("SHIFT_RIGHT", 1)),
        _row("SOP2", "s_ashr_i32", "d:i32, a:i32, b:u32", "D = A >> (B & 31);" + _NZ, scalar=Scalar("SHIFT_SIGNED")),
        _row("SOP2", "s_ashr_i64", "d:i64, a:i64, b:u32", "D = A >> (B & 63);" + _NZ, scalar=Scalar("SHIFT_SIGNED", 1)),
        _row("SOP2", "s_bfm_b32", "d:b32, a:b32, b:b32", "D = ((1u << (A & 31)) - 1) << (B & 31);"),
        _row("SOP2", "s_bfm_b64", "d:b64, a:b32, b:b32",
             "D = ((UINT64_C(1) << (A & 63)) - 1) << (B & 63);"),
        _row("SOP2", "s_mul_i32", _U, "D = A * B;", scalar=Scalar("MULTIPLY")),
        _row("SOP2", "s_bfe_u32", _U, "D = (uint32_t)bit_field(A, B & 31, B >> 16 & 127);" + _NZ),
        _row("SOP2", "s_bfe_i32", "d:i32, a:i32, b:u32",
             "D = (int32_t)signed_bit_field((int64_t)A, B & 31, B >> 16 & 127, 32);" + _NZ),
        _row("SOP2", "s_bfe_u64", "d:u64, a:u64, b:u32", "D = bit_field(A, B & 63, B >> 16 & 127);" + _NZ),
        _row("SOP2", "s_bfe_i64", "d:i64, a:i64, b:u32",
             "D = signed_bit_field(A, B & 63, B >> 16 & 127, 64);" + _NZ),
        _row("SOP2", "s_absdiff_i32", "d:b32, a:u32, b:u32",
             "D = A - B; if ((int32_t)D < 0) D = 0u - D;" + _NZ),
        _row("SOP2", "s_mul_hi_u32", _U, "D = (uint32_t)((uint64_t)A * B >> 32);", scalar=Scalar("MULTIPLY_HIGH")),
        _row("SOP2", "s_mul_hi_i32", _I, "D = (int32_t)((int64_t)A * B >> 32);", scalar=Scalar("MULTIPLY_HIGH", 0, 1)),
        *[_row("SOP2", f"s_lshl{k}_add_u32", _U,
               f"uint64_t t = ((uint64_t)A << {k}) + B; D = (uint32_t)t; SCC = t >> 32 != 0;") for k in (1, 2, 3, 4)],
        _row("SOP2", "s_pack_ll_b32_b16", _U, "D = (A & 0xffff) | B << 16;"),
        _row("SOP2", "s_pack_lh_b32_b16", _U, "D = (A & 0xffff) | (B & 0xffff0000);"),
        _row("SOP2", "s_pack_hh_b32_b16", _U, "D = A >> 16 | (B & 0xffff0000);"),
        _row("SOP2", "s_pack_hl_b32_b16", _U, "D = A >> 16 | B << 16;"),
    ]  # fmt: skip


_COMPARE = [("eq", "=="), ("lg", "!="), ("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<=")]


def _sopc() -> list[Op]:
    return [
        *[_row("SOPC", f"s_cmp_{name}_{t}", f"a:{t}, b:{t}", f"SCC = A {c} B;",
               scalar=Scalar("COMPARE", k, int(t == "u32")))
          for t in ("i32", "u32") for k, (name, c) in enumerate(_COMPARE)],
        _row("SOPC", "s_bitcmp0_b32", "a:b32, b:u32", "SCC = !(A >> (B & 31) & 1);"),
        _row("SOPC", "s_bitcmp1_b32", "a:b32, b:u32", "SCC = A >> (B & 31) & 1;"),
        _row("SOPC", "s_bitcmp0_b64", "a:b64, b:u32", "SCC = !(A >> (B & 63) & 1);"),
        _row("SOPC", "s_bitcmp1_b64", "a:b64, b:u32", "SCC = A >> (B & 63) & 1;"),
        _row("SOPC", "s_setvskip", "a:b32, b:b32", "", pure=False),
        _row("SOPC", "s_set_gpr_idx_on", "a:b32, b:b32",  # the second field is a 4-bit immediate
             "w->s[S_M0] = (M0 & ~0xf0ffu) | (A & 255) | (i->src[1] & 15u) << 12; w->mode |= 1u << 27;", pure=False),
        _row("SOPC", "s_cmp_eq_u64", "a:u64, b:u64", "SCC = A == B;"),
        _row("SOPC", "s_cmp_lg_u64", "a:u64, b:u64", "SCC = A != B;"),
    ]  # fmt: skip


def ops() -> list[Op]:
    return [*_sop1(), *_sop1_exec(), *_sop2(), *_sopc()]
