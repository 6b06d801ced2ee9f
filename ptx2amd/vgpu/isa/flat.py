"""FLAT, GLOBAL and SCRATCH instructions. Their handlers are functions of runtime/vmem/vmem.h."""

from __future__ import annotations

from ptx2amd.vgpu.isa.meaning import Access, Call, How, atomic, controls, moves
from ptx2amd.vgpu.isa.op import Op

#: (name, gfx9's name, kind, register type)
LOADS = [
    ("load_u8", "load_ubyte", "LOAD_U8", "b32"),
    ("load_i8", "load_sbyte", "LOAD_I8", "b32"),
    ("load_u16", "load_ushort", "LOAD_U16", "b32"),
    ("load_i16", "load_sshort", "LOAD_I16", "b32"),
    ("load_b32", "load_dword", "LOAD_B32", "b32"),
    ("load_b64", "load_dwordx2", "LOAD_B64", "b64"),
    ("load_b96", "load_dwordx3", "LOAD_B96", "b96"),
    ("load_b128", "load_dwordx4", "LOAD_B128", "b128"),
    ("load_d16_u8", "load_ubyte_d16", "LOAD_D16_U8", "b32"),
    ("load_d16_i8", "load_sbyte_d16", "LOAD_D16_I8", "b32"),
    ("load_d16_b16", "load_short_d16", "LOAD_D16", "b32"),
    ("load_d16_hi_u8", "load_ubyte_d16_hi", "LOAD_D16_HI_U8", "b32"),
    ("load_d16_hi_i8", "load_sbyte_d16_hi", "LOAD_D16_HI_I8", "b32"),
    ("load_d16_hi_b16", "load_short_d16_hi", "LOAD_D16_HI", "b32"),
]
STORES = [
    ("store_b8", "store_byte", "STORE_B8", "b32"),
    ("store_b16", "store_short", "STORE_B16", "b32"),
    ("store_b32", "store_dword", "STORE_B32", "b32"),
    ("store_b64", "store_dwordx2", "STORE_B64", "b64"),
    ("store_b96", "store_dwordx3", "STORE_B96", "b96"),
    ("store_b128", "store_dwordx4", "STORE_B128", "b128"),
    ("store_d16_hi_b8", "store_byte_d16_hi", "STORE_D16_HI_B8", "b32"),
    ("store_d16_hi_b16", "store_short_d16_hi", "STORE_D16_HI_B16", "b32"),
]
#: (name, gfx9's name, operation)
INTEGER_ATOMICS = [
    ("swap_b", "swap", "ATOMIC_SWAP"),
    ("cmpswap_b", "cmpswap", "ATOMIC_CMPSWAP"),
    ("add_u", "add", "ATOMIC_ADD"),
    ("sub_u", "sub", "ATOMIC_SUB"),
    ("min_i", "smin", "ATOMIC_MIN_I"),
    ("min_u", "umin", "ATOMIC_MIN_U"),
    ("max_i", "smax", "ATOMIC_MAX_I"),
    ("max_u", "umax", "ATOMIC_MAX_U"),
    ("and_b", "and", "ATOMIC_AND"),
    ("or_b", "or", "ATOMIC_OR"),
    ("xor_b", "xor", "ATOMIC_XOR"),
    ("inc_u", "inc", "ATOMIC_INC"),
    ("dec_u", "dec", "ATOMIC_DEC"),
]
#: (name, operation, bits)
FLOAT_ATOMICS = [
    ("csub_u32", "ATOMIC_CSUB", 32),
    ("cmpswap_f32", "ATOMIC_CMPSWAP_F", 32),
    ("min_f32", "ATOMIC_MIN_F", 32),
    ("max_f32", "ATOMIC_MAX_F", 32),
    ("add_f32", "ATOMIC_ADD_F", 32),
    ("pk_add_f16", "ATOMIC_PK_ADD_F16", 32),
    ("add_f64", "ATOMIC_ADD_F", 64),
    ("min_f64", "ATOMIC_MIN_F", 64),
    ("max_f64", "ATOMIC_MAX_F", 64),
    ("pk_add_bf16", "ATOMIC_PK_ADD_BF16", 32),
    ("cmpswap_f64", "ATOMIC_CMPSWAP_F", 64),
    ("cond_sub_u32", "ATOMIC_COND_SUB", 32),
]


