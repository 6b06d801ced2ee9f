"""FLAT, GLOBAL and SCRATCH instructions. Semantics name a function of runtime/vmem/vmem.h and its arguments."""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op

#: (gfx11 name, gfx9 name, gfx11 opcode, gfx9 opcode, kind, register type)
LOADS = [
    ("load_u8", "load_ubyte", 0x10, 0x10, "LOAD_U8", "b32"),
    ("load_i8", "load_sbyte", 0x11, 0x11, "LOAD_I8", "b32"),
    ("load_u16", "load_ushort", 0x12, 0x12, "LOAD_U16", "b32"),
    ("load_i16", "load_sshort", 0x13, 0x13, "LOAD_I16", "b32"),
    ("load_b32", "load_dword", 0x14, 0x14, "LOAD_B32", "b32"),
    ("load_b64", "load_dwordx2", 0x15, 0x15, "LOAD_B64", "b64"),
    ("load_b96", "load_dwordx3", 0x16, 0x16, "LOAD_B96", "b96"),
    ("load_b128", "load_dwordx4", 0x17, 0x17, "LOAD_B128", "b128"),
    ("load_d16_u8", "load_ubyte_d16", 0x1E, 0x20, "LOAD_D16_U8", "b32"),
    ("load_d16_i8", "load_sbyte_d16", 0x1F, 0x22, "LOAD_D16_I8", "b32"),
    ("load_d16_b16", "load_short_d16", 0x20, 0x24, "LOAD_D16", "b32"),
    ("load_d16_hi_u8", "load_ubyte_d16_hi", 0x21, 0x21, "LOAD_D16_HI_U8", "b32"),
    ("load_d16_hi_i8", "load_sbyte_d16_hi", 0x22, 0x23, "LOAD_D16_HI_I8", "b32"),
    ("load_d16_hi_b16", "load_short_d16_hi", 0x23, 0x25, "LOAD_D16_HI", "b32"),
]
STORES = [
    ("store_b8", "store_byte", 0x18, 0x18, "STORE_B8", "b32"),
    ("store_b16", "store_short", 0x19, 0x1A, "STORE_B16", "b32"),
    ("store_b32", "store_dword", 0x1A, 0x1C, "STORE_B32", "b32"),
    ("store_b64", "store_dwordx2", 0x1B, 0x1D, "STORE_B64", "b64"),
    ("store_b96", "store_dwordx3", 0x1C, 0x1E, "STORE_B96", "b96"),
    ("store_b128", "store_dwordx4", 0x1D, 0x1F, "STORE_B128", "b128"),
    ("store_d16_hi_b8", "store_byte_d16_hi", 0x24, 0x19, "STORE_D16_HI_B8", "b32"),
    ("store_d16_hi_b16", "store_short_d16_hi", 0x25, 0x1B, "STORE_D16_HI_B16", "b32"),
]
#: (gfx11 name, gfx9 name, gfx11 32-bit and 64-bit opcodes, gfx9 32-bit opcode (64-bit: + 0x20), operation)
INTEGER_ATOMICS = [
    ("swap_b", "swap", 0x33, 0x41, 0x40, "ATOMIC_SWAP"),
    ("cmpswap_b", "cmpswap", 0x34, 0x42, 0x41, "ATOMIC_CMPSWAP"),
    ("add_u", "add", 0x35, 0x43, 0x42, "ATOMIC_ADD"),
    ("sub_u", "sub", 0x36, 0x44, 0x43, "ATOMIC_SUB"),
    ("min_i", "smin", 0x38, 0x45, 0x44, "ATOMIC_MIN_I"),
    ("min_u", "umin", 0x39, 0x46, 0x45, "ATOMIC_MIN_U"),
    ("max_i", "smax", 0x3A, 0x47, 0x46, "ATOMIC_MAX_I"),
    ("max_u", "umax", 0x3B, 0x48, 0x47, "ATOMIC_MAX_U"),
    ("and_b", "and", 0x3C, 0x49, 0x48, "ATOMIC_AND"),
    ("or_b", "or", 0x3D, 0x4A, 0x49, "ATOMIC_OR"),
    ("xor_b", "xor", 0x3E, 0x4B, 0x4A, "ATOMIC_XOR"),
    ("inc_u", "inc", 0x3F, 0x4C, 0x4B, "ATOMIC_INC"),
    ("dec_u", "dec", 0x40, 0x4D, 0x4C, "ATOMIC_DEC"),
]
#: (name, gfx11 opcode, gfx9 opcode, operation, bits)
FLOAT_ATOMICS = [
    ("csub_u32", 0x37, None, "ATOMIC_CSUB", 32),
    ("cmpswap_f32", 0x50, None, "ATOMIC_CMPSWAP_F", 32),
    ("min_f32", 0x51, None, "ATOMIC_MIN_F", 32),
    ("max_f32", 0x52, None, "ATOMIC_MAX_F", 32),
    ("add_f32", 0x56, 0x4D, "ATOMIC_ADD_F", 32),
    ("pk_add_f16", None, 0x4E, "ATOMIC_PK_ADD_F16", 32),
    ("add_f64", None, 0x4F, "ATOMIC_ADD_F", 64),
    ("min_f64", None, 0x50, "ATOMIC_MIN_F", 64),
    ("max_f64", None, 0x51, "ATOMIC_MAX_F", 64),
    ("pk_add_bf16", None, 0x52, "ATOMIC_PK_ADD_BF16", 32),
    ("cmpswap_f64", None, None, "ATOMIC_CMPSWAP_F", 64),
    ("cond_sub_u32", None, None, "ATOMIC_COND_SUB", 32),
]


