"""DS instructions: local memory and exchange between lanes. Semantics name a function of runtime/vmem/vmem.h."""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op


def _row(name: str, gfx9: int | None, gfx11: int | None, operands: str, semantics: str, old: str = "") -> Op:
    return Op(name, "DS", operands, semantics, gfx9=gfx9, gfx11=gfx11, names={"gfx9": old} if old else {})


#: (gfx11 name, gfx9 name, gfx9 opcode, gfx11 opcode, kind, register type)
_LOADS = [
    ("load_b32", "read_b32", 0x36, 0x36, "LOAD_B32", "b32"),
    ("load_i8", "read_i8", 0x39, 0x39, "LOAD_I8", "b32"),
    ("load_u8", "read_u8", 0x3A, 0x3A, "LOAD_U8", "b32"),
    ("load_i16", "read_i16", 0x3B, 0x3B, "LOAD_I16", "b32"),
    ("load_u16", "read_u16", 0x3C, 0x3C, "LOAD_U16", "b32"),
    ("load_b64", "read_b64", 0x76, 0x76, "LOAD_B64", "b64"),
    ("load_b96", "read_b96", 0xFE, 0xFE, "LOAD_B96", "b96"),
    ("load_b128", "read_b128", 0xFF, 0xFF, "LOAD_B128", "b128"),
    ("load_u8_d16", "read_u8_d16", 0x56, 0xA2, "LOAD_D16_U8", "b32"),
    ("load_u8_d16_hi", "read_u8_d16_hi", 0x57, 0xA3, "LOAD_D16_HI_U8", "b32"),
    ("load_i8_d16", "read_i8_d16", 0x58, 0xA4, "LOAD_D16_I8", "b32"),
    ("load_i8_d16_hi", "read_i8_d16_hi", 0x59, 0xA5, "LOAD_D16_HI_I8", "b32"),
    ("load_u16_d16", "read_u16_d16", 0x5A, 0xA6, "LOAD_D16", "b32"),
    ("load_u16_d16_hi", "read_u16_d16_hi", 0x5B, 0xA7, "LOAD_D16_HI", "b32"),
]
_STORES = [
    ("store_b32", "write_b32", 0x0D, 0x0D, "STORE_B32", "b32"),
    ("store_b8", "write_b8", 0x1E, 0x1E, "STORE_B8", "b32"),
    ("store_b16", "write_b16", 0x1F, 0x1F, "STORE_B16", "b32"),
    ("store_b64", "write_b64", 0x4D, 0x4D, "STORE_B64", "b64"),
    ("store_b96", "write_b96", 0xDE, 0xDE, "STORE_B96", "b96"),
    ("store_b128", "write_b128", 0xDF, 0xDF, "STORE_B128", "b128"),
    ("store_b8_d16_hi", "write_b8_d16_hi", 0x54, 0xA0, "STORE_D16_HI_B8", "b32"),
    ("store_b16_d16_hi", "write_b16_d16_hi", 0x55, 0xA1, "STORE_D16_HI_B16", "b32"),
]
#: (name, type letter, opcode of the 32-bit form without return, operation); rtn + 0x20, 64-bit + 0x40
_ATOMICS = [
    ("add", "u", 0x00, "ATOMIC_ADD"), ("sub", "u", 0x01, "ATOMIC_SUB"), ("rsub", "u", 0x02, "ATOMIC_RSUB"),
    ("inc", "u", 0x03, "ATOMIC_INC"), ("dec", "u", 0x04, "ATOMIC_DEC"), ("min", "i", 0x05, "ATOMIC_MIN_I"),
    ("max", "i", 0x06, "ATOMIC_MAX_I"), ("min", "u", 0x07, "ATOMIC_MIN_U"), ("max", "u", 0x08, "ATOMIC_MAX_U"),
    ("and", "b", 0x09, "ATOMIC_AND"), ("or", "b", 0x0A, "ATOMIC_OR"), ("xor", "b", 0x0B, "ATOMIC_XOR"),
    ("mskor", "b", 0x0C, "ATOMIC_MSKOR"), ("cmpstore", "b", 0x10, "ATOMIC_CMPSWAP"),
    ("cmpstore", "f", 0x11, "ATOMIC_CMPSWAP_F"), ("min", "f", 0x12, "ATOMIC_MIN_F"), ("max", "f", 0x13, "ATOMIC_MAX_F"),
]  # fmt: skip
_TWO_OPERANDS = ("mskor", "cmpstore", "wrap")


def _atomics() -> list[Op]:
    rows = []
    for name, letter, base, op in _ATOMICS:
        for bits, wide in ((32, 0), (64, 0x40)):
            for rtn, step in (("", 0), ("_rtn", 0x20)):
                code = base + wide + step
                data = f"b:b{bits}, c:b{bits}" if name in _TWO_OPERANDS else f"b:b{bits}"
                operands = f"d:b{bits}, a:b32, {data}" if rtn else f"a:b32, {data}"
                old = f"ds_cmpst{rtn}_{letter}{bits}" if name == "cmpstore" else ""
                returns = "true" if rtn else "false"
                rows.append(_row(f"ds_{name}{rtn}_{letter}{bits}", code, code, operands,
                                 f"ds_atomic({op}, {bits}, {returns})", old))  # fmt: skip
    return rows