def memory_rows(prefix: str, fmt: str) -> list[Op]:
    """Loads and stores of one format ("flat", "FLAT")."""
    rows = []
    for table, operands in ((LOADS, "d:{}, a:b64"), (STORES, "a:b64, b:{}")):
        for name, old, kind, t in table:
            call, access = moves(prefix, kind)
            rows.append(Op(f"{prefix}_{name}", fmt, operands.format(t), call, access=access,
                           names={"gfx9": f"{prefix}_{old}"}))  # fmt: skip
    return rows


def _atomic(prefix: str, fmt: str, name: str, operation: str, bits: int, old: str = "") -> Op:
    data = bits * 2 if operation in ("ATOMIC_CMPSWAP", "ATOMIC_CMPSWAP_F") else bits
    call, access = atomic(prefix, operation, bits)
    return Op(f"{prefix}_atomic_{name}", fmt, f"d:b{bits}, a:b64, b:b{data}", call, access=access,
              names={"gfx9": f"{prefix}_atomic_{old}"} if old else {})  # fmt: skip


def atomic_rows(prefix: str, fmt: str) -> list[Op]:
    """Atomic operations of one format."""
    rows = []
    for name, old, operation in INTEGER_ATOMICS:
        for bits, suffix in ((32, ""), (64, "_x2")):
            rows.append(_atomic(prefix, fmt, f"{name}{bits}", operation, bits, old + suffix))
    return rows + [_atomic(prefix, fmt, name, operation, bits) for name, operation, bits in FLOAT_ATOMICS]


#: Loads from global memory to LDS; x3 and x4 are gfx950's.
LDS_LOADS = [
    ("ubyte", "LOAD_U8"), ("sbyte", "LOAD_I8"), ("ushort", "LOAD_U16"), ("sshort", "LOAD_I16"), ("dword", "LOAD_B32"),
    ("dwordx4", "LOAD_B128"), ("dwordx3", "LOAD_B96"),
]  # fmt: skip


def _transposed() -> list[Op]:
    return [
        # The order of 8-bit elements (b64) is not documented.
        Op("global_load_tr_b64", "GLOBAL", "d:b64, a:b64"),
        Op("global_load_tr_b128", "GLOBAL", "d:b128, a:b64", Call("global_load_transposed", ("LOAD_B128",)),
           access=Access("GLOBAL", 16, How.READS)),
    ]  # fmt: skip


def _blocks() -> list[Op]:
    """Up to 32 registers, selected by M0."""
    rows = []
    for prefix, fmt in (("global", "GLOBAL"), ("scratch", "SCRATCH")):
        rows.append(Op(f"{prefix}_load_block", fmt, "d:b32, a:b64", Call(f"{prefix}_block", ("false",))))
        rows.append(Op(f"{prefix}_store_block", fmt, "a:b64, b:b32", Call(f"{prefix}_block", ("true",))))
    return rows


def _gfx1250() -> list[Op]:
    """Loads for all workgroups of a cluster, and loads that s_monitor_sleep waits for: executed as plain loads."""
    rows = []
    for name in ("cluster_load", "global_load_monitor", "flat_load_monitor"):
        for bits in (32, 64, 128):
            space = "flat" if name.startswith("flat") else "global"
            call, access = moves(space, f"LOAD_B{bits}")
            rows.append(Op(f"{name}_b{bits}", space.upper(), f"d:b{bits}, a:b64", call, access=access))
    rows += [Op(f"{space}_prefetch_b8", space.upper(), "a:b64", Call("fence")) for space in ("global", "flat")]
    return rows


def ops() -> list[Op]:
    return [
        *memory_rows("flat", "FLAT"), *memory_rows("global", "GLOBAL"), *memory_rows("scratch", "SCRATCH"),
        *atomic_rows("flat", "FLAT"), *atomic_rows("global", "GLOBAL"),
        *[Op(f"global_load_lds_{name}", "GLOBAL", "a:b64", Call("global_load_lds", (kind,)))
          for name, kind in LDS_LOADS],
        *[Op(f"global_{name}", "GLOBAL", "", Call("fence"), order=controls(which))
          for name, which in (("inv", "SCOPE"), ("wb", "WRITE_BACK"), ("wbinv", "BOTH"))],
        *_transposed(),
        *_blocks(),
        *_gfx1250(),
        Op("global_load_addtid_b32", "GLOBAL", "d:b32", Call("global_addtid", ("false",))),
        Op("global_store_addtid_b32", "GLOBAL", "b:b32", Call("global_addtid", ("true",))),
    ]  # fmt: skip