def memory_rows(prefix: str, fmt: str) -> list[Op]:
    """Loads and stores of one format ("flat", "FLAT"), which has the opcodes in common with its siblings."""
    rows = [
        Op(f"{prefix}_{name}", fmt, f"d:{t}, a:b64", f"{prefix}_load({kind})", gfx9=g9, gfx11=g11,
           names={"gfx9": f"{prefix}_{old}"})
        for name, old, g11, g9, kind, t in LOADS
    ]  # fmt: skip
    return rows + [
        Op(f"{prefix}_{name}", fmt, f"a:b64, b:{t}", f"{prefix}_store({kind})", gfx9=g9, gfx11=g11,
           names={"gfx9": f"{prefix}_{old}"})
        for name, old, g11, g9, kind, t in STORES
    ]  # fmt: skip


def atomic_rows(prefix: str, fmt: str) -> list[Op]:
    """Atomic operations of one format."""
    rows = []
    for name, old, g11_32, g11_64, g9, op in INTEGER_ATOMICS:
        for bits, g11, code, suffix in ((32, g11_32, g9, ""), (64, g11_64, g9 + 0x20, "_x2")):
            data = bits * 2 if op == "ATOMIC_CMPSWAP" else bits
            rows.append(
                Op(f"{prefix}_atomic_{name}{bits}", fmt, f"d:b{bits}, a:b64, b:b{data}",
                   f"{prefix}_atomic({op}, {bits})", gfx9=code, gfx11=g11,
                   names={"gfx9": f"{prefix}_atomic_{old}{suffix}"})
            )  # fmt: skip
    for name, float11, float9, op, bits in FLOAT_ATOMICS:
        if name == "csub_u32" and prefix == "flat":
            float11 = None
        data = bits * 2 if op == "ATOMIC_CMPSWAP_F" else bits
        rows.append(Op(f"{prefix}_atomic_{name}", fmt, f"d:b{bits}, a:b64, b:b{data}",
                       f"{prefix}_atomic({op}, {bits})", gfx9=float9, gfx11=float11))  # fmt: skip
    return rows


#: Loads from global memory to LDS; x3 and x4 are gfx950's.
LDS_LOADS = [
    ("ubyte", 0x26, "LOAD_U8"), ("sbyte", 0x27, "LOAD_I8"), ("ushort", 0x28, "LOAD_U16"), ("sshort", 0x29, "LOAD_I16"),
    ("dword", 0x2A, "LOAD_B32"), ("dwordx4", 0x7D, "LOAD_B128"), ("dwordx3", 0x7E, "LOAD_B96"),
]  # fmt: skip

OPS = [
    *memory_rows("flat", "FLAT"), *memory_rows("global", "GLOBAL"), *memory_rows("scratch", "SCRATCH"),
    *atomic_rows("flat", "FLAT"), *atomic_rows("global", "GLOBAL"),
    *[Op(f"global_load_lds_{name}", "GLOBAL", "a:b64", f"global_load_lds({kind})", gfx9=code)
      for name, code, kind in LDS_LOADS],
    *[Op(f"global_{name}", "GLOBAL", "", "fence()") for name in ("inv", "wb", "wbinv")],
    # How 8-bit elements change places (b64) is not documented.
    Op("global_load_tr_b64", "GLOBAL", "d:b64, a:b64", ""),
    Op("global_load_tr_b128", "GLOBAL", "d:b128, a:b64", "global_load_transposed(LOAD_B128)"),
    # Up to 32 registers, as M0 says.
    *[Op(f"{prefix}_load_block", fmt, "d:b32, a:b64", f"{prefix}_block(false)")
      for prefix, fmt in (("global", "GLOBAL"), ("scratch", "SCRATCH"))],
    *[Op(f"{prefix}_store_block", fmt, "a:b64, b:b32", f"{prefix}_block(true)")
      for prefix, fmt in (("global", "GLOBAL"), ("scratch", "SCRATCH"))],
    Op("global_load_addtid_b32", "GLOBAL", "d:b32", "global_addtid(false)", gfx11=0x28),
    Op("global_store_addtid_b32", "GLOBAL", "b:b32", "global_addtid(true)", gfx11=0x29),
]  # fmt: skip