def _two_addresses() -> list[Op]:
    rows = []
    for bits, wide in ((32, 0), (64, 0x40)):
        for far, (stride, old) in enumerate((("", ""), ("_stride64", "st64"))):
            flag = "true" if far else "false"
            b = f"b{bits}"
            rows += [
                _row(f"ds_store_2addr{stride}_{b}", 0x0E + far + wide, 0x0E + far + wide, f"a:b32, b:{b}, c:{b}",
                     f"ds_store2({bits}, {flag})", f"ds_write2{old}_{b}"),
                _row(f"ds_load_2addr{stride}_{b}", 0x37 + far + wide, 0x37 + far + wide, f"d:b{2 * bits}, a:b32",
                     f"ds_load2({bits}, {flag})", f"ds_read2{old}_{b}"),
                _row(f"ds_storexchg_2addr{stride}_rtn_{b}", 0x2E + far + wide, 0x2E + far + wide,
                     f"d:b{2 * bits}, a:b32, b:{b}, c:{b}", f"ds_exchange2({bits}, {flag})",
                     f"ds_wrxchg2{old}_rtn_{b}"),
            ]  # fmt: skip
    return rows


OPS = [
    *[_row(f"ds_{name}", g9, g11, f"d:{t}, a:b32", f"ds_load({kind})", f"ds_{old}")
      for name, old, g9, g11, kind, t in _LOADS],
    *[_row(f"ds_{name}", g9, g11, f"a:b32, b:{t}", f"ds_store({kind})", f"ds_{old}")
      for name, old, g9, g11, kind, t in _STORES],
    *_two_addresses(),
    *_atomics(),
    *[_row(f"ds_storexchg_rtn_b{bits}", 0x2D + wide, 0x2D + wide, f"d:b{bits}, a:b32, b:b{bits}",
           f"ds_atomic(ATOMIC_SWAP, {bits}, true)", f"ds_wrxchg_rtn_b{bits}") for bits, wide in ((32, 0), (64, 0x40))],
    _row("ds_wrap_rtn_b32", 0x34, 0x34, "d:b32, a:b32, b:b32, c:b32", "ds_atomic(ATOMIC_WRAP, 32, true)"),
    _row("ds_add_f32", 0x15, 0x15, "a:b32, b:f32", "ds_atomic(ATOMIC_ADD_F, 32, false)"),
    _row("ds_add_rtn_f32", 0x35, 0x79, "d:f32, a:b32, b:f32", "ds_atomic(ATOMIC_ADD_F, 32, true)"),
    _row("ds_pk_add_f16", 0x17, None, "a:b32, b:b32", "ds_atomic(ATOMIC_PK_ADD_F16, 32, false)"),
    _row("ds_pk_add_rtn_f16", 0xB7, None, "d:b32, a:b32, b:b32", "ds_atomic(ATOMIC_PK_ADD_F16, 32, true)"),
    _row("ds_pk_add_bf16", 0x18, None, "a:b32, b:b32", "ds_atomic(ATOMIC_PK_ADD_BF16, 32, false)"),
    _row("ds_pk_add_rtn_bf16", 0xB8, None, "d:b32, a:b32, b:b32", "ds_atomic(ATOMIC_PK_ADD_BF16, 32, true)"),
    _row("ds_add_f64", 0x5C, None, "a:b32, b:f64", "ds_atomic(ATOMIC_ADD_F, 64, false)"),
    _row("ds_add_rtn_f64", 0x7C, None, "d:f64, a:b32, b:f64", "ds_atomic(ATOMIC_ADD_F, 64, true)"),
    _row("ds_sub_clamp_u32", None, None, "a:b32, b:b32", "ds_atomic(ATOMIC_CSUB, 32, false)"),
    _row("ds_sub_clamp_rtn_u32", None, None, "d:b32, a:b32, b:b32", "ds_atomic(ATOMIC_CSUB, 32, true)"),
    _row("ds_cond_sub_u32", None, None, "a:b32, b:b32", "ds_atomic(ATOMIC_COND_SUB, 32, false)"),
    _row("ds_cond_sub_rtn_u32", None, None, "d:b32, a:b32, b:b32", "ds_atomic(ATOMIC_COND_SUB, 32, true)"),
    _row("ds_bpermute_fi_b32", None, None, "d:b32, a:b32, b:b32", "ds_bpermute_fi()"),
    _row("ds_condxchg32_rtn_b64", 0x7E, 0x7E, "d:b64, a:b32, b:b64", "ds_condxchg32()"),
    _row("ds_nop", 0x14, 0x14, "", "fence()"),
    _row("ds_swizzle_b32", 0x3D, 0x35, "d:b32, a:b32", "ds_swizzle()"),
    _row("ds_permute_b32", 0x3E, 0xB2, "d:b32, a:b32, b:b32", "ds_permute()"),
    _row("ds_bpermute_b32", 0x3F, 0xB3, "d:b32, a:b32, b:b32", "ds_bpermute()"),
    _row("ds_store_addtid_b32", 0x1D, 0xB0, "b:b32", "ds_addtid(true)", "ds_write_addtid_b32"),
    _row("ds_load_addtid_b32", 0xB6, 0xB1, "d:b32", "ds_addtid(false)", "ds_read_addtid_b32"),
    *[_row(f"ds_read_b{size}_tr_b{bits}", None, None, f"d:b{size}, a:b32", f"ds_load_transposed(LOAD_B{size}, {bits})")
      for bits, size in ((16, 64), (8, 64), (4, 64), (6, 96))],
    _row("ds_gws_init", 0x99, 0x19, "a:b32", "ds_gws_init()"),
    _row("ds_gws_barrier", 0x9D, 0x1D, "a:b32", "ds_gws_barrier()"),
    _row("ds_consume", 0xBD, 0x3D, "d:b32", "ds_append(-1)"),
    _row("ds_append", 0xBE, 0x3E, "d:b32", "ds_append(1)"),
]  # fmt: skip
